"""VLANs on switch ports, and link aggregation of uplinks."""

from __future__ import annotations

from netinv_demo.cabling import Components
from netinv_demo.company import DATA_CENTRE, HUB
from netinv_demo.loader import Body, DemoLoader
from netinv_demo.models import ACCESS, GE, LEAF, TEN, TWENTY_FIVE
from netinv_demo.networks import GUESTS, HYPERVISORS, MANAGEMENT, SEGMENTS, USERS, WIRELESS
from netinv_demo.plan import INTERFACE, HardwarePlan, PlannedDevice, PlannedPort, mac_address

USER_PORTS = 12  # ports of each access switch that are set up for users, though nothing is cabled to them
LAG = "Port-channel1"
PORTS = 0x01  # kind of MAC addresses
SERVER_SEGMENTS = [segment.name for segment in SEGMENTS[DATA_CENTRE] if segment.name not in (MANAGEMENT, HYPERVISORS)]


def load_switch_ports(loader: DemoLoader, plan: HardwarePlan, components: Components) -> None:
    """Sets the MAC addresses of cabled ports, and the VLANs of those towards servers, access points, users and
    management; aggregates uplinks.
    """
    wireless = set(plan.wireless_ports)
    tagged: list[Body] = []
    untagged: list[Body] = []
    others: list[Body] = []
    ends = [port for cable in plan.cables for port in (cable.a, cable.b) if port.label == INTERFACE]
    for number, port in enumerate(ends, 1):
        device = port.device
        key: Body = {"id": components.id_of(port), "mac_address": mac_address(number, PORTS)}
        if port in wireless:
            tagged.append({**key, **_trunk(device, MANAGEMENT, [WIRELESS, GUESTS])})
        elif device.model is LEAF and port.name in LEAF.ports(TWENTY_FIVE):
            tagged.append({**key, **_trunk(device, HYPERVISORS, SERVER_SEGMENTS)})
        elif device.model is ACCESS and port.name in ACCESS.ports(GE):
            untagged.append({**key, "mode": "access", "untagged_vlan": device.site.vlans[MANAGEMENT]})
        else:
            others.append(key)
    for site in plan.sites:
        for switch in site.with_role("Access switch"):
            untagged += _user_ports(switch, components)
    loader.update(INTERFACE, tagged)
    loader.update(INTERFACE, untagged)
    loader.update(INTERFACE, others)
    _load_lags(loader, plan, components)


def _trunk(device: PlannedDevice, native: str, names: list[str]) -> Body:
    """Returns the fields of a port with a native VLAN and tagged VLANs."""
    vlans = device.site.vlans
    return {"mode": "tagged", "untagged_vlan": vlans[native], "tagged_vlans": [vlans[name] for name in names]}


def _user_ports(switch: PlannedDevice, components: Components) -> list[Body]:
    """Returns the fields of the next free ports of an access switch, for users."""
    ports = [switch.next_interface(GE) for _ in range(USER_PORTS)]
    return [
        {"id": components.id_of(port), "mode": "access", "untagged_vlan": switch.site.vlans[USERS]} for port in ports
    ]


def _load_lags(loader: DemoLoader, plan: HardwarePlan, components: Components) -> None:
    """Aggregates the two uplinks of each access switch in the hubs."""
    switches = [device for site in plan.sites if site.profile.kind == HUB for device in site.with_role("Access switch")]
    lags = loader.create(
        INTERFACE,
        [
            {
                "device": switch.id,
                "name": LAG,
                "type": "lag",
                "status": "active",
                "mode": "tagged-all",
                "description": "To the distribution switches",
            }
            for switch in switches
        ],
    )
    loader.update(
        INTERFACE,
        [
            {"id": components.id_of(PlannedPort(switch, INTERFACE, name)), "lag": lag}
            for switch, lag in zip(switches, lags, strict=True)
            for name in ACCESS.ports(TEN)[:2]
        ],
    )
