"""What every field is and can do."""

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

    ``kind`` is the type OPTIONS shows; ``costly`` fields can be left out with ``exclude``, ``opt_in`` fields are read
    when ``include`` names them and shown in the answer to a write; ``attribute`` is the
    column that holds the value, when one does; ``merges`` says that the members of
    what is sent join those that are there; ``nested`` says whether the field is ``shown``, ``absent`` or
    ``null`` where another resource refers to its own (``null`` in no list); a ``confidential`` field belongs to a
    confidential column (:class:`netinv_core.models.columns.ColumnInfo`).
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
        """How the value is read at ``place``; adds what it needs to the plan."""
        raise NotImplementedError

    def sources(self) -> Collection[str] | None:
        """The columns and fields of the same object that the value is read from; ``None`` when that is not known."""
        return None if self.attribute is None else (self.attribute,)

    def brief_reader(self, plan: Plan, place: JoinedTable) -> Reader:
        """How the value is read in the brief shape."""
        return self.reader(plan, place)

    def accept(self, draft: Draft, value: Any) -> None:
        """Takes a value from a body into the draft.

        :raises colander.Invalid: with what is wrong with it
        """
        raise NotImplementedError

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Writes what is kept outside the object's own row, for a batch that has been written."""

    def discard(self, uow: UnitOfWork, rows: Sequence[Mapping[str, Any]]) -> None:
        """Takes along what is kept outside the objects' own rows, for rows that are deleted."""

    def from_form(self, values: Sequence[Any]) -> Any:
        """What a form's member with these values would be in a JSON body; :data:`NONE` for one that says nothing.

        :raises colander.Invalid: for a file where none is taken
        """
        text = last_text(values)
        if not text:
            return None if self.nullable or self.required else NONE
        return from_json(text) if text[0] in "[{" else text

    def object_data(self, shown: Any) -> Any:
        """What the change log's flat form keeps of a value kept outside the object's own row, given its representation."""
        return shown

    def extra_object_data(self, uow: UnitOfWork, row: Mapping[str, Any], shown: Any) -> Any:
        """As :meth:`object_data`, given the row too: for a field that keeps its value in a column which has another name."""
        return self.object_data(shown)

    def downgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None:
        """How an older API version shows the value, where the configuration decides that; ``None`` when as it is."""
        return None

    def upgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None:
        """What a value written for an older API version is in the newest; ``None`` when the same."""
        return None

    def options(self) -> dict[str, Any]:
        """The entry under ``actions.POST`` of OPTIONS."""
        label = self.label or self.name.replace("_", " ").capitalize()
        found = {"type": self.kind, "required": self.required, "read_only": self.read_only, "label": label}
        if self.help:
            found["help_text"] = self.help
        return found

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
        """``shape`` with what is known of every field. A ``$ref`` takes no siblings in OpenAPI 3.0, so it is wrapped."""
        found = {"allOf": [shape]} if "$ref" in shape else dict(shape)
        notes = {
            "title": self.label,
            "description": self.help,
            "readOnly": self.read_only,
            "writeOnly": self.write_only,
            "nullable": self.nullable if nullable is None else nullable,
        }
        return found | {name: value for name, value in notes.items() if value}

    def _check_null(self, value: Any) -> bool:
        if value is None and not self.nullable:
            raise colander.Invalid(None, schema.NOT_NULL)
        return value is None


def last_text(values: Sequence[Any]) -> str:
    """The last of the values that a form gave one member.

    :raises colander.Invalid: when it is a file
    """
    if not isinstance(values[-1], str):
        raise colander.Invalid(None, "A file was sent where a value is expected.")
    return values[-1]


def from_json(text: str) -> Any:
    """A list or an object, written as JSON within a form.

    :raises colander.Invalid: for anything that is not JSON
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise colander.Invalid(None, "Value must be valid JSON.") from None


def errors_of(error: colander.Invalid) -> FieldErrors | list[str]:
    """The body of a field's error."""
    body = getattr(error, "body", None)
    return body if body is not None else schema.messages(error)
