"""Sign-in by OpenID Connect with a provider in a process of its own, behind a proxy that changes its answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import webtest
from sqlalchemy.engine import Engine

from netinv_testing import Service, Unique
from tests.support import REPOSITORY
from tests.support.http_server import served
from tests.support.servers import free_port

pytestmark = [pytest.mark.directory, pytest.mark.any_database]
LIBRARIES = os.environ.get("NETINV_TEST_PROVIDER", str(REPOSITORY / ".venv" / "provider"))
PASSWORD = "correct horse battery staple"
USERS = ["ada", "bob", "eve"]
REFUSED = "did not confirm your identity"
DOWN = "cannot be reached"


class Provider:
    """The provider, as its proxy shows it. ``change`` is called with the answers of the token endpoint."""

    def __init__(self) -> None:
        from joserfc.jwk import JWKRegistry

        self.port = free_port()
        self.key: Any = JWKRegistry.generate_key("RSA", 2048)
        self.key.ensure_kid()
        self.issuer = ""
        self.change: Callable[[dict[str, Any]], dict[str, Any]] = dict
        self.failing: str = ""  # path of an endpoint that answers 503
        self.process: Any = None

    def start(self, issuer: str) -> None:
        self.issuer = issuer
        self.process = subprocess.Popen(
            [sys.executable, str(REPOSITORY / "tests/oidc/provider_process.py")],
            env={**os.environ, "PYTHONPATH": LIBRARIES},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        client = {
            "client_id": "netinv",
            "client_secret": "client secret",
            "redirect_uris": ["http://localhost/login/oidc/callback/"],
            "post_logout_redirect_uris": ["http://localhost/login/"],
        }
        key = self.key.as_dict(private=True)
        self.say(
            {
                "port": self.port,
                "host": urlsplit(issuer).netloc,
                "key": key,
                "users": dict.fromkeys(USERS, PASSWORD),
                "client": client,
            }
        )

    def say(self, message: dict[str, Any]) -> None:
        """Sends a message to the process, and waits until it took effect."""
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline(), "the provider has ended"

    def sign(self, claims: dict[str, Any], key: Any = None) -> str:
        """A signed ID token."""
        from joserfc import jwt

        key = key or self.key
        return jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key)

    def __call__(self, environ: Any, start_response: Any) -> Any:
        """The proxy."""
        request = webtest.app.TestRequest(environ)
        if self.failing and request.path == self.failing:
            start_response("503 Service Unavailable", [])
            return [b""]
        answer = requests.request(
            request.method,
            f"http://127.0.0.1:{self.port}{request.path_qs}",
            data=request.body,
            headers={name: text for name, text in request.headers.items() if name.lower() != "content-length"},
            allow_redirects=False,
            timeout=30,
        )
        body = answer.content
        if request.path.endswith("/token") and answer.ok:
            body = json.dumps(self.change(answer.json())).encode()
        dropped = {"content-length", "connection", "transfer-encoding", "date", "server"}
        headers = [(name, text) for name, text in answer.raw.headers.items() if name.lower() not in dropped]
        start_response(f"{answer.status_code} {answer.reason}", headers)
        return [body]


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    provider = Provider()
    with served(provider) as address:
        provider.start(address)
        yield provider
        provider.process.kill()
        provider.process.wait()


@pytest.fixture
def provider(running: Provider) -> Iterator[Provider]:
    running.say({})
    yield running
    running.change, running.failing = dict, ""


@pytest.fixture(scope="module")
def service(engine: Engine, running: Provider) -> Service:
    return Service(engine, settings(running.issuer))


def settings(issuer: str, **others: str) -> dict[str, str]:
    values = {
        "issuer": issuer,
        "client_id": "netinv",
        "client_secret": "client secret",
        "scopes": "openid profile email groups",
        "groups_claim": "groups",
        "group_prefix": "netinv-",
        "superuser_group": "netinv-admins",
        "allow": "127.0.0.1",
        **others,
    }
    return {f"netinv.oidc_{name}": text for name, text in values.items()}


class Browser:
    """A browser with its cookies of netinv and of the provider."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.app = webtest.TestApp(service.app, lint=False)
        self.session = requests.Session()
        self.session.cookies.set_policy(DefaultCookiePolicy(rfc2965=True))
        self.headers = {"Accept": "text/html"}

    def begin(self, following: str = "/user/profile/") -> str:
        """The URL at the provider to which the button leads."""
        page = self.app.get(f"/login/?next={following}", headers=self.headers)
        (path,) = [link["href"] for link in page.html.select("a.button") if "/login/oidc/" in link["href"]]
        url: str = self.app.get(path, headers=self.headers, status=303).headers["Location"]
        return url

    def at_provider(self, url: str, username: str) -> str:
        """Signs in at the provider; the URL of netinv to which it leads back."""
        answer = self.session.get(url, allow_redirects=False)
        for _ in range(8):
            if answer.is_redirect:
                target = requests.compat.urljoin(answer.url, answer.headers["Location"])
                if target.startswith("http://localhost/"):
                    return target
                answer = self.session.get(target, allow_redirects=False)
            elif 'name="login"' in answer.text:
                answer = self.session.post(answer.url, data={"login": username}, allow_redirects=False)
            elif 'name="password"' in answer.text:
                answer = self.session.post(answer.url, data={"password": PASSWORD}, allow_redirects=False)
            else:
                break
        raise AssertionError(f"{answer.status_code} {answer.url} {answer.text[:500]}")

    def complete(self, url: str, status: int = 303) -> Any:
        """The answer of netinv to the provider's response."""
        return self.app.get(url.removeprefix("http://localhost"), headers=self.headers, status=status)

    def sign_in(self, username: str, status: int = 303, following: str = "/user/profile/") -> Any:
        return self.complete(self.at_provider(self.begin(following), username), status)

    def is_signed_in(self) -> bool:
        return bool(self.app.get("/user/profile/", headers=self.headers, expect_errors=True).status_int == 200)


@pytest.fixture
def browser(service: Service) -> Browser:
    return Browser(service)


def account_of(service: Service, username: str) -> Any:
    (account,) = service.api.get("/api/users/users/", {"username": username})["results"]
    return account | {"groups": sorted(group["display"] for group in account["groups"])}


# -- sign-in


def test_the_button_signs_in_and_leads_to_where_one_was_going(provider: Provider, browser: Browser) -> None:
    url = browser.begin()
    query = parse_qs(urlsplit(url).query)
    assert query["code_challenge_method"] == ["S256"] and query["response_type"] == ["code"]
    assert len(query["code_challenge"][0]) == 43 and query["nonce"] != query["state"]
    answer = browser.complete(browser.at_provider(url, "ada"))
    assert answer.headers["Location"] == "/user/profile/" and browser.is_signed_in()
    account = account_of(browser.service, "ada")
    assert (account["email"], account["last_name"]) == ("ada@example.com", "Ada")


def test_groups_are_those_of_the_claim_at_every_sign_in(
    provider: Provider, service: Service, browser: Browser, unique: Unique
) -> None:
    """Those with the prefix, without it; a user who is removed from one has lost it with the next sign-in."""
    one, two = sorted(service.api.post("/api/users/groups/", {"name": unique()})["name"] for _ in range(2))
    provider.say({f"netinv-{one}": ["bob"], f"netinv-{two}": ["bob"], one: ["bob"], "netinv-admins": ["bob"]})
    browser.sign_in("bob")
    assert account_of(service, "bob")["groups"] == [one, two]
    browser.app.get("/system/", headers=browser.headers, status=200)
    provider.say({f"netinv-{two}": ["bob"]})
    browser = Browser(service)
    browser.sign_in("bob")
    assert account_of(service, "bob")["groups"] == [two]
    browser.app.get("/system/", headers=browser.headers, status=403)


def test_an_existing_account_is_linked_only_where_the_setting_allows_it(
    provider: Provider, service: Service, browser: Browser
) -> None:
    service.api.post("/api/users/users/", {"username": "eve", "password": "kestrel over 40 harbours"})
    page = browser.sign_in("eve", status=403)
    assert "exists already" in page.text and not browser.is_signed_in()
    provider.say({})
    with service.configured(sign_in_link_by_username=("oidc",)):
        browser.sign_in("eve")
    assert browser.is_signed_in()


def test_the_sign_out_ends_the_session_at_the_provider(provider: Provider, browser: Browser) -> None:
    browser.sign_in("ada")
    headers = browser.headers | {"Sec-Fetch-Site": "same-origin"}
    page = browser.app.post("/logout/", headers=headers, status=200)
    url = page.html.select_one("main a")["href"]
    assert page.html.select_one("meta[http-equiv=refresh]")["content"] == f"0; url={url}"
    assert url.startswith(f"{provider.issuer}/") and "id_token_hint=" in url and not browser.is_signed_in()
    answer = browser.session.get(url, allow_redirects=False)
    assert answer.headers["Location"].startswith("http://localhost/login/")
    assert 'name="login"' in browser.session.get(browser.begin()).text, "the provider asks for the user again"


@pytest.mark.parametrize("path", ["https://evil.example", "//evil.example", "/\\evil.example"])
def test_the_sign_in_leads_to_this_service_only(provider: Provider, browser: Browser, path: str) -> None:
    url = browser.app.get("/login/oidc/", {"next": path}, status=303).headers["Location"]
    assert browser.complete(browser.at_provider(url, "ada")).headers["Location"] == "/"


# -- what proves nothing


def refused(browser: Browser, url: str) -> None:
    assert REFUSED in browser.complete(url, status=403).text
    assert not browser.is_signed_in()


def test_the_state_must_be_that_of_the_browser(provider: Provider, service: Service, browser: Browser) -> None:
    url = browser.at_provider(browser.begin(), "ada")
    refused(browser, re.sub(r"state=[^&]*", "state=other", url))
    refused(browser, url)  # the failure has ended the attempt
    stolen = Browser(service).at_provider(Browser(service).begin(), "ada")
    refused(browser, stolen)
    browser.begin()
    refused(browser, stolen)


def test_the_response_of_another_issuer_is_refused(provider: Provider, browser: Browser) -> None:
    url = browser.at_provider(browser.begin(), "ada")
    assert "iss=" in url
    refused(browser, re.sub(r"iss=[^&]*", "iss=https%3A%2F%2Fevil.example", url))


def test_a_code_is_bound_to_the_attempt_by_pkce(provider: Provider, browser: Browser, caplog: Any) -> None:
    """The provider itself refuses a code with the verifier of another attempt."""
    url = browser.at_provider(browser.begin(), "ada")
    state = parse_qs(urlsplit(browser.begin()).query)["state"][0]
    refused(browser, re.sub(r"state=[^&]*", f"state={state}", url))
    assert "Code challenge failed" in caplog.text


def test_an_error_of_the_provider_is_no_sign_in(provider: Provider, browser: Browser) -> None:
    state = parse_qs(urlsplit(browser.begin()).query)["state"][0]
    refused(browser, f"/login/oidc/callback/?error=access_denied&state={state}")


def claims_of(answer: dict[str, Any]) -> dict[str, Any]:
    from joserfc.jws import extract_compact

    claims: dict[str, Any] = json.loads(extract_compact(answer["id_token"].encode()).payload)
    return claims


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"nonce": "other"}, "'nonce'"),
        ({"nonce": None}, "'nonce'"),
        ({"exp": int(time.time()) - 3600}, "expired"),
        ({"aud": "another client"}, "'aud'"),
        ({"iss": "https://evil.example"}, "'iss'"),
        ({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, "'at_hash'"),
    ],
    ids=["nonce", "no nonce", "expired", "audience", "issuer", "hash"],
)
def test_an_id_token_with_wrong_claims_is_refused(
    provider: Provider, browser: Browser, caplog: Any, changed: dict[str, Any], reason: str
) -> None:
    url = browser.at_provider(browser.begin(), "ada")

    def change(answer: dict[str, Any]) -> dict[str, Any]:
        claims = {name: value for name, value in (claims_of(answer) | changed).items() if value is not None}
        return answer | {"id_token": provider.sign(claims)}

    provider.change = change
    refused(browser, url)
    assert reason in caplog.text


UNSIGNED = "eyJhbGciOiJub25lIn0"  # {"alg":"none"}


@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (lambda provider, answer: provider.sign(claims_of(answer), other_key(None)), "No key"),
        (lambda provider, answer: provider.sign(claims_of(answer), other_key(provider.key.kid)), "BadSignature"),
        (lambda provider, answer: f"{UNSIGNED}.{answer['id_token'].split('.')[1]}.", "'none' is not allowed"),
        (lambda provider, answer: "", "DecodeError"),
    ],
    ids=["another key", "another key with its name", "unsigned", "nothing"],
)
def test_an_id_token_that_others_signed_is_refused(
    provider: Provider, browser: Browser, caplog: Any, forge: Any, reason: str
) -> None:
    url = browser.at_provider(browser.begin(), "ada")
    provider.change = lambda answer: answer | {"id_token": forge(provider, answer)}
    refused(browser, url)
    assert reason in caplog.text


def other_key(kid: str | None) -> Any:
    """A key that is not the provider's, under its id or one of its own."""
    from joserfc.jwk import JWKRegistry

    key: Any = JWKRegistry.generate_key("RSA", 2048, {"kid": kid} if kid else None)
    key.ensure_kid()
    return key


# -- a provider that cannot be reached


def test_a_provider_that_fails_is_said_to(provider: Provider, browser: Browser) -> None:
    url = browser.at_provider(browser.begin(), "ada")
    provider.failing = "/oauth/token"
    assert DOWN in browser.complete(url, status=503).text


def test_without_the_provider_passwords_are_still_accepted(engine: Engine, unique: Unique) -> None:
    service = Service(engine, settings(f"http://127.0.0.1:{free_port()}"))
    browser = Browser(service)
    page = browser.app.get("/login/oidc/?next=/", status=503)
    assert DOWN in page.text and 'name="password"' in page.text


def test_internal_addresses_need_the_setting(
    running: Provider, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    service = Service(engine, settings(running.issuer, allow=""))
    assert DOWN in Browser(service).app.get("/login/oidc/", status=503).text
    assert "netinv.oidc_allow" in caplog.text
