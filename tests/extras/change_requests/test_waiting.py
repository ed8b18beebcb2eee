"""Change requests that wait for a user: filters of change requests, the queues above their list, and the home page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_extras.change_requests import rematching
from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

RULES, REQUESTS, SITES = "/api/extras/review-rules/", "/api/extras/change-requests/", "/api/dcim/sites/"
GROUPS, USERS = "/api/users/groups/", "/api/users/users/"
LIST = "/extras/change-requests/"
REVIEWER = (("view approve", "extras.changerequest"), ("view", "dcim.site"))
Made = dict[str, Any]


@pytest.fixture
def author(service: Service) -> Account:
    """A user who writes change requests of sites."""
    return service.user(("view add change approve", "extras.changerequest"), ("view change", "dcim.site"))


@pytest.fixture
def reviewer(service: Service) -> Account:
    """A user who approves change requests of sites."""
    return service.user(*REVIEWER, password=PASSWORD)


@pytest.fixture
def propose(author: Account, unique: Unique, site: Made) -> Callable[..., str]:
    """Function that submits a change request of the site; returns its path."""

    def propose(by: Account = author) -> str:
        made = by.api.post(REQUESTS, {"title": unique()})
        headers = {"X-Change-Request": made["id"]}
        by.api.patch(f"{SITES}{site['id']}/", {"facility": unique()}, headers=headers)
        by.api.post(f"{REQUESTS}{made['id']}/submit/", {}, status=200)
        return f"{REQUESTS}{made['id']}/"

    return propose


@pytest.fixture
def add_rule(api: Api, unique: Unique, site: Made) -> Iterator[Callable[..., Made]]:
    """Function that adds a rule about the site, which is deleted after the test."""
    made: list[Made] = []

    def add(**body: Any) -> Made:
        body = {"name": unique(), "content_types": ["dcim.site"], "constraints": {"name": site["name"]}, **body}
        made.append(api.post(RULES, body))
        return made[-1]

    yield add
    for rule in made:
        api.delete(f"{RULES}{rule['id']}/")


def waits_for(account: Account, at: str) -> bool:
    """True where a change request is among those that the user is to review, and not among the others."""
    key = {"id": at.split("/")[-2]}
    waiting = account.api.get(REQUESTS, {**key, "to_review": "true"})["count"]
    assert account.api.get(REQUESTS, {**key, "to_review": "false"})["count"] == 1 - waiting
    return bool(waiting)


def test_submitted_ones_of_others_wait_until_one_has_approved(
    service: Service, author: Account, reviewer: Account, propose: Callable[..., str], unique: Unique
) -> None:
    draft = f"{REQUESTS}{author.api.post(REQUESTS, {'title': unique()})['id']}/"
    at = propose()
    assert waits_for(reviewer, at)
    assert not waits_for(reviewer, draft)
    assert not waits_for(author, at)
    assert not waits_for(service.user(("view", "extras.changerequest")), at)
    narrow = ("approve", "extras.changerequest", {"title": unique()})
    assert not waits_for(service.user(("view", "extras.changerequest"), narrow), at)
    with service.configured(change_request_approvals=2):
        reviewer.api.post(f"{at}approve/", {}, status=200)
        assert not waits_for(reviewer, at)
        assert waits_for(service.user(*REVIEWER), at)


def test_who_changed_what_it_proposes_does_not_review_it(
    service: Service, propose: Callable[..., str], site: Made, unique: Unique
) -> None:
    at = propose()
    helper = service.user(*REVIEWER, ("change", "extras.changerequest"), ("change", "dcim.site"))
    assert waits_for(helper, at)
    headers = {"X-Change-Request": at.split("/")[-2]}
    helper.api.patch(f"{SITES}{site['id']}/", {"comments": unique()}, headers=headers)
    assert not waits_for(helper, at)
    key = {"id": at.split("/")[-2]}
    assert helper.api.get(REQUESTS, {**key, "mine": "true"})["count"] == 1
    assert helper.api.get(REQUESTS, {**key, "mine": "false"})["count"] == 0


def test_ones_under_a_rule_wait_for_members_whose_approval_is_missing(
    service: Service,
    api: Api,
    reviewer: Account,
    propose: Callable[..., str],
    add_rule: Callable[..., Made],
    unique: Unique,
) -> None:
    group, other = (api.post(GROUPS, {"name": unique()}) for _ in range(2))
    one, two, three = (service.user(*REVIEWER) for _ in range(3))
    for account, joined in ((one, group), (two, group), (three, other)):
        api.patch(f"{USERS}{account.id}/", {"groups": [joined["id"]]})
    rule = add_rule(groups=[group["id"]])
    add_rule(groups=[other["id"]])
    at = propose()
    assert not waits_for(reviewer, at)
    assert waits_for(one, at)
    assert waits_for(two, at)
    one.api.post(f"{at}approve/", {}, status=200)
    assert not waits_for(two, at)  # its rule has what it asks for
    assert waits_for(three, at)
    api.patch(f"{RULES}{rule['id']}/", {"approvals": 2})
    assert waits_for(two, at)


def test_the_worker_matches_those_in_review_when_rules_change(
    service: Service,
    api: Api,
    reviewer: Account,
    propose: Callable[..., str],
    add_rule: Callable[..., Made],
    unique: Unique,
) -> None:
    at, group = propose(), api.post(GROUPS, {"name": unique()})
    member = service.user(*REVIEWER)
    api.patch(f"{USERS}{member.id}/", {"groups": [group["id"]]})
    reviewer.api.post(f"{at}approve/", {}, status=200)
    assert api.get(at)["state"]["value"] == "approved"
    rule = add_rule(groups=[group["id"]])
    rematching.match_again(service.engine, service.registry)
    assert api.get(at)["state"]["value"] == "submitted"
    assert [item["id"] for item in api.get(f"{at}review/")["rules"]] == [rule["id"]]
    assert waits_for(member, at)
    api.patch(f"{RULES}{rule['id']}/", {"enabled": False})
    rematching.match_again(service.engine, service.registry)
    assert api.get(at)["state"]["value"] == "approved"
    assert api.get(f"{at}review/")["rules"] == []


def test_the_list_begins_with_queues_and_the_home_page_counts_what_waits(
    service: Service, reviewer: Account, propose: Callable[..., str], api: Api
) -> None:
    browser, at = Browser(service, reviewer), propose()
    page = browser.get(LIST)
    links = page.html.select(".tabs a")
    assert [link.find(string=True).strip() for link in links] == ["Mine", "To review", "Open", "Merged"]
    assert [link.select_one(".count").get_text() for link in links][:2] == ["0", f"{waiting(reviewer):,}"]
    queue = browser.get(links[1]["href"])
    assert queue.html.select_one(".tabs a[aria-current]").find(string=True).strip() == "To review"
    assert api.get(at)["title"] in queue.text
    home = browser.get("/").html.get_text(" ", strip=True)
    assert "for your review" in home
    assert browser.get(f"{LIST}?mine=true&open=true").html.select_one(".tabs a[aria-current]") is not None


def waiting(account: Account) -> int:
    """The number of change requests that wait for the user."""
    count: int = account.api.get(REQUESTS, {"to_review": "true", "limit": 1})["count"]
    return count


def test_the_queues_take_one_statement(service: Service, reviewer: Account, propose: Callable[..., str]) -> None:
    browser = Browser(service, reviewer)
    propose()
    browser.get(LIST)
    with service.statements() as few:
        browser.get(LIST)
    propose(), propose()
    with service.statements() as many:
        browser.get(LIST)
    assert len(many) == len(few)
    assert sum("UNION ALL" in str(statement) and "extras_required_review" in str(statement) for statement in many) == 1


@pytest.mark.parametrize("name", ["open", "mine", "to_review"])
def test_a_bad_value_is_refused(api: Api, name: str) -> None:
    assert list(api.get(REQUESTS, {name: "perhaps"}, status=400)) == [name]
