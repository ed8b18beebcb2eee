"""Fields with many values, loaded for a whole page at once: associations, content types, reverse foreign keys."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.errors import NON_FIELD
from netinv_core.fields import cells, list_differences
from netinv_core.fields.base import Field, cell_items, from_json, last_text, refused_items
from netinv_core.fields.openapi_types import list_or_difference
from netinv_core.fields.references import named_schema, nested_schema
from netinv_core.models.associations import EVERY_TYPE, RELATED
from netinv_core.sql.plan import ReadPlan, Row

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.records import ContentType
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft
    from netinv_core.write.identification import IdentifiedObjects


MAX_ITEMS = 10_000  # of one list of references
EMPTY = "This list may not be empty."
NO_LABEL = "Invalid value. Specify a content type as '<app_label>.<model_name>'."


@dataclasses.dataclass(eq=False, kw_only=True)
class ToMany(Field):
    """Objects of an association table, nested; written as a list that replaces the former one, or as a difference.

    ``plain`` selects the error format of lists of ids; ``brief_name`` is the one field of each object in the brief
    form. ``by`` is a column of the objects that is read and written in place of them.
    """

    table: Any
    to: str
    registry: Registry
    kind: str = "field"
    related_name: str | None = None
    count_field: str | None = None
    plain: bool = False
    brief_name: str | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        """Takes what the table says of the relation back, where the field does not say it itself.

        :raises TypeError: for something else than a table
        """
        if type(self) is ToMany and not hasattr(self.table, "c"):  # others have pairs of their own
            raise TypeError(f"the table of the field {self.name!r} is {self.table!r}; expected that of many_to_many")
        given = getattr(self.table, "info", {}).get(RELATED, {})
        self.related_name = self.related_name or given.get("related_name")
        self.count_field = self.count_field or given.get("count_field")

    @property
    def pairs(self) -> Any:
        """The table of pairs, or a subquery of it, with the columns ``owner_id`` and ``target_id``."""
        return self.table

    @property
    def target(self) -> Endpoint | None:
        """The endpoint of the model referred to."""
        return self.registry.get(self.to)

    def sources(self) -> Collection[str]:
        return ()

    def items_plan(self, registry: Registry) -> ReadPlan | None:
        """The plan of the items by the ids of their owners, to be finished; ``None`` without their package."""
        target = self.target
        if target is None:
            return None
        pairs = self.pairs
        return ReadPlan(registry, target, key=pairs.c.owner_id, through=pairs, ordered=True)

    def items_of(self, value: Any) -> list[Any]:
        """The items of a value as read or written."""
        return list(value or ())

    def of_items(self, items: list[Any]) -> Any:
        """The value that has these items: the inverse of :meth:`items_of`."""
        return items

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        inner = self.items_plan(plan.registry)
        if inner is None:
            return lambda row, page: []
        return self.listed(plan, place, inner.finish_nested(listed=True))

    def listed(self, plan: ReadPlan, place: JoinedTable, inner: ReadPlan) -> Reader:
        """Reader of the list of the rows of ``inner`` by the ids at ``place``; of their column ``by``, if that is
        set.
        """
        read, by = plan.load_to_many(place, inner), self.by
        return read if by is None else lambda row, page: [item[by] for item in read(row, page)]

    def brief_reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        read, name = self.reader(plan, place), self.brief_name
        return read if name is None else lambda row, page: [item[name] for item in read(row, page)]

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        if (difference := list_differences.parse(draft, value)) is not None:
            difference.add, difference.remove = self._items(difference.add), self._items(difference.remove)
            draft.add_difference(self, difference)
            return
        if self.plain and isinstance(value, dict):
            value = list(value)
        if not isinstance(value, list):
            raise refused_items(value) if self.plain else refused_list(value)
        draft.add_references(self, self._items(value))

    def _items(self, items: list[Any]) -> list[Any]:
        """The references of a list that was sent.

        :raises colander.Invalid: for more than :data:`MAX_ITEMS`
        """
        if len(items) > MAX_ITEMS:
            raise colander.Invalid(None, f"The list has {len(items)} items; at most {MAX_ITEMS} are taken.")
        return self.named_items(items)

    def named_items(self, items: list[Any]) -> list[Any]:
        """The values by which items that were sent are looked up."""
        return items

    def allowed(self, uow: UnitOfWork, ids: set[Any]) -> set[Any] | None:
        """The allowed ones of these ids; ``None`` for all."""
        return None

    def from_form(self, values: Sequence[Any]) -> Any:
        return to_list(values)

    def cell_references(self, value: Any) -> Iterable[tuple[Endpoint, Any]]:
        target = self.target
        return [] if target is None or self.by is not None else [(target, item["id"]) for item in value]

    def to_cell(self, value: Any, identified: IdentifiedObjects) -> str:
        """Converts a list of objects to their natural attributes, or ids, separated by commas."""
        if self.by is not None:
            return cells.join_items(map(str, value))
        return cells.join_items(identified.text_of(self.target, item["id"]) for item in value)

    def from_cell(self, text: str) -> Any:
        items, target = cell_items(text), self.target
        if self.by is not None or target is None:
            return items
        return [target.named_in_cell(item) if isinstance(item, str) else item for item in items]

    def stored_lists(self, uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, list[Any]]:
        """The ids in the lists of objects, by id; one statement."""
        pairs = self.pairs
        clause = in_parameter(pairs.c.owner_id)
        return collect(uow.execute(sa.select(pairs.c.owner_id, pairs.c.target_id).where(clause), {"keys": keys}))

    def set_list(self, draft: Draft, items: list[Any]) -> None:
        """Stores the ids that :mod:`netinv_core.write.references` has looked up."""
        draft.many[self.name] = list(dict.fromkeys(items))

    def reject(self, draft: Draft, errors: list[str]) -> None:
        """Adds the errors of items."""
        draft.errors[self.name] = errors[:1] if self.plain else [[error] for error in errors]

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        replace_rows(uow, self.table, "target_id", self.name, drafts)

    def to_body(self, value: Any) -> Any:
        return [item["id"] if isinstance(item, dict) else item for item in value]

    def object_data(self, value: Any) -> Any:
        return value if self.by is not None else [item["id"] for item in value]

    def schema(self) -> dict[str, Any]:
        return self._described(
            {"type": "array", "items": {"type": "string"} if self.by is not None else nested_schema(self.target)}
        )

    def brief_schema(self) -> dict[str, Any]:
        return (
            self.schema()
            if self.brief_name is None
            else self._described({"type": "array", "items": {"type": "string"}})
        )

    def written_schema(self) -> dict[str, Any]:
        return (
            self.schema()
            if self.by is not None
            else self._described({"type": "array", "items": named_schema(self.target)})
        )

    def patched_schema(self) -> dict[str, Any]:
        return list_or_difference(self.written_schema())


@dataclasses.dataclass(eq=False, kw_only=True)
class ContentTypeList(Field):
    """Content types of an association table, as ``app.model`` labels.

    ``allowed(registry, label)`` restricts the labels; ``empty=False`` requires at least one. With ``everything``
    the list may have :data:`netinv_core.models.associations.EVERY_TYPE`.
    """

    table: Any
    registry: Registry
    kind: str = "field"
    empty: bool = True
    allowed: Callable[[Registry, str], bool] = lambda registry, label: True
    everything: bool = False

    def sources(self) -> Collection[str]:
        return ()

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        owner, label = self.table.c.owner_id, self.table.c.label
        statement = sa.select(owner, label).where(in_parameter(owner))
        key = plan.column(place, "id")

        def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
            labels_by_owner = collect(uow.execute(statement, {"keys": keys_of(rows, key)}))
            in_order = functools.partial(_order, uow.registry.content_types)
            return {owner: sorted(labels, key=in_order) for owner, labels in labels_by_owner.items()}

        batch = plan.batch(load)
        return lambda row, page: page.batches[batch].get(row[key], [])

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        if (difference := list_differences.parse(draft, value)) is not None:
            for label in difference.add:
                self.check_label(label)
            if not all(isinstance(label, str) for label in difference.remove):
                raise colander.Invalid(None, NO_LABEL)
            draft.differences.append((self, difference))
            return
        if not isinstance(value, list | dict):
            raise refused_items(value)
        if not (value or self.empty):
            raise colander.Invalid(None, EMPTY)
        for label in value:
            self.check_label(label)
        draft.many[self.name] = list(dict.fromkeys(value))

    def check_label(self, label: Any) -> None:
        """Checks a label to be listed.

        :raises colander.Invalid: for another one
        """
        if self.everything and label == EVERY_TYPE:
            return
        if not isinstance(label, str) or label.count(".") != 1:
            raise colander.Invalid(None, NO_LABEL)
        if self.registry.content_type(label) is None or not self.allowed(self.registry, label):
            raise colander.Invalid(None, f"Invalid content type: {label}")

    def stored_lists(self, uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, list[Any]]:
        """The labels in the lists of objects, by id; one statement."""
        owner, label = self.table.c.owner_id, self.table.c.label
        clause = in_parameter(owner)
        return collect(uow.execute(sa.select(owner, label).where(clause), {"keys": keys}))

    def set_list(self, draft: Draft, items: list[Any]) -> None:
        """Stores the labels, or rejects the draft where none is left of a list that may not be empty."""
        if items or self.empty:
            draft.many[self.name] = items
        else:
            draft.reject(self.name, EMPTY)

    def from_form(self, values: Sequence[Any]) -> Any:
        return to_list(values)

    def to_cell(self, value: Any, identified: IdentifiedObjects) -> str:
        return cells.join_items(value)

    def from_cell(self, text: str) -> Any:
        return cell_items(text)

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        replace_rows(uow, self.table, "label", self.name, drafts)

    def object_data(self, value: Any) -> Any:
        return [content_type.id for label in value if (content_type := self.registry.content_type(label)) is not None]

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "array", "items": {"type": "string"}})

    def patched_schema(self) -> dict[str, Any]:
        return list_or_difference(self.written_schema())


@dataclasses.dataclass(eq=False, kw_only=True)
class ReverseForeignKey(Field):
    """The objects whose foreign key ``attribute_there`` refers to this one, nested; read only."""

    to: str
    attribute_there: str
    registry: Registry
    read_only: bool = True
    kind: str = "field"

    def sources(self) -> Collection[str]:
        return ()

    @property
    def target(self) -> Endpoint | None:
        """The endpoint of the objects."""
        return self.registry.get(self.to)

    def items_plan(self, registry: Registry) -> ReadPlan | None:
        """The plan of the items by the ids of their owners, to be finished; ``None`` without their package."""
        target = self.target
        if target is None:
            return None
        return ReadPlan(registry, target, key=target.table.c[self.attribute_there], ordered=True)

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        inner = self.items_plan(plan.registry)
        return (lambda row, page: []) if inner is None else plan.load_to_many(place, inner.finish_nested())

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "array", "items": nested_schema(self.registry.get(self.to))})


def to_list(values: Sequence[Any]) -> list[Any]:
    """Converts the values of a form to a list: an item for each value that is not blank, or one value with a JSON list.

    :raises colander.Invalid: for a file, or invalid JSON
    """
    texts = [text for value in values if (text := last_text([value]))]
    items = [from_json(text) if text[0] in "[{" else text for text in texts]
    return items[0] if len(items) == 1 and isinstance(items[0], list) else items


def _order(content_types: Mapping[str, ContentType], label: str) -> tuple[bool, float, str]:
    """The key by which content types are sorted: every type, then those known, by number. Others are last: their rows
    are gone, or newer than this process.
    """
    known = content_types.get(label)
    return label != EVERY_TYPE, float("inf") if known is None else known.id, label


def collect(rows: Any) -> dict[Any, list[Any]]:
    """Groups ``(key, value)`` pairs: lists of values by key."""
    values: dict[Any, list[Any]] = {}
    for key, value in rows:
        values.setdefault(key, []).append(value)
    return values


def keys_of(rows: Sequence[Row], index: int) -> list[Any]:
    """The distinct keys in a column of the rows."""
    return list({row[index]: None for row in rows if row[index] is not None})


def replace_rows(uow: UnitOfWork, table: Any, column: str, name: str, drafts: Sequence[Draft]) -> None:
    """Replaces the association rows of each draft that has the list ``name``: one DELETE and one INSERT."""
    sent = [draft for draft in drafts if name in draft.many]
    if former := [draft.id for draft in sent if not draft.new]:
        uow.execute(sa.delete(table).where(in_parameter(table.c.owner_id)), {"keys": former})
    rows = [{"owner_id": draft.id, column: value} for draft in sent for value in draft.many[name]]
    if rows:
        uow.execute(sa.insert(table), rows)


def refused_list(value: Any) -> colander.Invalid:
    """The error of a value that is not a list, in the format of nested lists."""
    error = colander.Invalid(None, "")
    error.body = {NON_FIELD: [f'Expected a list of items but got type "{type(value).__name__}".']}
    return error
