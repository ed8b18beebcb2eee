"""``POST <list>query/``: the parameters of a list in a body."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from netinv_testing import Api, Service

TENANTS, TYPES = "/api/tenancy/tenants/", "/api/dcim/device-types/query/"
QUERY = f"{TENANTS}query/"


@pytest.fixture(scope="session")
def group(service: Service) -> dict[str, Any]:
    """A group of five tenants."""
    word = service.unique()
    group: dict[str, Any] = service.api.post("/api/tenancy/tenant-groups/", {"name": word})
    service.api.post(TENANTS, [{"name": f"{word} {number}", "group": group["id"]} for number in range(5)])
    return group


def queried(api: Api, body: Any, path: str = QUERY, **options: Any) -> Any:
    """The answer to a query."""
    return api.post(path, body, status=options.pop("status", 200), **options)


def test_a_query_is_answered_as_the_list_with_the_same_parameters(api: Api, group: dict[str, Any]) -> None:
    body = {"group": [group["slug"]], "limit": 2, "offset": 1, "ordering": ["-name"], "brief": True, "count": "exact"}
    page, listed = queried(api, body), api.get(TENANTS, {**body, "brief": 1})
    assert page["results"] == listed["results"]
    assert (page["count"], page["next"], page["previous"]) == (5, {"offset": 3}, {"offset": 0})
    full = queried(api, {"group": group["slug"], "brief": False, "limit": None, "include": [], "group_id__n": None})
    assert full["results"] == api.get(TENANTS, {"group": group["slug"]})["results"]
    assert full["next"] is full["previous"] is None
    assert queried(api, {"is_full_depth": True, "manufacturer__n": None, "u_height": [91, 92]}, TYPES)["count"] == 0


@pytest.mark.parametrize("start", [{"offset": 0}, {"cursor": ""}], ids=["offset", "cursor"])
def test_what_leads_to_the_next_page_is_a_part_of_the_body(
    api: Api, group: dict[str, Any], start: dict[str, Any]
) -> None:
    body = {"group": group["slug"], "limit": 2, "ordering": "-name", **start}
    page, found = queried(api, body), []
    while True:
        found += [item["name"] for item in page["results"]]
        if page["next"] is None:
            break
        page = queried(api, {**body, **page["next"]})
    assert found == sorted(found, reverse=True)
    assert len(found) == 5
    before = queried(api, {**body, **page["previous"]})
    assert [item["name"] for item in before["results"]] == found[2:4]


def test_ten_thousand_ids_are_one_query(service: Service, api: Api, group: dict[str, Any]) -> None:
    """Also those that name objects of other resources; with as many statements as a few."""
    ids = [item["id"] for item in api.get(TENANTS, {"group": group["slug"], "limit": 0})["results"]]
    many = [*(str(uuid.uuid4()) for _ in range(5000)), *ids, *(str(uuid.uuid4()) for _ in range(5000 - len(ids)))]
    counts = []
    for some in (ids, many):
        with service.statements() as statements:
            assert {item["id"] for item in queried(api, {"id": some, "limit": 1000})["results"]} == set(ids)
        counts.append(len(statements))
    assert counts[0] == counts[1]
    assert queried(api, {"id__n": many, "group": group["slug"], "cursor": "", "count": "exact"})["count"] == 0
    unknown = queried(api, {"group_id": [group["id"], *many], "limit": 1}, status=400)
    assert list(unknown) == ["group_id"]
    assert queried(api, {"name": [f"{group['name']} 1", *many]})["count"] == 1


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ([], "non_field_errors"),
        ({"no_such": 1}, "no_such"),
        ({"id": {"a": 1}}, "id"),
        ({"id": [["a"]]}, "id"),
        ({"id": []}, "id"),
        ({"name": "\x00"}, "name"),
        ({"ordering": "no_such"}, "ordering"),
        ({"limit": "many"}, "limit"),
        ({"limit": {"a": 1}}, "limit"),
        ({"cursor": "no such"}, "cursor"),
        ({"include": ["no_such"]}, "include"),
        ({"format": "csv"}, "format"),
        ({"api_version": "1.6"}, "api_version"),
        ({"exclude": "display"}, "exclude"),
    ],
    ids=repr,
)
def test_what_is_wrong_with_a_query_is_named(api: Api, body: Any, named: str) -> None:
    assert list(queried(api, body, status=400)) == [named]


def test_parameters_of_a_query_are_not_in_its_url(api: Api) -> None:
    assert list(queried(api, {}, f"{QUERY}?name=a&limit=1", status=400)) == ["limit", "name"]
    assert queried(api, {"limit": 1}, f"{QUERY}?api_version=1.3", version=None)["results"] is not None


def test_a_query_takes_the_permission_to_view(service: Service, api: Api, group: dict[str, Any]) -> None:
    """A token that may not write may query; nobody sees more than in the list."""
    first = api.get(TENANTS, {"group": group["slug"]})["results"][0]["id"]
    reader = service.user(("view", "tenancy.tenant", {"id": first})).api
    assert queried(reader, {"limit": 0})["count"] == 1
    queried(service.user(("add", "tenancy.tenant")).api, {}, status=403)
    queried(api, {}, status=403, token=None)
    read_only = api.post("/api/users/tokens/", {"write_enabled": False})["key"]
    assert queried(api, {"group": group["slug"]}, token=read_only)["count"] == 5
    assert list(queried(api, {}, f"{QUERY}?dry_run=true", status=400)) == ["dry_run"]
