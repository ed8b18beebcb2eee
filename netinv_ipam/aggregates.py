"""Regional Internet registries (RIRs), and the aggregates of address space that they assign."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import netaddr
import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.auth import permissions
from netinv_core.db.locks import lock_for
from netinv_core.models.base import Organizational, Primary
from netinv_core.models.columns import PROTECT, Description, Name, Ref, Slug, boolean, column, foreign_key
from netinv_core.presentation import Presentation
from netinv_core.read.filters import value
from netinv_core.resource import Resource
from netinv_core.sql import lookups
from netinv_ipam import network_filters, networks
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


class RIR(Organizational):
    """A regional Internet registry, or the document that sets private space aside (RFC 1918)."""

    __tablename__ = "ipam_rir"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    is_private: Mapped[bool] = boolean(False, "IP space managed by this RIR is considered private", label="Private")
    description: Mapped[Description]


class Aggregate(networks.NetworkColumns, Primary):
    """A part of the address space that a registry handed out."""

    __tablename__ = "ipam_aggregate"
    __table_args__ = (sa.Index("ix_ipam_aggregate_place", "ip_version", "network", "broadcast"),)

    prefix: Mapped[str] = networks.cidr(networks.network_text)
    rir_id: Mapped[Ref] = foreign_key(RIR, on_delete=PROTECT, count_field="aggregate_count")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT)
    date_added: Mapped[datetime.date | None] = column(default=None)
    description: Mapped[Description]


rirs = Resource(
    RIR,
    "rirs",
    title="RIR",
    brief=["name", "slug", "aggregate_count"],
    search=["name", "slug", "description"],
    presentation=Presentation(columns=["utilization", "is_private", "aggregate_count", "description"]),
)

aggregates = Resource(
    Aggregate,
    "aggregates",
    type_order="~2 ",
    display="prefix",
    brief=["family", "prefix"],
    order=["ip_version", "network", "broadcast"],
    nested_order=["network", "broadcast"],
    orderings={"prefix": ["ip_version", "network", "prefix_length"]},
    natural="prefix",
    fields=[networks.cidr_field("prefix"), networks.family()],
    filters=[
        *tenant_filters(),
        network_filters.search("prefix", networks.containing, "description"),
        networks.family_filter(),
        *network_filters.edge_filters(),
        network_filters.network_filter(),
        network_filters.lookups("network", "prefix"),
        value("date_added", lookup_names=lookups.NUMBER),
    ],
    example={"prefix": lambda number: f"2001:{0xDB8 + number // 65536:x}:{number % 65536:x}::/48"},
    presentation=Presentation(
        columns=["utilization", "rir", "tenant", "date_added", "description"],
        facets=["rir", "family", "tenant"],
    ),
)
aggregates.prepare(networks.fill_packed_columns("prefix"))
aggregates.rule(networks.reject_zero_prefix("prefix", "aggregate"))


@aggregates.rule
def aggregates_do_not_overlap(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects an aggregate that contains or lies in another one; one SELECT for all drafts.

    The other aggregate is named only if the user may view it.
    """
    moving = [draft for draft in drafts if draft.changed("prefix") and draft["prefix_length"]]
    if not moving:
        return
    lock_for(uow, "overlap of aggregates", {draft["ip_version"] for draft in moving})
    table = Aggregate.__table__
    new_networks = {id(draft): netaddr.IPNetwork(draft["prefix"]) for draft in moving}
    overlapping = [
        sa.or_(networks.containing(table, network), networks.within(table, network))
        for network in new_networks.values()
    ]
    draft_ids = {draft.id for draft in drafts}
    visible = sa.and_(sa.true(), *permissions.visible(uow, uow.registry.of_model(Aggregate), table)).label("visible")
    statement = sa.select(table.c.id, table.c.prefix, visible).where(sa.or_(*overlapping))
    ordered = statement.order_by(table.c.ip_version, table.c.network, table.c.broadcast)
    rows = [row for row in uow.execute(ordered) if row.id not in draft_ids]
    taken = [netaddr.IPNetwork(row.prefix) for row in rows]
    hidden = {network for network, row in zip(taken, rows, strict=True) if not row.visible}
    taken += [netaddr.IPNetwork(draft["prefix"]) for draft in drafts if draft not in moving]
    for draft in moving:
        network = new_networks[id(draft)]
        covering = [other for other in taken if network in other]
        covered = [other for other in taken if other in network]
        if covering:
            message = f"{network} is already covered by an existing aggregate{_suffix(covering[0], hidden)}."
        elif covered:
            message = f"{network} covers an existing aggregate{_suffix(covered[0], hidden)}."
        else:
            taken.append(network)
            continue
        draft.reject("prefix", f"Aggregates cannot overlap. {message}")


def _suffix(network: netaddr.IPNetwork, unnamed: Collection[netaddr.IPNetwork]) -> str:
    """The aggregate in parentheses for an error message; empty if the user may not view it."""
    return "" if network in unnamed else f" ({network})"
