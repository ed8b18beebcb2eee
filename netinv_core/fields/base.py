"""Base class of fields: reading, writing, and description for OPTIONS and OpenAPI."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
import orjson

from netinv_core import json_values
from netinv_core.errors import FieldErrors
from netinv_core.fields import cells, schema
from netinv_core.labels import without_id
from netinv_core.records import CellColumn

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft
    from netinv_core.write.identification import IdentifiedObjects

NONE: Any = object()


@dataclasses.dataclass(eq=False, kw_only=True)
class Field:
    """One member of a resource's representation.

    * ``kind``: type in OPTIONS;
    * ``costly``: can be left out with ``exclude``;
    * ``opt_in``: is read if ``include`` names it, and in the answer to a write;
    * ``own``: the reference API does not have the field, so OPTIONS leaves it out, and answers to writes too;
    * ``derived``: tells of other objects, so it is read only where a query names it, and not when objects are written;
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
    own: bool = False
    derived: bool = False
    merges: bool = False
    confidential: bool = False
    nested: str = "shown"
    default: Any = NONE
    attribute: str | None = None
    openapi: dict[str, Any] = dataclasses.field(default_factory=dict)

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        """Returns the function that reads the value from a row. Adds the columns it needs at ``place`` to the plan."""
        raise NotImplementedError

    def sparse_reader(self, plan: ReadPlan, place: JoinedTable, without: Collection[str]) -> Reader:
        """Returns a :meth:`reader` that may leave out these members of the value, with the columns that they need."""
        return self.reader(plan, place)

    def sources(self) -> Collection[str] | None:
        """The columns and fields of the same object that the value depends on; ``None`` if unknown."""
        return None if self.attribute is None else (self.attribute,)

    def brief_reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        """Returns the function that reads the value in the brief shape; see :meth:`reader`."""
        return self.reader(plan, place)

    def path_reader(self, plan: ReadPlan, place: JoinedTable, path: str) -> Reader | None:
        """Returns the function that reads a path of the object that the field refers to; ``None`` where plans join its
        table themselves.
        """
        return None

    def accept(self, draft: Draft, value: Any) -> None:
        """Validates a value of a body and stores it in the draft.

        :raises colander.Invalid: for an invalid value
        """
        raise NotImplementedError

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Writes rows and files other than the object's row, after the batch is written."""

    def differing(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> set[Any]:
        """Returns the ids of those drafts, all with a value in ``extra``, that :meth:`store` would change; by default
        all.
        """
        return {draft.id for draft in drafts}

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

    def to_body(self, value: Any) -> Any:
        """Converts a value as read to the form in which a request body has it: the id of a nested object, for
        example.
        """
        return value

    def compared(self, before: Any, after: Any) -> tuple[Any, Any]:
        """Converts an earlier and a later value as read to what is compared of them; by default all."""
        return before, after

    def followed(
        self, values: Mapping[Any, Any], changes: Mapping[str, Sequence[tuple[Any, Any]]]
    ) -> Mapping[Any, Any]:
        """Converts values as read, by id, to those after changes of other objects that the field represents, such as
        associations; by default the same.

        :param changes: the representations of the other objects before and after, by label
        """
        return values

    def restored(self, value: Any, current: Any) -> Any:
        """Converts a recorded value to one that can be written again where ``current`` is read now; by default the
        same.
        """
        return value

    def text(self, value: Any) -> str:
        """Converts a value as read to a text for people: the name of a nested object, the label of a choice."""
        return text_of(value)

    def cell_columns(self, uow: UnitOfWork) -> Sequence[CellColumn]:
        """The columns of the field in a table (CSV): one of its name, unless its members have columns of their own."""
        return [CellColumn(self.name, self.name, self.to_cell, self.from_cell)]

    def cell_references(self, value: Any) -> Iterable[tuple[Endpoint, Any]]:
        """The objects that :meth:`to_cell` names, by endpoint and id."""
        return ()

    def to_cell(self, value: Any, identified: IdentifiedObjects) -> str:
        """Converts the representation of a value to the text of a cell. :meth:`from_cell` restores it."""
        if self.read_only or not isinstance(value, dict | list):
            return cells.text_of(value)
        return cells.json_text(value)

    def from_cell(self, text: str) -> Any:
        """Converts the text of a cell to the value in a JSON body; :data:`NONE` for a blank one that is left out.

        :raises colander.Invalid: for text that cannot be converted
        """
        return self.from_form([text])

    def object_data(self, value: Any) -> Any:
        """Converts the representation of a value to its form in the flat form of change records."""
        return value

    def extra_object_data(self, uow: UnitOfWork, row: Mapping[str, Any], value: Any) -> Any:
        """Variant of :meth:`object_data` with the row, for a field whose column has another name."""
        return self.object_data(value)

    def downgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None:
        """Returns the function that converts the value to an older API version, if that depends on the
        configuration.
        """
        return None

    def upgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None:
        """Returns the function that converts a value of an older API version to the newest; ``None`` if they are the
        same.
        """
        return None

    def options(self) -> dict[str, Any]:
        """The entry under ``actions.POST`` of OPTIONS."""
        label = self.label or self.name.replace("_", " ").capitalize()
        required = self.required and self.default is NONE
        entry: dict[str, Any] = {"type": self.kind, "required": required, "read_only": self.read_only, "label": label}
        if self.required and not required:
            entry["default"] = self.default
        if self.help:
            entry["help_text"] = self.help
        return entry

    def schema(self) -> dict[str, Any]:
        """The OpenAPI schema of the value as read."""
        return self._described(self.openapi)

    def written_schema(self) -> dict[str, Any]:
        """The OpenAPI schema of the value as written."""
        return self.schema()

    def patched_schema(self) -> dict[str, Any]:
        """The OpenAPI schema of the value in a body of PATCH."""
        return self.written_schema()

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


def text_of(value: Any) -> str:
    """Converts any member of a representation to a text for people."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, list):
        return ", ".join(map(text_of, value))
    if isinstance(value, dict):
        name = value.get("display", value.get("label"))
        if name is None:
            return orjson.dumps(value, default=str).decode()
        return without_id(str(name))
    return str(value)


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
        return json_values.parse(text)
    except json_values.InvalidJson:
        raise colander.Invalid(None, "Value must be valid JSON.") from None


def cell_items(text: str) -> list[Any]:
    """The items of a list in a cell, separated by commas or written as JSON.

    :raises colander.Invalid: for unbalanced quotes, or invalid JSON
    """
    if text.startswith("["):
        items = from_json(text)
        return items if isinstance(items, list) else [items]
    try:
        return cells.split_items(text)
    except ValueError as error:
        raise colander.Invalid(None, str(error)) from None


def refused_items(value: Any) -> colander.Invalid:
    """The error of a value that is not a list, in the format of lists of values."""
    return colander.Invalid(None, f'Expected a list of items but got type "{type(value).__name__}".')


def errors_of(error: colander.Invalid) -> FieldErrors | list[str]:
    """The body of a field's error."""
    body = getattr(error, "body", None)
    return body if body is not None else schema.messages(error)
