"""IPAM: addresses, prefixes, VLANs and VRFs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.importing.dump import Declaration
from netinv_core.read.filters import related
from netinv_core.read.search import SearchProvider
from netinv_core.resource import count_of
from netinv_core.types import Endpoint, FieldFactory, Filter, Registry
from netinv_core.write.delete import GenericCascade
from netinv_ipam import addresses, nautobot2, netbox, networks, primary, searching
from netinv_ipam.addresses import SLAAC, ip_addresses
from netinv_ipam.aggregates import aggregates, rirs
from netinv_ipam.menu import MENU
from netinv_ipam.prefixes import USUAL_STATUS, prefixes
from netinv_ipam.roles import roles
from netinv_ipam.services import services
from netinv_ipam.taken_space import CONTAINER
from netinv_ipam.vlans import carried_filter, vlan_groups, vlans
from netinv_ipam.vrfs import route_targets, vrfs

app = App(
    "ipam",
    "IPAM",
    [vrfs, route_targets, rirs, aggregates, roles, prefixes, ip_addresses, vlan_groups, vlans, services],
    migrations="netinv_ipam:migrations",
    includes=["netinv_ipam.allocation"],
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
    """The count field ``count_ipaddresses`` of device interfaces."""
    if endpoint.label != addresses.INTERFACE:
        return []
    return [count_of("count_ipaddresses", lambda registry, table: addresses.count_of_addresses(table), nested="shown")]


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    """The relations between addresses and the interfaces they are assigned to."""
    if endpoint.label == "ipam.ipaddress":
        return {name: addresses.assigned(registry, label) for name, label in addresses.ENDS.items()}
    if endpoint.label in addresses.ASSIGNABLE:
        return {"ip_addresses": addresses.addresses_of(registry, endpoint.label)}
    return {}


@hookimpl
def netinv_graphql_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """The GraphQL fields of addresses and networks: host, network, broadcast, prefix length."""
    return networks.parts(endpoint)


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Filter]:
    """Filters for interfaces by VLAN, for sites by VLAN and prefix, and for redundancy groups by virtual address."""
    filters: dict[str, list[Filter]] = {
        addresses.INTERFACE: [carried_filter("vlan", "vid", "number"), carried_filter("vlan_id", "id")],
        "dcim.site": [related("vlans", by=()), related("prefixes", by=())],
        "dcim.interfaceredundancygroup": [addresses.addressed("virtual_ip")],
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


@hookimpl
def netinv_web_includes(registry: Registry) -> Iterable[str]:
    """Adds the form that allocates an address."""
    return ["netinv_ipam.web.pages"]


@hookimpl
def netinv_web_panels(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Adds the free space of prefixes."""
    from netinv_ipam.web import panels

    return panels.panels_of(endpoint)


@hookimpl
def netinv_web_tabs(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Adds what is within a prefix."""
    from netinv_ipam.web import panels

    return panels.tabs_of(endpoint)
