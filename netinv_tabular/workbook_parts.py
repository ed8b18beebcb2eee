"""The parts of a workbook (.xlsx), looked through before any is built in memory: its elements are counted in one pass
of a parser that keeps nothing.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import IO
from xml.parsers import expat

from netinv_core.errors import BadRequest, TooLarge

MAX_LEVELS = 100
MAX_CELLS = 16_384  # of a row, of any spreadsheet
MAX_ELEMENTS = 100_000  # between two rows, or two texts; a row of most cells has fewer
MAX_TEXT = 2**20  # bytes between two elements; a text of most characters, all of them escaped, has fewer
BLOCK = 2**20  # bytes that are looked at together
CELL, ITEMS = "c", frozenset({"row", "si"})
TOO_LARGE = "The workbook is too large when it is unpacked: {}."


class WorkbookParts:
    """The count of all parts of a workbook, of which at most ``max_values`` cells or texts are read."""

    def __init__(self, max_values: int) -> None:
        self._most = 8 * max_values  # elements; a cell has four or fewer, and there are other sheets
        self._most_cells, self._most_items = 4 * max_values, max_values
        self._elements = self._cells = 0

    def look_through(self, part: IO[bytes]) -> None:
        """Counts the elements of a part. One that is no XML is none that will be read.

        :raises TooLarge: for more elements, levels, cells of a row, or bytes of a text than a workbook has
        :raises BadRequest: for a document type, in which entities could be defined
        """
        counted = _CountedPart(self._most - self._elements, self._most_cells - self._cells, self._most_items)
        while block := part.read(BLOCK):
            if not counted.take(block):
                break
        self._elements += counted.elements
        self._cells += counted.cells


class _CountedPart:
    """The elements of one part, while they are parsed."""

    def __init__(self, most: int, most_cells: int, most_items: int) -> None:
        self.elements = self.cells = 0
        self._most, self._most_cells, self._most_items = most, most_cells, most_items
        self._levels = self._items = self._row = self._run = self._place = self._taken = 0
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse_type

    def take(self, block: bytes) -> bool:
        """Parses a block; false for one that is no XML."""
        try:
            self._parser.Parse(block)
        except expat.ExpatError:
            return False
        self._taken += len(block)
        if self._taken - self._place > MAX_TEXT + BLOCK:
            raise TooLarge(TOO_LARGE.format("a text is too long"))
        return True

    def _begin(self, name: str, _: Mapping[str, str]) -> None:
        self.elements += 1
        self._run += 1
        self._levels += 1
        if name[-1] == CELL and (name == CELL or name.endswith(f":{CELL}")):
            self.cells += 1
            self._row += 1
        elif name in ITEMS or name.rpartition(":")[2] in ITEMS:
            self._items += 1
            self._row = self._run = 0
        last, self._place = self._place, self._parser.CurrentByteIndex
        if self._place - last > MAX_TEXT:
            raise TooLarge(TOO_LARGE.format("a text is too long"))
        if self.elements > self._most or self.cells > self._most_cells or self._items > self._most_items:
            raise TooLarge(TOO_LARGE.format("it has too many cells"))
        if self._row > MAX_CELLS or self._run > MAX_ELEMENTS:
            raise TooLarge(TOO_LARGE.format("a row has too many cells"))
        if self._levels > MAX_LEVELS:
            raise TooLarge(TOO_LARGE.format("it nests too deep"))

    def _end(self, _: str) -> None:
        self._levels -= 1

    @staticmethod
    def _refuse_type(*_: object) -> None:
        raise BadRequest("The workbook declares a document type, which none needs.")


def look_through(archive: zipfile.ZipFile, max_values: int) -> None:
    """Looks through all parts; see :meth:`WorkbookParts.look_through`."""
    parts = WorkbookParts(max_values)
    for member in archive.infolist():
        with archive.open(member) as part:
            parts.look_through(part)
