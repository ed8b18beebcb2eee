"""DCIM: sites and what stands in them, down to the interfaces of devices."""

from __future__ import annotations

from collections.abc import Iterable

from netinv_core.app import App
from netinv_core.dumps import Source
from netinv_core.hookspecs import hookimpl
from netinv_core.read.filters import Filter, tree
from netinv_core.registry import Endpoint, Registry
from netinv_dcim import mounting as mounting
from netinv_dcim import netbox
from netinv_dcim.device_types import device_roles, device_types, manufacturers, platforms
from netinv_dcim.devices import devices
from netinv_dcim.interfaces import interfaces
from netinv_dcim.locations import location_types, locations
from netinv_dcim.racks import rack_groups, rack_reservations, rack_roles, racks
from netinv_dcim.redundancy import device_redundancy_groups
from netinv_dcim.regions import regions
from netinv_dcim.sites import sites
from netinv_dcim.templates import interface_templates
from netinv_dcim.virtual_chassis import virtual_chassis

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
        interface_templates,
        device_roles,
        platforms,
        devices,
        interfaces,
        virtual_chassis,
        device_redundancy_groups,
    ],
    migrations="netinv_dcim:migrations",
    includes=["netinv_dcim.elevations"],
    distribution="netinv-dcim",
)


@hookimpl
def netinv_app() -> App:
    """The application."""
    return app


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Filter]:
    """A tenant's locations include those below them."""
    return [tree("locations")] if endpoint.label == "tenancy.tenant" else []


@hookimpl
def netinv_importers(registry: Registry) -> dict[str, Source]:
    """The models of a NetBox dump that this application takes."""
    return netbox.models
