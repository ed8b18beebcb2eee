"""Signing in with a password: guessing is slowed down, and tells nothing."""

from __future__ import annotations

import base64
import datetime
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import argon2
import pytest
import sqlalchemy as sa

from netinv_core import crypto
from netinv_core.auth.models import SignInCounter
from netinv_core.models.base import table_of
from netinv_signin import passwords
from netinv_testing import Account, Api, Service
from tests.support.log_lines import LogLines
from tests.support.sign_in import sign_in_limits
from tests.support.threads import at_once

TOKENS = "/api/users/tokens/"
WRONG = {"detail": "Invalid username/password."}
LIMITS = {
    "sign_in_failures_pair": 3,
    "sign_in_failures_account": 5,
    "sign_in_failures_address": 8,
    "sign_in_window": 86400.0,
}
counters = table_of(SignInCounter)
_addresses = itertools.count(1)

SignIn = Callable[..., Any]


@pytest.fixture
def guarded(service: Service) -> Iterator[None]:
    """Few failures are allowed, for a day."""
    with sign_in_limits(service, **LIMITS):
        yield


@pytest.fixture
def account(make_user: Any) -> Account:
    """Somebody with a password."""
    found: Account = make_user(("view add", "users.token"), password="right")
    return found


@pytest.fixture
def sign_in(service: Service) -> SignIn:
    """``sign_in(username, password, address)``: the response to a request for tokens with a password."""

    def send(username: str, password: str, address: str, **headers: str) -> Any:
        client = Api(service.app, None)
        client._app.extra_environ = {"REMOTE_ADDR": address}
        encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
        return client.send("GET", TOKENS, headers={"Authorization": f"Basic {encoded}", **headers})

    return send


def address() -> str:
    """An address that no other test uses."""
    number = next(_addresses)
    return f"198.51.{number // 256}.{number % 256}"


def statuses(sign_in: SignIn, times: int, username: str, password: str, where: str) -> list[int]:
    return [sign_in(username, password, where).status_int for _ in range(times)]


@pytest.mark.usefixtures("guarded")
def test_guessing_from_one_address_ends(sign_in: SignIn, account: Account) -> None:
    here = address()
    assert statuses(sign_in, 3, account.username, "wrong", here) == [403, 403, 403]
    for password in ("wrong", "right"):
        refused = sign_in(account.username, password, here)
        assert refused.status_int == 429 and 0 < int(refused.headers["Retry-After"]) <= 86400
        assert refused.json == {
            "detail": f"Too many attempts to sign in. Try again in {refused.headers['Retry-After']} seconds."
        }
    assert sign_in(account.username, "right", address()).status_int == 200
    assert account.api.get(TOKENS)["count"] == 1  # a token is never refused for it


@pytest.mark.usefixtures("guarded")
def test_guessing_from_many_addresses_ends(sign_in: SignIn, account: Account) -> None:
    assert [sign_in(account.username, "wrong", address()).status_int for _ in range(6)] == [403] * 5 + [429]
    assert sign_in(account.username, "right", address()).status_int == 429


@pytest.mark.usefixtures("guarded")
def test_nobody_locks_out_whoever_signed_in_before(sign_in: SignIn, account: Account) -> None:
    home = address()
    assert sign_in(account.username, "right", home).status_int == 200
    assert [sign_in(account.username, "wrong", address()).status_int for _ in range(6)] == [403] * 5 + [429]
    assert sign_in(account.username, "right", home).status_int == 200
    assert (
        sign_in(account.username, "right", address()).status_int == 200
    )  # signing in has cleared the account's counter
    assert statuses(sign_in, 4, account.username, "wrong", home) == [403, 403, 403, 429]


@pytest.mark.usefixtures("guarded")
def test_one_address_does_not_try_many_names(sign_in: SignIn, account: Account, unique: Any) -> None:
    here = address()
    assert [sign_in(unique(), "wrong", here).status_int for _ in range(9)] == [403] * 8 + [429]
    assert sign_in(account.username, "right", here).status_int == 429


@pytest.mark.usefixtures("guarded")
def test_an_own_account_does_not_clear_the_counter_of_an_address(
    sign_in: SignIn, account: Account, unique: Any
) -> None:
    here, seen = address(), []
    for _ in range(9):
        assert sign_in(account.username, "right", here).status_int == 200
        seen.append(sign_in(unique(), "wrong", here).status_int)
    assert seen == [403] * 8 + [429]


@pytest.mark.usefixtures("guarded")
def test_a_network_of_ipv6_is_one_address(sign_in: SignIn, account: Account) -> None:
    number = next(_addresses)
    hosts = [f"2001:db8:{number:x}:1::{host}" for host in (1, 2, 3, 4)]
    assert [sign_in(account.username, "wrong", host).status_int for host in hosts] == [403, 403, 403, 429]
    assert sign_in(account.username, "right", f"2001:db8:{number:x}:2::1").status_int == 200
    mapped = address()
    assert statuses(sign_in, 2, account.username, "wrong", f"::ffff:{mapped}") + statuses(
        sign_in, 2, account.username, "wrong", mapped
    ) == [403, 403, 403, 429]


@pytest.mark.usefixtures("guarded")
def test_a_header_does_not_change_the_address(sign_in: SignIn, account: Account) -> None:
    here = address()
    headers = [
        {"X-Forwarded-For": address(), "Forwarded": f"for={address()}", "X-Real-Ip": address()} for _ in range(4)
    ]
    assert [sign_in(account.username, "wrong", here, **header).status_int for header in headers] == [403, 403, 403, 429]


@pytest.mark.usefixtures("guarded")
def test_signing_in_clears_what_failed_before(sign_in: SignIn, account: Account) -> None:
    here = address()
    for _ in range(3):
        assert statuses(sign_in, 2, account.username, "wrong", here) == [403, 403]
        assert sign_in(account.username, "right", here).status_int == 200


@pytest.mark.usefixtures("guarded")
def test_failures_are_forgotten_in_time(service: Service, sign_in: SignIn, account: Account) -> None:
    here = address()
    assert statuses(sign_in, 4, account.username, "wrong", here) == [403, 403, 403, 429]
    with service.unit_of_work() as uow:
        yesterday = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=86401)
        uow.execute(sa.update(counters).values(since=yesterday))
    assert statuses(sign_in, 4, account.username, "wrong", here) == [403, 403, 403, 429]


@pytest.mark.usefixtures("guarded")
def test_an_unknown_an_inactive_and_a_known_account_answer_alike(
    sign_in: SignIn, make_user: Any, account: Account, unique: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one verification of a hash each, which is what takes the time, and the same number of attempts."""
    verified: list[str] = []

    class Counting(argon2.PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Any:
            verified.append(str(hash))
            return super().verify(hash, password)

    monkeypatch.setattr(crypto, "_hasher", Counting(time_cost=1, memory_cost=64, parallelism=1))
    inactive, without = make_user(active=False, password="right"), make_user()
    for username in (unique(), inactive.username, without.username, account.username, "no\x00body", "x" * 2000, ""):
        verified.clear()
        answers = [
            sign_in(username, "right" if username == inactive.username else "wrong", here) for here in [address()] * 4
        ]
        assert [(answer.status_int, answer.json) for answer in answers[:3]] == [(403, WRONG)] * 3, username
        assert answers[3].status_int == 429
        assert len(verified) == 3 and all("$argon2id$v=19$m=64,t=1,p=1$" in found for found in verified)


@pytest.mark.usefixtures("guarded")
def test_failures_are_logged_without_what_was_sent(
    sign_in: SignIn, account: Account, unique: Any, log_lines: LogLines
) -> None:
    """A user who mistakes the fields types a password as the name."""
    here, typed = address(), unique()
    for username in (typed, account.username):
        statuses(sign_in, 4, username, "pass" + typed, here)
    lines = log_lines.events("sign_in.failed")
    assert all(line["network"] == here for line in lines) and typed not in log_lines.text
    assert [line["account"] for line in lines] == [None] * 4 + [account.id] * 4
    reasons = ["unknown_account"] * 3 + ["throttled"] + ["wrong_password"] * 3 + ["throttled"]
    assert [line["reason"] for line in lines] == reasons


@pytest.mark.usefixtures("guarded")
def test_names_that_nobody_has_do_not_fill_the_table(
    service: Service, sign_in: SignIn, unique: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "BUCKETS", 2)
    with service.configured(sign_in_failures_pair=0, sign_in_failures_account=0, sign_in_failures_address=0):
        for _ in range(20):
            assert sign_in(unique(), "wrong", address()).status_int == 403
    assert {row.bucket for row in service.rows(sa.select(counters.c.bucket).where(counters.c.bucket < 6))} == set(
        range(6)
    )


def test_attempts_at_the_same_time_are_all_counted(service: Service, sign_in: SignIn, account: Account) -> None:
    here, most, places = address(), 4, 2
    with service.configured(
        **LIMITS | {"sign_in_failures_pair": most, "sign_in_failures_account": 0, "sign_in_failures_address": 0},
        password_checks=places,
    ):
        answers = at_once(lambda _: sign_in(account.username, "wrong", here).status_int, 12)
        later = statuses(sign_in, 4 + most, account.username, "wrong", here)
    assert set(answers) <= {403, 429} and (answers + later).count(403) <= most + places - 1
    assert later[-1] == 429


def test_many_names_at_the_same_time_are_no_error(service: Service, sign_in: SignIn, unique: Any) -> None:
    """New counters, and one that all of them share. Without limits, each attempt is answered alike."""
    here, names = address(), [unique() for _ in range(48)]
    limits = {**{name: 0 for name in LIMITS if name.startswith("sign_in_failures")}, "password_checks": 8}
    with service.configured(**limits):
        answers = at_once(
            lambda number: [sign_in(name, "wrong", here).status_int for name in names[number * 4 : number * 4 + 4]], 12
        )
    assert answers == [[403] * 4] * 12


def test_verifying_passwords_keeps_no_more_threads_than_it_may(
    service: Service, sign_in: SignIn, account: Account
) -> None:
    admitted, working = passwords._semaphores(3)
    with service.configured(password_checks=3):
        for _ in range(6):
            admitted.acquire()
        refused = sign_in(account.username, "right", address())
        assert (refused.status_int, refused.headers["Retry-After"]) == (429, "1")
        assert account.api.get(TOKENS)["count"] == 1
        for _ in range(6):
            admitted.release()
        assert sign_in(account.username, "right", address()).status_int == 200
    assert working._value == 3


def test_a_request_with_a_token_asks_no_counter(service: Service, account: Account) -> None:
    with service.statements() as found:
        account.api.get(TOKENS)
    assert found and not [text for text in found if "sign_in" in text]
