"""Tokens made for other accounts, and the actions that permissions may have."""

from __future__ import annotations

import pytest

from netinv_testing import Service

TOKENS, PERMISSIONS = "/api/users/tokens/", "/api/users/permissions/"
DENIED = "This takes the permission to change this account, and a superuser for the token of a superuser."


def test_an_administrator_makes_the_token_of_another_account(service: Service) -> None:
    """Its key signs in that account; the list of the administrator does not have it, that of the account does."""
    bob = service.user(("view", "users.token"))
    for named in (bob.id, {"username": bob.username}):
        made = service.api.post(TOKENS, {"user": named, "description": "service"}, query={"include": "user"})
        assert made["user"]["id"] == bob.id
        assert "user" not in service.api.post(TOKENS, {})
        service.api.get(f"{TOKENS}{made['id']}/", status=404)
        seen = service.api.get(TOKENS, token=made["key"])["results"]
        assert made["id"] in [item["id"] for item in seen]


def test_others_need_the_permission_to_change_the_account(service: Service) -> None:
    """And to view it; nobody but a superuser makes the token of a superuser."""
    bob, chief = service.user(("view", "users.token")), service.user(superuser=True)
    for permissions in ((), [("view", "users.user")], [("view change", "users.user", {"username": "nobody"})]):
        clerk = service.user(("view add", "users.token"), *permissions)
        assert clerk.api.post(TOKENS, {"user": bob.id}, status=400) == {"user": [DENIED]}
        assert clerk.api.get(TOKENS)["count"] == 1
        clerk.api.post(TOKENS, {"user": clerk.id})
    clerk = service.user(("view add", "users.token"), ("view change", "users.user"))
    clerk.api.post(TOKENS, {"user": bob.id})
    assert clerk.api.post(TOKENS, {"user": chief.id}, status=400) == {"user": [DENIED]}


def test_a_token_keeps_its_account(service: Service) -> None:
    """Another one is refused, the same one is taken."""
    bob, own = service.user(), service.api.post(TOKENS, {}, query={"include": "user"})
    path = f"{TOKENS}{own['id']}/"
    assert list(service.api.patch(path, {"user": bob.id}, status=400)) == ["user"]
    service.api.patch(path, {"user": own["user"]["id"], "description": "same"})


@pytest.mark.parametrize("actions", [["veiw"], ["view", "*"], ["View"], [""], ["view", "delte"]])
def test_unknown_actions_are_refused(service: Service, actions: list[str]) -> None:
    """Of permissions and of limits of tokens; those of jobs and of plugins are known."""
    body = {"name": service.unique(), "object_types": ["dcim.site"], "actions": actions}
    assert list(service.api.post(PERMISSIONS, body, status=400)) == ["actions"]
    assert list(service.api.post(TOKENS, {"actions": actions}, status=400)) == ["actions"]
    service.api.post(PERMISSIONS, {**body, "actions": ["view", "run", "approve", "delete"]})
