"""IP ranges: consecutive addresses that need not be a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import (
    PROTECT,
    SET_NULL,
    Comments,
    Description,
    Draft,
    Presentation,
    Primary,
    Ref,
    Resource,
    UnitOfWork,
    boolean,
    column,
    fields,
    foreign_key,
    in_parameter,
    integer,
    lock_for,
    lookups,
    permissions,
    utilization,
)
from netinv_extras.statuses import status
from netinv_ipam import networks
from netinv_ipam.addresses import IPAddress
from netinv_ipam.roles import Role
from netinv_ipam.vrfs import VRF
from netinv_tenancy.tenants import Tenant, tenant_filters

LARGEST = 2**32 - 1


class IPRange(Primary):
    """The addresses from ``start_address`` to ``end_address``, both included, global or within a VRF."""

    __tablename__ = "ip_ranges_ip_range"
    __table_args__ = (sa.Index("ix_ip_ranges_ip_range_place", "ip_version", "low", "high"),)

    start_address: Mapped[str] = networks.cidr(networks.host_text)
    end_address: Mapped[str] = networks.cidr(networks.host_text)
    low: Mapped[bytes] = networks.edge()
    high: Mapped[bytes] = networks.edge()
    ip_version: Mapped[int] = column(sa.SmallInteger(), hidden=True)
    size: Mapped[int] = integer(1, LARGEST, "Number of addresses", read_only=True)
    vrf_id: Mapped[Ref | None] = foreign_key(VRF, on_delete=PROTECT, related_name="ip_ranges")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="ip_ranges")
    status_id: Mapped[Ref] = status(initial=["Active", "Deprecated", "Reserved"])
    role_id: Mapped[Ref | None] = foreign_key(Role, on_delete=SET_NULL, related_name="ip_ranges")
    mark_utilized: Mapped[bool] = boolean(False, "Treat all addresses as used, as where another system assigns them")
    description: Mapped[Description]
    comments: Mapped[Comments]


def range_display(start: str, end: str) -> str:
    """The display name: ``192.0.2.10-192.0.2.20/24``."""
    return f"{start.partition('/')[0]}-{end}"


def assigned_in(ranges: Any, addresses: Any) -> Any:
    """Condition for the addresses in the ranges of their VRF."""
    return sa.and_(
        addresses.c.ip_version == ranges.c.ip_version,
        addresses.c.host.between(ranges.c.low, ranges.c.high),
        addresses.c.vrf_id.is_not_distinct_from(ranges.c.vrf_id),
    )


def _shares(uow: UnitOfWork, keys: Sequence[Any]) -> Mapping[Any, fields.Share]:
    """The utilisation of ranges by id: one statement for any number of them. An address counts once."""
    table, address = IPRange.__table__, IPAddress.__table__.alias()
    limits = permissions.visible(uow, uow.registry.of_model(IPAddress), address)
    number = sa.select(sa.func.count(sa.distinct(address.c.host))).where(assigned_in(table, address), *limits)
    used = sa.case((table.c.mark_utilized, table.c.size), else_=number.scalar_subquery())
    statement = sa.select(table.c.id, table.c.size, used.label("used"))
    rows = uow.execute(statement.where(in_parameter(table.c.id)), {"keys": list(keys)})
    return {row.id: fields.Share(row.used, row.size, "addresses") for row in rows}


ip_ranges = Resource(
    IPRange,
    "ip-ranges",
    title="IP range",
    plural="IP ranges",
    display=(range_display, "start_address", "end_address"),
    brief=["family", "start_address", "end_address"],
    order=["ip_version", "low", "high"],
    orderings={"start_address": ["ip_version", "low"], "end_address": ["ip_version", "high"]},
    search=["start_address", "end_address", "description", "comments"],
    fields=[
        networks.cidr_field("start_address"),
        networks.cidr_field("end_address"),
        networks.family(),
        utilization(_shares),
    ],
    filters=[*tenant_filters(), networks.family_filter()],
    example={
        "start_address": lambda number: f"2001:db8:{number // 65536:x}:{number % 65536:x}::1/64",
        "end_address": lambda number: f"2001:db8:{number // 65536:x}:{number % 65536:x}::ff/64",
    },
    presentation=Presentation(
        icon="arrows-right-left",
        columns=["vrf", "size", "status", "utilization", "role", "tenant", "description"],
        facets=["status", "family", "role", "vrf", "tenant"],
        fieldsets=[
            ("IP range", ["start_address", "end_address", "size", "family", "vrf", "status", "role", "description"]),
            ("Use", ["mark_utilized", "utilization"]),
            ("Belonging", ["tenant"]),
        ],
    ),
)


@ip_ranges.filter("contains", help="An address: the ranges that contain it")
def contains(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """``?contains=192.0.2.15``: the ranges that contain this address, or one of several."""
    return lookups.any_of([around(table, networks.parse(value)) for value in values])


@ip_ranges.filter("parent", help="A prefix: the ranges that lie within it")
def parent(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """``?parent=192.0.2.0/24``: the ranges that lie within this network, or one of several."""
    return lookups.any_of([within(table, networks.parse(value)) for value in values])


def around(table: Any, network: Any) -> Any:
    """Condition: the range contains all addresses of a network."""
    first, last = networks.first(network), networks.last(network)
    return sa.and_(table.c.ip_version == network.version, table.c.low <= first, table.c.high >= last)


def within(table: Any, network: Any) -> Any:
    """Condition: the range lies in a network."""
    first, last = networks.first(network), networks.last(network)
    return sa.and_(table.c.ip_version == network.version, table.c.low >= first, table.c.high <= last)


# -- rules


@ip_ranges.prepare
def fill_edges(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Derives the packed addresses, the IP version and the size from the texts."""
    for draft in drafts:
        if draft.changed("start_address", "end_address"):
            start, end = networks.parse(draft["start_address"]), networks.parse(draft["end_address"])
            draft["low"], draft["high"] = (networks.packed(net.value, net.version) for net in (start, end))
            draft["ip_version"] = start.version
            draft["size"] = min(max(end.value - start.value + 1, 0), LARGEST + 1)


@ip_ranges.rule(changing=["start_address", "end_address"])
def ends_belong_together(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects ranges whose ends are of two IP versions or networks, or in the wrong order, or too far apart."""
    for draft in drafts:
        start, end = networks.parse(draft["start_address"]), networks.parse(draft["end_address"])
        if start.version != end.version:
            draft.reject("end_address", "Both addresses must be of the same IP version.")
        elif start.prefixlen != end.prefixlen:
            draft.reject("end_address", "Both addresses must have the same prefix length.")
        elif start.value > end.value:
            draft.reject("end_address", "The end address must not be lower than the start address.")
        elif draft["size"] > LARGEST:
            draft.reject("end_address", f"A range has at most {LARGEST} addresses.")


@ip_ranges.rule(changing=["start_address", "end_address", "vrf_id"])
def ranges_do_not_overlap(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a range that has addresses of another one of its VRF; one SELECT for all drafts. Takes locks.

    The other range is named only if the user may view it.
    """
    lock_for(uow, "overlap of IP ranges", {str(draft["vrf_id"]) for draft in drafts})
    table = IPRange.__table__
    near = [
        sa.and_(
            table.c.ip_version == version,
            table.c.low <= max(draft["high"] for draft in group),
            table.c.high >= min(draft["low"] for draft in group),
        )
        for version in networks.BITS
        if (group := [draft for draft in drafts if draft["ip_version"] == version])
    ]
    visible = sa.and_(sa.true(), *permissions.visible(uow, uow.registry.of_model(IPRange), table)).label("visible")
    names = ("id", "vrf_id", "low", "high", "start_address", "end_address")
    rows = uow.execute(sa.select(*[table.c[name] for name in names], visible).where(sa.or_(*near))).mappings().all()
    written = {draft.id for draft in drafts}
    taken: list[Mapping[str, Any]] = [row for row in rows if row["id"] not in written]
    for draft in drafts:
        for other in taken:
            if other["vrf_id"] == draft["vrf_id"] and _overlap(draft, other):
                name = f" {range_display(other['start_address'], other['end_address'])}" if other["visible"] else ""
                draft.reject("start_address", f"The range overlaps with the range{name} of this VRF.")
                break
        else:
            taken.append({**{name: draft[name] for name in names[1:]}, "visible": True})


def _overlap(one: Any, other: Mapping[str, Any]) -> bool:
    same_version = len(one["low"]) == len(other["low"])
    return same_version and one["low"] <= other["high"] and one["high"] >= other["low"]
