"""The data that is measured on: a made-up inventory in proportions like those of a real one, the same on every run."""

from __future__ import annotations

import dataclasses
import ipaddress
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.client import Client

Row = dict[str, Any]
Progress = Callable[[str, int, int], None]

BATCH = 1000
CONTINENTS, COUNTRIES = 4, 5
TENANTS, TYPES, ROLES = 10, 20, 5
SITES, RACKS, DEVICES, WIRED, INTERFACES = 10, 50, 2000, 500, 10  # for each unit of scale
BLOCKS, PREFIXES, VLANS, ADDRESSES = 4, 150, 500, 20000  # of these, PREFIXES for each block
PAIRS, POSITIONS, DRAWS, CONSOLES = (
    52,
    48,
    2500,
    2500,
)  # pairs of patch panels, the positions of each; cabled power and console ports
MAX = 64  # units of scale, each with BLOCKS /16 of 10.0.0.0/8


@dataclasses.dataclass
class World:
    """Created objects: ids by resource, and how long each resource took."""

    scale: int
    ids: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """How many objects of each resource there are."""
        return {path: len(found) for path, found in self.ids.items()}


def seed(client: Client, scale: int, progress: Progress) -> World:
    """Makes the world through bulk POST, ``BATCH`` objects a request."""
    world = World(scale)
    for path, total, rows in _parts(world, scale):
        world.ids.setdefault(path, [])
        began = time.perf_counter()
        batch: list[Row] = []
        for done, row in enumerate(rows, 1):
            batch.append(row)
            if len(batch) == BATCH or done == total:
                world.ids[path] += [item["id"] for item in client.call("POST", path, batch, expect=201)]
                progress(path, done, total)
                batch = []
        world.seconds[path] = world.seconds.get(path, 0) + time.perf_counter() - began
    return world


def _parts(world: World, scale: int) -> Iterator[tuple[str, int, Iterator[Row]]]:
    """Path, number of objects and bodies, in an order in which what is referred to comes first."""
    ids = world.ids
    yield "tenancy/tenant-groups/", 2, _each(2, lambda i: {"name": f"Group {i}"})
    yield (
        "tenancy/tenants/",
        TENANTS,
        _each(TENANTS, lambda i: {"name": f"Tenant {i}", "group": _of(ids, "tenancy/tenant-groups/", i)}),
    )
    yield "dcim/regions/", CONTINENTS, _each(CONTINENTS, lambda i: {"name": f"Continent {i}"})
    countries = CONTINENTS * COUNTRIES
    yield (
        "dcim/regions/",
        countries,
        _each(countries, lambda i: {"name": f"Country {i}", "parent": ids["dcim/regions/"][i % CONTINENTS]}),
    )
    yield "dcim/manufacturers/", 4, _each(4, lambda i: {"name": f"Manufacturer {i}"})
    yield (
        "dcim/device-types/",
        TYPES,
        _each(TYPES, lambda i: {"manufacturer": _of(ids, "dcim/manufacturers/", i), "model": f"Model {i}"}),
    )
    yield "dcim/device-roles/", ROLES, _each(ROLES, lambda i: {"name": f"Role {i}", "color": f"{i:06x}"})
    yield "dcim/platforms/", ROLES, _each(ROLES, lambda i: {"name": f"Platform {i}"})
    yield "dcim/sites/", SITES * scale, _each(SITES * scale, lambda i: _site(ids, i))
    yield "dcim/racks/", RACKS * scale, _each(RACKS * scale, lambda i: _rack(ids, i))
    yield "dcim/devices/", DEVICES * scale, _each(DEVICES * scale, lambda i: _device(ids, i))
    interfaces = WIRED * INTERFACES * scale
    yield "dcim/interfaces/", interfaces, _each(interfaces, lambda i: _interface(ids, i))
    yield "ipam/vlans/", VLANS * scale, _each(VLANS * scale, lambda i: _vlan(ids, i))
    yield (
        "ipam/prefixes/",
        BLOCKS * scale,
        _each(BLOCKS * scale, lambda i: {"prefix": f"10.{i}.0.0/16", "status": "container"}),
    )
    prefixes = BLOCKS * PREFIXES * scale
    yield "ipam/prefixes/", prefixes, _each(prefixes, lambda i: _prefix(ids, i))
    yield "ipam/ip-addresses/", ADDRESSES * scale, _each(ADDRESSES * scale, lambda i: _address(ids, i, prefixes))
    yield from _plant(ids, scale)


def _plant(ids: dict[str, list[str]], scale: int) -> Iterator[tuple[str, int, Iterator[Row]]]:
    """Patch panels on the last devices, in pairs that a trunk connects; interfaces on their front ports; power and
    console cables.
    """
    panels = 2 * PAIRS * scale
    yield (
        "dcim/rear-ports/",
        panels,
        _each(
            panels,
            lambda i: {"device": ids["dcim/devices/"][-1 - i], "name": "rear", "type": "mpo", "positions": POSITIONS},
        ),
    )
    yield "dcim/front-ports/", panels * POSITIONS, _each(panels * POSITIONS, lambda i: _front_port(ids, i))
    for path, number in (
        ("power-ports", DRAWS),
        ("power-outlets", DRAWS),
        ("console-ports", CONSOLES),
        ("console-server-ports", CONSOLES),
    ):
        yield (
            f"dcim/{path}/",
            number * scale,
            _each(number * scale, lambda i: {"device": _of(ids, "dcim/devices/", i), "name": f"port {i}"}),
        )
    wired = min(len(ids["dcim/interfaces/"]), panels * POSITIONS)
    ways = [
        (wired, "interface", "dcim/interfaces/", "frontport", "dcim/front-ports/", 0),
        (panels // 2, "rearport", "dcim/rear-ports/", "rearport", "dcim/rear-ports/", panels // 2),
        (DRAWS * scale, "powerport", "dcim/power-ports/", "poweroutlet", "dcim/power-outlets/", 0),
        (CONSOLES * scale, "consoleport", "dcim/console-ports/", "consoleserverport", "dcim/console-server-ports/", 0),
    ]
    for number, a, near, b, far, shift in ways:
        yield (
            "dcim/cables/",
            number,
            _each(
                number,
                lambda i, a=a, b=b, near=near, far=far, shift=shift: cable(a, ids[near][i], b, ids[far][i + shift]),
            ),
        )  # type: ignore[misc]


def _front_port(ids: dict[str, list[str]], i: int) -> Row:
    panel = i // POSITIONS
    number = i % POSITIONS + 1
    return {
        "device": ids["dcim/devices/"][-1 - panel],
        "name": f"front {number}",
        "type": "lc",
        "rear_port": ids["dcim/rear-ports/"][panel],
        "rear_port_position": number,
    }


def cable(a: str, a_id: str, b: str, b_id: str) -> Row:
    """A body for a cable between two ends of dcim."""
    ends = {
        "termination_a_type": f"dcim.{a}",
        "termination_a_id": a_id,
        "termination_b_type": f"dcim.{b}",
        "termination_b_id": b_id,
    }
    return {**ends, "status": "connected"}


def _each(number: int, make: Callable[[int], Row]) -> Iterator[Row]:
    return (make(i) for i in range(number))


def _of(ids: dict[str, list[str]], path: str, i: int) -> str:
    return ids[path][i % len(ids[path])]


def _site(ids: dict[str, list[str]], i: int) -> Row:
    country = ids["dcim/regions/"][CONTINENTS + i % (CONTINENTS * COUNTRIES)]
    return {
        "name": f"Site {i}",
        "status": "active",
        "region": country,
        "tenant": _of(ids, "tenancy/tenants/", i),
        "asn": 64512 + i,
    }


def _rack(ids: dict[str, list[str]], i: int) -> Row:
    return {"name": f"Rack {i}", "site": _of(ids, "dcim/sites/", i), "status": "active", "u_height": 42, "width": 19}


def _device(ids: dict[str, list[str]], i: int) -> Row:
    racks, sites = ids["dcim/racks/"], ids["dcim/sites/"]
    rack = i % len(racks)
    return {
        "name": f"device-{i:05}",
        "device_type": _of(ids, "dcim/device-types/", i),
        "device_role": _of(ids, "dcim/device-roles/", i),
        "platform": _of(ids, "dcim/platforms/", i),
        "tenant": _of(ids, "tenancy/tenants/", i),
        "site": sites[rack % len(sites)],
        "rack": racks[rack],
        "position": 1 + i // len(racks),
        "face": "front",
        "serial": f"SN{i:08}",
        "status": "active",
    }


def _interface(ids: dict[str, list[str]], i: int) -> Row:
    return {
        "device": ids["dcim/devices/"][i // INTERFACES],
        "name": f"Ethernet{i % INTERFACES}",
        "type": "1000base-t",
        "status": "active",
    }


def _vlan(ids: dict[str, list[str]], i: int) -> Row:
    return {"vid": 1 + i % 4000, "name": f"VLAN {i}", "site": _of(ids, "dcim/sites/", i), "status": "active"}


def network(i: int) -> str:
    """The /24 number ``i`` of the world."""
    return f"10.{i // PREFIXES}.{i % PREFIXES}.0/24"


def _prefix(ids: dict[str, list[str]], i: int) -> Row:
    vlan, site = _of(ids, "ipam/vlans/", i), _of(ids, "dcim/sites/", i % VLANS)
    return {
        "prefix": network(i),
        "status": "active",
        "site": site,
        "vlan": vlan,
        "tenant": _of(ids, "tenancy/tenants/", i),
    }


def _address(ids: dict[str, list[str]], i: int, prefixes: int) -> Row:
    host = ipaddress.ip_network(network(i % prefixes))[1 + i // prefixes]
    row: Row = {"address": f"{host}/24", "status": "active", "dns_name": f"host-{i}.example.com"}
    if i < len(ids["dcim/interfaces/"]):
        row |= {"assigned_object_type": "dcim.interface", "assigned_object_id": ids["dcim/interfaces/"][i]}
    return row
