"""Manufacturers, device types with component templates, platforms and device roles."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from netinv_demo.loader import Body, DemoLoader
from netinv_demo.models import (
    CABLING,
    COMPUTE,
    CONSOLE,
    MODELS,
    POWER,
    POWER_FACTOR,
    SECURITY,
    SWITCHING,
    DemoModel,
)

MANUFACTURERS = {
    SWITCHING: "Switches, routers and access points",
    SECURITY: "Firewalls",
    COMPUTE: "Servers and blade chassis",
    POWER: "Power distribution units",
    CABLING: "Patch panels",
    CONSOLE: "Console servers",
}
# Platform → manufacturer, network driver.
PLATFORMS = {
    "ArvOS 9": (SWITCHING, "arista_eos"),
    "ArvOS Wireless 4": (SWITCHING, ""),
    "Brightmoor OS 7": (SECURITY, "paloalto_panos"),
    "Tessaro Console 3": (CONSOLE, "linux"),
    "Voltane Firmware 2": (POWER, ""),
    "Debian 12": (None, "linux"),
    "Ubuntu 24.04": (None, "linux"),
}
# Role → colour, usable for virtual machines, description.
ROLES = {
    "Spine switch": ("1565c0", False, "Connects all leaf switches of a pod"),
    "Leaf switch": ("42a5f5", False, "Top-of-rack switch for servers"),
    "Border leaf": ("0d47a1", False, "Connects the fabric to firewalls and to the outside"),
    "Management switch": ("90a4ae", False, "Out-of-band network"),
    "Core switch": ("6a1b9a", False, "Core of a hub"),
    "Distribution switch": ("8e24aa", False, "Aggregates access switches"),
    "Access switch": ("ba68c8", False, "Ports for users, telephones and access points"),
    "Access point": ("ce93d8", False, "Wireless access"),
    "Router": ("2e7d32", False, "Ends circuits of providers"),
    "Firewall": ("c62828", False, "Separates security zones"),
    "Console server": ("546e7a", False, "Serial access to consoles"),
    "Patch panel": ("a1887f", False, "Passive: ends structured cabling"),
    "PDU": ("ff8f00", False, "Power distribution in a rack"),
    "Hypervisor": ("00838f", False, "Runs virtual machines"),
    "Storage": ("4e342e", False, "Runs the distributed block storage"),
    "Blade chassis": ("006064", False, "Houses blades"),
    "Application server": ("26a69a", True, "Runs business applications"),
    "Database server": ("5d4037", True, "Runs databases"),
    "Infrastructure server": ("78909c", True, "DNS, directory, monitoring and the like"),
}


@dataclasses.dataclass(frozen=True)
class Catalogue:
    """Ids of device types by model, of platforms and device roles by name, and of manufacturers by name."""

    types: dict[str, str]
    platforms: dict[str, str]
    roles: dict[str, str]
    manufacturers: dict[str, str]


def load_catalogue(loader: DemoLoader) -> Catalogue:
    """Creates manufacturers, platforms, roles, device types and component templates."""
    manufacturers = loader.create_named(
        "dcim.manufacturer", [{"name": name, "description": text} for name, text in MANUFACTURERS.items()]
    )
    platforms = loader.create_named(
        "dcim.platform",
        [
            {"name": name, "manufacturer": maker and manufacturers[maker], "network_driver": driver}
            for name, (maker, driver) in PLATFORMS.items()
        ],
    )
    roles = loader.create_named(
        "dcim.devicerole",
        [
            {"name": name, "color": color, "vm_role": vm_role, "description": text}
            for name, (color, vm_role, text) in ROLES.items()
        ],
    )
    types = loader.create("dcim.devicetype", [_type_body(model, manufacturers) for model in MODELS])
    catalogue = Catalogue(
        dict(zip((model.model for model in MODELS), types, strict=True)), platforms, roles, manufacturers
    )
    _create_templates(loader, catalogue)
    return catalogue


def _type_body(model: DemoModel, manufacturers: dict[str, str]) -> Body:
    return {
        "manufacturer": manufacturers[model.manufacturer],
        "model": model.model,
        "part_number": f"{model.manufacturer[:2].upper()}-{model.model}",
        "u_height": model.u_height,
        "is_full_depth": model.is_full_depth,
        "subdevice_role": model.subdevice_role,
        "comments": model.comments,
    }


def _create_templates(loader: DemoLoader, catalogue: Catalogue) -> None:
    """Creates the component templates of all device types, one batch for each kind."""

    def create(kind: str, bodies: Callable[[DemoModel], Iterable[Body]]) -> dict[tuple[str, str], str]:
        pairs = [(model.model, body) for model in MODELS for body in bodies(model)]
        rows = [{"device_type": catalogue.types[model], **body} for model, body in pairs]
        ids = loader.create(f"dcim.{kind}template", rows)
        return {(model, body["name"]): key for (model, body), key in zip(pairs, ids, strict=True)}

    create("consoleport", lambda model: ({"name": name, "type": "rj-45"} for name in model.console_ports))
    create("consoleserverport", lambda model: ({"name": name, "type": "rj-45"} for name in model.console_server_ports))
    create("interface", lambda model: map(_interface_body, model.interfaces))
    create("devicebay", lambda model: ({"name": name} for name in model.device_bays))
    power_ports = create("powerport", lambda model: map(_power_port_body, model.power_ports))
    create(
        "poweroutlet",
        lambda model: (
            {"name": name, "type": kind, "power_port": power_ports[model.model, model.power_ports[0][0]]}
            for name, kind in model.power_outlets
        ),
    )
    rear_ports = create(
        "rearport",
        lambda model: ({"name": name, "type": kind, "positions": count} for name, kind, count in model.rear_ports),
    )
    create(
        "frontport",
        lambda model: (
            {"name": name, "type": kind, "rear_port": rear_ports[model.model, rear], "rear_port_position": position}
            for name, kind, rear, position in model.front_ports
        ),
    )


def _interface_body(interface: tuple[str, str, bool]) -> dict[str, Any]:
    name, kind, mgmt_only = interface
    return {"name": name, "type": kind, "mgmt_only": mgmt_only}


def _power_port_body(power_port: tuple[str, str, int]) -> dict[str, Any]:
    name, kind, maximum = power_port
    return {"name": name, "type": kind, "maximum_draw": maximum, "allocated_draw": round(maximum * POWER_FACTOR)}
