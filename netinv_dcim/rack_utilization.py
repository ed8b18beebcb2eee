"""Utilisation of racks: the share of units that are taken, and of the power of its feeds that is allocated."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core.db.engine import in_parameter
from netinv_core.types import UnitOfWork
from netinv_dcim.components.power_ports import PowerOutlet, PowerPort
from netinv_dcim.power import PowerFeed
from netinv_dcim.rack_position import Mounted

FEED, OUTLET = "dcim.powerfeed", "dcim.poweroutlet"


@dataclasses.dataclass(frozen=True)
class Share:
    """A part of a whole, in units or watts."""

    part: int
    whole: int

    @property
    def percent(self) -> int:
        """The part in percent of the whole, rounded down; 0 of nothing. It may exceed 100."""
        return self.part * 100 // self.whole if self.whole else 0


def units_of(height: int, devices: Iterable[Mounted], reserved: Iterable[Sequence[int]]) -> Share:
    """Returns the units that devices occupy on either face, or that are reserved, of a rack of ``height`` units."""
    taken = {unit for device in devices for unit in device.units}.union(*reserved)
    return Share(sum(1 for unit in taken if 1 <= unit <= height), height)


def power_of(uow: UnitOfWork, racks: Iterable[uuid.UUID], condition: Any = None) -> dict[uuid.UUID, Share]:
    """Returns the allocated and the available watts of the feeds in these racks, by rack. Takes one statement.

    A power port on a feed draws its own allocated draw. A port without one draws what the ports on the outlets that it
    supplies draw.

    :param condition: which feeds count; ``None`` for all
    """
    feed, port, outlet = PowerFeed.__table__, PowerPort.__table__, PowerOutlet.__table__
    supplied = port.alias()
    behind = (
        sa.select(sa.func.sum(supplied.c.allocated_draw))
        .select_from(outlet.join(supplied, supplied.c.cable_peer_id == outlet.c.id))
        .where(outlet.c.power_port_id == port.c.id, supplied.c.cable_peer_type == OUTLET)
        .scalar_subquery()
    )
    on_feed = sa.and_(port.c.cable_peer_id == feed.c.id, port.c.cable_peer_type == FEED)
    statement = (
        sa.select(feed.c.rack_id, feed.c.available_power, sa.func.coalesce(port.c.allocated_draw, behind, 0))
        .select_from(feed.outerjoin(port, on_feed))
        .where(in_parameter(uow.registry.dialect, feed.c.rack_id), sa.true() if condition is None else condition)
    )
    shares: dict[uuid.UUID, Share] = {}
    keys = list(racks)
    for rack, available, drawn in uow.execute(statement, {"keys": keys}) if keys else ():
        share = shares.get(rack, Share(0, 0))
        shares[rack] = Share(share.part + int(drawn), share.whole + available)
    return shares
