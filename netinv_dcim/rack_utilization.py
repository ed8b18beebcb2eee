"""Utilisation of racks: the share of units that are taken, and of the power of its feeds that is allocated."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.fields import Share
from netinv_core.read import listing
from netinv_dcim.components.power_ports import PowerOutlet, PowerPort
from netinv_dcim.power import PowerFeed
from netinv_dcim.rack_position import Mounted, read_mounted
from netinv_dcim.racks import Rack, RackReservation

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

FEED, OUTLET = "dcim.powerfeed", "dcim.poweroutlet"
UNITS, WATTS = "units", "W"


def units_of(height: int, devices: Iterable[Mounted], reserved: Iterable[Sequence[int]]) -> Share:
    """Returns the units that devices occupy on either face, or that are reserved, of a rack of ``height`` units."""
    taken = {unit for device in devices for unit in device.units}.union(*reserved)
    return Share(sum(1 for unit in taken if 1 <= unit <= height), height, UNITS)


def power_of(
    uow: UnitOfWork,
    racks: Iterable[uuid.UUID],
    limits: Sequence[Any] = (),
    moved: Mapping[uuid.UUID, uuid.UUID] | None = None,
) -> dict[uuid.UUID, Share]:
    """Returns the allocated and the available watts of the feeds in these racks, by rack. Takes one statement, and one
    more with moved devices.

    A power port on a feed draws its own allocated draw. A port without one draws what the ports on the outlets that it
    supplies draw.

    :param limits: conditions of the feeds that count
    :param moved: racks by id of the devices whose draw counts there, wherever their ports are connected
    """
    feed, port = PowerFeed.__table__, PowerPort.__table__
    away = list(moved or ())
    on_feed = sa.and_(port.c.cable_peer_id == feed.c.id, port.c.cable_peer_type == FEED, *_of_others(port, away))
    statement = (
        sa.select(feed.c.rack_id, feed.c.available_power, _drawn_power(port, away))
        .select_from(feed.outerjoin(port, on_feed))
        .where(in_parameter(feed.c.rack_id), *limits)
    )
    shares: dict[uuid.UUID, Share] = {}
    keys = list(racks)
    for rack, available, drawn in uow.execute(statement, {"keys": keys}) if keys else ():
        share = shares.get(rack, Share(0, 0))
        shares[rack] = Share(share.part + int(drawn), share.whole + available, WATTS)
    if moved and shares:
        ports = sa.select(port.c.device_id, _drawn_power(port, away)).where(port.c.device_id.in_(away))
        for device, drawn in uow.execute(ports):
            if (rack := moved[device]) in shares:
                shares[rack] = dataclasses.replace(shares[rack], part=shares[rack].part + int(drawn))
    return shares


def _drawn_power(port: Any, away: list[uuid.UUID]) -> Any:
    """The watts that a power port draws, without what ports of the devices ``away`` draw from the outlets behind it."""
    outlet, supplied = PowerOutlet.__table__, port.alias()
    behind = (
        sa.select(sa.func.sum(supplied.c.allocated_draw))
        .select_from(outlet.join(supplied, supplied.c.cable_peer_id == outlet.c.id))
        .where(outlet.c.power_port_id == port.c.id, supplied.c.cable_peer_type == OUTLET, *_of_others(supplied, away))
        .scalar_subquery()
    )
    return sa.func.coalesce(port.c.allocated_draw, behind, 0)


def _of_others(port: Any, away: list[uuid.UUID]) -> list[Any]:
    """The condition that a power port is of another device than these."""
    return [port.c.device_id.not_in(away)] if away else []


def of_racks(uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, dict[str, Share]]:
    """The units and the power of racks by id: four statements. A rack without feeds has no power.

    Units are counted as elevations show them: those of devices that the user may not view are taken, too.
    """
    racks = listing.rows_of(uow, Rack, keys)
    devices: dict[Any, list[Mounted]] = {}
    for device in read_mounted(uow, keys).values():
        devices.setdefault(device.rack, []).append(device)
    table, reserved = RackReservation.__table__, dict[Any, list[Sequence[int]]]()
    statement = sa.select(table.c.rack_id, table.c.units).where(in_parameter(table.c.rack_id))
    for rack, units in uow.execute(statement, {"keys": list(keys)}):
        reserved.setdefault(rack, []).append([int(unit) for unit in units])
    limits = permissions.visible(uow, uow.registry.of_model(PowerFeed), PowerFeed.__table__)
    power = power_of(uow, keys, limits)
    return {
        key: {"units": units_of(rack.u_height, devices.get(key, ()), reserved.get(key, ()))}
        | ({"power": power[key]} if key in power and power[key].whole else {})
        for key, rack in racks.items()
    }
