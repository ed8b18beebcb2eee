"""The position of a device in its form: the units of the chosen rack and face, instead of a number. Those that are
taken say by what, and cannot be chosen.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import table_of
from netinv_dcim.rack_position import Mounted, fits, mounted_and_types, names_of, taken_by
from netinv_dcim.racks import Rack, RackReservation
from netinv_web.forms.controls import ChoiceOffer, OfferedChoices

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

RACK, TYPE, FACE = "rack", "device_type", "face"  # controls that decide
FIRST = "Choose a rack to see its free units."
NOTHING_FREE = "No units of this rack are free on this face."


def _offer_units(uow: UnitOfWork, values: Mapping[str, str], key: Any) -> OfferedChoices:
    """The positions within the rack for a device of the chosen type, from the top, and a sentence where it fits into
    none; four statements, none without a rack.
    """
    racks = uow.registry["dcim.rack"]
    rack_id, type_id = racks.parse_key(values.get(RACK, "")), racks.parse_key(values.get(TYPE, ""))
    table = table_of(Rack)
    limits = permissions.visible(uow, racks, table)
    row = uow.execute(sa.select(table.c.u_height).where(table.c.id == rack_id, *limits)).first() if rack_id else None
    if row is None or not isinstance(rack_id, uuid.UUID):
        return OfferedChoices(None, FIRST)
    devices, types = mounted_and_types(uow, [rack_id], [type_id] if isinstance(type_id, uuid.UUID) else [])
    measures = next(iter(types.values()), None)
    height, deep = (measures.u_height, measures.is_full_depth) if measures is not None else (1, True)
    if not height:
        return OfferedChoices([], "Devices of this type take no units.")
    others = [device for device in devices.values() if device.id != key]
    face, reserved = values.get(FACE) or "front", _reserved_units(uow, rack_id)
    names = names_of(uow, [device.id for device in others])
    choices, taken = [], []
    for unit in range(row.u_height - height + 1, 0, -1):
        device = Mounted(uuid.UUID(int=0), rack_id, unit, face, height, deep)
        if fits(device, row.u_height, others):
            choices.append((str(unit), _label(device.units, reserved)))
        else:
            by = [name for _, name in taken_by(names, device, others)]
            choices.append((str(unit), f"{_label(device.units, ())}, taken{' by ' if by else ''}{', '.join(by)}"))
            taken.append(str(unit))
    return OfferedChoices(choices, "" if len(choices) > len(taken) else NOTHING_FREE, taken)


def _label(units: Sequence[int], reserved: Iterable[int]) -> str:
    """Units in words: ``U10``, ``U10–U11, reserved``."""
    name = f"U{units[0]}" if len(units) == 1 else f"U{units[0]}–U{units[-1]}"
    return f"{name}, reserved" if set(units) & set(reserved) else name


def _reserved_units(uow: UnitOfWork, rack_id: uuid.UUID) -> set[int]:
    """The units of reservations that the user may view."""
    table, endpoint = table_of(RackReservation), uow.registry.of_model(RackReservation)
    limits = permissions.visible(uow, endpoint, table)
    rows = uow.execute(sa.select(table.c.units).where(table.c.rack_id == rack_id, *limits)).scalars()
    lists = (json.loads(units) if isinstance(units, str) else units for units in rows)
    return {int(unit) for units in lists for unit in units}


CONTROLS = {("dcim.device", "position"): ChoiceOffer("Show free units", (RACK, FACE, TYPE), _offer_units)}


@hookimpl
def netinv_web_controls() -> Mapping[Any, Any]:
    """The position of a device, chosen among the free units of its rack."""
    return CONTROLS
