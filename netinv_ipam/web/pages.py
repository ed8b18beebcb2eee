"""Pages of this application for the web interface."""

from __future__ import annotations

from typing import Any

from netinv_core.http.traversal import root_of
from netinv_ipam.web import gap, next_prefix, tree
from netinv_ipam.web.panels import allocate


def includeme(config: Any) -> None:
    """Adds the tree of prefixes, the page of a gap in it, and the pages that allocate what is free next."""
    config.add_netinv_page(tree.PATH, tree.show, tree.TEMPLATE, permission="view", resource="ipam/prefixes")
    factory = root_of(config.registry.netinv.apps["ipam"])
    config.add_netinv_page(
        "/ipam/prefixes/{id}/next-prefix/",
        next_prefix.show,
        permission="view",
        methods=["GET", "POST"],
        resource="ipam/prefixes",
    )
    config.add_netinv_page(gap.PATH, gap.show, permission="view", resource="ipam/prefixes")
    path = "/ipam/{model:prefixes}/{id}/allocate/"
    config.add_netinv_page(
        path, allocate, permission="view", methods=["POST"], factory=factory, traverse="/{model}/{id}"
    )
