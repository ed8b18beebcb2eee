"""Cables between devices of the plan: network, management and console."""

from __future__ import annotations

from netinv_demo.models import GE
from netinv_demo.plan import CONSOLE_PORT, CONSOLE_SERVER_PORT, HardwarePlan, PlannedDevice, PlannedPort

# Colours of cables.
LINK, PEER, TRUNK, COPPER, SERIAL = "1e88e5", "43a047", "00acc1", "757575", "fdd835"
POWER_A, POWER_B = "d32f2f", "1976d2"


def link(
    plan: HardwarePlan,
    a: PlannedDevice,
    a_type: str,
    b: PlannedDevice,
    b_type: str,
    kind: str,
    color: str = LINK,
    *,
    length: int = 3,
) -> tuple[PlannedPort, PlannedPort]:
    """Connects the next free interfaces of two devices; returns both."""
    ends = a.next_interface(a_type), b.next_interface(b_type)
    plan.connect(*ends, kind, color, length)
    return ends


def link_port(plan: HardwarePlan, port: PlannedPort, switch_port: PlannedPort) -> None:
    """Connects a port with a copper cable."""
    plan.connect(port, switch_port, "cat6", COPPER, 2)


def attach(
    plan: HardwarePlan,
    console: PlannedDevice,
    switch: PlannedDevice,
    devices: list[PlannedDevice],
    *,
    port_type: str = GE,
) -> None:
    """Connects the consoles of devices to a console server, and their management interfaces to a switch."""
    for device in devices:
        for name in device.model.console_ports:
            plan.connect(
                PlannedPort(device, CONSOLE_PORT, name), console.next_component(CONSOLE_SERVER_PORT), "cat5e", SERIAL
            )
        if device is not switch and device.model.management == "mgmt0":
            link_port(plan, device.interface("mgmt0"), switch.next_interface(port_type))
    if switch.rack is console.rack:
        link_port(plan, console.interface("eth0"), switch.next_interface(port_type))
