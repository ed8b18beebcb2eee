"""*Try it* below the forms of new and stored templates: what the text in the form renders."""

from __future__ import annotations

import json
from typing import Any

import pytest

from netinv_testing import Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

FORMS = {
    "export-templates": ({"template_code": "{% for s in queryset %}[{{ s.name }}]{% endfor %}"}, "[{name}]"),
    "computed-fields": ({"template": "{{ obj.name }}!"}, "{name}!"),
    "custom-links": (
        {"text": "{{ obj }}", "target_url": "https://x.example/{{ obj.name }}"},
        "https://x.example/{name}",
    ),
    "job-buttons": ({"text": "Drain {{ obj.name }}"}, "Drain {name}"),
}


@pytest.fixture
def tenant(service: Service, unique: Unique) -> Any:
    """A tenant."""
    return service.api.post("/api/tenancy/tenants/", {"name": unique()})


def tried(form: Any, **entered: Any) -> Any:
    """The page after the button of the part, with these values in the form."""
    for name, value in entered.items():
        form[name] = value
    return form.submit("_show_again", value="try", status=200)


def part_of(page: Any) -> Any:
    """The part of the form that shows what the template renders."""
    return page.html.select_one("form #part-try")


def types_for(path: str) -> dict[str, Any]:
    """The content type of tenants, as the form of a kind of templates has it."""
    return {"content_types": ["tenancy.tenant"]} if path == "job-buttons" else {"content_type": "tenancy.tenant"}


@pytest.mark.parametrize("path", FORMS)
def test_the_form_of_a_new_template_shows_what_it_renders_for_a_chosen_object(
    browser: Browser, service: Service, tenant: Any, path: str
) -> None:
    texts, expected = FORMS[path]
    before = service.api.get(f"/api/extras/{path}/")["count"]
    form = browser.get(f"/extras/{path}/add/").form()
    page = tried(form, **texts, **types_for(path))
    page = tried(page.form(), _try_search=tenant["name"])
    page = tried(page.form(), _try_object=tenant["id"])
    assert expected.format(name=tenant["name"]) in part_of(page).text
    assert service.api.get(f"/api/extras/{path}/")["count"] == before
    assert all(page.form()[name].value == text for name, text in texts.items())


@pytest.mark.parametrize("path", FORMS)
def test_an_error_is_shown_with_its_line_and_nothing_is_saved(browser: Browser, tenant: Any, path: str) -> None:
    texts, _ = FORMS[path]
    name = next(iter(texts))
    mistaken = "queryset.nmae" if path == "export-templates" else "obj.nmae"
    lines = (
        ["{# one line #}", f"{{{{ {mistaken} }}}}"]
        if path in ("export-templates", "computed-fields")
        else [f"{{{{ {mistaken} }}}}"]
    )
    form = browser.get(f"/extras/{path}/add/").form()
    page = tried(form, **{**texts, name: "\n".join(lines)}, **types_for(path))
    assert f"Line {len(lines)}: " in part_of(page).text
    assert "nmae" in part_of(page).select_one("mark").text


def test_a_stored_template_is_tried_with_the_text_in_its_form(
    service: Service, browser: Browser, tenant: Any, unique: Unique
) -> None:
    body = {"name": unique(), "content_type": "tenancy.tenant", "text": "old", "target_url": "https://x.example/"}
    body["new_window"] = False
    link = service.api.post("/api/extras/custom-links/", body)
    form = browser.get(f"/extras/custom-links/{link['id']}/edit/").form()
    assert "old" not in part_of(browser.get(f"/extras/custom-links/{link['id']}/edit/")).text
    page = tried(form, text="new {{ obj.name|length }}")
    assert "new " in part_of(page).text
    assert service.api.get(link["url"])["text"] == "old"
    assert page.form().submit(status=303)
    assert service.api.get(link["url"])["text"] == "new {{ obj.name|length }}"
    service.api.delete(link["url"])


def test_without_a_content_type_the_part_asks_for_one(browser: Browser) -> None:
    page = tried(browser.get("/extras/computed-fields/add/").form(), template="{{ obj }}")
    assert "Choose a content type." in part_of(page).text


def test_a_search_without_results_can_be_repeated(browser: Browser, tenant: Any) -> None:
    form = browser.get("/extras/computed-fields/add/").form()
    page = tried(form, template="{{ obj.name }}", content_type="tenancy.tenant")
    page = tried(page.form(), _try_search="no such tenant anywhere")
    assert "There are no tenants that match." in part_of(page).text
    page = tried(page.form(), _try_search=tenant["name"])
    assert tenant["name"] in part_of(page).select_one("code").text


def test_objects_that_the_user_may_not_view_are_not_offered(service: Service, tenant: Any, make_user: Any) -> None:
    author = Browser(
        service, make_user(("view", "extras.computedfield"), ("add", "extras.computedfield"), password=PASSWORD)
    )
    form = author.get("/extras/computed-fields/add/").form()
    page = tried(form, template="{{ obj.name }}", content_type="tenancy.tenant")
    assert "You may not view these objects." in part_of(page).text
    assert tenant["name"] not in page.text


# -- webhooks


def webhook_form(browser: Browser, **entered: Any) -> Any:
    """The form of a new webhook for tenants that are created."""
    form = browser.get("/extras/webhooks/add/").form()
    for name, value in {"content_types": ["tenancy.tenant"], "type_create": True, **entered}.items():
        form[name] = value
    return form


def test_the_templates_of_a_new_webhook_are_tried_with_the_newest_change(browser: Browser, tenant: Any) -> None:
    form = webhook_form(browser, body_template='{"who": "{{ data.name }}"}', additional_headers="X-Event: {{ event }}")
    text = part_of(tried(form)).text
    assert f'{{"who": "{tenant["name"]}"}}' in text
    assert "X-Event: created" in text
    assert f"As for the newest change that matches: Tenant {tenant['name']}." in text


def test_the_conditions_of_a_new_webhook_are_tried_with_the_newest_change(browser: Browser, tenant: Any) -> None:
    for entered, expected in (
        (f'{{"after": {{"name": ["{tenant["name"]}"]}}}}', "after: holds"),
        ('{"after": {"name": ["another"]}, "before": {}}', "before: does not hold after: does not hold"),
        ('{"after": {"nmae": ["x"]}}', "after: "),
        ('{"after": ', "This is not JSON"),
        ('{"later": {}}', "conditions.later: There is no such part"),
        ("[]", "An object is required"),
        (json.dumps({"after": {"name__ic": [str(number) for number in range(2000)]}}), "netinv.max_compared_values"),
        ('{"after": {"group": ["nowhere"]}}', "Select a valid choice"),
        ("", "Without a template the body is the change as JSON."),
    ):
        page = tried(webhook_form(browser, conditions=entered))
        text = " ".join(part_of(page).text.split())
        assert expected in text, (entered, text)
        assert page.form()["conditions"].value == entered


def test_errors_of_the_templates_of_a_webhook_are_shown_with_their_line(browser: Browser, tenant: Any) -> None:
    page = tried(webhook_form(browser, body_template="{\n{{ data.name.x.y }}\n}"))
    assert "Line 2: " in part_of(page).text
    assert part_of(page).select_one("mark").text == "{{ data.name.x.y }}"
    page = tried(webhook_form(browser, body_template="{{ event }}"))
    assert "The rendered body is not valid JSON, but is sent as application/json" in part_of(page).text
    page = tried(webhook_form(browser, body_template="{{ event }}", http_content_type="text/plain"))
    assert "created" in part_of(page).select_one("code").text


def test_changes_that_the_user_may_not_view_are_not_rendered(service: Service, tenant: Any, make_user: Any) -> None:
    author = Browser(service, make_user(("view", "extras.webhook"), ("add", "extras.webhook"), password=PASSWORD))
    page = tried(webhook_form(author, body_template='"{{ data.name }}"'))
    assert "With an invented change" in part_of(page).text
    assert tenant["name"] not in page.text
