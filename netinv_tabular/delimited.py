"""Delimited text: CSV (RFC 4180) and TSV, with the names of the columns in the first row."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import io
import re
from collections.abc import Iterable, Sequence

from netinv_core.errors import BadRequest, TooLarge
from netinv_core.fields import cells

COMMA, SEMICOLON, TAB = ",", ";", "\t"
MAX_COLUMNS = 1000
MAX_HEADER_LENGTH = 2**16  # characters
TOO_MANY_CELLS = "The table has more than {} cells (netinv.max_json_values)."
_STATED = re.compile(r"\A\s*sep=(.)\r?\n", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*+"?')  # possessive, so that it takes one pass
csv.field_size_limit(2**31 - 1)  # of the process; 128 KiB by default. Bodies are limited as a whole


@dataclasses.dataclass(frozen=True)
class Table:
    """Cells of text: the ``names`` of the columns, and rows with a cell for each.

    ``numbers`` are the numbers of the rows as a spreadsheet shows them; the names are in row 1.
    """

    names: list[str]
    rows: list[list[str]]
    numbers: list[int]


def write(names: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = COMMA) -> str:
    """A table as text, with formulas escaped."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(cells.escape(names))
    writer.writerows(map(cells.escape, rows))
    return stream.getvalue()


def read(content: bytes, *, max_rows: int, max_values: int, delimiter: str | None = None) -> Table:
    """Parses a table in UTF-8, with or without a byte order mark; see :func:`parse`.

    :raises BadRequest: for other encodings, and as :func:`parse`
    :raises TooLarge: for more rows, or more cells
    """
    return parse(decode(content), max_rows=max_rows, max_values=max_values, delimiter=delimiter)


def parse(text: str, *, max_rows: int, max_values: int, delimiter: str | None = None) -> Table:
    """Parses a table. Rows without any text are skipped, and so are columns without any: trailing separators.

    ``delimiter`` is recognised by the first row if it is not stated. A line ``sep=;`` before it states one.

    :raises BadRequest: for broken quotes, an empty file, duplicate names, rows of another length
    :raises TooLarge: for more rows, or more cells
    """
    stated = _STATED.match(text)
    if stated is not None:
        text, delimiter = text[stated.end() :], stated[1]
    delimiter = delimiter or _delimiter_of(text)
    if (
        _separator_count(text, delimiter) > max_values
        and _separator_count(_QUOTED.sub("", text), delimiter) > max_values
    ):
        raise TooLarge(TOO_MANY_CELLS.format(max_values))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = DelimitedRows(max_rows, max_values)
    number = 1 if stated is not None else 0
    try:
        for row in reader:
            number += 1
            rows.add(number, row)
    except csv.Error as error:
        raise BadRequest(f"CSV parse error - row {number + 1}: {error}") from None
    return rows.table()


class DelimitedRows:
    """The rows of a table as they are read, within limits."""

    def __init__(self, max_rows: int, max_values: int) -> None:
        self._table = Table([], [], [])
        self._max_rows, self._max_values = max_rows, max_values

    def add(self, number: int, row: Sequence[str]) -> None:
        """Adds a row; the first one names the columns.

        :raises BadRequest: for another number of cells than the first row has
        :raises TooLarge: for more rows, or more cells
        """
        table = self._table
        if not any(map(str.strip, row)):
            return
        if not table.names:
            table.names.extend(_header(row))
            return
        width = len(table.names)
        if len(row) > width and not any(map(str.strip, row[width:])):
            row = row[:width]
        if len(row) != width:
            raise BadRequest(f"Row {number} has {len(row)} cells, the first row has {width} columns.")
        if len(table.rows) >= self._max_rows:
            raise TooLarge(f"The table has more than {self._max_rows} rows (netinv.max_bulk_objects).")
        if (len(table.rows) + 1) * width > self._max_values:
            raise TooLarge(TOO_MANY_CELLS.format(self._max_values))
        table.rows.append([cells.without_escape(cell) for cell in row])
        table.numbers.append(number)

    def table(self) -> Table:
        """The table, without columns that have neither a name nor cells.

        :raises BadRequest: for an empty table, and cells in a column without a name
        """
        table = self._table
        if not table.names:
            raise BadRequest("The table is empty. Its first row names the columns.")
        blank = [position for position, name in enumerate(table.names) if not name]
        for position in blank:
            is_empty = not any(table.names[position:]) if not table.rows else any(table.names)
            if not is_empty or any(row[position].strip() for row in table.rows):
                raise BadRequest(f"Column {position + 1} has no name.")
        if not blank:
            return table
        kept = [position for position, name in enumerate(table.names) if name]
        rows = [[row[position] for position in kept] for row in table.rows]
        return Table([table.names[position] for position in kept], rows, table.numbers)


def _separator_count(text: str, delimiter: str) -> int:
    """The number of delimiters and line breaks; a table has at most as many cells, and one for the last row."""
    return text.count(delimiter) + text.count("\n") + text.count("\r") - text.count("\r\n")


def decode(content: bytes) -> str:
    """The text of a file in UTF-8, without its byte order mark.

    :raises BadRequest: for another encoding
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadRequest("The file is UTF-16. UTF-8 is expected.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(f"The file is not UTF-8: byte {error.start + 1} cannot be decoded.") from None


def _delimiter_of(text: str) -> str:
    """The delimiter by which the first line has most columns; the comma if none has several."""
    line = text.lstrip("\r\n")[:MAX_HEADER_LENGTH].splitlines()[:1]

    def column_count(delimiter: str) -> int:
        return max((len(row) for row in csv.reader(line, delimiter=delimiter)), default=0)

    return max((COMMA, SEMICOLON, TAB), key=column_count)


def _header(row: Sequence[str]) -> list[str]:
    """The names of the columns.

    :raises BadRequest: for duplicate names, and too many
    """
    if len(row) > MAX_COLUMNS:
        raise BadRequest(f"The table has {len(row)} columns; at most {MAX_COLUMNS} are accepted.")
    names = [cells.without_escape(name).strip() for name in row]
    for position, name in enumerate(names):
        if name and name in names[:position]:
            raise BadRequest(f"The column {name!r} is there twice.")
    return names
