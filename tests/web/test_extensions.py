"""Parts that packages add to the web interface, and what happens to pages when a part fails."""

from __future__ import annotations

import datetime
import importlib.util
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from netinv_core.packages import discover
from netinv_testing import Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.extensions import Snippet, extensions_of
from netinv_web.testing import Browser
from tests.support.databases import ENDLESS
from tests.support.jobs import JOBS
from tests.support.plugins import PLUGIN_FIXTURES, add_distribution, installation
from tests.support.waiting import until

pytestmark = pytest.mark.any_database
TENANTS, SITES, WINDOWS = "/api/tenancy/tenants/", "/api/dcim/sites/", "/api/plugins/example/maintenance-windows/"
FAILURE = re.compile(r"[0-9a-f]{12}")
CALM = "/tenancy/tenants/?description=calm"  # the list of the tenants of these tests
Visit = Callable[..., tuple[Service, Browser]]
SlowParts = Callable[[], None]


@pytest.fixture(scope="module")
def visited(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[Service, Browser, ModuleType]:
    """A service with the package ``visitor``, an administrator's browser, and the module of the package."""
    with pytest.MonkeyPatch.context() as patches, installation(tmp_path_factory.mktemp("visitor"), patches) as install:
        install("visitor")
        service = Service(engine, {**JOBS, "netinv.package_failures": "0"})
        module = sys.modules["netinv_visitor"]
    return service, Browser(service, service.admin), module


@pytest.fixture
def slow_parts(visited: tuple[Service, Browser, ModuleType], monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowParts]:
    """Ends the slow parts, which otherwise end after the test."""
    module, woken = visited[2], threading.Event()
    monkeypatch.setattr(module, "SLOW", "")
    monkeypatch.setattr(module, "woken", woken)

    def end() -> None:
        woken.set()
        until(lambda: all(thread.name != "netinv-part" for thread in threading.enumerate()))

    yield end
    end()


@pytest.fixture
def visit(visited: tuple[Service, Browser, ModuleType], monkeypatch: pytest.MonkeyPatch) -> Visit:
    """``visit("panel")``: the service and the browser, while a part of the package fails when it is shown."""
    service, browser, module = visited

    def start(fails: str = "") -> tuple[Service, Browser]:
        monkeypatch.setattr(module, "fails", fails)
        return service, browser

    return start


def tenant_of(service: Service) -> dict[str, Any]:
    """A tenant with a description."""
    tenant: dict[str, Any] = service.api.post(TENANTS, {"name": service.unique(), "description": "calm"})
    return tenant


def path_of(item: dict[str, Any]) -> str:
    """The path of the page of an object."""
    return str(item["url"]).removeprefix("http://localhost/api")


# -- every part is shown


@pytest.mark.night
def test_a_package_adds_parts_to_the_pages_of_another(visit: Visit) -> None:
    service, browser = visit()
    assert service.api.get("/api/status/")["broken-packages"] == {}
    tenant = tenant_of(service)
    page = browser.get(path_of(tenant))
    assert "good <b>day</b>" in page.words, "text of a package is no markup"
    assert page.html.select("#panel-greeting") and not page.html.select("#panel-none")
    assert "Invite" in page.words and "Never" not in page.words
    assert "Mind the <step>" in page.words
    assert "Guests 7" in page.words
    assert "no guests" in browser.get(f"{path_of(tenant)}guests/").words
    assert "<calm>" in browser.get("/tenancy/tenants/", {"name": tenant["name"]}).words
    assert "/api/tenancy/tenants/?description=x&format=tsv" in browser.get("/tenancy/tenants/?description=x").links()
    home = browser.get("/")
    assert "sunny" in home.words and "The kettle boils" in home.words and "high" not in home.words
    lazy = home.html.select_one("p.more-panels")
    assert browser.get(lazy["data-load"]).words == "Tides high" and "high" in browser.get(lazy.a["href"]).words
    facets = browser.get("/tenancy/tenants/?_facets=1").html.select("section.facet")
    assert [" ".join(facet.get_text().split()) for facet in facets][-1] == "Initial t 3"
    assert "/welcome/" in home.links()
    assert "Come in" in browser.get("/welcome/").words
    assert "Sign in by knocking" in Browser(service).get("/login/").words


@pytest.mark.night
def test_a_package_adds_attributes_to_objects_in_templates(visit: Visit) -> None:
    service, _ = visit()
    tenant, code = tenant_of(service), "{% for tenant in queryset %}{{ tenant.motto }}{% endfor %}"
    body = {"name": service.unique(), "content_type": "tenancy.tenant", "template_code": code}
    query = {"export": service.api.post("/api/extras/export-templates/", body)["name"], "id": tenant["id"]}
    assert service.api.send("GET", TENANTS, query=query).text == f"calm as {tenant['name']}"


def test_an_action_is_shown_to_those_who_may_take_it(visit: Visit) -> None:
    service, browser = visit()
    tenant = tenant_of(service)
    assert "Remove" in browser.get(path_of(tenant)).words
    reader = service.user(("view", "tenancy.tenant"), password=PASSWORD)
    page = Browser(service, reader).get(path_of(tenant))
    assert "Invite" in page.words and "Remove" not in page.words


def test_actions_on_a_list_and_on_a_selection_are_in_its_bars(visit: Visit) -> None:
    service, browser = visit()
    tenant = tenant_of(service)
    page = browser.get("/tenancy/tenants/", {"name": tenant["name"]})
    assert "Welcome all" in page.words and "Invite" not in page.words
    button = page.html.select_one("#selection button[formaction^='/seat/']")
    assert button["formaction"] == f"/seat/?name={tenant['name']}", "the filters belong to “all that match”"
    assert button.select_one("use[href$='#user']") is not None, "its icon"
    assert "Seat" not in browser.get(path_of(tenant)).words


def test_snippets_of_packages_are_collected(service: Service) -> None:
    snippets = extensions_of(service.registry.hooks.netinv_web_snippets, registry=service.registry)
    assert all(isinstance(snippet, Snippet) for snippet in snippets)
    assert "httpie" in [snippet.name for snippet in snippets]


# -- a part that fails


FAILING = [
    ("panel", "object"),
    ("tab", "tab"),
    ("action", "object"),
    ("form part", "/tenancy/tenants/add/"),
    ("list action", "/tenancy/tenants/"),
    ("selection action", "/tenancy/tenants/"),
    ("banner", "object"),
    ("banner", "/"),
    ("save button", "/tenancy/tenants/add/"),
    ("netinv_web_save_buttons", "/tenancy/tenants/add/"),
    ("widget", "/"),
    ("lazy widget", "/?_widget=weather,tides"),
    ("attention", "/"),
    ("netinv_web_attention", "/"),
    ("netinv_web_banners", "/dcim/sites/"),
    ("netinv_web_exports", "/dcim/sites/"),
    ("cell", "object"),
    ("cell", "/tenancy/tenants/"),
    ("cell factory", "/tenancy/tenants/?_columns=description"),
]
# The cells of a list are made once for a service, so that their factory fails once.
ENDING = [pair for pair in FAILING if pair[0] != "cell factory"]


@pytest.mark.parametrize(
    ("error", "part", "place"),
    [(ZeroDivisionError, *pair) for pair in FAILING] + [(GeneratorExit, *pair) for pair in ENDING],
)
def test_a_part_that_fails_shows_an_id_that_is_in_the_log(
    visit: Visit,
    visited: tuple[Service, Browser, ModuleType],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
    part: str,
    place: str,
) -> None:
    """``GeneratorExit``, which is no ``Exception``, would end the thread that answers."""
    monkeypatch.setattr(visited[2], "error", error)
    service, browser = visit(part)
    path = path_of(tenant_of(service))
    page = browser.get({"object": path, "tab": f"{path}guests/"}.get(place, place))
    shown = {
        text for text in FAILURE.findall(page.words) if any(f"failure {text}" in line for line in messages(caplog))
    }
    assert shown, page.words[-500:]
    assert error.__name__ not in page.words
    assert any(record.exc_info for record in caplog.records)


@pytest.mark.parametrize("statement", ["", ENDLESS.text])
@pytest.mark.parametrize(("part", "query"), [("panel", {}), ("panel", {"_panel": "greeting"}), ("widget", {})])
def test_a_page_does_not_wait_for_a_slow_part(
    visited: tuple[Service, Browser, ModuleType],
    visit: Visit,
    slow_parts: SlowParts,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    query: dict[str, str],
    statement: str,
) -> None:
    """What is beside it is shown, and itself again when it has ended."""
    service, browser = visit(f"slow {part}")
    monkeypatch.setattr(visited[2], "SLOW", statement)
    path = path_of(tenant_of(service)) if part == "panel" else "/"
    with service.configured(panel_timeout=0.2):
        page = browser.get(path, query)
        assert "A part of the package visitor is left out, as it took longer than 0.2 s." in page.words
        assert query or "The kettle boils" in page.words or "Mind the <step>" in page.words
        if not statement:
            assert "is left out, as an earlier call still runs" in browser.get(path, query).words
    slow_parts()
    visit()
    assert ("sunny" if part == "widget" else "good <b>day</b>") in browser.get(path, query).words
    assert 'netinv_package_failures_total{package="visitor"}' in service.api.send("GET", "/metrics").text


@pytest.mark.parametrize(
    ("part", "place", "beside"),
    [
        ("tab", "tab", "Change log"),
        ("form part", "/tenancy/tenants/add/", "Description"),
        ("banner", "object", "Change log"),
        ("attention", "/", "sunny"),
        ("save button", "/tenancy/tenants/add/", "Description"),
        ("action", "object", "Remove"),
        ("list action", CALM, "calm"),
        ("tab count", "object", "Guests"),
        ("snippet", "object", "pynautobot"),
        ("facet", f"{CALM}&_facets=1", "calm"),
        ("widget applies", "/", "sunny"),
    ],
)
def test_a_page_does_not_wait_for_what_is_slow_beside_its_content(
    visit: Visit, slow_parts: SlowParts, caplog: pytest.LogCaptureFixture, part: str, place: str, beside: str
) -> None:
    """It is left out, on the page or in the log alone, until it ends."""
    service, browser = visit(f"slow {part}")
    path = path_of(tenant_of(service))
    with service.configured(panel_timeout=0.2, tab_timeout=0.2):
        page = browser.get({"object": path, "tab": f"{path}guests/"}.get(place, place))
    assert beside in page.words
    assert any("failure" in text for text in messages(caplog))
    assert any("took longer than 0.2 s" in str(record.exc_info) for record in caplog.records)


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The errors in the log."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("part", ["tab count", "tab applies"])
def test_what_is_beside_a_tab_fails_in_the_log_alone(visit: Visit, caplog: pytest.LogCaptureFixture, part: str) -> None:
    service, browser = visit(part)
    page = browser.get(path_of(tenant_of(service)))
    assert ("Guests" in page.words) is (part == "tab count")
    assert any("guests" in message for message in messages(caplog))


@pytest.mark.parametrize(
    ("part", "path", "beside"),
    [
        ("facet", f"{CALM}&_facets=1", "calm"),
        ("facet applies", f"{CALM}&_facets=1", "calm"),
        ("widget applies", "/", "sunny"),
    ],
)
def test_a_facet_or_a_widget_that_fails_is_left_out_and_logged(
    visit: Visit, caplog: pytest.LogCaptureFixture, part: str, path: str, beside: str
) -> None:
    service, browser = visit(part)
    tenant_of(service)
    page = browser.get(path)
    assert beside in page.words and not {"Initial", "Tides"} & set(page.words.split())
    assert any("in the package visitor" in message for message in messages(caplog))


# -- a wrong result of a hook


REASONS = {
    "netinv_web_panels": "netinv_web_panels returns str instead of Panel",
    "netinv_web_tabs": "netinv_web_tabs returns str instead of Tab or ListTab",
    "netinv_web_actions": "netinv_web_actions returns str instead of Action",
    "netinv_web_columns": "netinv_web_columns returns str instead of ListColumn",
    "netinv_web_facets": "netinv_web_facets returns str instead of ListFacet",
    "netinv_web_spreads": "netinv_web_spreads returns str instead of Spread",
    "netinv_web_form_parts": "netinv_web_form_parts returns str instead of FormPart",
    "netinv_web_file_imports": "netinv_web_file_imports returns str instead of FileImport",
    "netinv_web_widgets": "netinv_web_widgets returns str instead of Widget",
    "netinv_web_snippets": "netinv_web_snippets returns str instead of Snippet",
    "netinv_web_menu": "netinv_web_menu returns str instead of MenuSection",
    "netinv_web_presentation": "TypeError",
    "netinv_web_cells": "AttributeError",
    "netinv_web_controls": "Error",
    "netinv_web_includes": "netinv_nowhere",
    "netinv_web_static": "nowhere",
}


@pytest.fixture(scope="module")
def wrong(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """A service with copies of the package ``visitor``, named after the hook of each that returns something wrong."""
    folder, path = tmp_path_factory.mktemp("wrong"), PLUGIN_FIXTURES / "visitor" / "netinv_visitor.py"
    with pytest.MonkeyPatch.context() as patches:
        patches.syspath_prepend(str(folder))
        for hook in REASONS:
            patches.setenv("VISITOR_FAILS", hook)
            spec = importlib.util.spec_from_file_location(f"netinv_{hook}", path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            patches.setitem(sys.modules, spec.name, module)
            add_distribution(folder, hook)
        service = Service(engine, JOBS)
    return service  # the packages are no longer installed, so that `visited` may be made later


@pytest.mark.night
def test_packages_with_wrong_results_of_hooks_are_reported(wrong: Service) -> None:
    broken = wrong.api.get("/api/status/")["broken-packages"]
    assert broken.keys() == REASONS.keys()
    assert {hook: reason for hook, reason in broken.items() if REASONS[hook] not in reason} == {}


@pytest.mark.night
def test_packages_with_wrong_results_of_hooks_are_left_out(wrong: Service) -> None:
    browser = Browser(wrong, wrong.admin)
    assert "Invite" not in browser.get(path_of(tenant_of(wrong))).words
    words = browser.get("/").words
    assert [hook for hook in REASONS if f"The package {hook} does not start" not in words] == []
    browser.get("/welcome/", status=404)


# -- what parts are given


def test_a_part_that_changes_the_object_changes_nothing_else_of_the_page(visit: Visit) -> None:
    service, browser = visit("objects")
    tenant = tenant_of(service)
    page = browser.get(path_of(tenant))
    assert "good <b>day</b>" in page.words and tenant["name"] in page.words and "Guests 7" in page.words
    assert "no guests" in browser.get(f"{path_of(tenant)}guests/").words


def test_a_template_that_fails_is_the_fault_of_the_package_that_gave_it_its_values(visit: Visit) -> None:
    service, browser = visit("template")
    assert "A part of the package visitor failed" in browser.get(path_of(tenant_of(service))).words


# -- pages that fail


def test_a_page_that_fails_says_under_which_id_it_is_logged(visit: Visit, caplog: pytest.LogCaptureFixture) -> None:
    _, browser = visit()
    for answer in (browser.get("/broken/", status=503), browser.post("/broken/", status=503)):
        assert answer.content_type == "text/html"
        (failure,) = FAILURE.findall(answer.text)
        assert any(failure in message for message in messages(caplog))
        assert "secret reason" not in answer.text and "LookupError" not in answer.text
        assert '<a href="/">' in answer.text and "Something went wrong" in answer.text
        assert "The package visitor failed" in answer.text


def test_a_page_that_fails_answers_other_clients_in_json(visit: Visit) -> None:
    _, browser = visit()
    answer = browser.get("/broken/", headers={"Accept": "application/json"}, status=503)
    assert answer.content_type == "application/json"
    assert "secret reason" not in answer.text


# -- the example plugin


@pytest.fixture
def window(api: Api, service: Service) -> dict[str, Any]:
    """An active window of a new site."""
    site = api.post(SITES, {"name": service.unique(), "status": "active"})
    at = datetime.datetime.now(datetime.UTC)
    hour = datetime.timedelta(hours=1)
    times = {"start": (at - 1000 * hour).isoformat(), "end": (at + hour).isoformat()}
    made: dict[str, Any] = api.post(WINDOWS, {"name": service.unique(), "site": site["id"], **times})
    return made


def test_the_example_adds_parts_to_the_pages_of_sites(browser: Browser, window: dict[str, Any]) -> None:
    panel = browser.get(path_of(window["site"])).html.select_one("#panel-maintenance")
    assert window["name"] in panel.text
    assert "maintenance" in " ".join(link for link in browser.get("/").links())
    assert window["name"] in browser.get("/plugins/example/overview/").words
    assert window["name"] in browser.get("/").words
    calendar = browser.get(f"{path_of(window)}calendar/").words
    assert f"UID:{window['id']}" in calendar and "DTSTART:2" in calendar


def test_the_button_of_the_example_closes_a_window(browser: Browser, api: Api, window: dict[str, Any]) -> None:
    page = browser.get(path_of(window))
    after = page.form(f"{path_of(window)}close/").submit().follow()
    assert "is closed" in after.words
    assert api.get(window["url"])["end"] < window["end"]


def test_the_example_cancels_the_selected_windows(browser: Browser, api: Api, window: dict[str, Any]) -> None:
    page = browser.get("/plugins/example/maintenance-windows/", {"name": window["name"]})
    assert page.html.select_one("header.title a[href='/plugins/example/overview/']") is not None
    button = page.html.select_one("#selection button[formaction*='/cancel/']")
    answer = browser.post(button["formaction"], [("pk", window["id"])])
    assert "Cancelled windows: 1." in answer.follow().words
    assert api.get(window["url"])["status"]["value"] == "cancelled"


def test_the_parts_of_the_example_are_limited_by_permissions(service: Service, window: dict[str, Any]) -> None:
    reader = service.user(("view", "dcim.site"), password=PASSWORD)
    browser = Browser(service, reader)
    assert browser.get(path_of(window["site"])).html.select("#panel-maintenance") == []
    assert window["name"] not in browser.get("/plugins/example/overview/").words
    assert window["name"] not in browser.get("/").words
    browser.post(f"{path_of(window)}close/", status=403)
    browser.post("/plugins/example/maintenance-windows/cancel/", [("pk", window["id"])], status=403)


def test_every_page_loads_the_style_sheet_and_the_script_of_the_example(browser: Browser) -> None:
    page = browser.get("/")
    files = [part.get("href") or part["src"] for part in page.html.select("link, script")]
    for name in ("/example/page.css", "/example/page.js"):
        (path,) = [file for file in files if file.endswith(name)]
        answer = browser.get(path, status=200)
        assert "max-age=31536000" in answer.headers["Cache-Control"]


# -- the interface as a package


@pytest.mark.night
def test_without_the_web_interface_the_api_is_served(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    modules, broken = discover()
    without = ([(name, module) for name, module in modules if name != "web"], broken)
    monkeypatch.setattr("netinv_core.main.discover", lambda plugins_dir="": without)
    bare = Service(engine)
    assert bare.api.get("/api/status/")["broken-packages"] == {}
    site = bare.api.post(SITES, {"name": bare.unique(), "status": "active"})
    bare.api.get(site["url"])
    bare.api.get("/api/extras/webhook-deliveries/")
    for path in ("/", "/login/", "/dcim/sites/", "/demo/load/", "/plugins/example/overview/"):
        assert bare.api.send("GET", path, status=404).content_type == "application/json"
