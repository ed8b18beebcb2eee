"""Allocation from the free space of a prefix: the actions ``available-ips`` and ``available-prefixes``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.errors import Conflict, Invalid, NotFound
from netinv_core.http import pagination, query_parameters, views
from netinv_core.http.actions import documented
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import body_of
from netinv_core.read import listing
from netinv_core.read.plans import plan_of
from netinv_core.types import Endpoint
from netinv_core.write import save
from netinv_ipam.free_space import cut, free_addresses, free_blocks, network_text
from netinv_ipam.networks import BITS
from netinv_ipam.prefix_locks import locked

Row = dict[str, Any]
MAX_OBJECTS = 1000  # addresses listed when pages have no maximum of their own


# -- actions


def _open(request: Request, of: str) -> tuple[RequestUnitOfWork, Endpoint, Row]:
    """The unit of work, the endpoint of the allocated objects (label ``of``), and the row of the prefix in the URL.

    A POST needs the permission to add objects, and locks the prefix until the transaction ends.

    :raises NotFound: when the user may not view such a prefix
    """
    uow, endpoint = request.uow, request.context.endpoint
    child = uow.registry[of]
    if request.method == "POST":
        permissions.check(uow, child, "add")
    key = request.context.key
    row = None
    if key is not None:
        row = locked(uow, endpoint, key) if uow.writing else listing.rows(uow, endpoint, [key], "view").get(key)
    if row is None:
        raise NotFound()
    return uow, child, row


def _listed(uow: RequestUnitOfWork, row: Row, name: str, free: Iterator[str]) -> list[Row]:
    """Representations of free addresses or networks; ``name`` is ``address`` or ``prefix``."""
    vrf = None
    if row["vrf_id"] is not None:
        vrf = dict(plan_of(uow.registry["ipam.vrf"], "nested").fetch(uow, [row["vrf_id"]]))[row["vrf_id"]]
    return [{"family": row["ip_version"], name: item, "vrf": vrf} for item in free]


def _requested(body: Any) -> list[Any]:
    """The requested objects: the body itself if it is a list, else a list of it.

    :raises Invalid: when an item is not a dictionary
    """
    items = body if isinstance(body, list) else [body]
    errors = [{} if isinstance(item, dict) else _not_a_dictionary(item) for item in items]
    if any(errors):
        raise Invalid(errors if isinstance(body, list) else errors[0])
    return items


def _not_a_dictionary(item: Any) -> dict[str, list[str]]:
    return {"non_field_errors": [f"Invalid data. Expected a dictionary, but got {type(item).__name__}."]}


def _create(uow: RequestUnitOfWork, request: Request, endpoint: Endpoint, body: Any, bodies: Sequence[Row]) -> Any:
    """Creates the allocated objects and returns the answer that a POST of them to their own list would give."""
    single = not isinstance(body, list)
    upgraded = views.upgrade_bodies(uow, endpoint, bodies, new=True)
    created = save.create(uow, endpoint, upgraded, single=single)
    representations = views.downgrade_representation(uow, endpoint, created)
    request.response.status_int = 201
    return representations[0] if single else representations


def _exhausted(request: Request, reason: str) -> Response:
    """The answer 204 when there is not enough free space, with the reason in the header ``API-Detail``.

    :raises Conflict: (409) with the reason in the body, for requests with ``Prefer: handling=strict`` (RFC 7240)
    """
    preferences = {item.strip().lower().replace(" ", "") for item in request.headers.get("Prefer", "").split(",")}
    if "handling=strict" in preferences:
        raise Conflict(reason, {"Preference-Applied": "handling=strict"})
    response = views.no_content()
    response.headers["API-Detail"] = reason
    return response


_NO_ROOM = (
    "There is not enough room; the header `API-Detail` says so. With `Prefer: handling=strict` the answer is 409."
)


_LIMIT = query_parameters.query("limit", {"type": "integer", "minimum": 0}, "How many addresses to list.")


def _shape(name: str) -> dict[str, Any]:
    """The OpenAPI schema of a free address or network."""
    vrf = {"allOf": [{"$ref": "#/components/schemas/NestedVRF"}], "nullable": True}
    return {"type": "object", "properties": {"family": {"type": "integer"}, name: {"type": "string"}, "vrf": vrf}}


@documented(_shape("address"), form="list", query=[_LIMIT])
def list_addresses(request: Request) -> list[Row]:
    """The free addresses of a prefix, as many as a page holds."""
    uow, _, row = _open(request, "ipam.ipaddress")
    settings = uow.registry.settings
    page_size = pagination.window(uow.query, settings).limit or MAX_OBJECTS
    limit = min(page_size, settings.get("max_page_size") or MAX_OBJECTS)
    return _listed(uow, row, "address", itertools.islice(free_addresses(uow, row), limit))


@documented("ipam.ipaddress", form="some", no_content=_NO_ROOM)
def allocate_addresses(request: Request) -> Any:
    """New addresses, the first that are free; 204 when there are not enough."""
    uow, endpoint, row = _open(request, "ipam.ipaddress")
    body = body_of(request)
    items = _requested(body)
    free = list(itertools.islice(free_addresses(uow, row), len(items)))
    if len(free) < len(items):
        return _exhausted(request, f"{row['prefix']} has {len(free)} free addresses, and {len(items)} are asked for.")
    bodies = [{**item, "address": address, "vrf": row["vrf_id"]} for item, address in zip(items, free, strict=True)]
    return _create(uow, request, endpoint, body, bodies)


def allocate_next_address(request: Request) -> Row | None:
    """A new active address, the first that is free in the prefix of the URL; ``None`` when there is none.

    :raises RequestError: when the user may not add addresses, or a rule rejects it
    """
    uow, endpoint, row = _open(request, "ipam.ipaddress")
    address = next(free_addresses(uow, row), None)
    if address is None:
        return None
    return save.create(uow, endpoint, [{"address": address, "vrf": row["vrf_id"], "status": "active"}], single=True)[0]


@documented(_shape("prefix"), form="list")
def list_prefixes(request: Request) -> list[Row]:
    """The free networks of a prefix."""
    uow, _, row = _open(request, "ipam.prefix")
    free = (network_text(block, row["ip_version"]) for block in free_blocks(uow, row))
    return _listed(uow, row, "prefix", free)


@documented("ipam.prefix", form="some", no_content=_NO_ROOM)
def allocate_prefixes(request: Request) -> Any:
    """New networks of the lengths asked for, each in the first place that holds it; 204 when one does not fit."""
    uow, endpoint, row = _open(request, "ipam.prefix")
    body = body_of(request)
    items = _requested(body)
    version = row["ip_version"]
    errors = [_length_error(item, version) for item in items]
    if any(errors):
        raise Invalid(errors)
    networks_cut = cut(free_blocks(uow, row), [item["prefix_length"] for item in items], version)
    if networks_cut is None:
        lengths = ", ".join(f"/{item['prefix_length']}" for item in items)
        return _exhausted(request, f"{row['prefix']} has no room for {lengths}.")
    bodies = [
        {**_without_length(item), "prefix": network_text(block, version), "vrf": row["vrf_id"]}
        for item, block in zip(items, networks_cut, strict=True)
    ]
    return _create(uow, request, endpoint, body, bodies)


def _without_length(item: Row) -> Row:
    return {name: value for name, value in item.items() if name != "prefix_length"}


def _length_error(item: Row, version: int) -> dict[str, str]:
    """The error of a requested prefix length in the wording of the API, or an empty dictionary."""
    length = item.get("prefix_length")
    if "prefix_length" not in item:
        return {"prefix_length": "this field can not be missing"}
    if not isinstance(length, int) or isinstance(length, bool):
        return {"prefix_length": "this field must be int type"}
    return {"prefix_length": f"Invalid prefix length ({length}) for IPv{version}"} if length > BITS[version] else {}


def includeme(config: Any) -> None:
    """Adds the two actions below prefixes."""
    config.add_netinv_action(
        "ipam/prefixes", "available-ips", get=list_addresses, post=allocate_addresses, permission="view"
    )
    config.add_netinv_action(
        "ipam/prefixes", "available-prefixes", get=list_prefixes, post=allocate_prefixes, permission="view"
    )
