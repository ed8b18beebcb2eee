"""First-hop redundancy: groups of routers that share addresses (VRRP, HSRP, GLBP, CARP), and their members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netinv_core import App, GenericCascade, MenuSection, Registry, Source, hookimpl
from netinv_fhrp import importing
from netinv_fhrp.groups import fhrp_groups
from netinv_fhrp.members import fhrp_group_assignments, generic_cascade

app = App(
    "fhrp",
    "First-hop redundancy",
    [fhrp_groups, fhrp_group_assignments],
    migrations="netinv_fhrp:migrations",
    web=["netinv_fhrp.pages"],
    plugin=True,
    menu=[MenuSection("IPAM", ["fhrp-groups", "fhrp-group-assignments"], icon="globe-alt", position=203)],
    description="First-hop redundancy groups with their addresses and members",
    author="The netinv authors",
    distribution="netinv-fhrp",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/fhrp/."""
    return app


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Members go with their interface."""
    return [generic_cascade]


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The groups of NetBox dumps."""
    return importing.models if product == "netbox" else {}
