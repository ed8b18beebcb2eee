"""Tabs of clusters with their virtual machines and devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import table_of
from netinv_dcim.devices import Device
from netinv_virt.virtual_machines import VirtualMachine
from netinv_web.extensions import ListTab, referring_tab

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

CLUSTER, MACHINE, DEVICE = "virtualization.cluster", "virtualization.virtualmachine", "dcim.device"
MACHINE_COLUMNS = ("status", "role", "primary_ip", "vcpus", "memory", "disk")  # of the first ones
DEVICE_COLUMNS = ("status", "device_role", "device_type", "rack")


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a cluster. Devices are added to it in their own forms."""
    if endpoint.label != CLUSTER:
        return []
    machines, devices = table_of(VirtualMachine).c.cluster_id, table_of(Device).c.cluster_id
    return [
        referring_tab("virtual-machines", "Virtual machines", MACHINE, machines, 100, first=MACHINE_COLUMNS),
        referring_tab("devices", "Devices", DEVICE, devices, 110, preset=lambda cluster: None, first=DEVICE_COLUMNS),
    ]
