"""Controls of the form of permissions: actions as checkboxes, and constraints as rows of field, lookup and value.

The texts of the control of constraints are its rows, each with its three parts joined by :data:`SEPARATOR`. Constraints
that rows cannot express (alternatives, null, blank values) are one text with their JSON.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander

from netinv_core.auth.models import ObjectPermission
from netinv_core.hookspecs import hookimpl
from netinv_core.labels import label_of
from netinv_core.sql.lookups import LOOKUPS
from netinv_web.forms.control_values import parse_json, pretty_json
from netinv_web.forms.controls import Control, ControlFactory, Members

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

ACTIONS = (("view", "View"), ("add", "Add"), ("change", "Change"), ("delete", "Delete"))
SEPARATOR = "\x1f"  # between the parts of a row
EMPTY_ROWS = 3  # rows without text that the form offers
FLAGS = {"true": True, "false": False}
LOOKUP_LABELS = {
    "exact": "is",
    "iexact": "is (any case)",
    "contains": "contains",
    "icontains": "contains (any case)",
    "startswith": "begins with",
    "istartswith": "begins with (any case)",
    "endswith": "ends with",
    "iendswith": "ends with (any case)",
    "regex": "matches the regular expression",
    "iregex": "matches the regular expression (any case)",
    "gt": "is greater than",
    "gte": "is at least",
    "lt": "is less than",
    "lte": "is at most",
    "in": "is one of",
    "isnull": "is empty (true or false)",
}
ROWS_HELP = (
    "All rows must hold. A field of a related object is written with two underscores: site__name. "
    "$user stands for the user; several values are separated by commas. Without rows every object is meant."
)
Row = tuple[str, str, str]


@hookimpl
def netinv_web_controls(registry: Registry) -> dict[tuple[str, str], ControlFactory]:
    """The factories of controls for fields of permissions."""
    label = next((label for label, endpoint in registry.endpoints.items() if endpoint.model is ObjectPermission), "")
    return {(label, "actions"): _actions, (label, "constraints"): constraints_control} if label else {}


# -- actions


def _actions(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    return Control(
        field.name,
        label_of(field),
        "checkboxes",
        help="Further actions are those of models, such as run and approve of jobs, separated by commas.",
        required=True,
        multiple=True,
        choices=ACTIONS,
        text_label="and",
        field=field,
        read=_read_actions,
        show=_show_actions,
    )


def _read_actions(texts: Sequence[Any]) -> list[str]:
    names = (name for text in texts for name in re.split(r"[\s,]+", str(text)))
    return list(dict.fromkeys(name for name in names if name))


def _show_actions(value: Any) -> list[str]:
    """The offered actions, and the others as one text."""
    names = [str(item) for item in value] if isinstance(value, list) else [str(value)]
    offered = dict(ACTIONS)
    others = ", ".join(name for name in names if name not in offered)
    return [*(name for name in names if name in offered), *([others] if others else [])]


# -- constraints


@dataclasses.dataclass
class ConstraintsControl(Control):
    """Control of an object of lookups: rows, or a box with JSON."""

    @property
    def lookups(self) -> Sequence[tuple[str, str]]:
        """The lookups that a row offers."""
        return [(name, LOOKUP_LABELS.get(name, name)) for name in LOOKUPS]

    @property
    def json(self) -> str:
        """The JSON, if the control holds no rows."""
        return next((text for text in self.values if text.count(SEPARATOR) != 2), "")

    @property
    def rows(self) -> list[Row]:
        """The rows with text, and :data:`EMPTY_ROWS` without; none if there is only JSON."""
        rows = _rows_of(self.values)
        return [*rows, *[("", "exact", "")] * EMPTY_ROWS] if rows or not self.json else []

    def texts_in(self, members: Members) -> list[str]:
        """The rows with text that a form sent, and its JSON."""
        columns = (members.get(f"_{part}_{self.name}", ()) for part in ("field", "lookup", "value"))
        rows = ([str(text).replace(SEPARATOR, "") for text in row] for row in zip(*columns, strict=False))
        json = [text.replace(SEPARATOR, "") for text in super().texts_in(members) if text.strip()]
        return [*(SEPARATOR.join(row) for row in rows if row[0].strip() or row[2]), *json]


def _rows_of(texts: Iterable[str]) -> list[Row]:
    rows = (text.split(SEPARATOR) for text in texts)
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3]


def constraints_control(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    """The control of constraints."""
    return ConstraintsControl(
        field.name,
        label_of(field),
        "conditions",
        help=ROWS_HELP,
        field=field,
        read=_read_constraints,
        show=_show_constraints,
    )


def _show_constraints(value: Any) -> list[str]:
    """The rows of constraints, or their JSON."""
    if value == {}:
        return []
    rows = [_row(name, item) for name, item in value.items()] if isinstance(value, Mapping) else [None]
    if None in rows:
        return [value if isinstance(value, str) else pretty_json(value)]
    return [SEPARATOR.join(row) for row in rows if row is not None]


def _row(name: str, value: Any) -> Row | None:
    """The row of a lookup; ``None`` if a row cannot express it."""
    field, _, lookup = name.rpartition("__")
    if not field or lookup not in LOOKUPS:
        field, lookup = name, "exact"
    items = value if lookup == "in" and isinstance(value, list) else [value]
    texts = [_scalar_text(item) for item in items]
    if not all(texts) or (lookup == "in" and any("," in text or text != text.strip() for text in texts)):
        return None
    text = ", ".join(texts)
    return (field, lookup, text) if text and not re.search(r"[\r\n\x1f]", f"{field}{text}") else None


def _scalar_text(value: Any) -> str:
    """The text of a scalar; empty for null and for values with members."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""


def _read_constraints(texts: Sequence[Any]) -> Any:
    """The object of lookups that rows stand for, or the JSON.

    :raises colander.Invalid: for incomplete rows, for rows beside JSON, and for two rows with the same lookup of a
        field
    """
    rows = _rows_of(texts)
    json = [text for text in texts if text.count(SEPARATOR) != 2]
    if rows and json:
        raise colander.Invalid(None, "Enter rows or JSON, not both.")
    if json:
        return parse_json(json[-1])
    value: dict[str, Any] = {}
    for number, (name, lookup, text) in enumerate(rows, 1):
        if not name.strip() or not text:
            raise colander.Invalid(None, f"Row {number} needs a {'value' if name.strip() else 'field'}.")
        key = name.strip() if lookup == "exact" else f"{name.strip()}__{lookup}"
        if key in value:
            raise colander.Invalid(
                None, f"Row {number} repeats a field with the same lookup. Use JSON for alternatives."
            )
        value[key] = _json_value(lookup, text)
    return value or None


def _json_value(lookup: str, text: str) -> Any:
    """The value of a row. The lookups convert texts to the types of columns."""
    if lookup == "in":
        return [item.strip() for item in text.split(",") if item.strip()]
    return FLAGS.get(text.strip().lower(), text) if lookup == "isnull" else text
