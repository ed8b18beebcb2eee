"""The action ``available-asns`` of ranges: their free numbers, and new AS numbers at the first that are free."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_asns.asns import ASN
from netinv_core import BodyOf, NotFound, allocating, documented, listing, permissions

Row = dict[str, Any]
ASN_LABEL = "asns.asn"
FREE = {"type": "object", "properties": {"asn": {"type": "integer"}}}
NUMBER = BodyOf("AvailableASNRequest", ASN_LABEL, {"asn"}, optional={"rir"})


def opened(request: Request) -> Row:
    """The row of the range in the URL; a POST needs the permission to add AS numbers, and locks the row.

    :raises NotFound: when the user may not view such a range
    """
    uow, endpoint, key = request.uow, request.context.endpoint, request.context.key
    writes = request.method == "POST"
    if writes:
        permissions.check(uow, uow.registry[ASN_LABEL], "add")
    row = listing.rows(uow, endpoint, [key], "view", locked=writes).get(key)
    if row is None:
        raise NotFound()
    return row


def free_numbers(uow: Any, row: Row) -> Iterator[int]:
    """The free numbers of a range in order; one statement."""
    table = ASN.__table__
    statement = sa.select(table.c.asn).where(table.c.asn.between(row["start"], row["end"])).order_by(table.c.asn)
    position = row["start"]
    for taken in itertools.chain(uow.execute(statement).scalars(), [row["end"] + 1]):
        yield from range(position, taken)
        position = taken + 1


@documented(FREE, form="list", query=[allocating.LIMIT])
def list_numbers(request: Request) -> list[Row]:
    """The free numbers of a range, as many as a page holds."""
    free = itertools.islice(free_numbers(request.uow, opened(request)), allocating.most_listed(request.uow))
    return [{"asn": number} for number in free]


@documented(ASN_LABEL, form="some", request_body=NUMBER, no_content=allocating.NO_ROOM)
def allocate_numbers(request: Request) -> Any:
    """New AS numbers of the registry of the range, the first that are free; 204 when there are not enough."""
    uow, row = request.uow, opened(request)
    items, single = allocating.requested(request)
    free = list(itertools.islice(free_numbers(uow, row), len(items)))
    if len(free) < len(items):
        reason = f"{row['name']} has {len(free)} free numbers, and {len(items)} are asked for."
        return allocating.exhausted(request, reason)
    items, allotted = [{"rir": row["rir_id"], **item} for item in items], [{"asn": asn} for asn in free]
    return allocating.created(uow, request, uow.registry[ASN_LABEL], items, allotted, single=single)


def includeme(config: Any) -> None:
    """Adds the action."""
    config.add_netinv_action(
        "asns/asn-ranges", "available-asns", get=list_numbers, post=allocate_numbers, permission="view"
    )
