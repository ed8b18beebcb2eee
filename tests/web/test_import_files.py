"""Files as people have them on import pages: workbooks, code pages, separators, and template files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import openpyxl
import pytest
import webtest

from netinv_testing import Api
from netinv_web.testing import Browser, BrowserPage
from tests.support.importing import PAGE, apply

pytestmark = pytest.mark.any_database  # files and forms over the write path

TENANTS = "/api/tenancy/tenants/"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
Unique = Callable[[], str]


@pytest.fixture
def word(unique: Unique) -> str:
    """A word that no other object has."""
    return unique()


def upload(
    browser: Browser, name: str, content: bytes, status: int = 200, path: str = PAGE, **members: str
) -> BrowserPage:
    """The preview of a file."""
    form = browser.get(path).form()
    file = webtest.Upload(name, content)
    form["file"] = [file] if "multiple" in form["file"].attrs else file
    for member, value in members.items():
        form[member] = value
    return form.submit("_step", status=status)


def workbook(rows: Sequence[Sequence[Any]]) -> bytes:
    """A workbook as spreadsheets write it."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(list(row))
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def repacked(content: bytes, **parts: bytes) -> bytes:
    """A workbook with other parts."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, parts.get(name.rpartition("/")[2].partition(".")[0], old.read(name)))
    return stream.getvalue()


def test_a_workbook_is_previewed_and_imported(browser: Browser, api: Api, word: str) -> None:
    """Numbers and dates are those that the spreadsheet shows; empty rows and columns at the end do not count."""
    rows = [
        ["name", "slug", "comments", None],
        [f"{word} 1", f"{word}-1", 10, None],
        [],
        [f"{word} 2", f"{word}-2", 1.5],
    ]
    page = upload(browser, "t.xlsx", workbook(rows))
    assert "2 rows of t.xlsx: 2 new" in page.words
    apply(browser, page)
    made = api.get(TENANTS, {"slug__isw": word})["results"]
    assert [item["comments"] for item in made] == ["10", "1.5"]


def test_an_error_names_the_row_of_the_sheet_and_the_cell(browser: Browser, word: str) -> None:
    page = upload(browser, "t.xlsx", workbook([["name", "slug"], [], [word, "no slug!"]]), status=422)
    row = page.html.select_one("tr.faulty")
    assert row.th.get_text() == "3" and "no slug!" in row.select_one("td.invalid").get_text()


@pytest.mark.parametrize("text", ["'=1", "''=1", "'-1", "'=", "'@x", "'\tx", "'x", "'", "\tx", "\t", "\r", "=1", "x"])
def test_a_text_that_a_workbook_exports_is_imported_unchanged(api: Api, word: str, text: str) -> None:
    """In a field, and in a custom field, which may begin with a blank."""
    field = f"cf_{word}".lower().replace("-", "_")
    body = {"name": field, "slug": field, "label": field, "type": "text", "content_types": ["tenancy.tenant"]}
    defined = api.post("/api/extras/custom-fields/", body)
    made = api.post(TENANTS, {"name": word, "slug": word, "description": text, "custom_fields": {field: text}})
    content = api.send("GET", TENANTS, query={"slug": word, "format": "xlsx"}).body
    api.send("PATCH", TENANTS, content, headers={"Content-Type": XLSX}, status=200)
    found = api.get(made["url"])
    assert (found["description"], found["custom_fields"]) == (made["description"], made["custom_fields"])
    assert api.get("/api/extras/object-changes/", {"changed_object_id": made["id"]})["count"] == 1
    api.delete(defined["url"])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1a", "@SUM(A1)", "=cmd|'/C calc'!A0"])
def test_what_begins_like_a_formula_is_exported_as_text_and_imported_unchanged(
    browser: Browser, api: Api, word: str, text: str
) -> None:
    made = api.post(TENANTS, {"name": word, "slug": word, "description": text})
    content = api.send("GET", TENANTS, query={"slug": word, "format": "xlsx"}).body
    sheet = zipfile.ZipFile(io.BytesIO(content)).read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet and f't="inlineStr"><is><t>{text[0]}'.encode() in sheet
    assert "1 unchanged" in upload(browser, "t.xlsx", content).words
    assert api.get(made["url"])["description"] == text


def test_the_list_offers_a_workbook(browser: Browser, api: Api) -> None:
    assert any("format=xlsx" in link for link in browser.get("/tenancy/tenants/").links())
    assert api.send("GET", TENANTS, query={"format": "xlsx", "limit": 1}).content_type == XLSX


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK\x03\x04 broken", "The file is no workbook"),
        (
            repacked(workbook([["name"]]), sheet1=b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
            "declares a document type",
        ),
        (repacked(workbook([["name"]]), sheet1=b"<worksheet>" + b" " * 40_000_000), "too large when it is unpacked"),
        (repacked(workbook([["name"]]), sheet1=b"<worksheet"), "The workbook cannot be read"),
        (workbook([]), "The workbook is empty"),
        (workbook([["name", None, "slug"], ["a", "b", "c"]]), "Column 2 has no name"),
    ],
    ids=["broken", "entities", "bomb", "no XML", "empty", "no name"],
)
def test_a_workbook_that_is_hostile_or_broken_is_refused(browser: Browser, content: bytes, reason: str) -> None:
    assert reason in upload(browser, "t.xlsx", content, status=422).words


@pytest.mark.parametrize(
    ("text", "encoding", "stated"),
    [
        ("Zürich", "cp1252", ""),
        ("Kraków Łódź", "cp1250", ""),
        ("Москва", "cp1251", ""),
        ("Şişli", "cp1254", "cp1254"),
        ("東京 Zürich", "utf-16", ""),
        ("東京 Zürich", "utf-8-sig", ""),
    ],
)
def test_the_encoding_is_recognised_and_can_be_stated(
    browser: Browser, api: Api, word: str, text: str, encoding: str, stated: str
) -> None:
    content = f"name;slug;description\n{word};{word};{text}\n".encode(encoding)
    page = upload(browser, "t.csv", content, encoding=stated)
    assert ("The file is read as" in page.words) == (encoding != "utf-8-sig")
    apply(browser, page)
    assert api.get(TENANTS, {"slug": word})["results"][0]["description"] == text


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\nname;slug\n{0};{0}\n",
        "name;slug;;\n{0};{0};;\n",
        "name,slug,\r\n{0},{0},\r\n,,\r\n",
        "name\tslug\t\n{0}\t{0}\t\n",
        'name;slug\n{0};"{0}";;\n',
    ],
)
def test_separators_as_spreadsheets_write_them(browser: Browser, api: Api, word: str, text: str) -> None:
    apply(browser, upload(browser, "t.csv", text.format(word).encode()))
    assert api.get(TENANTS, {"slug": word})["count"] == 1


def test_a_template_is_a_workbook_that_tells_about_its_columns(browser: Browser) -> None:
    book = openpyxl.load_workbook(io.BytesIO(browser.get("/dcim/racks/import/?_template=xlsx").body))
    table, about = (list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets)
    told = {row[0]: row for row in about[1:]}
    assert list(table[0]) == [row[0] for row in about[1:]] and len(table) == 1
    assert told["name"][2] == "yes" and "active" in told["status"][4]


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2024-01-31", "2024-01-31"),
        ("2024/1/31", "2024-01-31"),
        ("31.1.2024", "2024-01-31"),
        ("5.6.2024", "2024-06-05"),
        ("31/01/2024", "2024-01-31"),
        ("1/31/2024", "2024-01-31"),
        ("1/2/2024", ""),
        ("31.31.2024", ""),
    ],
)
def test_dates_are_read_where_they_are_unambiguous(
    browser: Browser, api: Api, word: str, written: str, date: str
) -> None:
    provider = api.post("/api/circuits/providers/", {"name": word, "slug": word})
    kind = api.post("/api/circuits/circuit-types/", {"name": word, "slug": word})
    text = f"cid,provider,type,status,install_date\n{word},{provider['slug']},{kind['slug']},active,{written}\n"
    page = upload(browser, "t.csv", text.encode(), 200 if date else 422, "/circuits/circuits/import/")
    if date:
        apply(browser, page)
        assert api.get("/api/circuits/circuits/", {"cid": word})["results"][0]["install_date"] == date


@pytest.mark.parametrize(
    ("written", "full"), [("TRUE", True), ("Yes", True), ("x", True), ("FALSE", False), ("no", False)]
)
def test_booleans_are_the_words_of_spreadsheets(
    browser: Browser, api: Api, word: str, written: str, full: bool
) -> None:
    api.post("/api/dcim/manufacturers/", {"name": word, "slug": word})
    text = f"manufacturer,model,is_full_depth\n{word},{word},{written}\n".encode()
    apply(browser, upload(browser, "t.csv", text, path="/dcim/device-types/import/"))
    assert api.get("/api/dcim/device-types/", {"model": word})["results"][0]["is_full_depth"] is full
