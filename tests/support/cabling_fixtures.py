"""A cable plant to test on: devices with ends of every kind, panels, circuits, and the cables between them."""

from __future__ import annotations

from typing import Any, NamedTuple

from netinv_testing import Api, Unique

PATHS = {
    "dcim.interface": "/api/dcim/interfaces/",
    "dcim.frontport": "/api/dcim/front-ports/",
    "dcim.rearport": "/api/dcim/rear-ports/",
    "dcim.consoleport": "/api/dcim/console-ports/",
    "dcim.consoleserverport": "/api/dcim/console-server-ports/",
    "dcim.powerport": "/api/dcim/power-ports/",
    "dcim.poweroutlet": "/api/dcim/power-outlets/",
    "dcim.powerfeed": "/api/dcim/power-feeds/",
    "circuits.circuittermination": "/api/circuits/circuit-terminations/",
}
CABLES = "/api/dcim/cables/"
OWN: dict[str, dict[str, Any]] = {
    "dcim.interface": {"type": "1000base-t", "status": "active"},
    "dcim.rearport": {"type": "lc"},
}


class End(NamedTuple):
    """What a cable can be plugged into."""

    label: str
    id: str

    @property
    def path(self) -> str:
        """Where it is served."""
        return f"{PATHS[self.label]}{self.id}/"


class Panel(NamedTuple):
    """A patch panel: a rear port, and the front ports that share it, in the order of their positions."""

    device: str
    rear: End
    fronts: list[End]


class Plant:
    """Makes what is asked for, at one site."""

    def __init__(self, api: Api, unique: Unique) -> None:
        self.api, self.unique = api, unique
        self.site = self._made("/api/dcim/sites/", status="active")
        maker, role = self._made("/api/dcim/manufacturers/"), self._made("/api/dcim/device-roles/")
        kind = api.post("/api/dcim/device-types/", {"manufacturer": maker, "model": unique()})["id"]
        self.hardware = {"device_type": kind, "device_role": role, "site": self.site, "status": "active"}
        self.provider, self.circuit_type = (
            self._made("/api/circuits/providers/"),
            self._made("/api/circuits/circuit-types/"),
        )

    def _made(self, path: str, **fields: Any) -> str:
        name = self.unique()
        found: str = self.api.post(path, {"name": name, "slug": name, **fields})["id"]
        return found

    def device(self, **fields: Any) -> str:
        """A device without components."""
        found: str = self.api.post("/api/dcim/devices/", {"name": self.unique(), **self.hardware, **fields})["id"]
        return found

    def ends(self, label: str, count: int, device: str | None = None, **fields: Any) -> list[End]:
        """Components of a kind, on a device of their own when none is given."""
        owner = device or self.device()
        bodies = [{"device": owner, "name": self.unique(), **OWN.get(label, {}), **fields} for _ in range(count)]
        return [End(label, shown["id"]) for shown in self.api.post(PATHS[label], bodies)]

    def end(self, label: str = "dcim.interface", device: str | None = None, **fields: Any) -> End:
        """A component on a device."""
        return self.ends(label, 1, device, **fields)[0]

    def panel(self, positions: int = 1, **fields: Any) -> Panel:
        """A patch panel with one rear port and as many front ports as it has positions."""
        device = self.device(**fields)
        rear = self.end("dcim.rearport", device, positions=positions)
        bodies = [
            {"device": device, "name": f"{number}", "type": "lc", "rear_port": rear.id, "rear_port_position": number}
            for number in range(1, positions + 1)
        ]
        return Panel(
            device,
            rear,
            [End("dcim.frontport", shown["id"]) for shown in self.api.post(PATHS["dcim.frontport"], bodies)],
        )

    def circuit(self) -> tuple[End, End]:
        """The two sides of a circuit."""
        circuit = self.new_circuit()
        return self.side(circuit, "A"), self.side(circuit, "Z")

    def new_circuit(self) -> str:
        """A circuit without sides."""
        body = {"cid": self.unique(), "provider": self.provider, "type": self.circuit_type, "status": "active"}
        return str(self.api.post("/api/circuits/circuits/", body)["id"])

    def side(self, circuit: str, name: str) -> End:
        """A side of a circuit, at the site."""
        label = "circuits.circuittermination"
        return End(label, self.api.post(PATHS[label], {"circuit": circuit, "term_side": name, "site": self.site})["id"])

    def feed(self) -> End:
        """A power feed."""
        panel = self._made("/api/dcim/power-panels/", site=self.site)
        return End("dcim.powerfeed", self._made("/api/dcim/power-feeds/", power_panel=panel, status="active"))

    def body(self, a: End, b: End, status: str = "connected", **fields: Any) -> dict[str, Any]:
        """A body for a cable."""
        ends = {
            "termination_a_type": a.label,
            "termination_a_id": a.id,
            "termination_b_type": b.label,
            "termination_b_id": b.id,
        }
        return {**ends, "status": status, **fields}

    def cable(self, a: End, b: End, status: str = "connected", **fields: Any) -> str:
        """A cable between two ends; its path."""
        return f"{CABLES}{self.api.post(CABLES, self.body(a, b, status, **fields))['id']}/"

    def cables(self, *pairs: tuple[End, End]) -> list[str]:
        """Cables between pairs of ends, made in one request; their paths."""
        return [f"{CABLES}{shown['id']}/" for shown in self.api.post(CABLES, [self.body(a, b) for a, b in pairs])]

    def leads_to(self, end: End) -> tuple[End | None, bool | None]:
        """Where the path from an end leads, and whether it is reachable."""
        shown = self.api.get(end.path)
        label, found = shown["connected_endpoint_type"], shown["connected_endpoint"]
        return (End(label, found["id"]) if found else None), shown["connected_endpoint_reachable"]

    def trace(self, end: End) -> list[list[str | None]]:
        """The ids along the path from an end, cable by cable."""
        return [[item and item["id"] for item in step] for step in self.api.get(f"{end.path}trace/")]
