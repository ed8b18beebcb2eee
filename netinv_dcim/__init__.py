"""DCIM: sites, racks, devices and their components, cables and power."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.importing.dump import Declaration
from netinv_core.read.filters import tree
from netinv_core.read.recognisers import SearchProvider
from netinv_core.resource import utilization
from netinv_core.write.delete import GenericCascade
from netinv_core.write.table_rows import JoinedColumns
from netinv_dcim import (
    device_type_library,
    interface_redundancy,
    moves,
    nautobot2,
    netbox,
    power,
    rack_position,
    rack_utilization,
    searching,
)
from netinv_dcim.cabling import cable_columns
from netinv_dcim.cabling.cables import cables, generic_cascades, peer_relations
from netinv_dcim.cabling.connections import (
    connected_device,
    console_connections,
    interface_connections,
    power_connections,
)
from netinv_dcim.cabling.paths import CONNECTED
from netinv_dcim.components import device_bays as bays
from netinv_dcim.components import instantiation, kinds, type_differences
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
from netinv_dcim.device_type_library import git_source
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
from netinv_extras.change_requests.pictures import ChangePicture
from netinv_extras.config_contexts.scopes import ContextScope

if TYPE_CHECKING:
    import click

    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory
    from netinv_core.sql.relations import Relation
    from netinv_extras.git.sync import ContentKind

DEVICE = "dcim.device"

# These modules register functions with resources of other modules.
# The functions run in this order, after those that the module of the resource registers.
bays.register()
rack_position.register()
moves.register()
component_templates.register()
instantiation.register()
type_differences.register()
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
    includes=[
        "netinv_dcim.rack_views.elevations",
        "netinv_dcim.cabling.tracing",
        "netinv_dcim.components.type_differences",
        "netinv_dcim.components.apply_type",
    ],
    web=[
        "netinv_dcim.web.panels",
        "netinv_dcim.web.type_differences",
        "netinv_dcim.web.ports.columns",
        "netinv_dcim.web.rack_elevations",
        "netinv_dcim.web.trace_pages",
        "netinv_dcim.web.connect.page",
        "netinv_dcim.web.recabling.page",
        "netinv_dcim.web.workbench.page",
        "netinv_dcim.web.ports.actions",
        "netinv_dcim.web.type_application",
        "netinv_dcim.web.type_moves",
        "netinv_dcim.web.free_units",
        "netinv_dcim.web.front_port_spread",
        "netinv_dcim.web.device_type_files",
    ],
    needs=["extras.statuses"],
    distribution="netinv-dcim",
    menu=MENU,
)


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """Returns the utilization of racks: their units and their power."""
    return [utilization(rack_utilization.of_racks)] if endpoint.label == "dcim.rack" else []


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
def netinv_context_scopes(registry: Registry) -> Iterable[ContextScope]:
    """Returns the config context scopes: attributes of devices."""
    return [
        ContextScope("regions", "dcim.region", {DEVICE: "site.region"}, position=10),
        ContextScope("sites", "dcim.site", {DEVICE: "site"}, position=20),
        ContextScope("locations", "dcim.location", {DEVICE: "location"}, position=30),
        ContextScope("roles", "dcim.devicerole", {DEVICE: "device_role"}, position=40),
        ContextScope("device_types", "dcim.devicetype", {DEVICE: "device_type"}, position=50),
        ContextScope("platforms", "dcim.platform", {DEVICE: "platform"}, position=60),
        ContextScope(
            "device_redundancy_groups",
            "dcim.deviceredundancygroup",
            {DEVICE: "device_redundancy_group"},
            position=110,
        ),
        ContextScope("tenant_groups", paths={DEVICE: "tenant.group"}),
        ContextScope("tenants", paths={DEVICE: "tenant"}),
    ]


@hookimpl
def netinv_git_content_kinds(registry: Registry) -> Mapping[str, ContentKind]:
    """Device types in the layout of the public library."""
    return {git_source.LABEL: git_source.CONTENT_KIND} if device_type_library.IS_AVAILABLE else {}


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Deletes cables with their terminations."""
    return generic_cascades(registry)


@hookimpl
def netinv_known_statuses(registry: Registry) -> Iterable[str]:
    """Returns the status of connected cables, and that of the interfaces of new devices."""
    return [CONNECTED, kinds.NEW_STATUS]


@hookimpl
def netinv_joined_columns(registry: Registry, endpoint: Endpoint) -> Iterable[JoinedColumns]:
    """Adds columns for the ports at both ends of a cable."""
    return cable_columns.joined_columns_of(endpoint)


@hookimpl
def netinv_importers(registry: Registry, product: str) -> dict[str, Declaration]:
    """Returns how the models of another service become those of this application."""
    return nautobot2.models if product == "nautobot2" else netbox.models


@hookimpl
def netinv_commands() -> dict[str, Iterable[click.Command]]:
    """Returns the command ``netinv import devicetypes``."""
    if not device_type_library.IS_AVAILABLE:
        return {}
    from netinv_dcim import commands  # local import: only the command line needs the importer

    return {"import": [commands.device_types]}


@hookimpl
def netinv_search(registry: Registry) -> Iterable[SearchProvider]:
    """Recognises MAC addresses, serial numbers, asset tags and AS numbers in searches."""
    return searching.PROVIDERS


@hookimpl
def netinv_change_pictures(changes: Sequence[Any]) -> Iterable[ChangePicture]:
    """Adds elevations of racks and paths of cables."""
    from netinv_dcim.web import change_pictures

    return change_pictures.pictures_of(changes)
