"""Plan of the hardware: sites, racks, devices and cables in memory, before they are written."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator

from netinv_demo.company import SiteProfile
from netinv_demo.models import DemoModel

RACK_HEIGHT = 42
INTERFACE, CONSOLE_PORT, CONSOLE_SERVER_PORT = "dcim.interface", "dcim.consoleport", "dcim.consoleserverport"
POWER_PORT, POWER_OUTLET, FRONT_PORT, REAR_PORT = (
    "dcim.powerport",
    "dcim.poweroutlet",
    "dcim.frontport",
    "dcim.rearport",
)


@dataclasses.dataclass(eq=False)
class PlannedRack:
    """A rack with the units that are still free: switches are placed from the top, servers from the bottom."""

    name: str
    site: PlannedSite
    group: str
    role: str
    room: str
    feeds: int = 2
    id: str | None = None
    pdus: list[PlannedDevice] = dataclasses.field(default_factory=list)
    free: list[int] = dataclasses.field(default_factory=lambda: list(range(1, RACK_HEIGHT + 1)))

    def place(self, height: int, *, from_top: bool) -> int:
        """Takes ``height`` adjacent units; returns the lowest of them."""
        units = self.free[-height:] if from_top else self.free[:height]
        if len(units) < height or units[-1] - units[0] != height - 1:
            raise ValueError(f"rack {self.name} is full")
        self.free = self.free[:-height] if from_top else self.free[height:]
        return units[0]


@dataclasses.dataclass(eq=False)
class PlannedDevice:
    """A device; ``parent`` is the device in a bay of which it is installed."""

    name: str
    model: DemoModel
    role: str
    site: PlannedSite
    rack: PlannedRack | None = None
    position: int | None = None
    room: str = ""
    comments: str = ""
    parent: PlannedDevice | None = None
    id: str | None = None
    used: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def next_interface(self, interface_type: str) -> PlannedPort:
        """Returns the first interface of a type that is not used yet.

        :raises ValueError: when all are used
        """
        names = self.model.ports(interface_type)
        number = self.used[interface_type]
        if number >= len(names):
            raise ValueError(f"{self.name} has no further interface {interface_type}")
        self.used[interface_type] += 1
        return PlannedPort(self, INTERFACE, names[number])

    def next_component(self, label: str) -> PlannedPort:
        """Returns the first console server port or rear port that is not used yet."""
        names = {
            CONSOLE_SERVER_PORT: list(self.model.console_server_ports),
            REAR_PORT: [name for name, _, _ in self.model.rear_ports],
        }[label]
        self.used[label] += 1
        return PlannedPort(self, label, names[self.used[label] - 1])

    def interface(self, name: str) -> PlannedPort:
        """Returns an interface by name."""
        return PlannedPort(self, INTERFACE, name)


def mac_address(number: int, kind: int) -> str:
    """A locally administered MAC address (IEEE 802): the same number of the same kind of port always has the same."""
    return ":".join(f"{byte:02X}" for byte in (0x02, 0x4E, kind, *number.to_bytes(3, "big")))


@dataclasses.dataclass(frozen=True)
class PlannedPort:
    """A component of a device that takes a cable."""

    device: PlannedDevice
    label: str
    name: str


@dataclasses.dataclass(frozen=True)
class PlannedCable:
    """A cable between two components; ``length`` in metres."""

    a: PlannedPort
    b: PlannedPort
    type: str
    color: str
    length: int


@dataclasses.dataclass(eq=False)
class PlannedSite:
    """A site; ``number`` is its part of addresses: 10.<number>.0.0/16."""

    profile: SiteProfile
    number: int
    id: str | None = None
    rooms: dict[str, str] = dataclasses.field(default_factory=dict)
    racks: list[PlannedRack] = dataclasses.field(default_factory=list)
    devices: list[PlannedDevice] = dataclasses.field(default_factory=list)
    vlans: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def code(self) -> str:
        """The short name, with which all names at the site begin."""
        return self.profile.code

    def with_role(self, *roles: str) -> list[PlannedDevice]:
        """Returns the devices with one of some roles."""
        return [device for device in self.devices if device.role in roles]


@dataclasses.dataclass(eq=False)
class HardwarePlan:
    """All hardware.

    :ivar stacks: members of each stack of access switches by its name; the first is the master
    :ivar fabric_links: pairs of interfaces that are connected and route
    :ivar wireless_ports: switch ports of access points
    """

    sites: list[PlannedSite]
    cables: list[PlannedCable] = dataclasses.field(default_factory=list)
    stacks: dict[str, list[PlannedDevice]] = dataclasses.field(default_factory=dict)
    fabric_links: list[tuple[PlannedPort, PlannedPort]] = dataclasses.field(default_factory=list)
    wireless_ports: list[PlannedPort] = dataclasses.field(default_factory=list)

    @property
    def devices(self) -> Iterator[PlannedDevice]:
        """All devices, by site."""
        return (device for site in self.sites for device in site.devices)

    @property
    def racks(self) -> Iterator[PlannedRack]:
        """All racks, by site."""
        return (rack for site in self.sites for rack in site.racks)

    def add_rack(
        self, site: PlannedSite, name: str, group: str, role: str, room: str, *, feeds: int = 2
    ) -> PlannedRack:
        """Adds a rack; its name begins with the code of the site."""
        rack = PlannedRack(f"{site.code.upper()}-{name}", site, group, role, room, feeds)
        site.racks.append(rack)
        return rack

    def add(self, rack: PlannedRack, name: str, model: DemoModel, role: str, *, from_top: bool = True) -> PlannedDevice:
        """Adds a device to a rack; device types of height 0 get no position."""
        position = rack.place(model.u_height, from_top=from_top) if model.u_height else None
        device = PlannedDevice(f"{rack.site.code}-{name}", model, role, rack.site, rack, position, rack.room)
        rack.site.devices.append(device)
        return device

    def connect(self, a: PlannedPort, b: PlannedPort, kind: str, color: str = "", length: int = 3) -> None:
        """Adds a cable."""
        self.cables.append(PlannedCable(a, b, kind, color, length))
