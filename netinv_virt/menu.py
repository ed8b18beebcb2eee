"""Sections of the navigation with the resources of this application."""

from __future__ import annotations

from netinv_core.presentation import MenuSection

MENU = (
    MenuSection(
        "Virtual machines",
        [
            "virtual-machines",
            "interfaces",
            "clusters",
            "cluster-types",
            "cluster-groups",
        ],
        icon="cube",
        position=220,
    ),
)
