"""Locks of what rules read: no other transaction changes these rows until that of the write ends."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import event

from netinv_core.fields import ToMany
from netinv_core.write import read_locks
from netinv_core.write.read_locks import ReadPath
from netinv_core.write.trees import is_tree
from netinv_testing.cases import Case, check
from netinv_testing.client import Service
from netinv_testing.lock_waits import is_locked

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field

MOMENTS = ("commit", "rollback")


def _paths(endpoint: Endpoint) -> tuple[ReadPath, ...]:
    return read_locks.declared_paths(endpoint) if "add" in endpoint.resource.writes else ()


@check(lambda endpoint: bool(_paths(endpoint)))
def what_rules_read_of_others_is_locked(case: Case) -> None:
    """A new object refers to others by every path that a rule of the resource reads: until it is written, or refused,
    the rows at the ends of these paths are locked.
    """
    paths = _paths(case.endpoint)
    targets = {path.field: _create_filled(case, path) for path in sorted(paths, key=lambda path: len(path.steps))}
    members = {field.name: _as_sent(field, target["id"]) for field, target in targets.items()}
    rows = [_end(case.service, path, targets[path.field]["id"]) for path in paths]
    found: list[list[bool]] = []
    body = case.body(**members)
    with _looking(case.service, lambda: found.append([is_locked(case.service.engine, *row) for row in rows])):
        answer = case.api.send("POST", case.path, body, status=(201, 400))
    locked = [any(states) for states in zip(*found, strict=True)]
    assert all(locked), [path.reading.path for path, state in zip(paths, locked, strict=True) if not state] + [answer]


def _create_filled(case: Case, path: ReadPath) -> Any:
    """A new object for the first step of a path, with all the references that follow."""
    steps = _steps(path)
    targets = [path.target, *(target for _, target in steps)]
    made = case.samples.make(targets[-1])
    for target, (column, _) in reversed(list(zip(targets, steps, strict=False))):
        name = column.removesuffix("_id")
        is_node = is_tree(target) and name == "parent"
        made = case.samples.below(target, made) if is_node else case.samples.make(target, **{name: made["id"]})
    return made


def _steps(path: ReadPath) -> list[tuple[str, Endpoint]]:
    """The steps of a path; the last one twice where it leads up a tree."""
    return [*path.steps, path.steps[-1]] if path.reading.to_root else list(path.steps)


def _as_sent(field: Field, key: Any) -> Any:
    return field.of_items([key]) if isinstance(field, ToMany) else key


def _end(service: Service, path: ReadPath, text: str) -> tuple[Any, Any]:
    """The table and the id of the row at the end of a path that begins at an object with an id."""
    table, key = path.target.table, path.target.parse_key(text)
    with service.engine.connect() as connection:
        for name, target in _steps(path):
            key = connection.scalar(sa.select(table.c[name]).where(table.c.id == key))
            table = target.table
    return table, key


@contextlib.contextmanager
def _looking(service: Service, look: Callable[[], None]) -> Iterator[None]:
    """Calls a function before the transactions of this thread are committed or rolled back."""
    here = threading.get_ident()

    def call(connection: Any) -> None:
        if threading.get_ident() == here:
            look()

    for moment in MOMENTS:
        event.listen(service.engine, moment, call)
    try:
        yield
    finally:
        for moment in MOMENTS:
            event.remove(service.engine, moment, call)
