"""Names and searches with text that is hard to compare: long runs of digits, many accents, marks, odd characters."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.sql.lookups import MAX_COMPARED
from netinv_testing import Service

# Each within the length of a name of a site.
NAMES = (
    "9" * 80,
    "0" * 80,
    "1a" * 40,
    "e" + "\u0301" * 80,
    "\u0130" * 80,
    "\ufdfa" * 80,
    "\U0010ffff" * 80,
    "\u202e" + "%_/\\" * 20,
)
SEARCHES = (
    *NAMES,
    "9" * 2000,
    "AS" + "9" * 5000,
    "VLAN " + "9" * 5000,
    "10.0.0.0/" + "9" * 5000,
    ":" * 5000,
    "a:" * 2500,
)


@pytest.mark.any_database
def test_lists_order_hostile_names(service: Service, unique: Any) -> None:
    """Both ways, each name once, in opposite orders; each is found by its own text."""
    prefix = unique()
    made = [
        service.api.post("/api/dcim/sites/", {"name": prefix + name, "slug": unique(), "status": "active"})["id"]
        for name in NAMES
    ]
    orders = []
    for ordering in ("name", "-name"):
        query = {"ordering": ordering, "name__isw": prefix, "limit": "50"}
        orders.append([item["id"] for item in service.api.get("/api/dcim/sites/", query)["results"]])
    assert orders[0] == orders[1][::-1]
    assert set(made) <= set(orders[0])
    for key, name in zip(made, NAMES, strict=True):
        found = service.api.get("/api/dcim/sites/", {"q": prefix + name})["results"]
        assert key in [item["id"] for item in found], name[:5]


@pytest.mark.any_database
@pytest.mark.parametrize("path", ["search/", "dcim/sites/", "dcim/interfaces/", "ipam/prefixes/", "ipam/vlans/"])
def test_searches_take_hostile_text(service: Service, path: str) -> None:
    """None is an error of the service."""
    for text in SEARCHES:
        answer = service.api.send("GET", f"/api/{path}", query={"q": text}, status=(200, 400))
        assert answer.status_int == 200 or list(answer.json) == ["q"], text[:10]


@pytest.mark.parametrize("letter", ["a", "%", "\U0010ffff", "[", "1"])
def test_a_text_longer_than_a_pattern_may_be_is_refused(service: Service, unique: Any, letter: str) -> None:
    """By each lookup of a column, a related one and a custom field; a search finds nothing with it."""
    slug = unique().replace("-", "_")
    field = {"label": slug, "slug": slug, "type": "text", "content_types": ["dcim.site"]}
    made = service.api.post("/api/extras/custom-fields/", field)
    api, query = service.api, "query($v:[String]){{sites({}:$v){{id}}}}"
    for name in ("name__ic", "name__niew", "name__isw", "name__ie", "name__re", f"cf_{slug}__ic", f"cf_{slug}__isw"):
        for length in (MAX_COMPARED, MAX_COMPARED + 1, 100_000):
            body = {"query": query.format(name), "variables": {"v": [letter * length]}}
            answer = api.send("POST", "/api/graphql/", body, status=(200, 400)).json
            errors = str(answer.get("errors", ""))
            assert length == MAX_COMPARED or "has at most" in errors or "pattern" in errors, errors or answer
    for text in (letter * MAX_COMPARED, letter * 100_000):
        body = {"query": query.format("q").replace("[String]", "String"), "variables": {"v": text}}
        assert api.post("/api/graphql/", body, status=200)["data"] == {"sites": []}
    service.api.delete(made["url"])


def test_names_that_are_no_text_are_refused(service: Service, unique: Any) -> None:
    """A lone surrogate, a null character and a run of digits that is longer than names are."""
    for name in ("\ud800", "a\x00", "9" * 10_000):
        refused = service.api.post("/api/dcim/sites/", {"name": name, "slug": unique(), "status": "active"}, status=400)
        assert list(refused) == ["name"], name[:5]
