"""DCIM: sites, racks, devices and their components, cables and power."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.importing.dump import Declaration
from netinv_core.read.filters import tree
from netinv_core.read.search import SearchProvider
from netinv_core.types import Endpoint, Filter, Registry, Relation
from netinv_core.write.delete import GenericCascade
from netinv_dcim import interface_redundancy, moves, nautobot2, netbox, power, rack_position, searching
from netinv_dcim.cabling.cables import cables, generic_cascades, peer_relations
from netinv_dcim.cabling.connections import (
    connected_device,
    console_connections,
    interface_connections,
    power_connections,
)
from netinv_dcim.cabling.paths import CONNECTED
from netinv_dcim.components import device_bays as bays
from netinv_dcim.components import instantiation
from netinv_dcim.components import templates as component_templates
from netinv_dcim.components.console import console_ports, console_server_ports
from netinv_dcim.components.device_bays import device_bays
from netinv_dcim.components.interfaces import interfaces
from netinv_dcim.components.inventory import inventory_items
from netinv_dcim.components.pass_through import front_ports, rear_ports
from netinv_dcim.components.power_ports import power_outlets, power_ports
from netinv_dcim.components.templates import (
    console_port_templates,
    console_server_port_templates,
    device_bay_templates,
    front_port_templates,
    interface_templates,
    power_outlet_templates,
    power_port_templates,
    rear_port_templates,
)
from netinv_dcim.device_redundancy import device_redundancy_groups
from netinv_dcim.device_types import device_roles, device_types, manufacturers, platforms
from netinv_dcim.devices import devices
from netinv_dcim.interface_redundancy import interface_redundancy_group_associations, interface_redundancy_groups
from netinv_dcim.locations import location_types, locations
from netinv_dcim.menu import MENU
from netinv_dcim.power import power_feeds, power_panels
from netinv_dcim.racks import rack_groups, rack_reservations, rack_roles, racks
from netinv_dcim.regions import regions
from netinv_dcim.sites import sites
from netinv_dcim.virtual_chassis import virtual_chassis
from netinv_extras.config_contexts.scopes import Scope

if TYPE_CHECKING:
    import click

DEVICE = "dcim.device"

# These modules register functions with resources of other modules.
# The functions run in this order, after those that the module of the resource registers.
bays.register()
rack_position.register()
moves.register()
component_templates.register()
instantiation.register()
interface_redundancy.register()
power.register()

app = App(
    "dcim",
    "DCIM",
    [
        regions,
        sites,
        location_types,
        locations,
        rack_groups,
        rack_roles,
        racks,
        rack_reservations,
        manufacturers,
        device_types,
        console_port_templates,
        console_server_port_templates,
        power_port_templates,
        power_outlet_templates,
        interface_templates,
        rear_port_templates,
        front_port_templates,
        device_bay_templates,
        device_roles,
        platforms,
        devices,
        console_ports,
        console_server_ports,
        power_ports,
        power_outlets,
        interfaces,
        rear_ports,
        front_ports,
        device_bays,
        inventory_items,
        cables,
        console_connections,
        power_connections,
        interface_connections,
        power_panels,
        power_feeds,
        virtual_chassis,
        device_redundancy_groups,
        interface_redundancy_groups,
        interface_redundancy_group_associations,
    ],
    migrations="netinv_dcim:migrations",
    extra_views={"connected-device": connected_device},
    includes=["netinv_dcim.rack_views.elevations", "netinv_dcim.cabling.tracing"],
    needs=["extras.statuses"],
    distribution="netinv-dcim",
    menu=MENU,
)


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Filter]:
    """Filters tenants by location, including the descendants of the location."""
    return [tree("locations")] if endpoint.label == "tenancy.tenant" else []


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Relation]:
    """Adds relations between objects of this application.

    Interfaces and their redundancy groups refer to each other. Cable terminations refer to the peer at the other end of
    the cable and to the end of their path.
    """
    return {**interface_redundancy.relations(registry, endpoint), **peer_relations(registry, endpoint)}


@hookimpl
def netinv_context_scopes(registry: Registry) -> Iterable[Scope]:
    """Returns the config context scopes: attributes of devices."""
    return [
        Scope("regions", "dcim.region", {DEVICE: "site.region"}, position=10),
        Scope("sites", "dcim.site", {DEVICE: "site"}, position=20),
        Scope("locations", "dcim.location", {DEVICE: "location"}, position=30),
        Scope("roles", "dcim.devicerole", {DEVICE: "device_role"}, position=40),
        Scope("device_types", "dcim.devicetype", {DEVICE: "device_type"}, position=50),
        Scope("platforms", "dcim.platform", {DEVICE: "platform"}, position=60),
        Scope(
            "device_redundancy_groups",
            "dcim.deviceredundancygroup",
            {DEVICE: "device_redundancy_group"},
            position=110,
        ),
        Scope("tenant_groups", paths={DEVICE: "tenant.group"}),
        Scope("tenants", paths={DEVICE: "tenant"}),
    ]


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Deletes cables with their terminations."""
    return generic_cascades(registry)


@hookimpl
def netinv_known_statuses(registry: Registry) -> Iterable[str]:
    """Returns the status of connected cables, and that of the interfaces of new devices."""
    return [CONNECTED, instantiation.NEW_STATUS]


@hookimpl
def netinv_importers(registry: Registry, product: str) -> dict[str, Declaration]:
    """Returns how the models of another service become those of this application."""
    return nautobot2.models if product == "nautobot2" else netbox.models


@hookimpl
def netinv_commands() -> dict[str, Iterable[click.Command]]:
    """Returns the command ``netinv import devicetypes``."""
    from netinv_dcim import commands  # local import: only the command line needs the importer

    return {"import": [commands.device_types]}


@hookimpl
def netinv_search(registry: Registry) -> Iterable[SearchProvider]:
    """Recognises MAC addresses, serial numbers, asset tags and AS numbers in searches."""
    return searching.PROVIDERS


@hookimpl
def netinv_web_panels(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Adds drawings of racks."""
    from netinv_dcim.web import panels

    return panels.panels_of(endpoint)


@hookimpl
def netinv_web_tabs(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Adds the path of cables from a port."""
    from netinv_dcim.web import panels

    return panels.tabs_of(endpoint)


@hookimpl
def netinv_web_actions(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Adds the action that connects a port."""
    from netinv_dcim.web import panels

    return panels.actions_of(endpoint)


@hookimpl
def netinv_web_includes(registry: Registry) -> Iterable[str]:
    """Adds the elevations of many racks."""
    return ["netinv_dcim.web.rack_elevations"]


@hookimpl
def netinv_web_static(registry: Registry) -> Mapping[str, str]:
    """Adds the style sheet of drawings of racks."""
    return {"dcim": "netinv_dcim:web/static"}
