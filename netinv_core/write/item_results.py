"""Writes of lists item by item: what becomes of each item, and writes that go on where items fail.

Items are written together, in one savepoint. When they are refused, those that the error names are left out and the
others written again; when it names none, the halves are written apart. So a list without errors takes the statements of
the bulk write.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db import availability
from netinv_core.errors import CONCURRENT_CHANGE, Denied, FieldErrors, RequestError

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

ON_ERROR = "on_error"  # the query parameter
CREATED, UPDATED, UNCHANGED, DELETED, FAILED = "created", "updated", "unchanged", "deleted", "failed"
MAX_ROUNDS = 4  # writes of one group of items that each leave out those named by the error before


@dataclasses.dataclass(frozen=True)
class ItemResult:
    """The result of an item: its status, and the representation or the errors."""

    status: str
    representation: Mapping[str, Any] | None = None
    errors: FieldErrors = dataclasses.field(default_factory=dict)


# Writes the items at these positions of a list, all or none.
Write = Callable[[Sequence[int]], Sequence[ItemResult]]


@dataclasses.dataclass(frozen=True)
class _Group:
    """Positions of items to be written together; ``rounds`` counts the writes that were refused."""

    positions: Sequence[int]
    rounds: int = 0


def write_each(uow: UnitOfWork, count: int, write: Write) -> list[ItemResult]:
    """Writes as many of ``count`` items as possible, and returns the results of all, in order."""
    results: dict[int, ItemResult] = {}
    groups = [_Group(range(count))] if count else []
    while groups:
        group = groups.pop()
        try:
            with uow.savepoint():
                written = write(group.positions)
            results.update(zip(group.positions, written, strict=True))
        except (RequestError, sa.exc.IntegrityError) as error:
            failed, remaining = _after(group, error)
            results.update(failed)
            groups += remaining
    return [results[position] for position in range(count)]


def _after(group: _Group, error: Exception) -> tuple[dict[int, ItemResult], list[_Group]]:
    """Returns the items that an error is about, and the groups to write after it, the last one first."""
    positions, rounds = group.positions, group.rounds + 1
    named = _results_by_item(group, error)
    if named and rounds <= MAX_ROUNDS:
        rest = [position for position in positions if position not in named]
        return named, [_Group(rest, rounds)] if rest else []
    if availability.is_violation(error) and group.rounds == 0:
        return {}, [_Group(positions, rounds)]  # the rules see the concurrent change now, and name the item
    if len(positions) == 1 or isinstance(error, Denied):  # without a name it is about the permission itself
        return dict.fromkeys(positions, ItemResult(FAILED, errors=_errors_of(error))), []
    middle = len(positions) // 2
    return {}, [_Group(positions[middle:], 1), _Group(positions[:middle], 1)]


def _results_by_item(group: _Group, error: Exception) -> dict[int, ItemResult]:
    """The results of the items that an error names."""
    entries = error.object_errors if isinstance(error, RequestError) else ()
    if len(entries) != len(group.positions):
        return {}
    pairs = zip(group.positions, entries, strict=True)
    return {position: ItemResult(FAILED, errors=entry) for position, entry in pairs if entry}


def _errors_of(error: Exception) -> FieldErrors:
    """The errors of the only item of a list."""
    body = error.body if isinstance(error, RequestError) else {"detail": CONCURRENT_CHANGE}
    if isinstance(body, list):
        body = next((entry for entry in body if entry), {})
    return body if isinstance(body, dict) else {"detail": str(body)}
