"""The specification's sections "API token" and "Token provisioning", one test for each row."""

from __future__ import annotations

import datetime
import re
import secrets
import uuid
from base64 import b64encode
from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD

TOKENS, TENANTS = "/api/users/tokens/", "/api/tenancy/tenants/"
HEXADECIMAL = re.compile("[0-9a-f]{40}")


def basic(account: Account, password: str) -> dict[str, str]:
    """The header with the credentials of a user."""
    return {"Authorization": "Basic " + b64encode(f"{account.username}:{password}".encode()).decode()}


# -- API token


def test_the_id_of_a_token_is_a_uuid(api: Api) -> None:
    """API token: `id`: UUID."""
    made = api.post(TOKENS, {})
    assert str(uuid.UUID(made["id"])) == made["id"]


def test_the_url_of_a_token_is_its_address(api: Api) -> None:
    """API token: `url`: string."""
    made = api.post(TOKENS, {})
    assert made["url"] == f"http://localhost{TOKENS}{made['id']}/"
    assert api.get(made["url"])["id"] == made["id"]


def test_the_display_of_a_token_is_a_string(service: Service) -> None:
    """API token: `display`: string, which says whose token it is."""
    assert service.admin.username in service.api.post(TOKENS, {})["display"]


def test_the_creation_of_a_token_is_a_datetime_in_utc(api: Api) -> None:
    """API token: `created`: datetime ISO 8601 UTC."""
    before = datetime.datetime.now(datetime.UTC)
    created = api.post(TOKENS, {})["created"]
    assert created.endswith("Z")
    assert before <= datetime.datetime.fromisoformat(created) <= datetime.datetime.now(datetime.UTC)


def test_a_token_expires_at_a_time_or_never(api: Api) -> None:
    """API token: `expires`: datetime or null; null means no expiry."""
    assert api.post(TOKENS, {"expires": "2099-01-31T12:00:00Z"})["expires"] == "2099-01-31T12:00:00Z"
    made = api.post(TOKENS, {"expires": None})
    assert made["expires"] is None
    api.get(TENANTS, {"limit": 1}, token=made["key"])


@pytest.mark.parametrize("body", [{}, {"key": ""}], ids=["absent", "blank"])
def test_a_key_left_blank_is_generated_at_random(api: Api, body: Any) -> None:
    """API token: `key`: string, 40 hexadecimal characters, generated at random when left blank."""
    keys = [api.post(TOKENS, body)["key"] for _ in range(3)]
    assert len(set(keys)) == 3 and all(HEXADECIMAL.fullmatch(key) for key in keys)
    assert api.get(TENANTS, {"limit": 1}, token=keys[0])["results"] is not None


def test_a_key_may_be_given_to_restore_a_deleted_token(api: Api) -> None:
    """API token: `key`: may be given explicitly (to restore a deleted token)."""
    made = api.post(TOKENS, {})
    api.delete(made["url"])
    api.get(TENANTS, token=made["key"], status=403)
    assert api.post(TOKENS, {"key": made["key"]})["key"] == made["key"]
    api.get(TENANTS, {"limit": 1}, token=made["key"])


@pytest.mark.parametrize("key", ["abc", "g" * 40, "a" * 41])
def test_a_key_that_is_not_40_hexadecimal_characters_is_refused(api: Api, key: str) -> None:
    """API token: `key`: string, 40 hexadecimal characters (160 bits)."""
    assert "key" in api.post(TOKENS, {"key": key}, status=400)


def test_a_token_without_write_enabled_permits_reading_only(api: Api, unique: Unique) -> None:
    """API token: `write_enabled`: boolean; when false the token permits read operations only."""
    name, made = unique(), [api.post(TOKENS, {"write_enabled": value}) for value in (False, True)]
    assert [token["write_enabled"] for token in made] == [False, True]
    reading, writing = (token["key"] for token in made)
    api.post(TENANTS, {"name": name}, token=reading, status=403)
    tenant = api.post(TENANTS, {"name": name}, token=writing)
    assert api.get(tenant["url"], token=reading)["name"] == name
    for method in ("PUT", "PATCH", "DELETE"):
        body = {} if method == "DELETE" else {"body": {"name": unique()}}
        api.send(method, tenant["url"], token=reading, status=403, **body)
    assert api.get(tenant["url"])["name"] == name


def test_the_description_of_a_token_is_optional(api: Api) -> None:
    """API token: `description`: string, optional."""
    assert api.post(TOKENS, {})["description"] == ""
    made = api.post(TOKENS, {"description": "of the test"})
    assert api.get(made["url"])["description"] == "of the test"


# -- Token provisioning


def test_a_user_gets_a_token_for_basic_credentials(service: Service) -> None:
    """Token provisioning: POST with no token, HTTP Basic credentials, no body needed: a token object, whose key is
    generated and `write_enabled` true. Administrators have let the user create tokens.
    """
    user = service.user(("add view", ["tenancy.tenant", "users.token"]), password=PASSWORD)
    made = service.anonymous.post(TOKENS, headers=basic(user, PASSWORD))
    fields = {"id", "url", "display", "created", "expires", "key", "write_enabled", "description"}
    assert made.keys() >= fields
    assert HEXADECIMAL.fullmatch(made["key"]) and made["key"] != user.token
    assert (made["write_enabled"], made["expires"]) == (True, None)
    assert user.api.post(TENANTS, {"name": service.unique()}, token=made["key"])["id"]
    assert user.username in made["display"]


@pytest.mark.parametrize("version", [None, "1.2", "1.6"])
def test_provisioning_answers_at_every_version(service: Service, version: str | None) -> None:
    """As the reference service does: a request without a version has version 1.2."""
    headers = basic(service.admin, service.admin.password)
    if version is not None:
        headers |= {"Accept": f"application/json; version={version}"}
    made = service.anonymous.send("POST", TOKENS, headers=headers, version=None, status=201)
    assert made.headers["API-Version"] == (version or "1.2")
    assert HEXADECIMAL.fullmatch(made.json["key"])


@pytest.mark.parametrize("version", ["1.3", "1.4"])
def test_provisioning_is_available_from_version_1_3(service: Service, version: str) -> None:
    """Token provisioning: available from API version 1.3."""
    accepted = {"Accept": f"application/json; version={version}"}
    headers = basic(service.admin, service.admin.password) | accepted
    made = service.anonymous.send("POST", TOKENS, headers=headers, version=None, status=201)
    assert made.headers["API-Version"] == version
    assert HEXADECIMAL.fullmatch(made.json["key"])


@pytest.mark.parametrize("case", ["wrong password", "unknown user", "none"])
def test_nobody_gets_a_token_without_credentials_of_a_user(service: Service, case: str) -> None:
    """Token provisioning: HTTP Basic credentials of a user (username and password): others get no token."""
    user = service.user(password=PASSWORD)
    if case == "unknown user":
        stranger = b64encode(f"{service.unique()}:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {stranger}"}
    else:
        headers = basic(user, secrets.token_hex(8)) if case == "wrong password" else {}
    answer = service.anonymous.post(TOKENS, headers=headers, status=(401, 403))
    assert "key" not in answer and answer["detail"]
