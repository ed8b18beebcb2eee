"""Ranges of AS numbers from which new ones are allocated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_asns.asns import ASN, LARGEST
from netinv_core import (
    PROTECT,
    Description,
    Draft,
    Name,
    Presentation,
    Primary,
    Ref,
    Resource,
    Slug,
    UnitOfWork,
    fields,
    foreign_key,
    in_parameter,
    integer,
    lookups,
    permissions,
    utilization,
)
from netinv_ipam.aggregates import RIR
from netinv_tenancy.tenants import Tenant, tenant_filters


class ASNRange(Primary):
    """The AS numbers from ``start`` to ``end``, both included. Ranges may overlap."""

    __tablename__ = "asns_asn_range"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    rir_id: Mapped[Ref] = foreign_key(RIR, on_delete=PROTECT, related_name="asn_ranges", label="RIR")
    start: Mapped[int] = integer(1, LARGEST, "Lowest number")
    end: Mapped[int] = integer(1, LARGEST, "Highest number")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="asn_ranges")
    description: Mapped[Description]


def _shares(uow: UnitOfWork, keys: Sequence[Any]) -> Mapping[Any, fields.Share]:
    """The share of numbers that exist, of ranges by id: one statement for any number of them."""
    table, asn = ASNRange.__table__, ASN.__table__.alias()
    limits = permissions.visible(uow, uow.registry.of_model(ASN), asn)
    number = sa.select(sa.func.count()).where(asn.c.asn.between(table.c.start, table.c.end), *limits)
    statement = sa.select(table.c.id, table.c.start, table.c.end, number.scalar_subquery().label("used"))
    rows = uow.execute(statement.where(in_parameter(table.c.id)), {"keys": list(keys)})
    return {row.id: fields.Share(row.used, row.end - row.start + 1, "AS numbers") for row in rows}


asn_ranges = Resource(
    ASNRange,
    "asn-ranges",
    title="ASN range",
    plural="ASN ranges",
    brief=["name", "slug", "start", "end"],
    search=["name", "description"],
    fields=[utilization(_shares)],
    filters=[*tenant_filters()],
    example={"start": 64512, "end": 65534},
    presentation=Presentation(
        icon="globe-alt",
        columns=["start", "end", "utilization", "rir", "tenant", "description"],
        facets=["rir", "tenant"],
    ),
)


@asn_ranges.filter("contains", kind="number", help="An AS number: the ranges that contain it")
def contains(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """``?contains=64500``: the ranges that contain this number, or one of several."""
    numbers = [lookups.whole_number(value) for value in values]
    return lookups.any_of([sa.and_(table.c.start <= number, table.c.end >= number) for number in numbers])


@asn_ranges.rule(changing=["start", "end"])
def start_is_before_end(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects ranges without a number."""
    for draft in drafts:
        if draft["start"] > draft["end"]:
            draft.reject("end", "The end must not be lower than the start.")
