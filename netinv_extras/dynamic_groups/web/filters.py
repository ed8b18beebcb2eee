"""Filters of dynamic groups on pages: as text in forms, and links between a group and the list of its members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from netinv_core.types import Endpoint, Field, UnitOfWork
from netinv_extras.content_types import has_pages
from netinv_extras.web import filter_control
from netinv_web.extensions import Action
from netinv_web.forms.controls import Control
from netinv_web.lists.list_query import ListQuery
from netinv_web.lists.selection import QUERY
from netinv_web.paths import object_path, page_path

LABEL = "extras.dynamicgroup"
GROUP = "_group"  # parameter of a list: the id of the group whose filter it shows
HELP = (
    "As on lists: site:lisbon status:!planned name~core, or JSON. Blank for all objects, and for groups with child "
    "groups."
)


def control(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    """The control of a group's filter: its text, or JSON."""
    return filter_control.control(field, "Filter", HELP, owns_errors=True)


def actions_of(endpoint: Endpoint) -> list[Action]:
    """On a group the link to the list with its filter; on lists the links that save the filters of the list."""
    if endpoint.label == LABEL:
        editing = Action(
            "edit-filter", "Edit the filter in the list", _list_path, permission="change", applies=_has_list(endpoint)
        )
        return [editing, *_saving(endpoint)]
    return _saving(endpoint) if has_pages(endpoint) else []


def _has_list(endpoint: Endpoint) -> Any:
    def applies(group: Mapping[str, Any]) -> bool:
        is_installed = group["content_type"] in endpoint.registry.endpoints
        return is_installed and not group.get("children") and filter_control.parameters_of(group["filter"]) is not None

    return applies


def _list_path(endpoint: Endpoint, group: Mapping[str, Any]) -> str:
    parameters = [*(filter_control.parameters_of(group["filter"]) or ()), (GROUP, [str(group["id"])])]
    return f"{page_path(endpoint.registry[group['content_type']])}?{urlencode(parameters, doseq=True)}"


def _saving(endpoint: Endpoint) -> list[Action]:
    groups = endpoint.registry[LABEL]

    def new(listed: Endpoint, query: ListQuery) -> str:
        preset = {"content_type": listed.label, "filter": filter_control.text_of(dict(query.filters))}
        return f"{page_path(groups)}add/?{urlencode(preset)}"

    def former(listed: Endpoint, query: ListQuery) -> str:
        key = groups.parse_key(query.values(GROUP)[-1])
        return f"{object_path(groups, key)}edit/?{urlencode({'filter': filter_control.text_of(dict(query.filters))})}"

    def has_group(query: ListQuery) -> bool:
        return any(groups.parse_key(key) is not None for key in query.values(GROUP)[-1:])

    return [
        Action("group", "Save as dynamic group", new, QUERY, further_permission=(LABEL, "add"), icon="funnel"),
        Action(
            "former-group",
            "Update the dynamic group",
            former,
            QUERY,
            further_permission=(LABEL, "change"),
            icon="pencil",
            applies=has_group,
        ),
    ]
