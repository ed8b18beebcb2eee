"""Cables of the plan: network, console, patch panels and power."""

from __future__ import annotations

import dataclasses
import itertools

from netinv_demo.loader import Body, DemoLoader
from netinv_demo.plan import (
    CONSOLE_PORT,
    CONSOLE_SERVER_PORT,
    FRONT_PORT,
    INTERFACE,
    POWER_OUTLET,
    POWER_PORT,
    REAR_PORT,
    HardwarePlan,
    PlannedPort,
    PlannedRack,
)

LABELS = (INTERFACE, CONSOLE_PORT, CONSOLE_SERVER_PORT, POWER_PORT, POWER_OUTLET, FRONT_PORT, REAR_PORT)
CABLE_BATCH = 250


@dataclasses.dataclass(frozen=True)
class Components:
    """Ids of the components of all devices, by label, device and name."""

    ids: dict[str, dict[tuple[str, str], str]]

    @classmethod
    def of_plan(cls, loader: DemoLoader, plan: HardwarePlan) -> Components:
        """Reads the ids: one statement for each kind of component."""
        devices = [device.id for device in plan.devices if device.id is not None]
        return cls({label: loader.components(label, devices) for label in LABELS})

    def id_of(self, port: PlannedPort) -> str:
        """Returns the id of a component of the plan."""
        assert port.device.id is not None
        return self.ids[port.label][port.device.id, port.name]


def load_cables(
    loader: DemoLoader, plan: HardwarePlan, components: Components, feeds: dict[tuple[PlannedRack, str], str]
) -> None:
    """Creates the cables, and those from power feeds to PDUs."""
    numbers = itertools.count(1)
    bodies = [
        {
            **ends(cable.a.label, components.id_of(cable.a), cable.b.label, components.id_of(cable.b)),
            "type": cable.type,
            "color": cable.color,
            "label": f"C{next(numbers):05}",
            "length": cable.length,
            "length_unit": "m",
        }
        for cable in plan.cables
    ]
    for (rack, side), feed in feeds.items():
        pdu = rack.pdus["AB".index(side)]
        body = ends("dcim.powerfeed", feed, POWER_PORT, components.id_of(PlannedPort(pdu, POWER_PORT, "input")))
        bodies.append({**body, "type": "power", "label": f"C{next(numbers):05}"})
    loader.create("dcim.cable", bodies, batch=CABLE_BATCH)


def ends(a_label: str, a: str, b_label: str, b: str) -> Body:
    """Returns the fields of a connected cable that say what it connects."""
    return {
        "termination_a_type": a_label,
        "termination_a_id": a,
        "termination_b_type": b_label,
        "termination_b_id": b,
        "status": "connected",
    }
