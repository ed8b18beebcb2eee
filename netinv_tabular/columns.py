"""Columns: objects of an endpoint as cells of text, and cells as the bodies that create or change objects."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
import orjson

from netinv_core import answer_size
from netinv_core.errors import FieldErrors, Invalid
from netinv_core.fields import NONE, Reference, cells, errors_of, generic_pairs
from netinv_core.nearest import did_you_mean
from netinv_core.records import CellColumn
from netinv_core.sql.records import nested_fields
from netinv_core.write import identification
from netinv_core.write.table_rows import ID, ParsedRows
from netinv_tabular import headers
from netinv_tabular.delimited import Table

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.identification import IdentifiedObjects

NO_COLUMN = "There is no column of this name. Columns are: {}."
AMBIGUOUS = "Another column names the same object by its attributes."
NOT_JSON = "The attributes of an object are not valid JSON."
MAX_STEPS = 5  # names in a column such as device.site.slug


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


def parse(uow: UnitOfWork, endpoint: Endpoint, table: Table, mapping: Mapping[str, str] | None = None) -> ParsedRows:
    """Converts the rows of a table to bodies. Columns of read-only fields are ignored, except the id.

    ``mapping`` has the columns that the names of the table mean; the others are ignored. Without it they are recognised
    (:func:`netinv_tabular.headers.recognise`).

    :raises Invalid: for columns that the endpoint does not have, by their names
    """
    means = headers.recognise(uow, endpoint, table.names) if mapping is None else mapping
    names = [means.get(name, name if mapping is None else "") for name in table.names]
    columns = _importable_columns(uow, endpoint, names)
    joined = _Joined(endpoint, names)
    used = [(position, column) for position, column in enumerate(columns) if column is not None]
    used.sort(key=lambda pair: bool(pair[1].members))  # members are added to what the column of the field holds
    references = {
        column.field for _, column in used if column.members and isinstance(endpoint.fields[column.field], Reference)
    }
    parsed = ParsedRows([], [], table.numbers, {column.field for _, column in used} | joined.fields)
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
        joined.read({name: row[place] for name, place in joined.places.items()}, body, errors)
        parsed.bodies.append(body)
        parsed.errors.append(errors)
    return parsed


def place(
    uow: UnitOfWork, endpoint: Endpoint, items: Sequence[Mapping[str, Any]], mapping: Mapping[str, str]
) -> ParsedRows:
    """Converts objects of a JSON or YAML document to bodies. Their members are the columns that ``mapping`` says, with
    values as in a body; other members are left out.

    :raises Invalid: for columns that the endpoint does not have, by their names
    """
    columns = _importable_columns(uow, endpoint, list(mapping.values()))
    joined = _Joined(endpoint, list(mapping.values()))
    used = [(name, means, column) for (name, means), column in zip(mapping.items(), columns, strict=True)]
    used.sort(key=lambda part: bool(part[2] and part[2].members))
    fields = {column.field for column in columns if column is not None} | joined.fields
    parsed = ParsedRows([], [], list(range(1, len(items) + 1)), fields)
    for item in items:
        body: dict[str, Any] = {}
        errors: FieldErrors = {}
        texts: dict[str, str] = {}
        for name, means, column in used:
            if name not in item:
                continue
            if means in joined.places:
                texts[means] = cells.text_of(item[name])
            elif column is None or not column.members:
                body[means] = item[name]
            else:
                _place_member(endpoint, body, column, item[name], errors)
        joined.read(texts, body, errors)
        parsed.bodies.append(body)
        parsed.errors.append(errors)
    return parsed


def _place_member(
    endpoint: Endpoint, body: dict[str, Any], column: CellColumn, value: Any, errors: FieldErrors
) -> None:
    """Sets a member of a field's object: a custom field, or an attribute of the object that a reference names."""
    owner = body.get(column.field)
    if not isinstance(endpoint.fields[column.field], Reference):
        body[column.field] = dict(owner) if isinstance(owner, dict) else owner  # the document keeps its own
    elif value is None:
        body.setdefault(column.field, None)
        return
    elif owner is not None and not isinstance(owner, _Attributes):
        errors[column.name] = [AMBIGUOUS]
        return
    elif owner is None:
        body[column.field] = _Attributes()
    _set_member(body, column, value)


class _Attributes(dict[str, Any]):
    """Attributes of an object that a reference names, from columns of their own."""


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
    for _, name in generic_pairs(endpoint):
        writable[name] = dataclasses.replace(writable[name], from_text=_generic(writable[name]))
    columns = [writable.get(name) or _path_column(endpoint, name) for name in names]
    joined = {name for item in headers.joined_columns(endpoint) for name in item.names}
    ignored = {"", *(endpoint.fields.keys() - writable.keys()), *(joined - writable.keys())}
    unknown = [
        name
        for name, column in zip(names, columns, strict=True)
        if column is None and name.partition(".")[0] not in ignored
    ]
    if unknown:
        known = headers.columns_of(uow, endpoint)
        raise Invalid({name: [_no_column(known, name)] for name in unknown})
    for item in headers.joined_columns(endpoint):
        if set(item.names) & set(names):
            columns = [None if name in item.names else column for name, column in zip(names, columns, strict=True)]
    paths = {name for name in names if "." in name}
    ambiguous = {name for name in paths for other in paths if other.startswith(f"{name}.")}
    if ambiguous:
        raise Invalid({name: [AMBIGUOUS] for name in sorted(ambiguous)})
    return columns


def _no_column(columns: headers.Columns, name: str) -> str:
    return NO_COLUMN.format(", ".join(columns.names)) + did_you_mean(headers.nearest(columns, name))


class _Joined:
    """The columns of a table that together name what several fields hold."""

    def __init__(self, endpoint: Endpoint, names: Sequence[str]) -> None:
        places = {name: place for place, name in enumerate(names) if name}
        self._used = [
            (item, {name: places[name] for name in item.names if name in places})
            for item in headers.joined_columns(endpoint)
            if set(item.names) & places.keys()
        ]
        self.places = {name: place for _, places in self._used for name, place in places.items()}
        self.fields = {name for item, _ in self._used for name in item.fields}

    def read(self, cells: Mapping[str, str], body: dict[str, Any], errors: FieldErrors) -> None:
        """Adds the members that the cells of a row name to its body, or the error to the first of its columns."""
        for item, places in self._used:
            texts = {name: cells[name].strip() for name in places if name in cells}
            try:
                body.update(item.read(texts) if texts else {})
            except ValueError as error:
                errors[next(iter(texts))] = [str(error)]


def _path_column(endpoint: Endpoint, name: str) -> CellColumn | None:
    """The column of an attribute of the object that a reference names, such as ``rack.site.slug``."""
    head, *steps = name.split(".")
    field: Field | None = endpoint.writable.get(head)
    if not steps or len(steps) > MAX_STEPS:
        return None
    is_generic = any(head == name for _, name in generic_pairs(endpoint))  # the model of the object is that of the row
    for step in () if is_generic else steps:
        target = field.target if isinstance(field, Reference) and not field.plain else None
        field = target.fields.get(step) if target is not None else None
        if field is None:
            return None
    return CellColumn(name, head, lambda value, identified: "", _attribute_or_none, tuple(steps))


def _generic(column: CellColumn) -> Callable[[str], Any]:
    """Parses cells that name an object of any model: an id, attributes as JSON, or the object's name."""

    def parse_cell(text: str) -> Any:
        value = column.from_text(text)
        if not isinstance(value, str) or not value.startswith("{"):
            return value
        try:
            return orjson.loads(value)
        except ValueError:
            raise colander.Invalid(None, NOT_JSON) from None

    return parse_cell


def _attribute_or_none(text: str) -> Any:
    return text or NONE
