"""The home page: numbers of objects, what needs attention, the latest changes, and an empty inventory."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.db import revisions
from netinv_core.models.base import now, table_of
from netinv_core.packages import FailedPackage, discover
from netinv_extras.jobs.models import Job
from netinv_extras.jobs.schedules import ScheduledJob
from netinv_extras.webhooks.deliveries import WebhookDelivery
from netinv_testing import Account, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web import home
from netinv_web.testing import Browser, BrowserPage
from tests.support.databases import migrated_database

MAX_STATEMENTS = 12
SITES = "/api/dcim/sites/"
MakeUser = Callable[..., Account]


def texts(page: BrowserPage, section: str) -> list[str]:
    """The texts of the entries in a section of the page; empty without the section."""
    return [" ".join(entry.text.split()) for entry in page.html.select(f"#{section} li")]


def number_of(page: BrowserPage, title: str) -> int:
    """The number of objects beside the title of a resource."""
    (text,) = [text for text in texts(page, "counts") if text.startswith(title)]
    return int(text.removeprefix(title).replace(",", ""))


@pytest.fixture
def browser_of(service: Service, make_user: MakeUser) -> Callable[..., Browser]:
    """``browser_of((actions, labels[, constraints]), …)``: the browser of a new user with these permissions."""

    def make(*grants: Any) -> Browser:
        account = make_user(*grants, password=PASSWORD)
        return Browser(service, account)

    return make


@pytest.fixture(scope="module")
def empty_service(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Service]:
    """A service on a database of its own without objects."""
    with migrated_database(tmp_path_factory.mktemp("empty"), database_template) as engine:
        yield Service(engine)


# -- numbers


def test_the_home_page_counts_the_objects_of_the_main_resources(
    service: Service, browser: Browser, unique: Unique
) -> None:
    service.api.post(SITES, {"name": unique(), "status": "active"})
    page = browser.get("/")
    assert number_of(page, "Sites") == service.api.get(SITES, {"limit": 1})["count"]
    assert [text.rstrip("0123456789,") for text in texts(page, "counts")][:2] == ["Sites", "Racks"]


def test_a_user_sees_numbers_of_what_the_permissions_allow(
    service: Service, browser_of: Callable[..., Browser], unique: Unique
) -> None:
    site = service.api.post(SITES, {"name": unique(), "status": "active"})
    page = browser_of(("view", "dcim.site", {"name": site["name"]})).get("/")
    assert texts(page, "counts") == ["Sites1"]


def test_the_home_page_takes_a_bounded_number_of_statements(service: Service, browser: Browser, unique: Unique) -> None:
    for _ in range(3):
        service.api.post(SITES, {"name": unique(), "status": "active"})
    browser.get("/")
    with service.statements() as statements:
        browser.get("/")
    assert len(statements) <= MAX_STATEMENTS, statements


# -- the latest changes


def test_a_change_is_told_as_a_sentence(service: Service, browser: Browser, unique: Unique) -> None:
    name = unique()
    site = service.api.post(SITES, {"name": name, "status": "planned", "facility": "DC1"})
    service.api.patch(f"{SITES}{site['id']}/", {"facility": "DC2"})
    first, second = texts(browser.get("/"), "widget-recent-changes")[:2]
    assert f"changed site {name}: Facility: DC1 → DC2" in first
    assert f"created site {name}" in second


def test_the_changes_of_one_request_are_one_entry(service: Service, browser: Browser, unique: Unique) -> None:
    service.api.post(SITES, [{"name": unique(), "status": "active"} for _ in range(3)])
    page = browser.get("/")
    assert "created 3 sites" in texts(page, "widget-recent-changes")[0]
    link, *_ = [link for link in page.links() if "request_id=" in link]
    assert "1–3 of 3" in browser.get(link).words


def test_a_request_is_undone_from_the_home_page_after_a_question(
    service: Service, browser: Browser, browser_of: Callable[..., Browser], unique: Unique
) -> None:
    site = service.api.post(SITES, {"name": unique(), "status": "active"})
    service.api.patch(f"{SITES}{site['id']}/", {"facility": "DC2"})
    page = browser.get("/")
    assert [part["id"] for part in page.html.select(".widgets > section")][-1] == "counts"
    button = page.html.select_one("#widget-recent-changes li button")
    assert button["aria-label"].startswith(f"Undo: changed site {site['name']}: Facility: – → DC2")
    fields = {item["name"]: item["value"] for item in button.parent.select("input")}
    asked = browser.post(button.parent["action"], fields, status=200)
    assert service.api.get(f"{SITES}{site['id']}/")["facility"] == "DC2"
    form = next(form for form in asked.forms.values() if "_step" in form.fields)
    assert form.submit("_step", value="apply", status=303).headers["Location"].endswith("/")
    assert service.api.get(f"{SITES}{site['id']}/")["facility"] == ""
    reader = browser_of(("view", "extras.objectchange"), ("view", "dcim.site")).get("/")
    assert not reader.html.select("#widget-recent-changes li button")


def test_changes_are_shown_to_those_who_may_view_them(browser_of: Callable[..., Browser]) -> None:
    page = browser_of(("view", "dcim.site")).get("/")
    assert page.html.select("#widget-recent-changes") == []


def test_a_change_of_an_object_that_the_user_may_not_view_is_not_shown(
    service: Service, browser_of: Callable[..., Browser], unique: Unique
) -> None:
    name = unique()
    service.api.post("/api/tenancy/tenants/", {"name": name})
    page = browser_of(("view", "extras.objectchange"), ("view", "dcim.site")).get("/")
    assert page.html.select("#widget-recent-changes")
    assert name not in page.words


def test_names_in_sentences_stay_text(service: Service, browser: Browser, unique: Unique) -> None:
    name = f'{unique()}"><script>x</script>'
    service.api.post("/api/tenancy/tenants/", {"name": name, "slug": unique()})
    page = browser.get("/")
    assert name in texts(page, "widget-recent-changes")[0]
    assert not page.html.select("script:not([src])")


# -- pinned views


@pytest.mark.night
def test_views_that_a_user_pins_are_tiles(service: Service, browser: Browser, unique: Unique) -> None:
    """Own and shared ones, as long as they exist and the list may be viewed."""
    own, shared = unique(), unique()
    lists = "/tenancy/tenant-groups/"
    browser.post(f"{lists}_view/", {"_name": own, "name": "x", "ordering": "-name"})
    view = {"content_type": "tenancy.tenantgroup", "query": "name=y", "slug": shared, "shared": True}
    other = service.api.post("/api/web/saved-views/", {**view, "name": shared})
    for name in (own, shared):
        page = browser.get(f"{lists}?_view=all")
        button = page.html.select_one(f'button[name=_pin][aria-label^="{name}"]')
        assert button["aria-pressed"] == "false"
        browser.post(f"{lists}_view/", {"_pin": button["value"]})
    page = browser.get("/")
    assert texts(page, "views") == [f"{own} Tenant groups", f"{shared} Tenant groups"]
    assert f"{lists}?name=x&ordering=-name" in page.links()
    reader = service.user(("view", "dcim.site"), password=PASSWORD)
    Browser(service, reader).post(f"{lists}_view/", {"_pin": other["id"]}, status=403)
    service.api.delete(other["url"])
    browser.post(f"{lists}_view/", {"_pin": other["id"]}, status=404)
    assert texts(browser.get("/"), "views") == [f"{own} Tenant groups"]
    pin = browser.get(f"{lists}?_view=all").html.select_one("button[aria-pressed=true]")["value"]
    browser.post(f"{lists}_view/", {"_pin": pin})
    assert texts(browser.get("/"), "views") == []


# -- what needs attention


def test_failed_deliveries_and_waiting_jobs_need_attention(
    service: Service, browser_of: Callable[..., Browser], unique: Unique
) -> None:
    deliveries, schedules, jobs = (table_of(model) for model in (WebhookDelivery, ScheduledJob, Job))
    schedule = {"id": uuid.uuid4(), "name": unique(), "job_class": "x", "approval_required": True, "start_time": now()}
    (job,) = service.rows(sa.select(jobs.c.id, jobs.c.enabled).where(jobs.c.installed).limit(1))
    schedule |= {"user_id": uuid.UUID(service.admin.id), "job_model_id": job.id}
    with service.engine.begin() as connection:
        columns = deliveries.c.id, deliveries.c.state, deliveries.c.changed_object_type
        key, state, label = connection.execute(sa.select(*columns).limit(1)).one()
        connection.execute(sa.update(deliveries).where(deliveries.c.id == key).values(state="failed"))
        connection.execute(sa.insert(schedules), [{**schedule, "kwargs": {}}])
        connection.execute(sa.update(jobs).where(jobs.c.id == job.id).values(enabled=True))
    seeing = browser_of(
        ("view", "extras.webhookdelivery", {"id": key}),
        ("view", "extras.scheduledjob", {"name": schedule["name"]}),
        ("view", label),
    )
    page = seeing.get("/")
    for part, shown in (("state=failed", "failed"), ("awaits_approval", schedule["name"])):
        (link,) = [link for link in page.links() if part in link]
        assert shown in seeing.get(link).words
    with service.engine.begin() as connection:
        connection.execute(sa.update(deliveries).where(deliveries.c.id == key).values(state=state))
        connection.execute(sa.delete(schedules).where(schedules.c.id == schedule["id"]))
        connection.execute(sa.update(jobs).where(jobs.c.id == job.id).values(enabled=job.enabled))
    (failed,) = [text for text in texts(page, "attention") if "deliver" in text]
    (waiting,) = [text for text in texts(page, "attention") if "approval" in text]
    assert (failed, waiting) == ("1 webhook delivery failed Show", "1 job waits for approval Review")
    assert texts(browser_of(("view", "dcim.site")).get("/"), "attention") == []


def test_a_package_that_does_not_start_is_told_to_superusers(
    service: Service, browser: Browser, browser_of: Callable[..., Browser], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.registry, "broken", [FailedPackage("racing", "netinv-racing", "KeyError: 'wheel'")])
    page = browser.get("/")
    assert "The package racing does not start: KeyError: 'wheel' Show" in texts(page, "attention")
    assert "racing" in browser.get(page.html.select_one("#attention a")["href"]).words
    assert "racing" not in browser_of(("view", "dcim.site")).get("/").text


def test_pending_migrations_are_told_to_superusers(
    service: Service, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revisions, "pending_heads", lambda engine, registry: ["dcim_0099"])
    home._migrated.discard(service.registry)
    (text,) = [text for text in texts(browser.get("/"), "attention") if "migrations" in text]
    assert "dcim_0099" in text
    monkeypatch.undo()
    assert "dcim_0099" not in browser.get("/").words


# -- an empty inventory


@pytest.mark.night
def test_an_empty_inventory_says_how_to_begin(empty_service: Service) -> None:
    page = Browser(empty_service, empty_service.admin).get("/")
    first, *others = texts(page, "first-steps")
    assert first.endswith("Add a site")
    assert page.html.select("#counts") == []
    assert others[0].endswith("Import sites") and "/dcim/sites/import/" in page.links()
    assert any("Load the demo inventory" in text for text in others)
    empty_service.api.post("/api/dcim/sites/", {"name": "First", "status": "active"})
    page = Browser(empty_service, empty_service.admin).get("/")
    assert any("Load the demo inventory" in text for text in texts(page, "first-steps"))
    assert texts(page, "counts")


def test_a_user_without_permissions_is_told_so(nobody: Browser) -> None:
    assert "nothing that you may view yet" in nobody.get("/").words


@pytest.mark.night
def test_the_demo_inventory_is_loaded_by_a_job(empty_service: Service) -> None:
    browser = Browser(empty_service, empty_service.admin)
    page = browser.get("/").form("/demo/load/").submit()
    result = page.follow()
    assert "/extras/job-results/" in page.headers["Location"]
    assert "Load the demo inventory" in result.words
    (queued,) = empty_service.api.get("/api/extras/job-results/", {"limit": 5})["results"]
    assert queued["status"]["value"] == "pending"
    assert queued["user"]["username"] == empty_service.admin.username


def test_only_superusers_load_the_demo_inventory(empty_service: Service) -> None:
    account = empty_service.user(("view add", "dcim.site", {"name": "None"}), password=PASSWORD)
    browser = Browser(empty_service, account)
    assert texts(browser.get("/"), "first-steps") != []
    assert "demo" not in browser.get("/").words
    browser.post("/demo/load/", status=403)


@pytest.mark.night
def test_without_its_package_the_demo_inventory_is_not_offered(
    empty_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules, broken = discover()
    without = ([(name, module) for name, module in modules if name != "demo"], broken)
    monkeypatch.setattr("netinv_core.main.discover", lambda plugins_dir="": without)
    bare = Service(empty_service.engine)
    page = Browser(bare, bare.admin).get("/")
    assert texts(page, "first-steps") != []
    assert page.html.select("form[action='/demo/load/']") == []


def test_an_address_without_page_keeps_the_navigation_of_those_who_are_signed_in(browser: Browser) -> None:
    page = browser.get("/no/such/page/", status=404)
    assert "/dcim/sites/" in page.links()
    assert "Sign in" not in page.words


def test_pages_beside_the_list_of_a_resource_belong_to_its_entry_in_the_navigation(
    service: Service, browser: Browser
) -> None:
    (change,) = service.api.get("/api/extras/object-changes/", {"limit": 1})["results"]
    page = browser.get(f"/extras/object-changes/{change['id']}/")
    assert [link["href"] for link in page.html.select(".rail a[aria-current]")] == ["/extras/changelog/"]


def test_one_entry_of_the_navigation_is_current(browser: Browser) -> None:
    for path in ("/dcim/cables/", "/dcim/cabling/", "/dcim/racks/", "/dcim/rack-elevations/", "/ipam/prefixes/tree/"):
        page = browser.get(path)
        assert [link["href"] for link in page.html.select(".rail a[aria-current]")] == [path]
