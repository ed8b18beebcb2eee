"""The policy for new passwords: by the API, the forms and the command line alike; stored passwords stay valid."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.auth import crypto
from netinv_core.auth.models import User
from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

USERS = "/api/users/users/"
GOOD = "violet-anchor-37"
SHORT = "at least 12 characters"
EASY = "too easy to guess"
OWN = "the name or the address of its user"
REFUSED = [
    ("12345", SHORT),
    ("x7#kQ", SHORT),
    ("é" * 11, SHORT),
    ("123456789012", EASY),
    ("password1234", EASY),
    ("P@ssw0rd1234", EASY),
    ("passwordpassword", EASY),
    ("ｐａｓｓｗｏｒｄ１２３４", EASY),
    ("qwertyuiopas", EASY),
    ("aaaaaaaaaaaaaaaaaaaaaaaa", EASY),
]
ACCEPTED = [
    GOOD,
    "correct horse battery staple",
    "дождливый вечер в порту",
    "9" + "kw3!ü" * 12,
    "雨の夜に港で船を待つ人たち",
]


@pytest.fixture
def account(service: Service) -> Account:
    """An account with a password."""
    return service.user(password=PASSWORD)


def stored(service: Service, name: str) -> str:
    (row,) = service.rows(sa.select(User.__table__).where(User.__table__.c.username == name))
    return str(row.password)


@pytest.mark.parametrize(("password", "reason"), REFUSED)
def test_a_weak_password_is_refused_by_every_method(
    api: Api, unique: Unique, account: Account, password: str, reason: str
) -> None:
    body, path = {"username": unique(), "password": password}, f"{USERS}{account.id}/"
    answers = [
        api.post(USERS, body, status=400),
        *api.post(USERS, [body], status=400),
        api.patch(path, {"password": password}, status=400),
        api.put(path, body, status=400),
    ]
    for answer in answers:
        assert list(answer) == ["password"] and reason in answer["password"][0]


@pytest.mark.parametrize("password", ACCEPTED)
def test_long_passwords_of_any_characters_are_accepted(
    api: Api, unique: Unique, service: Service, password: str
) -> None:
    made = api.post(USERS, {"username": unique(), "password": password})
    assert crypto.verify_password(stored(service, made["username"]), password)


def test_a_password_is_not_the_name_or_the_address_of_its_user(api: Api, unique: Unique) -> None:
    name = f"{unique()}.someone"
    address = f"{name}@example.com"
    for password in (name, name.upper(), address):
        body = {"username": name, "email": address, "password": password}
        assert OWN in api.post(USERS, body, status=400)["password"][0]
    made = api.post(USERS, {"username": name, "password": GOOD})
    assert OWN in api.patch(made["url"], {"password": name}, status=400)["password"][0]


def test_passwords_of_128_characters_are_accepted_and_of_more_are_not(api: Api, unique: Unique) -> None:
    words = "rain over the harbour " * 6
    api.post(USERS, {"username": unique(), "password": f"7{words}"[:128]})
    refused = api.post(USERS, {"username": unique(), "password": f"7{words}"[:129]}, status=400)
    assert refused == {"password": ["Ensure this field has no more than 128 characters."]}


def test_the_settings_turn_the_policy_off(api: Api, unique: Unique, configured: Any) -> None:
    with configured(password_min_length=0):
        assert EASY in api.post(USERS, {"username": unique(), "password": "12345"}, status=400)["password"][0]
        api.post(USERS, {"username": unique(), "password": "x7#kQ2"})
    with configured(password_min_length=0, password_refuse_common=False):
        api.post(USERS, {"username": unique(), "password": "12345"})


def test_stored_passwords_stay_valid(service: Service) -> None:
    account = service.user(password="12345")
    Browser(service).sign_in(account)


def test_a_password_is_the_same_from_every_keyboard(api: Api, unique: Unique, service: Service) -> None:
    composed, decomposed = "Gebäude am Hafen", "Geba\u0308ude am Hafen"
    made = api.post(USERS, {"username": unique(), "password": decomposed})
    digest = stored(service, made["username"])
    assert crypto.verify_password(digest, composed) and crypto.verify_password(digest, decomposed)
    earlier = crypto._hasher.hash(decomposed)  # as earlier versions did
    assert crypto.verify_password(earlier, decomposed) and not crypto.verify_password(earlier, "Gebaude am Hafen")


def test_the_forms_name_the_fault_at_the_field(service: Service, account: Account) -> None:
    own = Browser(service, account)
    form = own.get("/user/password/").form()
    form["current"], form["password"], form["repeated"] = PASSWORD, "password1234", "password1234"
    assert EASY in form.submit(status=422).html.select_one("#error-password").text
    administrator = Browser(service, service.admin)
    form = administrator.get(f"/users/users/{account.id}/edit/").form()
    form["password"] = "12345"
    assert SHORT in form.submit(status=422).html.select_one("#error-password").text
    own.get("/user/profile/")
