"""Allocation from the free space of a prefix: the actions ``available-ips`` and ``available-prefixes``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import Invalid, NotFound
from netinv_core.http import allocating
from netinv_core.http.actions import BodyOf, documented
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_core.write import save
from netinv_ipam.free_space import cut, free_addresses, free_blocks, network_text
from netinv_ipam.networks import BITS
from netinv_ipam.prefix_locks import locked
from netinv_ipam.prefixes import USUAL_STATUS

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

Row = dict[str, Any]


# -- actions


def _open_request(request: Request, of: str) -> tuple[RequestUnitOfWork, Endpoint, Row]:
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


def _list_free(uow: RequestUnitOfWork, row: Row, name: str, free: Iterator[str]) -> list[Row]:
    """Representations of free addresses or networks; ``name`` is ``address`` or ``prefix``."""
    vrf = None
    if row["vrf_id"] is not None:
        vrf = dict(plan_of(uow.registry["ipam.vrf"], "nested").fetch(uow, [row["vrf_id"]]))[row["vrf_id"]]
    return [{"family": row["ip_version"], name: item, "vrf": vrf} for item in free]


_ADDRESS = BodyOf("AvailableIPAddressRequest", "ipam.ipaddress", {"address", "vrf"})
_LENGTH = {"type": "integer", "minimum": 0, "maximum": 128, "description": "Length of the new prefix in bits."}
_NETWORK = BodyOf("AvailablePrefixRequest", "ipam.prefix", {"prefix", "vrf"}, {"prefix_length": _LENGTH})


def _shape(name: str) -> dict[str, Any]:
    """The OpenAPI schema of a free address or network."""
    vrf = {"allOf": [{"$ref": "#/components/schemas/NestedVRF"}], "nullable": True}
    return {"type": "object", "properties": {"family": {"type": "integer"}, name: {"type": "string"}, "vrf": vrf}}


@documented(_shape("address"), form="list", query=[allocating.LIMIT])
def list_addresses(request: Request) -> list[Row]:
    """The free addresses of a prefix, as many as a page holds."""
    uow, _, row = _open_request(request, "ipam.ipaddress")
    return _list_free(uow, row, "address", itertools.islice(free_addresses(uow, row), allocating.most_listed(uow)))


@documented("ipam.ipaddress", form="some", request_body=_ADDRESS, no_content=allocating.NO_ROOM)
def allocate_addresses(request: Request) -> Any:
    """New addresses, the first that are free; 204 when there are not enough."""
    uow, endpoint, row = _open_request(request, "ipam.ipaddress")
    items, single = allocating.requested(request)
    free = list(itertools.islice(free_addresses(uow, row), len(items)))
    if len(free) < len(items):
        reason = f"{row['prefix']} has {len(free)} free addresses, and {len(items)} are asked for."
        return allocating.exhausted(request, reason)
    allotted = [{"address": address, "vrf": row["vrf_id"]} for address in free]
    return allocating.created(uow, request, endpoint, items, allotted, single=single)


def allocate_next_address(request: Request) -> Row | None:
    """A new active address, the first that is free in the prefix of the URL; ``None`` when there is none.

    :raises RequestError: when the user may not add addresses, or a rule rejects it
    """
    uow, endpoint, row = _open_request(request, "ipam.ipaddress")
    address = next(free_addresses(uow, row), None)
    if address is None:
        return None
    return save.create(uow, endpoint, [{"address": address, "vrf": row["vrf_id"], "status": "active"}], single=True)[0]


def allocate_next_prefix(request: Request, length: int) -> Row | None:
    """A new active prefix of a length, in the first place within the prefix of the URL that holds it; ``None`` when
    there is none.

    :raises RequestError: when the user may not add prefixes, the length is not one within the prefix, or a rule rejects
        it
    """
    uow, endpoint, row = _open_request(request, "ipam.prefix")
    shortest, longest = row["prefix_length"] + 1, BITS[row["ip_version"]]
    if not shortest <= length <= longest:
        raise Invalid({"prefix_length": [f"Choose a length from {shortest} to {longest}."]})
    found = cut(free_blocks(uow, row), [length], row["ip_version"])
    if found is None:
        return None
    body = {"prefix": network_text(found[0], row["ip_version"]), "vrf": row["vrf_id"], "status": USUAL_STATUS}
    return save.create(uow, endpoint, [body], single=True)[0]


@documented(_shape("prefix"), form="list")
def list_prefixes(request: Request) -> list[Row]:
    """The free networks of a prefix."""
    uow, _, row = _open_request(request, "ipam.prefix")
    free = (network_text(block, row["ip_version"]) for block in free_blocks(uow, row))
    return _list_free(uow, row, "prefix", free)


@documented("ipam.prefix", form="some", request_body=_NETWORK, no_content=allocating.NO_ROOM)
def allocate_prefixes(request: Request) -> Any:
    """New networks of the lengths asked for, each in the first place that holds it; 204 when one does not fit. A length
    is greater than that of the prefix: the network of its own length is the prefix.
    """
    uow, endpoint, row = _open_request(request, "ipam.prefix")
    items, single = allocating.requested(request)
    version = row["ip_version"]
    errors = [_length_error(item, version) for item in items]
    if any(errors):
        raise Invalid(errors)
    wanted = [item["prefix_length"] for item in items]
    is_longer = all(length > row["prefix_length"] for length in wanted)
    networks_cut = cut(free_blocks(uow, row), wanted, version) if is_longer else None
    if networks_cut is None:
        lengths = ", ".join(f"/{length}" for length in wanted)
        return allocating.exhausted(request, f"{row['prefix']} has no room for {lengths}.")
    items = [_without_length(item) for item in items]
    allotted = [{"prefix": network_text(block, version), "vrf": row["vrf_id"]} for block in networks_cut]
    return allocating.created(uow, request, endpoint, items, allotted, single=single)


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
