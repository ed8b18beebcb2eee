"""Moves of objects that take others along: one for each function of the packages that moves objects after a change."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netinv_testing import Api, Unique

AT_LOCATIONS = (
    *("dcim.rackgroup", "dcim.rack", "dcim.device", "dcim.powerpanel", "ipam.vlangroup", "ipam.vlan"),
    *("ipam.prefix", "virtualization.cluster"),
)
# Functions after a change that move nothing: what they write of other objects, clients cannot write.
STILL = {
    *("circuits_know_their_sides", "paths_follow_the_circuit", "paths_follow_the_positions"),
    *("paths_follow_the_rear_port", "ends_know_their_cable", "instantiate_components"),
}


@dataclasses.dataclass(frozen=True)
class Move:
    """A change of the object at ``path``, and the paths of all objects that it is about."""

    path: str
    body: Mapping[str, Any]
    objects: tuple[str, ...]


class Places:
    """Two sites, and what can be at them."""

    def __init__(self, api: Api, unique: Unique) -> None:
        self.api, self.unique = api, unique
        self.here, self.there = (self.made("dcim/sites", status="active")["id"] for _ in range(2))
        self._kind = self.made("dcim/location-types", content_types=AT_LOCATIONS, nestable=True)["id"]
        self._maker, self._role = self.made("dcim/manufacturers")["id"], self.made("dcim/device-roles")["id"]
        self._types = {
            role: api.post(
                "/api/dcim/device-types/",
                {"manufacturer": self._maker, "model": unique(), "u_height": height, "subdevice_role": role},
            )["id"]
            for role, height in (("", 1), ("parent", 1), ("child", 0))
        }

    def made(self, path: str, **fields: Any) -> Any:
        """A new object with a name."""
        return self.api.post(f"/api/{path}/", {"name": self.unique(), **fields})

    def at(self, path: str, **fields: Any) -> Any:
        """A new object at the first site."""
        return self.made(path, **{"site": self.here, **fields})

    def location(self, site: str | None, **fields: Any) -> str:
        """A location that takes everything."""
        return str(self.made("dcim/locations", location_type=self._kind, site=site, status="active", **fields)["id"])

    def device(self, role: str = "", **fields: Any) -> Any:
        """A device, at the first site."""
        kind = {"device_type": self._types[role], "device_role": self._role, "status": "active"}
        return self.at("dcim/devices", **kind, **fields)

    def blade(self, host: Any, **fields: Any) -> Any:
        """A device in a bay of another one."""
        blade = self.device("child", **fields)
        self.made("dcim/device-bays", device=host["id"], installed_device=blade["id"])
        return blade

    def rack(self, **fields: Any) -> list[Any]:
        """A rack, with a mounted device, one that is at the location of the rack, and one with a blade."""
        rack = self.at("dcim/racks", status="active", **fields)
        inside = {"rack": rack["id"], **({"location": fields["location"]} if "location" in fields else {})}
        mounted = self.device(**inside, position=10, face="front")
        host = self.device("parent", rack=rack["id"])
        return [rack, mounted, self.device(**inside), host, self.blade(host, rack=rack["id"])]

    def group(self, **fields: Any) -> list[Any]:
        """A rack group, with one below it, and with what is in both."""
        group = self.at("dcim/rack-groups", **fields)
        below = self.at("dcim/rack-groups", parent=group["id"], **fields)
        racks = [*self.rack(group=group["id"], **fields), *self.rack(group=below["id"], **fields)]
        panels = [self.at("dcim/power-panels", rack_group=one["id"], **fields) for one in (group, below)]
        return [group, below, *racks, *panels]

    def vlans(self, **fields: Any) -> list[Any]:
        """A group of VLANs, with two of them."""
        group = self.at("ipam/vlan-groups", **fields)
        return [
            group,
            *(self.at("ipam/vlans", vid=vid, status="active", group=group["id"], **fields) for vid in (2, 3)),
        ]


def of_rack(places: Places) -> Move:
    """Of a rack, whose devices lose their location."""
    objects = places.rack(location=places.location(places.here))
    return _move(objects, site=places.there, location=None)


def of_rack_group(places: Places) -> Move:
    """Of a rack group, whose racks and devices come to another location."""
    objects = places.group(location=places.location(places.here))
    return _move(objects, site=places.there, location=places.location(places.there))


def of_panels(places: Places) -> Move:
    """Of a rack group without a location, with power panels."""
    return _move(places.group(), site=places.there)


def of_location(places: Places) -> Move:
    """Of a location to another site, with one below it and all that is at both."""
    top = places.location(places.here)
    below = places.location(None, parent=top)
    objects = [
        {"url": f"/api/dcim/locations/{top}/"},
        *places.group(location=below),
        *places.vlans(location=below),
        *places.rack(location=top),
    ]
    prefix = {"prefix": f"{places.unique.ipv6()}::/64", "status": "active", "site": places.here, "location": top}
    objects.append(places.api.post("/api/ipam/prefixes/", prefix))
    cluster_type = places.made("virtualization/cluster-types")["id"]
    objects.append(places.at("virtualization/clusters", type=cluster_type, location=top))
    return _move(objects, site=places.there)


def of_device(places: Places) -> Move:
    """Of a device, with the blade in it."""
    host = places.device("parent")
    return _move([host, places.blade(host)], site=places.there)


def of_bay(places: Places) -> Move:
    """Of a device into a bay of one at another site."""
    host, blade = places.device("parent", site=places.there), places.device("child")
    bay = places.made("dcim/device-bays", device=host["id"])
    return _move([bay, blade], installed_device=blade["id"])


def of_items(places: Places) -> Move:
    """Of an inventory item to another device, with its parts."""
    item = places.made("dcim/inventory-items", device=places.device()["id"])
    part = places.made("dcim/inventory-items", device=item["device"]["id"], parent=item["id"])
    inner = places.made("dcim/inventory-items", device=item["device"]["id"], parent=part["id"])
    return _move([item, part, inner], device=places.device()["id"])


def of_vlans(places: Places) -> Move:
    """Of a group of VLANs."""
    return _move(places.vlans(location=places.location(places.here)), site=places.there, location=None)


def _move(objects: Sequence[Any], **body: Any) -> Move:
    return Move(objects[0]["url"], body, tuple(item["url"] for item in objects))


# The moves by the functions of the packages that make them.
MOVES: dict[str, Callable[[Places], Move]] = {
    "devices_move_with_their_rack": of_rack,
    "racks_move_with_their_group": of_rack_group,
    "panels_move_with_their_group": of_panels,
    "contents_move_with_their_location": of_location,
    "installed_devices_go_where_their_device_goes": of_device,
    "devices_go_where_they_are_installed": of_bay,
    "parts_move_with_their_item": of_items,
    "vlans_move_with_their_group": of_vlans,
}
