"""Prefixes: networks in use, and containers that other prefixes are allocated from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.models.base import Primary
from netinv_core.models.columns import PROTECT, SET_NULL, Description, Ref, boolean, column_info, foreign_key
from netinv_core.presentation import Presentation, beside
from netinv_core.read.filters import number, related, tree, tree_pair
from netinv_core.resource import FieldFactory, Resource
from netinv_core.write.referring_rules import through
from netinv_dcim.located_objects import LOCATION_READS, PLACE, location_fits
from netinv_dcim.locations import Location
from netinv_dcim.sites import Site
from netinv_extras.statuses import status
from netinv_ipam import network_filters, networks
from netinv_ipam.roles import Role
from netinv_ipam.uniqueness import unique_within
from netinv_ipam.vlans import VLAN
from netinv_ipam.vrfs import VRF, present_filters
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

USUAL_STATUS = "active"


class Prefix(networks.NetworkColumns, Primary):
    """A network, global or within a VRF. All addresses of a pool are usable."""

    __tablename__ = "ipam_prefix"
    text_indexes = ("description",)
    __table_args__ = (
        sa.Index("ix_ipam_prefix_place", "ip_version", "network", "prefix_length", "vrf_id"),
        sa.Index("ix_ipam_prefix_in_vrf", "vrf_id", "ip_version", "network", "prefix_length"),
    )

    prefix: Mapped[str] = networks.cidr(networks.network_text)
    site_id: Mapped[Ref | None] = foreign_key(
        Site, on_delete=PROTECT, related_name="prefixes", count_field="prefix_count"
    )
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=PROTECT, related_name="prefixes")
    vrf_id: Mapped[Ref | None] = foreign_key(VRF, on_delete=PROTECT, count_field="prefix_count")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, count_field="prefix_count")
    vlan_id: Mapped[Ref | None] = foreign_key(VLAN, on_delete=PROTECT, count_field="prefix_count")
    status_id: Mapped[Ref] = status(initial=["Active", "Container", "Deprecated", "Reserved"])
    role_id: Mapped[Ref | None] = foreign_key(
        Role, on_delete=SET_NULL, count_field="prefix_count", help="The primary function of this prefix"
    )
    is_pool: Mapped[bool] = boolean(
        False, "All IP addresses within this prefix are considered usable", label="Is a pool"
    )
    description: Mapped[Description]


def _status(registry: Registry, endpoint: Endpoint) -> Field:
    """The status field, with a default: new prefixes are active."""
    column = endpoint.table.c.status_id
    field = fields.from_column(registry, "status_id", column, column_info(column))
    assert field is not None
    return dataclasses.replace(field, default=USUAL_STATUS)


def containers_of(uow: UnitOfWork, prefix: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """The prefixes of the same VRF that contain a prefix, given its representation, as far as the user may view them,
    the widest first: name, label and id of each. Takes one statement, none when it is asked again.
    """
    known = uow.row_cache.setdefault(containers_of, {})
    if prefix["id"] not in known:
        network = networks.parse(str(prefix["prefix"]))
        known[prefix["id"]] = prefixes_around(uow, network, prefix["vrf"], equal=False)
    found: list[tuple[str, str, Any]] = known[prefix["id"]]
    return found


def prefixes_around(
    uow: UnitOfWork, network: netaddr.IPNetwork, vrf: Mapping[str, Any] | None, *, equal: bool
) -> list[tuple[str, str, Any]]:
    """The prefixes of a VRF that contain a network, and with ``equal`` those that equal it, as far as the user may view
    them, the widest first: name, label and id of each. Takes one statement.
    """
    table: Any = Prefix.__table__
    endpoint = uow.registry.of_model(Prefix)
    limits, label = permissions.visible(uow, endpoint, table), endpoint.label
    statement = (
        sa.select(table.c.prefix, table.c.id)
        .where(networks.containing(table, network, equal=equal), *limits)
        .where(table.c.vrf_id == vrf["id"] if vrf else table.c.vrf_id.is_(None))
        .order_by(table.c.prefix_length, table.c.id)
    )
    return [(text, label, key) for text, key in uow.execute(statement).tuples()]


prefixes = Resource(
    Prefix,
    "prefixes",
    plural="prefixes",
    display="prefix",
    brief=["family", "prefix"],
    order=["vrf.name?", "ip_version", "network", "prefix_length"],
    nested_order=["vrf.name?", "network", "prefix_length"],
    orderings={"prefix": ["ip_version", "network", "prefix_length"]},
    natural=["prefix", "vrf"],
    fields=[networks.cidr_field("prefix"), networks.family(), FieldFactory("status", _status)],
    filters=[
        *tree_pair("region", "site.region"),
        tree("location"),
        *tenant_filters(),
        *present_filters(),
        network_filters.search("prefix", networks.containing, "description"),
        networks.family_filter(),
        *network_filters.edge_filters(),
        network_filters.network_filter(),
        network_filters.lookups("network", "prefix"),
        network_filters.network_comparison(
            "within", lambda table, network: networks.within(table, network.cidr, equal=False)
        ),
        network_filters.network_comparison(
            "within_include", lambda table, network: networks.within(table, network.cidr)
        ),
        network_filters.network_comparison("contains", lambda table, network: networks.containing(table, network.cidr)),
        number("mask_length", "prefix_length", lookup_names=("gte", "lte"), multiple=False),
        number("vlan_vid", "vlan.vid", lookup_names=(), multiple=False),
        related("role", by="slug", ids=False),
    ],
    example={"prefix": "198.18.0.0/24"},
    presentation=Presentation(
        counted=True,
        key="p",
        columns=["status", "utilization", "vrf", "site", "vlan", "role", "tenant", "description"],
        facets=["status", "family", "role", "vrf", "site", "tenant"],
        name_in_context=(beside, "prefix", "vrf.name"),
        containers=containers_of,
        leading=["utilization", "free", "level", "map", "grid", "addresses"],
        fieldsets=[
            ("Prefix", ["prefix", "status", "role", "is_pool", "description"]),
            ("Place", ["vrf", "site", "location", "vlan"]),
            ("Belonging", ["tenant"]),
        ],
        depends_on={"location": {"site": "site_id"}, "vlan": {"site": "site_id"}},
    ),
)
prefixes.prepare(networks.fill_packed_columns("prefix"))
prefixes.rule(reads=LOCATION_READS, changing=PLACE)(location_fits)
prefixes.rule(networks.reject_zero_prefix("prefix", "prefix"))
prefixes.rule(reads=[through("vrf", "enforce_unique")])(
    unique_within(Prefix, "prefix", ("network", "prefix_length"), "prefix")
)
