"""IPAM: addresses, prefixes, VLANs and VRFs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core import resource
from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.importing.dump import Declaration
from netinv_core.read.filters import related
from netinv_core.read.recognisers import SearchProvider
from netinv_core.write.delete import GenericCascade
from netinv_core.write.table_rows import JoinedColumns
from netinv_ipam import (
    addresses,
    nautobot2,
    netbox,
    networks,
    primary,
    searching,
    table_columns,
    template_members,
    utilization,
)
from netinv_ipam.addresses import SLAAC, ip_addresses
from netinv_ipam.aggregates import aggregates, rirs
from netinv_ipam.menu import MENU
from netinv_ipam.prefixes import USUAL_STATUS, prefixes
from netinv_ipam.roles import roles
from netinv_ipam.services import services
from netinv_ipam.taken_space import CONTAINER
from netinv_ipam.vlans import carried_filter, vlan_groups, vlans
from netinv_ipam.vrfs import route_targets, vrfs

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory

app = App(
    "ipam",
    "IPAM",
    [vrfs, route_targets, rirs, aggregates, roles, prefixes, ip_addresses, vlan_groups, vlans, services],
    migrations="netinv_ipam:migrations",
    includes=["netinv_ipam.allocation", "netinv_ipam.reshaping_actions", "netinv_ipam.vlan_numbers"],
    web=[
        "netinv_ipam.web.pages",
        "netinv_ipam.web.panels",
        "netinv_ipam.web.vlan_map",
        "netinv_ipam.web.reshape_pages",
        "netinv_ipam.web.vlan_pages",
        "netinv_ipam.web.vrf_pages",
        "netinv_ipam.web.assigning",
        "netinv_ipam.web.port_columns",
        "netinv_ipam.web.address_pages",
    ],
    needs=["extras.statuses"],
    distribution="netinv-ipam",
    menu=MENU,
)


@hookimpl
def netinv_app() -> App:
    """The application."""
    return app


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """The count field ``count_ipaddresses`` of device interfaces; the utilization of address space and VLAN groups."""
    load = utilization.LOADS.get(endpoint.label)
    if load is not None:
        return [resource.utilization(load)]
    if endpoint.label != addresses.INTERFACE:
        return []
    return [
        resource.count_of(
            "count_ipaddresses", lambda registry, table: addresses.count_of_addresses(table), nested="shown"
        )
    ]


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    """The relations between addresses and the interfaces they are assigned to."""
    if endpoint.label == "ipam.ipaddress":
        return {name: addresses.assignment_relation(registry, label) for name, label in addresses.ENDS.items()}
    if endpoint.label in addresses.ASSIGNABLE:
        return {"ip_addresses": addresses.addresses_of(registry, endpoint.label)}
    return {}


@hookimpl
def netinv_joined_columns(registry: Registry, endpoint: Endpoint) -> Iterable[JoinedColumns]:
    """Adds columns for the interface of an address, and the VLAN of a prefix."""
    return table_columns.joined_columns_of(endpoint)


@hookimpl
def netinv_graphql_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """The GraphQL fields of addresses and networks: host, network, broadcast, prefix length."""
    return networks.parts(endpoint)


@hookimpl
def netinv_template_members(registry: Registry, endpoint: Endpoint) -> Mapping[str, Any]:
    """Addresses and networks as values, and the methods of prefixes and VLANs."""
    return template_members.members_of(endpoint)


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Filter]:
    """Filters for interfaces by VLAN, for sites by VLAN and prefix, and for redundancy groups by virtual address."""
    filters: dict[str, list[Filter]] = {
        addresses.INTERFACE: [carried_filter("vlan", "vid", "number"), carried_filter("vlan_id", "id")],
        "dcim.site": [related("vlans", by=()), related("prefixes", by=())],
        "dcim.interfaceredundancygroup": [addresses.address_filter("virtual_ip")],
    }
    return filters.get(endpoint.label, [])


@hookimpl
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The rules for primary addresses, for devices and for addresses."""
    rules: dict[str, list[Any]] = {
        "dcim.device": [primary.device_addresses.own()],
        "ipam.ipaddress": [primary.device_addresses.stay()],
    }
    return rules.get(endpoint.label, [])


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Deletes addresses together with the interface they are assigned to."""
    return [addresses.generic_cascade]


@hookimpl
def netinv_known_statuses(registry: Registry) -> Iterable[str]:
    """The statuses of containers and of autoconfigured addresses, and that of new prefixes."""
    return [CONTAINER, SLAAC, USUAL_STATUS]


@hookimpl
def netinv_importers(registry: Registry, product: str) -> dict[str, Declaration]:
    """Returns how the models of another service become those of this application."""
    return nautobot2.models if product == "nautobot2" else netbox.models


@hookimpl
def netinv_search(registry: Registry) -> Iterable[SearchProvider]:
    """Recognises addresses, prefixes and VLANs in searches."""
    return searching.PROVIDERS
