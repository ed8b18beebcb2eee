"""Cables, and the columns that their ends share: the cable, its other end (the peer), and the destination of the path.

A model takes a cable by adding :class:`Cabled`, and is an end of paths by adding :class:`PathEnd`. Each declares the
kind of its connector (``connector_kind``) and the kinds it can be connected to (``compatible_with``). There is no list
of models, so a package can add ends of its own.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.models.associations import unique_set
from netinv_core.models.base import Primary
from netinv_core.models.columns import APP_HANDLED, Choices, Ref, choice, column, foreign_key, integer, text
from netinv_core.models.types import Chars
from netinv_core.read.filters import custom, has
from netinv_core.resource import computed, generic_fk
from netinv_core.sql.lookups import convert_flag, negated
from netinv_extras.statuses import status

if TYPE_CHECKING:
    from netinv_core.read.filters import Filter
    from netinv_core.resource import FieldFactory
    from netinv_core.uow import UnitOfWork

NETWORK, CONSOLE, CONSOLE_SERVER, PASS_THROUGH = "network", "console", "console server", "pass-through"
POWER_DRAW, POWER_SUPPLY = "power draw", "power supply"


CABLE_TYPES = Choices.of(
    ("cat3", "CAT3"),
    ("cat5", "CAT5"),
    ("cat5e", "CAT5e"),
    ("cat6", "CAT6"),
    ("cat6a", "CAT6a"),
    ("cat7", "CAT7"),
    ("cat7a", "CAT7a"),
    ("cat8", "CAT8"),
    ("dac-active", "Direct Attach Copper (Active)"),
    ("dac-passive", "Direct Attach Copper (Passive)"),
    ("mrj21-trunk", "MRJ21 Trunk"),
    ("coaxial", "Coaxial"),
    ("mmf", "Multimode Fiber"),
    ("mmf-om1", "Multimode Fiber (OM1)"),
    ("mmf-om2", "Multimode Fiber (OM2)"),
    ("mmf-om3", "Multimode Fiber (OM3)"),
    ("mmf-om4", "Multimode Fiber (OM4)"),
    ("mmf-om5", "Multimode Fiber (OM5)"),
    ("smf", "Singlemode Fiber"),
    ("smf-os1", "Singlemode Fiber (OS1)"),
    ("smf-os2", "Singlemode Fiber (OS2)"),
    ("aoc", "Active Optical Cabling (AOC)"),
    ("power", "Power"),
    ("other", "Other"),
)
LENGTH_UNITS = Choices.of(
    ("km", "Kilometers"),
    ("m", "Meters"),
    ("cm", "Centimeters"),
    ("mi", "Miles"),
    ("ft", "Feet"),
    ("in", "Inches"),
)


class Cable(Primary):
    """A line of copper, fibre or power between two ends; paths lead through it while it is connected."""

    __tablename__ = "dcim_cable"
    __table_args__ = (
        unique_set("termination_a_type", "termination_a_id"),
        unique_set("termination_b_type", "termination_b_id"),
    )

    termination_a_type: Mapped[str] = column(Chars(100), kind="opaque")
    termination_a_id: Mapped[uuid.UUID] = column(index=True)
    termination_b_type: Mapped[str] = column(Chars(100), kind="opaque")
    termination_b_id: Mapped[uuid.UUID] = column(index=True)
    type: Mapped[str] = choice(CABLE_TYPES, plain=True)
    status_id: Mapped[Ref] = status(initial=["Connected", "Decommissioning", "Planned"])
    label: Mapped[str] = text(100)
    color: Mapped[str] = text(6, pattern=r"^[0-9a-f]{6}\Z", pattern_error="Enter a valid hexadecimal RGB color code.")
    length: Mapped[int | None] = integer(0, 32767)
    length_unit: Mapped[str] = choice(LENGTH_UNITS)


@dataclasses.dataclass(frozen=True)
class NextHop:
    """The next end of a path behind the end of a cable: the object ``id`` of the model ``label``.

    ``enters`` is set where the path enters a trunk that several paths share: its position in the trunk. ``leaves`` is
    set where paths leave a trunk: the position of the paths that leave it by this hop. A hop with neither is the only
    one. :mod:`netinv_dcim.cabling.paths` describes the position stack that follows from them.

    Example: front port 3 of a rear port with 12 positions has the hop ``NextHop("dcim.rearport", rear, enters=3)``, and
    the rear port has the hop ``NextHop("dcim.frontport", front, leaves=3)`` among 12.
    """

    label: str
    id: Any
    enters: int | None = None
    leaves: int | None = None


class Cabled:
    """Adds the columns of a model that takes a cable."""

    connector_kind: ClassVar[str]
    compatible_with: ClassVar[frozenset[str]]
    fit_columns: ClassVar[
        tuple[str, ...]
    ] = ()  # what decides whether a cable fits: see cannot_be_cabled, incompatible_with
    ends_paths: ClassVar[bool] = False  # True: the destination of paths that have no next hop behind it
    holder: ClassVar[str] = "device"  # the reference to what the end is part of, which drawings of paths show as a box
    holder_notes: ClassVar[tuple[str, ...]] = ("site.name", "rack.name")  # paths from the holder to what is said of it
    leads_into: ClassVar[str] = ""  # the path to the name of a network that an end without a cable leads into

    cable_id: Mapped[Ref | None] = foreign_key(Cable, on_delete=APP_HANDLED, read_only=True)
    cable_peer_type: Mapped[str | None] = column(
        Chars(100), default=None, kind="opaque", read_only=True, in_object_data=False
    )
    cable_peer_id: Mapped[Ref | None] = column(hidden=True, default=None)

    @classmethod
    def cannot_be_cabled(cls, row: Any) -> str | None:
        """The error message when the object with this row takes no cable, else ``None``."""
        return None

    @classmethod
    def incompatible_with(cls, row: Any, peer: type[Cabled], other: Any) -> str | None:
        """The error message when this object and its ``peer`` (row ``other``) may not share a cable, else ``None``.

        Called for connectors of compatible kinds only.
        """
        return None

    @classmethod
    def next_hops(cls, uow: UnitOfWork, keys: Sequence[Any]) -> Mapping[Any, Sequence[NextHop]]:
        """The next hops behind the ends with these ids, by id, in a constant number of statements.

        Ends without a next hop may be missing. The default is for ends at which paths stop.
        """
        return {}


class PathEnd(Cabled):
    """Adds the columns of a model that takes a cable and is an end of paths.

    ``connected_endpoint_reachable`` is null without a cable. It is false while the path has no destination or one of
    its cables is not connected.
    """

    connected_endpoint_type: Mapped[str | None] = column(
        Chars(100), default=None, kind="opaque", read_only=True, in_object_data=False
    )
    connected_endpoint_id: Mapped[Ref | None] = column(hidden=True, default=None)
    connected_endpoint_reachable: Mapped[bool | None] = column(
        default=None, kind="opaque", read_only=True, in_object_data=False
    )


cable_fields: list[FieldFactory] = [generic_fk("cable_peer", "cable_peer_type", "cable_peer_id")]
path_fields: list[FieldFactory] = [
    *cable_fields,
    generic_fk("connected_endpoint", "connected_endpoint_type", "connected_endpoint_id"),
]
cable_key: FieldFactory = computed("cable", lambda key: key, "cable_id")


def _has_destination(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Condition for ends whose path has a destination, or for the others; an end without a cable is not connected."""
    reachable = sa.func.coalesce(table.c.connected_endpoint_reachable, sa.false())
    return reachable if convert_flag(values[-1]) else negated(reachable)


cable_filters: list[Filter] = [has("cabled", "cable")]
path_filters: list[Filter] = [*cable_filters, custom("connected", _has_destination, multiple=False, kind="boolean")]
