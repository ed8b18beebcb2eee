"""History pages: changes by field, grouped by request, and the buttons that undo them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Service, Unique
from netinv_web.testing import Browser

SITES, UNDO = "/api/dcim/sites/", "/extras/undo/"
LONG_TEXT = "The key is at the reception desk, which is open from eight to six on working days. Ring twice."
MakeUser = Callable[..., Account]


@pytest.fixture
def browser(service: Service) -> Browser:
    """The administrator's browser."""
    return Browser(service, service.admin)


@pytest.fixture
def site(service: Service, unique: Unique) -> Any:
    name = unique()
    return service.api.post(SITES, {"name": name, "slug": name, "status": "planned"})


def history_of(browser: Browser, item: Any) -> Any:
    """The page with the history of a site."""
    return browser.get(f"/dcim/sites/{item['id']}/changelog/", status=200)


def button(page: Any, text: str) -> Any:
    """The first form whose button has this text."""
    return next(
        form for form in page.forms.values() if any(item.text.strip() == text for item in form.html.select("button"))
    )


def test_a_change_is_a_sentence_for_each_field(service: Service, browser: Browser, site: Any) -> None:
    service.api.patch(site["url"], {"status": "active", "facility": "Hall 7"})
    page = history_of(browser, site).html
    sentences = [" ".join(item.text.split()) for item in page.select(".change")[0].select(".sentences > li")]
    assert sentences == ["Status Planned → Active", "Facility Hall 7"]
    assert service.admin.username in page.select_one(".request h2").text
    assert page.select_one(".tabs a[aria-current]").text == "Change log"
    links = [link["href"] for link in page.select(".change-head a[href*=as_of]")]
    states = [browser.get(link, status=200).html.select_one("#api-answer").text for link in links]
    assert ["Hall 7" in state for state in states] == [True, False]


def test_long_texts_are_compared_by_word_and_documents_by_key_path(
    service: Service, browser: Browser, site: Any, unique: Unique
) -> None:
    service.api.patch(site["url"], {"comments": LONG_TEXT})
    service.api.patch(site["url"], {"comments": LONG_TEXT.replace("eight", "<b>nine</b>")})
    change = history_of(browser, site).html.select_one(".change")
    assert (change.select_one("del").text, change.select_one("ins").text) == ("eight", "<b>nine</b>")
    assert change.b.text == "Comments" and len(change.select("b")) == 1
    context = service.api.post(
        "/api/extras/config-contexts/", {"name": unique(), "data": {"clocks": {"servers": ["a", "b"]}, "dns": 1}}
    )
    service.api.patch(context["url"], {"data": {"clocks": {"servers": ["a", "c"]}, "dns": 1}})
    change = browser.get(f"/extras/config-contexts/{context['id']}/changelog/").html.select_one(".change")
    assert [" ".join(item.text.split()) for item in change.select(".sentences li li:not(:has(li))")] == [
        "clocks.servers[1] b → c"
    ]


def test_changes_of_one_request_are_one_group_that_is_undone_together(
    service: Service, browser: Browser, unique: Unique
) -> None:
    names = [unique(), unique()]
    sites = service.api.post(SITES, [{"name": name, "slug": name, "status": "planned"} for name in names])
    service.api.patch(SITES, [{"id": item["id"], "status": "active"} for item in sites])
    page = history_of(browser, sites[0])
    group = page.html.select_one(".request")
    assert "2 changes in one request" in group.text
    log = page.click("2 changes in one request", index=0)
    assert {item.select_one(".change-head a").text for item in log.html.select(".change")} == set(names)
    asked = button(page, "Undo all").submit(status=200)
    assert "Undo 2 changes?" in asked.words and set(names) <= set(asked.words.replace(",", "").split())
    assert {service.api.get(item["url"])["status"]["value"] for item in sites} == {"active"}
    following = asked.form().submit("_step", status=303).follow()
    assert "The changes of 2 objects were undone." in following
    assert {service.api.get(item["url"])["status"]["value"] for item in sites} == {"planned"}


def test_a_change_is_undone_and_the_undo_as_well(service: Service, browser: Browser, site: Any) -> None:
    service.api.patch(site["url"], {"facility": "Hall 7"})
    page = button(history_of(browser, site), "Undo").submit(status=303).follow()
    assert service.api.get(site["url"])["facility"] == ""
    assert page.html.select_one("[data-notice] form button").text == "Undo"
    button(page, "Undo").submit(status=303)
    assert service.api.get(site["url"])["facility"] == "Hall 7"


def test_a_notice_of_a_form_offers_to_undo_it(service: Service, browser: Browser, unique: Unique) -> None:
    name = unique()
    region = service.api.post("/api/dcim/regions/", {"name": name, "slug": name})
    page = browser.post(f"/dcim/regions/{region['id']}/delete/", status=303).follow()
    form = next(item for item in page.forms.values() if item.action == UNDO)
    assert form.submit(status=303).headers["Location"] == f"/dcim/regions/{region['id']}/"
    assert service.api.get(region["url"])["name"] == name


def test_after_the_undo_of_a_creation_comes_the_list(service: Service, browser: Browser, site: Any) -> None:
    asked = button(history_of(browser, site), "Undo").submit(status=200)
    assert "Deleted, with what goes along: 1 Site" in asked.words
    service.api.get(site["url"])
    assert asked.form().submit("_step").headers["Location"] == "/dcim/sites/"
    service.api.get(site["url"], status=404)


def test_an_undo_against_later_changes_is_refused_with_the_reason(
    service: Service, browser: Browser, site: Any
) -> None:
    service.api.patch(site["url"], {"facility": "Hall 7"})
    service.api.patch(site["url"], {"facility": "Hall 8"})
    form = [form for form in history_of(browser, site).forms.values() if form.action == UNDO][1]
    page = form.submit(status=409)
    assert page.html.h1.text == "This cannot be undone"
    assert site["name"] in page.html.select_one("main li").text and "Facility" in page.html.select_one("main li").text
    assert service.api.get(site["url"])["facility"] == "Hall 8"


def test_users_see_only_changes_of_objects_that_they_may_view(
    service: Service, make_user: MakeUser, site: Any, unique: Unique
) -> None:
    other = unique()
    service.api.post(SITES, {"name": other, "slug": other, "status": "planned"})
    reader = make_user(
        ("view", "dcim.site", {"id": site["id"]}), ("view", "extras.objectchange"), password="a password"
    )
    page = Browser(service, reader).get("/extras/changelog/", status=200)
    assert site["name"] in page and other not in page
    assert page.html.select(".change form") == []


def test_the_history_needs_permission_for_the_change_log(service: Service, make_user: MakeUser, site: Any) -> None:
    reader = Browser(service, make_user(("view change", "dcim.site"), password="a password"))
    assert "Change log" not in reader.get(f"/dcim/sites/{site['id']}/").html.select_one("main").text
    reader.get(f"/dcim/sites/{site['id']}/changelog/", status=404)
    reader.get("/extras/changelog/", status=403)
    reader.post(UNDO, {"request": str(uuid.uuid4())}, status=403)


@pytest.mark.parametrize(
    "values", [{}, {"change": "x"}, {"change": str(uuid.uuid4())}, {"request": "x"}, {"request": str(uuid.uuid4())}]
)
def test_what_cannot_be_found_cannot_be_undone(browser: Browser, values: dict[str, str]) -> None:
    browser.post(UNDO, values, status=404)


def test_an_undo_leads_to_no_other_host(service: Service, browser: Browser, site: Any) -> None:
    service.api.patch(site["url"], {"facility": "Hall 7"})
    form = button(history_of(browser, site), "Undo")
    form["next"] = "//elsewhere.example.com/"
    assert form.submit(status=303).headers["Location"] == "/"


def test_the_page_of_a_change_has_the_values_before_and_after(service: Service, browser: Browser, site: Any) -> None:
    service.api.patch(site["url"], {"facility": "Hall 7"})
    (change,) = service.api.get("/api/extras/object-changes/", {"changed_object_id": site["id"], "action": "update"})[
        "results"
    ]
    response = browser.get(f"/extras/changelog/{change['id']}/", status=302)
    page = browser.get(response.headers["Location"], status=200).html
    assert "Facility" in page.select_one("#panel-changes .sentences").text
    assert [item.summary.text for item in page.select("#panel-changes details")] == ["Before", "After"]


def test_deliveries_of_a_change_are_named(service: Service, browser: Browser, unique: Unique) -> None:
    name = unique()
    body = {
        "name": name,
        "content_types": ["dcim.region"],
        "payload_url": f"http://{name}.example.com/",
        "type_create": True,
    }
    webhook = service.api.post("/api/extras/webhooks/", body)
    region = service.api.post("/api/dcim/regions/", {"name": name, "slug": name})
    change = browser.get(f"/dcim/regions/{region['id']}/changelog/").html.select_one(".change")
    assert change.select_one('a[href^="/extras/webhook-deliveries/"]').text == name
    service.api.delete(webhook["url"])


@pytest.mark.parametrize("query", ["?action=nothing", "?page=0", "?page=99999999999", "?changed_object_id=x", "?q=%00"])
def test_bad_parameters_are_no_failure(browser: Browser, query: str) -> None:
    assert len(browser.get(f"/extras/changelog/{query}", status=200).html.find_all("h1")) == 1


def test_the_number_of_statements_does_not_grow_with_the_changes(
    service: Service, browser: Browser, statements: Any, site: Any
) -> None:
    path = f"/dcim/sites/{site['id']}/changelog/"
    browser.get(path)
    with statements() as of_one:
        browser.get(path)
    for number in range(4):
        service.api.patch(site["url"], {"facility": f"Hall {number}"})
    browser.get(path)
    with statements() as of_many:
        browser.get(path)
    assert len(of_many) == len(of_one) <= 11
