"""Fields that lead to one other object: foreign keys, statuses, pairs of type and id."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.fields.field import Field
from netinv_core.fields.types import JSON_TYPES
from netinv_core.model import Link
from netinv_core.read.plan import Place, Plan, Reader, Row, fetch_together

if TYPE_CHECKING:
    from netinv_core.context import Context
    from netinv_core.registry import Endpoint, Registry
    from netinv_core.write.draft import Draft


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
        return self._described(JSON_TYPES[uuid.UUID] if self.plain else named_schema(self.target))


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


def nested_schema(target: Endpoint | None) -> dict[str, Any]:
    """The OpenAPI schema of an object nested in another."""
    return {"$ref": f"#/components/schemas/Nested{target.schema_name}"} if target else {"type": "object"}


def named_schema(target: Endpoint | None) -> dict[str, Any]:
    """The OpenAPI schema of what a body may name an object by: its id, or attributes that match exactly one."""
    key = target.key_type if target else uuid.UUID
    return {"oneOf": [JSON_TYPES[key], {"type": "object"}]}
