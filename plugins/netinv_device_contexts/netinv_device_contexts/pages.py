"""Tabs of devices and interfaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core import Endpoint, hookimpl
from netinv_device_contexts.contexts import INTERFACE, VirtualDeviceContext, context_interfaces
from netinv_web.extensions import ListTab

LABEL, DEVICE = "device_contexts.virtualdevicecontext", "dcim.device"
table = VirtualDeviceContext.__table__


def _on_device(request: Request, item: Mapping[str, Any]) -> list[Any]:
    return [table.c.device_id == item["id"]]


def _of_interface(request: Request, item: Mapping[str, Any]) -> list[Any]:
    owners = sa.select(context_interfaces.c.owner_id).where(context_interfaces.c.target_id == item["id"])
    return [table.c.id.in_(owners)]


def _new_of_interface(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"device": item["device"]["id"], "interfaces": item["id"]}


device_tab = ListTab(
    "device-contexts",
    "Contexts",
    LABEL,
    _on_device,
    lambda item: {"device": item["id"]},
    320,
    filters=lambda item: {"device_id": str(item["id"])},
)
interface_tab = ListTab(
    "device-contexts",
    "Contexts",
    LABEL,
    _of_interface,
    _new_of_interface,
    320,
    filters=lambda item: {"interfaces": str(item["id"])},
)


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource."""
    return {DEVICE: [device_tab], INTERFACE: [interface_tab]}.get(endpoint.label, [])
