"""Positions of devices in racks: the occupied units, the rules for them, and the updates when racks or groups move."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.engine import lock_parents
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Message
from netinv_core.labels import without_id
from netinv_core.read import listing
from netinv_core.read.names import names_in_context
from netinv_core.sql.union import kept_union
from netinv_core.write.referring_rules import through
from netinv_core.write.system_update import system_update
from netinv_dcim.components.device_bays import move_installed_devices
from netinv_dcim.device_types import DeviceType, device_types
from netinv_dcim.devices import Device, devices
from netinv_dcim.locations import base_sites, takers_of, within
from netinv_dcim.racks import Rack, RackGroup, rack_display_name, rack_groups, racks

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

CHILD = "child"
HIDDEN = "A device that you may not view"
UNITS = ("position", "face", "device_type_id")  # columns that say which units of a rack a device occupies


@dataclasses.dataclass(frozen=True)
class Mounted:
    """A device with a position in a rack. It occupies ``height`` units from ``position`` upward.

    A ``deep`` device occupies them on both faces.
    """

    id: uuid.UUID
    rack: uuid.UUID
    position: int
    face: str
    height: int
    deep: bool

    @property
    def units(self) -> range:
        """The occupied units."""
        return range(self.position, self.position + self.height)

    def seen_from(self, face: str) -> bool:
        """Tells if the device occupies its units on this face."""
        return self.deep or self.face == face

    def meets(self, other: Mounted) -> bool:
        """Tells if two different devices occupy the same unit of the same face."""
        same_face = self.rack == other.rack and (self.deep or other.deep or self.face == other.face)
        return same_face and self.id != other.id and not set(self.units).isdisjoint(other.units)


def read_mounted(uow: UnitOfWork, keys: Iterable[uuid.UUID | None]) -> dict[uuid.UUID, Mounted]:
    """Returns the devices with a position in these racks by id, from the bottom. Takes one statement."""
    return mounted_and_types(uow, keys, ())[0]


@dataclasses.dataclass(frozen=True)
class Measures:
    """Height of a device type in rack units, and its depth."""

    id: uuid.UUID
    model: str
    u_height: int
    is_full_depth: bool


def mounted_and_types(
    uow: UnitOfWork, racks: Iterable[uuid.UUID | None], types: Iterable[uuid.UUID]
) -> tuple[dict[uuid.UUID, Mounted], dict[uuid.UUID, Measures]]:
    """Returns the result of :func:`read_mounted`, and the current sizes of device types by id. Takes one statement."""
    rack_ids = [key for key in set(racks) if key is not None]
    if not rack_ids:
        return {}, {}
    rows, kinds = kept_union(uow.registry, "units of racks", _positions_and_types).rows(
        uow, {"racks": rack_ids, "types": list(set(types))}
    )
    rows.sort(key=lambda row: (row[1], row[2], row[0]))
    return {row[0]: Mounted(*row) for row in rows}, {row[0]: Measures(*row) for row in kinds}


def _positions_and_types() -> Iterator[Any]:
    """Yields columns, tables and condition of the parts of a UNION: the devices in racks, then the device types."""
    device, kind = Device.__table__, DeviceType.__table__
    columns = [device.c.id, device.c.rack_id, device.c.position, device.c.face, kind.c.u_height, kind.c.is_full_depth]
    placed = sa.and_(in_parameter(device.c.rack_id, "racks"), device.c.position.is_not(None))
    yield columns, device.join(kind, kind.c.id == device.c.device_type_id), placed
    yield (
        [kind.c.id, kind.c.model, kind.c.u_height, kind.c.is_full_depth],
        kind,
        in_parameter(kind.c.id, "types"),
    )


def fits(device: Mounted, height: int, others: Iterable[Mounted]) -> bool:
    """Tells if a device is within a rack of ``height`` units and overlaps none of the other devices."""
    return device.units.stop - 1 <= height and not any(device.meets(other) for other in others)


def taken_by(names: Mapping[uuid.UUID, str], device: Mounted, others: Iterable[Mounted]) -> list[tuple[int, str]]:
    """The units of a device that others have, each with the name of the other one; those without one are left out."""
    met = [other for other in others if device.meets(other) and other.id in names]
    return [(min(set(device.units) & set(other.units)), names[other.id]) for other in met]


def names_of(uow: UnitOfWork, keys: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
    """The names of those of the devices that the user may view, by id; one statement."""
    label = uow.registry.of_model(Device).label
    return {key: without_id(name) for (_, key), name in names_in_context(uow, [(label, key) for key in keys]).items()}


def a_position_has_a_rack_and_a_face(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a face or position without a rack, and a position without a face."""
    for draft in drafts:
        if draft["rack_id"] is None and draft["face"]:
            draft.reject("face", "Cannot select a rack face without assigning a rack.")
        elif draft["rack_id"] is None and draft["position"] is not None:
            draft.reject("position", "Cannot select a rack position without assigning a rack.")
        elif draft["position"] is not None and not draft["face"]:
            draft.reject("face", "Must specify rack face when defining rack position.")


def only_what_has_height_is_mounted(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a position for a device type of height 0, and a position or face for a child device type."""
    placed = [draft for draft in drafts if draft["position"] is not None or draft["face"]]
    types = listing.rows_of(uow, DeviceType, [draft["device_type_id"] for draft in placed])
    for draft in placed:
        kind = types[draft["device_type_id"]]
        if draft["position"] is not None and kind.u_height == 0:
            draft.reject("position", f"A U0 device type ({kind.model}) cannot be assigned to a rack position.")
        elif kind.subdevice_role == CHILD:
            field = "position" if draft["position"] is not None else "face"
            draft.reject(
                field,
                f"Child device types cannot be assigned to a rack {field}. This is an attribute of the parent device.",
            )


def mounted_devices_do_not_overlap(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a position whose units are occupied or outside of the rack.

    Devices of the same batch are considered in their new positions, in the order of the batch.
    """
    moved = [draft for draft in drafts if draft["position"] is not None]
    if not moved:
        return
    heights = {
        key: rack.u_height for key, rack in listing.rows_of(uow, Rack, [draft["rack_id"] for draft in moved]).items()
    }
    placed, types = mounted_and_types(uow, heights, [draft["device_type_id"] for draft in moved])
    for draft in drafts:
        placed.pop(draft.id, None)
    refused: list[tuple[Draft, Mounted, list[Mounted]]] = []
    for draft in moved:
        kind = types[draft["device_type_id"]]
        device = Mounted(
            draft.id, draft["rack_id"], draft["position"], draft["face"], kind.u_height, kind.is_full_depth
        )
        if not fits(device, heights[device.rack], placed.values()):
            refused.append((draft, device, [other for other in placed.values() if device.meets(other)]))
        placed[draft.id] = device
    names = names_of(uow, {other.id for _, _, others in refused for other in others}) if refused else {}
    names |= {draft.id: draft["name"] for draft in moved if draft.new and draft["name"]}
    for draft, device, others in refused:
        kind, height = types[draft["device_type_id"]], heights[device.rack]
        message = (
            f"U{device.position} is already occupied"
            f" or does not have sufficient space to accommodate this device type: {kind.model} ({kind.u_height}U)"
        )
        reasons = [f"U{unit} is taken by {name}." for unit, name in taken_by(names, device, others)]
        if device.units.stop - 1 > height:
            reasons.append(f"The rack has {height} units.")
        draft.reject("position", Message(message, " ".join([f"{message}.", *reasons])) if reasons else message)


def racks_are_as_tall_as_what_is_in_them(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a height of a rack below its topmost occupied unit."""
    resized = [draft for draft in drafts if not draft.new and draft.changed("u_height")]
    placed = read_mounted(uow, [draft.id for draft in resized]).values()
    for draft in resized:
        minimum = max((device.units.stop - 1 for device in placed if device.rack == draft.id), default=0)
        if draft["u_height"] < minimum:
            draft.reject("u_height", f"Rack must be at least {minimum}U tall to house currently installed devices.")


def mounted_devices_fit_when_their_type_changes(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a height or depth of a device type for which its mounted devices have no space.

    Height 0 is rejected when there are mounted devices. All racks are locked, because a concurrent transaction may
    mount a device of the type in any of them. The device and its rack are named only if the user may view the device.
    """
    changed = {draft.id: draft for draft in drafts if not draft.new and draft.changed("u_height", "is_full_depth")}
    if changed:
        uow.execute(lock_parents(sa.select(Rack.__table__.c.id).order_by(Rack.__table__.c.id)))
    device = Device.__table__
    statement = (
        sa.select(device)
        .where(device.c.device_type_id.in_(list(changed)), device.c.position.is_not(None))
        .order_by(device.c.name_key)
    )
    rows = uow.execute(statement).all() if changed else []
    seen = permissions.visible_ids(uow, uow.registry.of_model(Device), [row.id for row in rows])
    racks = listing.rows_of(uow, Rack, [row.rack_id for row in rows])
    placed = read_mounted(uow, racks)
    for row in rows:
        draft = changed[row.device_type_id]
        placed[row.id] = dataclasses.replace(placed[row.id], height=draft["u_height"], deep=draft["is_full_depth"])
    for row in rows:
        draft, rack = changed[row.device_type_id], racks[row.rack_id]
        if draft.errors:
            continue
        if draft["u_height"] == 0:
            count = sum(other.device_type_id == row.device_type_id for other in rows)
            draft.reject("u_height", f"Unable to set 0U height: Found {count} instances already mounted within racks.")
        elif not fits(placed[row.id], rack.u_height, placed.values()):
            where = f"Device {row.name} in rack {rack_display_name(rack.name, rack.facility_id)}"
            message = f"{where if row.id in seen else HIDDEN} does not have sufficient space"
            if draft.changed("u_height"):
                draft.reject("u_height", f"{message} to accommodate a height of {draft['u_height']}U")
            else:
                draft.reject("is_full_depth", f"{message} in full depth: another device is behind it.")


def devices_move_with_their_rack(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Moves devices with their rack to its site and location. Devices without a location get none."""
    _move_devices(uow, [draft.id for draft in drafts if not draft.new and draft.changed("site_id", "location_id")])


def _move_devices(uow: UnitOfWork, moved: Sequence[uuid.UUID]) -> None:
    """Moves the devices in moved racks to the site and location of the rack, with the devices installed in them."""
    if not moved:
        return
    racks, device = listing.rows_of(uow, Rack, moved), Device.__table__
    endpoint = uow.registry.of_model(Device)
    accepting = takers_of(uow, endpoint.label, [rack.location_id for rack in racks.values()])
    rows = uow.execute(
        sa.select(device.c.id, device.c.rack_id, device.c.location_id).where(device.c.rack_id.in_(list(racks)))
    )
    updates: dict[Any, dict[str, Any]] = {}
    for key, rack_id, location_id in rows:
        rack = racks[rack_id]
        located = location_id is not None and rack.location_id in accepting
        updates[key] = {"site_id": rack.site_id, "location_id": rack.location_id if located else None}
    move_installed_devices(uow, system_update(uow, endpoint, updates))


def racks_move_with_their_group(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Moves the groups below a moved rack group, their racks and the devices in these to the site of the group.

    Their locations are changed to be within the location of the group.
    """
    places = places_of_moved(uow, drafts)
    if not places:
        return
    group, rack = RackGroup.__table__, Rack.__table__
    group_rows = uow.execute(
        sa.select(group).where(group.c.id.in_(places.keys() - {draft.id for draft in drafts}))
    ).all()
    rack_rows = uow.execute(sa.select(rack).where(rack.c.group_id.in_(list(places)))).all()
    move_children(uow, uow.registry.of_model(RackGroup), [(row, *places[row.id]) for row in group_rows])
    _move_devices(
        uow, move_children(uow, uow.registry.of_model(Rack), [(row, *places[row.group_id]) for row in rack_rows])
    )


def places_of_moved(uow: UnitOfWork, drafts: Sequence[Draft]) -> dict[uuid.UUID, tuple[Any, Any]]:
    """Returns the moved rack groups and all groups below them: id of the group → its new ``(site_id, location_id)``."""
    places = {
        draft.id: (draft["site_id"], draft["location_id"])
        for draft in drafts
        if not draft.new and draft.changed("site_id", "location_id")
    }
    groups, level = RackGroup.__table__, list(places)
    while level:
        rows = uow.execute(sa.select(groups.c.id, groups.c.parent_id).where(groups.c.parent_id.in_(level))).all()
        level = [key for key, _ in rows if key not in places]
        places |= {key: places[parent] for key, parent in rows if key not in places}
    return places


def move_children(
    uow: UnitOfWork, endpoint: Endpoint, led: Sequence[tuple[Any, Any, Any]], *, within_location: bool = True
) -> list[Any]:
    """Moves rows to the new site and location of their parent object. Returns the ids of the updated rows.

    A row keeps a location that is within the new location or, without one, at the new site. Any other location becomes
    the new location, or ``None`` if the type of the new location does not accept such objects.

    :param led: each row with the new ``site_id`` and ``location_id`` of its parent
    :param within_location: rows stay below the location of their parent, not at its site only
    """
    ancestors = within(uow, [row.location_id for row, _, _ in led])
    sites = base_sites(uow, [row.location_id for row, _, _ in led])
    accepting = takers_of(uow, endpoint.label, {location_id for _, _, location_id in led})
    updates = {}
    for row, site_id, location_id in led:
        outside = row.location_id is not None and (
            location_id not in ancestors[row.location_id]
            if location_id is not None and within_location
            else sites.get(row.location_id) != site_id
        )
        updates[row.id] = {
            "site_id": site_id,
            "location_id": (location_id if location_id in accepting else None) if outside else row.location_id,
        }
    return system_update(uow, endpoint, updates)


def register() -> None:
    """Registers the functions of this module with resources of other modules. The package calls it once."""
    devices.rule(a_position_has_a_rack_and_a_face)
    of_type = [through("device_type", "subdevice_role")]
    devices.rule(reads=of_type, changing=UNITS)(only_what_has_height_is_mounted)
    racks_alone = through("rack", when=lambda draft: draft["position"] is not None, exclusive=True)
    devices.rule(reads=[racks_alone], changing=["rack_id", *UNITS])(mounted_devices_do_not_overlap)
    racks.rule(racks_are_as_tall_as_what_is_in_them)
    device_types.rule(mounted_devices_fit_when_their_type_changes)
    racks.after_save(devices_move_with_their_rack)
    rack_groups.after_save(racks_move_with_their_group)
