"""Pages of this application for the web interface."""

from __future__ import annotations

from typing import Any

from netinv_core.http.traversal import root_of
from netinv_ipam.web.panels import allocate


def includeme(config: Any) -> None:
    """Adds the form that allocates the next address of a prefix."""
    factory = root_of(config.registry.netinv.apps["ipam"])
    path = "/ipam/{model:prefixes}/{id}/allocate/"
    config.add_netinv_page(
        path, allocate, permission="view", methods=["POST"], factory=factory, traverse="/{model}/{id}"
    )
