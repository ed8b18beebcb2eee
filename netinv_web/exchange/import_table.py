"""Files of an import: CSV, TSV, JSON and YAML as the rows that create or change objects, with the errors of each
cell.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from netinv_core.errors import BadRequest
from netinv_core.http import bodies
from netinv_core.tabular import cells, delimited, identification, row_order, rows, yaml_documents
from netinv_core.tabular.row_order import Row, RowOrder
from netinv_core.types import Endpoint, UnitOfWork
from netinv_web.lists.columns import presentation_of

CSV, TSV, JSON, YAML = "csv", "tsv", "json", "yaml"
FORMATS = ((CSV, "CSV"), (TSV, "TSV"), (JSON, "JSON"), (YAML, "YAML"))
EXTENSIONS = {".csv": CSV, ".tsv": TSV, ".tab": TSV, ".json": JSON, ".yaml": YAML, ".yml": YAML}
MAX_COLUMNS = 60  # columns of a preview of JSON or YAML
MAX_CELL = 300  # characters of a cell of a preview of JSON or YAML
NO_OBJECT = "An object is expected."


@dataclasses.dataclass
class ImportTable:
    """Rows of a file: their ``bodies``, their ``cells`` as text by column, and errors by name of a column or a field.

    ``numbers`` are those of the rows in the file. A row with an id changes an object, others create one. ``order`` says
    in which order they are written (:func:`arrange`).
    """

    columns: Sequence[str]
    cells: Sequence[Sequence[str]]
    bodies: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    numbers: Sequence[int]
    order: RowOrder = dataclasses.field(default_factory=lambda: RowOrder([]))

    def changes(self, place: int) -> bool:
        """True for a row that changes an object."""
        return rows.ID in self.bodies[place]

    def column_of(self, name: str) -> str | None:
        """The column that an error of a field belongs to: its own, or the first one of its members."""
        if name in self.columns:
            return name
        return next((column for column in self.columns if column.partition(".")[0] == name), None)


def recognised(content: bytes, name: str) -> str:
    """The format of a file, by its name or its first character."""
    extension = name[name.rfind(".") :].lower() if "." in name else ""
    if extension in EXTENSIONS:
        return EXTENSIONS[extension]
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:4]
    if start[:1] in (b"[", b"{"):
        return JSON
    return YAML if start.startswith((b"- ", b"---", b"-\n")) else CSV


def read(uow: UnitOfWork, endpoint: Endpoint, content: bytes, file_format: str) -> ImportTable:
    """Reads a file.

    :raises BadRequest: for content that is not of the format
    :raises TooLarge: for more rows or values than the settings allow
    :raises Invalid: for columns that the resource does not have
    """
    settings = uow.registry.settings
    if file_format in (CSV, TSV):
        delimiter = delimited.TAB if file_format == TSV else None
        limits = {"max_rows": settings["max_bulk_objects"], "max_values": settings["max_json_values"]}
        table = delimited.read(content, delimiter=delimiter, **limits)
        parsed = rows.parse(uow, endpoint, table)
        return ImportTable(table.names, table.rows, parsed.bodies, parsed.errors, table.numbers)
    if file_format == JSON:
        return _of_items(bodies.checked(_items(bodies.json_of(content, settings)), settings))
    text = delimited.decoded(content)
    value = yaml_documents.load(text, max_values=settings["max_json_values"])
    return _of_items(bodies.checked(_items(value), settings))


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


def _of_items(items: list[Any]) -> ImportTable:
    names = [name for item in items if isinstance(item, Mapping) for name in item]
    columns = list(dict.fromkeys(map(str, names)))[:MAX_COLUMNS]
    objects = [dict(item) if isinstance(item, Mapping) else {} for item in items]
    texts = [[_text(item[name]) if name in item else "" for name in columns] for item in objects]
    errors = [{} if isinstance(item, Mapping) else {"__all__": [NO_OBJECT]} for item in items]
    for item in objects:
        if item.get(rows.ID) is None:
            item.pop(rows.ID, None)
    return ImportTable(columns, texts, objects, errors, range(1, len(items) + 1))


def _text(value: Any) -> str:
    text = cells.text_of(value)
    return text if len(text) <= MAX_CELL else f"{text[:MAX_CELL]}…"


def key_of(endpoint: Endpoint, table: ImportTable) -> tuple[str, ...] | None:
    """The fields by which the rows can name objects in place of an id."""
    return identification.key_fields(endpoint, {name for body in table.bodies for name in body})


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


def arrange(endpoint: Endpoint, table: ImportTable) -> None:
    """Orders the rows, and resolves what refers to new rows. Rows that refer to each other in a circle get an error."""
    named = [Row(endpoint, body, str(number)) for body, number in zip(table.bodies, table.numbers, strict=True)]
    table.order = row_order.order(named, lambda endpoint: presentation_of(endpoint).depends_on)
    for place, errors in table.order.errors.items():
        table.errors[place] |= errors
