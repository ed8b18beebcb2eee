"""Parts of pages with data that users and configuration attach to objects: fields, relationships, notes, images,
contexts, links.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from netinv_extras.dynamic_groups.web import tab as groups_tab
from netinv_testing import Account, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.images import GIF

MakeUser = Callable[..., Account]
ROLES = "/api/ipam/roles/"  # tests leave no dynamic groups of them, which every page of a member would evaluate


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


@pytest.fixture
def made(service: Service) -> Any:
    """Makes configuration by the API and deletes it after the test, so that others do not see it."""
    urls: list[str] = []

    def make(path: str, body: Any) -> Any:
        item = service.api.post(f"/api/extras/{path}/", body)
        urls.append(item["url"])
        return item

    yield make
    for url in reversed(urls):
        service.api.delete(url, status=(204, 404))


def page_of(site: Any, query: str = "") -> str:
    return f"/dcim/sites/{site['id']}/{query}"


def panel_of(browser: Browser, site: Any, name: str) -> Any:
    """A lazy panel of a site; ``None`` when there is nothing to show."""
    return browser.get(page_of(site, f"?_panel={name}"), status=200).html.select_one(f"#panel-{name}")


def facts_of(panel: Any) -> dict[str, str]:
    return {item.dt.text: " ".join(item.dd.text.split()) for item in panel.select("dl > div")}


# -- fields, relationships, tags, images


def test_custom_fields_are_shown_by_type(browser: Browser, make_site: Any, made: Any, unique: Unique) -> None:
    slugs = [f"f{unique()}" for _ in range(3)]
    for slug, kind in zip(slugs, ["text", "url", "markdown"], strict=True):
        made(
            "custom-fields",
            {"label": f"Label {slug}", "name": slug, "slug": slug, "type": kind, "content_types": ["dcim.site"]},
        )
    values = dict(zip(slugs, ["<b>", "https://example.com/", "**strong**"], strict=True))
    panel = browser.get(page_of(make_site(custom_fields=values))).html.select_one("#panel-custom-fields")
    facts = facts_of(panel)
    assert facts[f"Label {slugs[0]}"] == "<b>" and facts[f"Label {slugs[2]}"] == "strong"
    assert panel.select_one("dd a")["href"] == "https://example.com/"
    assert panel.strong is not None and panel.b is None


def test_computed_fields_are_rendered_after_the_page(
    browser: Browser, make_site: Any, made: Any, unique: Unique
) -> None:
    label = unique()
    made(
        "computed-fields",
        {"label": label, "slug": f"c{label}", "content_type": "dcim.site", "template": "{{ obj.name }}.example.com"},
    )
    site = make_site()
    assert facts_of(panel_of(browser, site, "computed-fields"))[label] == f"{site['name']}.example.com"


def test_who_may_change_computed_fields_sees_why_one_has_its_fallback(
    service: Service, browser: Browser, make_site: Any, made: Any, unique: Unique, make_user: MakeUser
) -> None:
    site, label = make_site(), unique()
    body = {"label": label, "content_type": "dcim.site", "template": "{{ obj.nmae }}", "fallback_value": "none"}
    made("computed-fields", {**body, "slug": label.replace("-", "_")})
    facts = facts_of(panel_of(browser, site, "computed-fields"))
    assert facts[label] == "none"
    assert facts[f"{label}: error"] == "Line 1: site has no attribute 'nmae'. Did you mean 'name'?"
    viewer = Browser(service, make_user(("view", "dcim.site"), password=PASSWORD))
    assert f"{label}: error" not in facts_of(panel_of(viewer, site, "computed-fields"))


def test_relationships_are_links_on_both_sides(
    service: Service, browser: Browser, make_site: Any, made: Any, unique: Unique
) -> None:
    name = unique()
    ends = {
        "source_type": "dcim.site",
        "destination_type": "dcim.site",
        "source_label": "Backs up",
        "destination_label": "Backed up by",
    }
    relationship = made("relationships", {"name": name, "slug": name, "type": "many-to-many", **ends})
    first, second = make_site(), make_site()
    pair = {
        "source_type": "dcim.site",
        "source_id": first["id"],
        "destination_type": "dcim.site",
        "destination_id": second["id"],
    }
    service.api.post("/api/extras/relationship-associations/", {"relationship": relationship["id"], **pair})
    panels = [panel_of(browser, site, "relationships") for site in (first, second)]
    assert [panel.select_one("dd a")["href"] for panel in panels] == [page_of(second), page_of(first)]
    assert {panel.dt.text for panel in panels} == {"Backs up", "Backed up by"}


def test_tags_are_chips_that_lead_to_the_objects_with_the_tag(
    browser: Browser, make_site: Any, made: Any, unique: Unique
) -> None:
    name = unique()
    tag = made("tags", {"name": name, "slug": name, "color": "2196f3", "content_types": ["dcim.site"]})
    page = browser.get(page_of(make_site(tags=[tag["id"]])))
    chip = page.html.select_one("#panel-tags a.chip")
    assert chip.circle["fill"] == "#2196f3" and chip.text.strip() == name
    assert browser.get(chip["href"]).html.select_one("h1 .count").text == "1"


def test_images_are_thumbnails(service: Service, browser: Browser, make_site: Any) -> None:
    site = make_site()
    assert panel_of(browser, site, "images") is None
    browser.get(page_of(site)).click("Add an image")
    picture = f"data:image/gif;base64,{base64.b64encode(GIF).decode()}"
    body = {"content_type": "dcim.site", "object_id": site["id"], "name": "Front", "image": picture}
    service.api.post("/api/extras/image-attachments/", body)
    image = panel_of(browser, site, "images").img
    assert image["alt"] == "Front"
    assert browser.get(image["src"], status=200).content_type == "image/gif"


# -- notes


def test_a_note_is_added_and_shown_with_its_author(service: Service, browser: Browser, make_site: Any) -> None:
    site = make_site()
    form = browser.get(page_of(site, "notes/")).form()
    form["note"] = "The **fan** was replaced. <script>"
    page = form.submit(status=303).follow()
    note = page.html.select_one("section.panel")
    assert note.strong.text == "fan" and note.script is None
    assert service.admin.username in note.h2.text
    assert page.html.select_one(".tabs a[aria-current] .count").text == "1"
    browser.get(note.select_one("a.button")["href"], status=200)


def test_a_note_that_is_refused_is_kept_in_the_form(browser: Browser, make_site: Any) -> None:
    page = browser.post(page_of(make_site(), "notes/"), {"note": ""}, status=422)
    assert page.html.select_one("[role=alert]") is not None


def test_users_without_permission_add_no_notes(service: Service, make_user: MakeUser, make_site: Any) -> None:
    site = make_site()
    reader = Browser(service, make_user(("view", ["dcim.site", "extras.note"]), password="a password"))
    assert reader.get(page_of(site, "notes/")).html.select_one("textarea") is None
    reader.post(page_of(site, "notes/"), {"note": "x"}, status=403)
    nobody = Browser(service, make_user(("view add", "extras.note"), password="a password"))
    nobody.post(page_of(site, "notes/"), {"note": "x"}, status=403)


# -- config contexts and groups


def test_each_value_of_a_config_context_names_its_origin(
    service: Service, browser: Browser, made: Any, unique: Unique
) -> None:
    low, high = unique(), unique()
    made("config-contexts", {"name": low, "weight": 100, "data": {low: {"servers": [1], "kept": True}, "plain": 1}})
    made("config-contexts", {"name": high, "weight": 200, "data": {low: {"servers": [2]}}})
    key = service.population.objects(service.registry["dcim.device"])[0]["id"]
    page = browser.get(f"/dcim/devices/{key}/config-context/", status=200).html
    rows = {
        row.th.text: [" ".join(cell.text.split()) for cell in row.select("td")]
        for row in page.select("table.context tbody tr")
    }
    assert rows[f"{low}.servers"] == ["[2]", high, f"[1] {low}"]
    assert rows[f"{low}.kept"] == ["true", low, ""]
    merged = json.loads(page.select_one("details pre").text)
    assert merged[low] == {"servers": [2], "kept": True}


def test_contexts_that_a_reader_may_not_view_are_neither_named_nor_are_the_values_that_others_override(
    service: Service, made: Any, make_user: MakeUser, unique: Unique
) -> None:
    hidden, shown, key = unique(), unique(), unique()
    made("config-contexts", {"name": hidden, "weight": 100, "data": {key: {"port": "former value", "kept": 7}}})
    made("config-contexts", {"name": shown, "weight": 200, "data": {key: {"port": 2}}})
    device = service.population.objects(service.registry["dcim.device"])[0]["id"]
    limited = ("view", "extras.configcontext", {"name": shown})
    reader = Browser(service, make_user(("view", ["dcim.device"]), limited, password="a password"))
    page = reader.get(f"/dcim/devices/{device}/config-context/", status=200)
    rows = {row.th.text: row.text for row in page.html.select("table.context tbody tr")}
    assert shown in rows[f"{key}.port"] and "A context that you may not view" in rows[f"{key}.kept"]
    assert hidden not in page and "former value" not in page


def test_dynamic_groups_of_an_object_are_listed(browser: Browser, make: Any, made: Any, unique: Unique) -> None:
    inside, outside = unique(), unique()
    item = make(ROLES, description="Hall 7")
    for name, hall in ((inside, "Hall 7"), (outside, "Hall 8")):
        group = {"name": name, "slug": name, "content_type": "ipam.role", "filter": {"description": [hall]}}
        made("dynamic-groups", group)
    page = browser.get(f"/ipam/roles/{item['id']}/dynamic-groups/")
    assert inside in page and outside not in page


def test_the_members_of_a_dynamic_group_are_a_tab_of_it(browser: Browser, make: Any, made: Any, unique: Unique) -> None:
    names = [unique() for _ in range(3)]
    for name, hall in zip(names, ("Hall 4", "Hall 4", "Hall 5"), strict=True):
        make(ROLES, name=name, description=hall)
    selected = {"description": ["Hall 4"]}
    group = made(
        "dynamic-groups", {"name": names[0], "slug": names[0], "content_type": "ipam.role", "filter": selected}
    )
    path = f"/extras/dynamic-groups/{group['id']}/members/"
    assert browser.get(path.removesuffix("members/")).html.find("a", href=path).text.strip() == "Members"
    page = browser.get(path, status=200).html
    rows = page.select("#results tbody th")
    assert page.find("a", string="API", href=f"/api{path}") is not None
    assert sorted(row.text for row in rows) == sorted(names[:2])


def test_groups_that_are_not_evaluated_are_told(
    browser: Browser, make: Any, made: Any, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups_tab, "MAX_GROUPS", 1)
    item, selected = make(ROLES, description="Hall 9"), {"description": ["Hall 9"]}
    for name in (f"!{unique()}", unique()):
        made("dynamic-groups", {"name": name, "slug": name.strip("!"), "content_type": "ipam.role", "filter": selected})
    page = browser.get(f"/ipam/roles/{item['id']}/dynamic-groups/")
    assert "more groups of this content type were not checked" in page
    assert page.html.find("a", href="/extras/dynamic-groups/?content_type=ipam.role") is not None


def test_groups_that_the_database_cannot_evaluate_hide_no_others(
    browser: Browser, make: Any, made: Any, unique: Unique
) -> None:
    description, others = unique(), [f"zz{number}" for number in range(500)]
    item = make(ROLES, description=description)
    names = [unique() for _ in range(3)]
    met = {"description": [description]}
    for name, selected in zip(names, (met, {"name__ic": others}, met), strict=True):
        made("dynamic-groups", {"name": name, "slug": name, "content_type": "ipam.role", "filter": selected})
    page = browser.get(f"/ipam/roles/{item['id']}/dynamic-groups/")
    assert [name in page for name in names] == [True, False, True]


# -- links, jobs, exports


def test_custom_links_are_in_the_head_of_the_object_for_everybody_who_may_view_it(
    service: Service, browser: Browser, make_user: MakeUser, make_site: Any, made: Any, unique: Unique
) -> None:
    name = unique()
    targets = ["https://wiki.example.com/{{ obj.name }}", "javascript:alert(1)", "https://example.com/", "{{ 1 / 0 }}"]
    texts = [
        f"{name} of {{{{ obj.name }}}}",
        f"{name} bad",
        f"{{% if false %}}{name} hidden{{% endif %}}",
        f"{name} broken",
    ]
    for number, (target, text) in enumerate(zip(targets, texts, strict=True)):
        body = {"name": f"{name} {number}", "content_type": "dcim.site", "text": text, "target_url": target}
        made("custom-links", {**body, "new_window": False})
    site = make_site()
    panel = panel_of(browser, site, "links")
    links = [(link.text, link["href"]) for link in panel.select("a") if link.text.startswith(name)]
    assert links == [(f"{name} of {site['name']}", f"https://wiki.example.com/{site['name']}")]
    failures = [failure["title"] for failure in panel.select(".failure")]
    reader = Browser(service, make_user(("view", "dcim.site"), password="a password"))
    reader.get("/extras/custom-links/", status=403)
    assert [
        (link.text, link["href"]) for link in panel_of(reader, site, "links").select("a") if name in link.text
    ] == links
    assert [title for title in failures if name in title] == [f"The template of {name} {n} failed" for n in (1, 3)]


def test_export_templates_are_offered_for_one_object(
    browser: Browser, make_site: Any, made: Any, unique: Unique
) -> None:
    name = unique()
    body = {
        "name": name,
        "content_type": "dcim.site",
        "template_code": "{% for obj in queryset %}{{ obj.name }};{% endfor %}",
    }
    made("export-templates", body)
    site = make_site()
    link = panel_of(browser, site, "links").find("a", string=name)
    assert browser.get(link["href"], status=200).text == f"{site['name']};"


def test_a_list_offers_the_export_templates_that_one_may_view_with_its_filters(
    service: Service, browser: Browser, make_site: Any, made: Any, make_user: MakeUser, unique: Unique
) -> None:
    name, hidden = unique(), unique()
    code = "{% for obj in queryset %}{{ obj.name }};{% endfor %}"
    for title, label in ((name, "dcim.site"), (hidden, "dcim.site"), (f"{name} other", "dcim.rack")):
        made("export-templates", {"name": title, "content_type": label, "template_code": code})
    site, _ = make_site(), make_site()
    menu = browser.get(f"/dcim/sites/?name={site['name']}&ordering=-name&per_page=25").html
    assert menu.find("a", string=hidden) and not menu.find("a", string=f"{name} other")
    assert browser.get(menu.find("a", string=name)["href"]).text == f"{site['name']};"
    reader = make_user(("view", "dcim.site"), ("view", "extras.exporttemplate", {"name": name}), password=PASSWORD)
    page = Browser(service, reader).get("/dcim/sites/").html
    assert page.find("a", string=name) and not page.find("a", string=hidden)
    plain = make_user(("view", "dcim.site"), password=PASSWORD)
    assert not Browser(service, plain).get("/dcim/sites/").html.find("a", string=name)


@pytest.mark.parametrize("confirmation", [True, False])
def test_a_job_button_runs_its_job_for_the_object(
    service: Service, browser: Browser, make_site: Any, made: Any, unique: Unique, confirmation: bool
) -> None:
    jobs = service.api.get("/api/extras/jobs/", {"is_job_button_receiver": True, "limit": 0})["results"]
    job = next(item for item in jobs if item["installed"])
    service.api.patch(job["url"], {"enabled": True})
    name = unique()
    body = {"name": name, "text": "Check {{ obj.name }}", "job": job["id"], "content_types": ["dcim.site"]}
    made("job-buttons", {**body, "confirmation": confirmation})
    site = make_site()
    panel = panel_of(browser, site, "links")
    if confirmation:
        response = browser.get(panel.find("a", string=f"Check {site['name']}")["href"]).form().submit(status=303)
    else:
        response = browser.post(panel.select_one("form")["action"], status=303)
    assert response.headers["Location"].startswith("/extras/job-results/")
    service.api.patch(job["url"], {"enabled": job["enabled"]})
