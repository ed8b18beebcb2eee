"""Workbooks (.xlsx, ISO/IEC 29500): tables as files of spreadsheets, read within bounds, written as text and numbers.

A cell that is written is never a formula. Of a formula that is read, the value that the spreadsheet has stored counts.
"""

from __future__ import annotations

import datetime
import io
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from netinv_core.errors import BadRequest, TooLarge
from netinv_core.fields import cells
from netinv_core.storage import zip_files
from netinv_tabular import workbook_parts
from netinv_tabular.delimited import MAX_COLUMNS, DelimitedRows, Table

SIGNATURE = zip_files.SIGNATURE
MAX_PARTS = 1000  # files in a workbook
MAX_BYTES = 128 * 2**20  # of all its files, unpacked
MAX_RATIO = 300  # of unpacked to packed bytes; tables of few different values are packed well
MIN_BYTES = 2**20  # that every workbook may hold, whatever the ratio
MAX_TEXT = 32_767  # characters of a cell
MAX_DIGITS = 15  # of a number that a spreadsheet keeps as it is
MAX_WIDTH = 60  # of a column, in characters
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?")
# What XML cannot hold or changes is written as _x000D_ (ST_Xstring), and so is a text that looks like that.
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff\ud800-\udfff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_HALF = re.compile("[\ud800-\udfff]")  # of a character that takes two units of UTF-16
TOO_LONG = f"A cell of a workbook holds at most {MAX_TEXT:,} characters: choose CSV or YAML, or other columns."


def read(content: bytes, *, max_rows: int, max_values: int) -> Table:
    """The table in the first sheet of a workbook that has any text.

    :raises BadRequest: for another file, and as :func:`netinv_tabular.delimited.parse`
    :raises TooLarge: for more rows or cells, and for one that is much larger when it is unpacked
    """
    _check(content, max_values)
    import openpyxl  # local import: few requests need it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about parts of workbooks that are not read, such as validations
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
            for sheet in book.worksheets:
                table = _sheet(sheet, max_rows, max_values)
                if table is not None:
                    return table
    except (BadRequest, TooLarge):
        raise
    except Exception as error:  # the library raises whatever a broken file leads to
        raise BadRequest(f"The workbook cannot be read: {type(error).__name__}.") from None
    raise BadRequest("The workbook is empty. The first row of its first sheet names the columns.")


def _check(content: bytes, max_values: int) -> None:
    """Refuses what is no workbook, or one that is hostile, before anything is built in memory."""
    try:
        with zip_files.open_zip(content, MAX_PARTS) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            if size > min(MAX_BYTES, max(MIN_BYTES, MAX_RATIO * len(content))):
                raise TooLarge("The workbook is too large when it is unpacked.")
            if "[Content_Types].xml" not in archive.namelist():
                raise BadRequest("The file is no workbook (.xlsx).")
            workbook_parts.look_through(archive, max_values)
    except zip_files.BROKEN as error:
        raise BadRequest(f"The file is no workbook (.xlsx): {error}.") from None


def _sheet(sheet: Any, max_rows: int, max_values: int) -> Table | None:
    """The table of a sheet, or ``None`` for one without text."""
    rows, seen, width = DelimitedRows(max_rows, max_values), False, 0
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    for number, row in enumerate(sheet.iter_rows(values_only=True, max_col=MAX_COLUMNS + 1), 1):
        if number > 2 * max_rows + 1000:
            raise TooLarge(f"The sheet has more than {max_rows} rows (netinv.max_bulk_objects).")
        if row.count(None) == len(row):
            continue
        texts = [_text(value) for value in row]
        while texts and not texts[-1].strip():
            texts.pop()
        if not texts:
            continue
        width = width if seen else len(texts)
        seen = True
        rows.add(number, texts + [""] * (width - len(texts)))
    return rows.table() if seen else None


def _text(value: Any) -> str:
    """The text of a cell: whole numbers without a point, dates as ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 10**MAX_DIGITS else repr(value)
    if isinstance(value, datetime.datetime):
        is_day = value.time() == datetime.time()
        return value.date().isoformat() if is_day else value.isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), str(value))
    is_whole = text.isascii() or _HALF.search(text) is None
    return text if is_whole else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# -- writing


def write(names: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[Sequence[str]] = ()) -> bytes:
    """A workbook with a table; ``notes`` are the rows of a second sheet.

    The library keeps the sheets in files until they are saved, so those of a refused table are saved as well.
    """
    import openpyxl

    book, stream = openpyxl.Workbook(write_only=True), io.BytesIO()
    try:
        _fill(book, names, rows, notes)
    finally:
        book.save(stream)
    return stream.getvalue()


def _fill(book: Any, names: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[Sequence[str]]) -> None:
    from openpyxl.utils import get_column_letter

    sheet = book.create_sheet("Table")
    sheet.freeze_panes = "A2"
    for position, name in enumerate(names, 1):
        sheet.column_dimensions[get_column_letter(position)].width = min(MAX_WIDTH, max(12, len(name) + 4))
    sheet.append(_header(sheet, names))
    for row in rows:
        sheet.append([_cell(sheet, text) for text in row])
    listed = [list(row) for row in notes]
    if listed:
        second = book.create_sheet("Columns")
        second.append(_header(second, listed[0]))
        for row in listed[1:]:
            second.append([_cell(second, text, numbers=False) for text in row])
        for position, width in enumerate((24, 28, 10, 48, 60, 60)[: len(listed[0])], 1):
            second.column_dimensions[get_column_letter(position)].width = width


def _header(sheet: Any, names: Iterable[str]) -> list[Any]:
    from openpyxl.styles import Font

    header = [_cell(sheet, name, numbers=False) for name in names]
    for cell in header:
        cell.font = Font(bold=True)
    return header


def _cell(sheet: Any, text: str, *, numbers: bool = True) -> Any:
    """A cell with a number, or with a text as it is, also where it begins like a formula.

    An apostrophe stands before a text that would lose its own, or a blank before it, when it is read.
    """
    from openpyxl.cell import WriteOnlyCell

    if text.startswith("'") or text != text.strip():
        text = cells.escape_formula(text)
    if numbers and len(text) <= MAX_DIGITS and _NUMBER.fullmatch(text) and text != "-0":
        return WriteOnlyCell(sheet, float(text) if "." in text else int(text))
    cell = WriteOnlyCell(sheet)
    if text:
        cell._value = _fit(text)
        cell.data_type = "s"
    return cell


def _fit(text: str) -> str:
    """A text as the file holds it.

    :raises BadRequest: for a longer one than a cell holds
    """
    if len(text) > MAX_TEXT:
        raise BadRequest(TOO_LONG)
    return _UNFIT.sub(lambda match: f"_x{ord(match[0]):04X}_", text)
