"""Tabs of ranges and prefixes, and the button that allocates an address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response

from netinv_core import Endpoint, hookimpl
from netinv_ip_ranges.allocation import allocate_next
from netinv_ip_ranges.ip_ranges import IPRange, assigned_in, within
from netinv_ipam import networks
from netinv_ipam.addresses import IPAddress
from netinv_web.extensions import Action, ListTab
from netinv_web.notices import Notice, add
from netinv_web.pages import see_other
from netinv_web.paths import object_path, page_path

PREFIX, ADDRESS, RANGE = "ipam.prefix", "ipam.ipaddress", "ip_ranges.iprange"


def _vrf(item: Mapping[str, Any]) -> Any:
    return item["vrf"]["id"] if item["vrf"] else None


def _addresses(request: Request, item: Mapping[str, Any]) -> list[Any]:
    table, ranges = IPAddress.__table__, IPRange.__table__.alias()
    return [ranges.select().where(ranges.c.id == item["id"], assigned_in(ranges, table)).exists()]


def _ranges(request: Request, prefix: Mapping[str, Any]) -> list[Any]:
    table = IPRange.__table__
    return [within(table, networks.parse(prefix["prefix"])), table.c.vrf_id.is_not_distinct_from(_vrf(prefix))]


def _ranges_filters(prefix: Mapping[str, Any]) -> dict[str, str]:
    return {"parent": str(prefix["prefix"]), "vrf_id": str(_vrf(prefix) or "null")}


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource."""
    if endpoint.label == RANGE:
        return [ListTab("ip-addresses", "IP addresses", ADDRESS, _addresses, lambda item: {"vrf": _vrf(item)}, 100)]
    if endpoint.label == PREFIX:
        return [
            ListTab(
                "ip-ranges", "IP ranges", RANGE, _ranges, lambda item: {"vrf": _vrf(item)}, 120, filters=_ranges_filters
            )
        ]
    return []


allocating = Action(
    "allocate",
    "Allocate next address",
    lambda endpoint, item: f"{object_path(endpoint, item['id'])}allocate/",
    method="POST",
    further_permission=(ADDRESS, "add"),
    icon="plus",
)


def _of_gap(endpoint: Endpoint, gap: Mapping[str, Any]) -> str:
    """The form of a range from the first address of a gap of a prefix to the last."""
    length = gap["prefix_length"]
    ends = {"start_address": f"{gap['first']}/{length}", "end_address": f"{gap['last']}/{length}"}
    of_vrf = {"vrf": gap["vrf"]} if gap["vrf"] else {}
    return f"{page_path(endpoint.registry[RANGE])}add/?{urlencode(ends | of_vrf)}"


in_gap = Action("range", "IP range", _of_gap, scope="gap", further_permission=(RANGE, "add"), icon="plus")


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> list[Action]:
    """The actions of a resource."""
    return {RANGE: [allocating], PREFIX: [in_gap]}.get(endpoint.label, [])


def allocate(request: Request) -> Response:
    """Allocates the next free address of a range, and leads to its form."""
    created = allocate_next(request)
    if created is None:
        path = object_path(request.context.endpoint, request.context.key)
        return add(request, see_other(path), Notice("No address is free.", "warning"))
    notice = Notice(f"{created['address']} was allocated.", undo=str(request.uow.request_id))
    path = object_path(request.registry.netinv[ADDRESS], created["id"])
    return add(request, see_other(f"{path}edit/"), notice)


def includeme(config: Any) -> None:
    """Adds the address of the button."""
    config.add_netinv_page(
        "/plugins/ip_ranges/ip-ranges/{id}/allocate/",
        allocate,
        permission="view",
        methods=["POST"],
        resource="ip_ranges/ip-ranges",
    )
