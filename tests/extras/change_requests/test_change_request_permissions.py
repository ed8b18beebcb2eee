"""Change requests: who sees what in them, who may write in them, and who may merge them."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique

REQUESTS, SITES = "/api/extras/change-requests/", "/api/dcim/sites/"
OWN = [(action, "extras.changerequest") for action in ("view", "add", "change")]


@pytest.fixture
def change_request(api: Api, unique: Unique, site: Any) -> Any:
    """A change request that changes the site and adds one."""
    made = api.post(REQUESTS, {"title": unique()})
    headers = {"X-Change-Request": made["id"]}
    api.patch(f"{SITES}{site['id']}/", {"asn": 64512}, headers=headers)
    new = api.post(SITES, {"name": unique(), "status": "active"}, headers=headers)
    return {**made, "site": site["id"], "new": new["id"], "headers": headers, "path": f"{REQUESTS}{made['id']}/"}


def test_a_user_without_permission_for_it_does_not_know_the_change_request(
    service: Service, change_request: Any
) -> None:
    reader = service.user(("view", "dcim.site")).api
    refused = reader.get(f"{SITES}{change_request['site']}/", headers=change_request["headers"], status=400)
    assert list(refused) == ["change_request"]


def test_a_reader_sees_the_objects_that_they_may_view(service: Service, change_request: Any) -> None:
    reader = service.user(("view", "dcim.site"), ("view", "extras.changerequest")).api
    headers = change_request["headers"]
    assert reader.get(f"{SITES}{change_request['new']}/", headers=headers)["id"] == change_request["new"]
    assert reader.get(f"{change_request['path']}changes/")["count"] == 2
    blind = service.user(("view", "dcim.rack"), ("view", "extras.changerequest")).api
    blind.get(f"{SITES}{change_request['new']}/", headers=headers, status=403)
    assert blind.get(f"{change_request['path']}changes/") == {"count": 2, "changes": []}


def test_constraints_hold_for_proposed_values(service: Service, change_request: Any) -> None:
    reader = service.user(("view", "extras.changerequest"), ("view", "dcim.site", {"asn": 64512})).api
    reader.get(f"{SITES}{change_request['site']}/", status=404)
    seen = reader.get(f"{SITES}{change_request['site']}/", headers=change_request["headers"])
    assert seen["asn"] == 64512
    reader.get(f"{SITES}{change_request['new']}/", headers=change_request["headers"], status=404)
    listed = reader.get(f"{change_request['path']}changes/")
    assert change_request["new"] not in [item["object_id"] for item in listed["changes"]]


def test_a_reader_cannot_write_in_it(service: Service, change_request: Any) -> None:
    reader = service.user(("view", "extras.changerequest"), ("view", "dcim.site"), ("change", "dcim.site")).api
    path, headers = f"{SITES}{change_request['site']}/", change_request["headers"]
    reader.patch(path, {"asn": 64513}, headers=headers, status=403)
    reader.post(f"{change_request['path']}merge/", {}, status=403)


def test_a_write_in_it_takes_the_permission_for_the_object(service: Service, change_request: Any) -> None:
    author = service.user(*OWN, ("view", "dcim.site")).api
    author.patch(f"{SITES}{change_request['site']}/", {"asn": 64513}, headers=change_request["headers"], status=403)


def test_a_merge_takes_the_permissions_for_the_objects(service: Service, api: Api, change_request: Any) -> None:
    author = service.user(*OWN, ("view", "dcim.site"), ("change", "dcim.site")).api
    author.post(f"{change_request['path']}merge/", {}, status=403)
    assert api.get(f"{SITES}{change_request['site']}/")["asn"] is None
    assert api.get(change_request["path"])["state"]["value"] == "draft"


def test_a_read_only_token_reads_in_it(service: Service, change_request: Any) -> None:
    account = service.user(superuser=True)
    token = account.api.post("/api/users/tokens/", {"write_enabled": False})["key"]
    path, headers = f"{SITES}{change_request['site']}/", change_request["headers"]
    assert account.api.get(path, headers=headers, token=token)["asn"] == 64512
    account.api.patch(path, {"asn": 64513}, headers=headers, token=token, status=403)
