"""Workbooks and tables that are made to break the import page: each is refused with its reason, in little time."""

from __future__ import annotations

import io
import resource
import zipfile
from collections.abc import Callable, Mapping

import openpyxl
import pytest
import webtest

from netinv_testing.hangs import no_hang
from netinv_web.testing import Browser, BrowserPage
from tests.support.importing import PAGE

pytestmark = pytest.mark.any_database  # files, of which nothing is written

BYTES = 200 * 2**20
SHEET, STRINGS, STYLES = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"
NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
HEAD = '<row><c t="inlineStr"><is><t>name</t></is></c><c t="inlineStr"><is><t>slug</t></is></c></row>'
NOISE = {"xl/media/noise.bin": b"".join(number.to_bytes(3, "big") for number in range(500_000))}  # packs badly
CELLS = "<c/>" * 16_000
TOO_LARGE = "The workbook is too large when it is unpacked: "


def workbook(parts: Mapping[str, str | bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A workbook in which some parts are replaced or added."""
    plain, stream = io.BytesIO(), io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["name", "slug"])
    book.save(plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(stream, "w", packing) as new:
        for name in dict.fromkeys([*old.namelist(), *parts]):
            new.writestr(name, parts.get(name) if name in parts else old.read(name))  # type: ignore[arg-type]
    return stream.getvalue()


def sheet(rows: str = "", after: str = "") -> dict[str, str | bytes]:
    """The part of a sheet with rows below the names of the columns."""
    return {SHEET: f"<worksheet {NAMESPACE}><sheetData>{HEAD}{rows}</sheetData>{after}</worksheet>"}


def row(cells: str) -> dict[str, str | bytes]:
    """The part of a sheet with one row."""
    return sheet(f"<row>{cells}<c><v>1</v></c></row>")


def upload(browser: Browser, name: str, content: bytes) -> BrowserPage:
    """The answer to a file, within bounds of memory and time."""
    form = browser.get(PAGE).form()
    form["file"] = webtest.Upload(name, content)
    with no_hang(name):
        return form.submit("_step", status="*")


LARGE: Mapping[str, tuple[Callable[[], bytes], str]] = {
    "texts": (lambda: workbook({STRINGS: f"<sst {NAMESPACE}>{'<si/>' * 6_000_000}</sst>", **NOISE}), "too many cells"),
    "one text": (lambda: workbook({STRINGS: f"<sst><si><t>{'a' * 90_000_000}", **NOISE}), "a text is too long"),
    "one attribute": (lambda: workbook({SHEET: f"<worksheet a='{'a' * 90_000_000}'/>", **NOISE}), "a text is too long"),
    "wide row": (lambda: workbook({**sheet(f"<row>{'<c/>' * 9_000_000}</row>"), **NOISE}), "a row has too many cells"),
    "anything in a row": (lambda: workbook({**sheet(f"<row>{'<x/>' * 9_000_000}"), **NOISE}), "too many cells"),
    "wide rows of sheets": (
        lambda: workbook(
            {**{f"xl/worksheets/{n}.xml": f"<a>{f'<row>{CELLS}</row>' * 64}</a>" for n in range(2)}, **sheet(), **NOISE}
        ),
        "it has too many cells",
    ),
    "merged cells": (
        lambda: workbook({**sheet("", f"<mergeCells>{'<mergeCell/>' * 3_000_000}</mergeCells>"), **NOISE}),
        "too many cells",
    ),
    "styles": (lambda: workbook({STYLES: f"<cellXfs>{'<xf/>' * 3_000_000}</cellXfs>", **NOISE}), "too many cells"),
    "levels": (lambda: workbook({**sheet("<x>" * 300_000), **NOISE}), "it nests too deep"),
}


@pytest.mark.parametrize("case", LARGE)
@pytest.mark.night
def test_a_workbook_that_unpacks_to_much_is_refused_before_it_is_built(browser: Browser, case: str) -> None:
    make, reason = LARGE[case]
    content = make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    page = upload(browser, "t.xlsx", content)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert page.status_int == 422 and TOO_LARGE in page.words and reason in page.words
    assert grown < BYTES


REFUSED: Mapping[str, tuple[bytes, str]] = {
    "parts": (workbook({f"x/{number}": b"" for number in range(2000)}), "The file holds more than 1,000 entries"),
    "folders": (workbook({f"x/{number}/": b"" for number in range(2000)}), "The file holds more than 1,000 entries"),
    "compression": (workbook({}, zipfile.ZIP_LZMA), "its compression is not the usual one"),
    "entities": (
        workbook({SHEET: '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'}),
        "declares a document type",
    ),
    "entities in UTF-16": (
        workbook({SHEET: '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a><a/>'.encode("utf-16")}),
        "declares a document type",
    ),
    "far row": (workbook(sheet('<row r="999999999"><c><v>1</v></c></row>')), "The sheet has more than 10000 rows"),
    "far cell": (workbook(row('<c r="ZZZZZZ2"><v>1</v></c>')), "The workbook cannot be read"),
    "many digits": (workbook(row(f"<c><v>{'9' * 100_000}</v></c>")), "The workbook cannot be read"),
    "no text": (workbook(row('<c t="s"><v>7</v></c>')), "The workbook cannot be read"),
    "null character": (workbook(row('<c t="inlineStr"><is><t>a_x0000_</t></is></c>')), "1 row has errors"),
    "bad date": (workbook(row('<c t="d"><v>9999-99-99</v></c>')), "The workbook cannot be read"),
    "cut": (workbook({})[:-40], "The file is no workbook"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_workbook_that_is_made_to_break_is_refused_with_the_reason(browser: Browser, case: str) -> None:
    content, reason = REFUSED[case]
    page = upload(browser, "t.xlsx", content)
    assert page.status_int == 422 and reason in page.words


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        ('<c t="inlineStr"><is><t>a_xD800_b</t></is></c>', "a\N{REPLACEMENT CHARACTER}b"),
        ('<c t="inlineStr"><is><t>a_xD83D__xDE00_b</t></is></c>', "a\N{GRINNING FACE}b"),
        ('<c t="e"><v>#REF!</v></c>', "#REF!"),
        ("<c><v>1e999</v></c>", "inf"),
    ],
    ids=["half", "pair", "error", "infinite"],
)
def test_odd_values_of_cells_are_shown(browser: Browser, cells: str, shown: str) -> None:
    page = upload(browser, "t.xlsx", workbook(row(cells)))
    assert page.status_int < 500 and shown in page.words


def test_names_of_columns_with_half_of_a_character_are_shown(browser: Browser) -> None:
    head = '<row><c t="inlineStr"><is><t>_xD800_</t></is></c></row>'
    page = upload(
        browser, "t.xlsx", workbook({SHEET: f"<worksheet {NAMESPACE}><sheetData>{head}</sheetData></worksheet>"})
    )
    assert page.status_int == 422 and "No column of the file is known" in page.words


@pytest.mark.parametrize(
    "content",
    [
        *(f"sep={mark}\nname,slug\na,b\n".encode() for mark in ('"', "\r", " ", "\0", "a", "\N{EURO SIGN}")),
        b"name,slug\na\0,b\n",
        b"name,sl\0ug\na,b\n",
        b"name,slug\n" + b"a" * 4_000_000 + b",b\n",
        b"n" * 4_000_000 + b",b\na,b\n",
        b"name,slug\n" + b'""' * 1_500_000 + b",b\n",
        b'name,slug\n"' + b"a,b\n" * 900_000,
        b",".join(b"%d" % number for number in range(400_000)) + b"\n",
        b"," * 4_000_000,
        b"\n" * 4_000_000,
        b"\xff" * 3_000_000,
        b"\xff\xfea",
        "name,slug\na,b\n".encode("utf-32"),
        b"name,slug\n\xed\xa0\x80,b\n",
        b"[" * 60_000,
        b'[{"name":' + b"[" * 60_000 + b"]" * 60_000 + b"}]",
        b'[{"name":' + b"9" * 100_000 + b"}]",
        b'[{"name": "\\ud800"}]',
        b"- name: " + b"[" * 60_000,
    ],
    ids=range(24),
)
def test_tables_that_are_made_to_break_are_read_or_refused(browser: Browser, content: bytes) -> None:
    page = upload(browser, "data", content)
    assert page.status_int == 422 or "1 rows of data" in page.words
    assert len(page.words.partition("What to import")[0]) < 10_000 or "1 row has errors" in page.words
