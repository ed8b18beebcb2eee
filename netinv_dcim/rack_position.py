"""Mounting: which units of a rack a device takes, what fits where, and what moves along with a rack."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core.db.engine import in_parameter, lock_parents
from netinv_core.endpoint import Endpoint
from netinv_core.read import listing
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_core.write.system_update import system_update
from netinv_dcim.components.device_bays import move_installed_devices
from netinv_dcim.device_types import DeviceType, device_types
from netinv_dcim.devices import Device, devices
from netinv_dcim.locations import base_sites, takers_of, within
from netinv_dcim.racks import Rack, RackGroup, rack_display_name, rack_groups, racks

CHILD = "child"


@dataclasses.dataclass(frozen=True)
class Mounted:
    """A device in a rack: it takes ``height`` units from ``position`` upward, on both faces when it is ``deep``."""

    id: uuid.UUID
    rack: uuid.UUID
    position: int
    face: str
    height: int
    deep: bool

    @property
    def units(self) -> range:
        """The units it takes."""
        return range(self.position, self.position + self.height)

    def seen_from(self, face: str) -> bool:
        """Whether it takes its units on this face."""
        return self.deep or self.face == face

    def meets(self, other: Mounted) -> bool:
        """Whether both take the same unit of the same face."""
        sides = self.rack == other.rack and (self.deep or other.deep or self.face == other.face)
        return sides and self.id != other.id and not set(self.units).isdisjoint(other.units)


def mounted(uow: UnitOfWork, keys: Iterable[uuid.UUID | None]) -> dict[uuid.UUID, Mounted]:
    """The devices that have a position in these racks, from the bottom, by their own id; one statement."""
    return mounted_and_types(uow, keys, ())[0]


@dataclasses.dataclass(frozen=True)
class Measures:
    """The units of a rack that a device type takes."""

    id: uuid.UUID
    model: str
    u_height: int
    is_full_depth: bool


def mounted_and_types(
    uow: UnitOfWork, racks: Iterable[uuid.UUID | None], types: Iterable[uuid.UUID]
) -> tuple[dict[uuid.UUID, Mounted], dict[uuid.UUID, Measures]]:
    """The devices that have a position in racks, as :func:`mounted` gives them, and device types as they are now; one statement."""
    wanted = [key for key in set(racks) if key is not None]
    if not wanted:
        return {}, {}
    rows, kinds = uow.registry.union("units of racks", lambda: _places_and_types(uow.registry.dialect)).rows(
        uow, {"racks": wanted, "types": list(set(types))}
    )
    rows.sort(key=lambda row: (row[1], row[2], row[0]))
    return {row[0]: Mounted(*row) for row in rows}, {row[0]: Measures(*row) for row in kinds}


def _places_and_types(dialect: str) -> Iterator[Any]:
    device, kind = Device.__table__, DeviceType.__table__
    columns = [device.c.id, device.c.rack_id, device.c.position, device.c.face, kind.c.u_height, kind.c.is_full_depth]
    placed = sa.and_(in_parameter(dialect, device.c.rack_id, "racks"), device.c.position.is_not(None))
    yield columns, device.join(kind, kind.c.id == device.c.device_type_id), placed
    yield [kind.c.id, kind.c.model, kind.c.u_height, kind.c.is_full_depth], kind, in_parameter(dialect, kind.c.id, "types")


def fits(device: Mounted, height: int, others: Iterable[Mounted]) -> bool:
    """Whether a device is within a rack of ``height`` units and meets none of the others."""
    return device.units.stop - 1 <= height and not any(device.meets(other) for other in others)


def a_position_has_a_rack_and_a_face(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Face and position are those of a rack, and a position is on a face of it."""
    for draft in drafts:
        if draft["rack_id"] is None and draft["face"]:
            draft.reject("face", "Cannot select a rack face without assigning a rack.")
        elif draft["rack_id"] is None and draft["position"] is not None:
            draft.reject("position", "Cannot select a rack position without assigning a rack.")
        elif draft["position"] is not None and not draft["face"]:
            draft.reject("face", "Must specify rack face when defining rack position.")


def only_what_has_height_is_mounted(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A device without height has no position; a device within another has the place of that one."""
    placed = [draft for draft in drafts if draft["position"] is not None or draft["face"]]
    types = listing.rows_of(uow, DeviceType, [draft["device_type_id"] for draft in placed])
    for draft in placed:
        kind = types[draft["device_type_id"]]
        if draft["position"] is not None and kind.u_height == 0:
            draft.reject("position", f"A U0 device type ({kind.model}) cannot be assigned to a rack position.")
        elif kind.subdevice_role == CHILD:
            field = "position" if draft["position"] is not None else "face"
            draft.reject(field, f"Child device types cannot be assigned to a rack {field}. This is an attribute of the parent device.")


def mounted_devices_do_not_overlap(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A device takes units of its rack that no other takes, those of the same batch included."""
    moved = [draft for draft in drafts if draft["position"] is not None and draft.changed("rack_id", "position", "face", "device_type_id")]
    if not moved:
        return
    heights = {key: rack.u_height for key, rack in listing.rows_of(uow, Rack, [draft["rack_id"] for draft in moved], locked=True).items()}
    taken, types = mounted_and_types(uow, heights, [draft["device_type_id"] for draft in moved])
    for draft in drafts:
        taken.pop(draft.id, None)
    for draft in moved:
        kind = types[draft["device_type_id"]]
        here = Mounted(draft.id, draft["rack_id"], draft["position"], draft["face"], kind.u_height, kind.is_full_depth)
        if not fits(here, heights[here.rack], taken.values()):
            message = f"U{here.position} is already occupied or does not have sufficient space to accommodate this device type"
            draft.reject("position", f"{message}: {kind.model} ({kind.u_height}U)")
        taken[draft.id] = here


def racks_are_as_tall_as_what_is_in_them(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A rack does not become shorter than the topmost unit that is taken."""
    shorter = [draft for draft in drafts if not draft.new and draft.changed("u_height")]
    inside = mounted(uow, [draft.id for draft in shorter]).values()
    for draft in shorter:
        needed = max((device.units.stop - 1 for device in inside if device.rack == draft.id), default=0)
        if draft["u_height"] < needed:
            draft.reject("u_height", f"Rack must be at least {needed}U tall to house currently installed devices.")


def mounted_devices_fit_when_their_type_changes(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A type does not become taller or deeper than the places of its devices allow, nor lose its height while one is mounted."""
    changed = {draft.id: draft for draft in drafts if not draft.new and draft.changed("u_height", "is_full_depth")}
    if changed:  # a device of the type may be on its way into any rack
        uow.execute(lock_parents(sa.select(Rack.__table__.c.id).order_by(Rack.__table__.c.id)))
    device = Device.__table__
    statement = sa.select(device).where(device.c.device_type_id.in_(list(changed)), device.c.position.is_not(None)).order_by(device.c.name_key)
    found = uow.execute(statement).all() if changed else []
    frames = listing.rows_of(uow, Rack, [row.rack_id for row in found])
    taken = mounted(uow, frames)
    for row in found:
        draft = changed[row.device_type_id]
        taken[row.id] = dataclasses.replace(taken[row.id], height=draft["u_height"], deep=draft["is_full_depth"])
    for row in found:
        draft, frame = changed[row.device_type_id], frames[row.rack_id]
        if draft.errors:
            continue
        if draft["u_height"] == 0:
            count = sum(other.device_type_id == row.device_type_id for other in found)
            draft.reject("u_height", f"Unable to set 0U height: Found {count} instances already mounted within racks.")
        elif not fits(taken[row.id], frame.u_height, taken.values()):
            words = f"Device {row.name} in rack {rack_display_name(frame.name, frame.facility_id)} does not have sufficient space"
            draft.reject("u_height", f"{words} to accommodate a height of {draft['u_height']}U")


def devices_move_with_their_rack(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """What is in a rack is where the rack is; what had no location needs none now."""
    _move_devices(uow, [draft.id for draft in drafts if not draft.new and draft.changed("site_id", "location_id")])


def _move_devices(uow: UnitOfWork, moved: Sequence[uuid.UUID]) -> None:
    if not moved:
        return
    frames, device = listing.rows_of(uow, Rack, moved), Device.__table__
    endpoint = uow.registry.of_model(Device)
    takers = takers_of(uow, endpoint.label, [frame.location_id for frame in frames.values()])
    inside = uow.execute(sa.select(device.c.id, device.c.rack_id, device.c.location_id).where(device.c.rack_id.in_(list(frames))))
    wanted: dict[Any, dict[str, Any]] = {}
    for key, rack, place in inside:
        frame = frames[rack]
        placed = place is not None and frame.location_id in takers
        wanted[key] = {"site_id": frame.site_id, "location_id": frame.location_id if placed else None}
    move_installed_devices(uow, system_update(uow, endpoint, wanted))


def racks_move_with_their_group(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """What is in a group, or in one below it, is at the group's site, and its location within that of the group."""
    places = places_of_moved(uow, drafts)
    if not places:
        return
    groups, frames = RackGroup.__table__, Rack.__table__
    below = uow.execute(sa.select(groups).where(groups.c.id.in_(places.keys() - {draft.id for draft in drafts}))).all()
    inside = uow.execute(sa.select(frames).where(frames.c.group_id.in_(list(places)))).all()
    move_children(uow, uow.registry.of_model(RackGroup), [(row, *places[row.id]) for row in below])
    _move_devices(uow, move_children(uow, uow.registry.of_model(Rack), [(row, *places[row.group_id]) for row in inside]))


def places_of_moved(uow: UnitOfWork, drafts: Sequence[Draft]) -> dict[uuid.UUID, tuple[Any, Any]]:
    """The rack groups that have come to another site or location, and all below them, each with where that is."""
    places = {draft.id: (draft["site_id"], draft["location_id"]) for draft in drafts if not draft.new and draft.changed("site_id", "location_id")}
    groups, level = RackGroup.__table__, list(places)
    while level:
        rows = uow.execute(sa.select(groups.c.id, groups.c.parent_id).where(groups.c.parent_id.in_(level))).all()
        level = [key for key, _ in rows if key not in places]
        places |= {key: places[parent] for key, parent in rows if key not in places}
    return places


def move_children(uow: UnitOfWork, endpoint: Endpoint, led: Sequence[tuple[Any, Any, Any]]) -> list[Any]:
    """Moves rows to where what they belong to has come, each row given with that site and location; the ids of those that moved.

    A location that is not within the new one is left for it, if that takes such objects; one at another site, for none.
    """
    above = within(uow, [row.location_id for row, _, _ in led])
    at = base_sites(uow, [row.location_id for row, _, _ in led])
    takers = takers_of(uow, endpoint.label, {place for _, _, place in led})
    wanted = {}
    for row, site, place in led:
        outside = row.location_id is not None and (place not in above[row.location_id] if place is not None else at.get(row.location_id) != site)
        wanted[row.id] = {"site_id": site, "location_id": (place if place in takers else None) if outside else row.location_id}
    return system_update(uow, endpoint, wanted)


def register() -> None:
    """Registers the functions of this module with resources of other modules: once, by the package."""
    devices.rule(a_position_has_a_rack_and_a_face)
    devices.rule(only_what_has_height_is_mounted)
    devices.rule(mounted_devices_do_not_overlap)
    racks.rule(racks_are_as_tall_as_what_is_in_them)
    device_types.rule(mounted_devices_fit_when_their_type_changes)
    racks.after_save(devices_move_with_their_rack)
    rack_groups.after_save(racks_move_with_their_group)
