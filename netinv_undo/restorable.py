"""Values that a change record holds and that can be written again: bodies for the write path."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.changelog.differences import field_of, members
from netinv_core.fields import Image
from netinv_core.masking import MASK
from netinv_core.models.columns import column_info
from netinv_core.write.memberships import restored_columns

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

NOT_KEPT = "The change log does not keep its value."
FILE = "The file was deleted with the change."
_PARSERS: dict[type, Callable[[str], Any]] = {
    datetime.date: datetime.date.fromisoformat,
    datetime.datetime: datetime.datetime.fromisoformat,
    uuid.UUID: uuid.UUID,
}


def obstacle(endpoint: Endpoint, name: str, value: Any) -> str | None:
    """Returns why a recorded value cannot be written again; ``None`` when it can."""
    field = field_of(endpoint, name)
    if field is None or not value:
        return None
    if isinstance(field, Image):
        return FILE
    is_secret = field.write_only or field.confidential or (name in endpoint.masked_columns and MASK in str(value))
    return NOT_KEPT if is_secret else None


def body_of(endpoint: Endpoint, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body that writes recorded values, given by member (:func:`members`)."""
    body: dict[str, Any] = {}
    for name, value in values.items():
        field, (outer, _, member) = endpoint.writable[name.partition(".")[0]], name.partition(".")
        if member:
            body.setdefault(outer, {})[member] = value
        else:
            body[outer] = None if value is None else field.to_body(value)
    return body


def recorded_values(endpoint: Endpoint, representation: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the values of a deleted object that can be written again, and why the others cannot, by member.

    Fields that are read on request only are left out: they show other objects, which have records of their own.
    """
    values: dict[str, Any] = {}
    obstacles: dict[str, str] = {}
    for name, value in members(endpoint, representation).items():
        field = field_of(endpoint, name)
        if field is None or field.read_only or field.opt_in:
            continue
        reason = obstacle(endpoint, name, value)
        if reason is not None:
            obstacles[name] = reason
        elif not (field.confidential or isinstance(field, Image)):
            values[name] = value
    for name, field in endpoint.writable.items():
        if field.required and name not in values:
            obstacles.setdefault(name, NOT_KEPT)
    return values, obstacles


def hidden_columns(endpoint: Endpoint, kept: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Returns the hidden columns of a deleted object that are restored, from what its change record keeps of them."""
    return {name: kept[name][0] for name in restored_columns(endpoint) if name in kept}


def preserved_columns(endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the columns of a deleted object that clients cannot write and that are restored as they were."""
    columns: dict[str, Any] = {}
    for name, column in endpoint.table.c.items():
        field = endpoint.fields.get(name) or endpoint.fields.get(name.removesuffix("_id"))
        if not column_info(column).restored or field is None or field.name not in representation:
            continue
        value = field.to_body(representation[field.name]) if representation[field.name] is not None else None
        parse = _PARSERS.get(column.type.python_type)
        columns[name] = parse(value) if parse is not None and isinstance(value, str) else value
    return columns
