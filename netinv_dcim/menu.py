"""Sections of the navigation with the resources of this application."""

from __future__ import annotations

from netinv_core.presentation import MenuEntry, MenuSection

MENU = (
    MenuSection(
        "Places",
        [
            "sites",
            "regions",
            "locations",
            "location-types",
        ],
        icon="building-office-2",
        position=100,
    ),
    MenuSection(
        "Racks",
        [
            "racks",
            MenuEntry("Rack elevations", "/dcim/rack-elevations/", "dcim.rack"),
            "rack-groups",
            "rack-roles",
            "rack-reservations",
        ],
        icon="server-stack",
        position=110,
    ),
    MenuSection(
        "Devices",
        [
            "devices",
            "device-roles",
            "platforms",
            "virtual-chassis",
            "device-redundancy-groups",
            "interface-redundancy-groups",
        ],
        icon="cpu-chip",
        position=120,
    ),
    MenuSection(
        "Device types",
        [
            "device-types",
            "manufacturers",
            "interface-templates",
            "console-port-templates",
            "console-server-port-templates",
            "power-port-templates",
            "power-outlet-templates",
            "front-port-templates",
            "rear-port-templates",
            "device-bay-templates",
        ],
        icon="rectangle-stack",
        position=130,
    ),
    MenuSection(
        "Components",
        [
            "interfaces",
            "console-ports",
            "console-server-ports",
            "power-ports",
            "power-outlets",
            "front-ports",
            "rear-ports",
            "device-bays",
            "inventory-items",
            "interface-redundancy-group-associations",
        ],
        icon="squares-2x2",
        position=140,
    ),
    MenuSection(
        "Cabling",
        [
            "cables",
            MenuEntry("Cabling workbench", "/dcim/cabling/", "dcim.cable"),
            "interface-connections",
            "console-connections",
            "power-connections",
        ],
        icon="link",
        position=150,
    ),
    MenuSection(
        "Power",
        [
            "power-feeds",
            "power-panels",
        ],
        icon="bolt",
        position=160,
    ),
)
