"""Clusters: the pools of hosts that virtual machines run on, by type and group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.models.base import Organizational, Primary
from netinv_core.models.columns import PROTECT, Comments, Description, Name, Ref, Slug, foreign_key
from netinv_core.read import listing
from netinv_core.read.filters import tree, tree_pair
from netinv_core.resource import Resource
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_dcim.devices import Device
from netinv_dcim.locations import Location, location_fits, within
from netinv_dcim.sites import Site
from netinv_tenancy.tenants import Tenant, tenant_filters


class ClusterType(Organizational):
    """What makes a pool of hosts of machines: a hypervisor, a cloud."""

    __tablename__ = "virtualization_cluster_type"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]


class ClusterGroup(Organizational):
    """An arbitrary set of clusters."""

    __tablename__ = "virtualization_cluster_group"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]


class Cluster(Primary):
    """A pool of hosts; devices may be its members."""

    __tablename__ = "virtualization_cluster"

    name: Mapped[Name] = mapped_column(unique=True)
    type_id: Mapped[Ref] = foreign_key(ClusterType, on_delete=PROTECT, related_name="clusters", count_field="cluster_count")
    group_id: Mapped[Ref | None] = foreign_key(ClusterGroup, on_delete=PROTECT, related_name="clusters", count_field="cluster_count")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="clusters")
    site_id: Mapped[Ref | None] = foreign_key(Site, on_delete=PROTECT, related_name="clusters")
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=PROTECT, related_name="clusters")
    comments: Mapped[Comments]


cluster_types = Resource(
    ClusterType,
    "cluster-types",
    brief=["name", "slug", "cluster_count"],
    search=["name", "slug", "description"],
)

cluster_groups = Resource(
    ClusterGroup,
    "cluster-groups",
    brief=["name", "slug", "cluster_count"],
    search=["name", "slug", "description"],
)

clusters = Resource(
    Cluster,
    "clusters",
    brief=["name", "virtualmachine_count"],
    search=["name", "comments"],
    filters=[*tree_pair("region", "site.region"), tree("location"), *tenant_filters()],
)


clusters.rule(location_fits)


def _hosts(uow: UnitOfWork, keys: Sequence[Any]) -> list[Any]:
    """The devices that are members of clusters, each with where it is."""
    table = Device.__table__
    statement = sa.select(table.c.cluster_id, table.c.site_id, table.c.location_id)
    return list(uow.execute(statement.where(table.c.cluster_id.in_(keys)))) if keys else []


@clusters.rule
def clusters_stay_with_their_hosts(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A cluster of a site, or of a location, has all its hosts there."""
    moved = {draft.id: draft for draft in drafts if not draft.new and draft.changed("site_id", "location_id")}
    hosts = _hosts(uow, list(moved))
    sites = listing.rows_of(uow, Site, [moved[host.cluster_id]["site_id"] for host in hosts])
    places = listing.rows_of(uow, Location, [moved[host.cluster_id]["location_id"] for host in hosts])
    above = within(uow, [host.location_id for host in hosts])
    for draft in moved.values():
        site, place, own = draft["site_id"], draft["location_id"], [host for host in hosts if host.cluster_id == draft.id]
        away = sum(site is not None and host.site_id != site for host in own)
        outside = sum(place is not None and host.location_id is not None and place not in above[host.location_id] for host in own)
        if away:
            draft.reject("site", f"{away} devices are assigned as hosts for this cluster but are not in site {sites[site].name}")
        if outside:
            name = places[place].name
            draft.reject("location", f"{outside} devices are assigned as hosts for this cluster but are not in location {name}")


def hosts_are_where_their_cluster_is(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A device in a cluster of a site, or of a location, is there too. A rule for devices."""
    placed = [draft for draft in drafts if draft["cluster_id"] is not None and draft.changed("cluster_id", "site_id", "location_id")]
    pools = listing.rows_of(uow, Cluster, [draft["cluster_id"] for draft in placed])
    sites = listing.rows_of(uow, Site, [pool.site_id for pool in pools.values()])
    places = listing.rows_of(uow, Location, [pool.location_id for pool in pools.values()])
    above = within(uow, [draft["location_id"] for draft in placed])
    for draft in placed:
        pool, place = pools[draft["cluster_id"]], draft["location_id"]
        if pool.site_id is not None and pool.site_id != draft["site_id"]:
            draft.reject("cluster", f"The assigned cluster belongs to a different site ({sites[pool.site_id].name})")
        elif pool.location_id is not None and place is not None and pool.location_id not in above[place]:
            draft.reject("cluster", f"The assigned cluster belongs to a different location ({places[pool.location_id].name})")
