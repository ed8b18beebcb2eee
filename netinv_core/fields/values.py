"""Fields of one column: plain values and choices."""

from __future__ import annotations

import dataclasses
import decimal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.fields.base import NONE, Field, from_json, last_text
from netinv_core.fields.openapi_types import JSON_TYPES
from netinv_core.models.columns import Choices, ColumnInfo
from netinv_core.read.plan import JoinedTable, Plan, Reader, Row, RowSet
from netinv_core.write import schema

if TYPE_CHECKING:
    from netinv_core.write.draft import Draft


@dataclasses.dataclass(eq=False, kw_only=True)
class Value(Field):
    """A column that is read and written unchanged."""

    attribute: str
    python_type: type = str
    known: ColumnInfo = dataclasses.field(default_factory=ColumnInfo)
    node: Any = None
    length: int | None = None

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        index = plan.column(place, self.attribute)
        if self.python_type is decimal.Decimal:
            return lambda row, page: None if row[index] is None else str(row[index])
        return lambda row, page: row[index]

    def accept(self, draft: Draft, value: Any) -> None:
        if self.nullable and isinstance(value, str) and isinstance(self.node.typ, schema.DecimalNumber | schema.Boolean | schema.JsonValue):
            blank = value.strip() if isinstance(self.node.typ, schema.DecimalNumber) else value
            value = None if blank == "" else value
        draft.values[self.attribute] = None if self._check_null(value) else schema.parse(self.node, value)

    def from_form(self, values: Sequence[Any]) -> Any:
        text = last_text(values)
        if self.known.kind == "json" and text:
            return from_json(text)
        if text or self.required or self.known.blank:
            return text
        return None if self.nullable else NONE

    def options(self) -> dict[str, Any]:
        entry = super().options()
        limits = {"max_length": self.length, "min_value": self.known.minimum, "max_value": self.known.maximum, "min_length": self.known.min_length}
        if self.kind != "field":
            entry.update({name: value for name, value in limits.items() if value is not None and not self.read_only})
        return entry

    def written_schema(self) -> dict[str, Any]:
        schema = super().written_schema()
        if self.known.min_length is not None:
            schema["minLength"] = self.known.min_length
        if self.known.pattern is not None and not self.known.blank:
            schema["pattern"] = self.known.pattern.replace(r"\Z", "$")
        return schema


@dataclasses.dataclass(eq=False, kw_only=True)
class Choice(Value):
    """A column with a closed set of values, read as ``{value, label}`` (or as the value alone when ``plain``)."""

    choices: Choices
    plain: bool = False

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        index = plan.column(place, self.attribute)
        if self.plain:
            return lambda row, page: row[index]
        representations = {value: {"value": value, "label": label} for value, label in self.choices.items}

        def read(row: Row, page: RowSet) -> Any:
            value = row[index]
            if value is None or value == "":
                return None
            return representations.get(value) or {"value": value, "label": str(value)}

        return read

    def brief_reader(self, plan: Plan, place: JoinedTable) -> Reader:
        return Value.reader(self, plan, place)

    def accept(self, draft: Draft, value: Any) -> None:
        if value is None and not self.nullable and not self.plain:
            value = ""  # null stands for blank, which is then refused or not
        super().accept(draft, value)

    def options(self) -> dict[str, Any]:
        entry = super().options() | {"type": "choice" if self.plain else "field"}
        entry.pop("max_length", None)
        if not self.read_only:
            entry["choices"] = [{"value": value, "display": label} for value, label in self.choices.items]
        return entry

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
        kind = JSON_TYPES.get(type(values[0]), {}) if values else {}
        return {**kind, "enum": list(dict.fromkeys([*values, *more]))}
