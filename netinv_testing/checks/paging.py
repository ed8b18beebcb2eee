"""Paging: cursors lead through every list, forward and backward, in any order."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from netinv_core.read.ordering import orderings_of
from netinv_testing.cases import Case, check


def _follow_links(case: Case, query: dict[str, Any], direction: str) -> tuple[list[list[str]], dict[str, Any]]:
    """The ids of a page and of those that its links lead to, and the last page."""
    page, reached = case.api.get(case.path, query), 0
    ids = [[item["id"] for item in page["results"]]]
    while page[direction] is not None and reached < 10:
        page, reached = case.api.get(case.path, parse_qs(urlsplit(page[direction]).query)), reached + 1
        assert page["count"] is None
        ids.append([item["id"] for item in page["results"]])
    return ids, page


@check(reads=True)
def cursors_lead_through_the_list(case: Case) -> None:
    """In the usual order and in others, with and without nulls; two pages back, and again to the end."""
    created = [case.filled(), *case.make_many(4 if case.endpoint.resource.writable else 2)]
    query = {"id": [item["id"] for item in created], "limit": 2}
    names = sorted(orderings_of(case.endpoint))
    for ordering in ("", ",".join(names[::3][:8]), ",".join(f"-{name}" for name in names[1::3][:8])):
        ordered = {**query, "ordering": ordering}
        whole = [item["id"] for item in case.api.get(case.path, {**ordered, "limit": 0})["results"]]
        forward, last = _follow_links(case, {**ordered, "cursor": ""}, "next")
        assert [key for page in forward for key in page] == whole, ordering
        if last["previous"] is None:
            assert len(forward) == 1
            continue
        backward, _ = _follow_links(case, parse_qs(urlsplit(last["previous"]).query), "previous")
        assert [key for page in reversed(backward) for key in page] == whole[: -len(forward[-1])], ordering


@check(reads=True)
def a_page_without_a_count_takes_a_statement_less(case: Case) -> None:
    """By offset and by cursor; the exact count is the same with both."""
    ids = {"id": [item["id"] for item in (case.filled(), *case.make_many(4))]}
    pages = {
        name: {**ids, **query, "limit": 1}
        for name, query in {"offset": {}, "none": {"count": "none"}, "cursor": {"cursor": ""}}.items()
    }
    counts, found = {}, {}
    for name, query in pages.items():
        with case.service.statements() as result:
            found[name] = case.api.get(case.path, query)
        counts[name] = len(result)
    assert counts["none"] == counts["cursor"] == counts["offset"] - (found["offset"]["next"] is not None), counts
    assert found["none"]["results"] == found["cursor"]["results"] == found["offset"]["results"]
    exact = case.api.get(case.path, {**ids, "cursor": "", "count": "exact", "limit": 1})
    assert exact["count"] == found["offset"]["count"]
    assert (found["none"]["next"] is None) is (found["cursor"]["next"] is None) is (found["offset"]["next"] is None)


@check(reads=True)
def cursors_of_other_lists_are_refused(case: Case) -> None:
    """One for other filters or another order, one that was changed, and anything else; ``count`` is one of three."""
    ids = [item["id"] for item in case.make_many(3)]
    link = case.api.get(case.path, {"id": ids, "cursor": "", "limit": 1})["next"]
    if link is None:
        return
    cursor = parse_qs(urlsplit(link).query)["cursor"][0]
    other = cursor[:-2] + ("AA" if cursor[-2:] != "AA" else "BB")
    for query in (
        {"id": ids[:2], "cursor": cursor},
        {"id": ids, "cursor": cursor, "ordering": "-id"},
        {"id": ids, "cursor": other},
        {"cursor": "nonsense"},
        {"cursor": "é\x00"},
    ):
        assert list(case.api.get(case.path, query, status=400)) == ["cursor"]
    with_offset = case.api.get(case.path, {"id": ids, "cursor": cursor, "offset": 1}, status=400)
    assert list(with_offset) == ["offset"]
    assert list(case.api.get(case.path, {"count": "about"}, status=400)) == ["count"]
    if case.endpoint.resource.of is None:
        for name in ("limit", "offset", "cursor", "count", "ordering"):
            assert list(case.api.get(f"{case.path}{ids[0]}/", {name: "1"}, status=400)) == [name]
