"""Data of the drawing of a rack, read in a constant number of statements.

Devices and reservations that the user may not view are drawn without details.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.auth.models import User
from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import Base, table_of
from netinv_core.storage import image_headers
from netinv_dcim.choices import FACES
from netinv_dcim.device_types import DeviceRole, DeviceType, Manufacturer
from netinv_dcim.devices import Device, device_name
from netinv_dcim.rack_position import Mounted
from netinv_dcim.rack_views.svg import DeviceDetails, Picture, RackFrame, Reserved, TakenUnits, UnitSize, draw
from netinv_dcim.racks import RackReservation, rack_display_name
from netinv_dcim.virtual_chassis import VirtualChassis
from netinv_tenancy.tenants import Tenant

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAX_PICTURES = 10 * 2**20  # bytes of images in one drawing


def draw_face(
    uow: UnitOfWork, rack: Mapping[str, Any], inside: Sequence[Mounted], face: str, size: UnitSize, *, images: bool
) -> bytes:
    """Returns the SVG drawing of one face of a rack.

    :param rack: row of the rack
    :param inside: devices that are visible on the face
    :param images: draw the images of the device types where they exist
    """
    frame = RackFrame(
        f"{rack_display_name(rack['name'], rack['facility_id'])}: {FACES.labels[face]}",
        rack["u_height"],
        rack["desc_units"],
    )
    rows = device_rows(uow, [device.id for device in inside])
    devices = [
        TakenUnits(device.units, device.face != face, device_details(uow, device, rows.get(device.id), face))
        for device in inside
    ]
    names = [
        device.details.picture
        for device in devices
        if device.details is not None and device.details.picture is not None
    ]
    reserved = reservations(uow, [rack["id"]]).get(rack["id"], [])
    return draw(frame, size, devices, reserved, _pictures(uow, names) if images else {})


def device_rows(uow: UnitOfWork, keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, Any]:
    """Returns the columns that the drawing shows of devices that the user may view, by id. Takes one statement."""
    device, kind, maker = table_of(Device), table_of(DeviceType), table_of(Manufacturer)
    role, chassis = table_of(DeviceRole), table_of(VirtualChassis)
    columns = [
        device.c.id,
        device.c.name,
        device.c.vc_position,
        device.c.serial,
        device.c.asset_tag,
        kind.c.model,
        kind.c.front_image,
        kind.c.rear_image,
    ]
    labelled = [chassis.c.name.label("chassis"), maker.c.name.label("maker"), role.c.name.label("role"), role.c.color]
    statement = (
        sa.select(*columns, *labelled, sa.and_(sa.true(), *visible(uow, DeviceType)).label("pictured"))
        .join_from(device, kind, kind.c.id == device.c.device_type_id)
        .join(maker, maker.c.id == kind.c.manufacturer_id)
        .join(role, role.c.id == device.c.device_role_id)
        .outerjoin(chassis, chassis.c.id == device.c.virtual_chassis_id)
        .where(in_parameter(device.c.id), *visible(uow, Device))
    )
    return {row.id: row for row in uow.execute(statement, {"keys": list(keys)})} if keys else {}


def display_name(row: Any) -> str:
    """Returns the name of a device of :func:`device_rows` as people read it."""
    return device_name(row.name, row.chassis, row.vc_position, row.maker, row.model, row.asset_tag, row.serial)


def device_details(uow: UnitOfWork, device: Mounted, row: Any, face: str) -> DeviceDetails | None:
    """Returns the details of a device, ``None`` if the user may not view it."""
    if row is None:
        return None
    name = display_name(row)
    model = f"{row.maker} {row.model}"
    notes = [f"Role: {row.role}", f"Type: {model} ({device.height}U)"]
    notes += [
        f"{label}: {text}" for label, text in (("Serial number", row.serial), ("Asset tag", row.asset_tag)) if text
    ]
    # The front of a device is on the face that it is mounted on, even if that is the rear of the rack.
    picture = row.front_image if device.face == face else row.rear_image
    url = f"{uow.base}{uow.registry.of_model(Device).path}{row.id}/"
    return DeviceDetails(name, model, row.color, url, notes, picture if row.pictured else None)


def reservations(uow: UnitOfWork, racks: Sequence[uuid.UUID]) -> dict[uuid.UUID, list[Reserved]]:
    """Returns the reservations of racks, by rack. Those that the user may not view have no details. Takes one
    statement.
    """
    table, user, tenant = table_of(RackReservation), table_of(User), table_of(Tenant)
    statement = (
        sa.select(
            table.c.rack_id,
            table.c.units,
            table.c.description,
            user.c.username,
            tenant.c.name,
            sa.and_(sa.true(), *visible(uow, RackReservation)).label("viewed"),
        )
        .join_from(table, user, user.c.id == table.c.user_id)
        .outerjoin(tenant, tenant.c.id == table.c.tenant_id)
        .where(in_parameter(table.c.rack_id))
        .order_by(table.c.created, table.c.id)
    )
    by_rack: dict[uuid.UUID, list[Reserved]] = {}
    for row in uow.execute(statement, {"keys": list(racks)}) if racks else ():
        by_rack.setdefault(row.rack_id, []).append(_reservation_of(row))
    return by_rack


def _reservation_of(row: Any) -> Reserved:
    if not row.viewed:
        return Reserved(row.units)
    notes = [f"User: {row.username}", *([f"Tenant: {row.name}"] if row.name is not None else [])]
    return Reserved(row.units, row.description, notes)


def _pictures(uow: UnitOfWork, names: Iterable[str]) -> dict[str, Picture]:
    """Returns the images with these names. Leaves out images that exceed the total size ``MAX_PICTURES``."""
    pictures: dict[str, Picture] = {}
    remaining = MAX_PICTURES
    for name in dict.fromkeys(names):
        try:
            with uow.files.open(name) as file:
                content = file.read(remaining + 1)
        except OSError:
            continue
        media_type = image_headers.media_type(content[: image_headers.HEADER_LENGTH])
        if media_type is not None and len(content) <= remaining:
            pictures[name] = Picture(media_type, content)
            remaining -= len(content)
    return pictures


def visible(uow: UnitOfWork, model: type[Base]) -> list[Any]:
    """Returns the conditions for objects that the user may view; empty when they may view all of them."""
    endpoint = uow.registry.of_model(model)
    return permissions.visible(uow, endpoint, endpoint.table)
