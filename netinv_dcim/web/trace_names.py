"""Names and notes of the ends and cables in a drawing of a path, read in three statements.

Ends, cables, devices and circuits that the user may not view are left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.auth import permissions
from netinv_core.fields import Reference
from netinv_core.sql.plan import Row, fetch_together
from netinv_core.sql.plans import custom_plan
from netinv_dcim.cabling.branches import Stop, Visit
from netinv_dcim.cabling.models import CABLE_TYPES, Cabled
from netinv_dcim.cabling.paths import CABLE, End
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet
    from netinv_core.uow import UnitOfWork

METRES = {"km": 1000.0, "m": 1.0, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "in": 0.0254}


@dataclasses.dataclass(frozen=True)
class Holder:
    """The device, circuit or power panel that an end is part of. ``notes`` are its site, rack or provider."""

    key: End
    name: str
    path: str
    notes: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class EndName:
    """The name of an end, the path of its page, and the network that it leads into without a cable."""

    name: str
    path: str
    holder: Holder | None = None
    into: str = ""

    @property
    def whole(self) -> str:
        """The name with that of what the end is part of."""
        return f"{self.holder.name} {self.name}" if self.holder is not None else self.name


@dataclasses.dataclass(frozen=True)
class CableName:
    """The texts about a cable. ``color`` has six hexadecimal digits, or is blank."""

    label: str
    path: str
    status: str
    type: str = ""
    color: str = ""
    length: int | None = None
    length_unit: str = ""

    @property
    def details(self) -> str:
        """Type, length and status."""
        length = f"{self.length} {self.length_unit}" if self.length is not None else ""
        return " · ".join(part for part in (self.type, length, self.status) if part)

    @property
    def metres(self) -> float | None:
        """The length in metres; ``None`` without a length."""
        return None if self.length is None else self.length * METRES[self.length_unit]


@dataclasses.dataclass(frozen=True)
class Names:
    """The ends and cables of a drawing that the user may view."""

    ends: Mapping[End, EndName]
    cables: Mapping[Any, CableName]

    def of(self, end: End) -> str:
        """The whole name of an end."""
        return self.ends[end].whole if end in self.ends else "a hidden end"

    def why(self, visit: Visit) -> str:
        """The reason why the path does not go on from an end; blank where it does."""
        if network := self.network_of(visit):
            return f"it leads into {network}"
        return visit.stop.value if visit.stop is not None else ""

    def network_of(self, visit: Visit) -> str:
        """The name of the network that the path leads into at an end, which is no fault; blank where there is none."""
        name = self.ends.get(visit.end)
        return name.into if visit.stop is Stop.NO_CABLE and name is not None else ""

    def of_cable(self, key: Any) -> str:
        """The name of a cable in a sentence."""
        cable = self.cables.get(key)
        return "a hidden cable" if cable is None else f"cable {cable.label}" if cable.label else "a cable"


def names_of(uow: UnitOfWork, root: Visit) -> Names:
    """The names on all branches from an end."""
    keys: dict[str, set[Any]] = {}
    for visit in root.all():
        keys.setdefault(visit.end.label, set()).add(visit.end.id)
        if visit.line is not None:
            keys.setdefault(CABLE, set()).add(visit.line.id)
    found = _read(uow, keys)
    cables = {key.id: value for key, value in found.items() if key.label == CABLE}
    ends = {key: value for key, value in found.items() if key.label != CABLE}
    holders = _holders(uow, [value["holder"] for value in ends.values() if value["holder"] is not None])
    return Names(
        {key: EndName(**(value | {"holder": holders.get(value["holder"])})) for key, value in ends.items()},
        {key: CableName(**value) for key, value in cables.items()},
    )


def _read(uow: UnitOfWork, keys: Mapping[str, set[Any]]) -> dict[End, dict[str, Any]]:
    """The ends and cables with these ids, by label: one statement."""
    endpoints = {label: uow.registry[label] for label in sorted(keys)}
    plans = [
        (custom_plan(endpoint, "traced", _read_cable if label == CABLE else _read_end), list(keys[label]))
        for label, endpoint in endpoints.items()
    ]
    results = fetch_together(uow, plans, permissions.visible_for(uow))
    return {End(label, key): item for label, items in zip(endpoints, results, strict=True) for key, item in items}


def holder_of(endpoint: Endpoint) -> Endpoint | None:
    """The resource of what the ends of a resource are part of."""
    model: Any = endpoint.model
    field = endpoint.fields.get(model.holder)
    return field.target if isinstance(field, Reference) else None


def _read_end(plan: ReadPlan, place: JoinedTable) -> Any:
    """The reader of an end."""
    endpoint = place.endpoint
    model: Any = endpoint.model
    target = holder_of(endpoint)
    key, name = plan.read(place, "id"), plan.read(place, "display")
    holder = plan.read(place, f"{model.holder}_id") if target is not None else None
    into = plan.read(place, model.leads_into) if model.leads_into else None

    def read(row: Row, page: RowSet) -> dict[str, Any]:
        held = holder(row, page) if holder is not None else None
        return {
            "name": str(name(row, page)),
            "path": object_path(endpoint, key(row, page)),
            "holder": End(target.label, held) if target is not None and held is not None else None,
            "into": str(into(row, page) or "") if into is not None else "",
        }

    return read


def _read_cable(plan: ReadPlan, place: JoinedTable) -> Any:
    """The reader of a cable."""
    names = ("label", "color", "length", "length_unit")
    key, kind, status = (plan.read(place, path) for path in ("id", "type", "status.name"))
    readers = [(name, plan.read(place, name)) for name in names]

    def read(row: Row, page: RowSet) -> dict[str, Any]:
        return {
            **{name: reader(row, page) for name, reader in readers},
            "path": object_path(place.endpoint, key(row, page)),
            "type": CABLE_TYPES.labels.get(kind(row, page) or "", ""),
            "status": str(status(row, page) or ""),
        }

    return read


def _holders(uow: UnitOfWork, keys: Sequence[End]) -> dict[End | None, Holder]:
    """The devices, circuits and other holders of ends; one statement."""
    by_label: dict[str, set[Any]] = {}
    for key in keys:
        by_label.setdefault(key.label, set()).add(key.id)
    endpoints = {label: uow.registry[label] for label in sorted(by_label)}
    notes = notes_by_label(uow, endpoints)
    plans = [
        (custom_plan(endpoint, ("traced holder", notes[label]), _holder_reader(notes[label])), list(by_label[label]))
        for label, endpoint in endpoints.items()
    ]
    results = fetch_together(uow, plans, permissions.visible_for(uow))
    return {
        End(label, key): Holder(End(label, key), **item)
        for label, items in zip(endpoints, results, strict=True)
        for key, item in items
    }


def notes_by_label(uow: UnitOfWork, endpoints: Mapping[str, Endpoint]) -> dict[str, tuple[str, ...]]:
    """The notes about each kind of holder, as the models of its ends declare them."""
    notes: dict[str, tuple[str, ...]] = dict.fromkeys(endpoints, ())
    for endpoint in uow.registry.endpoints.values():
        if issubclass(endpoint.model, Cabled):
            target = holder_of(endpoint)
            if target is not None and target.label in notes:
                notes[target.label] = endpoint.model.holder_notes
    return notes


def _holder_reader(notes: Sequence[str]) -> Any:
    def build(plan: ReadPlan, place: JoinedTable) -> Any:
        key, name = plan.read(place, "id"), plan.read(place, "display")
        readers = [plan.read(place, path) for path in notes]

        def read(row: Row, page: RowSet) -> dict[str, Any]:
            said = [reader(row, page) for reader in readers]
            return {
                "name": str(name(row, page)),
                "path": object_path(place.endpoint, key(row, page)),
                "notes": [str(note) for note in said if note],
            }

        return read

    return build
