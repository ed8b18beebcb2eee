"""UNION ALL of SELECT statements over several models."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.caches import BoundedCache
from netinv_core.db.expressions import typed_null
from netinv_core.driver.results import Row
from netinv_core.models.types import Chars, LongText
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork


MAX_UNION_COLUMNS = 10_000  # of the unions that a registry keeps; of 1 KiB each


class Union:
    """UNION ALL of SELECT statements, each given as ``(columns, from, where)``.

    Columns of one type share a column of the union; where a SELECT has fewer columns of a type, NULL takes their place.
    """

    def __init__(self, parts: Sequence[tuple[Sequence[Any], Any, Any]]) -> None:
        slots: list[tuple[Any, Any]] = []
        self._slots = [_slots_of(columns, slots) for columns, _, _ in parts]
        selects = []
        for number, (columns, source, condition) in enumerate(parts):
            filled = dict(zip(self._slots[number], columns, strict=True))
            padded = [filled[slot] if slot in filled else typed_null(type_) for slot, (_, type_) in enumerate(slots)]
            labelled = [column.label(f"s{slot}") for slot, column in enumerate(padded)]
            part: Any = sa.literal_column(str(number)).label("part")
            selects.append(sa.select(part, *labelled).select_from(source).where(condition))
        self._statement = sa.union_all(*selects)
        self.columns = len(slots) * len(parts)  # of all its SELECTs
        self._pick = [_picker(slots_of_part) for slots_of_part in self._slots]

    def rows(self, uow: UnitOfWork, parameters: dict[str, Any]) -> list[list[Row]]:
        """Returns the rows of each SELECT, with its own columns in order."""
        results: list[list[Row]] = [[] for _ in self._slots]
        for row in uow.execute(self._statement, parameters).tuples():
            results[row[0]].append(self._pick[row[0]](row))
        return results


@cached_in_registry
def _unions(registry: Registry) -> BoundedCache[Union]:
    return BoundedCache("unions", MAX_UNION_COLUMNS, lambda union: union.columns)


def kept_union(registry: Registry, name: Any, parts: Callable[[], Iterable[Any]]) -> Union:
    """The cached UNION ALL of a name, built from ``parts`` when the cache does not hold it."""
    return _unions(registry).get_or_make(name, lambda: Union(list(parts())))


def _picker(slots: Sequence[int]) -> Callable[[Row], Row]:
    """Returns a function that picks the values of these slots of a row, which begins with the number of its part."""
    positions = [slot + 1 for slot in slots]
    if len(positions) == 1:
        return lambda row: (row[positions[0]],)
    return operator.itemgetter(*positions)


def _slots_of(columns: Sequence[Any], slots: list[tuple[Any, Any]]) -> list[int]:
    """The position of each column in the union's row: the first free slot of its type.

    Adds missing slots to ``slots``.
    """
    taken: list[int] = []
    for column in columns:
        kind = str if isinstance(column.type, sa.String | Chars | LongText) else type(column.type)
        free = (slot for slot, (other, _) in enumerate(slots) if other is kind and slot not in taken)
        slot = next(free, len(slots))
        if slot == len(slots):
            slots.append((kind, sa.Text() if kind is str else column.type))
        taken.append(slot)
    return taken
