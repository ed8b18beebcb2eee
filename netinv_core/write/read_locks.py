"""Locks of the rows that rules read (``reads=[through(…)]``): FOR SHARE, until the transaction ends.

They are taken before the rules of a batch run. A concurrent change of such a row either was committed before, then the
rule sees it, or it waits; when it goes on, the rules of those that refer (:mod:`netinv_core.write.referring_rules`) see
what this transaction wrote. Rows of ``exclusive`` paths are locked FOR NO KEY UPDATE, before the others. References
that are looked up are locked by that SELECT; what is left takes one for each step of the paths. The rows are then in
the cache of :func:`netinv_core.read.listing.rows_of`. SQLite needs no such locks: one transaction writes at a time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.fields import Reference, Status, ToMany
from netinv_core.read import listing
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.union import kept_union
from netinv_core.write.reading_rules import Reading, ReadingRule
from netinv_core.write.reference_messages import NO_SUCH_ID

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

Wanted = dict["Endpoint", set[Any]]  # ids to lock
MAX_STEPS = 1000  # a tree is not deeper, unless it has a loop


@dataclasses.dataclass(frozen=True, eq=False)
class ReadPath:
    """A path whose rows a rule reads when one of the columns ``changing`` changes.

    ``field`` is its first reference, or list of references; ``steps`` are the foreign keys that follow, each with the
    endpoint that it refers to.
    """

    reading: Reading
    changing: tuple[str, ...]
    field: Field
    target: Endpoint
    steps: tuple[tuple[str, Endpoint], ...]

    def step(self, number: int) -> tuple[str, Endpoint] | None:
        """The foreign key that follows a number of others; ``None`` at the end of the path."""
        if number >= len(self.steps) and self.reading.to_root:
            return self.steps[-1]
        return self.steps[number] if number < len(self.steps) else None

    def keys(self, draft: Draft) -> Iterable[Any]:
        """The ids of the rows of the first step."""
        if isinstance(self.field, ToMany):
            return draft.many.get(self.field.name, ())
        return [key] if (key := draft[f"{self.field.name}_id"]) is not None else ()

    def applies(self, draft: Draft) -> bool:
        """True where the rule reads the path for such a draft."""
        return self.reading.when is None or self.reading.when(draft)

    def is_read(self, draft: Draft) -> bool:
        """True where the rule reads the path for a draft, after a change of one of the columns."""
        return draft.changed(*self.changing) and self.applies(draft)


@cached_in_registry
def paths_of(endpoint: Endpoint) -> tuple[ReadPath, ...]:
    """The paths that the rules of an endpoint read and lock: none on SQLite."""
    return () if endpoint.registry.driver.locks_database else declared_paths(endpoint)


def declared_paths(endpoint: Endpoint) -> tuple[ReadPath, ...]:
    """The paths that the rules of an endpoint read, as far as the packages of their models are there."""
    return tuple(
        path
        for rule in endpoint.rules
        if isinstance(rule, ReadingRule)
        for reading in rule.reads
        if reading.path and (path := _path(endpoint, rule, reading)) is not None
    )


def _path(endpoint: Endpoint, rule: ReadingRule, reading: Reading) -> ReadPath | None:
    first, *rest = reading.path.split(".")
    field = endpoint.fields.get(first)
    if not isinstance(field, Reference | ToMany) or isinstance(field, Status) or field.target is None:
        return None  # statuses come from the cache of the configuration
    steps, target = list[tuple[str, "Endpoint"]](), field.target
    for name in rest:
        step = target.fields.get(name)
        if not isinstance(step, Reference) or step.target is None:
            return None
        target = step.target
        steps.append((f"{name}_id", target))
    changing = rule.changing or tuple(rule.own_columns(endpoint))
    return ReadPath(reading, changing, field, field.target, tuple(steps))


def is_read(draft: Draft, name: str) -> bool:
    """True where the object that a reference of a draft names can be locked FOR SHARE when it is looked up."""
    paths = [path for path in paths_of(draft.endpoint) if path.field.name == name and path.applies(draft)]
    return bool(paths) and not any(path.reading.exclusive for path in paths)


def lock(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Locks the rows that the rules of drafts read; rejects references to rows that are deleted by now."""
    reading = [(path, draft) for path in paths_of(endpoint) for draft in drafts if path.is_read(draft)]
    if not reading:
        return
    exclusive: Wanted = {}
    for path, draft in reading:
        if path.reading.exclusive:
            exclusive.setdefault(path.target, set()).update(path.keys(draft))
    for target, keys in sorted(exclusive.items(), key=lambda item: item[0].table.name):
        rows = listing.rows_of(uow, target.model, keys, locked=True)
        _locked_ids(uow, target).update(rows)
    _lock_paths(uow, {(path, path.target, key) for path, draft in reading for key in path.keys(draft)})
    _reject_deleted(uow, reading)


def _lock_paths(uow: UnitOfWork, level: set[tuple[ReadPath, Endpoint, Any]]) -> None:
    """Locks the rows of paths, given those of their first steps: one statement for each step."""
    for number in range(MAX_STEPS):
        wanted: Wanted = {}
        for _, target, key in level:
            wanted.setdefault(target, set()).add(key)
        _lock_rows(uow, wanted)
        following = set()
        for path, target, key in level:
            row, step = uow.row_cache.get(target.table, {}).get(key), path.step(number)
            if step is not None and row is not None and (other := getattr(row, step[0])) is not None:
                following.add((path, step[1], other))
        level = following
        if not level:
            return


def _lock_rows(uow: UnitOfWork, wanted: Wanted) -> None:
    """Locks rows that are neither new nor locked by this transaction, with one statement."""
    missing = {
        target: keys
        for target in sorted(wanted, key=lambda target: target.table.name)
        if (keys := wanted[target] - uow.new_drafts.get(target.table, {}).keys() - _locked_ids(uow, target))
    }
    if not missing:
        return
    union = kept_union(uow.registry, ("locked rows", tuple(missing)), lambda: _parts(uow.registry, missing))
    parameters = {f"keys{number}": list(keys) for number, keys in enumerate(missing.values())}
    for target, rows in zip(missing, union.rows(uow, parameters), strict=True):
        note_locked(uow, target, [target.row_type._make(row) for row in rows])


def _parts(registry: Registry, targets: Iterable[Endpoint]) -> Iterator[Any]:
    for number, target in enumerate(targets):
        yield locked_part(target, in_parameter(target.table.c.id, f"keys{number}"))


def locked_part(target: Endpoint, condition: Any) -> tuple[Sequence[Any], Any, Any]:
    """A part of a UNION ALL whose rows are locked FOR SHARE, in the order of their ids."""
    table = target.table
    locked = sa.select(*table.c).where(condition).order_by(table.c.id).with_for_update(read=True).subquery()
    return list(locked.c), locked, sa.true()


def note_locked(uow: UnitOfWork, target: Endpoint, rows: Sequence[Any]) -> None:
    """Adds locked rows to the cache of rows."""
    uow.row_cache.setdefault(target.table, {}).update({row.id: row for row in rows})
    _locked_ids(uow, target).update(row.id for row in rows)


def _locked_ids(uow: UnitOfWork, target: Endpoint) -> set[Any]:
    """The ids of the rows that the transaction has locked, as long as the cache of rows is not cleared."""
    keys: set[Any] = uow.row_cache.setdefault((_locked_ids, target.table), set())
    return keys


def _reject_deleted(uow: UnitOfWork, reading: Iterable[tuple[ReadPath, Draft]]) -> None:
    """Rejects references of a first step to rows that another transaction has deleted."""
    named = {(draft, path.field.name, path.target, key) for path, draft in reading for key in path.keys(draft)}
    for draft, name, target, key in named:
        known: Mapping[Any, Any] = uow.row_cache.get(target.table, {})
        if key not in known and key not in uow.new_drafts.get(target.table, {}):
            draft.reject(name, NO_SUCH_ID.format(key))
