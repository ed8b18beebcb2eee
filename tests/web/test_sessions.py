"""Sign-in and sign-out of browsers, the limits of sessions, requests of other sites, and the headers of pages."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterator
from typing import Any, Literal

import argon2
import pytest
import sqlalchemy as sa
import webtest

from netinv_core import crypto
from netinv_core.models.base import now, table_of
from netinv_testing import Account, Service
from netinv_web.auth.sessions import WebSession
from netinv_web.testing import Browser
from tests.support.sign_in import sign_in_limits

PASSWORD = "correct horse battery"
HTML = {"Accept": "text/html"}
_sessions = table_of(WebSession)
MakeUser = Callable[..., Account]
Configured = Callable[..., Any]


@pytest.fixture
def user(make_user: MakeUser) -> Account:
    """An account that may view and change sites."""
    return make_user(("view add change", "dcim.site"), ("view", "extras.status"), password=PASSWORD)


@pytest.fixture
def visitor(service: Service) -> Browser:
    """A browser without session."""
    return Browser(service)


@pytest.fixture
def browser(service: Service, user: Account) -> Browser:
    """The user's browser."""
    return Browser(service, user)


def age(service: Service, browser: Browser, **columns: datetime.timedelta) -> None:
    """Moves times of the browser's session into the past."""
    digest = hashlib.sha256(browser.cookies["netinv_session"].encode()).hexdigest()
    values = {name: now() - span for name, span in columns.items()}
    with service.engine.begin() as connection:
        changed = connection.execute(sa.update(_sessions).where(_sessions.c.key_hash == digest).values(**values))
    assert changed.rowcount == 1


# -- sign-in


def test_the_sign_in_leads_to_where_one_was_going(service: Service, visitor: Browser, user: Account) -> None:
    refused = visitor.get("/dcim/sites/?name=x", status=303)
    page = visitor.get(refused.headers["Location"])
    form = page.forms[0]
    form["username"], form["password"] = user.username, PASSWORD
    assert form.submit(status=303).headers["Location"] == "/dcim/sites/?name=x"
    visitor.get("/dcim/sites/?name=x", status=200)


@pytest.mark.parametrize(
    "following",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "/\\/evil.example/",
        "\\\\evil.example",
        "/\t/evil.example/",
        "/\n/evil.example/",
        "\t//evil.example/",
        " //evil.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "evil.example",
        "http:evil.example",
        "///evil.example",
        "/x\r\nSet-Cookie: a=b",
        "/\u2028/evil.example",
        "",
    ],
)
def test_the_sign_in_leads_to_no_other_site(service: Service, user: Account, following: str) -> None:
    browser = Browser(service)
    form = {"username": user.username, "password": PASSWORD, "next": following}
    response = browser.post("/login/", form, status=303)
    assert response.headers["Location"] == "/"
    assert "a" not in browser.cookies
    assert browser.get("/login/", {"next": following}, status=303).headers["Location"] == "/"


def test_the_sign_in_leads_to_a_path_in_any_script(service: Service, user: Account) -> None:
    form = {"username": user.username, "password": PASSWORD, "next": "/dcim/sites/?name=日本"}
    response = Browser(service).post("/login/", form, status=303)
    assert response.headers["Location"].startswith("/dcim/sites/?name=%E6")


def test_a_signed_in_browser_is_led_on_from_the_sign_in_page(browser: Browser) -> None:
    assert browser.get("/login/?next=/dcim/sites/", status=303).headers["Location"] == "/dcim/sites/"


@pytest.mark.parametrize("name", ["nobody at all", "", "x" * 5000, "a\x00b"])
def test_an_unknown_name_and_a_wrong_password_are_told_alike(visitor: Browser, user: Account, name: str) -> None:
    wrong = visitor.post("/login/", {"username": user.username, "password": "wrong"}, status=403)
    unknown = visitor.post("/login/", {"username": name, "password": "wrong"}, status=403)
    assert wrong.html.select_one("[role=alert]").text == unknown.html.select_one("[role=alert]").text
    assert "netinv_session" not in visitor.cookies


def test_files_instead_of_texts_are_no_sign_in(visitor: Browser, user: Account) -> None:
    for name in ("username", "password", "next"):
        form = {"username": user.username, "password": "wrong", "next": "/"}
        del form[name]
        visitor.post("/login/", form, upload_files=[(name, "x.txt", b"x")], status=403)


def test_an_unknown_name_takes_the_work_of_a_wrong_password(
    visitor: Browser, user: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password is verified for either, with the same parameters."""
    verified: list[argon2.Parameters] = []

    class Hasher(argon2.PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
            verified.append(argon2.extract_parameters(str(hash)))
            return super().verify(hash, password)

    usual = crypto._hasher
    hasher = Hasher(time_cost=usual.time_cost, memory_cost=usual.memory_cost, parallelism=usual.parallelism)
    monkeypatch.setattr(crypto, "_hasher", hasher)
    for name in (user.username, "nobody of this name"):
        visitor.post("/login/", {"username": name, "password": "wrong"}, status=(403, 429))
    assert len(verified) == 2 and verified[0] == verified[1]


def test_guessing_is_throttled_with_a_page(service: Service, visitor: Browser, make_user: MakeUser) -> None:
    account = make_user(password=PASSWORD)
    form = {"username": account.username, "password": "wrong"}
    with sign_in_limits(service, sign_in_failures_pair=2):
        for _ in range(2):
            visitor.post("/login/", form, status=403)
        page = visitor.post("/login/", {**form, "password": PASSWORD}, status=429)
    assert 0 < int(page.headers["Retry-After"]) <= 3600
    assert page.html.select_one("[role=alert]").text
    assert page.html.select_one("#username")["value"] == account.username
    assert page.html.select_one("#password").get("value") is None


def test_an_inactive_account_cannot_sign_in(service: Service, visitor: Browser, user: Account) -> None:
    service.api.patch(f"/api/users/users/{user.id}/", {"is_active": False})
    visitor.post("/login/", {"username": user.username, "password": PASSWORD}, status=403)


def test_a_sign_in_from_another_site_is_refused(service: Service, user: Account) -> None:
    form = {"username": user.username, "password": PASSWORD}
    browser = webtest.TestApp(service.app)
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {}):
        browser.post("/login/", form, headers={**HTML, **headers}, status=403)
    assert "netinv_session" not in browser.cookies


def test_each_sign_in_has_a_key_of_its_own(service: Service, user: Account) -> None:
    browser = Browser(service, user)
    first = browser.cookies["netinv_session"]
    browser.sign_in(user)
    assert browser.cookies["netinv_session"] != first


# -- sign-out and limits


def test_the_sign_out_ends_the_session_and_clears_the_cache(service: Service, browser: Browser) -> None:
    key = browser.cookies["netinv_session"]
    response = browser.post("/logout/", status=303)
    assert response.headers["Clear-Site-Data"] == '"cache"'
    assert response.headers["Location"] == "/login/"
    assert not browser.cookies.get("netinv_session")
    browser.set_cookie("netinv_session", key)
    browser.get("/dcim/sites/", status=303)


def test_signing_out_everywhere_ends_all_sessions(service: Service, browser: Browser, user: Account) -> None:
    other = Browser(service, user)
    browser.post("/user/sessions/", {"all": "1"}, status=303)
    for each in (browser, other):
        each.get("/dcim/sites/", status=303)


def test_a_session_ends_without_requests_for_the_idle_time(
    service: Service, browser: Browser, configured: Configured
) -> None:
    with configured(session_idle_timeout=3600):
        age(service, browser, last_used=datetime.timedelta(minutes=59))
        browser.get("/dcim/sites/", status=200)
        age(service, browser, last_used=datetime.timedelta(minutes=61))
        browser.get("/dcim/sites/", status=303)


def test_a_request_begins_the_idle_time_anew(service: Service, browser: Browser, configured: Configured) -> None:
    with configured(session_idle_timeout=3600):
        age(service, browser, last_used=datetime.timedelta(minutes=59))
        browser.get("/dcim/sites/", status=200)
    with service.engine.begin() as connection:
        digest = hashlib.sha256(browser.cookies["netinv_session"].encode()).hexdigest()
        statement = sa.select(_sessions.c.last_used).where(_sessions.c.key_hash == digest)
        assert now() - connection.execute(statement).scalar_one() < datetime.timedelta(minutes=1)


def test_a_session_ends_after_its_lifetime(service: Service, browser: Browser, configured: Configured) -> None:
    with configured(session_lifetime=86400):
        age(service, browser, created=datetime.timedelta(hours=25))
        browser.get("/dcim/sites/", status=303)


def test_the_key_is_not_stored(service: Service, browser: Browser) -> None:
    key = browser.cookies["netinv_session"]
    with service.engine.begin() as connection:
        stored = connection.execute(sa.select(_sessions.c.key_hash)).scalars().all()
    assert key not in stored
    assert hashlib.sha256(key.encode()).hexdigest() in stored


@pytest.mark.parametrize("key", ["", "x", "é", "a" * 5000, "' OR 1=1 --"])
def test_a_wrong_key_is_no_session(service: Service, key: str) -> None:
    headers = {**HTML, "Cookie": f"netinv_session={key}".encode().decode("latin-1")}
    webtest.TestApp(service.app, lint=False).get("/dcim/sites/", headers=headers, status=303)


# -- the cookie


def test_the_cookie_is_not_readable_by_scripts_and_not_sent_by_other_sites(service: Service, user: Account) -> None:
    response = Browser(service).sign_in(user)
    (cookie,) = [value for value in response.headers.getall("Set-Cookie") if value.startswith("netinv_session=")]
    attributes = {part.strip().partition("=")[0].lower(): part.partition("=")[2] for part in cookie.split(";")}
    assert {"httponly", "max-age"} <= attributes.keys()
    assert (attributes["samesite"], attributes["path"]) == ("Lax", "/")
    assert "domain" not in attributes and "secure" not in attributes


def test_the_cookie_is_bound_to_the_host_over_https(service: Service, user: Account) -> None:
    environment = {"wsgi.url_scheme": "https", "HTTP_ORIGIN": "https://localhost", "HTTP_ACCEPT": "text/html"}
    browser = webtest.TestApp(service.app, extra_environ={**environment, "HTTP_HOST": "localhost"})
    form = {"username": user.username, "password": PASSWORD}
    response = browser.post("/login/", form, status=303)
    (cookie,) = [value for value in response.headers.getall("Set-Cookie") if "netinv_session=" in value]
    assert cookie.startswith("__Host-netinv_session=")
    assert "secure" in cookie.lower() and "domain" not in cookie.lower() and "Path=/;" in cookie


def test_a_cookie_without_the_prefix_is_no_session_over_https(service: Service, browser: Browser) -> None:
    environment = {"wsgi.url_scheme": "https", "HTTP_HOST": "localhost", "HTTP_ACCEPT": "text/html"}
    secure = webtest.TestApp(service.app, extra_environ=environment)
    secure.get("/dcim/sites/", headers={"Cookie": f"netinv_session={browser.cookies['netinv_session']}"}, status=303)


# -- requests of other sites

SAME, OTHER = "http://localhost", "https://evil.example"
# Sec-Fetch-Site, Origin, and whether the request is from a page of the service.
SOURCES = [
    ("same-origin", SAME, True),
    ("same-origin", None, True),
    (None, SAME, True),
    (None, "HTTP://LOCALHOST", True),
    ("same-site", SAME, False),
    ("cross-site", SAME, False),
    ("cross-site", OTHER, False),
    ("none", None, False),
    ("none", SAME, False),
    ("", SAME, False),
    (None, OTHER, False),
    (None, "null", False),
    (None, "", False),
    (None, "http://localhost.evil.example", False),
    (None, "http://localhost:8080", False),
    (None, "https://localhost", False),
    (None, "localhost", False),
    (None, None, False),
]


@pytest.fixture
def sent(service: Service, user: Account) -> Iterator[Callable[..., Any]]:
    """``sent(method, path, site, origin, body)``: the answer to a request with the cookie of the user's session."""
    key = Browser(service, user).cookies["netinv_session"]
    app = webtest.TestApp(service.app)

    def send(method: str, path: str, site: str | None, origin: str | None, **options: Any) -> Any:
        headers = {"Cookie": f"netinv_session={key}", **options.pop("headers", {})}
        headers |= {} if site is None else {"Sec-Fetch-Site": site}
        headers |= {} if origin is None else {"Origin": origin}
        return app.request(path, method=method, headers=headers, expect_errors=True, **options)

    yield send


@pytest.mark.parametrize(("site", "origin", "own"), SOURCES)
def test_a_form_is_accepted_from_the_service_itself_alone(
    service: Service, sent: Callable[..., Any], site: str | None, origin: str | None, own: bool
) -> None:
    name = service.unique()
    form = {"name": name, "slug": name, "status": "active"}
    body = "&".join(f"{key}={value}" for key, value in form.items()).encode()
    headers = {**HTML, "Content-Type": "application/x-www-form-urlencoded"}
    response = sent("POST", "/dcim/sites/add/", site, origin, headers=headers, body=body)
    created = service.api.get("/api/dcim/sites/", {"name": name})["count"]
    assert (response.status_int, created) == ((303, 1) if own else (403, 0)), response.html.select_one("#error-summary")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(("site", "origin", "own"), SOURCES)
def test_the_api_accepts_the_cookie_from_the_service_itself_alone(
    sent: Callable[..., Any], method: str, site: str | None, origin: str | None, own: bool
) -> None:
    """The body is not valid, so an accepted request is 400."""
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    response = sent(method, "/api/dcim/sites/", site, origin, headers=headers, body=b"[1]")
    refused = "another site" in response.text
    assert refused is not own
    assert response.status_int == 403 if refused or method == "DELETE" else response.status_int == 400


@pytest.mark.parametrize(("site", "origin", "own"), SOURCES)
def test_reading_needs_no_proof(sent: Callable[..., Any], site: str | None, origin: str | None, own: bool) -> None:
    """A link of another site leads to a page; other sites cannot read the answer."""
    for path in ("/dcim/sites/", "/api/dcim/sites/"):
        response = sent("GET", path, site, origin, headers=HTML)
        assert response.status_int == 200
        assert "Access-Control-Allow-Origin" not in response.headers


def test_another_site_cannot_sign_a_user_out(sent: Callable[..., Any]) -> None:
    assert sent("POST", "/logout/", "cross-site", OTHER, headers=HTML).status_int == 403
    assert sent("GET", "/logout/", None, None, headers=HTML).status_int == 405
    assert sent("GET", "/dcim/sites/", None, None, headers=HTML).status_int == 200


def test_a_token_needs_no_proof_of_origin(service: Service, user: Account) -> None:
    headers = {"Authorization": f"Token {user.token}", "Content-Type": "application/json", "Origin": OTHER}
    webtest.TestApp(service.app).request("/api/dcim/sites/", method="POST", headers=headers, body=b"[1]", status=400)


def test_the_origin_may_be_that_of_the_setting_base_url(
    service: Service, sent: Callable[..., Any], configured: Configured
) -> None:
    headers = {"Content-Type": "application/json"}
    with configured(base_url="https://netinv.example.org"):
        answer = sent("POST", "/api/dcim/sites/", None, "https://netinv.example.org", headers=headers, body=b"[1]")
    assert answer.status_int == 400


# -- headers


@pytest.mark.parametrize("path", ["/", "/login/", "/dcim/sites/", "/dcim/sites/add/", "/user/profile/", "/nowhere/"])
def test_every_page_has_the_security_headers(service: Service, user: Account, path: str) -> None:
    browser = Browser(service) if path == "/login/" else Browser(service, user)
    response = browser.get(path, expect_errors=True)
    assert response.content_type == "text/html"
    policy = dict(part.strip().partition(" ")[::2] for part in response.headers["Content-Security-Policy"].split(";"))
    assert (policy["default-src"], policy["script-src"], policy["style-src"]) == ("'none'", "'self'", "'self'")
    assert (policy["frame-ancestors"], policy["base-uri"], policy["form-action"]) == ("'none'", "'none'", "'self'")
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] in ("same-origin", "no-referrer", "strict-origin-when-cross-origin")
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert "Cookie" in response.headers["Vary"]


def test_an_unchanged_page_is_304(browser: Browser) -> None:
    tag = browser.get("/dcim/sites/").headers["ETag"]
    answer = browser.get("/dcim/sites/", headers={"If-None-Match": tag}, status=304)
    assert answer.body == b""
    assert browser.get("/dcim/sites/?q=nothing", headers={"If-None-Match": tag}, status=200).headers["ETag"] != tag


def test_a_page_of_one_user_is_not_304_for_another(service: Service, browser: Browser, make_user: MakeUser) -> None:
    tag = browser.get("/dcim/sites/").headers["ETag"]
    other = Browser(service, make_user(("view", "dcim.site"), password=PASSWORD))
    other.get("/dcim/sites/", headers={"If-None-Match": tag}, status=200)


# -- anonymous visitors


def test_visitors_are_led_to_the_sign_in(visitor: Browser) -> None:
    for path in ("/", "/dcim/sites/", "/dcim/sites/add/"):
        assert visitor.get(path, status=303).headers["Location"].startswith("/login/?next=")


def test_visitors_see_what_is_exempt_and_nothing_else(
    service: Service, visitor: Browser, configured: Configured
) -> None:
    site = service.api.post("/api/dcim/sites/", {"name": service.unique(), "status": "active"})
    tenant = service.api.post("/api/tenancy/tenants/", {"name": service.unique()})
    with configured(exempt_view_permissions=("dcim.site",)):
        home = visitor.get("/", status=200)
        menu = [link["href"] for link in home.html.select("nav.rail ul a")]
        assert menu == ["/dcim/sites/"], menu
        assert visitor.get("/dcim/sites/", {"name": site["name"]}, status=200).html.select("#results tbody tr")
        page = visitor.get(f"/dcim/sites/{site['id']}/", status=200)
        assert site["name"] in page.html.h1.text
        assert not [link for link in page.html.select("a") if "/edit/" in link["href"] or "/delete/" in link["href"]]
        for path in (
            "/tenancy/tenants/",
            f"/tenancy/tenants/{tenant['id']}/",
            "/dcim/sites/add/",
            f"/dcim/sites/{site['id']}/edit/",
            f"/dcim/sites/{site['id']}/delete/",
            "/user/profile/",
            "/extras/webhook-deliveries/queue/",
        ):
            assert visitor.get(path, status=303).headers["Location"].startswith("/login/?next="), path
        visitor.post(f"/dcim/sites/{site['id']}/delete/", status=(303, 403))
        visitor.post("/demo/load/", status=(303, 403))
    service.api.get(site["url"])


# -- errors as pages


def test_a_missing_page_helps(browser: Browser) -> None:
    for path in (
        "/nowhere/",
        "/dcim/nothings/",
        "/dcim/sites/00000000-0000-0000-0000-000000000000/",
        "/dcim/sites/x y/",
    ):
        page = browser.get(path, status=404).html
        assert page.h1.text
        assert page.select_one("main a[href='/']")
        assert page.select_one("nav.rail")


def test_a_forbidden_page_helps(browser: Browser) -> None:
    page = browser.get("/tenancy/tenants/", status=403).html
    assert page.h1.text and page.select_one("main a[href='/']") and page.select_one("nav.rail")


@pytest.mark.parametrize("accept", ["application/json", "*/*", "", "image/png"])
def test_errors_for_other_clients_are_json(service: Service, user: Account, accept: str) -> None:
    browser = Browser(service, user)
    for path, status in (("/nowhere/", 404), ("/tenancy/tenants/", 403)):
        answer = browser.get(path, headers={"Accept": accept}, status=status)
        assert answer.content_type == "application/json"
        assert answer.json["detail"]


def test_a_wrong_method_is_405(browser: Browser) -> None:
    for method in ("PUT", "PATCH", "DELETE"):
        answer = browser.request("/dcim/sites/", method=method, status=405)
        assert "GET" in answer.headers["Allow"]


def test_a_missing_slash_is_added(browser: Browser) -> None:
    answer = browser.get("/dcim/sites?name=x", expect_errors=True)
    assert answer.status_int in (301, 302, 307, 308)
    assert answer.headers["Location"].endswith("/dcim/sites/?name=x")


def test_a_key_of_a_browsers_request_takes_one_statement(service: Service) -> None:
    """The statement that finds the session finds the stored answer; a repetition takes no other."""
    account = service.user(("add view", "tenancy.tenant"), password=PASSWORD)
    browser = Browser(service, account)
    headers = {"Accept": "application/json", "Idempotency-Key": service.unique()}
    bodies = [{"name": service.unique()} for _ in range(3)]
    browser.post_json("/api/tenancy/tenants/", bodies[0], headers={"Accept": "application/json"}, status=201)
    counts = []
    for body, sent in [(bodies[1], {"Accept": "application/json"}), (bodies[2], headers), (bodies[2], headers)]:
        with service.statements() as found:
            answer = browser.post_json("/api/tenancy/tenants/", body, headers=sent, status=201)
        counts.append(len(found))
    assert answer.headers["Idempotency-Replayed"] == "true"
    assert (counts[1] - counts[0], counts[2]) == (1, 1), found


def test_the_key_of_an_ended_session_is_not_that_of_a_token(service: Service) -> None:
    """An answer stored for one user is not repeated to another whose token comes with the cookie of the former."""
    first, second = (service.user(("add view", "tenancy.tenant"), password=PASSWORD) for _ in range(2))
    browser, names = Browser(service, first), [service.unique(), service.unique()]
    headers = {"Accept": "application/json", "Idempotency-Key": service.unique()}
    browser.post_json("/api/tenancy/tenants/", {"name": names[0]}, headers=headers, status=201)
    age(service, browser, last_used=datetime.timedelta(days=30))
    headers["Authorization"] = f"Token {second.api.token}"
    answer = browser.post_json("/api/tenancy/tenants/", {"name": names[1]}, headers=headers, status=201)
    assert answer.json["name"] == names[1] and "Idempotency-Replayed" not in answer.headers
