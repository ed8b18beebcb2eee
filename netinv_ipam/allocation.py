"""What is free in a prefix, and giving it out: the actions ``available-ips`` and ``available-prefixes``.

Free space is found by walking the addresses or prefixes that are taken, in order and a piece at a time, and stops as soon as
enough is found: neither the address space nor all that is taken is ever listed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import netaddr
import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.db.engine import lock_rows
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Conflict, Invalid, NotFound
from netinv_core.http import pagination, views
from netinv_core.http.actions import documented
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import body_of
from netinv_core.read import listing
from netinv_core.read.lookups import any_of
from netinv_core.write import save
from netinv_extras.statuses import Status
from netinv_ipam import networks
from netinv_ipam.addresses import IPAddress
from netinv_ipam.networks import BITS, address_text, packed
from netinv_ipam.prefixes import Prefix

Row = dict[str, Any]
Range = tuple[int, int]
Block = tuple[int, int]  # lowest address, prefix length
CONTAINER = "container"
PIECE, LARGEST_PIECE = 100, 10_000
MAX_OBJECTS = 1000  # addresses listed when pages have no maximum of their own


# -- finding


def _bounds(row: Row) -> Range:
    return int.from_bytes(row["network"], "big"), int.from_bytes(row["broadcast"], "big")


def usable(row: Row) -> Range:
    """The addresses of a prefix that hosts may have: an IPv4 network keeps its first and last (RFC 1122), unless it is a
    pool, a point-to-point link (RFC 3021) or a single host."""
    lowest, highest = _bounds(row)
    whole = row["ip_version"] == 6 or row["is_pool"] or row["prefix_length"] >= 31
    return (lowest, highest) if whole else (lowest + 1, highest - 1)


def _neighbours(uow: RequestUnitOfWork, row: Row, table: Any) -> Any:
    """The condition for what shares the prefix's space: its VRF; for a global container, every VRF."""
    if row["vrf_id"] is not None:
        return table.c.vrf_id == row["vrf_id"]
    slug = uow.execute(sa.select(Status.__table__.c.slug).where(Status.__table__.c.id == row["status_id"])).scalar()
    return sa.true() if slug == CONTAINER else table.c.vrf_id.is_(None)


def _walk(uow: RequestUnitOfWork, row: Row, low: Any, high: Any, within: Any) -> Iterator[Range]:
    """The ranges from ``low`` to ``high`` that are taken in a prefix, in order, a piece at a time; what lies within one
    already met is passed over."""
    version = row["ip_version"]
    here = sa.and_(low.table.c.ip_version == version, low <= row["broadcast"], _neighbours(uow, row, low.table), within)
    statement = sa.select(low, high.label("end")).distinct().where(here).order_by(low, high.desc())
    size, position = PIECE, _bounds(row)[0]
    while position < 1 << BITS[version]:
        begun = position
        rows = uow.execute(statement.where(low >= packed(position, version)).limit(size)).all()
        for lowest, highest in rows:
            ends = int.from_bytes(lowest, "big"), int.from_bytes(highest, "big")
            if ends[1] >= position:
                yield max(ends[0], position), ends[1]
                position = ends[1] + 1
        if len(rows) < size:
            return
        if low is high and position == begun + size:
            begun, position = position, _after_run(uow, statement, position, size, version)
            yield begun, position - 1
        size = min(size * 4, LARGEST_PIECE)


def _after_run(uow: RequestUnitOfWork, addresses: Any, position: int, step: int, version: int) -> int:
    """The first address from ``position`` on that is free, after a run of taken ones: passed over in growing, then shrinking
    steps, each of which the database counts off (a run of n ends at the address that is n further)."""
    growing = True
    while step and position < 1 << BITS[version]:
        low = addresses.selected_columns[0]
        found = uow.execute(addresses.where(low >= packed(position, version)).offset(step - 1).limit(1)).first()
        if found is not None and int.from_bytes(found[0], "big") == position + step - 1:
            position += step
        else:
            growing = False
        step = step * 2 if growing else step // 2
    return position


def taken_addresses(uow: RequestUnitOfWork, row: Row) -> Iterator[Range]:
    """The addresses of a prefix that are taken, in order."""
    host = IPAddress.__table__.c.host
    return _walk(uow, row, host, host, sa.true())


def taken_prefixes(uow: RequestUnitOfWork, row: Row) -> Iterator[Range]:
    """The parts of a prefix that others within it take, in order."""
    table = Prefix.__table__
    return _walk(uow, row, table.c.network, table.c.broadcast, table.c.prefix_length > row["prefix_length"])


def gaps(bounds: Range, taken: Iterator[Range]) -> Iterator[Range]:
    """The ranges within bounds that are not taken, in order."""
    position, highest = bounds
    for start, end in taken:
        if start > highest:
            break
        if start > position:
            yield position, start - 1
        position = max(position, end + 1)
    if position <= highest:
        yield position, highest


def free_addresses(uow: RequestUnitOfWork, row: Row) -> Iterator[str]:
    """The free addresses of a prefix, in order, with its prefix length."""
    for start, end in gaps(usable(row), taken_addresses(uow, row)):
        for number in range(start, end + 1):
            yield f"{address_text(packed(number, row['ip_version']))}/{row['prefix_length']}"


def blocks(start: int, end: int, version: int) -> Iterator[Block]:
    """The largest networks that make up a range, in order (RFC 4632)."""
    while start <= end:
        aligned = (start & -start).bit_length() - 1 if start else BITS[version]
        size = min(aligned, (end - start + 1).bit_length() - 1)
        yield start, BITS[version] - size
        start += 1 << size


def free_blocks(uow: RequestUnitOfWork, row: Row) -> Iterator[Block]:
    """The free networks of a prefix, as large as they can be, in order."""
    for start, end in gaps(_bounds(row), taken_prefixes(uow, row)):
        yield from blocks(start, end, row["ip_version"])


def cut(free: Iterator[Block], lengths: Sequence[int], version: int) -> list[Block] | None:
    """A network of each length, each from the first free block that holds it; ``None`` when one does not fit."""
    known: list[Block] = []
    found: list[Block] = []
    for length in lengths:
        place = next((i for i, (_, size) in enumerate(known) if 0 <= size <= length), None)
        while place is None:
            block = next(free, None)
            if block is None:
                return None
            known.append(block)
            place = len(known) - 1 if block[1] <= length else None
        start, size = known[place]
        end = start + (1 << (BITS[version] - size)) - 1
        found.append((start, length))
        known[place : place + 1] = blocks(start + (1 << (BITS[version] - length)), end, version)
    return found


def _written(block: Block, version: int) -> str:
    return f"{address_text(packed(block[0], version))}/{block[1]}"


# -- answering


def _open(request: Request, of: str) -> tuple[RequestUnitOfWork, Endpoint, Row]:
    """The prefix of the path; for a POST, whose object is of ``of``, held until the transaction ends.

    :raises NotFound: when there is no such prefix for this identity
    """
    uow, endpoint = request.uow, request.context.endpoint
    child = uow.registry[of]
    if request.method == "POST":
        permissions.check(uow, child, "add")
    key = request.context.key
    rows = listing.rows(uow, endpoint, [key], "view") if key is not None else {}
    row = _locked(uow, endpoint.table, rows[key]) if uow.writing and key in rows else rows.get(key)
    if row is None:
        raise NotFound()
    return uow, child, row


def _locked(uow: RequestUnitOfWork, table: Any, row: Row) -> Row | None:
    """A prefix's row, locked until the transaction ends so that nobody else gives out what is free in it; ``None`` when it has moved.

    Those who give out of the same space wait: of this prefix, of another one of the same network, of one that contains it or lies in
    it. Two prefixes that lie beside each other in a third do not wait for each other: each is locked itself, and the lock of the third
    one is shared. All lock in one order, from the widest prefix to the narrowest, so that nobody meets in a deadlock.
    """
    network = netaddr.IPNetwork(row["prefix"])
    if wider := [_at(table, parent) for parent in networks.parents(network, equal=False)]:
        uow.execute(_by_place(sa.select(table.c.id), table, row).where(any_of(wider)).with_for_update(read=True, key_share=True))
    statement = _by_place(sa.select(table), table, row).where(_at(table, network))
    rows = uow.execute(lock_rows(statement)).mappings()
    return {found["id"]: dict(found) for found in rows}.get(row["id"])


def _at(table: Any, network: netaddr.IPNetwork) -> Any:
    return sa.and_(table.c.network == networks.first(network), table.c.prefix_length == network.prefixlen)


def _by_place(statement: Any, table: Any, row: Row) -> Any:
    """The statement for prefixes of the same VRF, in the order in which prefixes are locked.

    MariaDB and MySQL lock what they look at, as they look at it: by this index that is what is asked for, in this order.
    """
    for dialect in ("mysql", "mariadb"):
        statement = statement.with_hint(table, "FORCE INDEX (ix_ipam_prefix_place)", dialect)
    ordered = statement.order_by(table.c.network, table.c.prefix_length, table.c.id)
    return ordered.where(table.c.vrf_id.is_not_distinct_from(row["vrf_id"]))


def _listed(uow: RequestUnitOfWork, row: Row, name: str, found: Iterator[str]) -> list[Row]:
    """Free addresses or networks as they are shown."""
    vrf = None
    if row["vrf_id"] is not None:
        vrf = dict(uow.registry["ipam.vrf"].plan("nested").fetch(uow, [row["vrf_id"]]))[row["vrf_id"]]
    return [{"family": row["ip_version"], name: item, "vrf": vrf} for item in found]


def _requested(body: Any) -> list[Any]:
    """The objects asked for.

    :raises Invalid: when one is not an object
    """
    wanted = body if isinstance(body, list) else [body]
    errors = [
        {} if isinstance(item, dict) else {"non_field_errors": [f"Invalid data. Expected a dictionary, but got {type(item).__name__}."]} for item in wanted
    ]
    if any(errors):
        raise Invalid(errors if isinstance(body, list) else errors[0])
    return wanted


def _made(uow: RequestUnitOfWork, request: Request, endpoint: Endpoint, body: Any, bodies: Sequence[Row]) -> Any:
    """Creates what was given out, and answers as a POST of it would."""
    single = not isinstance(body, list)
    upgraded = views.upgrade_bodies(uow, endpoint, bodies, new=True)
    made = views.downgrade_representation(uow, endpoint, save.create(uow, endpoint, upgraded, single=single))
    request.response.status_int = 201
    return made[0] if single else made


def _exhausted(request: Request, reason: str) -> Response:
    """204 with the reason in the header ``API-Detail``; 409 with it in the body for ``Prefer: handling=strict`` (RFC 7240).

    :raises Conflict: for those who prefer it
    """
    preferences = {item.strip().lower().replace(" ", "") for item in request.headers.get("Prefer", "").split(",")}
    if "handling=strict" in preferences:
        raise Conflict(reason, {"Preference-Applied": "handling=strict"})
    response = views.no_content()
    response.headers["API-Detail"] = reason
    return response


_NO_ROOM = "There is not enough room; the header `API-Detail` says so. With `Prefer: handling=strict` the answer is 409."


def _shape(name: str) -> dict[str, Any]:
    """The OpenAPI schema of a free address or network."""
    vrf = {"allOf": [{"$ref": "#/components/schemas/NestedVRF"}], "nullable": True}
    return {"type": "object", "properties": {"family": {"type": "integer"}, name: {"type": "string"}, "vrf": vrf}}


@documented(_shape("address"), form="list")
def list_addresses(request: Request) -> list[Row]:
    """The free addresses of a prefix, as many as a page holds."""
    uow, _, row = _open(request, "ipam.ipaddress")
    settings = uow.registry.settings
    limit = min(pagination.window(uow.query, settings).limit or MAX_OBJECTS, settings.get("max_page_size") or MAX_OBJECTS)
    return _listed(uow, row, "address", itertools.islice(free_addresses(uow, row), limit))


@documented("ipam.ipaddress", form="some", nothing=_NO_ROOM)
def allocate_addresses(request: Request) -> Any:
    """New addresses, the first that are free; 204 when there are not enough."""
    uow, endpoint, row = _open(request, "ipam.ipaddress")
    body = body_of(request)
    wanted = _requested(body)
    found = list(itertools.islice(free_addresses(uow, row), len(wanted)))
    if len(found) < len(wanted):
        return _exhausted(request, f"{row['prefix']} has {len(found)} free addresses, and {len(wanted)} are asked for.")
    bodies = [{**item, "address": address, "vrf": row["vrf_id"]} for item, address in zip(wanted, found, strict=True)]
    return _made(uow, request, endpoint, body, bodies)


@documented(_shape("prefix"), form="list")
def list_prefixes(request: Request) -> list[Row]:
    """The free networks of a prefix."""
    uow, _, row = _open(request, "ipam.prefix")
    found = (_written(block, row["ip_version"]) for block in free_blocks(uow, row))
    return _listed(uow, row, "prefix", found)


@documented("ipam.prefix", form="some", nothing=_NO_ROOM)
def allocate_prefixes(request: Request) -> Any:
    """New networks of the lengths asked for, each in the first place that holds it; 204 when one does not fit."""
    uow, endpoint, row = _open(request, "ipam.prefix")
    body = body_of(request)
    wanted = _requested(body)
    version = row["ip_version"]
    errors = [_length_error(item, version) for item in wanted]
    if any(errors):
        raise Invalid(errors)
    found = cut(free_blocks(uow, row), [item["prefix_length"] for item in wanted], version)
    if found is None:
        lengths = ", ".join(f"/{item['prefix_length']}" for item in wanted)
        return _exhausted(request, f"{row['prefix']} has no room for {lengths}.")
    bodies = [{**item, "prefix": _written(block, version), "vrf": row["vrf_id"]} for item, block in zip(wanted, found, strict=True)]
    return _made(uow, request, endpoint, body, bodies)


def _length_error(item: Row, version: int) -> dict[str, str]:
    """What is wrong with a prefix length asked for, worded as clients know it."""
    length = item.get("prefix_length")
    if "prefix_length" not in item:
        return {"prefix_length": "this field can not be missing"}
    if not isinstance(length, int) or isinstance(length, bool):
        return {"prefix_length": "this field must be int type"}
    return {"prefix_length": f"Invalid prefix length ({length}) for IPv{version}"} if length > BITS[version] else {}


def includeme(config: Any) -> None:
    """Adds the two actions below prefixes."""
    config.add_netinv_action("ipam/prefixes", "available-ips", get=list_addresses, post=allocate_addresses, permission="view")
    config.add_netinv_action("ipam/prefixes", "available-prefixes", get=list_prefixes, post=allocate_prefixes, permission="view")
