"""Base class of fields: reading, writing, and description for OPTIONS and OpenAPI."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
import orjson

from netinv_core.errors import FieldErrors
from netinv_core.read.plan import JoinedTable, Plan, Reader
from netinv_core.write import schema

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

NONE: Any = object()


@dataclasses.dataclass(eq=False, kw_only=True)
class Field:
    """One member of a resource's representation.

    * ``kind``: type in OPTIONS;
    * ``costly``: can be left out with ``exclude``;
    * ``opt_in``: is read if ``include`` names it, and in the answer to a write;
    * ``attribute``: column of the value, if there is one;
    * ``merges``: members of the sent object are added to the stored ones, instead of replacing them;
    * ``nested``: in nested representations the field is ``shown``, ``absent`` or ``null`` (``null`` in no list);
    * ``confidential``: belongs to a confidential column (:class:`netinv_core.models.columns.ColumnInfo`).
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
    merges: bool = False
    confidential: bool = False
    nested: str = "shown"
    default: Any = NONE
    attribute: str | None = None
    openapi: dict[str, Any] = dataclasses.field(default_factory=dict)

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        """Returns the function that reads the value from a row. Adds the columns it needs at ``place`` to the plan."""
        raise NotImplementedError

    def sources(self) -> Collection[str] | None:
        """The columns and fields of the same object that the value depends on; ``None`` if unknown."""
        return None if self.attribute is None else (self.attribute,)

    def brief_reader(self, plan: Plan, place: JoinedTable) -> Reader:
        """Returns the function that reads the value in the brief shape; see :meth:`reader`."""
        return self.reader(plan, place)

    def accept(self, draft: Draft, value: Any) -> None:
        """Validates a value of a body and stores it in the draft.

        :raises colander.Invalid: for an invalid value
        """
        raise NotImplementedError

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Writes rows and files other than the object's row, after the batch is written."""

    def discard(self, uow: UnitOfWork, rows: Sequence[Mapping[str, Any]]) -> None:
        """Deletes files of rows that are deleted."""

    def from_form(self, values: Sequence[Any]) -> Any:
        """Converts the values of a form's member to the value in a JSON body; :data:`NONE` for a blank one that is left
        out.

        :raises colander.Invalid: for a file, unless the field takes files
        """
        text = last_text(values)
        if not text:
            return None if self.nullable or self.required else NONE
        return from_json(text) if text[0] in "[{" else text

    def object_data(self, value: Any) -> Any:
        """Converts the representation of a value to its form in the flat form of change records."""
        return value

    def extra_object_data(self, uow: UnitOfWork, row: Mapping[str, Any], value: Any) -> Any:
        """Variant of :meth:`object_data` with the row, for a field whose column has another name."""
        return self.object_data(value)

    def downgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None:
        """Returns the function that converts the value to an older API version, if that depends on the configuration."""
        return None

    def upgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None:
        """Returns the function that converts a value of an older API version to the newest; ``None`` if they are the
        same.
        """
        return None

    def options(self) -> dict[str, Any]:
        """The entry under ``actions.POST`` of OPTIONS."""
        label = self.label or self.name.replace("_", " ").capitalize()
        entry = {"type": self.kind, "required": self.required, "read_only": self.read_only, "label": label}
        if self.help:
            entry["help_text"] = self.help
        return entry

    def schema(self) -> dict[str, Any]:
        """The OpenAPI schema of the value as read."""
        return self._described(self.openapi)

    def written_schema(self) -> dict[str, Any]:
        """The OpenAPI schema of the value as written."""
        return self.schema()

    def form_schema(self) -> dict[str, Any]:
        """The OpenAPI schema of the value as a member of a form."""
        return self.written_schema()

    def brief_schema(self) -> dict[str, Any]:
        """The OpenAPI schema of the value in the brief shape."""
        return self.schema()

    def _described(self, shape: dict[str, Any], *, nullable: bool | None = None) -> dict[str, Any]:
        """Adds title, description and flags to a schema.

        A ``$ref`` allows no siblings in OpenAPI 3.0, so it is wrapped in ``allOf``.
        """
        described = {"allOf": [shape]} if "$ref" in shape else dict(shape)
        notes = {
            "title": self.label,
            "description": self.help,
            "readOnly": self.read_only,
            "writeOnly": self.write_only,
            "nullable": self.nullable if nullable is None else nullable,
        }
        return described | {name: value for name, value in notes.items() if value}

    def _check_null(self, value: Any) -> bool:
        if value is None and not self.nullable:
            raise colander.Invalid(None, schema.NOT_NULL)
        return value is None


def last_text(values: Sequence[Any]) -> str:
    """The last of several values of a form's member.

    :raises colander.Invalid: for a file
    """
    if not isinstance(values[-1], str):
        raise colander.Invalid(None, "A file was sent where a value is expected.")
    return values[-1]


def from_json(text: str) -> Any:
    """Parses a list or an object in a form, which is written as JSON.

    :raises colander.Invalid: for text that is not JSON
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise colander.Invalid(None, "Value must be valid JSON.") from None


def errors_of(error: colander.Invalid) -> FieldErrors | list[str]:
    """The body of a field's error."""
    body = getattr(error, "body", None)
    return body if body is not None else schema.messages(error)
