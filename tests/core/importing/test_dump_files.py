"""Dumps as they are read: file by parts, rows in a temporary database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netinv_core.importing import rows
from netinv_core.importing.dump import Dump
from netinv_import import dumpdata
from tests.support.dumps import item


@pytest.mark.parametrize("length", [16, 50, 1 << 18])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_file_is_read_in_parts_wherever_they_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, indent: int | None
) -> None:
    monkeypatch.setattr(dumpdata, "CHUNK_LENGTH", length)
    items = [item("dcim.site", n, name='Zürich ]}, [{"' * n, asns=[1, {"a": "\n"}]) for n in range(40)]
    path = tmp_path / "dump.json"
    path.write_text(f"\n {json.dumps(items, indent=indent, ensure_ascii=False)} \n", encoding="utf-8-sig")
    dump = dumpdata.read(path)
    assert list(dump.objects["dcim.site"].items()) == [(entry["pk"], entry["fields"]) for entry in items]


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[", "[1", "[1,", "[1 2]", "[[]]", '[{"a":1', "[]x", '[{"model": "a.b", "pk": [], "fields": {}}]'],
)
def test_a_broken_file_ends_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "dump.json"
    path.write_text(content)
    with pytest.raises(ValueError, match="is not a dump"):
        dumpdata.read(path)


def test_rows_are_a_mapping_in_the_order_of_insertion_of_which_few_are_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "CACHED_ROWS", 5)
    monkeypatch.setattr(rows, "ROWS_AT_ONCE", 7)
    dump = Dump({"dcim.site": {n: {"name": f"Site {n}"} for n in range(100)}})
    sites = dump.objects["dcim.site"]
    for key, fields in sites.items():
        dump.set(("dcim.site", key), name=fields["name"].upper(), facility="x")
        if key % 2:
            del sites[key]
    sites["101"] = {"name": "Last"}
    assert list(sites) == [*range(0, 100, 2), "101"] and len(sites) == len(dump) == 51
    assert (sites[98], dump.get("dcim.site", 99)) == ({"name": "SITE 98", "facility": "x"}, {})
    assert 101 not in sites and "101" in sites
    dump.replace("dcim.site", dump.new_rows())
    assert not dump.objects["dcim.site"]
