"""Plan of the hardware: sites, racks, devices and cables in memory, before they are written."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator

from netinv_demo.company import SiteProfile
from netinv_demo.models import Model

RACK_HEIGHT = 42
INTERFACE, CONSOLE_PORT, CONSOLE_SERVER_PORT = "dcim.interface", "dcim.consoleport", "dcim.consoleserverport"
POWER_PORT, POWER_OUTLET, FRONT_PORT, REAR_PORT = (
    "dcim.powerport",
    "dcim.poweroutlet",
    "dcim.frontport",
    "dcim.rearport",
)


@dataclasses.dataclass(eq=False)
class Rack:
    """A rack with the units that are still free: switches are placed from the top, servers from the bottom."""

    name: str
    site: Site
    group: str
    role: str
    room: str
    feeds: int = 2
    id: str | None = None
    pdus: list[Device] = dataclasses.field(default_factory=list)
    free: list[int] = dataclasses.field(default_factory=lambda: list(range(1, RACK_HEIGHT + 1)))

    def place(self, height: int, *, from_top: bool) -> int:
        """Takes ``height`` adjacent units; returns the lowest of them."""
        units = self.free[-height:] if from_top else self.free[:height]
        if len(units) < height or units[-1] - units[0] != height - 1:
            raise ValueError(f"rack {self.name} is full")
        self.free = self.free[:-height] if from_top else self.free[height:]
        return units[0]


@dataclasses.dataclass(eq=False)
class Device:
    """A device; ``parent`` is the device in a bay of which it is installed."""

    name: str
    model: Model
    role: str
    site: Site
    rack: Rack | None = None
    position: int | None = None
    room: str = ""
    comments: str = ""
    parent: Device | None = None
    id: str | None = None
    used: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def next_interface(self, interface_type: str) -> Port:
        """Returns the first interface of a type that is not used yet.

        :raises ValueError: when all are used
        """
        names = self.model.ports(interface_type)
        number = self.used[interface_type]
        if number >= len(names):
            raise ValueError(f"{self.name} has no further interface {interface_type}")
        self.used[interface_type] += 1
        return Port(self, INTERFACE, names[number])

    def next_component(self, label: str) -> Port:
        """Returns the first console server port or rear port that is not used yet."""
        names = {
            CONSOLE_SERVER_PORT: list(self.model.console_server_ports),
            REAR_PORT: [name for name, _, _ in self.model.rear_ports],
        }[label]
        self.used[label] += 1
        return Port(self, label, names[self.used[label] - 1])

    def interface(self, name: str) -> Port:
        """Returns an interface by name."""
        return Port(self, INTERFACE, name)


@dataclasses.dataclass(frozen=True)
class Port:
    """A component of a device that takes a cable."""

    device: Device
    label: str
    name: str


@dataclasses.dataclass(frozen=True)
class Cable:
    """A cable between two components; ``length`` in metres."""

    a: Port
    b: Port
    type: str
    color: str
    length: int


@dataclasses.dataclass(eq=False)
class Site:
    """A site; ``number`` is its part of addresses: 10.<number>.0.0/16."""

    profile: SiteProfile
    number: int
    id: str | None = None
    rooms: dict[str, str] = dataclasses.field(default_factory=dict)
    racks: list[Rack] = dataclasses.field(default_factory=list)
    devices: list[Device] = dataclasses.field(default_factory=list)
    vlans: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def code(self) -> str:
        """The short name, with which all names at the site begin."""
        return self.profile.code

    def with_role(self, *roles: str) -> list[Device]:
        """Returns the devices with one of some roles."""
        return [device for device in self.devices if device.role in roles]


@dataclasses.dataclass(eq=False)
class Plan:
    """All hardware.

    :ivar stacks: members of each stack of access switches by its name; the first is the master
    :ivar fabric_links: pairs of interfaces that are connected and route
    :ivar wireless_ports: switch ports of access points
    """

    sites: list[Site]
    cables: list[Cable] = dataclasses.field(default_factory=list)
    stacks: dict[str, list[Device]] = dataclasses.field(default_factory=dict)
    fabric_links: list[tuple[Port, Port]] = dataclasses.field(default_factory=list)
    wireless_ports: list[Port] = dataclasses.field(default_factory=list)

    @property
    def devices(self) -> Iterator[Device]:
        """All devices, by site."""
        return (device for site in self.sites for device in site.devices)

    @property
    def racks(self) -> Iterator[Rack]:
        """All racks, by site."""
        return (rack for site in self.sites for rack in site.racks)

    def add_rack(self, site: Site, name: str, group: str, role: str, room: str, *, feeds: int = 2) -> Rack:
        """Adds a rack; its name begins with the code of the site."""
        rack = Rack(f"{site.code.upper()}-{name}", site, group, role, room, feeds)
        site.racks.append(rack)
        return rack

    def add(self, rack: Rack, name: str, model: Model, role: str, *, from_top: bool = True) -> Device:
        """Adds a device to a rack; device types of height 0 get no position."""
        position = rack.place(model.u_height, from_top=from_top) if model.u_height else None
        device = Device(f"{rack.site.code}-{name}", model, role, rack.site, rack, position, rack.room)
        rack.site.devices.append(device)
        return device

    def connect(self, a: Port, b: Port, kind: str, color: str = "", length: int = 3) -> None:
        """Adds a cable."""
        self.cables.append(Cable(a, b, kind, color, length))
