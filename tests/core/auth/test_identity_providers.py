"""Identity providers: the hook, accounts of external users, and the header of a trusted proxy."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
import sqlalchemy as sa
import webtest
from sqlalchemy.engine import Engine

from netinv_core.auth.models import ExternalIdentity
from netinv_core.auth.providers import ExternalUser, IdentityProvider, providers_of
from netinv_core.errors import Denied, Unavailable
from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import table_of
from netinv_core.packages import PackageError
from netinv_core.registry import Registry
from netinv_signin import external_users
from netinv_testing import Account, Service, Unique
from tests.support.sign_in import sign_in_limits

pytestmark = pytest.mark.any_database  # hooks and headers

USERS = "/api/users/users/"
GROUPS = "/api/users/groups/"
TOKENS = "/api/users/tokens/"
PROXY = "192.0.2.10"
SETTINGS = {
    "netinv.header_user": "X-Remote-User",
    "netinv.header_groups": "X-Remote-Groups",
    "netinv.header_email": "X-Remote-Email",
    "netinv.header_superuser_group": "admins",
    "netinv.header_proxies": f"{PROXY} 2001:db8::/64",
    "netinv.header_sign_out_url": "https://sso.example.com/logout",
}
_links = table_of(ExternalIdentity)


@pytest.fixture(scope="module")
def proxied(engine: Engine) -> Service:
    """A service behind a proxy that authenticates users."""
    return Service(engine, SETTINGS)


class Visitor:
    """A browser behind the proxy, or elsewhere; keeps cookies."""

    def __init__(self, service: Service, address: str = PROXY, **headers: str) -> None:
        self.app = webtest.TestApp(service.app, lint=False, extra_environ={"REMOTE_ADDR": address})
        self.headers = {"Accept": "text/html", **{name.replace("_", "-"): text for name, text in headers.items()}}

    def get(self, path: str, status: int = 200) -> Any:
        return self.app.get(path, headers=self.headers, status=status)

    def sign_in(self, status: int = 303) -> Any:
        return self.get("/login/?next=/user/profile/", status=status)


def account_of(service: Service, username: str) -> Any:
    """The account with a name, with the names of its groups."""
    (account,) = service.api.get(USERS, {"username": username})["results"]
    return account | {"groups": sorted(group["display"] for group in account["groups"])}


@pytest.fixture
def groups(service: Service, unique: Unique) -> list[str]:
    """Names of two groups."""
    return sorted(service.api.post(GROUPS, {"name": unique()})["name"] for _ in range(2))


def external(unique: Unique, **values: Any) -> ExternalUser:
    """A new user of the provider ``sso``."""
    return ExternalUser(**{"provider": "sso", "subject": unique(), "username": unique(), **values})


# -- accounts


def sign_in(service: Service, user: ExternalUser) -> str:
    """The id of the account that a user gets."""
    return str(external_users.user_id_of(service.engine, service.registry, user))


def test_the_first_sign_in_creates_an_account_and_later_ones_find_it(service: Service, unique: Unique) -> None:
    user = external(unique, email="a@example.com", first_name="Ada", last_name="L")
    key = sign_in(service, user)
    account = account_of(service, user.username)
    assert (account["id"], account["email"], account["first_name"]) == (key, "a@example.com", "Ada")
    renamed = ExternalUser("sso", user.subject, unique(), email="b@example.com")
    assert sign_in(service, renamed) == key
    assert account_of(service, user.username)["email"] == "b@example.com"


def test_groups_are_set_exactly_at_every_sign_in(service: Service, unique: Unique, groups: list[str]) -> None:
    one, two = groups
    user = external(unique)
    for names, expected in (([one, two, "unknown"], [one, two]), ([two], [two]), (None, [two]), ([], [])):
        sign_in(service, ExternalUser("sso", user.subject, user.username, groups=names))
        assert account_of(service, user.username)["groups"] == expected, names


def test_what_a_group_may_ends_with_the_next_sign_in(service: Service, unique: Unique, groups: list[str]) -> None:
    account = service.user()
    service.permit("view", "tenancy.tenant", groups=[service.api.get(GROUPS, {"name": groups[0]})["results"][0]["id"]])
    with service.configured(sign_in_link_by_username=("sso",)):
        user = external(unique, username=account.username, groups=[groups[0]])
        assert sign_in(service, user) == account.id
    account.api.get("/api/tenancy/tenants/")
    sign_in(service, ExternalUser("sso", user.subject, user.username, groups=[]))
    account.api.get("/api/tenancy/tenants/", status=403)


def test_groups_are_created_by_the_setting(service: Service, unique: Unique) -> None:
    user = external(unique, groups=[unique(), unique()])
    with service.configured(sign_in_create_groups=True):
        sign_in(service, user)
    assert account_of(service, user.username)["groups"] == sorted(user.groups or ())


def test_an_existing_account_is_not_taken_over(service: Service, unique: Unique) -> None:
    """Not without the setting; with it, neither that of a superuser nor one that is linked to somebody else."""
    account, superuser = service.user(), service.user(superuser=True)
    with pytest.raises(Denied, match="exists already"):
        sign_in(service, external(unique, username=account.username))
    with service.configured(sign_in_link_by_username=("sso",)):
        first = external(unique, username=account.username)
        assert sign_in(service, first) == account.id
        for user in (external(unique, username=account.username), external(unique, username=superuser.username)):
            with pytest.raises(Denied, match="exists already"):
                sign_in(service, user)
        with pytest.raises(Denied, match="exists already"):
            sign_in(service, external(unique, provider="other", username=account.username))


def test_no_account_is_created_against_the_setting_or_for_an_invalid_name(service: Service, unique: Unique) -> None:
    with service.configured(sign_in_create_users=False), pytest.raises(Denied, match="no account"):
        sign_in(service, external(unique))
    for name in ("", "a b", "x" * 151, "\x00"):
        with pytest.raises(Denied, match="No account can be created"):
            sign_in(service, external(unique, username=name))


def test_names_that_databases_do_not_take_are_refused(service: Service, unique: Unique) -> None:
    with pytest.raises(Denied, match="No account can be created"):
        sign_in(service, external(unique, subject="a\x00b"))
    user = external(unique, groups=["a\x00b", "x" * 200, ""], email="no address\x00")
    sign_in(service, user)
    assert (account_of(service, user.username)["groups"], account_of(service, user.username)["email"]) == ([], "")


def test_an_inactive_account_is_refused(service: Service, unique: Unique) -> None:
    user = external(unique)
    key = sign_in(service, user)
    service.api.patch(f"{USERS}{key}/", {"is_active": False})
    with pytest.raises(Denied, match="not active"):
        sign_in(service, user)


def test_a_deleted_account_leaves_no_link(service: Service, unique: Unique) -> None:
    user = external(unique)
    key = sign_in(service, user)
    service.api.delete(f"{USERS}{key}/")
    assert not service.rows(sa.select(_links).where(_links.c.subject == user.subject))
    assert sign_in(service, user) != key


# -- the header of a trusted proxy


@pytest.mark.night
def test_the_proxy_signs_users_in(proxied: Service, unique: Unique, groups: list[str]) -> None:
    name = unique()
    visitor = Visitor(
        proxied, X_Remote_User=name, X_Remote_Groups=f"{groups[0]}, {groups[1]}", X_Remote_Email="é@e.org"
    )
    assert visitor.get("/dcim/sites/", status=303).headers["Location"].startswith("/login/?next=")
    assert visitor.sign_in().headers["Location"] == "/user/profile/"
    assert name in visitor.get("/user/profile/").text
    assert account_of(proxied, name)["groups"] == groups
    Visitor(proxied, "2001:db8::1", X_Remote_User=name, X_Remote_Groups=groups[1]).sign_in()
    assert account_of(proxied, name)["groups"] == [groups[1]]


@pytest.mark.parametrize("address", ["192.0.2.11", "127.0.0.1", "", "::ffff:192.0.2.11"])
def test_the_header_of_others_does_not_count(proxied: Service, unique: Unique, address: str) -> None:
    page = Visitor(proxied, address, X_Remote_User=unique(), X_Forwarded_For=PROXY).sign_in(status=200)
    assert "Set-Cookie" not in page.headers


def test_the_session_ends_where_the_proxy_names_another_user(proxied: Service, unique: Unique) -> None:
    visitor = Visitor(proxied, X_Remote_User=unique())
    visitor.sign_in()
    visitor.get("/user/profile/")
    signed_in = dict(visitor.headers)
    for other in (unique(), ""):
        visitor.headers = signed_in | {"X-Remote-User": other}
        visitor.get("/user/profile/", status=303)
    visitor.headers = signed_in
    visitor.get("/user/profile/")
    visitor.app.extra_environ["REMOTE_ADDR"] = "192.0.2.99"
    visitor.get("/user/profile/", status=303)


def test_superusers_are_those_of_the_group(proxied: Service, unique: Unique) -> None:
    name = unique()
    for names, status in (("admins", 200), ("others", 403)):
        visitor = Visitor(proxied, X_Remote_User=name, X_Remote_Groups=names)
        visitor.sign_in()
        visitor.get("/system/", status=status)


def test_the_header_does_not_authenticate_the_api(proxied: Service, unique: Unique) -> None:
    headers = {"X-Remote-User": proxied.admin.username, "Accept": "application/json"}
    app = webtest.TestApp(proxied.app, lint=False, extra_environ={"REMOTE_ADDR": PROXY})
    assert app.get("/api/users/users/", headers=headers, expect_errors=True).status_int == 403


def test_an_account_that_is_not_linked_is_named_on_the_page(proxied: Service) -> None:
    page = Visitor(proxied, X_Remote_User=proxied.admin.username).sign_in(status=403)
    assert "exists already" in page.text and "Set-Cookie" not in page.headers


def test_the_sign_out_leads_to_that_of_the_proxy_and_not_back_in(proxied: Service, unique: Unique) -> None:
    visitor = Visitor(proxied, X_Remote_User=unique())
    visitor.sign_in()
    headers = visitor.headers | {"Sec-Fetch-Site": "same-origin"}
    page = visitor.app.post("/logout/", headers=headers, status=200)
    assert page.html.select_one("main a")["href"] == "https://sso.example.com/logout"
    assert "Set-Cookie" not in visitor.get("/login/").headers


@pytest.mark.parametrize("path", ["https://evil.example", "//evil.example", "/\\evil.example"])
def test_the_sign_in_leads_to_this_service_only(proxied: Service, unique: Unique, path: str) -> None:
    visitor = Visitor(proxied, X_Remote_User=unique())
    assert visitor.get(f"/login/?next={path}", status=303).headers["Location"] == "/"


# -- providers that check passwords


@pytest.fixture
def directory(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Names with their passwords in a directory; ``error`` is raised instead of an answer."""
    known: dict[str, Any] = {}

    def check(registry: Any, username: str, password: str) -> ExternalUser | None:
        if "error" in known:
            raise known["error"]
        return ExternalUser("directory", username, username) if known.get(username) == password else None

    provider = IdentityProvider("directory", check_password=check)
    monkeypatch.setitem(providers_of(service.registry), "directory", provider)
    yield known


def provision(service: Service, username: str, password: str, status: int = 201) -> Any:
    """The answer to the request for a token with a password."""
    app = webtest.TestApp(service.app, lint=False)
    encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
    return app.post(TOKENS, headers={"Authorization": f"Basic {encoded}"}, expect_errors=True, status=status).json


def test_a_password_of_a_provider_is_accepted_by_form_and_api(
    service: Service, unique: Unique, directory: dict[str, Any]
) -> None:
    name = unique()
    directory[name] = "pass word"
    provision(service, name, "pass word", status=403)  # the account is new, and may not create tokens
    service.permit("add", "users.token", users=[account_of(service, name)["id"]])
    provision(service, name, "pass word")
    for wrong in ("other", ""):
        assert provision(service, name, wrong, status=403) == {"detail": "Invalid username/password."}
    app = webtest.TestApp(service.app, lint=False)
    form = {"username": name, "password": "pass word", "next": "/user/profile/"}
    app.post("/login/", form, headers={"Sec-Fetch-Site": "same-origin"}, status=303)
    app.get("/user/profile/", status=200)


def test_the_password_of_an_account_does_not_depend_on_a_provider(
    service: Service, make_user: Callable[..., Account], directory: dict[str, Any]
) -> None:
    account = make_user(("add", "users.token"), password="local")
    directory["error"] = Unavailable("The directory cannot be reached.")
    provision(service, account.username, "local")
    assert provision(service, account.username, "wrong", status=503) == {"detail": "The directory cannot be reached."}


def test_spellings_of_one_name_share_their_attempts(
    service: Service, unique: Unique, directory: dict[str, Any]
) -> None:
    name = unique()
    assert name.startswith("t")
    full_width = f"\uff34{name[1:]}"
    directory[name] = "pass word"
    with sign_in_limits(service, sign_in_failures_pair=4, sign_in_window=86400.0):
        for spelling in (name, f"{name.upper()} ", f" {name}\u3000", f"\u00ad{full_width}"):
            provision(service, spelling, "wrong", status=403)
        for spelling in (full_width, name, name.upper(), f"{name}\u00a0"):
            provision(service, spelling, "pass word", status=429)


def test_a_provider_that_knows_the_user_counts_by_them(
    service: Service, unique: Unique, directory: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = providers_of(service.registry)["directory"]
    aliased = dataclasses.replace(provider, resolve=lambda registry, username: username.partition("+")[0])
    monkeypatch.setitem(providers_of(service.registry), "directory", aliased)
    name = unique()
    with sign_in_limits(service, sign_in_failures_pair=3, sign_in_window=86400.0):
        for alias in ("a", "b", "c"):
            provision(service, f"{name}+{alias}", "wrong", status=403)
        provision(service, f"{name}+d", "wrong", status=429)


def test_a_provider_that_is_down_is_no_failed_attempt(
    service: Service, unique: Unique, directory: dict[str, Any]
) -> None:
    name = unique()
    with sign_in_limits(service, sign_in_failures_pair=3, sign_in_window=86400.0):
        directory["error"] = Unavailable("The directory cannot be reached.")
        for _ in range(6):
            provision(service, name, "pass word", status=503)
        del directory["error"]
        for _ in range(3):
            provision(service, name, "wrong", status=403)
        provision(service, name, "wrong", status=429)


def test_a_provider_opens_no_account_that_is_not_its_own(
    service: Service, make_user: Callable[..., Account], directory: dict[str, Any]
) -> None:
    account = make_user(superuser=True, password="local")
    directory[account.username] = "theirs"
    assert provision(service, account.username, "theirs", status=403) == {"detail": "Invalid username/password."}


def test_stored_passwords_are_refused_by_the_setting(service: Service, make_user: Callable[..., Account]) -> None:
    account = make_user(("add", "users.token"), password="local")
    with service.configured(password_sign_in=False):
        provision(service, account.username, "local", status=403)
        assert 'name="password"' not in webtest.TestApp(service.app, lint=False).get("/login/").text


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (["knock"], "returns str instead of IdentityProvider"),
        ([IdentityProvider("a"), IdentityProvider("a")], "two identity"),
    ],
)
def test_a_package_with_wrong_providers_is_not_started(result: Any, reason: str) -> None:
    registry = Registry("sqlite", {})
    package = ModuleType("wrong")
    vars(package)["netinv_identity_providers"] = hookimpl(lambda registry: result)
    registry.add("wrong", package)
    with pytest.raises(PackageError) as failure:
        providers_of(registry.freeze())
    assert failure.value.package == "wrong" and reason in str(failure.value.__cause__)
