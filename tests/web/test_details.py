"""The page of an object: facts, summary, last change, lazy panels, related counts, and addresses with a slug."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Service, Unique
from netinv_web.lists.columns import presentation_of
from netinv_web.objects import documents
from netinv_web.objects.panels import of_endpoint
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import Plant

pytestmark = pytest.mark.any_database
MAX_STATEMENTS = 10
MakeUser = Callable[..., Account]


@pytest.fixture
def browser(service: Service) -> Browser:
    """The administrator's browser."""
    return Browser(service, service.admin)


@pytest.fixture
def make_site(service: Service, unique: Unique) -> Callable[..., Any]:
    """Makes sites by the API."""

    def make(**values: Any) -> Any:
        name = unique()
        return service.api.post("/api/dcim/sites/", {"name": name, "slug": name, "status": "active", **values})

    return make


def page_of(site: Any) -> str:
    return f"/dcim/sites/{site['id']}/"


def test_the_line_below_the_name_has_the_status_and_who_changed_the_object(
    service: Service, browser: Browser, make_site: Any
) -> None:
    page = browser.get(page_of(make_site())).html
    summary = page.select_one("p.summary")
    assert summary.select_one(".state a").text == "Active"
    assert summary.select_one(".state circle")["fill"].startswith("#")
    assert f"by {service.admin.username}" in summary.text
    assert summary.select_one("time") is not None


def test_users_who_may_not_view_the_change_log_see_the_time_of_the_last_change_only(
    service: Service, make_user: MakeUser, make_site: Any
) -> None:
    reader = make_user(("view", "dcim.site"), password="a password")
    page = Browser(service, reader).get(page_of(make_site())).html
    assert service.admin.username not in page.select_one("main").text
    assert page.select_one("p.summary time") is not None


def test_pages_lead_with_panels_that_they_have(service: Service) -> None:
    leading = {
        endpoint.label: set(presentation_of(endpoint).leading) - {panel.name for panel in of_endpoint(endpoint)}
        for endpoint in service.registry.endpoints.values()
        if presentation_of(endpoint).leading
    }
    assert leading and not any(leading.values()), leading


def test_empty_fields_are_named_behind_a_fold(browser: Browser, make_site: Any) -> None:
    page = browser.get(page_of(make_site(facility="Hall 7"))).html
    facts = {item.text for item in page.select(".facts dt")}
    assert "Facility" in facts and "Physical address" not in facts
    assert "Physical address" in page.select_one(".facts > details.empty-facts p").text


def test_custom_fields_without_a_value_are_named_behind_a_fold(
    service: Service, browser: Browser, make_site: Any, unique: Unique
) -> None:
    slugs = [unique().replace("-", "_") for _ in range(2)]
    for slug in slugs:
        body = {"name": slug, "slug": slug, "label": f"Label {slug}", "type": "text", "content_types": ["dcim.site"]}
        service.api.post("/api/extras/custom-fields/", body)
    panel = browser.get(page_of(make_site(custom_fields={slugs[0]: "a value"}))).html.select_one("#panel-custom-fields")
    shown = {item.dt.text: item.dd.text for item in panel.select("dl > div")}
    assert shown[f"Label {slugs[0]}"] == "a value" and f"Label {slugs[1]}" not in shown
    assert f"Label {slugs[1]}" in panel.select_one("details.empty-facts p").text


def test_comments_are_markdown_in_which_html_stays_text(browser: Browser, make_site: Any) -> None:
    text = "# Access\n\nkey at the **desk** <script>x</script> [bad](javascript:alert(1)) [good](https://example.com/)"
    prose = browser.get(page_of(make_site(comments=text))).html.select_one("div.prose")
    assert prose.strong.text == "desk"
    assert prose.h3.text == "Access"
    assert prose.script is None and "<script>x</script>" in prose.text
    assert [link["href"] for link in prose.select("a")] == ["https://example.com/"]


def test_related_objects_are_counted_after_the_page_in_one_statement(
    service: Service, browser: Browser, statements: Any, make_site: Any, unique: Unique
) -> None:
    site = make_site()
    service.api.post(
        "/api/ipam/vlans/",
        [{"vid": number, "name": unique(), "status": "active", "site": site["id"]} for number in (1, 2)],
    )
    assert "VLANs" not in browser.get(page_of(site)).html.select_one(".aside").text
    with statements() as executed:
        panel = browser.get(f"{page_of(site)}?_panel=related").html
    counts = {item.a.text: item.select_one(".count").text for item in panel.select("li")}
    assert counts == {"VLANs": "2"}
    assert browser.get(panel.select_one("li a")["href"], status=200).html.select_one("h1 .count").text == "2"
    assert len([statement for statement in executed if "UNION ALL" in statement and "ipam_vlan" in statement]) == 1
    assert panel.html is None


def test_without_scripts_a_link_leads_to_the_page_with_all_its_panels(
    service: Service, browser: Browser, make_site: Any, unique: Unique
) -> None:
    site = make_site()
    service.api.post("/api/ipam/vlans/", {"vid": 1, "name": unique(), "status": "active", "site": site["id"]})
    page = browser.get(page_of(site)).click(href="_show=all", index=0).html
    assert "VLANs" in page.select_one("#panel-related").text
    assert page.select_one("[data-load]") is None


def test_an_object_to_which_nothing_refers_offers_what_may_be_added(
    service: Service, browser: Browser, make_site: Any, make_user: MakeUser
) -> None:
    site = make_site()
    panel = browser.get(f"{page_of(site)}?_panel=related").html
    links = {item.text.strip(): item["href"] for item in panel.select("a")}
    assert {"Add rack here", "Add device here", "Add VLAN here"} <= set(links)
    form = browser.get(links["Add rack here"]).form()
    assert form["site"].value == site["id"]
    reader = make_user(("view", "dcim.site"), ("add", "dcim.rack"), ("view", "dcim.rack"), password="a password")
    panel = Browser(service, reader).get(f"{page_of(site)}?_panel=related").html
    assert [item.text.strip() for item in panel.select("a")] == ["Add rack here"]


def test_what_the_page_shows_elsewhere_is_not_listed_as_related(
    service: Service, browser: Browser, unique: Unique
) -> None:
    plant = Plant(service.api, unique)
    cable = plant.cable(plant.end(), plant.end())
    page = browser.get(cable.removeprefix("/api"), {"_show": "all"}).html
    assert page.select_one("#panel-related") is None
    vlan = service.api.post("/api/ipam/vlans/", {"vid": 9, "name": unique(), "status": "active"})
    page = browser.get(f"/ipam/vlans/{vlan['id']}/", {"_show": "all"}).html
    assert "Add prefix here" in page.select_one("#panel-related").text
    service.api.post("/api/ipam/prefixes/", {"prefix": "10.99.0.0/16", "status": "active", "vlan": vlan["id"]})
    page = browser.get(f"/ipam/vlans/{vlan['id']}/", {"_show": "all"}).html
    assert page.select_one("#panel-related") is None
    assert "Prefixes 1" in [" ".join(tab.text.split()) for tab in page.select(".tabs a")]


def test_what_pages_leave_out_of_the_related_objects_refers_to_them(service: Service) -> None:
    for endpoint in service.registry.endpoints.values():
        referring = {key.attribute.removesuffix("_id") for key in endpoint.incoming_foreign_keys}
        assert set(presentation_of(endpoint).unrelated) <= referring, endpoint.label


def test_a_colour_has_a_swatch_in_lists_and_on_pages(service: Service, browser: Browser, make: Any) -> None:
    role = make("/api/dcim/device-roles/", color="0088ff")
    page = browser.get(f"/dcim/device-roles/{role['id']}/").html
    page_of_list = browser.get("/dcim/device-roles/", {"id": role["id"], "_columns": "color"}).html
    cell = page_of_list.select_one("tr[data-key] td:not(.select, .row-links)")
    for value in (page.find("dt", string="Color").find_next("dd"), cell):
        assert value.select_one("circle")["fill"] == "#0088ff" and "#0088ff" in value.text


def test_related_counts_leave_out_what_the_user_may_not_view(
    service: Service, make_user: MakeUser, make_site: Any, unique: Unique
) -> None:
    site = make_site()
    service.api.post("/api/ipam/vlans/", {"vid": 1, "name": unique(), "status": "active", "site": site["id"]})
    reader = make_user(("view", "dcim.site"), password="a password")
    assert "VLAN" not in Browser(service, reader).get(f"{page_of(site)}?_panel=related").text


@pytest.mark.parametrize("path", ["", "racks/"])
def test_a_slug_in_the_place_of_the_id_leads_to_the_page(browser: Browser, make_site: Any, path: str) -> None:
    site = make_site()
    response = browser.get(f"/dcim/sites/{site['slug']}/{path}", status=302)
    assert response.headers["Location"] == f"{page_of(site)}{path}"


def test_a_slug_of_an_object_that_the_user_may_not_view_is_not_found(
    service: Service, make_user: MakeUser, make_site: Any
) -> None:
    hidden, visible = make_site(), make_site()
    reader = Browser(service, make_user(("view", "dcim.site", {"id": visible["id"]}), password="a password"))
    reader.get(f"/dcim/sites/{hidden['slug']}/", status=404)
    reader.get(f"/dcim/sites/{visible['slug']}/", status=302)
    reader.get("/dcim/sites/there-is-none/", status=404)
    Browser(service, service.admin).get("/ipam/vlans/there-is-none/", status=404)


@pytest.mark.parametrize(
    "path",
    [
        "dcim/sites",
        "dcim/devices",
        "dcim/racks",
        "ipam/prefixes",
        "ipam/ip-addresses",
        "virtualization/virtual-machines",
        "extras/tags",
    ],
)
def test_a_page_takes_few_statements(service: Service, browser: Browser, statements: Any, path: str) -> None:
    endpoint = next(item for item in service.registry.endpoints.values() if item.path == f"/api/{path}/")
    key = service.population.objects(endpoint)[0]["id"]
    browser.get(f"/{path}/{key}/", status=200)
    with statements() as executed:
        browser.get(f"/{path}/{key}/", status=200)
    assert len(executed) <= MAX_STATEMENTS, list(executed)


def document_of(page: Any, label: str) -> str:
    """The text of a document among the facts, by its label."""
    (found,) = [fact for fact in page.html.select(".facts dl > div") if fact.dt.text == label]
    return str(found.select_one("pre.document").text).removeprefix("\n")  # as browsers do


def test_texts_of_several_lines_and_json_are_shown_whole(service: Service, browser: Browser, unique: Unique) -> None:
    code = "name,serial\n" + "".join(f"{{# line {number} of <many> #}}\n" for number in range(200))
    body = {"content_type": "dcim.site", "name": unique(), "template_code": code}
    template = service.api.post("/api/extras/export-templates/", body)
    page = browser.get(f"/extras/export-templates/{template['id']}/")
    assert document_of(page, "Template code") == template["template_code"]
    data = {"servers": [f"ntp{number}.example" for number in range(9)], "domain": "dns.example"}
    context = service.api.post("/api/extras/config-contexts/", {"name": unique(), "weight": 1, "data": data})
    page = browser.get(f"/extras/config-contexts/{context['id']}/")
    assert json.loads(document_of(page, "Data")) == data and '\n  "servers": [\n' in document_of(page, "Data")


def test_a_document_that_is_too_long_for_a_page_is_cut_and_says_so(
    service: Service, browser: Browser, unique: Unique
) -> None:
    body = {"content_type": "dcim.site", "name": unique(), "template_code": "x\n" * documents.MAX_LENGTH}
    template = service.api.post("/api/extras/export-templates/", body)
    shown = document_of(browser.get(f"/extras/export-templates/{template['id']}/"), "Template code")
    assert len(shown) == documents.MAX_LENGTH + len(documents.CUT) and shown.endswith(documents.CUT)
