"""Tabs of interfaces and VLANs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyramid.request import Request

from netinv_core import Endpoint, hookimpl
from netinv_vpn import l2vpns, tunnels
from netinv_web.extensions import ListTab


def _tab(endpoint: Endpoint, name: str, title: str, model: Any, label: str, reference: str) -> ListTab:
    table = model.__table__

    def within(request: Request, item: Mapping[str, Any]) -> list[Any]:
        return [table.c[f"{reference}_type"] == endpoint.label, table.c[f"{reference}_id"] == item["id"]]

    def values(item: Mapping[str, Any]) -> dict[str, str]:
        return {f"{reference}_type": endpoint.label, f"{reference}_id": str(item["id"])}

    return ListTab(name, title, label, within, values, 310, filters=values)


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource."""
    tabs: list[ListTab] = []
    if tunnels.is_interface(endpoint):
        tabs.append(_tab(endpoint, "tunnels", "Tunnels", tunnels.TunnelTermination, tunnels.LABEL, "termination"))
    if l2vpns.is_end(endpoint):
        tabs.append(_tab(endpoint, "l2vpns", "L2VPNs", l2vpns.L2VPNTermination, l2vpns.LABEL, "assigned_object"))
    return tabs
