"""Front and rear ports, as on patch panels: each front port is wired to one position of a rear port of its device."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.db.expressions import in_parameter
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Primary
from netinv_core.models.columns import CASCADE, Ref, choice, foreign_key, integer
from netinv_core.read import listing
from netinv_core.read.filters import one_of
from netinv_core.write.referring_rules import through
from netinv_dcim.cabling.cables import cabled_ends_keep_fitting, retrace
from netinv_dcim.cabling.models import CONSOLE, CONSOLE_SERVER, NETWORK, PASS_THROUGH, Cabled, NextHop
from netinv_dcim.cabling.paths import End
from netinv_dcim.components.base import ComponentName, component, component_display_name, of_device
from netinv_dcim.components.connectors import PASS_THROUGH_CONNECTORS

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

FRONT, REAR = "dcim.frontport", "dcim.rearport"
OWN_REAR = "A front port cannot be connected to it corresponding rear port"
MAX = 1024  # positions

Peer = type[Cabled]


def positions_in_turn() -> Callable[[int], int]:
    """Returns the example of a position: all in turn, as samples refer to the same rear port."""
    positions = itertools.cycle(range(1, MAX + 1))
    return lambda number: next(positions)


class PassThrough(Cabled):
    """Mixin with the connector kind of front and rear ports."""

    connector_kind = PASS_THROUGH
    compatible_with = frozenset({NETWORK, CONSOLE, CONSOLE_SERVER, PASS_THROUGH})


class RearPort(ComponentName, PassThrough, Primary):
    """A port on the rear of a device, with as many positions as front ports can share it."""

    fit_columns = ("positions",)

    __tablename__ = "dcim_rear_port"
    __table_args__ = (unique_set("device_id", "name"),)

    device_id: Mapped[Ref] = of_device("rear_ports")
    type: Mapped[str] = choice(PASS_THROUGH_CONNECTORS, default=None, required=True)
    positions: Mapped[int] = integer(1, MAX, default=1)

    @classmethod
    def incompatible_with(cls, row: Any, peer: Peer, other: Any) -> str | None:
        """Rejects a front port of this rear port, and a rear port with another number of positions.

        The numbers may differ if one of them is 1.
        """
        if peer is FrontPort:
            return OWN_REAR if other.rear_port_id == row.id else None
        if peer is not RearPort or row.positions == other.positions or 1 in (row.positions, other.positions):
            return None
        rest = "Both terminations must have the same number of positions (if greater than one)."
        return f"{row.name} has {row.positions} position(s) but {other.name} has {other.positions}. {rest}"

    @classmethod
    def next_hops(cls, uow: UnitOfWork, keys: Sequence[Any]) -> Mapping[Any, Sequence[NextHop]]:
        """The front ports of each rear port; each leaves at its position if the rear port has several."""
        hops: dict[Any, list[NextHop]] = {}
        for front, rear, position, positions in _pairs(uow, "rear_port_id", keys):
            hops.setdefault(rear, []).append(NextHop(FRONT, front, leaves=position if positions > 1 else None))
        return hops


class FrontPort(ComponentName, PassThrough, Primary):
    """A port on the front of a device; it leads to one position of a rear port."""

    fit_columns = ("rear_port_id",)

    __tablename__ = "dcim_front_port"
    __table_args__ = (unique_set("device_id", "name"), unique_set("rear_port_id", "rear_port_position"))

    device_id: Mapped[Ref] = of_device("front_ports")
    type: Mapped[str] = choice(PASS_THROUGH_CONNECTORS, default=None, required=True)
    rear_port_id: Mapped[Ref] = foreign_key(
        RearPort,
        on_delete=CASCADE,
        related_name="front_ports",
        nested_fields=("name", "label", "created", "last_updated"),
    )
    rear_port_position: Mapped[int] = integer(1, MAX, default=1)

    @classmethod
    def incompatible_with(cls, row: Any, peer: Peer, other: Any) -> str | None:
        """Rejects the rear port that this front port is wired to."""
        return OWN_REAR if peer is RearPort and row.rear_port_id == other.id else None

    @classmethod
    def next_hops(cls, uow: UnitOfWork, keys: Sequence[Any]) -> Mapping[Any, Sequence[NextHop]]:
        """The rear port of each front port; the path enters at its position if the rear port has several."""
        return {
            front: [NextHop(REAR, rear, enters=position if positions > 1 else None)]
            for front, rear, position, positions in _pairs(uow, "id", keys)
        }


def _pairs(uow: UnitOfWork, attribute: str, keys: Sequence[Any]) -> Any:
    """Front ports whose column ``attribute`` has one of the keys, in one statement.

    Returns tuples of front port, rear port, position on the rear port, and number of positions of the rear port.
    """
    front, rear = FrontPort.__table__, RearPort.__table__
    pairs = sa.select(front.c.id, rear.c.id, front.c.rear_port_position, rear.c.positions)
    pairs = pairs.join(rear, rear.c.id == front.c.rear_port_id)
    statement = pairs.where(in_parameter(front.c[attribute]))
    ordered = statement.order_by(front.c.rear_port_position, front.c.id)
    return uow.execute(ordered, {"keys": list(keys)}).tuples()


rear_ports = component(
    RearPort,
    "rear-ports",
    filters=[one_of("type", PASS_THROUGH_CONNECTORS, multiple=False)],
    example={"positions": MAX},
)
front_ports = component(
    FrontPort,
    "front-ports",
    filters=[one_of("type", PASS_THROUGH_CONNECTORS, multiple=False)],
    example={"rear_port_position": positions_in_turn()},
)


@front_ports.rule(reads=[through("rear_port", "device_id", "positions")])
def front_ports_lead_to_rear_ports_of_their_device(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a front port whose rear port is on another device or does not have the position."""
    moved = [draft for draft in drafts if draft.changed("device_id", "rear_port_id", "rear_port_position")]
    rear_ports_by_id = listing.rows_of(uow, RearPort, [draft["rear_port_id"] for draft in moved])
    for draft in moved:
        rear, position = rear_ports_by_id[draft["rear_port_id"]], draft["rear_port_position"]
        if rear.device_id != draft["device_id"]:
            name = component_display_name(rear.name, rear.label)
            draft.reject("rear_port", f"Rear port ({name}) must belong to the same device")
        elif position > rear.positions:
            reason = f"Rear port {rear.name} has only {rear.positions} positions"
            draft.reject("rear_port_position", f"Invalid rear port position ({position}): {reason}")


rear_ports.rule(cabled_ends_keep_fitting)
front_ports.rule(cabled_ends_keep_fitting)


@rear_ports.rule
def rear_ports_have_positions_for_their_front_ports(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects fewer positions than the rear port has front ports."""
    changed = [draft for draft in drafts if not draft.new and draft.changed("positions")]
    fewer = [draft for draft in changed if draft["positions"] < draft.before["positions"]]
    if not fewer:
        return
    front = FrontPort.__table__.c.rear_port_id
    counted = sa.select(front, sa.func.count()).where(in_parameter(front)).group_by(front)
    mapped = dict(uow.execute(counted, {"keys": [draft.id for draft in fewer]}).tuples().all())
    for draft in fewer:
        if draft["positions"] < mapped.get(draft.id, 0):
            minimum = f"the number of mapped front ports ({mapped[draft.id]})"
            draft.reject("positions", f"The number of positions cannot be less than {minimum}")


@rear_ports.after_save
def paths_follow_the_positions(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Traces paths again after a change of positions: the next hops of a rear port depend on it having several."""
    retrace(uow, [End(REAR, draft.id) for draft in drafts if not draft.new and draft.changed("positions")])


@front_ports.after_save
def paths_follow_the_rear_port(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Traces paths again through front ports with another rear port or position, and through both rear ports."""
    moved = [draft for draft in drafts if not draft.new and draft.changed("rear_port_id", "rear_port_position")]
    rears = {key for draft in moved for key in (draft["rear_port_id"], draft.before["rear_port_id"])}
    retrace(uow, [*(End(FRONT, draft.id) for draft in moved), *(End(REAR, key) for key in rears)])
