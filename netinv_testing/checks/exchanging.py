"""Files: lists as CSV, TSV, XLSX and YAML, which import again unchanged."""

from __future__ import annotations

import csv
import io
from typing import Any

import sqlalchemy as sa

from netinv_core.changelog.models import ObjectChange
from netinv_core.models.base import table_of
from netinv_testing.cases import Case, check, writable
from netinv_testing.samples import same

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
TABLES = ("text/csv", "text/tab-separated-values", XLSX)


def _export(case: Case, objects: list[dict[str, Any]], media_type: str, **query: Any) -> bytes:
    """The file of a list that is narrowed to these objects."""
    filters = {"id": [item["id"] for item in objects], **query}
    response = case.api.send(
        "GET", case.path, query=filters, headers={"Accept": f"{media_type}; version=1.6"}, status=200
    )
    assert response.content_type == media_type
    content: bytes = response.body
    return content


def _table(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def _change_count(case: Case) -> int:
    return int(case.service.rows(sa.select(sa.func.count()).select_from(table_of(ObjectChange)))[0][0])


@check()
def a_list_can_be_exported(case: Case) -> None:
    """A row for each object, in the order of the list, with its id where that is shown."""
    objects = case.make_many(3)
    listed = case.list_of(objects)["results"] if "id" in case.endpoint.filters else case.api.get(case.path)["results"]
    content = (
        _export(case, listed, "text/csv")
        if "id" in case.endpoint.filters
        else case.api.send("GET", case.path, query={"format": "csv", "limit": 50}).body
    )
    assert [row["id"] for row in _table(content)] == [str(item["id"]) for item in listed]


@check(writable)
def an_exported_file_changes_nothing(case: Case) -> None:
    """Bulk PATCH of a list as it was exported: objects stay the same, and no change is recorded."""
    objects = [case.filled(), *case.make_many(2)]
    before = case.list_of(objects)["results"]
    for media_type in (*TABLES, "application/yaml"):
        content = _export(case, objects, media_type)
        changes = _change_count(case)
        answer = case.api.send("PATCH", case.path, content, headers={"Content-Type": media_type}, status=200).json
        assert _change_count(case) == changes
        for item, answered in zip(before, answer, strict=True):
            assert same(answered, item)


@check(writable)
def a_file_takes_as_many_statements_for_many_rows_as_for_few(case: Case) -> None:
    """Export and import."""
    few, many = case.make_many(2), case.make_many(12)
    counts = []
    for objects in (few, many):
        _export(case, objects, "text/csv")  # what the process caches is cached
        with case.service.statements() as exporting:
            content = _export(case, objects, "text/csv")
        with case.service.statements() as importing:
            case.api.send("PATCH", case.path, content, headers={"Content-Type": "text/csv"}, status=200)
        counts.append((len(exporting), len(importing)))
    assert counts[1] <= counts[0]
