"""Permissions of an account that compare too many values together are refused wherever a membership leads to them."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.settings import OWN
from netinv_testing import Api, Service

USERS, GROUPS, PERMISSIONS = "/api/users/users/", "/api/users/groups/", "/api/users/permissions/"
SITES, LABEL = "/api/dcim/sites/", "dcim.site"
MAX_TERMS = OWN["max_compared_values"][1]
HALF = MAX_TERMS // 2 + 1
SAID = (
    "With this, the permissions of an account to view objects of dcim.site hold {} lookups together, those of the "
    f"values of documents one by one. They may hold at most {MAX_TERMS} (netinv.max_compared_values)."
)


@pytest.fixture
def permission(service: Service) -> Any:
    """``permission(word, **more)`` makes a permission to view sites, with lookups for half of the limit and one."""

    def make(word: str, **more: Any) -> dict[str, Any]:
        lookups = [{"name__icontains": f"{word}{n}"} for n in range(HALF)]
        body = {"name": service.unique(), "object_types": [LABEL], "actions": ["view"], "constraints": lookups}
        made: dict[str, Any] = service.api.post(PERMISSIONS, body | more)
        return made

    return make


def account(service: Service, **more: Any) -> dict[str, Any]:
    """A new account."""
    body = {"username": service.unique(), "password": "correct horse battery staple 9"}
    made: dict[str, Any] = service.api.post(USERS, body | more)
    return made


def group(api: Api, name: str) -> int:
    """The id of a new group."""
    key: int = api.post(GROUPS, {"name": name})["id"]
    return key


def test_each_way_to_a_further_permission_is_refused(service: Service, permission: Any) -> None:
    """The error names the field, nothing is changed, and the account goes on reading."""
    api, team = service.api, group(service.api, service.unique())
    user = account(service)
    key, too_many = user["id"], [SAID.format(2 * HALF)]
    permission("a", users=[key])
    second = permission("b", object_types=["dcim.region"], users=[key])
    of_team = permission("c", groups=[team])
    off, other = permission("d", enabled=False, users=[key]), permission("e", actions=["change"], users=[key])
    free = permission("f")
    refused = {
        "object_types": (second["url"], {"object_types": ["dcim.region", LABEL]}),
        "groups": (user["url"], {"groups": [team]}),
        "users": (of_team["url"], {"users": [key]}),
        "enabled": (off["url"], {"enabled": True}),
        "actions": (other["url"], {"actions": ["change", "view"]}),
        "constraints": (free["url"], {"users": [key], "constraints": [*free["constraints"][1:], {"name": "one more"}]}),
    }
    for field, (url, body) in refused.items():
        before = api.get(url)
        assert api.patch(url, body, status=400) == {field: too_many}, field
        assert api.get(url) == before
    new = {"username": service.unique(), "password": "correct horse battery staple 9", "groups": [team]}
    api.post(USERS, new)
    token = api.post("/api/users/tokens/", {"user": key})["key"]
    Api(service.app, token).get(SITES)


def test_a_group_grows_for_all_of_its_accounts(service: Service, permission: Any, unique: Any) -> None:
    """Of the accounts of a group one has a permission of its own. The statements do not grow with the accounts."""
    api, counted = service.api, []
    for size in (2, 12):
        team = group(api, unique())
        keys = [account(service, groups=[team])["id"] for _ in range(size)]
        permission("own", users=keys[:1])
        of_team = permission("team")
        with service.statements() as statements:
            found = api.patch(of_team["url"], {"groups": [team]}, status=400)
        assert found == {"groups": [SAID.format(2 * HALF)]}
        counted.append(len(statements))
        api.post(PERMISSIONS, {**of_team, "name": unique(), "constraints": None, "users": keys[:1]})
        api.patch(of_team["url"], {"groups": [team]})  # it may view every site: nothing is compared
    assert counted[0] == counted[1]


def test_items_of_a_batch_are_judged_together(service: Service, permission: Any) -> None:
    user = account(service)
    first, second = permission("a"), permission("b")
    body = [{"id": one["id"], "users": [user["id"]]} for one in (first, second)]
    answer = service.api.patch(PERMISSIONS, body, status=400)
    assert "users" in str(answer) and SAID.format(2 * HALF) in str(answer)
    assert service.api.get(first["url"])["users"] == []
