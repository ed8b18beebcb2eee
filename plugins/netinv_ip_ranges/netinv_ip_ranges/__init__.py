"""Ranges of IP addresses: a first and a last address of a VRF, such as the pool of a DHCP server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netinv_core import App, MenuSection, Registry, SearchProvider, Source, hookimpl
from netinv_ip_ranges import importing, searching
from netinv_ip_ranges.ip_ranges import ip_ranges

app = App(
    "ip_ranges",
    "IP ranges",
    [ip_ranges],
    migrations="netinv_ip_ranges:migrations",
    plugin=True,
    includes=["netinv_ip_ranges.allocation"],
    web=["netinv_ip_ranges.pages"],
    menu=[MenuSection("IPAM", ["ip-ranges"], icon="globe-alt", position=201)],
    description="Ranges of IP addresses",
    author="The netinv authors",
    distribution="netinv-ip-ranges",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/ip_ranges/."""
    return app


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The ranges of a NetBox, and of a Nautobot."""
    return {"netbox": importing.of_netbox, "nautobot2": importing.of_nautobot}.get(product, {})


@hookimpl
def netinv_search(registry: Registry) -> Iterable[SearchProvider]:
    """Finds the ranges that contain an address."""
    return [SearchProvider("IP range", 30, searching.ranges_around)]
