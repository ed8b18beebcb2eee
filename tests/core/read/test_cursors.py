"""Pages by cursor, and the parameter ``count``."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from netinv_testing import Api, Samples, Service, Unique

SITES, RACKS, DEVICES, TENANTS = (
    "/api/dcim/sites/",
    "/api/dcim/racks/",
    "/api/dcim/devices/",
    "/api/tenancy/tenants/",
)


@pytest.fixture
def tenants(api: Api, unique: Unique) -> list[dict[str, Any]]:
    """Five tenants with comments that differ after 300 characters only."""
    word = unique()
    bodies = [{"name": f"{word} {number}", "comments": "x" * 300 + str(9 - number)} for number in range(5)]
    created: list[dict[str, Any]] = api.post(TENANTS, bodies)
    return created


def ids(page: dict[str, Any]) -> list[str]:
    """The ids of a page."""
    return [item["id"] for item in page["results"]]


def all_ids(api: Api, path: str, query: dict[str, Any]) -> list[str]:
    """The ids of all pages from the start of a list."""
    page = api.get(path, {**query, "cursor": ""})
    found = ids(page)
    while page["next"] is not None and len(found) < 1000:
        page = api.get(path, parse_qs(urlsplit(page["next"]).query))
        found += ids(page)
    return found


def cursor_of(link: str) -> str:
    """The cursor in a link."""
    return parse_qs(urlsplit(link).query)["cursor"][0]


def test_a_cursor_shows_nothing_of_what_it_stands_for(service: Service, api: Api, unique: Unique) -> None:
    """Racks are ordered by site also for those who may not view sites; the same page has the same cursor."""
    word = unique()
    site = api.post(SITES, {"name": word, "slug": word, "status": "active", "facility": "secret place"})
    racks = [{"name": f"{word} {n}", "site": site["id"], "status": "active"} for n in range(3)]
    created = [item["id"] for item in api.post(RACKS, racks)]
    limited = service.user(("view", "dcim.rack")).api
    query = {"id": created, "limit": 1, "cursor": "", "ordering": "site.facility,name"}
    link = api.get(RACKS, query)["next"]
    cursor = cursor_of(link)
    assert b"secret" not in base64.urlsafe_b64decode(cursor + "===")
    assert cursor_of(api.get(RACKS, query)["next"]) == cursor
    assert sorted(all_ids(limited, RACKS, {**query, "limit": 2})) == sorted(created)


def test_texts_without_a_limit_are_compared_by_their_beginning(api: Api, tenants: list[dict[str, Any]]) -> None:
    created = [item["id"] for item in tenants]
    found = all_ids(api, TENANTS, {"id": created, "limit": 2, "ordering": "comments"})
    assert found == sorted(created)


def test_rows_without_a_first_sort_key_follow_those_with_one(service: Service, api: Api, unique: Unique) -> None:
    """The page on which they begin takes one statement more, and no other page."""
    devices = Samples(service).make_many(service.registry["dcim.device"], 6)
    created = [item["id"] for item in devices]
    names = [*(f"{unique()} {number}" for number in range(3)), None, None, None]
    api.patch(DEVICES, [{"id": key, "name": name} for key, name in zip(created, names, strict=True)])
    query = {"id": created, "limit": 2}
    assert all_ids(api, DEVICES, query) == ids(api.get(DEVICES, {"id": created}))
    counts, page = [], api.get(DEVICES, {**query, "cursor": ""})
    while page["next"] is not None:
        link = parse_qs(urlsplit(page["next"]).query)
        with service.statements() as statements:
            page = api.get(DEVICES, link)
        counts.append(len(statements))
    assert counts[0] == counts[1] + 1
    for ordering in ("-name", "name,-id", "-site,-name"):
        assert all_ids(api, DEVICES, {**query, "ordering": ordering}) == ids(
            api.get(DEVICES, {"id": created, "ordering": ordering})
        )


def test_an_offset_may_go_with_a_blank_cursor(api: Api, tenants: list[dict[str, Any]]) -> None:
    created = [item["id"] for item in tenants]
    page = api.get(TENANTS, {"id": created, "limit": 2, "offset": 1, "cursor": ""})
    assert ids(page) == created[1:3]
    assert "offset" not in page["next"]
    assert ids(api.get(page["next"])) == created[3:]
    assert ids(api.get(page["previous"])) == created[:1]


def test_the_count_is_exact_estimated_or_absent(service: Service, api: Api, tenants: list[dict[str, Any]]) -> None:
    created = [item["id"] for item in tenants]
    for count, expected in (("exact", 5), ("estimate", 5), ("none", None), ("", 5)):
        pages = [api.get(TENANTS, {"id": created, "limit": 2, "offset": at, "count": count}) for at in (0, 4, 6)]
        assert [page["count"] for page in pages] == [expected] * 3
        assert [len(page["results"]) for page in pages] == [2, 1, 0]
        assert [page["next"] is None for page in pages] == [False, True, True]
        assert f"count={count}" in pages[0]["next"]


def test_an_estimate_comes_from_the_statistics_of_the_database(service: Service, api: Api, make: Any) -> None:
    """On PostgreSQL, where nothing limits the list; elsewhere the count is exact."""
    make(TENANTS)
    whole, kept = api.get(TENANTS, {"limit": 1})["count"], service.registry.dialect == "postgresql"
    if kept:
        with service.engine.begin() as connection:
            connection.exec_driver_sql("ANALYZE tenancy_tenant")
    with service.statements() as statements:
        assert api.get(TENANTS, {"limit": 1, "count": "estimate", "cursor": ""})["count"] == whole
    assert any("reltuples" in statement for statement in statements) is kept


def test_files_have_neither_cursors_nor_a_count(api: Api) -> None:
    for name in ("cursor", "count"):
        assert list(api.get(TENANTS, {"format": "csv", name: ""}, status=400)) == [name]


def test_lists_below_objects_have_cursors_of_their_own(api: Api, tenants: list[dict[str, Any]]) -> None:
    one, other = (f"{TENANTS}{item['id']}/" for item in tenants[:2])
    for path in (one, other):
        for text in ("a", "b"):
            api.post(f"{path}notes/", {"note": text})
            api.patch(path, {"description": text})
    for below, count in (("notes/", 2), ("history/", 3)):
        assert len(all_ids(api, f"{one}{below}", {"limit": 1})) == count
        cursor = cursor_of(api.get(f"{one}{below}", {"limit": 1, "cursor": ""})["next"])
        assert list(api.get(f"{other}{below}", {"limit": 1, "cursor": cursor}, status=400)) == ["cursor"]
