"""Wireless networks: LANs (SSIDs) in groups, and links between two radios."""

from __future__ import annotations

from collections.abc import Mapping

from netinv_core import App, MenuSection, Registry, Source, hookimpl
from netinv_wireless import importing
from netinv_wireless.lans import wireless_lan_groups, wireless_lans
from netinv_wireless.links import wireless_links

app = App(
    "wireless",
    "Wireless",
    [wireless_lan_groups, wireless_lans, wireless_links],
    migrations="netinv_wireless:migrations",
    plugin=True,
    menu=[
        MenuSection("Wireless", ["wireless-lans", "wireless-lan-groups", "wireless-links"], icon="wifi", position=205)
    ],
    description="Wireless LANs and links",
    author="The netinv authors",
    distribution="netinv-wireless",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/wireless/."""
    return app


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The wireless networks of NetBox dumps."""
    return importing.models if product == "netbox" else {}
