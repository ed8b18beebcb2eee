"""Objects that query parameters name, by id or by a name.

They are looked up in one statement before the conditions are built, or within the condition itself. The condition of a
saved filter looks names up when it runs, so that building it needs no statement. An object that the user may not view
has no name: the answer is the same as for one that does not exist.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.read import lookups
from netinv_core.read.union import Union

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

IdsByValue = Mapping[str, list[Any]]


@dataclasses.dataclass(frozen=True)
class NameQuery:
    """The values of a parameter that name objects of ``target``, by id (with ``ids``) or by one of the columns ``by``.

    Unless ``multiple``, only one value counts and the error does not repeat it. ``allowed(table)`` is the condition
    that an object may be named. Objects of a ``public`` target (statuses, which OPTIONS list) may be named by users
    who may not view them.
    """

    parameter: str
    target: Endpoint
    values: tuple[str, ...]
    by: tuple[str, ...] = ()
    ids: bool = True
    multiple: bool = True
    allowed: Callable[[Any], Any] | None = None
    public: bool = False

    def keys(self) -> dict[str, Any]:
        """Returns the ids by value, for the values that can be ids.

        :raises Invalid: for a value that cannot be an id, when no column can have it as a name
        """
        keys: dict[str, Any] = {}
        for value in self.values if self.ids else ():
            try:
                keys[value] = lookups.convert(self.target.table.c.id, value)
            except ValueError as error:
                if not self.by:
                    message = f"“{value}” is not a valid value." if self.target.key_type is int else str(error)
                    raise Invalid.field(self.parameter, message) from None
        return keys

    def conditions(self, uow: UnitOfWork, table: Any) -> list[Any]:
        """Returns the conditions on the target's ``table`` that a row is named and may be viewed."""
        keys = self.keys()
        matches = [table.c.id.in_(list(keys.values()))] if keys else []
        for name in self.by:
            converted = _converted(table.c[name], self.values)
            if converted:
                matches.append(table.c[name].in_(list(converted.values())))
        limits = [] if self.public else permissions.visible(uow, self.target, table)
        return [lookups.any_of(matches), *([self.allowed(table)] if self.allowed else []), *limits]

    def select(self, uow: UnitOfWork) -> Any:
        """SELECT of the ids of the named objects."""
        table = self.target.table.alias()
        return sa.select(table.c.id).where(*self.conditions(uow, table))

    def missing(self, ids: IdsByValue) -> Invalid | None:
        """Returns the error for the first value without an object; ``None`` when each has one."""
        value = next((value for value in self.values if not ids[value]), None)
        return None if value is None else invalid_choice(self.parameter, value if self.multiple else "That choice")


def invalid_choice(parameter: str, value: str) -> Invalid:
    """Error for a value that is not one of the choices."""
    return Invalid.field(parameter, f"Select a valid choice. {value} is not one of the available choices.")


def _converted(column: Any, values: Sequence[str]) -> dict[str, Any]:
    """Returns the values converted to the column's type, by value; those that cannot be are omitted."""
    converted: dict[str, Any] = {}
    for value in values:
        try:
            converted[value] = lookups.convert(column, value)
        except ValueError:
            continue
    return converted


def _columns(query: NameQuery) -> list[Any]:
    """The columns of a lookup: the id, then those by which an object can be named."""
    table = query.target.table
    return [table.c.id, *(table.c[name] for name in query.by)]


def _look_up(uow: UnitOfWork, query: NameQuery) -> IdsByValue:
    """Returns the ids of the objects that each value names; one statement unless :func:`look_up_together` did."""
    cached: IdsByValue | None = uow.row_cache.get((NameQuery, query))
    if cached is not None:
        return cached
    table = query.target.table
    return _by_value(query, uow.read(sa.select(*_columns(query)).where(*query.conditions(uow, table))))


def look_up_together(uow: UnitOfWork, queries: Sequence[NameQuery]) -> None:
    """Looks up the names of several parameters in one statement, for :func:`ids_of` until rows change."""
    found: list[tuple[NameQuery, Any]] = []
    for query in dict.fromkeys(queries):
        try:
            found.append((query, sa.and_(*query.conditions(uow, query.target.table))))
        except Invalid:  # raised again, with the parameter, where the filter is parsed
            continue
    if len(found) < 2:
        return
    union = Union(uow.registry.dialect, [(_columns(query), query.target.table, limit) for query, limit in found])
    for (query, _), rows in zip(found, union.rows(uow, {}), strict=True):
        uow.row_cache[NameQuery, query] = _by_value(query, rows)


def _by_value(query: NameQuery, rows: Sequence[Sequence[Any]]) -> IdsByValue:
    """The ids of the rows that each value names; a row has the values of :func:`_columns`."""
    keys = query.keys()
    converted_values = [_converted(query.target.table.c[name], query.values) for name in query.by]
    ids: dict[str, list[Any]] = {}
    for value in query.values:
        # A value that a column cannot hold stands for itself as a dictionary, which equals no value of a row.
        expected = [converted.get(value, converted) for converted in converted_values]
        ids[value] = [
            row[0]
            for row in rows
            if (value in keys and row[0] == keys[value]) or any(map(operator.eq, expected, row[1:]))
        ]
    return ids


def ids_of(uow: UnitOfWork, query: NameQuery, *, each: bool = False) -> list[Any]:
    """Returns the ids of the named objects: one list of all ids, or one for ``each`` value.

    With deferred lookups (:meth:`UnitOfWork.without_lookups`) SELECT statements take the place of lists.

    :raises Invalid: for a value that names no object, unless lookups are deferred
    """
    if uow.deferred_lookups is not None:
        uow.deferred_lookups.append(query)
        queries = [dataclasses.replace(query, values=(value,)) for value in query.values] if each else [query]
        return [item.select(uow) for item in queries]
    ids = _look_up(uow, query)
    if (error := query.missing(ids)) is not None:
        raise error
    return [*ids.values()] if each else [[key for keys in ids.values() for key in keys]]


def validation_errors(uow: UnitOfWork, queries: Sequence[NameQuery]) -> list[Invalid | None]:
    """Looks up names; returns the error of each query or ``None``. Queries of one kind share one statement."""
    by_kind: dict[Any, list[NameQuery]] = {}
    for query in queries:
        by_kind.setdefault(_kind(query), []).append(query)
    ids_by_kind: dict[Any, IdsByValue] = {}
    for kind, group in by_kind.items():
        values = tuple(dict.fromkeys(value for query in group for value in query.values))
        ids_by_kind[kind] = _look_up(uow, dataclasses.replace(group[0], values=values))
    return [query.missing(ids_by_kind[_kind(query)]) for query in queries]


def _kind(query: NameQuery) -> tuple[Any, ...]:
    """Key of queries that one statement can answer."""
    return query.target, query.by, query.ids, query.allowed, query.public
