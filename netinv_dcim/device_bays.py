"""Device bays: places within a device where another device is installed, which then goes where that device goes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permits
from netinv_core.context import Context
from netinv_core.database import among
from netinv_core.model import SET_NULL, Primary, Ref, to, unique_set, unique_together
from netinv_core.read import pages
from netinv_core.write.amend import amend
from netinv_core.write.draft import ALL, Draft
from netinv_dcim.components import Named, component, component_words, of_device
from netinv_dcim.device_types import DeviceType
from netinv_dcim.devices import Device, devices

PARENT = "parent"
PLACE = ("site_id", "location_id", "rack_id")


class DeviceBay(Named, Primary):
    """A place within a device for one other device."""

    __tablename__ = "dcim_device_bay"
    __table_args__ = (unique_set("device_id", "name"), unique_together("installed_device_id"))

    device_id: Mapped[Ref] = of_device("device_bays")
    installed_device_id: Mapped[Ref | None] = to(Device, on_delete=SET_NULL)


device_bays = component(DeviceBay, "device-bays")


@device_bays.rule
def bays_are_in_devices_that_house_others(context: Context, drafts: Sequence[Draft]) -> None:
    """Only a device of a type that houses others has bays."""
    hosts = pages.rows_of(context, Device, [draft["device_id"] for draft in drafts])
    types = pages.rows_of(context, DeviceType, [host.device_type_id for host in hosts.values()])
    for draft in drafts:
        kind = types[hosts[draft["device_id"]].device_type_id]
        if kind.subdevice_role != PARENT:
            draft.reject(ALL, f"This type of device ({kind.model}) does not support device bays.")


@device_bays.rule
def devices_are_installed_in_one_other(context: Context, drafts: Sequence[Draft]) -> None:
    """A device is in one bay at most, and not in one of its own."""
    filling = [draft for draft in drafts if draft["installed_device_id"] is not None]
    bay = DeviceBay.__table__
    visible = sa.and_(sa.true(), *permits.visible(context, context.registry.of_model(DeviceBay), bay)).label("visible")
    statement = sa.select(bay, visible).where(among(context.registry.dialect, bay.c.installed_device_id))
    rows = context.execute(statement, {"keys": [draft["installed_device_id"] for draft in filling]}) if filling else ()
    held, own = {row.installed_device_id: row for row in rows}, {draft.id: draft for draft in drafts}
    for draft in filling:
        installed = draft["installed_device_id"]
        other = held.get(installed)
        if draft["device_id"] == installed:
            draft.reject(ALL, "Cannot install a device into itself.")
        elif other is not None and other.id != draft.id and (other.id not in own or own[other.id]["installed_device_id"] == installed):
            words = component_words(other.name, other.label) if other.visible else "another device bay"
            draft.reject("installed_device", f"Cannot install the specified device; device is already installed in {words}")


@devices.effect
def installed_devices_go_where_their_device_goes(context: Context, drafts: Sequence[Draft]) -> None:
    """What is installed in a device that moves moves along."""
    take_along(context, [draft.id for draft in drafts if not draft.new and draft.changed(*PLACE)])


def take_along(context: Context, moved: Collection[Any]) -> None:
    """Brings what is installed in these devices to where they are now, at any depth; what has a position of its own in a rack stays there."""
    bay, inner, outer = DeviceBay.__table__, Device.__table__, Device.__table__.alias()
    statement = (
        sa.select(inner.c.id, *[outer.c[name] for name in PLACE])
        .join(bay, bay.c.installed_device_id == inner.c.id)
        .join(outer, outer.c.id == bay.c.device_id)
        .where(among(context.registry.dialect, outer.c.id), inner.c.position.is_(None))
    )
    while moved:
        rows = context.execute(statement, {"keys": list(moved)}).mappings()
        moved = amend(context, context.registry.of_model(Device), {row["id"]: {name: row[name] for name in PLACE} for row in rows})
