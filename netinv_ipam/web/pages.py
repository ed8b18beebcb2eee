"""Pages of this application for the web interface."""

from __future__ import annotations

from typing import Any

from netinv_core.http.traversal import root_of
from netinv_ipam.web import next_prefix, tree
from netinv_ipam.web.panels import allocate


def includeme(config: Any) -> None:
    """Adds the tree of prefixes, and the pages that allocate the next free prefix and the next free address."""
    config.add_netinv_page(tree.PATH, tree.show, tree.TEMPLATE, permission="view", resource="ipam/prefixes")
    factory = root_of(config.registry.netinv.apps["ipam"])
    config.add_netinv_page(
        "/ipam/prefixes/{id}/next-prefix/",
        next_prefix.show,
        permission="view",
        methods=["GET", "POST"],
        resource="ipam/prefixes",
    )
    path = "/ipam/{model:prefixes}/{id}/allocate/"
    config.add_netinv_page(
        path, allocate, permission="view", methods=["POST"], factory=factory, traverse="/{model}/{id}"
    )
