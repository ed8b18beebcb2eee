"""Objects that query parameters name, by id or by a name.

They are looked up in one statement before the conditions are built, or within the condition itself. The condition of a
saved filter looks names up when it runs, so that building it needs no statement. An object that the user may not view
has no name: the answer is the same as for one that does not exist.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import MANY_VALUES, in_parameter
from netinv_core.errors import Invalid
from netinv_core.models.types import Chars
from netinv_core.sql import lookups
from netinv_core.sql.union import Union, kept_union

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

IdsByValue = Mapping[str, list[Any]]


@dataclasses.dataclass(frozen=True)
class NameQuery:
    """The values of a parameter that name objects of ``target``, by id (with ``ids``) or by one of the columns ``by``.

    Unless ``multiple``, only one value counts and the error does not repeat it. ``allowed(table)`` is the condition
    that an object may be named. Objects of a ``public`` target (statuses, which OPTIONS list) may be named by users
    who may not view them. With a ``tree``, the descendants of the named objects are meant too.
    """

    parameter: str
    target: Endpoint
    values: tuple[str, ...]
    by: tuple[str, ...] = ()
    ids: bool = True
    multiple: bool = True
    allowed: Callable[[Any], Any] | None = None
    public: bool = False
    tree: bool = False

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
            converted = _convert(table.c[name], self.values)
            if converted:
                matches.append(table.c[name].in_(list(converted.values())))
        limits = [] if self.public else permissions.visible(uow, self.target, table)
        return [lookups.any_of(matches), *([self.allowed(table)] if self.allowed else []), *limits]

    def select(self, uow: UnitOfWork) -> Any:
        """SELECT of the ids of the objects that are meant."""
        table = self.target.table.alias()
        named = sa.select(table.c.id).where(*self.conditions(uow, table))
        return descendants(self.target, named) if self.tree else named

    def missing_error(self, ids: IdsByValue) -> Invalid | None:
        """Returns the error for the first value without an object; ``None`` when each has one."""
        value = next((value for value in self.values if not ids[value]), None)
        return None if value is None else invalid_choice(self.parameter, value if self.multiple else "That choice")


def invalid_choice(parameter: str, value: str) -> Invalid:
    """Error for a value that is not one of the choices."""
    return Invalid.field(parameter, f"Select a valid choice. {value} is not one of the available choices.")


def _convert(column: Any, values: Sequence[str]) -> dict[str, Any]:
    """Returns the values converted to the column's type, by value; those that cannot be are omitted."""
    converted: dict[str, Any] = {}
    for value in values:
        try:
            converted[value] = lookups.convert(column, value)
        except ValueError:
            continue
    return converted


def descendants(target: Endpoint, ids: Any) -> Any:
    """Recursive CTE of nodes of a tree and their descendants, as a SELECT of ids; ``ids`` is a list or a SELECT."""
    return sa.select(_subtrees(target, (), target.table.c.id.in_(ids)).c.id)


def _subtrees(target: Endpoint, by: Sequence[str], condition: Any) -> Any:
    """Recursive CTE of the nodes that meet a condition and their descendants: ``id``, and the id (``root``) and names
    of the node that meets it. Its WITH clause is part of the SELECT that reads it (``nesting``): MariaDB takes about
    twice the memory for each further recursive CTE of one WITH clause, 2 GB for 15, where 200 clauses take none.
    """
    table, child = target.table, target.table.alias()
    found = sa.select(table.c.id, table.c.id.label("root"), *(table.c[name] for name in by)).where(condition)
    cte = found.cte(recursive=True, nesting=True)
    below = sa.select(child.c.id, cte.c.root, *(cte.c[name] for name in by))
    return cte.union(below.where(child.c.parent_id == cte.c.id))


def _part(target: Endpoint, by: Sequence[str], tree: bool, condition: Any) -> tuple[Any, Any, Any]:
    """The columns, table and condition of a lookup.

    The columns are the id of an object that is meant, and the id and names of the object that is named.
    """
    if not tree:
        table = target.table
        return [table.c.id, table.c.id, *(table.c[name] for name in by)], table, condition
    nodes = sa.select(_subtrees(target, by, condition)).subquery()  # a part of a UNION has no WITH clause of its own
    return list(nodes.c), nodes, sa.true()


@dataclasses.dataclass(frozen=True)
class _Lookup:
    """A SELECT of named objects without its values, which its parameters have: for users who may view all objects."""

    target: Endpoint
    by: tuple[str, ...]
    ids: bool
    tree: bool

    def part(self, number: int) -> tuple[Any, Any, Any]:
        """The part of the statement whose parameters end in ``number``."""
        table = self.target.table
        compared = (["id"] if self.ids else []) + [*self.by]
        matches = [in_parameter(table.c[name], f"{name}{number}") for name in compared]
        return _part(self.target, self.by, self.tree, lookups.any_of(matches))

    def parameters(self, query: NameQuery, number: int) -> dict[str, list[Any]]:
        """The values of the parameters."""
        ids = {f"id{number}": list(query.keys().values())} if self.ids else {}
        return ids | {f"{name}{number}": list(query.values) for name in self.by}


def _lookup_of(uow: UnitOfWork, query: NameQuery) -> _Lookup | None:
    """The SELECT to keep for a query and others like it; ``None`` for one with limits or with numbers as names."""
    table = query.target.table
    if query.allowed or not all(isinstance(table.c[name].type, Chars | sa.String) for name in query.by):
        return None
    if not query.public and permissions.visible(uow, query.target, table):
        return None
    return _Lookup(query.target, query.by, bool(query.keys()), query.tree)


def _find(uow: UnitOfWork, queries: Sequence[NameQuery]) -> list[IdsByValue]:
    """The ids of the objects that each value names, for each query; one statement."""
    kept = [lookup for lookup in (_lookup_of(uow, query) for query in queries) if lookup is not None]
    if len(kept) < len(queries):
        parts = [
            _part(query.target, query.by, query.tree, sa.and_(*query.conditions(uow, query.target.table)))
            for query in queries
        ]
        rows = Union(parts).rows(uow, {})
    else:
        union = kept_union(
            uow.registry, tuple(kept), lambda: [lookup.part(number) for number, lookup in enumerate(kept)]
        )
        parameters: dict[str, list[Any]] = {}
        for number, lookup in enumerate(kept):
            parameters |= lookup.parameters(queries[number], number)
        rows = union.rows(uow, parameters)
    return [_by_value(query, part) for query, part in zip(queries, rows, strict=True)]


def _look_up(uow: UnitOfWork, query: NameQuery) -> IdsByValue:
    """Returns the ids of the objects that each value names; one statement unless :func:`look_up_together` did."""
    cached: IdsByValue | None = uow.row_cache.get((NameQuery, query))
    return _find(uow, [query])[0] if cached is None else cached


def look_up_together(uow: UnitOfWork, queries: Iterable[NameQuery]) -> None:
    """Looks up the names of several parameters in one statement, for :func:`ids_of` until rows change."""
    valid = []
    for query in dict.fromkeys(queries):
        with contextlib.suppress(Invalid):  # raised again, with the parameter, where the filter is parsed
            query.keys()
            valid.append(query)
    if len(valid) > 1:
        uow.row_cache.update(zip(((NameQuery, query) for query in valid), _find(uow, valid), strict=True))


def _by_value(query: NameQuery, rows: Sequence[Sequence[Any]]) -> IdsByValue:
    """The ids of the objects that each value means; a row has the values of :func:`_part`."""
    keys = query.keys()
    converted_values = [_convert(query.target.table.c[name], query.values) for name in query.by]
    # The ids by the id, and by each name, of the object that is named; dictionaries keep them in order, each once.
    by_id: dict[Any, dict[Any, None]] = {}
    by_name: list[dict[Any, dict[Any, None]]] = [{} for _ in query.by]
    for meant, named, *names in rows:
        by_id.setdefault(named, {})[meant] = None
        for known, name in zip(by_name, names, strict=True):
            known.setdefault(name, {})[meant] = None
    ids: dict[str, list[Any]] = {}
    for value in query.values:
        found = dict(by_id.get(keys[value], ())) if value in keys else {}
        for known, converted in zip(by_name, converted_values, strict=True):
            if value in converted:
                found |= known.get(converted[value], {})
        ids[value] = list(found)
    return ids


def ids_of(uow: UnitOfWork, query: NameQuery, *, each: bool = False) -> list[Any]:
    """Returns the ids of the named objects: one list of all ids, or one for ``each`` value.

    With deferred lookups (:meth:`UnitOfWork.without_lookups`), and for the nodes of large trees, SELECT statements take
    the place of lists.

    :raises Invalid: for a value that names no object, unless lookups are deferred
    """
    if uow.deferred_lookups is not None:
        uow.deferred_lookups.append(query)
        return _selects(uow, query, each=each)
    ids = _look_up(uow, query)
    if (error := query.missing_error(ids)) is not None:
        raise error
    if query.tree and sum(map(len, ids.values())) > MANY_VALUES:
        return _selects(uow, query, each=each)
    return [*ids.values()] if each else [[key for keys in ids.values() for key in keys]]


def _selects(uow: UnitOfWork, query: NameQuery, *, each: bool) -> list[Any]:
    """The SELECTs of a query, or of ``each`` of its values."""
    queries = [dataclasses.replace(query, values=(value,)) for value in query.values] if each else [query]
    return [item.select(uow) for item in queries]


def validation_errors(uow: UnitOfWork, queries: Sequence[NameQuery]) -> list[Invalid | None]:
    """Looks up names; returns the error of each query or ``None``. Queries of one kind share one statement."""
    by_kind: dict[Any, list[NameQuery]] = {}
    for query in queries:
        by_kind.setdefault(_kind(query), []).append(query)
    ids_by_kind: dict[Any, IdsByValue] = {}
    for kind, group in by_kind.items():
        values = tuple(dict.fromkeys(value for query in group for value in query.values))
        ids_by_kind[kind] = _look_up(uow, dataclasses.replace(group[0], values=values, tree=False))
    return [query.missing_error(ids_by_kind[_kind(query)]) for query in queries]


def _kind(query: NameQuery) -> tuple[Any, ...]:
    """Key of queries that one statement can answer."""
    return query.target, query.by, query.ids, query.allowed, query.public
