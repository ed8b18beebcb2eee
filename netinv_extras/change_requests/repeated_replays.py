"""Repeated replays: reads in a change request run the statements by which an earlier read carried its proposals out.

A replay reads what rules and references need, and writes little. The statements that wrote are kept in the process, by
change request and version of its proposals, and are run again while no object of a model that the replay read or wrote
has a later change record. Otherwise the proposals are carried out anew, which finds conflicts.
"""

from __future__ import annotations

import dataclasses
import time
import uuid
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.sql import visitors

from netinv_core.caches import BoundedCache, lru_cache
from netinv_core.changelog.models import CREATE, ChangeNumbering, ObjectChange
from netinv_core.db.engine import lock_rows
from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import table_of
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_extras.change_requests.proposals import Proposal

MAX_CHARACTERS = 1 << 25  # of the values of all kept replays
MAX_CHANGES = 1000  # change records since the replay that are read to know whether it is current
LIFETIME = 60.0  # seconds; bounds what changes without a record, as by SQL, make of it
Call = tuple[Any, Any, Sequence[Any]]  # statement, values and conditions

_change, _numbering = table_of(ObjectChange), table_of(ChangeNumbering)


@dataclasses.dataclass(frozen=True)
class _Moment:
    """The last number of a change record, and the models of those that waited for a number then."""

    number: int
    waiting: Sequence[str]


@dataclasses.dataclass(frozen=True)
class KeptReplay:
    """The statements of a replay that wrote, the models that it read or wrote, the number of the last change record
    before it, and how many records of these models had no number.
    """

    writes: Sequence[Call]
    labels: Sequence[str]
    number: int
    waiting: int
    until: float

    @property
    def size(self) -> int:
        """The number of characters of the values, which people may make large, written out."""
        return 1 + sum(len(repr(values)) for _, values, _ in self.writes)


@cached_in_registry
def _kept_replays(registry: Registry) -> BoundedCache[KeptReplay]:
    return BoundedCache("replays", MAX_CHARACTERS, lambda kept: kept.size)


def repeat_or_carry_out(
    uow: UnitOfWork, version: Hashable, proposed: Sequence[Proposal], carry_out: Callable[[UnitOfWork], None]
) -> None:
    """Carries out proposals on behalf of the service: by the kept statements of an earlier time, or anew.

    :param version: of the proposals; the statements are kept by it
    """
    cache = _kept_replays(uow.registry)
    kept = cache.get(version)
    if kept is not None and _is_current(uow, kept) and _repeat(uow, kept, proposed):
        return
    moment = _moment(uow)
    executed = _execute(uow, carry_out)
    if executed is not None and len(moment.waiting) <= MAX_CHANGES:
        labels = _labels(uow.registry, proposed, executed)
        waiting = sum(label in labels for label in moment.waiting)
        writes = [call for call in executed if call[0].is_dml]
        cache.set(version, KeptReplay(writes, sorted(labels), moment.number, waiting, time.monotonic() + LIFETIME))


def _execute(uow: UnitOfWork, carry_out: Callable[[UnitOfWork], None]) -> list[Call] | None:
    """Carries out proposals; returns the statements, ``None`` when some of them were rolled back."""
    system, undone = uow.as_system(), list[str]()
    executed = system.executed = []

    def note(connection: Any, name: str, context: Any) -> None:
        undone.append(name)

    connection = uow.connection
    sa.event.listen(connection, "rollback_savepoint", note)
    try:
        carry_out(system)
    finally:
        sa.event.remove(connection, "rollback_savepoint", note)
    return None if undone else executed


def _moment(uow: UnitOfWork) -> _Moment:
    """The state of the change log before a replay; one statement."""
    unnumbered = sa.select(_change.c.changed_object_type).where(_change.c.number.is_(None))
    waiting = unnumbered.limit(MAX_CHANGES + 1).subquery()
    joined = _numbering.outerjoin(waiting, sa.true())
    rows = uow.execute(sa.select(_numbering.c.given, waiting.c.changed_object_type).select_from(joined)).all()
    number = rows[0][0] if rows else 0  # the row of the numbering may be gone
    return _Moment(number, [label for _, label in rows if label is not None])


def _is_current(uow: UnitOfWork, kept: KeptReplay) -> bool:
    """True if no object of the models has changed since; one statement."""
    if time.monotonic() > kept.until:
        return False
    count = uow.execute(_later(len(kept.labels)), {"number": kept.number, **_number_labels(kept.labels)}).scalar_one()
    return bool(count == kept.waiting)


def _number_labels(labels: Sequence[str]) -> dict[str, str]:
    return {f"label_{position}": label for position, label in enumerate(labels)}


@lru_cache("SQL statements", 200)
def _later(models: int) -> sa.Select[tuple[int]]:
    """SELECT of the number of change records behind a number, or without one, of so many models."""
    most: Any = sa.literal_column(str(MAX_CHANGES + 1))
    parts = [
        sa.select(_change.c.changed_object_type.label("type")).where(part).order_by(_change.c.number).limit(most)
        for part in (_change.c.number > sa.bindparam("number"), _change.c.number.is_(None))
    ]
    records = sa.union_all(*(sa.select(part.subquery()) for part in parts)).subquery()
    named = records.c.type.in_([sa.bindparam(f"label_{position}") for position in range(models)])
    count = sa.func.coalesce(sa.func.sum(sa.case((named, 1), else_=0)), 0)
    many = sa.case((sa.func.count() > MAX_CHANGES, -1), else_=count)
    return sa.select(many).select_from(records)


def _repeat(uow: UnitOfWork, kept: KeptReplay, proposed: Sequence[Proposal]) -> bool:
    """Runs the statements of a replay; False, with nothing written, where the database refuses one."""
    try:
        with uow.savepoint():
            _lock(uow, proposed)
            for statement, values, where in kept.writes:
                uow.execute(statement, values, where=where)
    except sa.exc.IntegrityError:
        return False
    return True


def _lock(uow: UnitOfWork, proposed: Iterable[Proposal]) -> None:
    """Locks the rows that are changed, in the order of their ids, as every write does; one statement for each model."""
    keys: dict[Endpoint, list[uuid.UUID]] = {}
    for proposal in proposed:
        if proposal.action != CREATE:
            keys.setdefault(proposal.endpoint, []).append(proposal.key)
    for endpoint, group in keys.items():
        column = endpoint.table.c.id
        statement = sa.select(column).where(in_parameter(column)).order_by(column)
        uow.execute(lock_rows(statement), {"keys": sorted(group)}).all()


def _labels(registry: Registry, proposed: Iterable[Proposal], executed: Iterable[Call]) -> Collection[str]:
    """The models of proposals, and of the tables in statements; for a table without a model, those it refers to."""
    labels = {proposal.endpoint.label for proposal in proposed}
    for table in {table for statement, _, where in executed for part in (statement, *where) for table in _tables(part)}:
        if table in registry.by_table:
            labels.add(registry.by_table[table].label)
        else:
            targets = (key.column.table for key in table.foreign_keys)
            labels |= {registry.by_table[target].label for target in targets if target in registry.by_table}
    return labels


def _tables(part: Any) -> set[sa.Table]:
    """The tables of a statement, or of a condition."""
    if not isinstance(part, sa.ClauseElement):
        return set()
    return {element for element in visitors.iterate(part) if isinstance(element, sa.Table)}
