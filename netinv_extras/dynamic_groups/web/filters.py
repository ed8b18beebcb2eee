"""Filters of dynamic groups on pages: as text in forms, and edited in the list of the members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.hookspecs import hookimpl
from netinv_extras.web import filter_cell, filter_control
from netinv_extras.web.filter_actions import StoredFilter
from netinv_web.extensions import Action
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


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> Sequence[Action]:
    """Saving the filters of a list as a group."""
    return FILTER.actions_of(endpoint)


@hookimpl
def netinv_web_cells() -> Mapping[Any, Any]:
    """The filter of a group in words."""
    return {(LABEL, "filter"): filter_cell.cell}


@hookimpl
def netinv_web_controls() -> Mapping[Any, Any]:
    """The control of a group's filter."""
    return {(LABEL, "filter"): control}
