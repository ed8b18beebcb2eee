"""Clusters, cluster types and cluster groups, with the rules for the devices that are hosts of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.models.base import Organizational, Primary
from netinv_core.models.columns import PROTECT, Comments, Description, Name, Ref, Slug, foreign_key
from netinv_core.presentation import Presentation
from netinv_core.read import listing
from netinv_core.read.filters import tree, tree_pair
from netinv_core.resource import Resource
from netinv_core.write.referring_rules import through
from netinv_dcim.devices import Device
from netinv_dcim.located_objects import LOCATION_READS, PLACE, below_locations, location_fits
from netinv_dcim.locations import Location, within
from netinv_dcim.sites import Site
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


class ClusterType(Organizational):
    """The technology of a cluster: a hypervisor, a cloud."""

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
    type_id: Mapped[Ref] = foreign_key(
        ClusterType, on_delete=PROTECT, related_name="clusters", count_field="cluster_count"
    )
    group_id: Mapped[Ref | None] = foreign_key(
        ClusterGroup, on_delete=PROTECT, related_name="clusters", count_field="cluster_count"
    )
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="clusters")
    site_id: Mapped[Ref | None] = foreign_key(Site, on_delete=PROTECT, related_name="clusters")
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=PROTECT, related_name="clusters")
    comments: Mapped[Comments]


cluster_types = Resource(
    ClusterType,
    "cluster-types",
    type_order="~1 ",
    brief=["name", "slug", "cluster_count"],
    search=["name", "slug", "description"],
)

cluster_groups = Resource(
    ClusterGroup,
    "cluster-groups",
    type_order="~1 ",
    brief=["name", "slug", "cluster_count"],
    search=["name", "slug", "description"],
)

clusters = Resource(
    Cluster,
    "clusters",
    type_order="~4 ",
    brief=["name", "virtualmachine_count"],
    search=["name", "comments"],
    filters=[*tree_pair("region", "site.region"), tree("location"), *tenant_filters()],
    presentation=Presentation(
        columns=["type", "group", "tenant", "site", "device_count", "virtualmachine_count"],
        facets=["type", "group", "site", "tenant"],
        depends_on={"location": {"site": "site_id"}},
        unrelated=["cluster"],
    ),
)


clusters.rule(reads=LOCATION_READS, changing=PLACE)(location_fits)


def _hosts(uow: UnitOfWork, keys: Sequence[Any]) -> list[Any]:
    """Returns ``cluster_id``, ``site_id`` and ``location_id`` of the devices in these clusters."""
    table = Device.__table__
    statement = sa.select(table.c.cluster_id, table.c.site_id, table.c.location_id)
    return list(uow.execute(statement.where(table.c.cluster_id.in_(keys)))) if keys else []


@clusters.rule
def clusters_stay_with_their_hosts(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a change of a cluster's site or location that leaves hosts of the cluster outside."""
    moved = {draft.id: draft for draft in drafts if not draft.new and draft.changed("site_id", "location_id")}
    hosts = _hosts(uow, list(moved))
    sites = listing.rows_of(uow, Site, [moved[host.cluster_id]["site_id"] for host in hosts])
    locations = listing.rows_of(uow, Location, [moved[host.cluster_id]["location_id"] for host in hosts])
    ancestors = within(uow, [host.location_id for host in hosts])
    for draft in moved.values():
        site, location, members = (
            draft["site_id"],
            draft["location_id"],
            [host for host in hosts if host.cluster_id == draft.id],
        )
        at_other_sites = sum(site is not None and host.site_id != site for host in members)
        at_other_locations = sum(
            location is not None and host.location_id is not None and location not in ancestors[host.location_id]
            for host in members
        )
        if at_other_sites:
            draft.reject(
                "site",
                f"{at_other_sites} devices are assigned as hosts for this cluster"
                f" but are not in site {sites[site].name}",
            )
        if at_other_locations:
            name = locations[location].name
            draft.reject(
                "location",
                f"{at_other_locations} devices are assigned as hosts for this cluster but are not in location {name}",
            )


HOST_READS = (through("cluster", "site_id", "location_id"), *below_locations(Device))


def hosts_are_where_their_cluster_is(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rule of devices: rejects a cluster of another site, or of a location that the device is not within."""
    changed = [draft for draft in drafts if draft["cluster_id"] is not None]
    rows = listing.rows_of(uow, Cluster, [draft["cluster_id"] for draft in changed])
    sites = listing.rows_of(uow, Site, [cluster.site_id for cluster in rows.values()])
    locations = listing.rows_of(uow, Location, [cluster.location_id for cluster in rows.values()])
    ancestors = within(uow, [draft["location_id"] for draft in changed])
    for draft in changed:
        cluster, location = rows[draft["cluster_id"]], draft["location_id"]
        if cluster.site_id is not None and cluster.site_id != draft["site_id"]:
            draft.reject("cluster", f"The assigned cluster belongs to a different site ({sites[cluster.site_id].name})")
        elif (
            cluster.location_id is not None and location is not None and cluster.location_id not in ancestors[location]
        ):
            draft.reject(
                "cluster",
                f"The assigned cluster belongs to a different location ({locations[cluster.location_id].name})",
            )
