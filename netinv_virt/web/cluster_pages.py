"""Tabs of clusters with their virtual machines and devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_dcim.devices import Device
from netinv_virt.virtual_machines import VirtualMachine
from netinv_web.extensions import ListTab

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

CLUSTER, MACHINE, DEVICE = "virtualization.cluster", "virtualization.virtualmachine", "dcim.device"
MACHINE_COLUMNS = ("status", "role", "primary_ip", "vcpus", "memory", "disk")  # of the first ones
DEVICE_COLUMNS = ("status", "device_role", "device_type", "rack")


def tabs_of(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a cluster. Devices are added to it in their own forms."""
    if endpoint.label != CLUSTER:
        return []
    machines, devices = _within(VirtualMachine), _within(Device)
    return [
        ListTab(
            "virtual-machines", "Virtual machines", MACHINE, machines, _preset, 100, _filters, first=MACHINE_COLUMNS
        ),
        ListTab("devices", "Devices", DEVICE, devices, lambda cluster: None, 110, _filters, first=DEVICE_COLUMNS),
    ]


def _within(model: Any) -> Any:
    """Returns the function that limits the list of a model to a cluster."""
    return lambda request, cluster: [model.__table__.c.cluster_id == cluster["id"]]


def _preset(cluster: Mapping[str, Any]) -> dict[str, Any]:
    return {"cluster": cluster["id"]}


def _filters(cluster: Mapping[str, Any]) -> dict[str, str]:
    return {"cluster_id": str(cluster["id"])}
