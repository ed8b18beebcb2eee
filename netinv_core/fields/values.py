"""Fields of one column: plain values and choices."""

from __future__ import annotations

import dataclasses
import decimal
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander

from netinv_core.fields import cells, list_differences, schema
from netinv_core.fields.base import NONE, Field, cell_items, from_json, last_text, refused_items
from netinv_core.fields.list_differences import ListDifference
from netinv_core.fields.openapi_types import JSON_TYPES, as_written_or_read, list_or_difference
from netinv_core.models.columns import Choices, ColumnInfo
from netinv_core.sql.plan import Row

if TYPE_CHECKING:
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan, RowSet
    from netinv_core.write.draft import Draft
    from netinv_core.write.identification import IdentifiedObjects


# Texts as spreadsheets write them, by the kind of the field.
_CELLS: Mapping[str, Callable[[str], str]] = {"date": cells.date_text, "boolean": cells.boolean_text}


@dataclasses.dataclass(eq=False, kw_only=True)
class Value(Field):
    """A column that is read and written unchanged."""

    attribute: str
    python_type: type = str
    info: ColumnInfo = dataclasses.field(default_factory=ColumnInfo)
    node: Any = None
    length: int | None = None

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        index = plan.column(place, self.attribute)
        if self.python_type is decimal.Decimal:
            return lambda row, page: None if row[index] is None else str(row[index])
        return plan.value(index)

    def accept(self, draft: Draft, value: Any) -> None:
        if (
            self.nullable
            and isinstance(value, str)
            and isinstance(self.node.typ, schema.DecimalNumber | schema.Boolean | schema.JsonValue)
        ):
            blank = value.strip() if isinstance(self.node.typ, schema.DecimalNumber) else value
            value = None if blank == "" else value
        draft.values[self.attribute] = None if self._check_null(value) else schema.parse(self.node, value)

    def from_form(self, values: Sequence[Any]) -> Any:
        text = last_text(values)
        if self.info.kind == "json" and text:
            return from_json(text)
        if is_slug(self) and not text:
            return NONE  # it is made from the name, or stays
        if text or self.required or self.info.blank:
            return text
        return None if self.nullable else NONE

    def to_cell(self, value: Any, identified: IdentifiedObjects) -> str:
        if self.info.kind == "json" and value is not None:
            return cells.json_text(value)
        text = cells.text_of(value)
        return cells.blank_marked(text) if self._is_blank_or_null and isinstance(value, str) else text

    def from_cell(self, text: str) -> Any:
        if self.info.kind == "json":
            return from_json(text) if text else None if self.nullable or self.required else NONE
        if self._is_blank_or_null:
            return cells.without_blank_mark(text) if text else None
        return self.from_form([_CELLS.get(self.kind, str)(text)])

    @property
    def _is_blank_or_null(self) -> bool:
        """True for a text that may be null as well as blank."""
        return self.nullable and self.info.blank

    def options(self) -> dict[str, Any]:
        entry = super().options()
        limits = {
            "max_length": self.length,
            "min_value": self.info.minimum,
            "max_value": self.info.maximum,
            "min_length": self.info.min_length,
        }
        if self.info.unit:
            entry["label"] = f"{entry['label']} ({self.info.unit})"
        if self.kind != "field":
            entry.update({name: value for name, value in limits.items() if value is not None and not self.read_only})
        return entry

    def written_schema(self) -> dict[str, Any]:
        schema = super().written_schema()
        if self.info.min_length is not None:
            schema["minLength"] = self.info.min_length
        if self.info.pattern is not None and not self.info.blank:
            schema["pattern"] = self.info.pattern.replace(r"\Z", "$")
        return schema


@dataclasses.dataclass(eq=False, kw_only=True)
class ListValue(Value):
    """A column with a list of plain values, also written as a difference; in a table they are separated by commas."""

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        difference = list_differences.parse(draft, value)
        if difference is None and not isinstance(value, list):
            raise refused_items(value)
        if difference is None:
            draft[self.attribute] = self.parse_items(value)
            return
        change = ListDifference(self.parse_items(difference.add), self.parse_items(difference.remove))
        try:
            draft[self.attribute] = change.applied_to(draft.before.get(self.attribute) or ())
        except ValueError as error:
            raise colander.Invalid(None, str(error)) from None

    def parse_items(self, items: list[Any]) -> list[Any]:
        """Parses the items of a list.

        :raises colander.Invalid: for an invalid one
        """
        return items

    def patched_schema(self) -> dict[str, Any]:
        return list_or_difference(self.written_schema())

    def to_cell(self, value: Any, identified: IdentifiedObjects) -> str:
        return cells.text_of(value)

    def from_cell(self, text: str) -> Any:
        return cell_items(text)


@dataclasses.dataclass(eq=False, kw_only=True)
class Choice(Value):
    """A column with a closed set of values, read as ``{value, label}`` (or as the value alone when ``plain``)."""

    choices: Choices
    plain: bool = False

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        index = plan.column(place, self.attribute)
        if self.plain:
            return plan.value(index)
        representations = {value: {"value": value, "label": label} for value, label in self.choices.items}

        def read(row: Row, page: RowSet) -> Any:
            value = row[index]
            if value is None or value == "":
                return None
            return representations.get(value) or {"value": value, "label": str(value)}

        return read

    def brief_reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        return Value.reader(self, plan, place)

    def accept(self, draft: Draft, value: Any) -> None:
        if value is None and not self.nullable and not self.plain:
            value = ""  # null stands for blank, which is then refused or not
        super().accept(draft, value)

    def to_body(self, value: Any) -> Any:
        return value["value"] if isinstance(value, dict) else value

    def text(self, value: Any) -> str:
        return super().text(value if isinstance(value, dict) else self.choices.labels.get(value, value))

    def options(self) -> dict[str, Any]:
        entry = super().options() | {"type": "choice" if self.plain else "field"}
        entry.pop("max_length", None)
        if not self.read_only:
            entry["choices"] = [{"value": value, "display": label} for value, label in self.choices.items]
        return entry

    def schema(self) -> dict[str, Any]:
        if self.plain:
            return self.value_schema()
        shape = {
            "type": "object",
            "properties": {"value": self.values_schema(), "label": {"type": "string"}},
            "required": ["value", "label"],
        }
        return self._described(shape, nullable=self.nullable or self.info.blank)

    def written_schema(self) -> dict[str, Any]:
        if self.plain:
            return self.value_schema()
        shape = as_written_or_read(self.values_schema(*[""] * self.info.blank))
        return self._described(shape, nullable=self.nullable or self.info.blank)

    def form_schema(self) -> dict[str, Any]:
        return self.value_schema()

    def brief_schema(self) -> dict[str, Any]:
        return self.value_schema()

    def value_schema(self) -> dict[str, Any]:
        """The schema of the value without its label."""
        return self._described(self.values_schema(*[""] * self.info.blank, *[None] * self.nullable))

    def values_schema(self, *more: Any) -> dict[str, Any]:
        """The schema of the value alone; ``more`` are values allowed beside the choices."""
        values = [value for value, _ in self.choices.items]
        kind = JSON_TYPES.get(type(values[0]), {}) if values else {}
        return {**kind, "enum": list(dict.fromkeys([*values, *more]))}


def is_slug(field: Field) -> bool:
    """True for a field with a slug."""
    return isinstance(field, Value) and field.info.kind == "slug"
