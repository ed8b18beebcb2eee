"""Device types with templates of every kind, their devices, and what differs between them."""

from __future__ import annotations

from typing import Any

from netinv_testing import Api, Unique

DEVICES, TYPES = "/api/dcim/devices/", "/api/dcim/device-types/"
# The kinds by the name of their resource, with their content type and what a template and a component need.
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "console-ports": ("dcim.consoleport", {}),
    "console-server-ports": ("dcim.consoleserverport", {}),
    "power-ports": ("dcim.powerport", {}),
    "power-outlets": ("dcim.poweroutlet", {}),
    "interfaces": ("dcim.interface", {"type": "1000base-t"}),
    "rear-ports": ("dcim.rearport", {"type": "lc", "positions": 4}),
    "front-ports": ("dcim.frontport", {"type": "lc"}),
    "device-bays": ("dcim.devicebay", {}),
}
TEMPLATE_LABELS = [f"{label}template" for label, _ in KINDS.values()]
LABELS = [label for label, _ in KINDS.values()]
# Of the component “1”: the resource, the field, what the component has then; what the type and the device are told to have.
CHANGES: list[tuple[str, str, Any, Any, Any]] = [
    *[(kind, "label", "L1", "", "L1") for kind in KINDS],
    ("console-ports", "type", "usb-c", "", "usb-c"),
    ("console-server-ports", "type", "rj-45", "", "rj-45"),
    ("power-ports", "type", "iec-60320-c14", "", "iec-60320-c14"),
    ("power-ports", "maximum_draw", 500, None, 500),
    ("power-ports", "allocated_draw", 400, None, 400),
    ("power-outlets", "type", "iec-60320-c13", "", "iec-60320-c13"),
    ("power-outlets", "feed_leg", "B", "", "B"),
    ("power-outlets", "power_port", "2", "1", "2"),
    ("power-outlets", "power_port", None, "1", None),
    ("interfaces", "type", "10gbase-t", "1000base-t", "10gbase-t"),
    ("interfaces", "mgmt_only", True, False, True),
    ("rear-ports", "type", "sc", "lc", "sc"),
    ("rear-ports", "positions", 8, 4, 8),
    ("front-ports", "type", "sc", "lc", "sc"),
    ("front-ports", "rear_port", "2", "1", "2"),
    ("front-ports", "rear_port_position", 4, 1, 4),
]


class Hardware:
    """Device types with templates of every kind, called 1 and 2, and their devices."""

    def __init__(self, api: Api, unique: Unique) -> None:
        self.api, self.unique = api, unique
        site, maker, role = (
            self._made(path, **fields)
            for path, fields in (("sites/", {"status": "active"}), ("manufacturers/", {}), ("device-roles/", {}))
        )
        self.maker, self.place = maker, {"site": site, "device_role": role, "status": "active"}

    def _made(self, path: str, **fields: Any) -> str:
        name = self.unique()
        return str(self.api.post(f"/api/dcim/{path}", {"name": name, "slug": name, **fields})["id"])

    def type(self, *names: str) -> str:
        """A device type with templates of these names, of every kind; outlets and front ports lead to their namesakes."""
        body = {"manufacturer": self.maker, "model": self.unique(), "subdevice_role": "parent"}
        made = str(self.api.post(TYPES, body)["id"])
        self.add("-templates", {"device_type": made}, *names)
        return made

    def add(self, suffix: str, owner: dict[str, Any], *names: str) -> None:
        """Templates (the suffix ``-templates``) or components of every kind."""
        keys: dict[tuple[str, str], str] = {}
        for kind, (_, needed) in KINDS.items():
            path, bodies = f"/api/dcim/{kind.removesuffix('s') + suffix + 's' if suffix else kind}/", []
            path = path.replace("-templatess", "-templates")
            for name in names:
                leading = {"power-outlets": "power_port", "front-ports": "rear_port"}.get(kind)
                target = {leading: keys[f"{leading.replace('_', '-')}s", name]} if leading else {}
                bodies.append({**owner, "name": name, **needed, **target})
            for made in self.api.post(path, bodies) if bodies else ():
                keys[kind, made["name"]] = made["id"]

    def device(self, type_: str, **fields: Any) -> str:
        """A device."""
        return self.devices(type_, 1, **fields)[0]

    def devices(self, type_: str, count: int, **fields: Any) -> list[str]:
        """Devices of a type."""
        bodies = [{"name": self.unique(), "device_type": type_, **self.place, **fields} for _ in range(count)]
        return [str(made["id"]) for made in self.api.post(DEVICES, bodies)]

    def components(self, kind: str, device: str) -> dict[str, Any]:
        """The components of a kind by name."""
        found = self.api.get(f"/api/dcim/{kind}/", {"device_id": device, "limit": 0})["results"]
        return {item["name"]: item for item in found}

    def change(self, device: str, kind: str, field: str, value: Any) -> Any:
        """Changes a field of the component 1 of a device, as :data:`CHANGES` has it; the component before."""
        if kind == "front-ports" and field == "rear_port":
            self.api.delete(self.components(kind, device)["2"]["url"])  # it has the position
        if field in ("rear_port", "power_port") and value is not None:
            value = self.components(f"{field.replace('_', '-')}s", device)[value]["id"]
        changed = self.components(kind, device)["1"]
        draw = {"maximum_draw": 900} if field == "allocated_draw" else {}
        self.api.patch(changed["url"], {**draw, field: value})
        return changed

    def templates(self, kind: str, type_: str) -> dict[str, Any]:
        """The templates of a kind by name."""
        found = self.api.get(template_path(kind), {"devicetype_id": type_, "limit": 0})["results"]
        return {item["name"]: item for item in found}


def template_path(kind: str) -> str:
    return f"/api/dcim/{kind.removesuffix('s')}-templates/"


def told(api: Api, device: str) -> list[Any]:
    """The differences of a device."""
    found: list[Any] = api.get(f"{DEVICES}{device}/type-differences/")
    return found
