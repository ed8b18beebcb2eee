"""Rows: objects of an endpoint as cells of text, and cells as the bodies that create or change objects."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander

from netinv_core import answer_size
from netinv_core.errors import FieldErrors, Invalid
from netinv_core.fields import NONE, Reference, errors_of
from netinv_core.read.records import nested_fields
from netinv_core.tabular import cells, identification
from netinv_core.tabular.delimited import Table
from netinv_core.types import CellColumn, Field, IdentifiedObjects

if TYPE_CHECKING:
    from netinv_core.types import Endpoint, UnitOfWork

ROW_NUMBER = "row"  # member of a row's errors
NO_COLUMN = "There is no column of this name. Columns are: {}."
AMBIGUOUS = "Another column names the same object by its attributes."
MAX_STEPS = 5  # names in a column such as device.site.slug
ID = "id"


# -- objects to cells


def readable_columns(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, CellColumn]:
    """The columns of all fields that are shown, by name."""
    fields = [field for field in endpoint.fields.values() if not field.write_only]
    return {column.name: column for field in fields for column in field.cell_columns(uow)}


def default_columns(uow: UnitOfWork, endpoint: Endpoint) -> list[CellColumn]:
    """The id and the columns that can be imported; of a resource that is read only, all but opt-in columns."""
    is_written = bool(endpoint.resource.writes & {"add", "change"})
    columns = readable_columns(uow, endpoint).values()
    shown = endpoint.fields.keys() - endpoint.opt_in
    return [
        c for c in columns if c.field in shown and (c.field == ID or not is_written or c.field in endpoint.writable)
    ]


def chosen_columns(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str]) -> list[CellColumn]:
    """The columns of these names; ``device.name`` is a member of a nested object.

    :raises Invalid: for an unknown name
    """
    available = readable_columns(uow, endpoint)
    chosen = [available.get(name) or _nested_column(endpoint, name) for name in dict.fromkeys(names)]
    unknown = [name for name, column in zip(dict.fromkeys(names), chosen, strict=True) if column is None]
    if unknown:
        raise Invalid.field(
            "columns", *[f"Select a valid choice. {name} is not one of the available choices." for name in unknown]
        )
    return [column for column in chosen if column is not None]


def _nested_column(endpoint: Endpoint, name: str) -> CellColumn | None:
    """The column of a member of a reference's nested representation."""
    head, _, member = name.partition(".")
    field = endpoint.fields.get(head)
    target = field.target if isinstance(field, Reference) and not field.plain else None
    if not isinstance(field, Reference) or target is None:
        return None
    if member not in {shown.name for shown in nested_fields(target, field.nested_fields)}:
        return None

    def to_text(value: Any, identified: IdentifiedObjects) -> str:
        return cells.text_of(value.get(member)) if isinstance(value, dict) else ""

    return CellColumn(name, head, to_text, lambda text: NONE)


def cells_of(
    uow: UnitOfWork, endpoint: Endpoint, columns: Sequence[CellColumn], representations: Sequence[Mapping[str, Any]]
) -> list[list[str]]:
    """Converts representations to rows of cells; one statement in all, for the names of objects referred to.

    :raises AnswerTooLarge: for more characters than ``netinv.max_answer_size``
    """
    fields = {column.field: endpoint.fields[column.field] for column in columns}
    references = (
        reference
        for item in representations
        for name, field in fields.items()
        for reference in field.cell_references(item[name])
    )
    identified = identification.identify(uow, references)
    table, size = [], 0
    for item in representations:
        table.append([column.to_text(item[column.field], identified) for column in columns])
        size += sum(map(len, table[-1]))
        answer_size.check(uow.registry, 0, size)
    return table


# -- cells to bodies


@dataclasses.dataclass
class ParsedRows:
    """Bodies of the rows of a table, with the errors of cells that cannot be converted.

    ``numbers`` are the numbers of the rows in the file. ``fields`` are the fields that the columns set.
    """

    bodies: list[dict[str, Any]]
    errors: list[FieldErrors]
    numbers: list[int]
    fields: set[str]

    def raise_errors(self) -> None:
        """Rejects rows with errors.

        :raises Invalid: with one entry for each row
        """
        if any(self.errors):
            raise numbered(Invalid.batch(self.errors), self.numbers)

    @contextlib.contextmanager
    def numbered_errors(self) -> Iterator[None]:
        """Adds the number of the row to the errors of each item, within the block."""
        try:
            yield
        except Invalid as error:
            raise numbered(error, self.numbers) from error


def numbered(error: Invalid, numbers: Sequence[int]) -> Invalid:
    """An error of a list with the number of the row in the entry of each row that has errors."""
    if error.object_count is None:
        return error
    objects, summary = error.body[: error.object_count], error.body[error.object_count :]
    entries = zip(numbers, objects, strict=False)
    return Invalid([*({ROW_NUMBER: number, **item} if item else item for number, item in entries), *summary])


def parse(uow: UnitOfWork, endpoint: Endpoint, table: Table) -> ParsedRows:
    """Converts the rows of a table to bodies. Columns of read-only fields are ignored, except the id.

    :raises Invalid: for columns that the endpoint does not have, by their names
    """
    columns = _importable_columns(uow, endpoint, table.names)
    used = [(position, column) for position, column in enumerate(columns) if column is not None]
    used.sort(key=lambda pair: bool(pair[1].members))  # members are added to what the column of the field holds
    references = {
        column.field for _, column in used if column.members and isinstance(endpoint.fields[column.field], Reference)
    }
    parsed = ParsedRows([], [], table.numbers, {column.field for _, column in used})
    for row in table.rows:
        body: dict[str, Any] = {}
        errors: FieldErrors = {}
        for position, column in used:
            try:
                value = column.from_text(row[position])
            except colander.Invalid as error:
                errors[column.name] = errors_of(error)
                continue
            if value is not NONE:
                _set_member(body, column, value)
        for name in references - errors.keys():
            body.setdefault(name, None)  # all its columns are empty
        parsed.bodies.append(body)
        parsed.errors.append(errors)
    return parsed


def _set_member(body: dict[str, Any], column: CellColumn, value: Any) -> None:
    """Sets a field of a body, or a member of the field's object."""
    if not column.members:
        body[column.field] = value
        return
    owner = body.get(column.field)
    if not isinstance(owner, dict):
        owner = body[column.field] = {} if owner is None else {ID: owner}
    *outer, last = column.members
    for name in outer:
        owner = owner.setdefault(name, {})
    owner[last] = value


def _importable_columns(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str]) -> list[CellColumn | None]:
    """The columns of a header; ``None`` for read-only ones.

    :raises Invalid: for unknown names
    """
    writable = {column.name: column for field in endpoint.writable.values() for column in field.cell_columns(uow)}
    writable[ID] = CellColumn(ID, ID, lambda value, identified: str(value), lambda text: text.strip() or NONE)
    columns = [writable.get(name) or _path_column(endpoint, name) for name in names]
    ignored = endpoint.fields.keys() - writable.keys()
    unknown = [
        name
        for name, column in zip(names, columns, strict=True)
        if column is None and name.partition(".")[0] not in ignored
    ]
    if unknown:
        raise Invalid({name: [NO_COLUMN.format(", ".join(writable))] for name in unknown})
    paths = {name for name in names if "." in name}
    ambiguous = {name for name in paths for other in paths if other.startswith(f"{name}.")}
    if ambiguous:
        raise Invalid({name: [AMBIGUOUS] for name in sorted(ambiguous)})
    return columns


def _path_column(endpoint: Endpoint, name: str) -> CellColumn | None:
    """The column of an attribute of the object that a reference names, such as ``rack.site.slug``."""
    head, *steps = name.split(".")
    field: Field | None = endpoint.writable.get(head)
    if not steps or len(steps) > MAX_STEPS:
        return None
    for step in steps:
        target = field.target if isinstance(field, Reference) and not field.plain else None
        field = target.fields.get(step) if target is not None else None
        if field is None:
            return None
    return CellColumn(name, head, lambda value, identified: "", _attribute_or_none, tuple(steps))


def _attribute_or_none(text: str) -> Any:
    return text or NONE


def match(uow: UnitOfWork, endpoint: Endpoint, rows: ParsedRows) -> None:
    """Sets the ids of rows of a table without a column of ids, by their natural keys; adds errors of other rows.

    :raises Invalid: for a table without such a key
    """
    if ID in rows.fields:
        return
    key = identification.key_fields(endpoint, rows.fields)
    if key is None:
        raise Invalid.field(ID, "The table has neither a column id nor columns that identify the objects.")
    ids, errors = identification.match(uow, endpoint, rows.bodies, key)
    for body, errors_of_row, object_id, errors_of_match in zip(rows.bodies, rows.errors, ids, errors, strict=True):
        errors_of_row |= errors_of_match
        if object_id is not None:
            body[ID] = str(object_id)
