"""Primary addresses: what a device is reached at is assigned to one of its own interfaces, and stays so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core.context import Context
from netinv_core.write.draft import Draft
from netinv_dcim.devices import Device, devices
from netinv_dcim.interfaces import Interface
from netinv_dcim.virtual_chassis import VirtualChassis
from netinv_ipam.addresses import INTERFACE, IPAddress

PLACES = {"primary_ip4": 4, "primary_ip6": 6}


def primary_addresses_are_its_own(context: Context, drafts: Sequence[Draft]) -> None:
    """A primary address is of the family its place is for, and assigned to the device, itself or by way of NAT."""
    given = [(draft, place, draft[f"{place}_id"]) for draft in drafts for place in PLACES if draft.changed(f"{place}_id")]
    given = [(draft, place, key) for draft, place, key in given if key is not None]
    if not given:
        return
    found = _addresses(context, {key for _, _, key in given})
    owners = _owners(context, {interface for _, _, interfaces in found.values() for interface in interfaces})
    for draft, place, key in given:
        address, version, interfaces = found[key]
        if version != PLACES[place]:
            draft.reject(place, f"{address} is not an IPv{PLACES[place]} address.")
        elif not any(draft.id in owners.get(interface, ()) for interface in interfaces):
            draft.reject(place, f"The specified IP address ({address}) is not assigned to this device.")


def _addresses(context: Context, keys: Iterable[Any]) -> dict[Any, tuple[str, int, list[Any]]]:
    """Of each address: its written form, its version, and the interfaces it is assigned to, directly and by way of NAT."""
    table, inner = IPAddress.__table__, IPAddress.__table__.alias()
    joined = table.outerjoin(inner, inner.c.id == table.c.nat_inside_id)
    ends = [sa.case((place.c.assigned_object_type == INTERFACE, place.c.assigned_object_id)) for place in (table, inner)]
    statement = sa.select(table.c.id, table.c.address, table.c.ip_version, *ends).select_from(joined).where(table.c.id.in_(list(keys)))
    return {key: (address, version, [i for i in found if i is not None]) for key, address, version, *found in context.execute(statement)}


def _owners(context: Context, interfaces: Iterable[Any]) -> Mapping[Any, tuple[Any, ...]]:
    """The devices each interface belongs to: its own, and the master of that device's virtual chassis."""
    port, device, chassis = Interface.__table__, Device.__table__, VirtualChassis.__table__
    joined = port.join(device, device.c.id == port.c.device_id).outerjoin(chassis, chassis.c.id == device.c.virtual_chassis_id)
    master = sa.case((~port.c.mgmt_only, chassis.c.master_id))
    statement = sa.select(port.c.id, device.c.id, master).select_from(joined).where(port.c.id.in_(list(interfaces)))
    return {key: owners for key, *owners in context.execute(statement)}


def primary_addresses_stay(context: Context, drafts: Sequence[Draft]) -> None:
    """An address that is primary for a device is not assigned away from it."""
    moving = {draft.id: draft for draft in drafts if not draft.new and draft.changed("assigned_object_id", "assigned_object_type", "nat_inside_id")}
    if not moving:
        return
    device = Device.__table__
    places = [device.c[f"{place}_id"] for place in PLACES]
    rows = context.execute(sa.select(device, *places).where(sa.or_(*[place.in_(list(moving)) for place in places]))).mappings().all()
    if not rows:
        return
    through = _addresses(context, {draft["nat_inside_id"] for draft in moving.values()} - {None})
    directly = {key: [draft["assigned_object_id"]] if draft["assigned_object_type"] == INTERFACE else [] for key, draft in moving.items()}
    reached = {key: [*directly[key], *through.get(draft["nat_inside_id"], ("", 0, []))[2]] for key, draft in moving.items()}
    owners = _owners(context, {interface for interfaces in reached.values() for interface in interfaces})
    named = dict(context.registry.of_model(devices.model).plan("nested").fetch(context, [row["id"] for row in rows]))
    for row in rows:
        for place in PLACES:
            draft = moving.get(row[f"{place}_id"])
            if draft is not None and not any(row["id"] in owners.get(interface, ()) for interface in reached[draft.id]):
                name = named[row["id"]]["display"]
                draft.reject("assigned_object_id", f"IP address is primary for device {name} but not assigned to it!")
