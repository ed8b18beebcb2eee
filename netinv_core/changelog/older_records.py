"""Packing of the change records of older releases, which have their states as JSON in columns of their own.

``core_change_numbering.unpacked`` is the number up to which there may be such records, 0 when there are none. Upkeep
goes down from it in short transactions with pauses between them, so writers do not wait, and goes on where it stopped.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.changelog.models import ChangeNumbering, ObjectChange
from netinv_core.changelog.packing import PARTS, pack
from netinv_core.changelog.sequence import number_some
from netinv_core.db.engine import WRITING
from netinv_core.models.base import table_of

CHUNK = 500  # numbers looked at in one transaction
PAUSE = 0.02  # seconds after each transaction
ID_LENGTH = 36  # characters of the text of an id

_change, _numbering = table_of(ObjectChange), table_of(ChangeNumbering)
_unpacked = sa.select(_numbering.c.unpacked, _numbering.c.pruned)
_older = sa.select(
    _change.c.id, _change.c.changed_object_type, _change.c.changed_object_id, *(_change.c[name] for name in PARTS)
).where(_change.c.number > sa.bindparam("low"), _change.c.number <= sa.bindparam("high"), _change.c.states.is_(None))
_packed = (
    sa.update(_change)
    .where(_change.c.id == sa.bindparam("key"))
    .values(states=sa.bindparam("packed", type_=_change.c.states.type), **dict.fromkeys(PARTS, sa.null()))
)


def pack_older(engine: Engine, goes_on: Callable[[], bool] = lambda: True) -> int:
    """Packs the records of older releases, until ``goes_on`` is false. Returns their number."""
    with engine.connect() as connection:
        if not connection.execute(_unpacked.with_only_columns(_numbering.c.unpacked)).scalar():
            return 0
    while number_some(engine):  # those without a number would be passed
        pass
    count = 0
    while goes_on():
        with engine.execution_options(**{WRITING: True}).begin() as connection:
            high, pruned = connection.execute(_unpacked).one()
            if not high:
                return count
            low = max(high - CHUNK, 0)
            rows = connection.execute(_older, {"low": low, "high": high}).all()
            if rows:
                connection.execute(_packed, [{"key": row.id, "packed": _pack(row)} for row in rows])
            connection.execute(sa.update(_numbering).values(unpacked=low if low > pruned else 0))
        count += len(rows)
        time.sleep(PAUSE)
    return count


def _pack(row: Any) -> bytes:
    """Packs a record whose ids are text, as JSON has them."""
    states = {name: getattr(row, name) for name in PARTS}
    ids = {name: item for name, value in (row.object_data or {}).items() if (item := _id_of(value)) is not None}
    return pack(
        row.changed_object_type, row.changed_object_id, {**states, "object_data": {**states["object_data"], **ids}}
    )


def _id_of(value: Any) -> uuid.UUID | None:
    """The id that a text is in its usual spelling; ``None`` for another value."""
    if not isinstance(value, str) or len(value) != ID_LENGTH:
        return None
    try:
        found = uuid.UUID(value)
    except ValueError:
        return None
    return found if str(found) == value else None
