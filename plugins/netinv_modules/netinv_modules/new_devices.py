"""Bays of new devices, made from the templates of their type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core import Change, UnitOfWork, in_parameter, save
from netinv_dcim.devices import Device
from netinv_modules.bays import ModuleBay, ModuleBayTemplate

COPIED = ("name", "label", "position", "description")


def add_bays(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Creates the bays of new devices: a constant number of statements for any number of devices.

    An import brings bays of its own.
    """
    keys: list[Any] = [
        change.key for change in changes if change.endpoint.label == "dcim.device" and change.action == "create"
    ]
    if not keys or uow.importing:
        return
    device, template = Device.__table__, ModuleBayTemplate.__table__
    statement = (
        sa.select(device.c.id.label("device"), *[template.c[name] for name in COPIED])
        .join(template, template.c.device_type_id == device.c.device_type_id)
        .where(in_parameter(device.c.id))
        .order_by(device.c.id, template.c.name_key)
    )
    bodies = [{**row, "device": str(row["device"])} for row in uow.execute(statement, {"keys": keys}).mappings()]
    if bodies:
        save.create(uow.as_system(), uow.registry.of_model(ModuleBay), bodies)
