"""Sign-in by an LDAP directory: Debian's ``slapd`` as a process of its own, with StartTLS."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import webtest
from sqlalchemy.engine import Engine

from netinv_testing import Service, Unique
from tests.ldap.slapd import GROUPS, PEOPLE, SERVICE, SERVICE_PASSWORD, Directory
from tests.support.sign_in import sign_in_limits

pytestmark = [pytest.mark.directory, pytest.mark.any_database]
TOKENS = "/api/users/tokens/"
PASSWORD = "correct horse"
WRONG = {"detail": "Invalid username/password."}
DOWN = {"detail": "The directory cannot be reached. Try again later."}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Directory]:
    directory = Directory(tmp_path_factory.mktemp("slapd"))
    yield directory
    directory.stop()


def settings(directory: Directory, **others: str) -> dict[str, str]:
    values = {
        "url": directory.url,
        "ca_file": str(directory.certificate),
        "bind_dn": SERVICE,
        "bind_password": SERVICE_PASSWORD,
        "user_base": PEOPLE,
        "group_base": GROUPS,
        "group_prefix": "netinv-",
        "superuser_group": "netinv-admins",
        **others,
    }
    return {f"netinv.ldap_{name}": text for name, text in values.items()}


@pytest.fixture(scope="module")
def service(engine: Engine, directory: Directory) -> Service:
    return Service(engine, settings(directory, nested_groups="search"))


def sign_in(service: Service, username: str, password: str = PASSWORD) -> Any:
    """The browser of a user who has posted the form, and the answer."""
    app = webtest.TestApp(service.app, lint=False)
    form = {"username": username, "password": password, "next": "/user/profile/"}
    answer = app.post("/login/", form, headers={"Sec-Fetch-Site": "same-origin"}, expect_errors=True)
    return app, answer


def provision(service: Service, username: str, password: str = PASSWORD, status: int = 403) -> Any:
    """The answer to the request for a token with a password."""
    app = webtest.TestApp(service.app, lint=False)
    encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
    return app.post(TOKENS, headers={"Authorization": f"Basic {encoded}"}, expect_errors=True, status=status).json


def account_of(service: Service, username: str) -> Any:
    (account,) = service.api.get("/api/users/users/", {"username": username})["results"]
    return account | {"groups": sorted(group["display"] for group in account["groups"])}


def groups(service: Service, unique: Unique, count: int) -> list[str]:
    """Names of new groups of netinv."""
    return sorted(service.api.post("/api/users/groups/", {"name": unique()})["name"] for _ in range(count))


def test_a_user_of_the_directory_signs_in(service: Service, directory: Directory, unique: Unique) -> None:
    name = unique()
    directory.person(name, PASSWORD)
    app, answer = sign_in(service, name)
    assert answer.status_int == 303
    app.get("/user/profile/", status=200)
    account = account_of(service, name)
    assert (account["email"], account["first_name"], account["last_name"]) == (f"{name}@example.com", "Ada", "Lovelace")
    sign_in(service, name.upper())  # uid has no case; the account is the same
    assert account_of(service, name)["id"] == account["id"]


def test_a_password_of_the_directory_gets_a_token(service: Service, directory: Directory, unique: Unique) -> None:
    name = unique()
    directory.person(name, PASSWORD)
    sign_in(service, name)
    service.permit("add", "users.token", users=[account_of(service, name)["id"]])
    assert len(provision(service, name, status=201)["key"]) == 40


def test_spellings_of_one_entry_share_their_attempts(service: Service, directory: Directory, unique: Unique) -> None:
    name = unique()
    directory.person(name, PASSWORD)
    with sign_in_limits(service, sign_in_failures_pair=3, sign_in_window=86400.0):
        for spelling in (name, f" {name.upper()}", f"{name}  "):
            assert provision(service, spelling, "wrong") == WRONG
        for spelling in (name, f"  {name} ", name.upper()):
            provision(service, spelling, status=429)


def test_what_is_wrong_is_not_told(service: Service, directory: Directory, unique: Unique) -> None:
    name = unique()
    directory.person(name, PASSWORD)
    for username, password in ((name, "wrong"), (name, ""), (unique(), PASSWORD), ("", PASSWORD)):
        assert provision(service, username, password) == WRONG
        assert "Invalid username/password." in sign_in(service, username, password)[1].text


@pytest.mark.parametrize("pattern", ["*", "{}*", "{})(uid=*", "*)(|(uid=*", "\\2a", "{}\x00", "é*("])
def test_user_names_are_no_filters(service: Service, directory: Directory, unique: Unique, pattern: str) -> None:
    name = unique()
    directory.person(name, PASSWORD)
    assert provision(service, pattern.format(name)) == WRONG


def test_groups_are_set_exactly_those_in_groups_included(
    service: Service, directory: Directory, unique: Unique
) -> None:
    one, two, three = groups(service, unique, 3)
    name = unique()
    person = directory.person(name, PASSWORD)
    inner = directory.group(f"netinv-{one}", person)
    middle = directory.group(f"team ({unique()})", inner)  # a name that filters must escape, without the prefix
    outer = directory.group(f"netinv-{two}", middle)
    directory.group(three, person)
    sign_in(service, name)
    assert account_of(service, name)["groups"] == [one, two]
    directory.delete(outer)
    sign_in(service, name)
    assert account_of(service, name)["groups"] == [one]
    directory.delete(inner)
    sign_in(service, name)
    assert account_of(service, name)["groups"] == []


def test_groups_that_contain_each_other_end_the_search(service: Service, directory: Directory, unique: Unique) -> None:
    (one,) = groups(service, unique, 1)
    name, other = unique(), unique()
    person = directory.person(name, PASSWORD)
    directory.group(f"netinv-{one}", person, f"cn={other},{GROUPS}")
    directory.group(other, f"cn=netinv-{one},{GROUPS}")
    sign_in(service, name)
    assert account_of(service, name)["groups"] == [one]


def test_superusers_are_those_of_the_group(service: Service, directory: Directory, unique: Unique) -> None:
    name = unique()
    group = directory.group("netinv-admins", directory.person(name, PASSWORD))
    sign_in(service, name)[0].get("/system/", status=200)
    directory.delete(group)
    sign_in(service, name)[0].get("/system/", status=403)


def test_groups_in_groups_are_left_out_by_default(engine: Engine, directory: Directory, unique: Unique) -> None:
    service = Service(engine, settings(directory))
    one, two = groups(service, unique, 2)
    name = unique()
    directory.group(f"netinv-{two}", directory.group(f"netinv-{one}", directory.person(name, PASSWORD)))
    sign_in(service, name)
    assert account_of(service, name)["groups"] == [one]


def test_active_directory_finds_groups_in_groups_by_its_rule(
    engine: Engine, directory: Directory, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``slapd`` does not know the rule, and finds nothing by it: the filter is compared."""
    from ldap.ldapobject import SimpleLDAPObject

    filters: list[str] = []
    search = SimpleLDAPObject.search_s

    def note(self: Any, base: str, scope: int, condition: str, attributes: Any) -> Any:
        filters.append(condition)
        return search(self, base, scope, condition, attributes)

    monkeypatch.setattr(SimpleLDAPObject, "search_s", note)
    service, name = Service(engine, settings(directory, nested_groups="chain")), unique()
    person = directory.person(name, PASSWORD)
    sign_in(service, name)
    assert filters[2:] == [f"(&(objectClass=groupOfNames)(|(member:1.2.840.113556.1.4.1941:={person})))"]


def test_an_account_of_netinv_is_not_taken_over(service: Service, directory: Directory, unique: Unique) -> None:
    name = unique()
    service.api.post("/api/users/users/", {"username": name, "password": "kestrel over 40 harbours"})
    directory.person(name, PASSWORD)
    assert provision(service, name) == WRONG


def test_several_entries_of_one_name_are_none(service: Service, directory: Directory, unique: Unique) -> None:
    name = unique()
    directory.person(name, PASSWORD)
    directory.person(name, PASSWORD, dn=f"cn={name},{PEOPLE}")
    assert provision(service, name) == WRONG


# -- connections


@pytest.mark.parametrize(
    "changed",
    [
        {"url": "ldap://127.0.0.1:1"},
        {"bind_password": "wrong"},
        {"ca_file": ""},
        {"url": "ldap://localhost:{port}"},
        {"start_tls": "false"},
        {"subject_attribute": "nothing"},
    ],
    ids=["nobody answers", "service account", "unknown certificate", "another host", "not encrypted", "no subject"],
)
def test_a_directory_that_cannot_be_used_is_said_to(
    engine: Engine, directory: Directory, unique: Unique, changed: dict[str, str]
) -> None:
    name = unique()
    directory.person(name, PASSWORD)
    changed = {key: text.format(port=directory.port) for key, text in changed.items()}
    service = Service(engine, settings(directory, **changed))
    assert provision(service, name, status=503) == DOWN
    local = service.user(("add", "users.token"), password="local")
    provision(service, local.username, "local", status=201)


def test_settings_are_checked_at_the_start(directory: Directory, engine: Engine, tmp_path: Path) -> None:
    for name, text in (("user_filter", "(uid=x)"), ("nested_groups", "perhaps")):
        with pytest.raises(ValueError, match=f"netinv.ldap_{name}"):
            Service(engine, settings(directory, **{name: text}))
