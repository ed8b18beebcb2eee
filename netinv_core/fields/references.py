"""Fields that lead to one other object: foreign keys, statuses, pairs of type and id."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.fields.base import Field
from netinv_core.fields.openapi_types import JSON_TYPES
from netinv_core.models.columns import ForeignKeyInfo, column_info
from netinv_core.read.plan import JoinedTable, Plan, Reader, Row, RowSet, nested_fields, record_nested

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.write.draft import Draft


@dataclasses.dataclass(eq=False, kw_only=True)
class Reference(Field):
    """A foreign key: the nested brief representation, written by id or by attributes; when ``plain`` the id, read and written.

    ``shows`` names what is nested in place of the brief form, after ``display, id, url``.
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

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        if not self.plain:
            return plan.nested(place, self.attribute, self.nested_fields)
        index = plan.column(place, self.attribute)
        return lambda row, page: row[index]

    def accept(self, draft: Draft, value: Any) -> None:
        blank = self.plain and self.nullable and value == ""  # as a form sends none
        if blank or self._check_null(value):
            draft.values[self.attribute] = None
        else:
            draft.add_reference(self, value)

    def set_resolved(self, draft: Draft, found: Any) -> None:
        """Takes the id that :mod:`netinv_core.write.references` found for what was sent."""
        draft.values[self.attribute] = found

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

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        readers = [place.endpoint.fields[name].reader(plan, place) for name in self.references]
        return lambda row, page: next((shown for read in readers if (shown := read(row, page)) is not None), None)

    def sources(self) -> Collection[str]:
        return self.references

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "object"})


@dataclasses.dataclass(eq=False, kw_only=True)
class Status(Reference):
    """A reference to a status that is allowed for this content type: ``{value: slug, label: name}``, written as the slug."""

    kind: str = "field"

    def accept(self, draft: Draft, value: Any) -> None:
        super().accept(draft, None if value == "" else value)

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        present = plan.column(place, self.attribute)
        target = plan.join(place, self.attribute)
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
class GenericForeignKey(Field):
    """The object that a pair of ``type`` and ``id`` columns names, nested; one statement for all types and all such pairs on the page."""

    type_attribute: str
    id_attribute: str
    shape: str = "nested"
    read_only: bool = True

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        label, key = plan.column(place, self.type_attribute), plan.column(place, self.id_attribute)
        batch = plan.load_generic(self.shape, label, key)
        return lambda row, page: page.batches[batch].get((row[label], row[key]))

    def sources(self) -> Collection[str]:
        return (self.type_attribute, self.id_attribute)

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "object"}, nullable=True)


@dataclasses.dataclass(eq=False, kw_only=True)
class ThroughOneToOne(Field):
    """What holds this object by way of a third: the one object of ``to`` whose unique foreign key ``held`` leads here.

    Read as the nested object at that one's foreign key ``holder``, with that one nested in it as ``by``.
    """

    to: str
    held: str
    holder: str
    by: str
    registry: Registry
    read_only: bool = True
    nullable: bool = True

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        target = self.registry.get(self.to)
        if target is None:
            return lambda row, page: None
        there = plan.join_reverse(place, self.name, target, self.held)
        present = plan.column(there, "id")
        holder, by = plan.nested(there, self.holder), record_nested(plan, there)

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
        shown = {} if outer is None else {field.name: field.brief_schema() for field in nested_fields(outer)}
        return self._described({"type": "object", "properties": {**shown, self.by: nested_schema(target)}})


def nested_schema(target: Endpoint | None, shows: Sequence[str] = ()) -> dict[str, Any]:
    """The OpenAPI schema of an object nested in another; ``shows`` as for :class:`Reference`."""
    if target is None:
        return {"type": "object"}
    if shows:
        return {"type": "object", "properties": {field.name: field.brief_schema() for field in nested_fields(target, shows)}}
    return {"$ref": f"#/components/schemas/Nested{target.schema_name}"}


def named_schema(target: Endpoint | None) -> dict[str, Any]:
    """The OpenAPI schema of what a body may name an object by: its id, or attributes that match exactly one."""
    key = target.key_type if target else uuid.UUID
    return {"oneOf": [JSON_TYPES[key], {"type": "object"}]}
