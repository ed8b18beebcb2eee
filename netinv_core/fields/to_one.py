"""Fields that refer to one object in an association table, for resources whose table is that of another package."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.fields.base import NONE, Field
from netinv_core.fields.references import named_schema, nested_schema
from netinv_core.fields.to_many import ToMany

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.write.draft import Draft
    from netinv_core.write.identification import IdentifiedObjects


@dataclasses.dataclass(eq=False, kw_only=True)
class ToOne(ToMany):
    """An object of an association table in which an owner has one row at most; read and written as a reference.

    In drafts it is a list with one item or none, as other lists of association tables.
    """

    nullable: bool = True
    kind: str = "nested object"

    def items_of(self, value: Any) -> list[Any]:
        return [] if value is None else [value]

    def of_items(self, items: list[Any]) -> Any:
        return items[0] if items else None

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        inner = self.items_plan(plan.registry)
        if inner is None:
            return lambda row, page: None
        read = plan.load_to_many(place, inner.finish_nested())
        return lambda row, page: next(iter(read(row, page)), None)

    def brief_reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        return self.reader(plan, place)

    def accept(self, draft: Draft, value: Any) -> None:
        draft.add_references(self, self.items_of(None if value == "" else value))

    def from_form(self, values: Sequence[Any]) -> Any:
        return Field.from_form(self, values)

    def cell_references(self, value: Any) -> Iterable[tuple[Endpoint, Any]]:
        return super().cell_references(self.items_of(value))

    def to_cell(self, value: Any, identified: IdentifiedObjects) -> str:
        return "" if value is None else identified.text_of(self.target, value["id"])

    def from_cell(self, text: str) -> Any:
        text = text.strip()
        if not text:
            return None if self.nullable else NONE
        return text if self.target is None else self.target.named_in_cell(text)

    def reject(self, draft: Draft, errors: list[str]) -> None:
        draft.errors[self.name] = errors[:1]

    def to_body(self, value: Any) -> Any:
        return value["id"] if isinstance(value, dict) else value

    def object_data(self, value: Any) -> Any:
        return self.to_body(value)

    def schema(self) -> dict[str, Any]:
        return self._described(nested_schema(self.target))

    def brief_schema(self) -> dict[str, Any]:
        return self.schema()

    def written_schema(self) -> dict[str, Any]:
        return self._described(named_schema(self.target))

    def patched_schema(self) -> dict[str, Any]:
        return self.written_schema()
