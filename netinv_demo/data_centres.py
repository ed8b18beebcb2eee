"""Hardware of the data centres: a border rack, and pods of spine and leaf switches with servers."""

from __future__ import annotations

import dataclasses
import random

from netinv_demo.models import (
    BLADE,
    CHASSIS,
    CONSOLE_SERVER,
    CORE,
    EDGE_ROUTER,
    FIBRE_PANEL,
    FIREWALL,
    GE,
    HUNDRED,
    LARGE_SERVER,
    LEAF,
    MANAGEMENT_SWITCH,
    RACK_PANEL,
    SERVER,
    SMALL_CONSOLE_SERVER,
    SPINE,
    TEN,
    TRUNK_PANEL,
    TWENTY_FIVE,
)
from netinv_demo.organisation import HALL
from netinv_demo.plan import FRONT_PORT, REAR_PORT, HardwarePlan, PlannedDevice, PlannedPort, PlannedRack, PlannedSite
from netinv_demo.power import add_pdus, power_up
from netinv_demo.size import BLADES, COMPUTE_RACKS_PER_POD, SPINES, TRUNKS_PER_PANEL, pods
from netinv_demo.wiring import COPPER, LINK, PEER, TRUNK, attach, link, link_port

LARGE_SERVERS = 0.3  # share of servers with two rack units
STORAGE_SERVERS = 0.15


@dataclasses.dataclass(eq=False)
class _Border:
    """The border rack of a data centre."""

    leaves: list[PlannedDevice]
    management: PlannedDevice


@dataclasses.dataclass(eq=False)
class _Pod:
    """The spine rack of a pod, and its patch panels with the trunks to compute racks."""

    name: str
    spines: list[PlannedDevice]
    management: PlannedDevice
    console: PlannedDevice
    panels: list[PlannedDevice]


def plan_data_centre(
    plan: HardwarePlan, site: PlannedSite, compute_racks: int, servers: int, chance: random.Random
) -> None:
    """Adds racks, devices and cables of a data centre, with exactly this number of servers besides the blades."""
    border = _plan_border(plan, site)
    racks: list[tuple[PlannedRack, list[PlannedDevice], PlannedDevice]] = []
    for number in range(pods(compute_racks)):
        count = min(COMPUTE_RACKS_PER_POD, compute_racks - number * COMPUTE_RACKS_PER_POD)
        pod = _plan_pod(plan, site, border, chr(ord("B") + number), count)
        racks += [_plan_compute_rack(plan, site, pod, index) for index in range(count)]
    _plan_blades(plan, *racks[0])
    for number in range(servers):
        _plan_server(plan, number + 1, *racks[number % len(racks)], chance=chance)
    for rack in site.racks:
        power_up(plan, rack)


def _plan_border(plan: HardwarePlan, site: PlannedSite) -> _Border:
    """Adds the rack with firewalls, routers and border leaves."""
    rack = plan.add_rack(site, "A01", "Row A", "Network", HALL)
    plan.add(rack, "panel01", FIBRE_PANEL, "Patch panel")
    leaves = [plan.add(rack, f"border{number:02}", SPINE, "Border leaf") for number in (1, 2)]
    firewalls = [plan.add(rack, f"fw{number:02}", FIREWALL, "Firewall") for number in (1, 2)]
    routers = [plan.add(rack, f"rtr{number:02}", EDGE_ROUTER, "Router") for number in (1, 2)]
    management = plan.add(rack, "oob01", MANAGEMENT_SWITCH, "Management switch")
    console = plan.add(rack, "con01", SMALL_CONSOLE_SERVER, "Console server")
    for leaf in leaves:
        for firewall in firewalls:
            link(plan, leaf, HUNDRED, firewall, HUNDRED, "aoc")
    for firewall in firewalls:
        for router in routers:
            link(plan, firewall, TEN, router, TEN, "smf-os2")
    link(plan, *_pair(firewalls, TEN), "dac-passive", PEER)
    link(plan, management, TEN, firewalls[0], TEN, "dac-passive")
    attach(plan, console, management, [*leaves, *firewalls, *routers, management])
    add_pdus(plan, rack, management, GE)
    return _Border(leaves, management)


def _pair(devices: list[PlannedDevice], interface_type: str) -> tuple[PlannedDevice, str, PlannedDevice, str]:
    return devices[0], interface_type, devices[1], interface_type


def _plan_pod(plan: HardwarePlan, site: PlannedSite, border: _Border, row: str, compute_racks: int) -> _Pod:
    """Adds the spine rack of a pod, connected with the border rack."""
    rack, prefix = plan.add_rack(site, f"{row}01", f"Row {row}", "Network", HALL), row.lower()
    count = -(-compute_racks // TRUNKS_PER_PANEL)
    panels = [
        plan.add(rack, f"{prefix}-panel{number:02}", TRUNK_PANEL, "Patch panel") for number in range(1, count + 1)
    ]
    spines = [plan.add(rack, f"{prefix}-spine{number:02}", SPINE, "Spine switch") for number in range(1, SPINES + 1)]
    management = plan.add(rack, f"{prefix}-oob01", CORE, "Management switch")
    console = plan.add(rack, f"{prefix}-con01", CONSOLE_SERVER, "Console server")
    for spine in spines:
        for leaf in border.leaves:
            ends = link(plan, spine, HUNDRED, leaf, HUNDRED, "aoc", length=15)
            plan.fabric_links.append(ends)
    link(plan, management, TEN, border.management, GE, "cat6a", COPPER, length=15)
    attach(plan, console, management, [*spines, management], port_type=TEN)
    add_pdus(plan, rack, management, TEN)
    return _Pod(row, spines, management, console, panels)


def _plan_compute_rack(
    plan: HardwarePlan, site: PlannedSite, pod: _Pod, index: int
) -> tuple[PlannedRack, list[PlannedDevice], PlannedDevice]:
    """Adds a compute rack: its two leaves reach each spine through the trunk between two patch panels."""
    rack = plan.add_rack(site, f"{pod.name}{index + 2:02}", f"Row {pod.name}", "Compute", HALL)
    prefix = f"{pod.name.lower()}{index + 2:02}"
    panel = plan.add(rack, f"{prefix}-panel", RACK_PANEL, "Patch panel")
    leaves = [plan.add(rack, f"{prefix}-leaf{side}", LEAF, "Leaf switch") for side in "ab"]
    management = plan.add(rack, f"{prefix}-oob", MANAGEMENT_SWITCH, "Management switch")
    far_panel, trunk = pod.panels[index // TRUNKS_PER_PANEL], index % TRUNKS_PER_PANEL
    far_rear = far_panel.next_component(REAR_PORT)
    plan.connect(panel.next_component(REAR_PORT), far_rear, "mmf-om4", TRUNK, length=25)
    for side, leaf in enumerate(leaves):
        for number, spine in enumerate(pod.spines):
            position = side * SPINES + number + 1
            near, far = leaf.next_interface(HUNDRED), spine.next_interface(HUNDRED)
            plan.connect(near, PlannedPort(panel, FRONT_PORT, f"F{position}"), "mmf-om4", LINK, length=2)
            plan.connect(
                far, PlannedPort(far_panel, FRONT_PORT, f"F{trunk * 12 + position}"), "mmf-om4", LINK, length=2
            )
            plan.fabric_links.append((far, near))
    link(plan, *_pair(leaves, HUNDRED), "dac-passive", PEER, length=1)
    link(plan, management, TEN, pod.management, TEN, "smf-os2", COPPER, length=25)
    attach(plan, pod.console, management, [*leaves, management])
    add_pdus(plan, rack, management, GE)
    return rack, leaves, management


def _plan_server(
    plan: HardwarePlan,
    number: int,
    rack: PlannedRack,
    leaves: list[PlannedDevice],
    management: PlannedDevice,
    *,
    chance: random.Random,
) -> None:
    """Adds a server with ports on both leaves."""
    model = LARGE_SERVER if chance.random() < LARGE_SERVERS else SERVER
    role = "Storage" if chance.random() < STORAGE_SERVERS else "Hypervisor"
    server = plan.add(rack, f"srv{number:03}", model, role, from_top=False)
    _attach_server(plan, server, leaves)
    link_port(plan, server.interface("bmc"), management.next_interface(GE))


def _attach_server(plan: HardwarePlan, server: PlannedDevice, leaves: list[PlannedDevice]) -> None:
    for number, _ in enumerate(server.model.ports(TWENTY_FIVE)):
        link(plan, server, TWENTY_FIVE, leaves[number % 2], TWENTY_FIVE, "dac-passive", length=2)


def _plan_blades(plan: HardwarePlan, rack: PlannedRack, leaves: list[PlannedDevice], management: PlannedDevice) -> None:
    """Adds a chassis with blades, whose ports are cabled to the leaves of the rack."""
    chassis = plan.add(rack, "blade01", CHASSIS, "Blade chassis", from_top=False)
    link_port(plan, chassis.interface("bmc"), management.next_interface(GE))
    for number in range(1, BLADES + 1):
        blade = plan.add(rack, f"blade01-{number}", BLADE, "Hypervisor")
        blade.parent = chassis
        _attach_server(plan, blade, leaves)
