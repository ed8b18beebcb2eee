"""Change records of deliveries, whose states take up to a thousand times of their space when they are inflated.

A claim reads the packed states, and only small ones: the message is made, and larger ones are read, when it is sent.
Those that are being sent share :data:`IN_HAND` bytes, and one has at most ``netinv.max_answer_size``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.states import inflated_size, packed_states, record_columns, state, unpack_state
from netinv_core.errors import AnswerTooLarge
from netinv_core.models.base import table_of
from netinv_core.telemetry.log_context import current
from netinv_extras.webhooks.payload import FinalError, Postponed

_change = table_of(ObjectChange)
_MEMBERS = ("id", "time", "user_name", "request_id", "action", "changed_object_type", "bypassed")
CLAIMED = (*_MEMBERS, "states")  # the members of a row that is read with a claim
LARGEST_CLAIMED = 32768  # bytes of packed states
WEIGHTLESS = 1024  # bytes of packed states that count for nothing
IN_HAND = 16 * 2**20  # bytes of inflated states: one more message is made while there are fewer
claimed_columns = [*record_columns(_MEMBERS), packed_states(LARGEST_CLAIMED)]
_states = sa.select(state("before"), state("after")).where(_change.c.id == sa.bindparam("change"))
Row = Mapping[str, Any]


def weight(change: Row | None) -> int:
    """The bytes of the states of a claimed record, as far as they count."""
    if change is None:
        return 0
    packed = change["states"]
    if packed is None:
        return IN_HAND
    try:
        return inflated_size(packed, IN_HAND) if len(packed) > WEIGHTLESS else 0
    except ValueError:  # a later release wrote it: the attempt says so
        return 0


def with_states(engine: Engine, change: Row, most: int) -> Row | None:
    """A claimed record with the states before and after the change; ``None`` if it has been deleted.

    :param most: the bytes that its states may have; 0 for any number
    :raises FinalError: when they are larger
    :raises Postponed: when the database cannot be asked
    """
    context, packed = current(), change["states"]
    if context is not None:
        context.most_inflated = most
    try:
        if packed is not None:
            before, after = (unpack_state(packed, name, engine.dialect) for name in ("before", "after"))
        else:
            with engine.connect() as connection:
                found = connection.execute(_states, {"change": change["id"]}).first()
            if found is None:
                return None
            before, after = found
    except AnswerTooLarge as error:
        raise FinalError(str(error)) from None
    except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
        raise Postponed(f"its change record could not be read: {error}".partition("\n")[0]) from None
    return {**change, "before": before, "after": after}
