"""The page *Try it* of templates: what they render for a chosen object, before they are saved."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

TEMPLATES = "/api/extras/export-templates/"


@pytest.fixture
def sites(service: Service, unique: Unique) -> list[Any]:
    """Two sites."""
    word = unique()
    bodies = [{"name": f"{word} {place}", "status": "active", "facility": f"F{place}"} for place in "ab"]
    made: list[Any] = service.api.post("/api/dcim/sites/", bodies)
    return made


@pytest.fixture
def template(service: Service, unique: Unique) -> Any:
    """An export template of sites."""
    body = {
        "name": unique(),
        "content_type": "dcim.site",
        "template_code": "{% for s in queryset %}{{ s }};{% endfor %}",
    }
    return service.api.post(TEMPLATES, body)


def path_of(template: Any) -> str:
    """The path of the page."""
    return f"/extras/export-templates/{template['id']}/try/"


def output(page: Any) -> str:
    """The output on the page."""
    return str(page.html.select_one("#output").text)


def test_the_page_renders_what_is_stored_for_chosen_objects(browser: Browser, sites: Any, template: Any) -> None:
    detail = browser.get(f"/extras/export-templates/{template['id']}/")
    assert detail.html.find("a", href=path_of(template)).text.strip() == "Try it"
    word = sites[0]["name"].rpartition(" ")[0]
    page = browser.get(f"{path_of(template)}?search={word}")
    assert f"{sites[0]['name']};{sites[1]['name']};" in output(page)
    form = page.form()
    form["object"] = sites[1]["id"]
    assert f"Output\n{sites[1]['name']};" in output(form.submit(status=200)).replace("\n\n", "\n")


def test_changes_are_tried_before_they_are_saved(service: Service, browser: Browser, sites: Any, template: Any) -> None:
    form = browser.get(f"{path_of(template)}?search={sites[0]['name']}").form()
    form["template_code"] = "{% for s in queryset %}\n{{ s.facilty }}\n{% endfor %}"
    tried = form.submit(status=200)
    assert "Line 2: site has no attribute 'facilty'. Did you mean 'facility'?" in output(tried)
    assert tried.html.select_one("#output mark").text == "{{ s.facilty }}"
    assert tried.html.select_one("textarea")["aria-describedby"] == "error-template_code"
    assert service.api.get(template["url"])["template_code"] == template["template_code"]
    form = tried.form()
    form["template_code"] = "{% for s in queryset %}{{ s.facility }}{% endfor %}"
    form.action = f"{path_of(template)}save/"
    assert form.submit(status=303).location.endswith(f"/extras/export-templates/{template['id']}/")
    assert "s.facility" in service.api.get(template["url"])["template_code"]


def test_what_does_not_compile_is_not_saved_and_stays_in_the_form(browser: Browser, template: Any) -> None:
    page = browser.post(f"{path_of(template)}save/", {"template_code": "{% for %}"}, status=422)
    assert "This template does not compile. Line 1" in page.html.select_one(".notice.danger").text
    assert "{% for %}" in page.html.select_one("textarea").text


@pytest.mark.parametrize(
    ("path", "own", "text"),
    [
        ("computed-fields", {"label": "Word", "template": "{{ obj.name }}!", "fallback_value": "none"}, "!"),
        (
            "custom-links",
            {"text": "{{ obj }}", "target_url": "https://x.example/{{ obj.id }}", "new_window": False},
            "https://x.example/",
        ),
    ],
)
def test_computed_fields_and_links_are_tried_too(
    service: Service, browser: Browser, sites: Any, unique: Unique, path: str, own: Any, text: str
) -> None:
    name = {"name": unique()} if path == "custom-links" else {"slug": unique().replace("-", "_"), "label": unique()}
    made = service.api.post(f"/api/extras/{path}/", {**own, "content_type": "dcim.site", **name})
    page = browser.get(f"/extras/{path}/{made['id']}/try/?search={sites[0]['name']}")
    assert sites[0]["name"] in output(page) and text in output(page)
    if path == "computed-fields":
        page = browser.post(f"/extras/{path}/{made['id']}/try/", {"template": "{{ obj.nmae }}"}, status=200)
        assert "Did you mean 'name'?" in output(page) and "Shown in its place: none" in output(page)
    service.api.delete(made["url"])


def test_who_may_not_change_a_template_does_not_get_the_page(
    service: Service, template: Any, sites: Any, make_user: Any
) -> None:
    viewer = Browser(service, make_user(("view", ["extras.exporttemplate", "dcim.site"]), password=PASSWORD))
    assert "Try it" not in viewer.get(f"/extras/export-templates/{template['id']}/")
    viewer.get(path_of(template), status=403)
    editor = Browser(
        service, make_user(("view", "extras.exporttemplate"), ("change", "extras.exporttemplate"), password=PASSWORD)
    )
    assert "You may not view these objects." in output(editor.get(path_of(template)))


@pytest.mark.parametrize("query", ["search=%ed%a0%80", "search=%00", "object=%ff", "q=%ed%a0%80", "%ff=%ff"])
def test_a_query_that_is_no_text_is_answered(browser: Browser, service: Service, unique: Unique, query: str) -> None:
    body = {"name": unique(), "content_type": "dcim.site", "template_code": "{{ queryset | length }}"}
    template = service.api.post(TEMPLATES, body)
    assert browser.get(f"{path_of(template)}?{query}").html.h1
