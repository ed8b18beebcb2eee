"""The action ``available-ips`` of ranges: their free addresses, and new ones at the first that are free."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core import BodyOf, NotFound, allocating, documented, listing, permissions, save
from netinv_ip_ranges.ip_ranges import IPRange, assigned_in, range_display
from netinv_ipam import networks, prefix_locks
from netinv_ipam.addresses import IPAddress

Row = dict[str, Any]
ADDRESS = "ipam.ipaddress"
BODY = BodyOf("AvailableRangeIPAddressRequest", ADDRESS, {"address", "vrf"})
FREE = {"type": "object", "properties": {"family": {"type": "integer"}, "address": {"type": "string"}}}


def opened(request: Request) -> Row:
    """The row of the range in the URL.

    A POST needs the permission to add addresses, and waits for others that allocate from the range or from a prefix
    around it.

    :raises NotFound: when the user may not view such a range
    """
    uow, endpoint, key = request.uow, request.context.endpoint, request.context.key
    writes = request.method == "POST"
    if writes:
        permissions.check(uow, uow.registry[ADDRESS], "add")
    row = listing.rows(uow, endpoint, [key], "view", locked=writes).get(key)
    if row is None:
        raise NotFound()
    if writes:
        first, last = (networks.address_text(row[name]) for name in ("low", "high"))
        prefix_locks.lock_around(uow, first, last, row["vrf_id"])
    return row


def free_addresses(uow: Any, row: Row) -> Iterator[str]:
    """The free addresses of a range in order, with the prefix length of its ends; one statement."""
    address, table = IPAddress.__table__, IPRange.__table__
    statement = sa.select(address.c.host).distinct().where(assigned_in(table, address), table.c.id == row["id"])
    low, high = (int.from_bytes(row[name], "big") for name in ("low", "high"))
    taken = (int.from_bytes(host, "big") for host in uow.execute(statement.order_by(address.c.host)).scalars())
    length = row["start_address"].partition("/")[2]
    position = low
    for end in itertools.chain(taken, [high + 1]):
        for number in range(position, end):
            yield f"{networks.address_text(networks.packed(number, row['ip_version']))}/{length}"
        position = end + 1


@documented(FREE, form="list", query=[allocating.LIMIT])
def list_addresses(request: Request) -> list[Row]:
    """The free addresses of a range, as many as a page holds."""
    row = opened(request)
    free = itertools.islice(free_addresses(request.uow, row), allocating.most_listed(request.uow))
    return [{"family": row["ip_version"], "address": address} for address in free]


@documented(ADDRESS, form="some", request_body=BODY, no_content=allocating.NO_ROOM)
def allocate_addresses(request: Request) -> Any:
    """New addresses, the first that are free; 204 when there are not enough."""
    uow, row = request.uow, opened(request)
    items, single = allocating.requested(request)
    free = list(itertools.islice(free_addresses(uow, row), len(items)))
    if len(free) < len(items):
        name = range_display(row["start_address"], row["end_address"])
        return allocating.exhausted(request, f"{name} has {len(free)} free addresses, and {len(items)} are asked for.")
    allotted = [{"address": address, "vrf": row["vrf_id"]} for address in free]
    return allocating.created(uow, request, uow.registry[ADDRESS], items, allotted, single=single)


def allocate_next(request: Request) -> Row | None:
    """A new active address, the first that is free in the range of the URL; ``None`` when there is none."""
    uow, row = request.uow, opened(request)
    address = next(free_addresses(uow, row), None)
    if address is None:
        return None
    body = {"address": address, "vrf": row["vrf_id"], "status": "active"}
    created: Row = save.create(uow, uow.registry[ADDRESS], [body], single=True)[0]
    return created


def includeme(config: Any) -> None:
    """Adds the action."""
    config.add_netinv_action(
        "ip_ranges/ip-ranges", "available-ips", get=list_addresses, post=allocate_addresses, permission="view"
    )
