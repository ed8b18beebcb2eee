"""Compiled SELECT statements that read representations.

A plan is built once for a resource and a shape (``full``, ``brief``, …). It holds one SELECT of exactly the columns
needed, with a LEFT JOIN for each to-one reference, one batched SELECT for the to-many relations, and a function from
row to dictionary. The number of statements does not depend on the number of objects.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.engine import inlined_int, lock_rows
from netinv_core.db.expressions import in_parameter
from netinv_core.driver.results import Row as Row
from netinv_core.models.columns import column_info
from netinv_core.sql import stored_sizes
from netinv_core.sql.beside import Beside, read_value
from netinv_core.sql.records import nested_fields as nested_fields
from netinv_core.sql.records import read_null, record
from netinv_core.sql.records import record_nested as record_nested
from netinv_core.sql.relations import Visible
from netinv_core.sql.union import Union, kept_union

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork


Reader = Callable[[Row, "RowSet"], Any]  # from a row of a plan to a member of a representation
Batch = Callable[["UnitOfWork", Sequence[Row]], dict[Any, Any]]
Conditions = Callable[["UnitOfWork", "Endpoint", Any], Sequence[Any]]  # on the rows of a table
LoadObjects = Callable[["UnitOfWork", str, "Iterable[tuple[Any, Any]]"], dict[Any, Any]]  # by label and id


@dataclasses.dataclass(frozen=True, eq=False)
class JoinedTable:
    """An aliased table in a plan's joins, its endpoint, and the path of attributes from the root to it."""

    table: Any
    endpoint: Endpoint
    path: tuple[str, ...] = ()


@dataclasses.dataclass(eq=False)
class RowSet:
    """State of representing the rows of one result.

    ``batches`` holds the results of the plan's batched loads. ``nested`` is a cache of nested representations, one
    dictionary by id for each reference of the plan: a page of devices has few sites. ``markup`` is one of cells.
    ``tests`` has what :meth:`ReadPlan.meets` asked for: the position of its column in the row, or ``None`` where there
    are no conditions.
    """

    uow: UnitOfWork
    base: str
    batches: list[dict[Any, Any]]
    nested: list[dict[Any, dict[str, Any]]]
    tests: Sequence[int | None] = ()
    markup: dict[Any, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(eq=False)
class _GenericLoad:
    """A batched load of objects by generic foreign keys, of one shape.

    ``columns`` are the positions of the pairs (label, id) in the row; ``batch`` is the position in ``RowSet.batches``.
    """

    shape: str
    batch: int
    load_objects: LoadObjects
    columns: list[tuple[int, int]] = dataclasses.field(default_factory=list)

    def load(self, uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
        """The representations by label and id."""
        pairs = {(row[label], row[key]) for row in rows for label, key in self.columns}
        return self.load_objects(uow, self.shape, pairs)


@dataclasses.dataclass(eq=False)
class _ToManyLoad:
    """A batched load of all to-many lists of a plan, in one statement.

    ``lists`` has an entry for each list: the position of the owner's id in the row, and the plan of the list's items.
    ``batch`` is the position in ``RowSet.batches``.
    """

    batch: int
    lists: list[tuple[int, ReadPlan]] = dataclasses.field(default_factory=list)

    def load(self, uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
        """The lists of items by list number and owner's id."""
        owners = [dict.fromkeys(row[owner] for row in rows if row[owner] is not None) for owner, _ in self.lists]
        requests = [(plan, list(keys)) for keys, (_, plan) in zip(owners, self.lists, strict=True)]
        items_by_owner: dict[Any, Any] = {}
        for number, items in enumerate(fetch_together(uow, requests)):
            for owner_id, item in items:
                items_by_owner.setdefault((number, owner_id), []).append(item)
        return items_by_owner


class ReadPlan:
    """SELECT and reader for one resource in one shape (see the module docstring).

    ``key`` is the column that :meth:`fetch` selects by, the id unless stated otherwise. ``through`` is a subquery with
    ``owner_id`` and ``target_id`` that is joined, for the items of a to-many relation. An ``ordered`` plan gives its
    rows in the order of lists within other objects.
    """

    def __init__(
        self,
        registry: Registry,
        endpoint: Endpoint,
        *,
        key: Any = None,
        through: Any = None,
        ordered: bool = False,
    ) -> None:
        self.registry = registry
        self.root = JoinedTable(endpoint.table, endpoint)
        source, self._order, *_ = endpoint.nested_ordering if ordered else (endpoint.table, [])
        self._from: Any = source
        if through is not None:
            self._from = through.join(source, through.c.target_id == endpoint.table.c.id)
        self._joins: dict[tuple[str, ...], JoinedTable] = {(): self.root}
        self._links: dict[tuple[str, ...], tuple[JoinedTable, str]] = {}  # foreign keys, by the paths of their targets
        self._columns: list[Any] = []
        self._index: dict[Any, int] = {}
        self._tests: dict[tuple[JoinedTable, Conditions], int] = {}
        self._batches: list[Batch] = []
        self._generic_loads: dict[tuple[str, LoadObjects], _GenericLoad] = {}
        self._to_many_load: _ToManyLoad | None = None
        self._readers: dict[tuple[tuple[str, ...], Field], Reader] = {}
        self._values: dict[int, Reader] = {}
        self._references = 0
        self._key = endpoint.table.c.id if key is None else key
        self._add(((), "id") if self._key is endpoint.table.c.id else ("key",), self._key)
        self._reader: Reader | None = None
        self._selects: dict[tuple[str, bool], sa.Select[Any]] = {}

    # -- building

    def _add(self, name: tuple[Any, ...], expression: Any) -> int:
        if name not in self._index:
            self._index[name] = len(self._columns)
            self._columns.append(expression.label(f"c{len(self._columns)}"))
        return self._index[name]

    def column(self, place: JoinedTable, attribute: str) -> int:
        """Adds a column of ``place`` to the SELECT; returns its position in the row.

        The id of the target of a foreign key is the value of the foreign key.
        """
        if attribute == "id" and place.path in self._links:
            return self.column(*self._links[place.path])
        return self._add((place.path, attribute), place.table.c[attribute])

    def expression(self, place: JoinedTable, name: str, expression: Any) -> int:
        """Adds an SQL expression to the SELECT, once for each ``name``; returns its position in the row."""
        return self._add((place.path, "", name), expression)

    def meets(self, place: JoinedTable, conditions: Conditions) -> Callable[[Row, RowSet], bool]:
        """Returns a reader that tells if the row at ``place`` meets conditions that depend on the user, such as
        :func:`netinv_core.auth.permissions.visible`. They are a column of the statement for users who have any.
        """
        number = self._tests.setdefault((place, conditions), len(self._tests))

        def read(row: Row, page: RowSet) -> bool:
            position = page.tests[number]
            return position is None or bool(row[position])

        return read

    def join(self, place: JoinedTable, attribute: str) -> JoinedTable | None:
        """LEFT JOIN along a foreign key; ``None`` when the package of its target is not installed."""
        path = (*place.path, attribute)
        if path in self._joins:
            return self._joins[path]
        link = column_info(place.endpoint.model.__table__.c[attribute]).foreign_key
        target = self.registry.target(link)
        if target is None:
            return None
        table = target.table.alias("_".join(path))
        self._from = self._from.outerjoin(table, place.table.c[attribute] == table.c.id)
        self._joins[path] = JoinedTable(table, target, path)
        if place.table.c[attribute].foreign_keys:  # none for a target that is in another package, and may be gone
            self._links[path] = place, attribute
        return self._joins[path]

    def join_reverse(self, place: JoinedTable, name: str, target: Endpoint, attribute: str) -> JoinedTable:
        """LEFT JOIN of the row of ``target`` whose unique foreign key ``attribute`` refers to ``place``.

        This is a reverse one-to-one relation; ``name`` identifies the join in the path.
        """
        path = (*place.path, name)
        if path not in self._joins:
            table = target.table.alias("_".join(path))
            self._from = self._from.outerjoin(table, table.c[attribute] == place.table.c.id)
            self._joins[path] = JoinedTable(table, target, path)
        return self._joins[path]

    def batch(self, load: Batch) -> int:
        """Registers a function that loads data for all rows; returns its result's position in ``RowSet.batches``."""
        self._batches.append(load)
        return len(self._batches) - 1

    def load_generic(self, shape: str, label: int, key: int, load_objects: LoadObjects) -> int:
        """Registers a generic foreign key, whose label and id are at these positions in the row.

        All generic foreign keys of one ``shape`` are loaded together, by ``load_objects(uow, shape, pairs)``
        (:func:`netinv_core.sql.plans.named_objects`, one statement). Returns the position in
        ``RowSet.batches`` of the representations by (label, id).
        """
        generic_load = self._generic_loads.get((shape, load_objects))
        if generic_load is None:
            generic_load = _GenericLoad(shape, len(self._batches), load_objects)
            self.batch(generic_load.load)
            self._generic_loads[shape, load_objects] = generic_load
        generic_load.columns.append((label, key))
        return generic_load.batch

    def load_to_many(self, place: JoinedTable, inner: ReadPlan) -> Reader:
        """Returns a reader of the list of items that ``inner`` selects by the id at ``place``.

        All lists of a plan are loaded in one statement.
        """
        if self._to_many_load is None:
            self._to_many_load = _ToManyLoad(batch=len(self._batches))
            self.batch(self._to_many_load.load)
        batch, number = self._to_many_load.batch, len(self._to_many_load.lists)
        owner = self.column(place, "id")
        self._to_many_load.lists.append((owner, inner))
        return lambda row, page: page.batches[batch].get((number, row[owner]), [])

    def nested(
        self, place: JoinedTable, attribute: str, field_names: Sequence[str] = (), without: Collection[str] = ()
    ) -> Reader:
        """Returns a reader of the nested representation of a foreign key's target, or of null.

        ``field_names`` and ``without`` are those of :func:`record_nested`.
        """
        key_position, target = self.column(place, attribute), self.join(place, attribute)
        if target is None:
            return read_null
        represent, slot = record_nested(self, target, field_names, without=without), self._references
        self._references += 1
        is_uuid = target.endpoint.key_type is uuid.UUID  # hashed by its number: its own method takes a tenth of a page

        def read(row: Row, page: RowSet) -> dict[str, Any] | None:
            key = row[key_position]
            if key is None:
                return None
            cache, number = page.nested[slot], key.int if is_uuid else key
            representation = cache.get(number)
            if representation is None:
                representation = cache[number] = represent(row, page)
            return representation

        return read

    def reader_of(self, place: JoinedTable, field: Field) -> Reader:
        """Returns the reader of a field at ``place``; cached, so that several uses of a field load its data once."""
        if (place.path, field) not in self._readers:
            self._readers[place.path, field] = field.reader(self, place)
        return self._readers[place.path, field]

    def value(self, position: int) -> Reader:
        """Returns the reader of the value at a position in the row, as it is."""
        if position not in self._values:
            self._values[position] = lambda row, page: row[position]
        return self._values[position]

    def position_of(self, reader: Reader) -> int | None:
        """The position in the row of a reader that :meth:`value` returned; ``None`` for another one."""
        return next((position for position, value in self._values.items() if value is reader), None)

    def read(self, place: JoinedTable, path: str) -> Reader:
        """Returns a reader for a dotted path of field or column names across foreign keys (``"rack.site.name"``).

        Besides its fields, every resource has the names ``name_in_context`` and ``name_within``
        (:class:`netinv_core.presentation.Presentation`).
        """
        head, _, rest = path.partition(".")
        field = place.endpoint.namings.get(path) or place.endpoint.fields.get(head)
        if not rest:
            if field is not None and head not in place.table.c:
                return self.reader_of(place, field)
            return self.value(self.column(place, head))
        if field is not None and (read := field.path_reader(self, place, rest)) is not None:
            return read
        attribute = f"{head}_id"
        target = self.join(place, attribute)
        if target is None:
            return lambda row, page: None
        reader = self.read(target, rest)
        if self.position_of(reader) is not None:  # NULL where the LEFT JOIN finds no row
            return reader
        present = self.column(place, attribute)
        return lambda row, page: None if row[present] is None else reader(row, page)

    def finish(self, fields: Iterable[Field], *, brief: bool = False, without: Collection[str] = ()) -> ReadPlan:
        """Completes the plan with a representation of these fields, in order, ``without`` dotted names of members."""
        self._reader = record(self, self.root, fields, brief=brief, without=without)
        return self

    def finish_nested(self, *, listed: bool = False, beside: Sequence[Field] = ()) -> ReadPlan:
        """Completes the plan with the nested representation, followed by the fields ``beside``.

        ``listed`` is for items of a to-many list; they have fields that are null in a nested foreign key.
        """
        self._reader = record_nested(self, self.root, listed=listed, beside=beside)
        return self

    def finish_with(self, build: Callable[[ReadPlan, JoinedTable], Reader]) -> ReadPlan:
        """Completes the plan with the reader that ``build(plan, place)`` returns, of any type.

        The web interface reads rows of markup with it.
        """
        self._reader = build(self, self.root)
        return self

    @property
    def reads_one_table(self) -> bool:
        """True for a plan without joins and further statements."""
        return len(self._joins) == 1 and not self._batches

    @property
    def tables(self) -> int:
        """The number of tables that it reads, those of its lists included."""
        lists = self._to_many_load.lists if self._to_many_load else ()
        return len(self._joins) + sum(plan.tables for _, plan in lists)

    # -- running

    def fetch(
        self,
        uow: UnitOfWork,
        keys: Sequence[Any],
        conditions: Sequence[Any] = (),
        limit: int | None = None,
        *,
        locked: bool = False,
        bounded: bool = False,
        beside: Beside | None = None,
    ) -> list[tuple[Any, dict[str, Any]]]:
        """Returns pairs of key and representation, in the plan's order; unordered unless the plan is ``ordered``.

        ``conditions`` are further conditions on the resource's table. At most ``limit`` rows are selected. ``locked``
        locks the rows (FOR UPDATE), of a plan that reads one table. ``bounded``: the rows are for an answer, which has
        a limit (:mod:`~netinv_core.sql.stored_sizes`). ``beside`` is read by the same statement.

        :raises AnswerTooLarge: for ``bounded`` rows whose texts and documents are larger together than an answer may be
        """
        assert self._reader is not None
        if not keys:
            return []
        most = stored_sizes.most(self.registry) if bounded and len(keys) > stored_sizes.FEW and self._long else {}
        values, statement = {"keys": list(keys), **most}, self._by_keys(beside, bool(most))
        asked, tests = self._test_columns(uow, beside)
        statement = statement.add_columns(*asked) if asked else statement
        if locked or limit is not None:
            statement = statement.where(*conditions).limit(None if limit is None else inlined_int("most", limit))
            statement, conditions = lock_rows(statement) if locked else statement, ()
        rows = uow.execute(statement, values, where=conditions).tuples().all()
        if most and not rows:
            stored_sizes.check(uow, self._long, self._key, keys)
        return self._represent(uow, read_value(beside, rows, len(self._columns)), tests)

    @functools.cached_property
    def _long(self) -> list[Any]:
        """The columns of the root without a limit, of a plan that reads rows by their own keys."""
        table = self.root.table
        return stored_sizes.long_columns(table, self._columns) if self._key is table.c.id else []

    def _by_keys(self, beside: Beside | None, bounded: bool) -> sa.Select[Any]:
        """The SELECT of rows by ``keys``, kept."""
        name = beside.name if beside else ""
        select = self._selects.get((name, bounded))
        if select is None:
            clauses = [in_parameter(self._key)]
            clauses += [stored_sizes.fit(self.registry, self._long, self._key)] if bounded else []
            columns = [*self._columns, beside.column.label(name)] if beside else self._columns
            statement = sa.select(*columns).select_from(self._from).where(*clauses).order_by(*self._order)
            select = self._selects[name, bounded] = statement
        return select

    def _test_columns(self, uow: UnitOfWork, beside: Beside | None) -> tuple[list[Any], list[int | None]]:
        """The columns of the conditions of a user, which follow the others, and ``tests`` of the :class:`RowSet`."""
        columns: list[Any] = []
        tests: list[int | None] = []
        first = len(self._columns) + (beside is not None)
        for place, conditions in self._tests:
            limits = conditions(uow, place.endpoint, place.table)
            tests.append(first + len(columns) if limits else None)
            columns += [sa.and_(*limits)] if limits else []
        return columns, tests

    def _rank_columns(self, beside: Beside | None, asked: Sequence[Any]) -> list[Any]:
        """The columns for a UNION ALL of several plans; an ordered plan adds ``row_number()``: a UNION has no order."""
        rank = [sa.func.row_number().over(order_by=self._order)] if self._order else []
        return [*(column.element for column in self._columns), *([beside.column] if beside else ()), *asked, *rank]

    def _in_order(self, rows: list[Row]) -> list[Row]:
        """Sorts rows of :meth:`_rank_columns` by their ``row_number()``."""
        return sorted(rows, key=operator.itemgetter(-1)) if self._order else rows

    def _represent(
        self, uow: UnitOfWork, rows: Sequence[Row], tests: Sequence[int | None]
    ) -> list[tuple[Any, dict[str, Any]]]:
        assert self._reader is not None
        page = RowSet(uow, uow.base, [], [{} for _ in range(self._references)], tests)
        for load in self._batches:
            page.batches.append(load(uow, rows) if rows else {})
        read = self._reader
        return [(row[0], read(row, page)) for row in rows]

    def represent(self, uow: UnitOfWork, keys: Sequence[Any]) -> list[dict[str, Any]]:
        """Returns the representations for an answer in the order of ``keys``; keys without a row are omitted.

        :raises AnswerTooLarge: as :meth:`fetch`
        """
        by_key = dict(self.fetch(uow, keys, bounded=True))
        return [by_key[key] for key in keys if key in by_key]


def fetch_together(
    uow: UnitOfWork,
    requests: Sequence[tuple[ReadPlan, Sequence[Any]]],
    visible: Visible | None = None,
    beside: Beside | None = None,
) -> list[list[tuple[Any, dict[str, Any]]]]:
    """Runs several plans, each with its own keys, in one UNION ALL; returns what :meth:`ReadPlan.fetch` does for each.

    ``visible`` limits the rows to those that a user may view (:func:`netinv_core.auth.permissions.visible_for`);
    ``beside`` is for plans without such limits.
    """
    limits_of = [visible(plan.root.endpoint, plan.root.table) if visible else () for plan, _ in requests]
    queries = [(plan, keys, limits) for (plan, keys), limits in zip(requests, limits_of, strict=True) if keys]
    if len(queries) < 2:
        return [
            plan.fetch(uow, keys, limits, beside=beside)
            for (plan, keys), limits in zip(requests, limits_of, strict=True)
        ]
    plans = tuple(plan for plan, _, _ in queries)
    asked = [plan._test_columns(uow, None if number else beside) for number, plan in enumerate(plans)]

    def parts() -> list[Any]:
        return [
            (
                plan._rank_columns(None if number else beside, asked[number][0]),
                plan._from,
                sa.and_(in_parameter(plan._key, f"keys{number}"), *limits),
            )
            for number, (plan, _, limits) in enumerate(queries)
        ]

    limited = any(limits for _, _, limits in queries) or any(columns for columns, _ in asked)
    name = (plans, beside.name) if beside else plans
    union = Union(parts()) if limited else kept_union(uow.registry, name, parts)
    found = union.rows(uow, {f"keys{number}": list(keys) for number, (_, keys, _) in enumerate(queries)})
    read_value(beside, found[0], len(plans[0]._columns))
    results = iter(zip(found, asked, strict=True))

    def represent_next(plan: ReadPlan) -> list[tuple[Any, dict[str, Any]]]:
        rows, (_, tests) = next(results)
        return plan._represent(uow, plan._in_order(rows), tests)

    return [represent_next(plan) if keys else [] for plan, keys in requests]
