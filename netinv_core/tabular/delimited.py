"""Delimited text: CSV (RFC 4180) and TSV, with the names of the columns in the first row."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import io
import re
from collections.abc import Iterable, Sequence

from netinv_core.errors import BadRequest, TooLarge
from netinv_core.tabular import cells

COMMA, SEMICOLON, TAB = ",", ";", "\t"
MAX_COLUMNS = 1000
MAX_HEADER_LENGTH = 2**16  # characters
TOO_MANY_CELLS = "The table has more than {} cells (netinv.max_json_values)."
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
    writer.writerow(cells.escaped(names))
    writer.writerows(map(cells.escaped, rows))
    return stream.getvalue()


def read(content: bytes, *, max_rows: int, max_values: int, delimiter: str | None = None) -> Table:
    """Parses a table in UTF-8, with or without a byte order mark; rows without any text are skipped.

    ``delimiter`` is recognised by the first row if it is not stated.

    :raises BadRequest: for other encodings, broken quotes, an empty file, duplicate names, rows of another length
    :raises TooLarge: for more rows, or more cells
    """
    text = decoded(content)
    delimiter = delimiter or _delimiter_of(text)
    if (
        _separator_count(text, delimiter) > max_values
        and _separator_count(_QUOTED.sub("", text), delimiter) > max_values
    ):
        raise TooLarge(TOO_MANY_CELLS.format(max_values))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    table = Table([], [], [])
    number = 0
    try:
        for row in reader:
            number += 1
            if not any(map(str.strip, row)):
                continue
            if not table.names:
                table.names.extend(_header(row))
                continue
            if len(row) != len(table.names):
                raise BadRequest(f"Row {number} has {len(row)} cells, the first row has {len(table.names)} columns.")
            if len(table.rows) >= max_rows:
                raise TooLarge(f"The table has more than {max_rows} rows (netinv.max_bulk_objects).")
            if (len(table.rows) + 1) * len(row) > max_values:
                raise TooLarge(TOO_MANY_CELLS.format(max_values))
            table.rows.append([cells.without_escape(cell) for cell in row])
            table.numbers.append(number)
    except csv.Error as error:
        raise BadRequest(f"CSV parse error - row {number + 1}: {error}") from None
    if not table.names:
        raise BadRequest("The table is empty. Its first row names the columns.")
    return table


def _separator_count(text: str, delimiter: str) -> int:
    """The number of delimiters and line breaks; a table has at most as many cells, and one for the last row."""
    return text.count(delimiter) + text.count("\n") + text.count("\r") - text.count("\r\n")


def decoded(content: bytes) -> str:
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

    :raises BadRequest: for blank or duplicate names, and too many
    """
    if len(row) > MAX_COLUMNS:
        raise BadRequest(f"The table has {len(row)} columns; at most {MAX_COLUMNS} are accepted.")
    names = [cells.without_escape(name).strip() for name in row]
    for position, name in enumerate(names):
        if not name:
            raise BadRequest(f"Column {position + 1} has no name.")
        if name in names[:position]:
            raise BadRequest(f"The column {name!r} is there twice.")
    return names
