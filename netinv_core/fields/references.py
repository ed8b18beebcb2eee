"""Fields that refer to one other object: foreign keys, statuses, generic foreign keys."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.fields import cells
from netinv_core.fields.base import NONE, Field
from netinv_core.fields.openapi_types import JSON_TYPES, as_written_or_read
from netinv_core.models.columns import ForeignKeyInfo, column_info
from netinv_core.presentation import NAME_IN_CONTEXT, NAME_WITHIN
from netinv_core.sql.plan import Row
from netinv_core.sql.plans import named_objects
from netinv_core.sql.records import nested_fields, record_nested

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan, RowSet
    from netinv_core.write.draft import Draft
    from netinv_core.write.identification import IdentifiedObjects


@dataclasses.dataclass(eq=False, kw_only=True)
class Reference(Field):
    """A foreign key: read as the nested brief representation, written as an id or as attributes.

    A ``plain`` one is read as the id.

    ``nested_fields`` are the fields after ``display, id, url``, in place of those of the brief form.
    """

    attribute: str
    link: ForeignKeyInfo
    registry: Registry
    kind: str = "nested object"
    plain: bool = False
    nested_fields: tuple[str, ...] = ()

    @property
    def target(self) -> Endpoint | None:
        """The endpoint of the model referred to; ``None`` while its package is not installed."""
        return self.registry.target(self.link)

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        if not self.plain:
            return plan.nested(place, self.attribute, self.nested_fields)
        return plan.value(plan.column(place, self.attribute))

    def sparse_reader(self, plan: ReadPlan, place: JoinedTable, without: Collection[str]) -> Reader:
        return plan.nested(place, self.attribute, self.nested_fields, without)

    def accept(self, draft: Draft, value: Any) -> None:
        blank = self.plain and self.nullable and value == ""  # a form sends null as a blank value
        if blank or self._check_null(value):
            draft.values[self.attribute] = None
        else:
            draft.add_reference(self, value)

    def set_resolved(self, draft: Draft, key: Any) -> None:
        """Stores the id that :mod:`netinv_core.write.references` has looked up."""
        draft.values[self.attribute] = key

    def to_body(self, value: Any) -> Any:
        return value["id"] if isinstance(value, dict) else value

    def cell_references(self, value: Any) -> Iterable[tuple[Endpoint, Any]]:
        if self.plain or self.target is None or value is None:
            return ()
        return [(self.target, value["id"])]

    def to_cell(self, value: Any, identified: IdentifiedObjects) -> str:
        """Converts a nested object to its natural attribute, if that is unambiguous, or to its id."""
        if value is None:
            return ""
        return str(value) if self.plain else identified.text_of(self.target, value["id"])

    def from_cell(self, text: str) -> Any:
        text = text.strip()
        if not text:
            return None if self.nullable or self.required else NONE
        return text if self.plain or self.target is None else self.target.named_in_cell(text)

    def options(self) -> dict[str, Any]:
        return super().options() | ({"type": "field"} if self.plain else {})

    def schema(self) -> dict[str, Any]:
        return self.written_schema() if self.plain else self._described(nested_schema(self.target, self.nested_fields))

    def written_schema(self) -> dict[str, Any]:
        return self._described(JSON_TYPES[uuid.UUID] if self.plain else named_schema(self.target))


@dataclasses.dataclass(eq=False, kw_only=True)
class Coalesce(Field):
    """The first of several references of the same resource that is set, nested."""

    references: tuple[str, ...]
    read_only: bool = True
    nullable: bool = True
    kind: str = "nested object"

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        readers = [place.endpoint.fields[name].reader(plan, place) for name in self.references]
        return lambda row, page: next((nested for read in readers if (nested := read(row, page)) is not None), None)

    def sources(self) -> Collection[str]:
        return self.references

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "object"})


@dataclasses.dataclass(eq=False, kw_only=True)
class Status(Reference):
    """A reference to a status that is allowed for this content type: ``{value: slug, label: name}``, written as the
    slug.
    """

    kind: str = "field"

    def accept(self, draft: Draft, value: Any) -> None:
        super().accept(draft, None if value == "" else value)

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        present = plan.column(place, self.attribute)
        target = plan.join(place, self.attribute)
        if target is None:
            return lambda row, page: None
        slug, name = plan.column(target, "slug"), plan.column(target, "name")
        return lambda row, page: None if row[present] is None else {"value": row[slug], "label": row[name]}

    def to_body(self, value: Any) -> Any:
        return value["value"] if isinstance(value, dict) else value

    def cell_references(self, value: Any) -> Iterable[tuple[Endpoint, Any]]:
        return ()

    def to_cell(self, value: Any, identified: IdentifiedObjects) -> str:
        return cells.text_of(value)

    def from_cell(self, text: str) -> Any:
        return text.strip() or (None if self.nullable or self.required else NONE)

    def schema(self) -> dict[str, Any]:
        text = {"type": "string"}
        return self._described(
            {"type": "object", "properties": {"value": text, "label": text}, "required": ["value", "label"]}
        )

    def written_schema(self) -> dict[str, Any]:
        return self._described(as_written_or_read({"type": "string"}))

    def form_schema(self) -> dict[str, Any]:
        return self._described({"type": "string"})


@dataclasses.dataclass(eq=False, kw_only=True)
class GenericForeignKey(Field):
    """A generic foreign key, a pair of ``type`` and ``id`` columns, nested; one UNION for all types and all pairs of
    the page.
    """

    type_attribute: str
    id_attribute: str
    shape: str = "nested"
    read_only: bool = True

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        label, key = plan.column(place, self.type_attribute), plan.column(place, self.id_attribute)
        batch = plan.load_generic(self.shape, label, key, named_objects)
        return lambda row, page: page.batches[batch].get((row[label], row[key]))

    def path_reader(self, plan: ReadPlan, place: JoinedTable, path: str) -> Reader | None:
        """Reads the name in context only, which all models have."""
        if path not in (NAME_IN_CONTEXT, NAME_WITHIN):
            return None
        label, key = plan.column(place, self.type_attribute), plan.column(place, self.id_attribute)
        batch = plan.load_generic(NAME_WITHIN, label, key, named_objects)
        return lambda row, page: page.batches[batch].get((row[label], row[key]), {}).get("display")

    def sources(self) -> Collection[str]:
        return (self.type_attribute, self.id_attribute)

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "object"}, nullable=True)


@dataclasses.dataclass(eq=False, kw_only=True)
class ThroughOneToOne(Field):
    """An object that refers to this one through a one-to-one object of ``to``, whose unique foreign key ``held`` is
    this object.

    Read as the nested target of the foreign key ``holder`` of that object, which is itself nested in it as ``by``.
    Example: the device in whose bay a device is installed.
    """

    to: str
    held: str
    holder: str
    by: str
    registry: Registry
    read_only: bool = True
    nullable: bool = True

    def join(self, plan: ReadPlan, place: JoinedTable) -> JoinedTable | None:
        """The place of the one-to-one object, joined; ``None`` without its package."""
        target = self.registry.get(self.to)
        return None if target is None else plan.join_reverse(place, self.name, target, self.held)

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        joined = self.join(plan, place)
        if joined is None:
            return lambda row, page: None
        present = plan.column(joined, "id")
        holder, by = plan.nested(joined, self.holder), record_nested(plan, joined)

        def read(row: Row, page: RowSet) -> dict[str, Any] | None:
            return None if row[present] is None else {**holder(row, page), self.by: by(row, page)}

        return read

    def sources(self) -> Collection[str]:
        return ()

    def schema(self) -> dict[str, Any]:
        target = self.registry.get(self.to)
        if target is None:
            return self._described({"type": "object"})
        outer = self.registry.target(column_info(target.table.c[self.holder]).foreign_key)
        properties = {} if outer is None else {field.name: field.brief_schema() for field in nested_fields(outer)}
        return self._described({"type": "object", "properties": {**properties, self.by: nested_schema(target)}})


def nested_schema(target: Endpoint | None, field_names: Sequence[str] = ()) -> dict[str, Any]:
    """The OpenAPI schema of a nested object; ``field_names`` is ``nested_fields`` of :class:`Reference`."""
    if target is None:
        return {"type": "object"}
    if field_names:
        return {
            "type": "object",
            "properties": {field.name: field.brief_schema() for field in nested_fields(target, field_names)},
        }
    return {"$ref": f"#/components/schemas/Nested{target.schema_name}"}


def named_schema(target: Endpoint | None) -> dict[str, Any]:
    """The OpenAPI schema of a reference in a body: an id, or attributes that match exactly one object."""
    key = target.key_type if target else uuid.UUID
    return {"oneOf": [JSON_TYPES[key], {"type": "object"}]}


def generic_pairs(endpoint: Endpoint) -> set[tuple[str, str]]:
    """The pairs of fields, type and id, that name an object of any model."""
    generic = [field for field in endpoint.fields.values() if isinstance(field, GenericForeignKey)]
    pairs = {(field.type_attribute, field.id_attribute) for field in generic} | set(endpoint.resource.about)
    return {pair for pair in pairs if endpoint.writable.keys() >= set(pair)}
