"""Conditions of recorded changes, whose states are gone from the database: which parts hold, for previews and replays.

Within a savepoint that is rolled back, the changes of the object since then are undone, and the filters of the state
after it asked; then the change itself, and those of the state before it. Related objects are as they are now.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.models import UPDATE, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.errors import Invalid, RequestError, error_text
from netinv_core.models.base import table_of
from netinv_extras.change_conditions import (
    AFTER,
    BEFORE,
    NAME,
    STATES,
    ChangeCondition,
    JudgedChange,
    compile_conditions,
)
from netinv_extras.validation_rules.conditions import select_flags
from netinv_undo import reverting
from netinv_undo.net_changes import NetChange

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_RECORDS = 100  # of an object, from the change on, that are undone
HOLDS, HOLDS_NOT = "holds", "does not hold"
UNKNOWN = "cannot be judged any more: the state cannot be restored"
_change = table_of(ObjectChange)
Row = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class JudgedPart:
    """A part of conditions, and in words whether it holds; ``holds`` is ``None`` where that is not known."""

    part: str
    holds: bool | None
    words: str


def is_met(uow: UnitOfWork, conditions: Mapping[str, Any], change: Row) -> bool | None:
    """True when a recorded change meets conditions, ``None`` where that is not known any more."""
    if conditions and uow.registry.get(change["changed_object_type"]) is None:
        return None
    held = [part.holds for part in parts(uow, {NAME: conditions}, change)]
    return False if False in held else None if None in held else True


def parts(uow: UnitOfWork, webhook: Row, change: Row) -> list[JudgedPart]:
    """The parts of the conditions of a webhook, as far as the user may view related objects; none without conditions,
    and for an invented change.
    """
    given, endpoint = webhook[NAME], uow.registry.get(change["changed_object_type"])
    if not given or endpoint is None:
        return []
    try:
        condition = compile_conditions(uow, endpoint, given)
    except Invalid as error:
        return [JudgedPart(part, None, error_text(texts)) for part, texts in error.body.items()]
    asked = [part for part in STATES if condition.states.get(part) is not None and change[part] is not None]
    states = _states(uow, endpoint, condition, change, asked) if asked else {}
    held = JudgedChange(endpoint, change[BEFORE], change[AFTER]).parts(condition, states)
    words = {True: HOLDS, False: HOLDS_NOT, None: UNKNOWN}
    return [JudgedPart(part, holds, words[holds]) for part, holds in held.items()]


def _states(
    uow: UnitOfWork, endpoint: Endpoint, condition: ChangeCondition, change: Row, asked: Collection[str]
) -> dict[str, bool]:
    """Evaluates the filters of these parts on the states of a change; a part whose state cannot be restored is left
    out. The savepoint of the restored states is rolled back.
    """
    records = _records_since(uow, change)
    found: dict[str, bool] = {}
    if not 0 < len(records) <= MAX_RECORDS or records[0].id != change["id"]:
        return found
    if not uow.writing:
        uow.write_in_savepoints()
    try:
        with uow.rolled_back():
            for part, undone in ((AFTER, records[1:]), (BEFORE, records[:1])):
                _undo(uow, endpoint, undone)
                if part in asked:
                    statement = select_flags(endpoint, [condition.states[part]])
                    rows = uow.execute(statement, {"keys": [change["changed_object_id"]]}).tuples()
                    for _, flag in rows:
                        found[part] = bool(flag)
    except RequestError:  # a rule, a later change or a missing object stands against it
        pass
    return found


def _records_since(uow: UnitOfWork, change: Row) -> Sequence[Any]:
    """The records of an object from a change on, the oldest first."""
    is_later = sa.or_(
        _change.c.time > change["time"],
        sa.and_(_change.c.time == change["time"], _change.c.position >= change["position"]),
    )
    of_object = [_change.c[name] == change[name] for name in ("changed_object_type", "changed_object_id")]
    statement = sa.select(*record_columns()).where(*of_object, is_later)
    ordered = statement.order_by(_change.c.time, _change.c.position).limit(MAX_RECORDS + 1)
    records: Sequence[Any] = uow.execute(ordered).all()
    return records


def _undo(uow: UnitOfWork, endpoint: Endpoint, records: Sequence[Any]) -> None:
    """Undoes records of one object, if they have a net effect.

    :raises RequestError: when anything stands against it
    """
    if not records:
        return
    change = NetChange(endpoint, records[0].changed_object_id, list(records))
    if (change.before or change.after) and (change.action != UPDATE or change.changed_names()):
        reverting.write(uow.as_system(), [change])
