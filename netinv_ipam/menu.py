"""Sections of the navigation with the resources of this application."""

from __future__ import annotations

from netinv_core.presentation import MenuEntry, MenuSection

MENU = (
    MenuSection(
        "IPAM",
        [
            "prefixes",
            MenuEntry("Prefix tree", "/ipam/prefixes/tree/", "ipam.prefix"),
            "ip-addresses",
            "aggregates",
            "rirs",
            "roles",
            "vlans",
            "vlan-groups",
            "vrfs",
            "route-targets",
            "services",
        ],
        icon="globe-alt",
        position=200,
    ),
)
