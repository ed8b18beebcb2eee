"""Device bays: slots of a device for another device, whose site, location and rack follow those of the outer device."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.models.associations import unique_set, unique_together
from netinv_core.models.base import Primary
from netinv_core.models.columns import SET_NULL, Ref, foreign_key
from netinv_core.read import listing
from netinv_core.write.draft import ALL
from netinv_core.write.referring_rules import through
from netinv_core.write.system_update import system_update
from netinv_dcim.components.base import ComponentName, component, component_display_name, of_device
from netinv_dcim.device_types import DeviceType
from netinv_dcim.devices import Device, devices

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

PARENT, CHILD = "parent", "child"
PLACE = ("site_id", "location_id", "rack_id")


class DeviceBay(ComponentName, Primary):
    """A place within a device for one other device."""

    __tablename__ = "dcim_device_bay"
    __table_args__ = (unique_set("device_id", "name"), unique_together("installed_device_id"))

    device_id: Mapped[Ref] = of_device("device_bays")
    installed_device_id: Mapped[Ref | None] = foreign_key(Device, on_delete=SET_NULL, one_name="parent_bay")


device_bays = component(DeviceBay, "device-bays")


@device_bays.rule(reads=[through("device", "device_type_id"), through("device.device_type", "subdevice_role")])
def bays_are_in_devices_that_house_others(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a bay of a device whose type is not a parent (``subdevice_role``)."""
    hosts = listing.rows_of(uow, Device, [draft["device_id"] for draft in drafts])
    types = listing.rows_of(uow, DeviceType, [host.device_type_id for host in hosts.values()])
    for draft in drafts:
        kind = types[hosts[draft["device_id"]].device_type_id]
        if kind.subdevice_role != PARENT:
            draft.reject(ALL, f"This type of device ({kind.model}) does not support device bays.")


@device_bays.rule
def devices_are_installed_in_one_other(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a device that is already installed in another bay, or that would be installed in itself.

    A bay that the same request empties does not count. The other bay is named only if the user may view it.
    """
    filling = [draft for draft in drafts if draft["installed_device_id"] is not None]
    bay = DeviceBay.__table__
    visible = sa.and_(sa.true(), *permissions.visible(uow, uow.registry.of_model(DeviceBay), bay)).label("visible")
    statement = sa.select(bay, visible).where(in_parameter(bay.c.installed_device_id))
    rows = uow.execute(statement, {"keys": [draft["installed_device_id"] for draft in filling]}) if filling else ()
    bays_by_device, drafts_by_id = {row.installed_device_id: row for row in rows}, {draft.id: draft for draft in drafts}
    for draft in filling:
        installed = draft["installed_device_id"]
        other = bays_by_device.get(installed)
        if draft["device_id"] == installed:
            draft.reject(ALL, "Cannot install a device into itself.")
        elif (
            other is not None
            and other.id != draft.id
            and (other.id not in drafts_by_id or drafts_by_id[other.id]["installed_device_id"] == installed)
        ):
            bay_name = component_display_name(other.name, other.label) if other.visible else "another device bay"
            message = f"Cannot install the specified device; device is already installed in {bay_name}"
            draft.reject("installed_device", message)


@device_bays.rule(
    reads=[
        through("installed_device", "device_type_id", exclusive=True),  # one bay moves it
        through("installed_device.device_type", "subdevice_role"),
    ]
)
def installed_devices_are_children(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a device in a bay whose type is not a child (``subdevice_role``). Imports keep what they have."""
    filling = [draft for draft in drafts if draft["installed_device_id"] and draft.changed("installed_device_id")]
    inner = listing.rows_of(uow, Device, [draft["installed_device_id"] for draft in filling])
    types = listing.rows_of(uow, DeviceType, [device.device_type_id for device in inner.values()])
    for draft in filling if not uow.importing else ():
        kind = types[inner[draft["installed_device_id"]].device_type_id]
        if kind.subdevice_role != CHILD:
            message = f"Cannot install the specified device; its type ({kind.model}) is not a child device type."
            draft.reject("installed_device", message)


@device_bays.after_save
def devices_go_where_they_are_installed(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Moves newly installed devices to the site, location and rack of the device of the bay. Imports keep theirs."""
    filled = [draft["device_id"] for draft in drafts if draft["installed_device_id"]] if not uow.importing else ()
    move_installed_devices(uow, list(dict.fromkeys(filled)))


def installed_devices_stay_with_their_device(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects another site, location or rack for a device in a bay than that of the device of the bay.

    One SELECT where a device moves. The other device is named only if the user may view it.
    """
    moved = {draft.id: draft for draft in drafts if not draft.new and draft["position"] is None}
    if not moved or uow.importing:
        return
    bay, outer = DeviceBay.__table__, Device.__table__
    joined = bay.join(outer, outer.c.id == bay.c.device_id)
    statement = sa.select(bay.c.installed_device_id, outer.c.id, *[outer.c[name] for name in PLACE]).select_from(joined)
    inside = statement.where(in_parameter(bay.c.installed_device_id))
    apart: list[tuple[Draft, str, Any]] = []
    for row in uow.execute(inside, {"keys": list(moved)}).mappings():
        place = uow.changing_drafts.get(outer, {}).get(row["id"], row)
        draft = moved[row["installed_device_id"]]
        apart += [(draft, name, row["id"]) for name in PLACE if draft.changed(name) and draft[name] != place[name]]
    names = listing.visible_names(uow, uow.registry.of_model(Device), {key for _, _, key in apart}) if apart else {}
    for draft, name, key in apart:
        host = names.get(key, "another device")
        draft.reject(name.removesuffix("_id"), f"The device is in a bay of {host}, and moves with it.")


def installed_devices_go_where_their_device_goes(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """After a device has moved: moves the devices installed in it to its site, location and rack."""
    move_installed_devices(uow, [draft.id for draft in drafts if not draft.new and draft.changed(*PLACE)])


_bay, _inner, _outer = DeviceBay.__table__, Device.__table__, Device.__table__.alias()
# The devices without a rack position that are installed in others, with the places of these.
_installed = (
    sa.select(_inner.c.id, *[_outer.c[name] for name in PLACE])
    .join(_bay, _bay.c.installed_device_id == _inner.c.id)
    .join(_outer, _outer.c.id == _bay.c.device_id)
    .where(in_parameter(_outer.c.id), _inner.c.position.is_(None))
)


def move_installed_devices(uow: UnitOfWork, moved: Collection[Any]) -> None:
    """Copies site, location and rack of these devices to the devices installed in them, level by level.

    A device with a rack position of its own is not moved. One SELECT and one update for each level.
    """
    while moved:
        rows = uow.execute(_installed, {"keys": list(moved)}).mappings()
        values_by_id = {row["id"]: {name: row[name] for name in PLACE} for row in rows}
        moved = system_update(uow, uow.registry.of_model(Device), values_by_id)


def register() -> None:
    """Registers the functions of this module with resources of other modules. The package calls it once."""
    devices.rule(installed_devices_stay_with_their_device, changing=PLACE)
    devices.after_save(installed_devices_go_where_their_device_goes)
