"""Tabs, panels and the allocation form on the pages of prefixes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid, RequestError, error_text
from netinv_core.hookspecs import hookimpl
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_ipam import allocation
from netinv_ipam.free_space import Block, free_addresses, free_blocks, last_free_address, network_text
from netinv_ipam.networks import BITS
from netinv_ipam.prefixes import containers_of
from netinv_ipam.taken_space import (
    ADDRESSES,
    NETWORKS,
    Row,
    SpaceTaker,
    child_filters,
    children,
    container_statuses,
)
from netinv_ipam.web import address_grid, address_list, next_prefix, prefix_map, tree
from netinv_web import notices, static_files
from netinv_web.extensions import Action, ListTab, Panel
from netinv_web.following import form_of_object
from netinv_web.menu import may
from netinv_web.pages import query_text, see_other
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_web.lists.list_query import ListQuery

PREFIX, ADDRESS = "ipam.prefix", "ipam.ipaddress"
FREE_PANEL = "netinv_ipam:web/templates/free_space.jinja2"
MAP_PANEL, GRID_PANEL = "netinv_ipam:web/templates/prefix_map.jinja2", "netinv_ipam:web/templates/address_grid.jinja2"
LIST_PANEL = "netinv_ipam:web/templates/address_list.jinja2"
LEVEL_PANEL = "netinv_ipam:web/templates/prefix_level.jinja2"
LEVEL_COLUMNS = ("status", "utilization", "role", "vlan", "description")
COLORING = "color"  # parameter
MAX_LISTED = 8  # free networks in the panel
TREE_ICON = "bars-3-bottom-right"


def _within(what: SpaceTaker) -> Any:
    """Returns the function that limits the list of a resource to the children of a prefix."""
    return lambda request, prefix: [children(prefix, what)]


def _filters(parameter: str) -> Any:
    """Returns the function with the filters for the children of a prefix."""
    return lambda prefix: child_filters(prefix, parameter, str(prefix["prefix"]))


def _preset(prefix: Mapping[str, Any]) -> dict[str, Any]:
    return {"vrf": prefix["vrf"]["id"] if prefix["vrf"] else None}


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource: what is within a prefix."""
    if endpoint.label != PREFIX:
        return []
    return [
        ListTab("prefixes", "Child prefixes", PREFIX, _within(NETWORKS), _preset, 100, _filters("within")),
        ListTab("ip-addresses", "IP addresses", ADDRESS, _within(ADDRESSES), _preset, 110, _filters("parent")),
    ]


def free_space(request: Request, endpoint: Endpoint, prefix: Mapping[str, Any]) -> dict[str, Any] | None:
    """The first and the last free address, the gateway, and the first free networks of a prefix. A container has no
    gateway: the networks within it have.
    """
    uow = request.uow
    row = listing.rows(uow, endpoint, [prefix["id"]], "view").get(prefix["id"])
    if row is None:
        return None
    address = next(free_addresses(uow, row), None)
    networks = [network_text(block, row["ip_version"]) for block in _free_networks(uow, row)]
    may_add_address, may_add = may(uow, uow.registry[ADDRESS], "add"), may(uow, endpoint, "add")
    may_view = may(uow, uow.registry[ADDRESS], "view")
    is_container = row["status_id"] in container_statuses(uow)
    return {
        "path": object_path(endpoint, prefix["id"]),
        "address": address,
        "last": last_free_address(uow, row) if address else None,
        "gateway": address_grid.gateway_of(uow, prefix, row) if may_view and not is_container else None,
        "networks": networks[:MAX_LISTED],
        "more": len(networks) > MAX_LISTED,
        "vrf": prefix["vrf"]["id"] if prefix["vrf"] else "",
        "lengths": next_prefix.lengths(row) if may_add else [],
        "usual": next_prefix.usual_length(row),
        "may_add_address": may_add_address,
        "may_add_prefix": may_add,
    }


def _free_networks(uow: UnitOfWork, row: Row) -> list[Block]:
    """The first free networks of a prefix, never the prefix itself."""
    blocks = list(itertools.islice(free_blocks(uow, row), MAX_LISTED + 1))
    if len(blocks) != 1:
        return blocks
    version = row["ip_version"]
    low = blocks[0][0]
    high = low + (1 << (BITS[version] - blocks[0][1])) - 1
    return tree.offered_blocks(low, high, version, (int.from_bytes(row["network"], "big"), row["prefix_length"]))


def level(request: Request, endpoint: Endpoint, prefix: Mapping[str, Any]) -> dict[str, Any] | None:
    """The child prefixes with the gaps between them."""
    uow, vrf = request.uow, prefix["vrf"]["id"] if prefix["vrf"] else None
    above = [key for _, _, key in containers_of(uow, prefix)]
    rows = tree.PrefixTree(uow, endpoint, vrf, [prefix["id"]], above).level(prefix["id"])
    if not any(isinstance(row, tree.Node) for row in rows):
        return None
    return {
        "rows": rows,
        "columns": [(name, endpoint.fields[name]) for name in LEVEL_COLUMNS],
        "vrf_query": urlencode({"vrf": vrf}) if vrf else "",
        "may_add": may(uow, endpoint, "add"),
        "style": static_files.path_of(request, "prefixes.css", "ipam"),
    }


def block_map(request: Request, endpoint: Endpoint, prefix: Mapping[str, Any]) -> dict[str, Any] | None:
    """The map of a prefix; ``None`` where there are no child prefixes, and its addresses are shown one by one."""
    coloring = query_text(request, COLORING) or prefix_map.COLORINGS[0]
    if coloring not in prefix_map.COLORINGS:
        raise Invalid({COLORING: [f"Choose one of {', '.join(prefix_map.COLORINGS)}."]})
    drawn = prefix_map.Map(request.uow, endpoint, prefix, coloring)
    if not drawn.children and (address_grid.has_grid(prefix) or drawn.is_host or _has_addresses(request.uow, prefix)):
        return None
    path = object_path(endpoint, prefix["id"])
    return {
        "drawing": drawn.draw(may_add=may(request.uow, endpoint, "add")),
        "name": prefix["prefix"],
        "choices": [(name, f"{path}?_show=all&{COLORING}={name}#panel-map") for name in prefix_map.COLORINGS],
        "coloring": coloring,
        "style": static_files.path_of(request, "prefixes.css", "ipam"),
    }


def address_map(request: Request, endpoint: Endpoint, prefix: Mapping[str, Any]) -> dict[str, Any] | None:
    """The grid of the addresses of a small prefix of IPv4."""
    uow = request.uow
    if not address_grid.has_grid(prefix) or not may(uow, uow.registry[ADDRESS], "view"):
        return None
    row = listing.rows(uow, endpoint, [prefix["id"]], "view").get(prefix["id"])
    if row is None:
        return None
    grid = address_grid.grid_of(uow, prefix, row, may_add=may(uow, uow.registry[ADDRESS], "add"))
    return {
        "drawing": grid.drawing,
        "runs": grid.runs,
        "name": prefix["prefix"],
        "style": static_files.path_of(request, "prefixes.css", "ipam"),
    }


def _has_addresses(uow: UnitOfWork, prefix: Mapping[str, Any]) -> bool:
    return address_list.is_taken(uow, prefix, ADDRESSES)


def addresses(request: Request, endpoint: Endpoint, prefix: Mapping[str, Any]) -> dict[str, Any] | None:
    """The first addresses of a prefix without child prefixes that has no grid."""
    uow, target = request.uow, request.uow.registry[ADDRESS]
    if address_grid.has_grid(prefix) or not may(uow, target, "view") or address_list.is_taken(uow, prefix, NETWORKS):
        return None
    listed, more = address_list.first_addresses(uow, target, prefix)
    if not listed:
        return None
    columns = [(name, target.fields[name]) for name in address_list.COLUMNS]
    path = f"{object_path(endpoint, prefix['id'])}ip-addresses/"
    return {"addresses": listed, "more": more, "columns": columns, "path": path}


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> list[Panel]:
    """The panels of a resource."""
    if endpoint.label != PREFIX:
        return []
    return [
        Panel("free", "Free space", free_space, lazy=True, template=FREE_PANEL, position=100),
        Panel("map", "Map", block_map, "main", lazy=True, template=MAP_PANEL, position=20),
        Panel("grid", "Addresses", address_map, "main", lazy=True, template=GRID_PANEL, position=30),
        Panel("addresses", "Addresses", addresses, "main", lazy=True, template=LIST_PANEL, position=30),
        Panel("level", "Child prefixes", level, "main", lazy=True, template=LEVEL_PANEL, position=40),
    ]


def _tree_of_list(endpoint: Endpoint, query: ListQuery) -> str:
    """The tree of the VRF that a list is limited to."""
    return tree.path_of(next((value for name in ("vrf_id", "vrf") for value in query.values(name)), ""))


TREES: Mapping[str, Sequence[Action]] = {
    PREFIX: [Action("tree", "Tree", _tree_of_list, scope="list", icon=TREE_ICON)],
    "ipam.vrf": [
        Action(
            "tree",
            "Prefix tree",
            lambda endpoint, vrf: tree.path_of(vrf["id"]),
            further_permission=(PREFIX, "view"),
            icon=TREE_ICON,
        )
    ],
}


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
    following = form_of_object(request.uow, request.registry.netinv[ADDRESS], created["id"], path)
    return notices.add(request, see_other(following), notice)


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> Sequence[Action]:
    """The trees of prefixes."""
    return TREES.get(endpoint.label, ())


@hookimpl
def netinv_web_static() -> Mapping[str, str]:
    """The style sheet of the tree of prefixes."""
    return {"ipam": "netinv_ipam:web/static"}
