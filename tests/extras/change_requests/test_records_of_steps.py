"""Each step of a change request is a change of it: with a record, its place in the feed, and webhooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

REQUESTS, SITES, CHANGES = "/api/extras/change-requests/", "/api/dcim/sites/", "/api/extras/object-changes/"
FEED, DELIVERIES, WEBHOOKS = f"{CHANGES}feed/", "/api/extras/webhook-deliveries/", "/api/extras/webhooks/"
LABEL = "extras.changerequest"
Made = dict[str, Any]
MORE_STATEMENTS = 5  # of a step: the representations before and after, the record, and its event


@pytest.fixture
def webhook(api: Api, unique: Unique) -> Iterator[Made]:
    """A webhook of change requests."""
    name = unique()
    body = {"name": name, "content_types": [LABEL], "payload_url": f"http://{name}.example.com/"}
    made = api.post(WEBHOOKS, {**body, "type_create": True, "type_update": True, "type_delete": True})
    yield made
    api.delete(made["url"])


@pytest.fixture
def reviewer(service: Service) -> Account:
    """A user who reviews change requests of sites."""
    return service.user(("view approve", LABEL), ("view", "dcim.site"))


@pytest.fixture
def change_request(api: Api, site: Made, unique: Unique) -> Made:
    """A change request that changes the site."""
    made = api.post(REQUESTS, {"title": unique()})
    propose(api, made, site, facility="DC 7")
    return {**made, "at": f"{REQUESTS}{made['id']}/"}


def propose(api: Api, change_request: Made, site: Made, **values: Any) -> None:
    """Changes a site in a change request."""
    api.patch(f"{SITES}{site['id']}/", values, headers={"X-Change-Request": change_request["id"]})


def records_of(api: Api, change_request: Made) -> list[Made]:
    """The change records of a change request, the newest first."""
    found: list[Made] = api.get(CHANGES, {"changed_object_id": change_request["id"], "ordering": "-time"})["results"]
    return found


def test_every_step_has_a_record_a_place_in_the_feed_and_a_delivery(
    api: Api, site: Made, reviewer: Account, webhook: Made, unique: Unique
) -> None:
    cursor = api.get(FEED, {"after": "now"})["cursor"]
    made = api.post(REQUESTS, {"title": unique()})
    at = f"{REQUESTS}{made['id']}/"
    steps: list[tuple[Callable[[], Any], str, Any]] = [
        (lambda: propose(api, made, site, facility="DC 7"), "updates", 1),
        (lambda: propose(api, made, site, facility="DC 8"), "updates", 1),
        (lambda: api.patch(at, {"title": "Another"}), "title", "Another"),
        (lambda: api.post(f"{at}submit/", {"text": "Please"}, status=200), "last_comment", "Please"),
        (lambda: reviewer.api.post(f"{at}comment/", {"text": "Why?"}, status=200), "last_comment", "Why?"),
        (lambda: reviewer.api.post(f"{at}comment/", {"text": "Why?"}, status=200), "comment_count", 3),
        (lambda: reviewer.api.post(f"{at}reject/", {}, status=200), "state", "rejected"),
        (lambda: api.post(f"{at}submit/", {}, status=200), "state", "submitted"),
        (lambda: reviewer.api.post(f"{at}approve/", {"text": "Good"}, status=200), "approvals", 1),
        (lambda: api.post(f"{at}close/", {}, status=200), "state", "closed"),
        (lambda: api.post(f"{at}reopen/", {}, status=200), "state", "draft"),
        (lambda: api.post(f"{at}merge/", {}, status=200), "state", "merged"),
        (lambda: api.post(f"{at}revert/", {}, status=200), "state", "reverted"),
        (lambda: api.post(f"{at}reopen/", {}, status=200), "state", "draft"),
    ]
    for number, (step, field, _) in enumerate(steps):
        step()
        assert len(records_of(api, made)) == number + 2, field
    api.delete(at)
    assert [record["action"]["value"] for record in records_of(api, made)] == [
        "delete",
        *["update"] * len(steps),
        "create",
    ]
    by = [record["user_name"] for record in records_of(api, made)]
    assert by.count(reviewer.username) == 4
    found = api.get(FEED, {"after": cursor, "limit": 100})["results"]
    own = [item for item in found if item["changed_object_id"] == made["id"]]
    assert len(own) == len(steps) + 2
    for item, (_, field, expected) in zip(own[1:], steps, strict=False):
        value = item["after"][field]
        assert (value["value"] if isinstance(value, dict) else value) == expected, field
    query = {"changed_object_id": made["id"], "webhook_id": webhook["id"], "limit": 100}
    assert api.get(DELIVERIES, query)["count"] == len(steps) + 2


def test_the_change_of_a_merge_is_in_its_request(api: Api, change_request: Made, site: Made) -> None:
    merged = api.post(f"{change_request['at']}merge/", {}, status=200)
    records = api.get(CHANGES, {"request_id": merged["request_id"]})["results"]
    assert {item["changed_object_id"] for item in records} == {site["id"], change_request["id"]}


def test_a_refused_step_leaves_no_record(api: Api, change_request: Made, reviewer: Account) -> None:
    before = records_of(api, change_request)
    reviewer.api.post(f"{change_request['at']}approve/", {}, status=409)
    api.post(f"{change_request['at']}reopen/", {}, status=409)
    api.post(f"{change_request['at']}revert/", {}, status=409)
    reviewer.api.post(f"{change_request['at']}submit/", {}, status=403)
    assert records_of(api, change_request) == before


def test_records_are_seen_by_who_may_view_the_change_request(
    service: Service, api: Api, change_request: Made, unique: Unique
) -> None:
    cursor = api.get(FEED, {"after": "now"})["cursor"]
    api.post(f"{change_request['at']}comment/", {"text": "x"}, status=200)
    log = ("view", "extras.objectchange")
    stranger = service.user(log, ("view", LABEL, {"title": unique()})).api
    history = f"{change_request['at']}history/"
    for account, count in ((service.user(log, ("view", LABEL)).api, 1), (stranger, 0)):
        found = account.get(FEED, {"after": cursor, "limit": 100})["results"]
        assert [item["changed_object_id"] for item in found if item["changed_object_type"] == LABEL] == [
            change_request["id"]
        ] * count
    assert stranger.send("GET", history).status_int == 404


def test_a_comment_does_not_stand_against_an_approval(api: Api, change_request: Made, reviewer: Account) -> None:
    at = change_request["at"]
    api.post(f"{at}submit/", {}, status=200)
    seen = reviewer.api.get(at)["last_updated"]
    api.post(f"{at}comment/", {"text": "By the way"}, status=200)
    reviewer.api.post(f"{at}approve/", {"last_updated": "yesterday"}, status=400)
    reviewer.api.post(f"{at}approve/", {"last_updated": seen}, status=200)


@pytest.mark.parametrize("how", ["action", "request"])
def test_the_undo_of_a_merge_is_a_step_and_can_be_undone(api: Api, change_request: Made, site: Made, how: str) -> None:
    at = change_request["at"]
    merged = api.post(f"{at}merge/", {}, status=200)
    api.post(f"{at}comment/", {"text": "Oh no"}, status=200)
    (of_site, *_) = api.get(CHANGES, {"request_id": merged["request_id"], "changed_object_id": site["id"]})["results"]
    if how == "action":
        api.post(f"{at}revert/", {}, status=200)
    else:
        api.post(f"{CHANGES}{of_site['id']}/revert/?request=true", {}, status=200)
    assert api.get(at)["state"]["value"] == "reverted"
    assert api.get(f"{SITES}{site['id']}/")["facility"] == ""
    (undone, *_) = records_of(api, change_request)
    api.post(f"{CHANGES}{undone['id']}/revert/?request=true", {}, status=200)
    assert api.get(at)["state"]["value"] == "merged"
    assert api.get(f"{SITES}{site['id']}/")["facility"] == "DC 7"
    kinds = [event["kind"]["value"] for event in api.get(f"{at}review/")["events"]]
    assert kinds == ["merge", "comment", "revert", "merge"]


def test_a_reverted_one_is_merged_again_after_it_is_opened(api: Api, change_request: Made, site: Made) -> None:
    at = change_request["at"]
    for step in ("merge", "revert", "reopen"):
        found = api.post(f"{at}{step}/", {}, status=200)
    assert (found["merged"], found["request_id"], found["state"]["value"]) == (None, None, "draft")
    api.post(f"{at}merge/", {}, status=200)
    assert api.get(f"{SITES}{site['id']}/")["facility"] == "DC 7"


def test_a_revert_that_later_changes_stand_against_is_refused(api: Api, change_request: Made, site: Made) -> None:
    at = change_request["at"]
    api.post(f"{at}merge/", {}, status=200)
    api.patch(f"{SITES}{site['id']}/", {"facility": "DC 9"})
    refused = api.post(f"{at}revert/", {}, status=409)
    assert refused["objects"][0]["reasons"][0]["field"] == "facility"
    assert api.get(at)["state"]["value"] == "merged"


def test_a_merge_is_undone_after_its_change_request_is_deleted(api: Api, change_request: Made, site: Made) -> None:
    api.post(f"{change_request['at']}merge/", {}, status=200)
    api.delete(change_request["at"])
    (of_site, *_) = api.get(CHANGES, {"changed_object_id": site["id"], "ordering": "-time"})["results"]
    api.post(f"{CHANGES}{of_site['id']}/revert/?request=true", {}, status=200)
    assert api.get(f"{SITES}{site['id']}/")["facility"] == ""


def test_a_step_alone_is_not_undone(api: Api, change_request: Made) -> None:
    api.post(f"{change_request['at']}close/", {}, status=200)
    (closed, *_) = records_of(api, change_request)
    api.post(f"{CHANGES}{closed['id']}/revert/", {}, status=409)
    assert api.get(change_request["at"])["state"]["value"] == "closed"


def test_earlier_approvals_do_not_count_after_it_is_opened_again(
    api: Api, change_request: Made, reviewer: Account
) -> None:
    at = change_request["at"]
    api.post(f"{at}submit/", {}, status=200)
    reviewer.api.post(f"{at}approve/", {}, status=200)
    for step in ("close", "reopen", "submit"):
        assert api.post(f"{at}{step}/", {}, status=200)["approvals"] == (1 if step == "close" else 0)
    reviewer.api.post(f"{at}approve/", {}, status=200)


def test_the_page_takes_a_merge_back_and_the_history_lists_the_steps(
    service: Service, api: Api, change_request: Made, site: Made
) -> None:
    browser, path = Browser(service, service.user(superuser=True, password=PASSWORD)), change_request["at"][4:]
    for step in ("merge", "revert"):
        browser.get(path).form(action=f"{path}{step}/").submit()
    assert api.get(f"{SITES}{site['id']}/")["facility"] == ""
    page = browser.get(path)
    assert "taken back" in page.html.select_one("#panel-next-steps").get_text()
    history = browser.get(f"{path}changelog/").html.get_text()
    assert "Reverted" in history
    assert "Merged" in history


def test_a_step_takes_few_statements_more(service: Service, api: Api, change_request: Made) -> None:
    with service.statements() as edited:
        api.patch(change_request["at"], {"description": "why"})
    with service.statements() as commented:
        api.post(f"{change_request['at']}comment/", {"text": "x"}, status=200)
    assert len(commented) <= len(edited) + MORE_STATEMENTS, commented
