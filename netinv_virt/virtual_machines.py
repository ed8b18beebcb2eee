"""Virtual machines: each runs on a cluster and has virtual CPUs, memory and disk space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.models.associations import unique_together
from netinv_core.models.base import Primary
from netinv_core.models.columns import (
    PROTECT,
    SET_NULL,
    Comments,
    Ref,
    foreign_key,
    integer,
    json_document,
    required_text,
    unique_copy,
)
from netinv_core.presentation import Presentation
from netinv_core.read import listing
from netinv_core.read.filters import related, tree, tree_pair, value
from netinv_core.resource import Resource, computed
from netinv_core.sql.lookups import convert, negated
from netinv_core.write.referring_rules import through
from netinv_dcim.device_types import DeviceRole, Platform
from netinv_dcim.devices import context_data_is_an_object, has_local_context, has_primary_ip, primary_ip
from netinv_extras.config_contexts.schemas import ConfigContextSchema, data_fits_its_schema
from netinv_extras.statuses import status
from netinv_ipam.addresses import address_filter
from netinv_tenancy.tenants import Tenant, tenant_filters
from netinv_virt.clusters import Cluster

if TYPE_CHECKING:
    from netinv_core.resource import FieldFactory
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

MAX_SMALL, MAX_LARGE = 2**15 - 1, 2**31 - 1
TAKEN = "A virtual machine with this name already exists in the assigned cluster."


class VirtualMachine(Primary):
    """A machine without hardware of its own, on a cluster."""

    __tablename__ = "virtualization_virtual_machine"
    text_indexes = ("name", "comments")
    __table_args__ = (
        unique_together("cluster_id", "tenant_id", "name"),
        unique_together("cluster_id", "untenanted_name", field="name", message=TAKEN),
    )

    name: Mapped[str] = required_text(64, index=True)
    untenanted_name: Mapped[str | None] = unique_copy("name", without="tenant_id", length=64)
    status_id: Mapped[Ref] = status(initial=["Active", "Decommissioning", "Failed", "Offline", "Planned", "Staged"])
    cluster_id: Mapped[Ref] = foreign_key(
        Cluster, on_delete=PROTECT, related_name="virtual_machines", count_field="virtualmachine_count"
    )
    role_id: Mapped[Ref | None] = foreign_key(
        DeviceRole, on_delete=PROTECT, related_name="virtual_machines", count_field="virtualmachine_count"
    )
    tenant_id: Mapped[Ref | None] = foreign_key(
        Tenant, on_delete=PROTECT, related_name="virtual_machines", count_field="virtualmachine_count"
    )
    platform_id: Mapped[Ref | None] = foreign_key(
        Platform, on_delete=SET_NULL, related_name="virtual_machines", count_field="virtualmachine_count"
    )
    primary_ip4_id: Mapped[Ref | None] = foreign_key("ipam.ipaddress", on_delete=SET_NULL, unique=True)
    primary_ip6_id: Mapped[Ref | None] = foreign_key("ipam.ipaddress", on_delete=SET_NULL, unique=True)
    vcpus: Mapped[int | None] = integer(0, MAX_SMALL, label="vCPUs")
    memory: Mapped[int | None] = integer(0, MAX_LARGE, label="Memory", unit="MB")
    disk: Mapped[int | None] = integer(0, MAX_LARGE, label="Disk", unit="GB")
    comments: Mapped[Comments]
    local_context_data: Mapped[Any | None] = json_document()
    local_context_schema_id: Mapped[Ref | None] = foreign_key(
        ConfigContextSchema, on_delete=SET_NULL, help="Optional schema to validate the structure of the data"
    )


def _of_cluster(name: str) -> FieldFactory:
    """Returns a read-only field with the nested object that the cluster refers to: ``site`` or ``location``."""
    return computed(
        name, lambda nested: nested, f"cluster.{name}", kind="nested object", nullable=True, openapi={"type": "object"}
    )


virtual_machines = Resource(
    VirtualMachine,
    "virtual-machines",
    type_order="~1 ",
    title="virtual machine",
    search=["name", "comments"],
    orderings={"site": ["cluster.site.name_key"], "location": ["cluster.location.tree_key"]},
    fields=[_of_cluster("site"), _of_cluster("location"), primary_ip],
    filters=[
        *tenant_filters(),
        *tree_pair("region", "cluster.site.region"),
        related("site_id", "cluster.site", by=()),
        related("site", "cluster.site"),
        tree("location", "cluster.location"),
        related("cluster_group_id", "cluster.group", by=()),
        related("cluster_group", "cluster.group"),
        related("cluster_type_id", "cluster.type", by=()),
        related("cluster_type", "cluster.type"),
        value("mac_address", "interfaces.mac_address"),
        address_filter("primary_ip4"),
        address_filter("primary_ip6"),
    ],
    record_constants={"local_context_data_owner_content_type": None, "local_context_data_owner_object_id": None},
    presentation=Presentation(
        counted=True,
        columns=["status", "cluster", "role", "tenant", "vcpus", "memory", "disk", "primary_ip"],
        facets=["status", "cluster", "role", "tenant", "platform"],
        summary=["cluster", "primary_ip"],
        hidden=["primary_ip"],  # one of the two addresses
        limits={
            name: {"virtual_machine_id": "{id}", "family": family}
            for name, family in (("primary_ip4", "4"), ("primary_ip6", "6"))
        },
    ),
)


@virtual_machines.filter("cluster", multiple=False, suffixes=["n"], listed=True)
def on_cluster(uow: UnitOfWork, table: Any, values: list[str], suffix: str) -> Any:
    """Filters by the id of the cluster.

    :raises ValueError: for a cluster that does not exist or that the user may not view
    """
    clusters = Cluster.__table__
    named = {convert(clusters.c.id, value) for value in values}
    view_conditions = permissions.visible(uow, uow.registry.of_model(Cluster), clusters)
    found = uow.execute(sa.select(clusters.c.id).where(clusters.c.id.in_(named), *view_conditions)).scalars()
    if named.difference(found):
        raise ValueError("Select a valid choice. That choice is not one of the available choices.")
    condition = table.c.cluster_id.in_(named)
    return negated(condition) if suffix else condition


virtual_machines.filter("has_primary_ip", multiple=False, kind="boolean")(has_primary_ip)
virtual_machines.filter("local_context_data", multiple=False, kind="boolean")(has_local_context)
virtual_machines.rule(context_data_is_an_object)
virtual_machines.rule(
    data_fits_its_schema("local_context_data", "local_context_schema"),
    changing=["local_context_data", "local_context_schema_id"],
)


@virtual_machines.rule(reads=[through("role", "vm_role")])
def roles_are_for_machines(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects roles that are not marked for virtual machines (``vm_role``)."""
    changed = [draft for draft in drafts if draft.changed("role_id")]
    roles = listing.rows_of(uow, DeviceRole, [draft["role_id"] for draft in changed])
    for draft in changed:
        if draft["role_id"] is not None and not roles[draft["role_id"]].vm_role:
            draft.reject("role", f"device role instance with id {draft['role_id']!r} does not exist.")
