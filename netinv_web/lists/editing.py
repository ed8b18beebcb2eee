"""Columns whose values can be changed in a list: the name of the control that each has in the form of an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from netinv_web.forms.form import writable_fields
from netinv_web.lists.columns import Column, naming_field
from netinv_web.menu import may
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

NAME_COLUMN = ""  # the name of the column that shows the objects' names


def control_names(endpoint: Endpoint, columns: Sequence[Column]) -> dict[str, str]:
    """The names of controls by that of the column; that of a custom field is ``custom_fields.<slug>``."""
    writable, naming = writable_fields(endpoint), naming_field(endpoint) or "name"
    names = {NAME_COLUMN: naming} if naming in writable else {}
    return names | {
        column.name: f"{column.field.name}.{column.member}" if column.member else column.field.name
        for column in columns
        if column.field is not None and column.field.name in writable
    }


def inline_controls(uow: UnitOfWork, endpoint: Endpoint, columns: Sequence[Column]) -> tuple[str, Mapping[str, str]]:
    """The path below which the objects' forms are, and the names of controls by column; empty without the permission to
    change.
    """
    if "change" not in endpoint.resource.writes or not may(uow, endpoint, "change"):
        return "", {}
    return page_path(endpoint), control_names(endpoint, columns)
