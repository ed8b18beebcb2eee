"""A service below a path, such as ``https://example.net/netinv/``: by ``netinv.base_url``, or by ``SCRIPT_NAME``."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
import webtest

from netinv_testing import Service, Unique
from netinv_testing.client import PASSWORD

MOUNT = "/netinv"
BASE = f"http://localhost{MOUNT}"
ADDRESS = re.compile(r'\s(?:href|src|action|formaction|data-load|data-poll|data-inline)="([^"]*)"')
KEY = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")
FILTERED = re.compile(r"\{\{ [^}]*\|url \}\}")
MAX_PAGES = 150
ROOT = Path(__file__).parents[2]
Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def moved(app: Application) -> Application:
    """A server that mounts an application, and answers 404 to other paths."""

    def serve(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path != MOUNT and not path.startswith(f"{MOUNT}/"):
            start_response("404 Not Found", [("Content-Type", "text/plain")])
            return [b"not below the mount point"]
        return app({**environ, "SCRIPT_NAME": MOUNT, "PATH_INFO": path.removeprefix(MOUNT)}, start_response)

    return serve


def stripped(app: Application) -> Application:
    """A proxy that removes the prefix from paths."""
    return lambda environ, start: app({**environ, "PATH_INFO": environ["PATH_INFO"].removeprefix(MOUNT)}, start)


@pytest.fixture(params=["SCRIPT_NAME", "base_url", "base_url behind a proxy that removes the path"])
def mounted(request: pytest.FixtureRequest, service: Service) -> Iterator[webtest.TestApp]:
    """A client of a service at the mount point."""
    if request.param == "SCRIPT_NAME":
        yield client(moved(service.app))
    else:
        with service.configured(base_url=BASE):
            yield client(service.app if request.param == "base_url" else stripped(service.app))


def client(app: Application) -> webtest.TestApp:
    """A browser without JavaScript."""
    return webtest.TestApp(app, extra_environ={"HTTP_ORIGIN": "http://localhost", "HTTP_ACCEPT": "text/html"})


def signed_in(browser: webtest.TestApp, service: Service) -> webtest.TestApp:
    """A browser in which the administrator has signed in."""
    page = browser.get(f"{MOUNT}/login/?next=/dcim/sites/")
    form = page.forms[next(name for name in page.forms if "username" in page.forms[name].fields)]
    assert form.action == f"{MOUNT}/login/"
    form["username"], form["password"] = service.admin.username, PASSWORD
    answer = form.submit(status=303)
    assert answer.location == f"{MOUNT}/dcim/sites/"
    return browser


def json_of(client: webtest.TestApp, service: Service, path: str, status: int = 200) -> Any:
    """A JSON answer of the API for the administrator."""
    headers = {"Authorization": f"Token {service.admin.token}", "Accept": "application/json"}
    return client.get(f"{MOUNT}{path}", headers=headers, status=status).json


def test_urls_of_the_api_are_below_the_mount_point(mounted: webtest.TestApp, service: Service, unique: Unique) -> None:
    for _ in range(3):
        service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active"})
    page = json_of(mounted, service, "/api/dcim/sites/?limit=1&offset=1")
    assert page["next"] == f"{BASE}/api/dcim/sites/?limit=1&offset=2"
    assert page["previous"].startswith(f"{BASE}/api/dcim/sites/?")
    url = page["results"][0]["url"]
    assert url.startswith(f"{BASE}/api/dcim/sites/")
    assert json_of(mounted, service, url.removeprefix(BASE))["url"] == url
    assert json_of(mounted, service, "/api/")["dcim"] == f"{BASE}/api/dcim/"
    body = {"name": unique(), "status": "active"}
    headers = {"Authorization": f"Token {service.admin.token}", "Accept": "application/json"}
    created = mounted.post_json(f"{MOUNT}/api/dcim/sites/", body, headers=headers, status=201)
    assert created.headers["Location"] == created.json["url"]
    assert created.json["url"].startswith(f"{BASE}/api/dcim/sites/")


def test_the_openapi_document_names_the_mount_point(mounted: webtest.TestApp) -> None:
    assert mounted.get(f"{MOUNT}/api/swagger.json").json["servers"] == [{"url": f"{MOUNT}/api"}]
    page = mounted.get(f"{MOUNT}/api/docs/")
    assert "../swagger.json" in page.text
    assert mounted.get(urljoin(page.request.path, "assets/swagger-ui.css")).status_int == 200


def test_a_path_without_its_closing_slash_is_redirected_below_the_mount_point(
    mounted: webtest.TestApp, service: Service
) -> None:
    answer = mounted.get(f"{MOUNT}/api/docs", status=302)
    assert urlsplit(answer.headers["Location"]).path == f"{MOUNT}/api/docs/"


def test_signing_in_and_out_stays_below_the_mount_point(mounted: webtest.TestApp, service: Service) -> None:
    browser = signed_in(mounted, service)
    assert {cookie.path for cookie in browser.cookiejar} == {f"{MOUNT}/"}
    page = browser.get(f"{MOUNT}/dcim/sites/")
    forms = {form.action: form for form in page.forms.values()}
    left = forms[f"{MOUNT}/logout/"].submit(status=303)
    assert urlsplit(left.location).path.startswith(f"{MOUNT}/")
    assert browser.get(f"{MOUNT}/dcim/sites/", status=303).location.startswith(f"{MOUNT}/login/")


def test_a_form_of_another_origin_is_refused(mounted: webtest.TestApp, service: Service) -> None:
    browser = signed_in(mounted, service)
    browser.post(f"{MOUNT}/logout/", headers={"Origin": "http://elsewhere.example"}, status=403)


def test_an_object_is_created_by_its_page(mounted: webtest.TestApp, service: Service, unique: Unique) -> None:
    browser, name = signed_in(mounted, service), unique()
    page = browser.get(f"{MOUNT}/tenancy/tenants/add/")
    (form,) = [form for form in page.forms.values() if "name" in form.fields and form.method.upper() == "POST"]
    form["name"] = name
    created = form.submit(status=303)
    assert created.location.startswith(f"{MOUNT}/tenancy/tenants/")
    assert name in browser.get(created.location).text


def test_cookies_over_https_have_the_path_and_a_prefix_that_allows_it(service: Service) -> None:
    with service.configured(base_url=f"https://localhost{MOUNT}"):
        form = {"username": service.admin.username, "password": PASSWORD}
        environment = {"wsgi.url_scheme": "https", "HTTP_ORIGIN": "https://localhost"}
        answer = webtest.TestApp(service.app).post(f"{MOUNT}/login/", form, extra_environ=environment, status=303)
    (cookie,) = [value for name, value in answer.headers.items() if name == "Set-Cookie" and "session" in value]
    assert cookie.startswith("__Secure-netinv_session=")
    assert f"Path={MOUNT}/;" in f"{cookie};"
    assert "secure" in cookie.lower()


def test_a_text_that_looks_like_an_attribute_is_shown_unchanged(
    mounted: webtest.TestApp, service: Service, unique: Unique
) -> None:
    text = f"{unique()} href=\"/dcim/\" src='/x'"
    site = service.api.post("/api/dcim/sites/", {"name": text, "status": "active"})
    page = signed_in(mounted, service).get(f"{MOUNT}/dcim/sites/{site['id']}/")
    assert page.html.find("h1").get_text(strip=True) == text


def test_a_mount_point_is_encoded_in_urls(service: Service, unique: Unique) -> None:
    site = service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active"})
    page = below(service, "/Inventory of A & B", f"/dcim/sites/{site['id']}/").follow()
    form = page.forms[next(name for name in page.forms if "username" in page.forms[name].fields)]
    assert form.action == "/Inventory%20of%20A%20&%20B/login/"
    answer = page.test_app.get("/api/dcim/sites/", headers={"Authorization": f"Token {service.admin.token}"})
    assert "/Inventory%20of%20A%20&amp;%20B/api/dcim/sites/" in answer.text


def below(service: Service, mount: str, path: str) -> webtest.TestResponse:
    """The page at a path of a server that mounts the service."""
    environment = {"SCRIPT_NAME": mount, "HTTP_ACCEPT": "text/html", "HTTP_ORIGIN": "http://localhost"}
    return webtest.TestApp(service.app, extra_environ=environment).get(path)


def test_a_link_to_a_hidden_object_is_removed_below_the_mount_point(service: Service, unique: Unique) -> None:
    region = service.api.post("/api/dcim/regions/", {"name": unique(), "slug": unique()})
    site = service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active", "region": region["id"]})
    user = service.user(password=PASSWORD)
    service.permit("view", "dcim.site", users=[user.id])
    service.permit("view", "dcim.region", {"name": unique()}, users=[user.id])
    browser = client(moved(service.app))
    browser.post(f"{MOUNT}/login/", {"username": user.username, "password": PASSWORD}, status=303)
    page = browser.get(f"{MOUNT}/dcim/sites/{site['id']}/")
    assert region["name"] in page.text
    assert f"/dcim/regions/{region['id']}/" not in page.text


def test_links_in_texts_of_users_are_below_the_mount_point(
    mounted: webtest.TestApp, service: Service, unique: Unique
) -> None:
    text = "[inside](/dcim/racks/) [outside](https://example.net/dcim/)"
    site = service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active", "comments": text})
    page = signed_in(mounted, service).get(f"{MOUNT}/dcim/sites/{site['id']}/")
    assert page.html.find("a", string="inside")["href"] == f"{MOUNT}/dcim/racks/"
    assert page.html.find("a", string="outside")["href"] == "https://example.net/dcim/"


def test_every_address_in_a_template_passes_through_the_filter_url() -> None:
    templates = [file for folder in ROOT.glob("netinv_*") for file in folder.rglob("*.jinja2")]
    templates += (ROOT / "plugins").rglob("*.jinja2")
    unfiltered = [
        f"{file.name}: {address}"
        for file in templates
        for address in ADDRESS.findall(file.read_text(encoding="utf-8"))
        if not address.startswith(("#", "mailto:", "tel:")) and not FILTERED.match(address)
    ]
    assert len(templates) > 80
    assert unfiltered == []


@pytest.mark.slow
@pytest.mark.any_database
@pytest.mark.night
def test_no_address_of_a_page_leaves_the_mount_point(service: Service, unique: Unique) -> None:
    site = service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active"})
    rack = {"name": unique(), "site": site["id"], "status": "active"}
    rack = service.api.post("/api/dcim/racks/", rack)
    browser = signed_in(client(moved(service.app)), service)
    waiting = [f"{MOUNT}/", f"{MOUNT}/dcim/racks/{rack['id']}/", f"{MOUNT}/graphql/", f"{MOUNT}/api/dcim/sites/"]
    waiting += [f"{MOUNT}/user/profile/", f"{MOUNT}/search/?q=site", f"{MOUNT}/dcim/sites/{site['id']}/"]
    seen = {shape(path) for path in waiting}
    leaving, failed = [], []
    for count in range(MAX_PAGES):
        if count == len(waiting):
            break
        page = browser.get(waiting[count], expect_errors=True)
        if page.status_int >= 400:
            failed.append((waiting[count], page.status_int))
        if page.content_type not in ("text/html", "image/svg+xml"):
            continue
        for address in map(html.unescape, ADDRESS.findall(page.text)):
            full = urljoin(f"http://localhost{waiting[count]}", address)
            if urlsplit(full).netloc not in ("localhost", "localhost:80"):
                continue
            if not urlsplit(full).path.startswith(f"{MOUNT}/"):
                leaving.append((waiting[count], address))
            elif shape(address) not in seen and "/logout/" not in address:
                seen.add(shape(address))
                waiting.append(full.removeprefix("http://localhost"))
    assert leaving == []
    assert failed == []
    assert len(waiting) > 100


def shape(address: str) -> str:
    """A path without its ids; pages of one shape have links of the same kind."""
    return KEY.sub("*", urlsplit(address).path)
