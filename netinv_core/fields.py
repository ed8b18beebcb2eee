"""Fields: the one abstraction. Everything the service does with a resource is a fold over its fields.

A field selects itself into a plan and turns a row into JSON (:meth:`Field.reader`), takes what a client sent
(:meth:`Field.accept`), and describes itself for OPTIONS and OpenAPI.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
import sqlalchemy as sa

from netinv_core.database import among
from netinv_core.errors import FieldErrors
from netinv_core.model import Choices, Column, Link
from netinv_core.read.plan import Page, Place, Plan, Reader, Row, fetch_together
from netinv_core.write import schema

if TYPE_CHECKING:
    from netinv_core.context import Context
    from netinv_core.registry import Endpoint, Registry
    from netinv_core.write.draft import Draft

NONE: Any = object()


@dataclasses.dataclass(eq=False, kw_only=True)
class Field:
    """One member of a resource's representation.

    ``kind`` is the type OPTIONS shows; ``costly`` fields can be left out with ``exclude``, ``opt_in`` fields are read
    when ``include`` names them and shown in the answer to a write; ``attribute`` is the
    column that holds the value, when one does; ``nested`` says whether the field is ``shown``, ``absent`` or
    ``null`` where its resource is nested in another.
    """

    name: str
    label: str | None = None
    help: str = ""
    kind: str = "field"
    read_only: bool = False
    write_only: bool = False
    required: bool = False
    nullable: bool = False
    costly: bool = False
    opt_in: bool = False
    nested: str = "shown"
    default: Any = NONE
    attribute: str | None = None
    openapi: dict[str, Any] = dataclasses.field(default_factory=dict)

    def reader(self, plan: Plan, place: Place) -> Reader:
        """How the value is read at ``place``; adds what it needs to the plan."""
        raise NotImplementedError

    def brief_reader(self, plan: Plan, place: Place) -> Reader:
        """How the value is read in the brief shape."""
        return self.reader(plan, place)

    def accept(self, draft: Draft, value: Any) -> None:
        """Takes a value from a body into the draft.

        :raises colander.Invalid: with what is wrong with it
        """
        raise NotImplementedError

    def store(self, context: Context, drafts: Sequence[Draft]) -> None:
        """Writes what is kept outside the object's own row, for a batch that has been written."""

    def flat(self, shown: Any) -> Any:
        """What the change log's flat form keeps of a value kept outside the object's own row, given its representation."""
        return shown

    def options(self) -> dict[str, Any]:
        """The entry under ``actions.POST`` of OPTIONS."""
        label = self.label or self.name.replace("_", " ").capitalize()
        found = {"type": self.kind, "required": self.required, "read_only": self.read_only, "label": label}
        if self.help:
            found["help_text"] = self.help
        return found

    def schema(self) -> dict[str, Any]:
        """The OpenAPI schema of the value as read."""
        return self._described(self.openapi)

    def written_schema(self) -> dict[str, Any]:
        """The OpenAPI schema of the value as written."""
        return self.schema()

    def brief_schema(self) -> dict[str, Any]:
        """The OpenAPI schema of the value in the brief shape."""
        return self.schema()

    def _described(self, shape: dict[str, Any], *, nullable: bool | None = None) -> dict[str, Any]:
        """``shape`` with what is known of every field. A ``$ref`` takes no siblings in OpenAPI 3.0, so it is wrapped."""
        found = {"allOf": [shape]} if "$ref" in shape else dict(shape)
        notes = {
            "title": self.label,
            "description": self.help,
            "readOnly": self.read_only,
            "writeOnly": self.write_only,
            "nullable": self.nullable if nullable is None else nullable,
        }
        return found | {name: value for name, value in notes.items() if value}

    def _check_null(self, value: Any) -> bool:
        if value is None and not self.nullable:
            raise colander.Invalid(None, schema.NOT_NULL)
        return value is None


@dataclasses.dataclass(eq=False, kw_only=True)
class Value(Field):
    """A column read and written as it is."""

    attribute: str
    python_type: type = str
    known: Column = dataclasses.field(default_factory=Column)
    node: Any = None
    length: int | None = None

    def reader(self, plan: Plan, place: Place) -> Reader:
        index = plan.column(place, self.attribute)
        if self.python_type is decimal.Decimal:
            return lambda row, page: None if row[index] is None else str(row[index])
        return lambda row, page: row[index]

    def accept(self, draft: Draft, value: Any) -> None:
        if value == "" and not isinstance(self.node.typ, schema.Chars | schema.OneOf | schema.Parsed) and self.nullable:
            value = None
        draft.values[self.attribute] = None if self._check_null(value) else schema.parse(self.node, value)

    def options(self) -> dict[str, Any]:
        found = super().options()
        limits = {"max_length": self.length, "min_value": self.known.minimum, "max_value": self.known.maximum, "min_length": self.known.min_length}
        if self.kind != "field":
            found.update({name: value for name, value in limits.items() if value is not None and not self.read_only})
        return found

    def written_schema(self) -> dict[str, Any]:
        found = super().written_schema()
        if self.known.min_length is not None:
            found["minLength"] = self.known.min_length
        if self.known.pattern is not None and not self.known.blank:
            found["pattern"] = self.known.pattern.replace(r"\Z", "$")
        return found


@dataclasses.dataclass(eq=False, kw_only=True)
class Choice(Value):
    """A column with a closed set of values, read as ``{value, label}`` (or as the value alone when ``plain``)."""

    choices: Choices
    plain: bool = False

    def reader(self, plan: Plan, place: Place) -> Reader:
        index = plan.column(place, self.attribute)
        if self.plain:
            return lambda row, page: row[index]
        shown = {value: {"value": value, "label": label} for value, label in self.choices.items}

        def read(row: Row, page: Page) -> Any:
            value = row[index]
            if value is None or value == "":
                return None
            return shown.get(value) or {"value": value, "label": str(value)}

        return read

    def brief_reader(self, plan: Plan, place: Place) -> Reader:
        return Value.reader(self, plan, place)

    def accept(self, draft: Draft, value: Any) -> None:
        if value is None and self.known.blank and not self.nullable:
            value = ""
        super().accept(draft, value)

    def options(self) -> dict[str, Any]:
        found = super().options() | {"type": "choice" if self.plain else "field"}
        found.pop("max_length", None)
        if not self.read_only:
            found["choices"] = [{"value": value, "display": label} for value, label in self.choices.items]
        return found

    def schema(self) -> dict[str, Any]:
        if self.plain:
            return self.written_schema()
        shape = {"type": "object", "properties": {"value": self.values_schema(), "label": {"type": "string"}}, "required": ["value", "label"]}
        return self._described(shape, nullable=self.nullable or self.known.blank)

    def written_schema(self) -> dict[str, Any]:
        return self._described(self.values_schema(*[""] * self.known.blank, *[None] * self.nullable))

    def brief_schema(self) -> dict[str, Any]:
        return self.written_schema()

    def values_schema(self, *more: Any) -> dict[str, Any]:
        """The schema of the value alone; ``more`` are values allowed beside the choices."""
        values = [value for value, _ in self.choices.items]
        kind = _JSON_TYPES.get(type(values[0]), {}) if values else {}
        return {**kind, "enum": list(dict.fromkeys([*values, *more]))}


@dataclasses.dataclass(eq=False, kw_only=True)
class Reference(Field):
    """A foreign key: the nested brief representation, written by id or by attributes; when ``plain`` the id, read and written."""

    attribute: str
    link: Link
    registry: Registry
    kind: str = "nested object"
    plain: bool = False

    @property
    def target(self) -> Endpoint | None:
        """The endpoint of the model referred to; ``None`` while its package is not installed."""
        return self.registry.target(self.link)

    def reader(self, plan: Plan, place: Place) -> Reader:
        if not self.plain:
            return plan.nest(place, self.attribute)
        index = plan.column(place, self.attribute)
        return lambda row, page: row[index]

    def accept(self, draft: Draft, value: Any) -> None:
        if self._check_null(value):
            draft.values[self.attribute] = None
        else:
            draft.refer(self, value)

    def settle(self, draft: Draft, found: Any) -> None:
        """Takes the id that :mod:`netinv_core.write.references` found for what was sent."""
        draft.values[self.attribute] = found

    def options(self) -> dict[str, Any]:
        return super().options() | ({"type": "field"} if self.plain else {})

    def schema(self) -> dict[str, Any]:
        return self.written_schema() if self.plain else self._described(nested_schema(self.target))

    def written_schema(self) -> dict[str, Any]:
        return self._described(_JSON_TYPES[uuid.UUID] if self.plain else named_schema(self.target))


@dataclasses.dataclass(eq=False, kw_only=True)
class FirstOf(Field):
    """The first of several references of the same resource that is set, nested."""

    references: tuple[str, ...]
    read_only: bool = True
    nullable: bool = True
    kind: str = "nested object"

    def reader(self, plan: Plan, place: Place) -> Reader:
        readers = [place.endpoint.fields[name].reader(plan, place) for name in self.references]
        return lambda row, page: next((shown for read in readers if (shown := read(row, page)) is not None), None)

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "object"})


@dataclasses.dataclass(eq=False, kw_only=True)
class Status(Reference):
    """A reference to a status that is allowed for this content type: ``{value: slug, label: name}``, written as the slug."""

    kind: str = "field"

    def reader(self, plan: Plan, place: Place) -> Reader:
        present = plan.column(place, self.attribute)
        target = plan.follow(place, self.attribute)
        if target is None:
            return lambda row, page: None
        slug, name = plan.column(target, "slug"), plan.column(target, "name")
        return lambda row, page: None if row[present] is None else {"value": row[slug], "label": row[name]}

    def schema(self) -> dict[str, Any]:
        text = {"type": "string"}
        return self._described({"type": "object", "properties": {"value": text, "label": text}, "required": ["value", "label"]})

    def written_schema(self) -> dict[str, Any]:
        return self._described({"type": "string"})


@dataclasses.dataclass(eq=False, kw_only=True)
class Many(Field):
    """Objects on the far side of an association table, nested; written as a list that replaces the former one.

    ``plain`` lists word their errors as lists of ids do; ``brief_name`` is the one field of each object that the brief
    form shows.
    """

    table: Any
    to: str
    registry: Registry
    kind: str = "field"
    back: str | None = None
    plain: bool = False
    brief_name: str | None = None

    @property
    def target(self) -> Endpoint | None:
        """The endpoint of the model referred to."""
        return self.registry.get(self.to)

    def reader(self, plan: Plan, place: Place) -> Reader:
        target = self.target
        if target is None:
            return lambda row, page: []
        inner = Plan(plan.registry, target, key=self.table.c.owner_id, through=self.table, ordered=True)
        return grouped(plan, place, inner.finish_nested())

    def brief_reader(self, plan: Plan, place: Place) -> Reader:
        read, name = self.reader(plan, place), self.brief_name
        return read if name is None else lambda row, page: [item[name] for item in read(row, page)]

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        if self.plain and isinstance(value, dict):
            value = list(value)
        if not isinstance(value, list):
            raise refused_items(value) if self.plain else refused_list(value)
        draft.refer_many(self, value)

    def allowed(self, context: Context, ids: set[Any]) -> set[Any] | None:
        """Which of these ids the list may hold; ``None`` for all of them."""
        return None

    def settle(self, draft: Draft, found: list[Any]) -> None:
        """Takes the ids that were found for what was sent."""
        draft.many[self.name] = list(dict.fromkeys(found))

    def store(self, context: Context, drafts: Sequence[Draft]) -> None:
        replace_rows(context, self.table, "target_id", self.name, drafts)

    def flat(self, shown: Any) -> Any:
        return [item["id"] for item in shown]

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "array", "items": nested_schema(self.target)})

    def brief_schema(self) -> dict[str, Any]:
        return self.schema() if self.brief_name is None else self._described({"type": "array", "items": {"type": "string"}})

    def written_schema(self) -> dict[str, Any]:
        return self._described({"type": "array", "items": named_schema(self.target)})


@dataclasses.dataclass(eq=False, kw_only=True)
class Labels(Field):
    """Content types in an association table, as ``app.model`` labels."""

    table: Any
    registry: Registry
    kind: str = "field"

    def reader(self, plan: Plan, place: Place) -> Reader:
        dialect, owner, label = plan.registry.dialect, self.table.c.owner_id, self.table.c.label
        statement = sa.select(owner, label).where(among(dialect, owner))
        key = plan.column(place, "id")

        def load(context: Context, rows: Sequence[Row]) -> dict[Any, Any]:
            found = collect(context.execute(statement, {"keys": keys_of(rows, key)}))
            known = context.registry.content_types
            return {owner: sorted(labels, key=lambda label: known[label].id) for owner, labels in found.items()}

        batch = plan.batch(load)
        return lambda row, page: page.batches[batch].get(row[key], [])

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        if not isinstance(value, list):
            raise refused_list(value)
        if not value and self.required:
            raise colander.Invalid(None, "This list may not be empty.")
        for label in value:
            if self.registry.content_type(label) is None:
                raise colander.Invalid(None, f"Invalid content type: {label}")
        draft.many[self.name] = list(dict.fromkeys(value))

    def store(self, context: Context, drafts: Sequence[Draft]) -> None:
        replace_rows(context, self.table, "label", self.name, drafts)

    def flat(self, shown: Any) -> Any:
        return [found.id for label in shown if (found := self.registry.content_type(label)) is not None]

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "array", "items": {"type": "string"}})


@dataclasses.dataclass(eq=False, kw_only=True)
class Back(Field):
    """The objects whose foreign key ``attribute_there`` leads here, nested; read only."""

    to: str
    attribute_there: str
    registry: Registry
    read_only: bool = True
    kind: str = "field"

    def reader(self, plan: Plan, place: Place) -> Reader:
        target = self.registry.get(self.to)
        if target is None:
            return lambda row, page: []
        inner = Plan(plan.registry, target, key=target.table.c[self.attribute_there], ordered=True)
        return grouped(plan, place, inner.finish_nested())

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "array", "items": nested_schema(self.registry.get(self.to))})


@dataclasses.dataclass(eq=False, kw_only=True)
class ObjectOf(Field):
    """The object that a pair of ``type`` and ``id`` columns names, nested; one statement for all types on the page."""

    type_attribute: str
    id_attribute: str
    registry: Registry
    shape: str = "nested"
    read_only: bool = True

    def reader(self, plan: Plan, place: Place) -> Reader:
        label, key = plan.column(place, self.type_attribute), plan.column(place, self.id_attribute)

        def load(context: Context, rows: Sequence[Row]) -> dict[Any, Any]:
            wanted: dict[str, set[Any]] = {}
            for row in rows:
                if row[label] and row[key] is not None:
                    wanted.setdefault(row[label], set()).add(row[key])
            targets = {name: found for name in sorted(wanted) if (found := self.registry.get(name)) is not None and found.key_type is uuid.UUID}
            shown = fetch_together(context, [(target.plan(self.shape), list(wanted[name])) for name, target in targets.items()])
            return {(name, key): item for name, items in zip(targets, shown, strict=True) for key, item in items}

        batch = plan.batch(load)
        return lambda row, page: page.batches[batch].get((row[label], row[key]))

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "object"}, nullable=True)


@dataclasses.dataclass(eq=False, kw_only=True)
class Count(Field):
    """How many rows of another table refer here: ``source`` gives the scalar subquery for a place's table."""

    source: Callable[[Any], Any]
    read_only: bool = True
    nested: str = "absent"
    kind: str = "integer"
    openapi: dict[str, Any] = dataclasses.field(default_factory=lambda: {"type": "integer"})

    def reader(self, plan: Plan, place: Place) -> Reader:
        index = plan.expression(place, self.name, self.source(place.table))
        return lambda row, page: row[index]


@dataclasses.dataclass(eq=False, kw_only=True)
class Computed(Field):
    """A function of other values of the row, each named by a dotted path across references."""

    function: Callable[..., Any]
    paths: tuple[str, ...]
    read_only: bool = True

    def reader(self, plan: Plan, place: Place) -> Reader:
        function = self.function
        readers = [plan.read(place, path) for path in self.paths]
        if len(readers) == 1:
            (only,) = readers
            return lambda row, page: function(only(row, page))
        return lambda row, page: function(*[reader(row, page) for reader in readers])


@dataclasses.dataclass(eq=False, kw_only=True)
class Batched(Field):
    """A value found for all objects of a page at once: ``load(context, ids)`` gives it by id, ``missing`` stands for the others."""

    load: Callable[[Context, list[Any]], Mapping[Any, Any]]
    missing: Any = None
    read_only: bool = True

    def reader(self, plan: Plan, place: Place) -> Reader:
        key, missing = plan.column(place, "id"), self.missing
        batch = plan.batch(lambda context, rows: dict(self.load(context, keys_of(rows, key))))
        return lambda row, page: page.batches[batch].get(row[key], missing)


@dataclasses.dataclass(eq=False, kw_only=True)
class Address(Field):
    """The absolute URL of the object, ``suffix`` appended."""

    endpoint: Endpoint
    suffix: str = ""
    read_only: bool = True
    openapi: dict[str, Any] = dataclasses.field(default_factory=lambda: {"type": "string", "format": "uri"})

    def reader(self, plan: Plan, place: Place) -> Reader:
        key, path, suffix = plan.column(place, "id"), self.endpoint.path, self.suffix
        return lambda row, page: f"{page.base}{path}{row[key]}/{suffix}"


def collect(rows: Any) -> dict[Any, list[Any]]:
    """``(key, value)`` pairs as lists of values by key."""
    found: dict[Any, list[Any]] = {}
    for key, value in rows:
        found.setdefault(key, []).append(value)
    return found


def keys_of(rows: Sequence[Row], index: int) -> list[Any]:
    """The distinct keys in a column of the rows."""
    return list({row[index]: None for row in rows if row[index] is not None})


def grouped(plan: Plan, place: Place, inner: Plan) -> Reader:
    """A reader of the list of what ``inner`` finds by the ids at ``place``."""
    key = plan.column(place, "id")
    batch = plan.batch(lambda context, rows: collect(inner.fetch(context, keys_of(rows, key))))
    return lambda row, page: page.batches[batch].get(row[key], [])


def replace_rows(context: Context, table: Any, column: str, name: str, drafts: Sequence[Draft]) -> None:
    """Makes the association rows of each draft be exactly those of its list ``name``, where it has one."""
    wanted = [draft for draft in drafts if name in draft.many]
    if former := [draft.id for draft in wanted if not draft.new]:
        context.write(sa.delete(table).where(among(context.registry.dialect, table.c.owner_id)), {"keys": former})
    rows = [{"owner_id": draft.id, column: value} for draft in wanted for value in draft.many[name]]
    if rows:
        context.write(sa.insert(table), rows)


def nested_schema(target: Endpoint | None) -> dict[str, Any]:
    """The OpenAPI schema of an object nested in another."""
    return {"$ref": f"#/components/schemas/Nested{target.schema_name}"} if target else {"type": "object"}


def named_schema(target: Endpoint | None) -> dict[str, Any]:
    """The OpenAPI schema of what a body may name an object by: its id, or attributes that match exactly one."""
    key = target.key_type if target else uuid.UUID
    return {"oneOf": [_JSON_TYPES[key], {"type": "object"}]}


def refused_items(value: Any) -> colander.Invalid:
    """The error for something that is not a list, worded as for a list of values."""
    return colander.Invalid(None, f'Expected a list of items but got type "{type(value).__name__}".')


def refused_list(value: Any) -> colander.Invalid:
    """The error for something that is not a list, worded as for a nested list."""
    error = colander.Invalid(None, "")
    error.body = {"non_field_errors": [f'Expected a list of items but got type "{type(value).__name__}".']}
    return error


def errors_of(error: colander.Invalid) -> FieldErrors | list[str]:
    """The body of a field's error."""
    body = getattr(error, "body", None)
    return body if body is not None else schema.messages(error)


_JSON_TYPES: dict[type, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": "number", "format": "double"},
    decimal.Decimal: {"type": "string", "format": "decimal"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.datetime: {"type": "string", "format": "date-time"},
}
_OPTION_KINDS: dict[type, str] = {
    str: "string",
    int: "integer",
    bool: "boolean",
    float: "float",
    decimal.Decimal: "decimal",
    uuid.UUID: "string",
    datetime.date: "date",
    datetime.datetime: "datetime",
}
_FORMATS = {"email": "email", "url": "uri"}
_SHOWN_KINDS = {"choice": "choice", "slug": "slug", "email": "email", "url": "url", "json": "field", "opaque": "field", "image": "image upload"}


def from_column(registry: Registry, attribute: str, column: Any, known: Column) -> Field | None:
    """The field a column of a model gives; ``None`` for hidden columns."""
    if known.hidden:
        return None
    has_default = column.default is not None
    required = known.required if known.required is not None else not (column.nullable or has_default or known.blank or known.read_only)
    common: dict[str, Any] = {
        "label": known.label,
        "help": known.help,
        "read_only": known.read_only,
        "write_only": known.write_only,
        "required": required,
        "nullable": bool(column.nullable),
        "attribute": attribute,
    }
    if known.link is not None:
        kind = Status if known.kind == "status" else Reference
        return kind(name=attribute.removesuffix("_id"), link=known.link, registry=registry, plain=known.plain, **common)
    try:
        python_type = column.type.python_type
    except NotImplementedError:
        python_type = object
    length = getattr(column.type, "length", None) if python_type is str else None
    digits = (column.type.precision, column.type.scale) if python_type is decimal.Decimal else None
    openapi = dict(_JSON_TYPES.get(python_type, {})) if known.kind != "json" else {}
    if length:
        openapi["maxLength"] = length
    if known.kind in _FORMATS and not known.blank:
        openapi["format"] = _FORMATS[known.kind]
    if python_type is int and (known.maximum or 0) > 2**31 - 1:
        openapi["format"] = "int64"
    openapi |= {k: v for k, v in {"minimum": known.minimum, "maximum": known.maximum}.items() if v is not None}
    common |= {
        "name": attribute,
        "kind": _SHOWN_KINDS.get(known.kind) or _OPTION_KINDS.get(python_type, "field"),
        "python_type": python_type,
        "known": known,
        "node": schema.node(attribute, python_type, known, length=length, digits=digits),
        "length": length,
        "openapi": openapi,
    }
    if known.choices is not None:
        return Choice(choices=known.choices, plain=known.plain, **common)
    return Value(**common)
