"""Documents of several models that are carried out in a change request: ``propose/``."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique

PATH = "/api/extras/change-requests/propose/"


def document(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "dcim.rack": [{"name": name, "site": name, "status": "active", **fields}],
        "dcim.site": [{"name": name, "slug": name, "status": "active"}],
    }


def test_a_document_in_a_new_change_request(api: Api, unique: Unique) -> None:
    name = unique()
    made = api.post(PATH, {"title": name, "description": "Why", "objects": document(name)}, status=200)
    assert (made["title"], made["description"], made["creates"]) == (name, "Why", 2)
    assert api.get("/api/dcim/sites/", {"name": name})["count"] == 0
    inside = {"X-Change-Request": made["id"]}
    assert api.get("/api/dcim/racks/", {"site": name}, headers=inside)["results"][0]["name"] == name
    api.post(f"{made['url']}merge/", {}, status=200)
    assert api.get("/api/dcim/racks/", {"site": name})["count"] == 1


def test_a_document_in_an_open_change_request(api: Api, unique: Unique) -> None:
    """Objects that are proposed already are found by their natural keys, and changed."""
    name = unique()
    made = api.post(PATH, {"title": name, "objects": document(name)}, status=200)
    again = api.post(PATH, {"change_request": made["id"], "objects": document(name, u_height=20)}, status=200)
    assert (again["creates"], again["updates"]) == (2, 0)
    inside = {"X-Change-Request": made["id"]}
    assert api.get("/api/dcim/racks/", {"site": name}, headers=inside)["results"][0]["u_height"] == 20


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {"objects"}),
        ({"objects": []}, {"objects"}),
        ({"objects": {}}, {"objects"}),
        ({"objects": {"dcim.site": [{"name": "x", "status": "nothing"}]}, "title": "t"}, {"objects"}),
        ({"objects": {"dcim.site": [{"name": "x", "status": "active"}]}}, {"title"}),
        ({"objects": {"extras.status": [{"name": "x", "slug": "x"}]}, "title": "t"}, {"change_request"}),
        ({"objects": {"dcim.site": [{"name": "x"}]}, "change_request": "x"}, {"change_request"}),
        ({"objects": {"dcim.site": [{"name": "x"}]}, "change_request": 1}, {"change_request"}),
        ({"objects": {"dcim.site": [{"name": "x"}]}, "change_request": "x", "title": "t"}, {"title"}),
        ({"objects": {"dcim.site": [{"name": "x"}]}, "title": "t", "match": {"dcim.site": ["nothing"]}}, {"match"}),
        ([], {"non_field_errors"}),
    ],
    ids=str,
)
def test_what_is_refused_leaves_nothing_behind(service: Service, body: Any, errors: set[str]) -> None:
    before = service.row_counts()
    assert service.api.post(PATH, body, status=400).keys() == errors
    assert service.row_counts() == before


def test_a_dry_run_keeps_nothing(service: Service, unique: Unique) -> None:
    name, before = unique(), service.row_counts()
    preview = service.api.post(f"{PATH}?dry_run=true", {"title": name, "objects": document(name)}, status=200)
    assert preview["result"]["creates"] == 2
    assert service.row_counts() == before


def test_a_change_request_that_is_merged_takes_no_document(api: Api, unique: Unique) -> None:
    name = unique()
    made = api.post(PATH, {"title": name, "objects": document(name)}, status=200)
    api.post(f"{made['url']}merge/", {}, status=200)
    api.post(PATH, {"change_request": made["id"], "objects": document(unique())}, status=409)


def test_statements_do_not_depend_on_the_number_of_objects(api: Api, statements: Any, unique: Unique) -> None:
    counts = []
    for number in (1, 2, 20):  # the first fills caches, such as those of the configuration
        objects = {"dcim.site": [{"name": unique(), "status": "active"} for _ in range(number)]}
        with statements() as found:
            api.post(PATH, {"title": unique(), "objects": objects}, status=200)
        counts.append(len(found))
    assert counts[1] == counts[2]
