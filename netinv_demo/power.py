"""Power within racks: PDUs, and cables from power supplies to their outlets."""

from __future__ import annotations

from netinv_demo.models import LARGE_INLET, LARGE_OUTLET, PDU
from netinv_demo.plan import POWER_OUTLET, POWER_PORT, HardwarePlan, PlannedDevice, PlannedPort, PlannedRack
from netinv_demo.wiring import POWER_A, POWER_B, link_port

CABLE_COLORS = (POWER_A, POWER_B)


def add_pdus(plan: HardwarePlan, rack: PlannedRack, switch: PlannedDevice, interface_type: str) -> None:
    """Adds a PDU for each power feed of a rack, managed through a switch."""
    for side in "AB"[: rack.feeds]:
        name = f"{rack.name.partition('-')[2].lower()}-pdu-{side.lower()}"
        pdu = plan.add(rack, name, PDU, "PDU")
        rack.pdus.append(pdu)
        link_port(plan, pdu.interface("eth0"), switch.next_interface(interface_type))


def power_up(plan: HardwarePlan, rack: PlannedRack) -> None:
    """Connects the power supplies of all devices in a rack, alternating between its PDUs."""
    outlets = {
        pdu: {
            large: iter([name for name, kind in PDU.power_outlets if (kind == LARGE_OUTLET) is large])
            for large in (False, True)
        }
        for pdu in rack.pdus
    }
    for device in rack.site.devices:
        if device.rack is not rack or device.model is PDU:
            continue
        for number, (name, connector, _) in enumerate(device.model.power_ports):
            side = number % len(rack.pdus)
            outlet = next(outlets[rack.pdus[side]][connector == LARGE_INLET])
            port = PlannedPort(rack.pdus[side], POWER_OUTLET, outlet)
            plan.connect(PlannedPort(device, POWER_PORT, name), port, "power", CABLE_COLORS[side], 2)
