"""Paging: the pages of a list or of the feed, one after another, are the whole of it."""

from __future__ import annotations

import itertools
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netinv_core.http.pagination import MAX_NUMBER
from netinv_extras.changelog.feed import cursor_of, number_of
from netinv_testing import Service

TENANTS, FEED = "/api/tenancy/tenants/", "/api/extras/object-changes/feed/"
COUNT = 23


@pytest.fixture(scope="session")
def group(service: Service) -> str:
    """A group of tenants whose names sort in another order than they are created in."""
    word = service.unique()
    group: str = service.api.post("/api/tenancy/tenant-groups/", {"name": word})["id"]
    names = [f"{word} {number * 7 % COUNT}" for number in range(COUNT)]
    service.api.post(TENANTS, [{"name": name, "group": group} for name in names])
    return group


def followed(service: Service, path: str, query: dict[str, Any], direction: str) -> list[Any]:
    """The results of a page and of those that its links lead to, in the order in which they are reached."""
    results, pages = [], 0
    page = service.api.get(path, query)
    while pages <= COUNT + 5:
        results.append(page["results"])
        if page[direction] is None:
            return results
        link = urlsplit(page[direction])
        page, pages = service.api.get(link.path, parse_qs(link.query)), pages + 1
    raise AssertionError("the links do not end")


@settings(max_examples=20)
@given(st.integers(1, COUNT + 2), st.booleans())
@pytest.mark.night
def test_following_pages_are_the_whole_list(service: Service, group: str, limit: int, brief: bool) -> None:
    query: dict[str, Any] = {"group_id": group, **({"brief": 1} if brief else {})}
    whole = service.api.get(TENANTS, {**query, "limit": 0})
    assert whole["count"] == len(whole["results"]) == COUNT
    pages = followed(service, TENANTS, {**query, "limit": limit}, "next")
    assert [item for page in pages for item in page] == whole["results"]
    assert {len(page) for page in pages[:-1]} <= {limit}


@settings(max_examples=20)
@given(st.integers(1, COUNT + 2), st.integers(0, COUNT + 5))
@pytest.mark.night
def test_preceding_pages_are_what_lies_before(service: Service, group: str, limit: int, offset: int) -> None:
    whole = [item["id"] for item in service.api.get(TENANTS, {"group_id": group, "limit": 0})["results"]]
    query = {"group_id": group, "limit": limit, "offset": offset}
    pages = [[item["id"] for item in page] for page in followed(service, TENANTS, query, "previous")]
    assert pages[0] == whole[offset : offset + limit]
    assert {key for page in pages for key in page} == set(whole[: offset + limit])


@settings(max_examples=30)
@given(st.integers(0, MAX_NUMBER), st.integers(0, MAX_NUMBER))
def test_a_page_is_a_slice_of_the_list(service: Service, group: str, limit: int, offset: int) -> None:
    whole = [item["id"] for item in service.api.get(TENANTS, {"group_id": group, "limit": 0})["results"]]
    page = service.api.get(TENANTS, {"group_id": group, "limit": limit, "offset": offset})
    assert page["count"] == COUNT
    assert [item["id"] for item in page["results"]] == whole[offset : offset + (limit or COUNT)]


@settings(max_examples=12)
@given(
    ordering=st.permutations(["name", "-group.name", "description", "-created", "-last_updated"]),
    names=st.integers(0, 5),
    limit=st.integers(3, 9),
    disturbances=st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(0, COUNT), max_size=2)), min_size=1),
)
@pytest.mark.night
def test_cursors_neither_lose_nor_repeat_what_exists_throughout(
    service: Service, ordering: list[str], names: int, limit: int, disturbances: list[tuple[int, list[int]]]
) -> None:
    """While tenants are created and deleted between the pages, forward and backward."""
    word, numbers, steps = service.unique(), itertools.count(), itertools.cycle(disturbances)

    def make(count: int) -> list[str]:
        some = itertools.islice(numbers, count)
        bodies = [
            {"name": f"{word} {number * 7 % COUNT}-{number}", "description": "abc"[: number % 4]} for number in some
        ]
        return [item["id"] for item in service.api.post(TENANTS, bodies)]

    def disturb() -> None:
        created, places = next(steps)
        make(created)
        gone = {existing[place % len(existing)] for place in places if existing}
        service.api.delete(TENANTS, [{"id": key} for key in gone])
        existing[:] = [key for key in existing if key not in gone]

    existing = make(COUNT)
    query = {"name__isw": word, "ordering": ",".join(ordering[:names]), "limit": limit, "brief": 1, "cursor": ""}
    page = service.api.get(TENANTS, query)
    for direction in ("next", "previous"):
        seen = [item["id"] for item in page["results"]]
        while page[direction] is not None:
            disturb()
            page = service.api.get(TENANTS, parse_qs(urlsplit(page[direction]).query))
            seen += [item["id"] for item in page["results"]]
        assert len(seen) == len(set(seen))
        assert set(existing) <= set(seen)
        if not page["results"]:  # the rows after the last cursor were deleted: nothing leads back
            return


@settings(max_examples=20)
@given(st.integers(1, COUNT), st.lists(st.integers(1, 6), min_size=1, max_size=4))
@pytest.mark.night
def test_pages_of_the_feed_are_all_changes_in_order(service: Service, changed: int, limits: list[int]) -> None:
    start = service.api.get(FEED, {"after": "now"})["cursor"]
    word = service.unique()
    made = [item["id"] for item in service.api.post(TENANTS, [{"name": f"{word} {n}"} for n in range(changed)])]
    seen, cursor, looks, more = [], start, 0, True
    while more:
        page = service.api.get(FEED, {"after": cursor, "limit": limits[looks % len(limits)]})
        assert len(page["results"]) <= limits[looks % len(limits)]
        if page["results"]:
            assert page["cursor"] == page["results"][-1]["cursor"] != cursor
        seen += [change["changed_object_id"] for change in page["results"]]
        cursor, more, looks = page["cursor"], page["more"], looks + 1
    assert seen == made
    behind = service.api.get(FEED, {"after": cursor})
    assert (behind["results"], behind["cursor"], behind["more"]) == ([], cursor, False)


@given(st.integers(0, 10**18 - 1))
def test_a_cursor_stands_for_its_number(number: int) -> None:
    cursor = cursor_of(number)
    assert number_of(cursor) == number
    assert cursor.replace("-", "").replace("_", "").isalnum()


@pytest.mark.night
@settings(max_examples=50)
@given(st.one_of(st.text(max_size=30), st.binary(max_size=20).map(lambda raw: raw.hex()), st.integers().map(str)))
def test_what_is_no_cursor_is_refused(service: Service, text: str) -> None:
    if text not in ("", "now"):
        answer = service.api.send("GET", FEED, query={"after": text}, status=(400, 410))
        assert answer.content_type == "application/json"
