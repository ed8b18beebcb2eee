"""Files of an import: CSV, TSV, XLSX, JSON and YAML as the rows that create or change objects, with the errors of each
cell.
"""

from __future__ import annotations

import codecs
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import BadRequest
from netinv_core.fields import cells
from netinv_core.http import bodies
from netinv_core.write import identification
from netinv_core.write import table_rows as rows
from netinv_tabular import columns, delimited, encodings, generic_references, row_order, workbooks, yaml_documents
from netinv_tabular.named_references import NamedReferences
from netinv_tabular.row_order import OrderedRow, RowOrder
from netinv_web.exchange.column_mapping import Stated
from netinv_web.lists.columns import presentation_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

CSV, TSV, XLSX, JSON, YAML = "csv", "tsv", "xlsx", "json", "yaml"
FORMATS = ((CSV, "CSV"), (TSV, "TSV"), (XLSX, "Excel (.xlsx)"), (JSON, "JSON"), (YAML, "YAML"))
EXTENSIONS = {
    ".csv": CSV,
    ".tsv": TSV,
    ".tab": TSV,
    ".xlsx": XLSX,
    ".xlsm": XLSX,
    ".json": JSON,
    ".yaml": YAML,
    ".yml": YAML,
}
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MAX_COLUMNS = 200  # members of the objects of JSON or YAML
TOO_MANY = f"The objects have more than {MAX_COLUMNS} different members."
MAX_CELL = 300  # characters of a cell of a preview of JSON or YAML
NO_OBJECT = "An object is expected."


@dataclasses.dataclass
class ImportTable:
    """Rows of a file: their ``bodies``, their ``cells`` as text by column, and errors by name of a column or a field.

    ``numbers`` are those of the rows in the file. A row with an id changes an object, others create one. ``order`` says
    in which order they are written (:func:`arrange`). ``hints`` tell more about names that mean no object, by place and
    field.
    """

    columns: Sequence[str]
    cells: Sequence[Sequence[str]]
    bodies: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    numbers: Sequence[int]
    names: Sequence[str] = ()  # of the columns in the file, where they are mapped
    mapping: Mapping[str, str] = dataclasses.field(default_factory=dict)
    encoding: str = ""  # of the file, where it is not UTF-8
    named: NamedReferences | None = None
    hints: dict[int, dict[str, str]] = dataclasses.field(default_factory=dict)
    order: RowOrder = dataclasses.field(default_factory=lambda: RowOrder([]))

    def changes(self, place: int) -> bool:
        """True for a row that changes an object."""
        return rows.ID in self.bodies[place]

    def explain(self, place: int, errors: Any) -> Any:
        """The errors of a row, with what is known about names that mean no object or several."""
        hints = self.hints.get(place)
        if not hints or not isinstance(errors, Mapping):
            return errors
        return {name: [hints[name]] if name in hints else messages for name, messages in errors.items()}

    def column_of(self, name: str) -> str | None:
        """The column that an error of a field belongs to: its own, or the first one of its members."""
        if name in self.columns:
            return name
        return next((column for column in self.columns if column.partition(".")[0] == name), None)


def recognise_format(content: bytes, name: str) -> str:
    """The format of a file, by its name or its first character."""
    extension = name[name.rfind(".") :].lower() if "." in name else ""
    if content.startswith(workbooks.SIGNATURE):
        return XLSX
    if extension in EXTENSIONS:
        return EXTENSIONS[extension]
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:4]
    if start.startswith(UTF_16):
        return CSV
    if start[:1] in (b"[", b"{"):
        return JSON
    return YAML if start.startswith((b"- ", b"---", b"-\n")) else CSV


def read(
    uow: UnitOfWork,
    endpoint: Endpoint,
    content: bytes,
    file_format: str,
    encoding: str = "",
    stated: Stated | None = None,
) -> ImportTable:
    """Reads a file. The encoding, and what columns mean, are recognised as far as they are not stated.

    :raises BadRequest: for content that is not of the format
    :raises TooLarge: for more rows or values than the settings allow
    :raises Invalid: for columns that the resource does not have
    """
    settings = uow.registry.settings
    limits = {"max_rows": settings["max_bulk_objects"], "max_values": settings["max_json_values"]}
    if file_format == XLSX:
        return _of_table(uow, endpoint, workbooks.read(content, **limits), stated)
    decoded = encodings.decode(content, encoding)
    if file_format == JSON:
        value = bodies.json_of(decoded.text.encode("utf-8", "replace"), settings)
        table = _of_items(uow, endpoint, bodies.check_body(_items(value), settings), stated)
    elif file_format == YAML:
        value = yaml_documents.load(decoded.text, max_values=settings["max_json_values"])
        table = _of_items(uow, endpoint, bodies.check_body(_items(value), settings), stated)
    else:
        delimiter = delimited.TAB if file_format == TSV else None
        parsed = delimited.parse(decoded.text, delimiter=delimiter, **limits)
        table = _of_table(uow, endpoint, parsed, stated)
    table.encoding = decoded.encoding
    return table


def _of_table(uow: UnitOfWork, endpoint: Endpoint, table: delimited.Table, stated: Stated | None) -> ImportTable:
    mapping = _mapping_of(uow, endpoint, table.names, stated)
    parsed = columns.parse(uow, endpoint, table, mapping)
    names = [mapping.get(name, name) for name in table.names]
    return ImportTable(
        names, table.rows, parsed.bodies, parsed.errors, table.numbers, names=table.names, mapping=mapping
    )


def _mapping_of(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str], stated: Stated | None) -> dict[str, str]:
    mapping = (stated or Stated()).mapping_of(uow, endpoint, names)
    if not mapping:
        raise BadRequest(f"No column of the file is known. They are: {', '.join(names[:20])[:MAX_CELL]}.")
    return mapping


def _items(value: Any) -> list[Any]:
    """The objects of a document: a list, a page of the API, or a single object.

    :raises BadRequest: for another document
    """
    if isinstance(value, Mapping):
        results = value.get("results")
        return results if isinstance(results, list) and "count" in value else [value]
    if not isinstance(value, list):
        raise BadRequest("A list of objects is expected.")
    return value


def _of_items(uow: UnitOfWork, endpoint: Endpoint, items: list[Any], stated: Stated | None) -> ImportTable:
    """The rows of a document: the members of its objects are the columns."""
    names = list(dict.fromkeys(name for item in items if isinstance(item, Mapping) for name in item))
    if len(names) > MAX_COLUMNS:
        raise BadRequest(TOO_MANY)
    objects = [item if isinstance(item, Mapping) else {} for item in items]
    texts = [[_text(item[name]) if name in item else "" for name in names] for item in objects]
    mapping = _mapping_of(uow, endpoint, names, stated) if names else {}
    parsed = columns.place(uow, endpoint, objects, mapping)
    for item, body, errors in zip(items, parsed.bodies, parsed.errors, strict=True):
        if not isinstance(item, Mapping):
            errors["__all__"] = [NO_OBJECT]
        if body.get(rows.ID) is None:
            body.pop(rows.ID, None)
    shown = [mapping.get(name, name) for name in names]
    return ImportTable(shown, texts, parsed.bodies, parsed.errors, parsed.numbers, names=names, mapping=mapping)


def _text(value: Any) -> str:
    text = cells.text_of(value)
    return text if len(text) <= MAX_CELL else f"{text[:MAX_CELL]}…"


def key_of(endpoint: Endpoint, table: ImportTable) -> tuple[str, ...] | None:
    """The fields by which the rows can name objects in place of an id."""
    return identification.key_fields(endpoint, {name for body in table.bodies for name in body})


def resolve(uow: UnitOfWork, endpoint: Endpoint, table: ImportTable) -> None:
    """Replaces the names of objects that exist by their ids, where the names alone would not be understood."""
    table.named = NamedReferences(uow, endpoint, table.bodies, scopes_of(endpoint))
    table.named.resolve()


def scopes_of(endpoint: Endpoint) -> Mapping[str, Collection[str]]:
    """The fields that have to agree with those of the object that a field refers to, by the name of that field."""
    return presentation_of(endpoint).depends_on


def match(uow: UnitOfWork, endpoint: Endpoint, table: ImportTable) -> None:
    """Sets the ids of rows without one whose key is that of an object. Rows that match several get an error."""
    key = key_of(endpoint, table)
    places = [
        place
        for place, body in enumerate(table.bodies)
        if key is not None and rows.ID not in body and not table.errors[place] and all(name in body for name in key)
    ]
    if key is None or not places:
        return
    matches = identification.find(uow, endpoint, [table.bodies[place] for place in places], key)
    for place, found in zip(places, matches, strict=True):
        if found.ambiguous:
            table.errors[place][key[0]] = [found.message]
        elif found.ids:
            table.bodies[place][rows.ID] = str(found.ids[0])
        else:
            table.errors[place] |= found.errors


def arrange(uow: UnitOfWork, endpoint: Endpoint, table: ImportTable) -> None:
    """Orders the rows, and resolves what refers to new rows. Rows that refer to each other in a circle get an error."""
    named = [OrderedRow(endpoint, body, str(number)) for body, number in zip(table.bodies, table.numbers, strict=True)]
    table.order = row_order.order(named, scopes_of)
    for place, errors in table.order.errors.items():
        table.errors[place] |= errors
    generic_references.resolve(uow, endpoint, table.bodies, table.errors)
    for place, field, message in table.named.errors() if table.named is not None else ():
        table.hints.setdefault(place, {}).setdefault(field, message)
