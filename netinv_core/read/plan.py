"""Compiled SELECTs: how representations are read.

A plan is made once for a resource and a shape (``full``, ``brief``, …). It holds one SELECT of exactly the columns
needed, with to-one references joined, one batched SELECT for each to-many relation, and a function from a row to a
dictionary. Nothing of it depends on how many objects are read.
"""

from __future__ import annotations

import dataclasses
import operator
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.engine import in_parameter, inlined_int
from netinv_core.models.columns import column_info
from netinv_core.models.types import Chars, LongText
from netinv_core.read import relations
from netinv_core.read.relations import Visible

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

Row = Sequence[Any]
Reader = Callable[[Row, "RowSet"], Any]
Batch = Callable[["UnitOfWork", Sequence[Row]], dict[Any, Any]]


@dataclasses.dataclass(eq=False)
class RowSet:
    """The rows being represented: whose request it is, and what the batches loaded for all of them.

    ``nested`` keeps, for each reference of the plan, the representations already made, by id: a page of devices has
    few sites.
    """

    uow: UnitOfWork
    base: str
    batches: list[dict[Any, Any]]
    nested: list[dict[Any, dict[str, Any]]]


@dataclasses.dataclass(frozen=True, eq=False)
class JoinedTable:
    """A table within a plan's joins, and the endpoint whose model it holds."""

    table: Any
    endpoint: Endpoint
    path: tuple[str, ...] = ()


class Plan:
    """One resource in one shape; see the module. ``key`` and ``through`` serve the far side of a relation,
    which is ``ordered`` like a list."""

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
        source, self._order = endpoint.ordering if ordered else (endpoint.table, [])
        self._from: Any = source if through is None else through.join(source, through.c.target_id == endpoint.table.c.id)
        self._joins: dict[tuple[str, ...], JoinedTable] = {(): self.root}
        self._columns: list[Any] = []
        self._index: dict[Any, int] = {}
        self._batches: list[Batch] = []
        self._objects: dict[str, tuple[list[tuple[int, int]], int]] = {}
        self._gathered: tuple[list[tuple[int, Plan]], int] | None = None
        self._readers: dict[tuple[tuple[str, ...], Field], Reader] = {}
        self._references = 0
        self._key = endpoint.table.c.id if key is None else key
        self._select_key = self._add(("key",), self._key)
        self._reader: Reader | None = None
        self._statement: Any = None

    # -- building

    def _add(self, name: tuple[Any, ...], expression: Any) -> int:
        if name not in self._index:
            self._index[name] = len(self._columns)
            self._columns.append(expression.label(f"c{len(self._columns)}"))
        return self._index[name]

    def column(self, place: JoinedTable, attribute: str) -> int:
        """The position in the row of a column of ``place``."""
        return self._add((place.path, attribute), place.table.c[attribute])

    def expression(self, place: JoinedTable, name: str, expression: Any) -> int:
        """The position in the row of an SQL expression, shared by those who give the same ``name``."""
        return self._add((place.path, "", name), expression)

    def join(self, place: JoinedTable, attribute: str) -> JoinedTable | None:
        """The place a foreign key leads to, joined; ``None`` when its package is not installed."""
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
        return self._joins[path]

    def join_reverse(self, place: JoinedTable, name: str, target: Endpoint, attribute: str) -> JoinedTable:
        """The place of the one object of ``target`` whose unique foreign key ``attribute`` leads to ``place``, joined; ``name`` is that of the step."""
        path = (*place.path, name)
        if path not in self._joins:
            table = target.table.alias("_".join(path))
            self._from = self._from.outerjoin(table, table.c[attribute] == place.table.c.id)
            self._joins[path] = JoinedTable(table, target, path)
        return self._joins[path]

    def batch(self, load: Batch) -> int:
        """The position in ``page.batches`` of what ``load`` will give for all rows at once."""
        self._batches.append(load)
        return len(self._batches) - 1

    def load_generic(self, shape: str, label: int, key: int) -> int:
        """The position in ``page.batches`` of the objects, by label and id, that pairs of columns name: one batch for all pairs shown alike."""
        if shape not in self._objects:
            pairs: list[tuple[int, int]] = []

            def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
                return named_objects(uow, shape, {(row[name], row[id_]) for row in rows for name, id_ in pairs})

            self._objects[shape] = pairs, self.batch(load)
        pairs, batch = self._objects[shape]
        pairs.append((label, key))
        return batch

    def load_to_many(self, place: JoinedTable, inner: Plan) -> Reader:
        """A reader of the list of what ``inner`` finds by the ids at ``place``: one statement for all lists that are gathered."""
        if self._gathered is None:
            inners: list[tuple[int, Plan]] = []

            def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
                found: dict[Any, Any] = {}
                wanted = [(plan, list({row[key]: None for row in rows if row[key] is not None})) for key, plan in inners]
                for number, items in enumerate(fetch_together(uow, wanted)):
                    for owner, item in items:
                        found.setdefault((number, owner), []).append(item)
                return found

            self._gathered = inners, self.batch(load)
        inners, batch = self._gathered
        key, number = self.column(place, "id"), len(inners)
        inners.append((key, inner))
        return lambda row, page: page.batches[batch].get((number, row[key]), [])

    def nested(self, place: JoinedTable, attribute: str, shows: Sequence[str] = ()) -> Reader:
        """A reader of the nested representation that a foreign key leads to (of these fields, when ``shows`` names any), or of null."""
        present, target = self.column(place, attribute), self.join(place, attribute)
        if target is None:
            return _nothing
        make, slot = record_nested(self, target, shows), self._references
        self._references += 1

        def read(row: Row, page: RowSet) -> dict[str, Any] | None:
            key = row[present]
            if key is None:
                return None
            made = page.nested[slot]
            found = made.get(key)
            if found is None:
                found = made[key] = make(row, page)
            return found

        return read

    def reader_of(self, place: JoinedTable, field: Field) -> Reader:
        """How a field is read at ``place``: what it loads is loaded once, however many other fields are read from it."""
        if (place.path, field) not in self._readers:
            self._readers[place.path, field] = field.reader(self, place)
        return self._readers[place.path, field]

    def read(self, place: JoinedTable, path: str) -> Reader:
        """A reader for a dotted path of field or column names, across references (``"rack.site.name"``)."""
        head, _, rest = path.partition(".")
        if not rest:
            field = place.endpoint.fields.get(head)
            if field is not None and head not in place.table.c:
                return self.reader_of(place, field)
            index = self.column(place, head)
            return lambda row, page: row[index]
        attribute = f"{head}_id"
        target = self.join(place, attribute)
        if target is None:
            return lambda row, page: None
        present, reader = self.column(place, attribute), self.read(target, rest)
        return lambda row, page: None if row[present] is None else reader(row, page)

    def finish(self, fields: Iterable[Field], *, brief: bool = False) -> Plan:
        """Fixes the representation to these fields, in order."""
        self._reader = _record(self, self.root, fields, brief=brief)
        return self

    def finish_nested(self, *, listed: bool = False, beside: Sequence[Field] = ()) -> Plan:
        """Fixes the representation to the one that other resources nest, with the fields ``beside`` it.

        ``listed`` when in a list, which shows what a reference does not know.
        """
        self._reader = record_nested(self, self.root, listed=listed, beside=beside)
        return self

    # -- running

    def fetch(self, uow: UnitOfWork, keys: Sequence[Any], conditions: Sequence[Any] = (), most: int | None = None) -> list[tuple[Any, dict[str, Any]]]:
        """The representations for ``keys``, each with its key; in the plan's own order, or none.

        Only those for whose rows the ``conditions`` on the resource's table hold, ``most`` of them.
        """
        assert self._reader is not None
        if not keys:
            return []
        if self._statement is None:
            self._statement = sa.select(*self._columns).select_from(self._from).where(in_parameter(self.registry.dialect, self._key)).order_by(*self._order)
        statement = self._statement.where(*conditions) if conditions else self._statement
        statement = statement if most is None else statement.limit(inlined_int("most", most))
        return self._represented(uow, uow.execute(statement, {"keys": list(keys)}).all())

    def _ranked(self) -> list[Any]:
        """The columns as parts of a statement of several plans, whose rows come in no order: an ordered plan adds the place of each row."""
        rank = [sa.func.row_number().over(order_by=self._order)] if self._order else []
        return [*(column.element for column in self._columns), *rank]

    def _in_order(self, rows: list[Row]) -> list[Row]:
        """The rows of :meth:`_ranked` columns, in the plan's own order."""
        return sorted(rows, key=operator.itemgetter(-1)) if self._order else rows

    def _represented(self, uow: UnitOfWork, rows: Sequence[Row]) -> list[tuple[Any, dict[str, Any]]]:
        assert self._reader is not None
        page = RowSet(uow, uow.base, [], [{} for _ in range(self._references)])
        for load in self._batches:
            page.batches.append(load(uow, rows) if rows else {})
        read = self._reader
        return [(row[0], read(row, page)) for row in rows]

    def represent(self, uow: UnitOfWork, keys: Sequence[Any]) -> list[dict[str, Any]]:
        """The representations in the order of ``keys``; keys without a row are left out."""
        found = dict(self.fetch(uow, keys))
        return [found[key] for key in keys if key in found]


def fetch_together(
    uow: UnitOfWork, wanted: Sequence[tuple[Plan, Sequence[Any]]], visible: Visible = relations.everything
) -> list[list[tuple[Any, dict[str, Any]]]]:
    """The representations of several plans, each by its own keys and in its own order, in one UNION ALL whose columns are shared by type.

    ``visible`` limits what is found to what a user may view (:func:`netinv_core.auth.permissions.visible_for`).
    """
    asked = [(plan, keys, visible(plan.root.endpoint, plan.root.table)) for plan, keys in wanted if keys]
    if len(asked) < 2:
        return [plan.fetch(uow, keys, visible(plan.root.endpoint, plan.root.table)) for plan, keys in wanted]
    plans, dialect = tuple(plan for plan, _, _ in asked), uow.registry.dialect

    def parts() -> list[Any]:
        return [
            (plan._ranked(), plan._from, sa.and_(in_parameter(dialect, plan._key, f"keys{number}"), *limits))
            for number, (plan, _, limits) in enumerate(asked)
        ]

    limited = any(limits for _, _, limits in asked)
    union = Union(dialect, parts()) if limited else uow.registry.union(plans, parts)
    found = iter(union.rows(uow, {f"keys{number}": list(keys) for number, (_, keys, _) in enumerate(asked)}))
    return [plan._represented(uow, plan._in_order(next(found))) if keys else [] for plan, keys in wanted]


def named_objects(uow: UnitOfWork, shape: str, pairs: Iterable[tuple[Any, Any]], visible: Visible = relations.everything) -> dict[Any, Any]:
    """The objects that these labels and ids name, in one statement; those of packages that are not installed, or not ``visible``, are left out."""
    wanted: dict[str, set[Any]] = {}
    for label, key in pairs:
        if label and key is not None:
            wanted.setdefault(label, set()).add(key)
    targets = {label: found for label in sorted(wanted) if (found := uow.registry.get(label)) is not None and found.key_type is uuid.UUID}
    shown = fetch_together(uow, [(target.plan(shape), list(wanted[label])) for label, target in targets.items()], visible)
    return {(label, key): item for label, items in zip(targets, shown, strict=True) for key, item in items}


class Union:
    """Several selects in one statement, each ``(columns, from, where)``: columns of any models share the row's places by type."""

    def __init__(self, dialect: str, parts: Sequence[tuple[Sequence[Any], Any, Any]]) -> None:
        slots: list[tuple[Any, Any]] = []
        self._places = [_slots_of(columns, slots) for columns, _, _ in parts]
        selects = []
        for number, (columns, source, condition) in enumerate(parts):
            filled = dict(zip(self._places[number], columns, strict=True))
            padded = [filled[slot] if slot in filled else _null(dialect, type_) for slot, (_, type_) in enumerate(slots)]
            labelled = [column.label(f"s{slot}") for slot, column in enumerate(padded)]
            selects.append(sa.select(sa.literal_column(str(number)).label("part"), *labelled).select_from(source).where(condition))
        self._statement = sa.union_all(*selects)

    def rows(self, uow: UnitOfWork, parameters: dict[str, Any]) -> list[list[Row]]:
        """The rows that each select finds."""
        found: list[list[Row]] = [[] for _ in self._places]
        for part, *row in uow.execute(self._statement, parameters):
            found[part].append([row[slot] for slot in self._places[part]])
        return found


def _slots_of(columns: Sequence[Any], slots: list[tuple[Any, Any]]) -> list[int]:
    """The positions in a shared row of a select's columns, each among those of its type; adds those that are missing."""
    taken: list[int] = []
    for column in columns:
        kind = str if isinstance(column.type, sa.String | Chars | LongText) else type(column.type)
        free = next((slot for slot, (other, _) in enumerate(slots) if other is kind and slot not in taken), len(slots))
        if free == len(slots):
            slots.append((kind, sa.Text() if kind is str else column.type))
        taken.append(free)
    return taken


def _null(dialect: str, type_: Any) -> Any:
    """A null that says its type where a union asks for it."""
    return sa.cast(sa.null(), type_) if dialect == "postgresql" else sa.literal_column("NULL", type_)


def _record(plan: Plan, place: JoinedTable, fields: Iterable[Field], *, brief: bool) -> Reader:
    """A reader of a dictionary of ``fields`` at ``place``."""
    shown = [field for field in fields if not field.write_only]
    readers = [(field.name, field.brief_reader(plan, place) if brief else plan.reader_of(place, field)) for field in shown]

    def read(row: Row, page: RowSet) -> dict[str, Any]:
        return {name: reader(row, page) for name, reader in readers}

    return read


def _nothing(row: Row, page: RowSet) -> None:
    return None


def shown_fields(endpoint: Endpoint, shows: Sequence[str] = ()) -> list[Field]:
    """What other resources nest of an object: its brief form, or what ``shows`` names after ``display, id, url``."""
    if shows:
        return [endpoint.fields[name] for name in ("display", "id", "url", *shows)]
    return [field for field in endpoint.brief if field.nested != "absent"]


def record_nested(plan: Plan, place: JoinedTable, shows: Sequence[str] = (), *, listed: bool = False, beside: Sequence[Field] = ()) -> Reader:
    """A reader of the representation that other resources nest of the object at ``place``, with the fields ``beside`` it."""
    shown = [*shown_fields(place.endpoint, shows), *beside]
    readers = [(f.name, _nothing if f.nested == "null" and not listed else f.brief_reader(plan, place)) for f in shown]

    def read(row: Row, page: RowSet) -> dict[str, Any]:
        return {name: reader(row, page) for name, reader in readers}

    return read
