"""Types of custom fields, and validation of their values."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Callable, Iterable
from typing import Any

from netinv_core.models.columns import Choices
from netinv_core.patterns import Budget

TEXT, INTEGER, BOOLEAN, DATE, URL = "text", "integer", "boolean", "date", "url"
SELECT, MULTI_SELECT, JSON, MARKDOWN = "select", "multi-select", "json", "markdown"
TYPES = Choices.of(
    (TEXT, "Text"),
    (INTEGER, "Integer"),
    (BOOLEAN, "Boolean (true/false)"),
    (DATE, "Date"),
    (URL, "URL"),
    (SELECT, "Selection"),
    (MULTI_SELECT, "Multiple selection"),
    (JSON, "JSON"),
    (MARKDOWN, "Markdown"),
)
SELECTIONS = frozenset({SELECT, MULTI_SELECT})
DISABLED, LOOSE, EXACT = "disabled", "loose", "exact"
LOGICS = Choices.of((DISABLED, "Disabled"), (LOOSE, "Loose"), (EXACT, "Exact"))
BLANK: tuple[Any, ...] = (None, "", [])
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")


@dataclasses.dataclass(frozen=True)
class ValueDefinition:
    """Part of a custom field that validates values, and how forms show it.

    Its key in representations is ``name`` up to API version 1.3, and ``slug`` since.
    """

    name: str
    slug: str
    type: str
    required: bool = False
    filter_logic: str = LOOSE
    default: Any = None
    minimum: int | None = None
    maximum: int | None = None
    regex: str = ""
    choices: tuple[str, ...] = ()
    label: str = ""
    description: str = ""
    grouping: str = ""

    @classmethod
    def of(cls, row: Any, choices: Iterable[str] = ()) -> ValueDefinition:
        """Returns the definition of a custom field. ``row`` is its row or a draft."""
        return cls(
            name=row["name"],
            slug=row["slug"],
            type=row["type"],
            required=bool(row["required"]),
            filter_logic=row["filter_logic"],
            default=row["default"],
            minimum=row["validation_minimum"],
            maximum=row["validation_maximum"],
            regex=row["validation_regex"] or "",
            choices=tuple(choices),
            label=row["label"] or row["name"],
            description=row["description"] or "",
            grouping=row["grouping"] or "",
        )

    def clean(self, value: Any, budget: Budget) -> Any:
        """Returns the value in its stored form.

        :param budget: bounds the time of pattern matching
        :raises ValueError: with an error text, for an invalid value
        """
        if value in BLANK and self.required:
            raise ValueError("Required field cannot be empty.")
        if value is None or (value == "" and self.type != JSON):
            return None if self.type in _CLEANERS else value
        if value == [] and self.type == MULTI_SELECT:
            return None  # no choice is no value
        clean = _CLEANERS.get(self.type)
        if clean is not None:
            return clean(self, value)
        if not isinstance(value, str):
            raise ValueError("Value must be a string")
        if self.regex and not budget.search(self.regex, value):
            raise ValueError(f"Value must match regex '{self.regex}'")
        return value


def _integer(field: ValueDefinition, value: Any) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not -(2**63) <= value < 2**63:
        raise ValueError("Value must be an integer.")
    if field.minimum is not None and value < field.minimum:
        raise ValueError(f"Value must be at least {field.minimum}")
    if field.maximum is not None and value > field.maximum:
        raise ValueError(f"Value must not exceed {field.maximum}")
    return int(value)


def _boolean(field: ValueDefinition, value: Any) -> bool:
    if not isinstance(value, bool | int) or value not in (True, False):
        raise ValueError("Value must be true or false.")
    return bool(value)


def _date(field: ValueDefinition, value: Any) -> str:
    try:
        if not _DATE.match(value):
            raise ValueError
        return datetime.date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise ValueError("Date values must be in the format YYYY-MM-DD.") from None


def _one(field: ValueDefinition, value: Any) -> str:
    if value not in field.choices:
        raise ValueError(f"Invalid choice ({value}). Available choices are: {', '.join(field.choices)}")
    return str(value)


def _several(field: ValueDefinition, value: Any) -> list[str]:
    if not isinstance(value, list) or any(item not in field.choices for item in value):
        raise ValueError(f"Invalid choice(s) ({value}). Available choices are: {', '.join(field.choices)}")
    return list(dict.fromkeys(value))


def _document(field: ValueDefinition, value: Any) -> Any:
    return value


_CLEANERS: dict[str, Callable[[ValueDefinition, Any], Any]] = {
    INTEGER: _integer,
    BOOLEAN: _boolean,
    DATE: _date,
    SELECT: _one,
    MULTI_SELECT: _several,
    JSON: _document,
}
