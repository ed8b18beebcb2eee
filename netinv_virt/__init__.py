"""Virtualization: clusters, virtual machines and interfaces of virtual machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.importing.dump import Declaration
from netinv_core.read.filters import related
from netinv_core.read.recognisers import Match, SearchProvider
from netinv_core.resource import count_of
from netinv_core.write.referring_rules import ReadingRule
from netinv_dcim.searching import mac_matches
from netinv_extras.config_contexts.scopes import ContextScope
from netinv_virt import nautobot2, netbox
from netinv_virt.clusters import (
    HOST_READS,
    Cluster,
    cluster_groups,
    cluster_types,
    clusters,
    hosts_are_where_their_cluster_is,
)
from netinv_virt.interfaces import interfaces
from netinv_virt.menu import MENU
from netinv_virt.primary import machine_addresses
from netinv_virt.virtual_machines import VirtualMachine, virtual_machines

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory
    from netinv_core.uow import UnitOfWork

SITE, DEVICE, MACHINE = "dcim.site", "dcim.device", "virtualization.virtualmachine"

app = App(
    "virtualization",
    "Virtualization",
    [cluster_types, cluster_groups, clusters, virtual_machines, interfaces],
    migrations="netinv_virt:migrations",
    web=[
        "netinv_virt.web.cluster_pages",
        "netinv_virt.web.enabling",
    ],
    needs=["extras.statuses"],
    distribution="netinv-virt",
    menu=MENU,
)


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app


def _machine_count(registry: Registry, table: Any) -> Any:
    """Returns the scalar subquery that counts the virtual machines at a site."""
    machine, cluster = VirtualMachine.__table__.alias(), Cluster.__table__.alias()
    joined = machine.join(cluster, cluster.c.id == machine.c.cluster_id)
    return sa.select(sa.func.count()).select_from(joined).where(cluster.c.site_id == table.c.id).scalar_subquery()


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """Adds the number of virtual machines to sites."""
    return [count_of("virtualmachine_count", _machine_count)] if endpoint.label == SITE else []


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Filter]:
    """Filters sites by clusters, device roles and platforms by virtual machines. All take ids only."""
    names = {SITE: "clusters", "dcim.devicerole": "virtual_machines", "dcim.platform": "virtual_machines"}
    return [related(names[endpoint.label], by=())] if endpoint.label in names else []


@hookimpl
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Adds the rules of cluster hosts to devices, those of primary addresses to virtual machines and IP addresses."""
    rules: dict[str, list[Any]] = {
        DEVICE: [ReadingRule(hosts_are_where_their_cluster_is, HOST_READS, ("cluster_id", "site_id", "location_id"))],
        MACHINE: [machine_addresses.own()],
        "ipam.ipaddress": [machine_addresses.stay()],
    }
    return rules.get(endpoint.label, [])


@hookimpl
def netinv_context_scopes(registry: Registry) -> Iterable[ContextScope]:
    """Returns the config context scopes: clusters, cluster groups, and the attributes of virtual machines."""
    return [
        ContextScope(
            "cluster_groups",
            "virtualization.clustergroup",
            {DEVICE: "cluster.group", MACHINE: "cluster.group"},
            position=70,
        ),
        ContextScope("clusters", "virtualization.cluster", {DEVICE: "cluster", MACHINE: "cluster"}, position=80),
        ContextScope("regions", paths={MACHINE: "cluster.site.region"}),
        ContextScope("sites", paths={MACHINE: "cluster.site"}),
        ContextScope("locations", paths={MACHINE: "cluster.location"}),
        ContextScope("roles", paths={MACHINE: "role"}),
        ContextScope("platforms", paths={MACHINE: "platform"}),
        ContextScope("tenant_groups", paths={MACHINE: "tenant.group"}),
        ContextScope("tenants", paths={MACHINE: "tenant"}),
    ]


@hookimpl
def netinv_importers(registry: Registry, product: str) -> dict[str, Declaration]:
    """Returns how the models of another service become those of this application."""
    return nautobot2.models if product == "nautobot2" else netbox.models


def _of_mac_address(uow: UnitOfWork, text: str) -> Iterable[Match]:
    """Returns the interfaces of virtual machines with a MAC address."""
    return mac_matches("virtualization.vminterface", "interfaces of virtual machines", text)


@hookimpl
def netinv_search(registry: Registry) -> Iterable[SearchProvider]:
    """Recognises the MAC addresses of virtual machines' interfaces in searches."""
    return [SearchProvider("MAC address of virtual machines", 10, _of_mac_address)]
