"""Power ports, through which devices draw power, and power outlets, through which they supply it to others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy.orm import Mapped

from netinv_core.models.associations import unique_set
from netinv_core.models.base import Primary
from netinv_core.models.columns import SET_NULL, Ref, choice, foreign_key, integer
from netinv_core.read import listing
from netinv_core.read.filters import one_of, related
from netinv_core.write.draft import ALL
from netinv_core.write.referring_rules import through
from netinv_dcim.cabling.models import POWER_DRAW, POWER_SUPPLY, PathEnd
from netinv_dcim.components.base import ComponentName, component, component_display_name, of_device
from netinv_dcim.components.connectors import FEED_LEGS, POWER_PLUGS, POWER_SOCKETS

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


class PowerPort(ComponentName, PathEnd, Primary):
    """A port by which a device draws power, in watts."""

    connector_kind = POWER_DRAW
    compatible_with = frozenset({POWER_SUPPLY})

    __tablename__ = "dcim_power_port"
    __table_args__ = (unique_set("device_id", "name"),)

    device_id: Mapped[Ref] = of_device("power_ports")
    type: Mapped[str] = choice(POWER_PLUGS, help="Physical port type")
    maximum_draw: Mapped[int | None] = integer(1, 32767, "Maximum power draw (watts)")
    allocated_draw: Mapped[int | None] = integer(1, 32767, "Allocated power draw (watts)")


class PowerOutlet(ComponentName, PathEnd, Primary):
    """An outlet of a device: the power it supplies comes in by one of the device's power ports."""

    connector_kind = POWER_SUPPLY
    compatible_with = frozenset({POWER_DRAW})

    __tablename__ = "dcim_power_outlet"
    __table_args__ = (unique_set("device_id", "name"),)

    device_id: Mapped[Ref] = of_device("power_outlets")
    type: Mapped[str] = choice(POWER_SOCKETS, help="Physical port type")
    power_port_id: Mapped[Ref | None] = foreign_key(PowerPort, on_delete=SET_NULL, related_name="power_outlets")
    feed_leg: Mapped[str] = choice(FEED_LEGS, help="Phase (for three-phase feeds)")


power_ports = component(PowerPort, "power-ports")
power_outlets = component(
    PowerOutlet,
    "power-outlets",
    filters=[related("power_port", by=()), one_of("feed_leg", FEED_LEGS, multiple=False)],
)


def allocated_draw_is_within_the_maximum(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects an allocated draw above the maximum draw (both in watts)."""
    for draft in drafts:
        maximum, allocated = draft["maximum_draw"], draft["allocated_draw"]
        if maximum is not None and allocated is not None and allocated > maximum:
            draft.reject("allocated_draw", f"Allocated draw cannot exceed the maximum draw ({maximum}W).")


power_ports.rule(allocated_draw_is_within_the_maximum)


@power_outlets.rule(reads=[through("power_port", "device_id")])
def outlets_are_fed_by_their_own_device(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects an outlet whose power port belongs to another device."""
    moved = [draft for draft in drafts if draft.changed("device_id", "power_port_id")]
    ports = listing.rows_of(uow, PowerPort, [draft["power_port_id"] for draft in moved])
    for draft in moved:
        port = ports.get(draft["power_port_id"])
        if port is not None and port.device_id != draft["device_id"]:
            name = component_display_name(port.name, port.label)
            draft.reject(ALL, f"Parent power port ({name}) must belong to the same device")
