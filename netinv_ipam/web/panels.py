"""Tabs, panels and the allocation form on the pages of prefixes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import RequestError, error_text
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_core.types import Endpoint
from netinv_ipam import allocation
from netinv_ipam.free_space import free_addresses, free_blocks, network_text
from netinv_ipam.taken_space import ADDRESSES, EVERYWHERE, NETWORKS, Taken, children, shown_scope
from netinv_web import notices
from netinv_web.extensions import ListTab, Panel
from netinv_web.menu import may
from netinv_web.pages import see_other
from netinv_web.paths import object_path

PREFIX, ADDRESS = "ipam.prefix", "ipam.ipaddress"
FREE_PANEL = "netinv_ipam:web/templates/free_space.jinja2"
MAX_LISTED = 8  # free networks in the panel


def _within(what: Taken) -> Any:
    """Returns the function that limits the list of a resource to the children of a prefix."""
    return lambda request, prefix: [children(prefix, what)]


def _filters(parameter: str) -> Any:
    """Returns the function with the filters for the children of a prefix."""

    def filters(prefix: Mapping[str, Any]) -> dict[str, str]:
        inside = {parameter: str(prefix["prefix"])}
        if shown_scope(prefix) == EVERYWHERE:
            return inside
        return {**inside, "vrf_id": str(prefix["vrf"]["id"]) if prefix["vrf"] else "null"}

    return filters


def _preset(prefix: Mapping[str, Any]) -> dict[str, Any]:
    return {"vrf": prefix["vrf"]["id"] if prefix["vrf"] else None}


def tabs_of(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource: what is within a prefix."""
    if endpoint.label != PREFIX:
        return []
    return [
        ListTab("prefixes", "Child prefixes", PREFIX, _within(NETWORKS), _preset, 100, _filters("within")),
        ListTab("ip-addresses", "IP addresses", ADDRESS, _within(ADDRESSES), _preset, 110, _filters("parent")),
    ]


def free_space(request: Request, endpoint: Endpoint, prefix: Mapping[str, Any]) -> dict[str, Any] | None:
    """The first free networks and the next free address of a prefix."""
    uow = request.uow
    row = listing.rows(uow, endpoint, [prefix["id"]], "view").get(prefix["id"])
    if row is None:
        return None
    address = next(free_addresses(uow, row), None)
    blocks = itertools.islice(free_blocks(uow, row), MAX_LISTED + 1)
    networks = [network_text(block, row["ip_version"]) for block in blocks]
    vrf = prefix["vrf"]["id"] if prefix["vrf"] else ""
    return {
        "path": object_path(endpoint, prefix["id"]),
        "address": address,
        "networks": networks[:MAX_LISTED],
        "more": len(networks) > MAX_LISTED,
        "vrf": vrf,
        "may_add_address": may(uow, uow.registry[ADDRESS], "add"),
        "may_add_prefix": may(uow, endpoint, "add"),
    }


def panels_of(endpoint: Endpoint) -> list[Panel]:
    """The panels of a resource."""
    return (
        [Panel("free", "Free space", free_space, template=FREE_PANEL, position=100)] if endpoint.label == PREFIX else []
    )


def allocate(request: Request) -> Response:
    """Allocates the next free address of a prefix, and leads to its form."""
    path = object_path(request.context.endpoint, key_of(request))
    try:
        created = allocation.allocate_next_address(request)
    except RequestError as error:
        return notices.add(request, see_other(path), notices.Notice(error_text(error.body), "danger"))
    if created is None:
        return notices.add(request, see_other(path), notices.Notice("No address is free.", "warning"))
    notice = notices.Notice(f"{created['address']} was allocated.", undo=str(request.uow.request_id))
    address_path = object_path(request.registry.netinv[ADDRESS], created["id"])
    return notices.add(request, see_other(f"{address_path}edit/"), notice)
