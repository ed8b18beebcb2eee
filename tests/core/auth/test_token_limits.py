"""Limits of tokens: networks of clients, actions and object types; and the time of their last use."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
import sqlalchemy as sa
import webtest

from netinv_core import crypto
from netinv_core.auth.models import Token
from netinv_core.auth.token_use import TokenUse
from netinv_core.models.base import now, table_of
from netinv_testing import Account, Api, Service

TOKENS = "/api/users/tokens/"
TENANTS = "/api/tenancy/tenants/"
SITES = "/api/dcim/sites/"
ALL = "view add change delete"
EVERY_LIMIT = "?include=allowed_networks&include=actions&include=object_types&include=last_used"
DENIED = {"detail": "You do not have permission to perform this action."}
_tokens = table_of(Token)


@pytest.fixture
def owner(make_user: Any) -> Account:
    """A user who may do everything with tenants, and view sites."""
    return make_user((ALL, ["users.token", "tenancy.tenant"]), ("view", "dcim.site"))


def get_from(service: Service, address: str, key: str) -> Any:
    """The answer to a client with this address."""
    app = webtest.TestApp(service.app, lint=False, extra_environ={"REMOTE_ADDR": address})
    return app.get(TENANTS, headers={"Authorization": f"Token {key}"}, expect_errors=True)


def stored_use(service: Service, key: str) -> datetime.datetime | None:
    """The stored time of the last use of a token, after what is noted was written."""
    assert TokenUse.of_process(service.engine, service.registry).wait(30)
    (row,) = service.rows(sa.select(_tokens.c.last_used).where(_tokens.c.key_hash == crypto.digest(key)))
    last_used: datetime.datetime | None = row.last_used
    return last_used


# -- networks


def test_a_token_is_refused_from_other_networks(service: Service, owner: Account) -> None:
    networks = ["192.0.2.0/24", "2001:db8::/32", "198.51.100.7"]
    key = owner.api.post(TOKENS, {"allowed_networks": networks})["key"]
    for address in ("192.0.2.9", "::ffff:192.0.2.9", "2001:db8::1", "198.51.100.7"):
        assert get_from(service, address, key).status_int == 200, address
    for address in ("192.0.3.1", "2001:db9::1", "198.51.100.8", ""):
        refused = get_from(service, address, key)
        assert (refused.status_int, refused.json) == (
            403,
            {"detail": f"This token is not accepted from the address {address}."},
        )


@pytest.mark.parametrize("wrong", ["192.0.2.1/24", "300.0.0.0/8", "example.com", ""])
def test_what_is_no_network_is_named(owner: Account, wrong: str) -> None:
    answer = owner.api.post(TOKENS, {"allowed_networks": ["192.0.2.0/24", wrong]}, status=400)
    assert repr(wrong) in answer["allowed_networks"][0]


def test_limits_are_shown_to_those_who_ask_for_them(owner: Account) -> None:
    limits = {"allowed_networks": ["192.0.2.0/24"], "actions": ["view"], "object_types": ["dcim.site"]}
    made = owner.api.post(TOKENS, limits)
    assert not {*limits, "last_used"} & made.keys()
    assert owner.api.get(f"{made['url']}?fields=actions")["actions"] == ["view"]
    assert owner.api.patch(f"{made['url']}?include=actions", {})["actions"] == ["view"]
    assert not {*limits, "last_used"} & owner.api.get(made["url"]).keys()
    shown = owner.api.get(made["url"] + EVERY_LIMIT)
    assert {name: shown[name] for name in limits} == limits and shown["last_used"] is None
    assert not {*limits, "last_used"} & owner.api.options(TOKENS)["actions"]["POST"].keys()
    for empty in ([], None):
        owner.api.patch(made["url"], dict.fromkeys(limits, empty))
        assert {name: owner.api.get(made["url"] + EVERY_LIMIT)[name] for name in limits} == {
            name: [] for name in limits
        }


# -- actions and object types


def test_a_token_does_no_more_than_its_actions(owner: Account, unique: Any) -> None:
    key = owner.api.post(TOKENS, {"actions": ["view", "add"]})["key"]
    made = owner.api.post(TENANTS, {"name": unique(), "slug": unique()}, token=key)
    owner.api.get(made["url"], token=key)
    assert owner.api.patch(made["url"], {"name": unique()}, token=key, status=403) == DENIED
    assert owner.api.delete(made["url"], token=key, status=403) == DENIED
    reader = owner.api.post(TOKENS, {"actions": ["view"]})["key"]
    assert owner.api.patch("/api/users/config/", {"a": 1}, token=reader, status=403) == DENIED


def test_a_token_reaches_no_more_than_its_object_types(owner: Account) -> None:
    key = owner.api.post(TOKENS, {"object_types": ["dcim.site"]})["key"]
    owner.api.get(SITES, token=key)
    assert owner.api.get(TENANTS, token=key, status=403) == DENIED
    graphql = owner.api.post("/api/graphql/", {"query": "{ tenants { id } sites { id } }"}, token=key, status=200)
    assert graphql["data"]["tenants"] == []


def test_a_limited_token_of_a_superuser_is_no_superuser(make_user: Any) -> None:
    superuser = make_user(superuser=True)
    sites = superuser.api.post(TOKENS, {"object_types": ["dcim.site", "extras.job"]})["key"]
    superuser.api.get(SITES, token=sites)
    assert superuser.api.get("/api/users/users/", token=sites, status=403) == DENIED
    reader = superuser.api.post(TOKENS, {"actions": ["view"]})["key"]
    superuser.api.get("/api/users/users/", token=reader)
    assert superuser.api.post(SITES, {}, token=reader, status=403) == DENIED


ACCOUNTS = {"users": "users.user", "permissions": "users.objectpermission", "groups": "auth.group"}


@pytest.mark.parametrize("limits", [{"actions": ["view", "add", "change"]}, {"allowed_networks": ["192.0.2.0/24"]}])
@pytest.mark.parametrize("superuser", [True, False])
def test_a_limited_token_gives_nobody_more_than_it_may(
    service: Service, make_user: Any, superuser: bool, limits: Any
) -> None:
    """A new password, another group or a permission would open what the token is limited not to do."""
    user = make_user((ALL, ["users.token", *ACCOUNTS.values()]), superuser=superuser)
    key = user.api.post(TOKENS, limits)["key"]
    limited = Api(lambda environ, start: service.app({**environ, "REMOTE_ADDR": "192.0.2.9"}, start), key)
    own = limited.get("/api/users/users/", {"username": user.username})["results"][0]
    assert limited.patch(own["url"], {"password": "quartz-violet-anchor-59"}, status=403) == DENIED
    for name in ACCOUNTS:
        assert limited.post(f"/api/users/{name}/", {}, status=403) == DENIED


def test_a_token_that_is_meant_for_accounts_changes_them(make_user: Any, unique: Any) -> None:
    owner = make_user((ALL, ["users.token", *ACCOUNTS.values()]))
    key = owner.api.post(TOKENS, {"object_types": list(ACCOUNTS.values())})["key"]
    made = owner.api.post("/api/users/users/", {"username": unique(), "password": "quartz-violet-anchor-59"}, token=key)
    owner.api.patch(made["url"], {"password": "quartz-violet-anchor-60"}, token=key)
    for name, body in (("groups", {}), ("permissions", {"object_types": ["dcim.site"], "actions": ["view"]})):
        owner.api.post(f"/api/users/{name}/", {"name": unique(), **body}, token=key)


def test_a_token_does_not_widen_what_its_user_may(owner: Account) -> None:
    key = owner.api.post(TOKENS, {"object_types": ["dcim.site", "dcim.rack"], "actions": ["view", "delete"]})["key"]
    assert owner.api.get("/api/dcim/racks/", token=key, status=403) == DENIED
    assert owner.api.delete(SITES, [], token=key, status=403) == DENIED


@pytest.mark.parametrize(
    "limit",
    [
        {"actions": ["view", "add", "change"]},
        {"object_types": ["users.token"]},
        {"allowed_networks": ["::/0", "0.0.0.0/0"]},
    ],
)
def test_a_limited_token_makes_no_other_token(owner: Account, service: Service, limit: Any) -> None:
    made = owner.api.post(TOKENS, limit)
    app = webtest.TestApp(service.app, lint=False, extra_environ={"REMOTE_ADDR": "192.0.2.1"})
    for method, path in (("POST", TOKENS), ("PATCH", made["url"])):
        headers = {"Authorization": f"Token {made['key']}"}
        body = {"actions": [], "object_types": [], "allowed_networks": []}
        send = app.post_json if method == "POST" else app.patch_json
        answer = send(path, body, headers=headers, expect_errors=True)
        assert (answer.status_int, answer.json) == (403, DENIED)


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("actions", ["view it"], "'view it'"),
        ("object_types", ["dcim.nothing"], "'dcim.nothing'"),
        ("object_types", [1], "strings"),
        ("actions", "view", "list"),
        ("actions", ["view"] * 201, "200"),
    ],
)
def test_invalid_limits_are_named(owner: Account, field: str, value: Any, word: str) -> None:
    assert word in str(owner.api.post(TOKENS, {field: value}, status=400)[field])


# -- last use


def test_the_last_use_is_stored_once_a_minute_beside_the_request(service: Service, make_user: Any) -> None:
    account = make_user(("view", ["tenancy.tenant", "users.token"]))
    assert stored_use(service, account.token) is None
    before = now()
    account.api.get(TENANTS)
    first = stored_use(service, account.token)
    assert first is not None and first >= before.replace(microsecond=0)
    account.api.get(TENANTS)
    assert stored_use(service, account.token) == first
    with service.engine.begin() as connection:
        long_ago = now() - datetime.timedelta(minutes=2)
        connection.execute(sa.update(_tokens).where(_tokens.c.last_used == first).values(last_used=long_ago))
    with service.statements() as statements:
        account.api.get(TENANTS)
    assert not [text for text in statements if "UPDATE " in text.upper()]
    again = stored_use(service, account.token)
    assert again is not None and again >= first
    (shown,) = account.api.get(f"{TOKENS}?include=last_used")["results"]
    assert datetime.datetime.fromisoformat(shown["last_used"]) == again


def test_a_refused_token_is_not_used(service: Service, owner: Account) -> None:
    key = owner.api.post(TOKENS, {"allowed_networks": ["192.0.2.0/24"]})["key"]
    get_from(service, "198.51.100.1", key)
    assert stored_use(service, key) is None
