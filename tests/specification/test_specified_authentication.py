"""Authentication: a test for each sentence of the specification's list."""

from __future__ import annotations

import base64
import datetime
import re
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

TOKENS, TENANTS, SITES = "/api/users/tokens/", "/api/tenancy/tenants/", "/api/dcim/sites/"
ALL = "view add change delete"
HEXADECIMAL = re.compile("[0-9a-f]{40}")
NOT_PROVIDED = {"detail": "Authentication credentials were not provided."}


def basic(username: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()}


def test_the_header_is_the_word_token_a_space_and_the_key(service: Service, anonymous: Api) -> None:
    """Rule 1: "the request header ``Authorization`` is ``Token <API_KEY>``"."""
    key = service.admin.token
    anonymous.get(TENANTS, {"limit": 1}, headers={"Authorization": f"Token {key}"})
    for wrong in (key, f"Token{key}", f"Bearer {key}", f"Token {key[:-1]}{'1' if key[-1] == '0' else '0'}"):
        anonymous.get(TENANTS, {"limit": 1}, headers={"Authorization": wrong}, status=403)


def test_the_browsable_api_accepts_cookies(service: Service, unique: Unique) -> None:
    """Rule 2: "cookie-based authentication is also accepted when using the browsable API"."""
    tenant = service.api.post(TENANTS, {"name": unique()})
    path = tenant["url"].removeprefix("http://localhost")
    assert tenant["name"] in Browser(service, service.admin).get(path).text
    assert tenant["name"] not in Browser(service).get(path, status=303).text


def test_tokens_are_created_in_the_web_interface(make_user: Any, service: Service) -> None:
    """Rule 3: "tokens are created in the web interface (user profile, API tokens)"."""
    account = make_user((ALL, "users.token"), password=PASSWORD)
    form = Browser(service, account).get("/user/api-tokens/add/").form()
    key = form.submit(status=200).html.select_one("#token-key").text
    assert account.api.get(TOKENS, token=key)["count"] == 2


def test_tokens_are_created_with_http_basic_credentials(make_user: Any, anonymous: Api) -> None:
    """Rule 3: "or via ``POST /api/users/tokens/`` with HTTP Basic credentials"."""
    account = make_user((ALL, "users.token"), password=PASSWORD)
    made = anonymous.post(TOKENS, headers=basic(account.username, PASSWORD))
    assert account.api.get(TOKENS, {"id": made["id"]})["count"] == 1


def test_a_user_may_have_several_tokens(make_user: Any) -> None:
    """Rule 3: "a user may have several tokens"."""
    account = make_user((ALL, "users.token"))
    keys = {account.token, *(account.api.post(TOKENS, {})["key"] for _ in range(2))}
    assert len(keys) == 3
    assert [account.api.get(TOKENS, token=key)["count"] for key in keys] == [3, 3, 3]


@pytest.mark.parametrize(("actions", "may_add", "may_change"), [("view", False, False), ("view add", True, False)])
def test_administrators_restrict_who_creates_and_modifies_tokens(
    make_user: Any, actions: str, may_add: bool, may_change: bool
) -> None:
    """Rule 3: "administrators can restrict per user the creation and modification of tokens"."""
    account = make_user((actions, "users.token"))
    (own,) = account.api.get(TOKENS)["results"]
    account.api.post(TOKENS, {}, status=201 if may_add else 403)
    account.api.patch(own["url"], {"description": "x"}, status=200 if may_change else 403)
    everything = make_user((ALL, "users.token")).api
    (own,) = everything.get(TOKENS)["results"]
    assert everything.patch(own["url"], {"description": "x"})["description"] == "x"


def test_a_key_is_40_hexadecimal_characters_generated_when_blank(make_user: Any) -> None:
    """Rule 4: "``key`` (40 hexadecimal characters, generated when blank)"."""
    account = make_user((ALL, "users.token"))
    made = [account.api.post(TOKENS, body)["key"] for body in ({}, {"key": ""}, {"key": ""})]
    assert len(set(made)) == 3 and all(HEXADECIMAL.fullmatch(key) for key in made)
    account.api.post(TOKENS, {"key": made[0][:-1]}, status=400)


def test_a_token_that_is_not_write_enabled_only_reads(make_user: Any, unique: Unique) -> None:
    """Rule 4: "``write_enabled`` … when false only read operations such as GET are permitted"."""
    account = make_user((ALL, "users.token"), (ALL, "tenancy.tenant"))
    for enabled in (False, True):
        key = account.api.post(TOKENS, {"write_enabled": enabled})["key"]
        account.api.get(TENANTS, {"limit": 1}, token=key)
        account.api.post(TENANTS, {"name": unique()}, token=key, status=201 if enabled else 403)


def test_write_enabled_is_selectable_in_the_form(make_user: Any, service: Service) -> None:
    """Rule 4: "``write_enabled`` (default in the web form is selectable …)"."""
    account = make_user((ALL, "users.token"), password=PASSWORD)
    browser = Browser(service, account)
    for selected in (True, False):
        form = browser.get("/user/api-tokens/add/").form()
        form["write_enabled"] = selected
        key = form.submit(status=200).html.select_one("#token-key").text
        enabled = {item["write_enabled"] for item in account.api.get(TOKENS, {"key": key})["results"]}
        assert enabled == {selected}


def test_expires_is_optional_and_ends_a_token(make_user: Any) -> None:
    """Rule 4: "optional ``expires``"."""
    account = make_user((ALL, "users.token"))
    assert account.api.post(TOKENS, {})["expires"] is None
    now = datetime.datetime.now(datetime.UTC)
    for hours, status in ((1, 200), (-1, 403)):
        ending = make_user((ALL, "users.token"), expires=now + datetime.timedelta(hours=hours))
        ending.api.get(TOKENS, status=status)


def test_a_description_is_optional(make_user: Any) -> None:
    """Rule 4: "optional ``description``"."""
    account = make_user((ALL, "users.token"))
    assert [account.api.post(TOKENS, body)["description"] for body in ({}, {"description": "CI"})] == ["", "CI"]


def test_a_token_permits_what_its_user_may_do_in_the_web_interface(make_user: Any, service: Service) -> None:
    """Rule 5: "by default a token permits everything the owning user may do in the web interface"."""
    account = make_user((ALL, "tenancy.tenant"), password=PASSWORD)
    browser = Browser(service, account)
    for label, path in (("tenancy/tenants", TENANTS), ("dcim/sites", SITES)):
        permitted = path == TENANTS
        browser.get(f"/{label}/", status=200 if permitted else 403)
        browser.get(f"/{label}/add/", status=200 if permitted else 403)
        account.api.get(path, {"limit": 1}, status=200 if permitted else 403)
        body = {"name": service.unique(), "status": "active"} if not permitted else {"name": service.unique()}
        account.api.post(path, body, status=201 if permitted else 403)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("where", ["list", "detail"])
def test_a_token_is_required_for_all_writes(
    api: Api, anonymous: Api, unique: Unique, configured: Any, method: str, where: str
) -> None:
    """Rule 6: "a token is required for all write operations (POST, PUT, PATCH, DELETE)", whatever may be read."""
    tenant = api.get(api.post(TENANTS, {"name": unique()})["url"])
    path = TENANTS if where == "list" else tenant["url"]
    body = {"name": unique()} if where == "detail" else [{"id": tenant["id"], "name": unique()}]
    with configured(exempt_view_permissions=("tenancy.tenant",)):
        assert anonymous.get(tenant["url"])["name"] == tenant["name"]
        status = 405 if (method, where) == ("POST", "detail") else 403
        answer = anonymous.send(method, path, body, status=(403, status))
    assert answer.status_int == 405 or answer.json == NOT_PROVIDED
    assert api.get(tenant["url"]) == tenant


def test_exempted_reads_need_no_token(api: Api, anonymous: Api, unique: Unique, configured: Any) -> None:
    """Rule 7: "a token is not needed for read operations exempted … through ``EXEMPT_VIEW_PERMISSIONS``"."""
    tenant = api.post(TENANTS, {"name": unique()})
    with configured(exempt_view_permissions=("tenancy.tenant",)):
        assert anonymous.get(tenant["url"])["id"] == tenant["id"]
        assert anonymous.get(TENANTS, {"id": tenant["id"]})["count"] == 1
        anonymous.get(SITES, status=403)
    anonymous.get(tenant["url"], status=403)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_without_a_token_the_answer_is_403_with_a_detail(anonymous: Api, method: str) -> None:
    """Rule 8: "403 Forbidden with a body whose ``detail`` field says that authentication credentials were not
    provided".
    """
    assert anonymous.send(method, TENANTS, status=403).json == NOT_PROVIDED


def test_name_and_password_produce_a_token_that_writes(make_user: Any, anonymous: Api, unique: Unique) -> None:
    """Rule 9: "the provisioning endpoint takes no token; valid username and password produce a new token with generated
    key and write enabled".
    """
    account = make_user((ALL, "users.token"), (ALL, "tenancy.tenant"), password=PASSWORD)
    made = anonymous.post(TOKENS, headers=basic(account.username, PASSWORD))
    assert made["write_enabled"] is True and HEXADECIMAL.fullmatch(made["key"]) and made["key"] != account.token
    anonymous.post(TENANTS, {"name": unique()}, token=made["key"])
    anonymous.post(TOKENS, headers=basic(account.username, f"{PASSWORD}!"), status=403)
