"""What the ends of cables have in common: the cable, what is at its other end, and where the path leads.

Cables are not there yet, so all of it stays null; every model that will take one already has its columns and parameters.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.columns import Chars
from netinv_core.context import Context
from netinv_core.model import SET_NULL, Ref, column, to
from netinv_core.read.filters import Filter, has, special
from netinv_core.read.lookups import convert_flag, negated
from netinv_core.resource import Spec, computed, object_of


class Cabled:
    """Adds the columns of a model that takes a cable and is an end of paths."""

    cable_id: Mapped[Ref | None] = to("dcim.cable", on_delete=SET_NULL, read_only=True)
    cable_peer_type: Mapped[str | None] = column(Chars(100), default=None, kind="opaque", read_only=True)
    cable_peer_id: Mapped[Ref | None] = column(hidden=True, default=None)
    connected_endpoint_type: Mapped[str | None] = column(Chars(100), default=None, kind="opaque", read_only=True)
    connected_endpoint_id: Mapped[Ref | None] = column(hidden=True, default=None)
    connected_endpoint_reachable: Mapped[bool | None] = column(default=None, kind="opaque", read_only=True)


cable_ends: list[Spec] = [
    object_of("cable_peer", "cable_peer_type", "cable_peer_id"),
    object_of("connected_endpoint", "connected_endpoint_type", "connected_endpoint_id"),
]
cable_key: Spec = computed("cable", lambda key: key, "cable_id")


def _connected(context: Context, table: Any, values: list[str]) -> Any:
    """Whether a path leads anywhere; without a path it does not."""
    found = sa.func.coalesce(table.c.connected_endpoint_reachable, sa.false())
    return found if convert_flag(values[-1]) else negated(found)


cable_filters: list[Filter] = [has("cabled", "cable"), special("connected", _connected, multiple=False, kind="boolean")]
