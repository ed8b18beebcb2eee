"""Autonomous systems: AS numbers (RFC 4271, RFC 6793) with their sites and providers, and ranges of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netinv_asns import importing, searching
from netinv_asns.asns import asns
from netinv_asns.ranges import asn_ranges
from netinv_core import App, MenuSection, Registry, SearchProvider, Source, hookimpl

app = App(
    "asns",
    "Autonomous systems",
    [asns, asn_ranges],
    migrations="netinv_asns:migrations",
    plugin=True,
    includes=["netinv_asns.allocation"],
    web=["netinv_asns.pages"],
    menu=[MenuSection("IPAM", ["asns", "asn-ranges"], icon="globe-alt", position=202)],
    description="AS numbers, their sites and providers, and ranges of them",
    author="The netinv authors",
    distribution="netinv-asns",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/asns/."""
    return app


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The AS numbers and ranges of NetBox dumps."""
    return importing.models if product == "netbox" else {}


@hookimpl
def netinv_search(registry: Registry) -> Iterable[SearchProvider]:
    """Finds an AS number."""
    return [SearchProvider("AS number", 30, searching.by_number)]
