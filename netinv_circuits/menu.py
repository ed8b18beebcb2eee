"""Sections of the navigation with the resources of this application."""

from __future__ import annotations

from netinv_core.presentation import MenuSection

MENU = (
    MenuSection(
        "Circuits",
        [
            "circuits",
            "circuit-types",
            "circuit-terminations",
            "providers",
            "provider-networks",
        ],
        icon="arrows-right-left",
        position=210,
    ),
)
