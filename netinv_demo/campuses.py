"""Hardware of hubs and offices: core, distribution and access switches, firewalls, routers and access points."""

from __future__ import annotations

from netinv_demo.models import (
    ACCESS,
    ACCESS_POINT,
    BRANCH_FIREWALL,
    BRANCH_ROUTER,
    COPPER_PANEL,
    CORE,
    GE,
    HUNDRED,
    MULTI_GIGABIT,
    SERVER,
    SMALL_CONSOLE_SERVER,
    TEN,
    TWENTY_FIVE,
)
from netinv_demo.organisation import COMMS, FLOOR
from netinv_demo.plan import FRONT_PORT, REAR_PORT, HardwarePlan, PlannedDevice, PlannedPort, PlannedRack, PlannedSite
from netinv_demo.power import add_pdus, power_up
from netinv_demo.wiring import COPPER, PEER, attach, link, link_port

CEILING = "Not in a rack: mounted on the ceiling, powered by the access switch."


def plan_hub(plan: HardwarePlan, site: PlannedSite, access_points: int) -> None:
    """Adds racks, devices and cables of a hub: two cores, two distribution switches, four access switches in stacks."""
    racks = [plan.add_rack(site, name, "Comms row", "Network", COMMS) for name in ("C01", "C02", "C03")]
    panels = [plan.add(rack, f"panel{number:02}", COPPER_PANEL, "Patch panel") for number, rack in enumerate(racks, 1)]
    cores = [plan.add(racks[number], f"core{number + 1:02}", CORE, "Core switch") for number in (0, 1)]
    distribution = [plan.add(racks[number], f"dist{number + 1:02}", CORE, "Distribution switch") for number in (0, 1)]
    access = [plan.add(racks[1 + number // 2], f"acc{number + 1:02}", ACCESS, "Access switch") for number in range(4)]
    firewalls = [plan.add(racks[0], f"fw{number:02}", BRANCH_FIREWALL, "Firewall") for number in (1, 2)]
    router = plan.add(racks[0], "rtr01", BRANCH_ROUTER, "Router")
    console = plan.add(racks[0], "con01", SMALL_CONSOLE_SERVER, "Console server")
    servers = [plan.add(racks[2], f"srv{number:03}", SERVER, "Hypervisor", from_top=False) for number in (1, 2)]
    _join(plan, cores, HUNDRED)
    for switch in distribution:
        for core in cores:
            link(plan, switch, HUNDRED, core, HUNDRED, "aoc")
    for switch in access:
        for upstream in distribution:
            link(plan, switch, TEN, upstream, TEN, "mmf-om4")
    for first in (0, 2):
        _stack(plan, f"{site.code}-stack{first // 2 + 1:02}", access[first : first + 2])
    for firewall in firewalls:
        for core in cores:
            link(plan, firewall, TEN, core, TEN, "mmf-om4")
        link(plan, firewall, TEN, router, TEN, "mmf-om4")
    _join(plan, firewalls, GE)
    for server in servers:
        for switch in distribution:
            link(plan, server, TWENTY_FIVE, switch, TEN, "dac-passive")
        link_port(plan, server.interface("bmc"), access[2].next_interface(GE))
    attach(plan, console, access[0], [*cores, *distribution, *access, *firewalls, router])
    link_port(plan, console.interface("eth0"), access[0].next_interface(GE))
    _finish(plan, racks, panels, access, access_points)


def plan_office(plan: HardwarePlan, site: PlannedSite, access_points: int) -> None:
    """Adds racks, devices and cables of an office: a firewall, a router and a stack of two access switches."""
    names = [f"C{number:02}" for number in range(1, site.profile.racks + 1)]
    racks = [plan.add_rack(site, name, "Comms row", "Network", COMMS, feeds=1) for name in names]
    panels = [plan.add(rack, f"panel{number:02}", COPPER_PANEL, "Patch panel") for number, rack in enumerate(racks, 1)]
    access = [plan.add(racks[number % len(racks)], f"acc{number + 1:02}", ACCESS, "Access switch") for number in (0, 1)]
    firewall = plan.add(racks[0], "fw01", BRANCH_FIREWALL, "Firewall")
    router = plan.add(racks[0], "rtr01", BRANCH_ROUTER, "Router")
    console = plan.add(racks[0], "con01", SMALL_CONSOLE_SERVER, "Console server")
    _stack(plan, f"{site.code}-stack01", access)
    for switch in access:
        link(plan, switch, TEN, firewall, TEN, "mmf-om4")
    link(plan, firewall, TEN, router, TEN, "dac-passive")
    attach(plan, console, access[0], [*access, firewall, router])
    _finish(plan, racks, panels, access, access_points)


def _join(plan: HardwarePlan, devices: list[PlannedDevice], interface_type: str) -> None:
    """Connects two devices of a redundant pair."""
    link(plan, devices[0], interface_type, devices[1], interface_type, "dac-passive", PEER, length=1)


def _stack(plan: HardwarePlan, name: str, switches: list[PlannedDevice]) -> None:
    """Makes a stack of switches and connects them."""
    plan.stacks[name] = switches
    _join(plan, switches, TEN)


def _finish(
    plan: HardwarePlan,
    racks: list[PlannedRack],
    panels: list[PlannedDevice],
    access: list[PlannedDevice],
    access_points: int,
) -> None:
    """Adds access points, PDUs and power cables."""
    for number in range(access_points):
        _plan_access_point(plan, number, panels[number % len(panels)], access[number % len(access)])
    for rack in racks:
        add_pdus(plan, rack, access[0], GE)
    for rack in racks:
        power_up(plan, rack)


def _plan_access_point(plan: HardwarePlan, number: int, panel: PlannedDevice, switch: PlannedDevice) -> None:
    """Adds an access point on the ceiling; the cabling of the building leads from it to a patch panel."""
    site = panel.site
    name = f"{site.code}-ap{number + 1:02}"
    access_point = PlannedDevice(name, ACCESS_POINT, "Access point", site, room=FLOOR, comments=CEILING)
    site.devices.append(access_point)
    rear = panel.next_component(REAR_PORT)
    plan.connect(access_point.next_interface(MULTI_GIGABIT), rear, "cat6a", COPPER, 45)
    port = switch.next_interface(GE)
    plan.wireless_ports.append(port)
    link_port(plan, PlannedPort(panel, FRONT_PORT, f"F{rear.name[1:]}"), port)
