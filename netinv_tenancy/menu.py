"""Sections of the navigation with the resources of this application."""

from __future__ import annotations

from netinv_core.presentation import MenuSection

MENU = (
    MenuSection(
        "Tenants",
        [
            "tenants",
            "tenant-groups",
        ],
        icon="user-group",
        position=230,
    ),
)
