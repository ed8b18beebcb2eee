"""Change requests: work aside, look at it as if it were so, merge it, take it back."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique

REQUESTS, SITES, TENANTS = "/api/extras/change-requests/", "/api/dcim/sites/", "/api/tenancy/tenants/"


@pytest.fixture
def change_request(api: Api, unique: Unique) -> Any:
    """An open change request."""
    return api.post(REQUESTS, {"title": unique()})


def inside(change_request: Any) -> dict[str, str]:
    """The header that names a change request."""
    return {"X-Change-Request": change_request["id"]}


def test_a_change_request_has_a_title_an_author_a_state_and_counts(service: Service, change_request: Any) -> None:
    assert change_request["state"] == {"value": "draft", "label": "Draft"}
    assert change_request["user"]["username"] == service.admin.username
    assert [change_request[name] for name in ("creates", "updates", "deletes")] == [0, 0, 0]
    assert change_request["merged"] is None


def test_a_change_is_seen_within_the_change_request_only(api: Api, change_request: Any, site: Any) -> None:
    path = f"{SITES}{site['id']}/"
    patched = api.patch(path, {"asn": 64512}, headers=inside(change_request))
    assert patched["asn"] == 64512
    assert api.get(path)["asn"] is None
    assert api.get(path, headers=inside(change_request))["asn"] == 64512
    assert api.get(path, {"change_request": change_request["id"]})["asn"] == 64512
    assert api.get(SITES, {"asn": 64512, "id": site["id"]})["count"] == 0
    assert api.get(SITES, {"asn": 64512, "id": site["id"]}, headers=inside(change_request))["count"] == 1
    assert api.get("/api/extras/object-changes/", {"changed_object_id": site["id"]})["count"] == 1


def test_a_merge_keeps_the_ids_of_new_objects(api: Api, change_request: Any, unique: Unique) -> None:
    headers = inside(change_request)
    tenant = api.post(TENANTS, {"name": unique()}, headers=headers)
    site = api.post(SITES, {"name": unique(), "status": "active", "tenant": tenant["id"]}, headers=headers)
    api.get(f"{SITES}{site['id']}/", status=404)
    merged = api.post(f"{REQUESTS}{change_request['id']}/merge/", {}, status=200)
    assert merged["state"]["value"] == "merged"
    assert (merged["creates"], merged["updates"], merged["deletes"]) == (2, 0, 0)
    live = api.get(f"{SITES}{site['id']}/")
    assert live["tenant"]["id"] == tenant["id"]
    changes = api.get("/api/extras/object-changes/", {"request_id": merged["request_id"]})
    assert {item["changed_object_id"] for item in changes["results"]} == {
        site["id"],
        tenant["id"],
        change_request["id"],
    }
    api.post(f"{REQUESTS}{change_request['id']}/merge/", {}, status=409)
    api.get(f"{SITES}{site['id']}/", headers=headers, status=409)


def test_a_merge_is_taken_back_as_one_request(api: Api, change_request: Any, site: Any, unique: Unique) -> None:
    headers = inside(change_request)
    tenant = api.post(TENANTS, {"name": unique()}, headers=headers)
    api.patch(f"{SITES}{site['id']}/", {"tenant": tenant["id"]}, headers=headers)
    merged = api.post(f"{REQUESTS}{change_request['id']}/merge/", {}, status=200)
    (change, *_) = api.get("/api/extras/object-changes/", {"request_id": merged["request_id"]})["results"]
    api.post(f"/api/extras/object-changes/{change['id']}/revert/?request=true", {}, status=200)
    assert api.get(f"{SITES}{site['id']}/")["tenant"] is None
    api.get(f"{TENANTS}{tenant['id']}/", status=404)


def test_several_writes_of_one_object_are_one_change(api: Api, change_request: Any, site: Any) -> None:
    path, headers = f"{SITES}{site['id']}/", inside(change_request)
    api.patch(path, {"asn": 64512}, headers=headers)
    api.patch(path, {"asn": 64513, "comments": "new"}, headers=headers)
    found = api.get(f"{REQUESTS}{change_request['id']}/changes/")
    assert found["count"] == 1
    (change,) = found["changes"]
    assert {item["field"]: item["after"] for item in change["changes"]} == {"asn": 64513, "comments": "new"}
    api.patch(path, {"asn": None, "comments": ""}, headers=headers)
    assert api.get(f"{REQUESTS}{change_request['id']}/changes/")["count"] == 0
    assert api.get(f"{REQUESTS}{change_request['id']}/")["updates"] == 0


def test_a_deletion_is_seen_and_merged(api: Api, change_request: Any, site: Any) -> None:
    path, headers = f"{SITES}{site['id']}/", inside(change_request)
    api.delete(path, headers=headers)
    api.get(path, headers=headers, status=404)
    api.get(path)
    api.post(f"{REQUESTS}{change_request['id']}/merge/", {}, status=200)
    api.get(path, status=404)


def test_entity_tags_stay_the_same_from_one_read_to_the_next(api: Api, change_request: Any, site: Any) -> None:
    path, headers = f"{SITES}{site['id']}/", inside(change_request)
    written = api.send("PATCH", path, {"asn": 64512}, headers=headers)
    first = api.send("GET", path, headers=headers)
    second = api.send("GET", path, headers=headers)
    assert first.headers["ETag"] == second.headers["ETag"] == written.headers["ETag"]
    assert first.json == second.json


def test_a_field_changed_in_both_is_a_conflict_that_is_decided(api: Api, change_request: Any, site: Any) -> None:
    path, headers, at = f"{SITES}{site['id']}/", inside(change_request), f"{REQUESTS}{change_request['id']}/"
    api.patch(path, {"asn": 64512, "comments": "ours"}, headers=headers)
    api.patch(path, {"asn": 64999})
    refused = api.get(path, headers=headers, status=409)
    assert "conflicts" in refused["detail"]
    found = api.get(f"{at}conflicts/")
    assert found["count"] == 1
    (conflict,) = found["objects"]
    assert (conflict["changed_object_id"], conflict["reasons"][0]["field"]) == (site["id"], "asn")
    api.post(f"{at}merge/", {}, status=409)
    choice = {"object_type": "dcim.site", "object_id": site["id"], "field": "asn"}
    assert api.post(f"{at}rebase/", {"choices": [{**choice, "take": "ours"}]}, status=200)["count"] == 0
    assert api.get(path, headers=headers)["asn"] == 64512
    api.patch(path, {"asn": 65000})
    api.post(f"{at}rebase/", {"choices": [{**choice, "take": "theirs"}]}, status=200)
    assert api.get(path, headers=headers)["asn"] == 65000
    api.post(f"{at}merge/", {}, status=200)
    merged = api.get(path)
    assert (merged["asn"], merged["comments"]) == (65000, "ours")


@pytest.mark.parametrize("named", ["nonsense", "00000000-0000-4000-8000-000000000000"])
def test_a_change_request_that_does_not_exist_is_named(api: Api, site: Any, named: str) -> None:
    refused = api.get(f"{SITES}{site['id']}/", headers={"X-Change-Request": named}, status=400)
    assert list(refused) == ["change_request"]


def test_configuration_cannot_be_proposed(api: Api, change_request: Any, unique: Unique) -> None:
    body = {"name": unique(), "label": unique(), "type": "text", "content_types": ["dcim.site"]}
    refused = api.post("/api/extras/custom-fields/", body, headers=inside(change_request), status=400)
    assert "change_request" in refused
