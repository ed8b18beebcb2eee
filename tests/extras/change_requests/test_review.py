"""The review of change requests: submission, approvals and rejections, comments, and what they mean for the merge."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique

REQUESTS, SITES = "/api/extras/change-requests/", "/api/dcim/sites/"
REVIEWER = (("view approve", "extras.changerequest"), ("view", "dcim.site"))


@pytest.fixture
def author(service: Service) -> Account:
    """A user who writes change requests of sites."""
    return service.user(("view add change", "extras.changerequest"), ("view add change delete", "dcim.site"))


@pytest.fixture
def reviewer(service: Service) -> Api:
    """A user who approves change requests of sites."""
    return service.user(*REVIEWER).api


@pytest.fixture
def change_request(author: Account, unique: Unique, site: Any) -> Any:
    """A change request of the author that changes the site."""
    made = author.api.post(REQUESTS, {"title": unique()})
    propose(author.api, made, site, asn=64512)
    return {**made, "at": f"{REQUESTS}{made['id']}/"}


def propose(api: Api, change_request: Any, site: Any, **body: Any) -> None:
    """Changes a site in a change request."""
    api.patch(f"{SITES}{site['id']}/", body, headers={"X-Change-Request": change_request["id"]})


def state_of(api: Api, change_request: Any) -> tuple[str, int]:
    """The state and the number of approvals."""
    now = api.get(change_request["at"])
    return now["state"]["value"], now["approvals"]


def kinds_of(api: Api, change_request: Any) -> list[str]:
    """The kinds of the events."""
    return [event["kind"]["value"] for event in api.get(f"{change_request['at']}review/")["events"]]


def test_from_draft_to_merged(author: Account, reviewer: Api, api: Api, change_request: Any, site: Any) -> None:
    at = change_request["at"]
    assert state_of(api, change_request) == ("draft", 0)
    reviewer.post(f"{at}approve/", {}, status=409)
    author.api.post(f"{at}submit/", {"text": "Please look"}, status=200)
    assert state_of(api, change_request) == ("submitted", 0)
    author.api.post(f"{at}submit/", {}, status=409)
    reviewer.post(f"{at}approve/", {"text": "Good"}, status=200)
    assert state_of(api, change_request) == ("approved", 1)
    reviewer.post(f"{at}approve/", {}, status=409)
    author.api.post(f"{at}merge/", {}, status=200)
    assert api.get(f"{SITES}{site['id']}/")["asn"] == 64512
    events = api.get(f"{at}review/")["events"]
    assert [(event["kind"]["value"], event["text"]) for event in events] == [
        ("submit", "Please look"),
        ("approve", "Good"),
        ("merge", ""),
    ]
    assert events[0]["user_name"] == author.username
    reviewer.post(f"{at}approve/", {}, status=409)
    author.api.post(f"{at}submit/", {}, status=409)


def test_authors_do_not_approve_their_own(service: Service, api: Api, change_request: Any, site: Any) -> None:
    at = change_request["at"]
    writer = service.user(*REVIEWER, ("change", "extras.changerequest"), ("change", "dcim.site")).api
    propose(writer, change_request, site, comments="too")
    api.post(f"{at}submit/", {}, status=200)
    refused = writer.post(f"{at}approve/", {}, status=403)
    assert "wrote, or changed" in refused["detail"]
    other = service.user(superuser=True).api
    own = other.post(REQUESTS, {"title": service.unique()})
    propose(other, own, site, comments="own")
    other.post(f"{REQUESTS}{own['id']}/submit/", {}, status=200)
    other.post(f"{REQUESTS}{own['id']}/approve/", {}, status=403)


def test_a_change_withdraws_approvals(
    service: Service, author: Account, reviewer: Api, api: Api, change_request: Any, site: Any
) -> None:
    at = change_request["at"]
    author.api.post(f"{at}submit/", {}, status=200)
    reviewer.post(f"{at}approve/", {}, status=200)
    propose(author.api, change_request, site, asn=64513)
    assert state_of(api, change_request) == ("submitted", 0)
    assert kinds_of(api, change_request) == ["submit", "approve", "withdraw"]
    assert not any(event["counts"] for event in api.get(f"{at}review/")["events"])
    reviewer.post(f"{at}approve/", {}, status=200)
    author.api.post(f"{at}rebase/", {"choices": []}, status=200)
    assert state_of(api, change_request) == ("approved", 1)
    choice = {"object_type": "dcim.site", "object_id": site["id"], "field": "asn", "take": "ours"}
    author.api.post(f"{at}rebase/", {"choices": [choice]}, status=200)
    assert state_of(api, change_request) == ("submitted", 0)


def test_a_rejected_one_is_not_merged_until_it_is_submitted_again(
    author: Account, reviewer: Api, api: Api, change_request: Any, site: Any
) -> None:
    at = change_request["at"]
    author.api.post(f"{at}submit/", {}, status=200)
    reviewer.post(f"{at}reject/", {"text": "No"}, status=200)
    assert state_of(api, change_request) == ("rejected", 0)
    assert "rejected" in author.api.post(f"{at}merge/", {}, status=409)["detail"]
    author.api.post(f"{at}submit/", {}, status=200)
    reviewer.post(f"{at}reject/", {}, status=200)
    propose(author.api, change_request, site, asn=64513)
    assert state_of(api, change_request) == ("draft", 0)


def test_so_many_approvals_are_needed_as_the_setting_says(
    service: Service, configured: Any, author: Account, reviewer: Api, api: Api, change_request: Any, site: Any
) -> None:
    at = change_request["at"]
    with configured(change_request_approvals=2):
        author.api.post(f"{at}merge/", {}, status=409)
        author.api.post(f"{at}submit/", {}, status=200)
        reviewer.post(f"{at}approve/", {}, status=200)
        assert state_of(api, change_request) == ("submitted", 1)
        assert "1 of 2 approvals" in author.api.post(f"{at}merge/", {}, status=409)["detail"]
        service.user(*REVIEWER).api.post(f"{at}approve/", {}, status=200)
        assert state_of(api, change_request) == ("approved", 2)
        assert api.get(f"{at}review/")["needed"] == 2
        author.api.post(f"{at}merge/", {}, status=200)


def test_an_approval_is_of_what_the_reviewer_saw(
    author: Account, reviewer: Api, api: Api, change_request: Any, site: Any
) -> None:
    at = change_request["at"]
    author.api.post(f"{at}submit/", {}, status=200)
    seen = reviewer.get(at)["last_updated"]
    propose(author.api, change_request, site, asn=64513)
    for step in ("approve", "reject"):
        assert "changed since" in reviewer.post(f"{at}{step}/", {"last_updated": seen}, status=409)["detail"]
    seen = reviewer.get(at)["last_updated"]
    reviewer.post(f"{at}approve/", {"last_updated": seen}, status=200)


def test_nobody_approves_what_they_may_not_view(service: Service, author: Account, change_request: Any) -> None:
    at = change_request["at"]
    author.api.post(f"{at}submit/", {}, status=200)
    blind = service.user(("view approve", "extras.changerequest")).api
    assert "may not view" in blind.post(f"{at}approve/", {}, status=403)["detail"]
    limited = service.user(("view approve", "extras.changerequest"), ("view", "dcim.site", {"asn": None})).api
    limited.post(f"{at}approve/", {}, status=403)


def test_who_may_view_comments_and_nobody_else(service: Service, api: Api, change_request: Any) -> None:
    at = change_request["at"]
    reader = service.user(("view", "extras.changerequest"))
    found = reader.api.post(f"{at}comment/", {"text": "What about Porto?"}, status=200)
    (event,) = found["events"]
    assert (event["text"], event["user_name"], event["kind"]["value"]) == (
        "What about Porto?",
        reader.username,
        "comment",
    )
    reader.api.post(f"{at}approve/", {}, status=403)
    reader.api.post(f"{at}submit/", {}, status=403)
    stranger = service.user(("view", "extras.changerequest", {"title": service.unique()})).api
    stranger.post(f"{at}comment/", {"text": "x"}, status=404)
    stranger.get(f"{at}review/", status=404)
    api.post(f"{at}close/", {}, status=200)
    reader.api.post(f"{at}comment/", {"text": "late"}, status=200)


@pytest.mark.parametrize("body", [{}, {"text": " "}, {"text": 7}, {"text": "x" * 10_001}])
def test_bad_comments_are_named(api: Api, change_request: Any, body: Any) -> None:
    assert list(api.post(f"{change_request['at']}comment/", body, status=400)) == ["text"]


@pytest.mark.parametrize("step", ["comment", "submit", "approve", "reject", "rebase"])
@pytest.mark.parametrize("body", [[], "text", b"{"])
def test_a_body_that_is_no_object_is_refused(api: Api, change_request: Any, step: str, body: Any) -> None:
    api.post(f"{change_request['at']}{step}/", body, status=400)


def test_one_without_changes_is_not_submitted(api: Api, unique: Unique) -> None:
    made = api.post(REQUESTS, {"title": unique()})
    assert "no change" in api.post(f"{REQUESTS}{made['id']}/submit/", {}, status=409)["detail"]


def test_the_state_is_not_written_by_hand(api: Api, change_request: Any) -> None:
    api.patch(change_request["at"], {"state": "approved", "approvals": 9})
    assert state_of(api, change_request) == ("draft", 0)
    assert "authors" not in api.get(change_request["at"])


def test_it_is_deleted_with_its_events(api: Api, change_request: Any) -> None:
    api.post(f"{change_request['at']}comment/", {"text": "x"}, status=200)
    api.delete(change_request["at"])


def test_a_reader_does_not_see_values_that_leave_their_constraint(
    service: Service, author: Account, change_request: Any, site: Any
) -> None:
    limited = service.user(("view", "extras.changerequest"), ("view", "dcim.site", {"asn": None})).api
    assert limited.get(f"{SITES}{site['id']}/")["asn"] is None
    assert limited.get(f"{change_request['at']}changes/") == {"count": 1, "changes": []}
    propose(author.api, change_request, site, asn=None, comments="stays")
    (change,) = limited.get(f"{change_request['at']}changes/")["changes"]
    assert [item["field"] for item in change["changes"]] == ["comments"]
