"""Tabs of VLANs with their members and prefixes; the next free number of a VLAN group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.hookspecs import hookimpl
from netinv_core.http.views import key_of
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_ipam.addresses import ASSIGNABLE, INTERFACE
from netinv_ipam.prefixes import Prefix
from netinv_ipam.vlans import VLAN, carries
from netinv_ipam.web import vlan_map
from netinv_web import notices
from netinv_web.extensions import Action, ListTab, referring_tab
from netinv_web.pages import see_other
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

VLAN_LABEL, GROUP, PREFIX = "ipam.vlan", "ipam.vlangroup", "ipam.prefix"
MEMBERS = {INTERFACE: ("interfaces", "Interfaces"), ASSIGNABLE[1]: ("vm-interfaces", "VM interfaces")}
# Columns of the first rows on the page of a VLAN.
MEMBER_COLUMNS = ("device", "virtual_machine", "mode", "untagged_vlan", "description")
PREFIX_COLUMNS = ("status", "utilization", "vrf", "description")
Item = Mapping[str, Any]


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a VLAN: the interfaces that carry it, tagged or untagged, and its prefixes."""
    if endpoint.label != VLAN_LABEL:
        return []
    found = [
        ListTab(
            name,
            title,
            label,
            _members(label),
            lambda vlan: None,
            position,
            _filters if label == INTERFACE else _no,
            first=MEMBER_COLUMNS,
        )
        for position, (label, (name, title)) in enumerate(MEMBERS.items(), 100)
        if endpoint.registry.get(label) is not None
    ]
    vlan_id = table_of(Prefix).c.vlan_id
    return [
        *found,
        referring_tab("prefixes", "Prefixes", PREFIX, vlan_id, 110, preset=_preset, first=PREFIX_COLUMNS),
    ]


def _filters(vlan: Item) -> dict[str, str]:
    return {"vlan_id": str(vlan["id"])}


def _no(vlan: Item) -> dict[str, str]:
    return {}


def _preset(vlan: Item) -> dict[str, Any]:
    return {"vlan": vlan["id"], "site": vlan["site"]["id"] if vlan["site"] else None}


def _members(label: str) -> Any:
    """Returns the function that limits the list of a resource to the interfaces that carry a VLAN."""

    def within(request: Request, vlan: Item) -> list[Any]:
        endpoint = request.uow.registry[label]
        table = table_of(VLAN)
        return [carries(endpoint, endpoint.table, sa.select(table.c.id).where(table.c.id == vlan["id"]))]

    return within


# -- numbers of a group

NEXT = Action(
    "next-vlan",
    "Next free VLAN",
    lambda endpoint, group: f"{object_path(endpoint, group['id'])}next-vlan/",
    method="POST",
    further_permission=(VLAN_LABEL, "add"),
    icon="plus",
    prominent=True,
)


def next_vlan(request: Request) -> Response:
    """Leads to the form of a VLAN with the first number that is free in a group."""
    endpoint = request.context.endpoint
    group = listing.detail(request.uow, endpoint, key_of(request))
    found = vlan_map.numbers_of(request.uow, group["id"])
    numbers = [item for item in vlan_map.ranges_of(found) if not item.used]
    if not numbers:
        path = object_path(endpoint, group["id"])
        return notices.add(request, see_other(path), notices.Notice("No number of this group is free.", "warning"))
    return see_other(vlan_map.preset_path(group, numbers[0].first))


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> Sequence[Action]:
    """The next free VLAN of a group."""
    return [NEXT] if endpoint.label == GROUP else []


def includeme(config: Any) -> None:
    """Adds the way to the next free VLAN of a group."""
    config.add_netinv_page(
        "/ipam/vlan-groups/{id}/next-vlan/",
        next_vlan,
        permission="view",
        methods=["POST"],
        read_only=True,
        resource="ipam/vlan-groups",
    )
