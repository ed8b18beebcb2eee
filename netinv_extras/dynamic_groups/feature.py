"""Feature ``dynamic_groups``: groups whose members are found by filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuSection
from netinv_extras.dynamic_groups import models

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

feature = Feature(
    "dynamic_groups",
    "Dynamic groups",
    [models.dynamic_groups, models.dynamic_group_memberships],
    includes=["netinv_extras.dynamic_groups.members"],
    menu=[
        MenuSection(
            "Customization",
            ["dynamic-groups", "dynamic-group-memberships"],
            icon="adjustments-horizontal",
            position=714,
        )
    ],
)


@hookimpl
def netinv_web_tabs(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The members of a group, and the groups of an object."""
    from netinv_extras.dynamic_groups.web import tab

    return tab.tabs_of(endpoint)


@hookimpl
def netinv_web_actions(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Saving the filters of a list as a group."""
    from netinv_extras.dynamic_groups.web import filters

    return filters.FILTER.actions_of(endpoint)


@hookimpl
def netinv_web_cells(registry: Registry) -> Mapping[Any, Any]:
    """The filter of a group in words."""
    from netinv_extras.dynamic_groups.web import filters
    from netinv_extras.web import filter_cell

    return {(filters.LABEL, "filter"): filter_cell.cell}


@hookimpl
def netinv_web_controls(registry: Registry) -> Mapping[Any, Any]:
    """The control of a group's filter."""
    from netinv_extras.dynamic_groups.web import filters

    return {(filters.LABEL, "filter"): filters.control}
