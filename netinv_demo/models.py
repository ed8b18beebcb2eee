"""Device types of the demo inventory, with their components. All manufacturers and models are invented."""

from __future__ import annotations

import dataclasses

SWITCHING = "Arvane Networks"
SECURITY = "Brightmoor Security"
COMPUTE = "Kestrand Systems"
POWER = "Voltane Power"
CABLING = "Lindvall Cabling"
CONSOLE = "Tessaro Devices"

GE, TEN, TWENTY_FIVE, HUNDRED = "1000base-t", "10gbase-x-sfpp", "25gbase-x-sfp28", "100gbase-x-qsfp28"
MULTI_GIGABIT, VIRTUAL = "2.5gbase-t", "virtual"
LOOPBACK = "Loopback0"
INLET, OUTLET, LARGE_INLET, LARGE_OUTLET = "iec-60320-c14", "iec-60320-c13", "iec-60320-c20", "iec-60320-c19"
FEED_PLUG = "iec-60309-p-n-e-6h"
POWER_FACTOR = 0.6  # allocated draw relative to the maximum

Interface = tuple[str, str, bool]  # name, type, mgmt_only
PowerPort = tuple[str, str, int]  # name, connector, maximum draw in watts
RearPort = tuple[str, str, int]  # name, connector, positions
FrontPort = tuple[str, str, str, int]  # name, connector, rear port, position on it


@dataclasses.dataclass(frozen=True)
class DemoModel:
    """A device type with its components.

    :ivar power_outlets: name and connector of each outlet; all are fed by the first power port
    :ivar management: name of the interface that has the management address; empty without one
    """

    manufacturer: str
    model: str
    platform: str | None = None
    u_height: int = 1
    is_full_depth: bool = True
    subdevice_role: str = ""
    interfaces: tuple[Interface, ...] = ()
    power_ports: tuple[PowerPort, ...] = ()
    console_ports: tuple[str, ...] = ()
    console_server_ports: tuple[str, ...] = ()
    power_outlets: tuple[tuple[str, str], ...] = ()
    rear_ports: tuple[RearPort, ...] = ()
    front_ports: tuple[FrontPort, ...] = ()
    device_bays: tuple[str, ...] = ()
    management: str = ""
    comments: str = ""

    def ports(self, interface_type: str) -> list[str]:
        """Returns the names of the interfaces of a type, without those for management only."""
        return [name for name, kind, mgmt_only in self.interfaces if kind == interface_type and not mgmt_only]

    @property
    def has_loopback(self) -> bool:
        """True for devices that route."""
        return any(name == LOOPBACK for name, _, _ in self.interfaces)


def _ports(prefix: str, count: int, kind: str, start: int = 1) -> tuple[Interface, ...]:
    return tuple((f"{prefix}{number}", kind, False) for number in range(start, start + count))


def _supplies(count: int, maximum: int, connector: str = INLET) -> tuple[PowerPort, ...]:
    return tuple((f"PSU{number}", connector, maximum) for number in range(1, count + 1))


def _rears(count: int, connector: str, positions: int) -> tuple[RearPort, ...]:
    return tuple((f"R{number}", connector, positions) for number in range(1, count + 1))


def _fronts(rears: int, connector: str, positions: int) -> tuple[FrontPort, ...]:
    """Returns a front port for every position of every rear port, numbered from 1."""
    return tuple(
        (f"F{rear * positions + position}", connector, f"R{rear + 1}", position)
        for rear in range(rears)
        for position in range(1, positions + 1)
    )


_MANAGEMENT: tuple[Interface, ...] = (("mgmt0", GE, True),)
_LOOPBACK: tuple[Interface, ...] = ((LOOPBACK, VIRTUAL, False),)
_SERIAL = ("console",)

SPINE = DemoModel(
    SWITCHING,
    "AX9332",
    "ArvOS 9",
    interfaces=(*_ports("eth", 32, HUNDRED), *_MANAGEMENT, *_LOOPBACK),
    power_ports=_supplies(2, 650),
    console_ports=_SERIAL,
    management="mgmt0",
)
LEAF = DemoModel(
    SWITCHING,
    "AX5548",
    "ArvOS 9",
    interfaces=(*_ports("eth", 48, TWENTY_FIVE), *_ports("eth", 8, HUNDRED, 49), *_MANAGEMENT, *_LOOPBACK),
    power_ports=_supplies(2, 450),
    console_ports=_SERIAL,
    management="mgmt0",
)
CORE = DemoModel(
    SWITCHING,
    "AX7224",
    "ArvOS 9",
    interfaces=(*_ports("eth", 24, TEN), *_ports("eth", 4, HUNDRED, 25), *_MANAGEMENT, *_LOOPBACK),
    power_ports=_supplies(2, 350),
    console_ports=_SERIAL,
    management="mgmt0",
)
ACCESS = DemoModel(
    SWITCHING,
    "AX3148P",
    "ArvOS 9",
    is_full_depth=False,
    interfaces=(*_ports("eth", 48, GE), *_ports("eth", 4, TEN, 49), *_MANAGEMENT),
    power_ports=_supplies(1, 1100),
    console_ports=_SERIAL,
    management="mgmt0",
    comments="740 W for powered devices.",
)
MANAGEMENT_SWITCH = DemoModel(
    SWITCHING,
    "AX1024",
    "ArvOS 9",
    is_full_depth=False,
    interfaces=(*_ports("eth", 24, GE), *_ports("eth", 2, TEN, 25), ("Vlan10", VIRTUAL, True)),
    power_ports=_supplies(1, 60),
    console_ports=_SERIAL,
    management="Vlan10",
)
ACCESS_POINT = DemoModel(
    SWITCHING,
    "AW650",
    "ArvOS Wireless 4",
    u_height=0,
    is_full_depth=False,
    interfaces=(("eth0", MULTI_GIGABIT, False), ("radio0", "ieee802.11ax", False), ("radio1", "ieee802.11ax", False)),
    management="eth0",
)
BRANCH_ROUTER = DemoModel(
    SWITCHING,
    "AR2100",
    "ArvOS 9",
    is_full_depth=False,
    interfaces=(*_ports("ge", 6, GE), *_ports("te", 4, TEN), *_MANAGEMENT, *_LOOPBACK),
    power_ports=_supplies(1, 120),
    console_ports=_SERIAL,
    management="mgmt0",
)
EDGE_ROUTER = DemoModel(
    SWITCHING,
    "AR8200",
    "ArvOS 9",
    u_height=2,
    interfaces=(*_ports("te", 24, TEN), *_ports("hu", 4, HUNDRED), *_MANAGEMENT, *_LOOPBACK),
    power_ports=_supplies(2, 900),
    console_ports=_SERIAL,
    management="mgmt0",
)
BRANCH_FIREWALL = DemoModel(
    SECURITY,
    "BF400",
    "Brightmoor OS 7",
    is_full_depth=False,
    interfaces=(*_ports("ge", 8, GE), *_ports("te", 4, TEN), *_MANAGEMENT, *_LOOPBACK),
    power_ports=_supplies(1, 90),
    console_ports=_SERIAL,
    management="mgmt0",
)
FIREWALL = DemoModel(
    SECURITY,
    "BF3200",
    "Brightmoor OS 7",
    u_height=2,
    interfaces=(*_ports("te", 8, TEN), *_ports("hu", 4, HUNDRED), *_MANAGEMENT, *_LOOPBACK),
    power_ports=_supplies(2, 800),
    console_ports=_SERIAL,
    management="mgmt0",
)
CONSOLE_SERVER = DemoModel(
    CONSOLE,
    "TC-48",
    "Tessaro Console 3",
    is_full_depth=False,
    interfaces=(("eth0", GE, True),),
    power_ports=_supplies(1, 45),
    management="eth0",
    console_server_ports=tuple(f"port{number}" for number in range(1, 49)),
)
SMALL_CONSOLE_SERVER = DemoModel(
    CONSOLE,
    "TC-16",
    "Tessaro Console 3",
    is_full_depth=False,
    interfaces=(("eth0", GE, True),),
    power_ports=_supplies(1, 30),
    management="eth0",
    console_server_ports=tuple(f"port{number}" for number in range(1, 17)),
)
SERVER = DemoModel(
    COMPUTE,
    "K210",
    "Debian 12",
    interfaces=(*_ports("nic", 2, TWENTY_FIVE), ("bmc", GE, True)),
    power_ports=_supplies(2, 750),
    management="bmc",
)
LARGE_SERVER = DemoModel(
    COMPUTE,
    "K420",
    "Debian 12",
    u_height=2,
    interfaces=(*_ports("nic", 4, TWENTY_FIVE), ("bmc", GE, True)),
    power_ports=_supplies(2, 1400),
    management="bmc",
)
CHASSIS = DemoModel(
    COMPUTE,
    "KB8",
    None,
    u_height=6,
    subdevice_role="parent",
    interfaces=(("bmc", GE, True),),
    power_ports=_supplies(4, 2400, LARGE_INLET),
    management="bmc",
    device_bays=tuple(f"bay{number}" for number in range(1, 9)),
)
BLADE = DemoModel(
    COMPUTE,
    "KB8-N2",
    "Debian 12",
    u_height=0,
    subdevice_role="child",
    interfaces=(*_ports("nic", 2, TWENTY_FIVE), ("bmc", GE, True)),
    management="bmc",
    comments="Its network ports lead through pass-through modules of the chassis; the chassis powers it.",
)
PDU = DemoModel(
    POWER,
    "VP-24",
    "Voltane Firmware 2",
    u_height=0,
    is_full_depth=False,
    interfaces=(("eth0", GE, True),),
    power_ports=(("input", FEED_PLUG, 7360),),
    management="eth0",
    power_outlets=(
        *((f"outlet{number}", OUTLET) for number in range(1, 25)),
        *((f"outlet{number}", LARGE_OUTLET) for number in range(25, 29)),
    ),
)
TRUNK_PANEL = DemoModel(
    CABLING,
    "LP-48M",
    is_full_depth=False,
    rear_ports=_rears(4, "mpo", 12),
    front_ports=_fronts(4, "lc", 12),
)
RACK_PANEL = DemoModel(
    CABLING,
    "LP-12M",
    is_full_depth=False,
    rear_ports=_rears(1, "mpo", 12),
    front_ports=_fronts(1, "lc", 12),
)
FIBRE_PANEL = DemoModel(
    CABLING,
    "LP-24F",
    is_full_depth=False,
    rear_ports=_rears(24, "lc", 1),
    front_ports=_fronts(24, "lc", 1),
)
COPPER_PANEL = DemoModel(
    CABLING,
    "LP-24C",
    is_full_depth=False,
    rear_ports=_rears(24, "110-punch", 1),
    front_ports=_fronts(24, "8p8c", 1),
)

MODELS = (
    SPINE,
    LEAF,
    CORE,
    ACCESS,
    MANAGEMENT_SWITCH,
    ACCESS_POINT,
    BRANCH_ROUTER,
    EDGE_ROUTER,
    BRANCH_FIREWALL,
    FIREWALL,
    CONSOLE_SERVER,
    SMALL_CONSOLE_SERVER,
    SERVER,
    LARGE_SERVER,
    CHASSIS,
    BLADE,
    PDU,
    TRUNK_PANEL,
    RACK_PANEL,
    FIBRE_PANEL,
    COPPER_PANEL,
)
