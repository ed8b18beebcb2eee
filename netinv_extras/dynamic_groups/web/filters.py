"""Filters of dynamic groups on pages: as text in forms, and edited in the list of the members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_extras.web import filter_control
from netinv_extras.web.filter_actions import StoredFilter
from netinv_web.forms.controls import Control

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

LABEL = "extras.dynamicgroup"
HELP = (
    "As on lists: site:lisbon status:!planned name~core, or JSON. Blank for all objects, and for groups with child "
    "groups."
)
FILTER = StoredFilter(
    LABEL,
    "filter",
    "_group",
    "Edit the filter in the list",
    "Update the dynamic group",
    "Save as dynamic group",
    "funnel",
    lambda group: not group.get("children"),
)


def control(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    """The control of a group's filter: its text, or JSON."""
    return filter_control.control(field, "Filter", HELP, owns_errors=True)
