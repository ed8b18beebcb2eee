"""Review rules: which changes need how many approvals, from whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique

RULES, REQUESTS, SITES = "/api/extras/review-rules/", "/api/extras/change-requests/", "/api/dcim/sites/"
GROUPS, USERS = "/api/users/groups/", "/api/users/users/"
REVIEWER = (("view approve", "extras.changerequest"), ("view", "dcim.site"))
Made = dict[str, Any]


@pytest.fixture
def add_rule(api: Api, unique: Unique) -> Iterator[Callable[..., Made]]:
    """Function that adds a rule about sites, which is deleted after the test."""
    made: list[Made] = []

    def add(**body: Any) -> Made:
        made.append(api.post(RULES, {"name": unique(), "content_types": ["dcim.site"], **body}))
        return made[-1]

    yield add
    for rule in made:
        api.delete(f"{RULES}{rule['id']}/", status=(204, 404))


@pytest.fixture
def author(service: Service) -> Account:
    """A user who writes sites and change requests of them."""
    return service.user(("view add change", "extras.changerequest"), ("view add change delete", "dcim.site"))


@pytest.fixture
def members(service: Service, api: Api, unique: Unique) -> Callable[..., tuple[Made, list[Account]]]:
    """Function that adds a group with reviewers."""

    def add(count: int = 1) -> tuple[Made, list[Account]]:
        group = api.post(GROUPS, {"name": unique()})
        accounts = [service.user(*REVIEWER) for _ in range(count)]
        for account in accounts:
            api.patch(f"{USERS}{account.id}/", {"groups": [group["id"]]})
        return group, accounts

    return add


def proposal(author: Account, unique: Unique, site: Made, **values: Any) -> str:
    """The path of a submitted change request of the author that changes the site."""
    made = author.api.post(REQUESTS, {"title": unique()})
    author.api.patch(f"{SITES}{site['id']}/", values, headers={"X-Change-Request": made["id"]})
    at = f"{REQUESTS}{made['id']}/"
    author.api.post(f"{at}submit/", {}, status=200)
    return at


def about(site: Made) -> Made:
    """The constraint on a site."""
    return {"name": site["name"]}


def test_a_merge_needs_the_approvals_of_the_group(
    service: Service,
    author: Account,
    api: Api,
    add_rule: Callable[..., Made],
    members: Callable[..., Any],
    site: Made,
    unique: Unique,
) -> None:
    group, (one, two) = members(2)
    rule = add_rule(constraints=about(site), approvals=2, groups=[group["id"]])
    at = proposal(author, unique, site, facility="DC 7")
    stranger = service.user(*REVIEWER)
    stranger.api.post(f"{at}approve/", {}, status=200)
    detail = author.api.post(f"{at}merge/", {}, status=409)["detail"]
    assert f"{rule['name']}: 0 of 2 approvals, by members of {group['name']}" in detail
    one.api.post(f"{at}approve/", {}, status=200)
    assert api.get(at)["state"]["value"] == "submitted"
    assert "1 of 2" in author.api.post(f"{at}merge/", {}, status=409)["detail"]
    (shown,) = api.get(f"{at}review/")["rules"]
    assert shown == {
        "id": rule["id"],
        "name": rule["name"],
        "needed": 2,
        "missing": 1,
        "groups": [group["name"]],
        "approved_by": [one.username],
    }
    two.api.post(f"{at}approve/", {}, status=200)
    assert api.get(at)["state"]["value"] == "approved"
    author.api.post(f"{at}merge/", {}, status=200)
    assert api.get(f"{SITES}{site['id']}/")["facility"] == "DC 7"
    query = {"changed_object_id": site["id"], "limit": 1}
    assert "bypassed" not in api.get("/api/extras/object-changes/", query)["results"][0]
    record = api.get("/api/extras/object-changes/", {**query, "include": "bypassed"})["results"][0]
    assert record["bypassed"] is None


def test_a_change_withdraws_the_approvals_by_rules(
    author: Account, api: Api, add_rule: Callable[..., Made], members: Callable[..., Any], site: Made, unique: Unique
) -> None:
    group, (one,) = members()
    add_rule(constraints=about(site), groups=[group["id"]])
    at = proposal(author, unique, site, facility="DC 7")
    one.api.post(f"{at}approve/", {}, status=200)
    key = at.split("/")[-2]
    author.api.patch(f"{SITES}{site['id']}/", {"facility": "DC 8"}, headers={"X-Change-Request": key})
    author.api.post(f"{at}merge/", {}, status=409)
    one.api.post(f"{at}approve/", {}, status=200)
    author.api.post(f"{at}merge/", {}, status=200)


def test_an_object_that_leaves_the_constraint_needs_the_review_and_one_that_enters_it(
    author: Account, api: Api, add_rule: Callable[..., Made], site: Made, unique: Unique
) -> None:
    rule = add_rule(constraints={"facility": site["name"]})
    entering = proposal(author, unique, site, facility=site["name"])
    assert [item["id"] for item in api.get(f"{entering}review/")["rules"]] == [rule["id"]]
    author.api.post(f"{entering}merge/", {}, status=409)
    api.patch(f"{SITES}{site['id']}/", {"facility": site["name"]})
    leaving = proposal(author, unique, site, facility="")
    assert [item["id"] for item in api.get(f"{leaving}review/")["rules"]] == [rule["id"]]
    author.api.post(f"{leaving}merge/", {}, status=409)
    elsewhere = api.post(SITES, {"name": unique(), "status": "active"})
    free = proposal(author, unique, elsewhere, facility="DC 7")
    assert api.get(f"{free}review/")["rules"] == []
    author.api.post(f"{free}merge/", {}, status=200)


def test_a_rule_about_fields_leaves_other_fields_alone(
    author: Account, api: Api, add_rule: Callable[..., Made], site: Made, unique: Unique
) -> None:
    add_rule(constraints={"name__startswith": site["name"]}, field_names=["asn", "tenant"])
    author.api.patch(f"{SITES}{site['id']}/", {"facility": "DC 7"})
    author.api.patch(f"{SITES}{site['id']}/", {"asn": 64512}, status=403)
    author.api.post(SITES, {"name": f"{site['name']} b", "status": "active"})
    author.api.post(SITES, {"name": f"{site['name']} c", "status": "active", "asn": 64512}, status=403)
    author.api.post(f"{proposal(author, unique, site, facility='DC 8')}merge/", {}, status=200)
    author.api.post(f"{proposal(author, unique, site, asn=64512)}merge/", {}, status=409)


def test_a_rule_that_is_added_later_counts_at_the_merge(
    author: Account, api: Api, add_rule: Callable[..., Made], members: Callable[..., Any], site: Made, unique: Unique
) -> None:
    group, (one,) = members()
    at = proposal(author, unique, site, facility="DC 7")
    rule = add_rule(constraints=about(site), groups=[group["id"]])
    author.api.post(f"{at}merge/", {}, status=409)
    api.patch(f"{RULES}{rule['id']}/", {"enabled": False})
    author.api.post(f"{at}merge/?dry_run=true", {}, status=200)
    api.patch(f"{RULES}{rule['id']}/", {"enabled": True})
    one.api.post(f"{at}approve/", {}, status=200)
    author.api.post(f"{at}merge/", {}, status=200)


def test_nobody_approves_for_groups_that_are_gone(
    service: Service,
    author: Account,
    api: Api,
    add_rule: Callable[..., Made],
    members: Callable[..., Any],
    site: Made,
    unique: Unique,
) -> None:
    group, (one,) = members()
    rule = add_rule(constraints=about(site), groups=[group["id"]])
    at = proposal(author, unique, site, facility="DC 7")
    api.delete(f"{GROUPS}{group['id']}/")
    one.api.post(f"{at}approve/", {}, status=200)
    assert "its groups do not exist" in author.api.post(f"{at}merge/", {}, status=409)["detail"]
    api.patch(f"{RULES}{rule['id']}/", {"groups": []})
    author.api.post(f"{at}merge/", {}, status=200)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"content_types": ["extras.status"]}, "content_types"),
        ({"constraints": {"nothing": 1}}, "constraints"),
        ({"constraints": "name"}, "constraints"),
        ({"constraints": {"name": "$user"}}, "constraints"),
        ({"field_names": ["nothing"]}, "field_names"),
        ({"field_names": "asn"}, "field_names"),
        ({"field_names": [7]}, "field_names"),
        ({"approvals": 0}, "approvals"),
        ({"groups": [2**31 - 1]}, "groups"),
    ],
)
def test_bad_rules_are_refused_by_field(api: Api, unique: Unique, body: Made, field: str) -> None:
    refused = api.post(RULES, {"name": unique(), "content_types": ["dcim.site"], **body}, status=400)
    assert list(refused) == [field]


def test_constraints_are_checked_again_when_the_models_change(api: Api, add_rule: Callable[..., Made]) -> None:
    rule = add_rule(constraints={"asn": 64512}, enabled=False)
    refused = api.patch(f"{RULES}{rule['id']}/", {"content_types": ["dcim.rack"]}, status=400)
    assert list(refused) == ["constraints"]
