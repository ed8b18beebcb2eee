"""Decisions of conflicts: who may not view a proposed change decides nothing about it, and does not learn of it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from netinv_extras.change_requests.proposals import UNKNOWN_OBJECT
from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

REQUESTS, SITES, REGIONS = "/api/extras/change-requests/", "/api/dcim/sites/", "/api/dcim/regions/"
OWN = [(action, "extras.changerequest") for action in ("view", "change")]
REGION = [("view", "dcim.region"), ("change", "dcim.region")]
Seen = Callable[[Any], list[tuple[Any, ...]]]
BLIND: dict[str, Seen] = {
    "no permission for the model": lambda _: [],
    "no permission for the object": lambda site: [("view", "dcim.site", {"asn": 1})],
    "another object": lambda site: [("view", "dcim.site", {"slug": f"no-{site['slug']}"})],
}


@pytest.fixture
def change_request(api: Api, unique: Unique, site: Any) -> Any:
    """A change request that changes a region and a site, and creates and deletes others; the first two conflict."""
    made = api.post(REQUESTS, {"title": unique()})
    headers = {"X-Change-Request": made["id"]}
    region, other = (api.post(REGIONS, {"name": unique()}) for _ in range(2))
    gone = api.post(SITES, {"name": unique(), "status": "active"})
    api.patch(f"{SITES}{site['id']}/", {"asn": 64512}, headers=headers)
    api.patch(f"{REGIONS}{region['id']}/", {"description": "ours"}, headers=headers)
    api.patch(f"{REGIONS}{other['id']}/", {"description": "ours"}, headers=headers)
    new = api.post(SITES, {"name": unique(), "status": "active"}, headers=headers)
    api.delete(f"{SITES}{gone['id']}/", headers=headers)
    api.patch(f"{SITES}{site['id']}/", {"asn": 64999})
    api.patch(f"{REGIONS}{region['id']}/", {"description": "theirs"})
    hidden = [site["id"], new["id"], gone["id"]]
    return {**made, "at": f"{REQUESTS}{made['id']}/", "region": region["id"], "hidden": hidden}


def choice(key: str, take: str, field: str | None = None, label: str = "dcim.site") -> dict[str, Any]:
    return {"object_type": label, "object_id": key, "field": field, "take": take}


def rebase(api: Api, change_request: Any, *choices: Any) -> Any:
    return api.send("POST", f"{change_request['at']}rebase/", {"choices": [*choices]}, status=None)


@pytest.mark.parametrize("seen", BLIND)
def test_a_hidden_proposal_is_decided_like_one_that_is_not_there(
    service: Service, api: Api, site: Any, change_request: Any, seen: str
) -> None:
    user = service.user(*OWN, *REGION, *BLIND[seen](site)).api
    for take in ("ours", "theirs", "nonsense"):
        for field in (None, "asn", "nonsense"):
            absent = rebase(user, change_request, choice(str(uuid.uuid4()), take, field))
            assert absent.status_int == 400
            for key in change_request["hidden"]:
                answer = rebase(user, change_request, choice(key, take, field))
                assert (answer.status_int, answer.body) == (absent.status_int, absent.body)
    assert api.get(f"{change_request['at']}changes/")["count"] == 5


def test_the_page_answers_alike(service: Service, change_request: Any) -> None:
    page = Browser(service, service.user(*OWN, *REGION, ("view", "dcim.site", {"asn": 1}), password=PASSWORD))
    path = f"/extras/change-requests/{change_request['id']}/decide-conflict/"
    answers = set()
    for key in (str(uuid.uuid4()), *change_request["hidden"]):
        answers.add(page.post(path, choice(key, "theirs", "")).follow().words)
    assert len(answers) == 1
    assert UNKNOWN_OBJECT in answers.pop()


@pytest.mark.parametrize("take", ["ours", "theirs"])
@pytest.mark.parametrize("seen", BLIND)
def test_a_decision_leaves_hidden_proposals_alone(
    service: Service, api: Api, site: Any, change_request: Any, seen: str, take: str
) -> None:
    before = {item["object_id"]: item for item in api.get(f"{change_request['at']}changes/")["changes"]}
    user = service.user(*OWN, *REGION, *BLIND[seen](site)).api
    answer = rebase(user, change_request, choice(change_request["region"], take, "description", "dcim.region"))
    assert answer.status_int == 200
    after = {item["object_id"]: item for item in api.get(f"{change_request['at']}changes/")["changes"]}
    for key in change_request["hidden"]:
        assert after[key] == before[key]
    assert (change_request["region"] in after) is (take == "ours")


def test_a_conflict_that_is_listed_is_decided_within_constraints(
    service: Service, api: Api, site: Any, change_request: Any
) -> None:
    user = service.user(*OWN, *REGION, ("view", "dcim.site", {"slug": site["slug"]})).api
    listed = user.get(f"{change_request['at']}conflicts/")["objects"]
    assert site["id"] in [item["changed_object_id"] for item in listed]
    assert rebase(user, change_request, choice(site["id"], "ours", "asn")).status_int == 200
    assert [item["field"] for item in _changes(api, change_request, site["id"])] == ["asn"]


def _changes(api: Api, change_request: Any, key: str) -> Any:
    (found,) = [item for item in api.get(f"{change_request['at']}changes/")["changes"] if item["object_id"] == key]
    return found["changes"]
