"""The API in a browser without scripts: answers as pages, and editors that send requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from netinv_testing import Account, Api, Case, Service, Unique
from netinv_web import json_markup
from netinv_web.testing import Browser

pytestmark = pytest.mark.any_database
TENANTS = "/api/tenancy/tenants/"
PASSWORD = "a password for the browsable API"


@pytest.fixture
def browser(service: Service, make_user: Any) -> Browser:
    """The browser of a user who may view, add, change and delete tenants."""
    account: Account = make_user(("view add change delete", "tenancy.tenant"), password=PASSWORD)
    return Browser(service, account)


def editor(page: Any, method: str) -> Any:
    """The form that sends a method."""
    forms = [form for form in page.forms.values() if form.action == "/api-request/" and "_body" in form.fields]
    return next(form for form in forms if form["_method"].value == method)


def inputs(page: Any) -> Any:
    """The form with an input for each field."""
    return next(form for form in page.forms.values() if "_controls" in form.fields)


def test_an_answer_is_shown_with_status_headers_and_links(browser: Browser, api: Api, unique: Unique) -> None:
    name = f'"><script>{unique()}'
    tenant = api.post(TENANTS, {"name": name, "slug": unique()})
    path = f"{TENANTS}{tenant['id']}/"
    page = browser.get(path, status=200)
    assert json.loads(page.html.select_one("pre.json").text)["name"] == name
    assert "<script>" + name[10:] not in page.text
    assert page.html.select_one(f"pre.json a[href='{path}']")
    assert "200 OK" in page and "Allow: GET, PUT, PATCH, DELETE" in page and " ms" in page
    assert "unsafe-inline" not in page.headers["Content-Security-Policy"]
    link = page.html.select_one(f"main a[href='{path.removeprefix('/api')}']")
    assert browser.get(link["href"], status=200).html.select_one(f"a[href='{path}']")


def test_a_large_answer_is_shown_whole_with_a_bounded_number_of_marks(
    service: Service, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 1000
    monkeypatch.setattr(json_markup, "MAX_MARKED", most)
    data = {"lists": [[number, {"x<y": []}] for number in range(most)], "after": {"url": "http://x/"}}
    path = service.api.post("/api/extras/config-contexts/", {"name": unique(), "data": data, "is_active": False})["url"]
    page = Browser(service, service.admin).get(path)
    assert most / 2 < page.text.count('<span class="json-') <= 2 * most  # a member has two
    shown = page.html.select_one("pre.json").text
    assert json.loads(shown)["data"] == data
    assert shown == json.dumps(json.loads(shown), indent=2)


@pytest.mark.parametrize("rest", ["//example.com/", "/\\example.com/", "/\t/example.com/"])
def test_a_url_of_this_service_is_no_link_to_another_host(service: Service, unique: Unique, rest: str) -> None:
    data = {"url": f"http://localhost{rest}"}
    path = service.api.post("/api/extras/config-contexts/", {"name": unique(), "data": data, "is_active": False})["url"]
    links = [link["href"] for link in Browser(service, service.admin).get(path).html.select("pre.json a")]
    assert data["url"] in links
    assert not [link for link in links if link == rest]


def test_lists_keep_their_filters_in_versions_formats_and_the_page(browser: Browser, api: Api, unique: Unique) -> None:
    name = unique()
    api.post(TENANTS, {"name": name})
    page = browser.get(f"{TENANTS}?name={name}", status=200)
    assert page.html.select_one(f"main a[href='/tenancy/tenants/?name={name}']")
    shown = browser.get(f"/tenancy/tenants/?name={name}&ordering=-name&page=1&per_page=25&_columns=slug")
    assert shown.html.select_one(f"#list a[href='{TENANTS}?name={name}&ordering=-name']").text == "API"
    form = next(form for form in page.forms.values() if form.action == TENANTS)
    form["api_version"], form["format"] = "1.4", "csv"
    answer = form.submit(status=200)
    assert answer.content_type == "text/csv" and name in answer
    form["format"] = ""
    assert "API-Version: 1.4" in form.submit(status=200)


def test_an_object_is_created_changed_and_deleted_by_editors(browser: Browser, api: Api, unique: Unique) -> None:
    name = unique()
    form = editor(browser.get(TENANTS), "POST")
    body = json.loads(form["_body"].value)
    assert "name" in body
    form["_body"] = json.dumps({**body, "name": name})
    assert "201 Created" in form.submit(status=200)
    (tenant,) = api.get(TENANTS, {"name": name})["results"]
    form = editor(browser.get(f"{TENANTS}{tenant['id']}/"), "PUT")
    form["_body"] = json.dumps({**json.loads(form["_body"].value), "description": "changed"})
    assert "200 OK" in form.submit(status=200)
    assert api.get(f"{TENANTS}{tenant['id']}/")["description"] == "changed"
    assert "204 No Content" in editor(browser.get(f"{TENANTS}{tenant['id']}/"), "DELETE").submit(status=200)
    api.get(f"{TENANTS}{tenant['id']}/", status=404)


@pytest.mark.night
def test_a_dry_run_changes_nothing(browser: Browser, api: Api, unique: Unique) -> None:
    name = unique()
    form = editor(browser.get(TENANTS), "POST")
    form["_body"], form["_dry_run"] = json.dumps({"name": name}), True
    assert name in form.submit(status=200)
    assert api.get(TENANTS, {"name": name})["count"] == 0


def test_errors_are_shown_as_the_api_gives_them(browser: Browser) -> None:
    form = editor(browser.get(TENANTS), "POST")
    form["_body"] = "{}"
    page = form.submit(status=400)
    assert json.loads(page.html.select_one("pre.json").text) == {"name": ["This field is required."]}
    form["_body"] = "{"
    assert "400 Bad Request" in form.submit(status=400)
    page = browser.get(f"{TENANTS}?nothing=1", status=400)
    assert "nothing" in json.loads(page.html.select_one("pre.json").text)
    browser.get(f"{TENANTS}?nothing=1", headers={"Accept": "application/json"}, status=400).json["nothing"]


# -- forms


def test_a_form_has_an_input_for_each_field_and_creates_an_object(
    service: Service, browser: Browser, api: Api, unique: Unique
) -> None:
    name, group = unique(), api.post("/api/tenancy/tenant-groups/", {"name": unique()})
    form = inputs(browser.get(TENANTS))
    names = {name.partition(".")[0] for name in form["_controls"].value.split(",")}
    writable = {
        name for name, field in service.registry["tenancy.tenant"].fields.items() if not field.options()["read_only"]
    }
    assert names | {"custom_fields", "relationships"} == writable, "those have inputs where users defined some"
    form["name"], form["description"] = name, "by a form"
    page = form.submit("_method", value="POST", status=200)
    assert "201 Created" in page and json.loads(page.html.select_one("#body-again").text) == {
        "name": name,
        "description": "by a form",
    }
    (tenant,) = api.get(TENANTS, {"name": name})["results"]
    form = inputs(Browser(service, service.admin).get(f"{TENANTS}{tenant['id']}/"))
    form["group"].force_value(group["id"])  # the first options of many are in the page; scripts add others
    page = form.submit("_method", value="PATCH", status=200)
    assert json.loads(page.html.select_one("#body-again").text) == {"group": group["id"]}
    assert api.get(tenant["url"])["group"]["id"] == group["id"]


def test_a_form_sends_all_fields_by_put_or_tries_them(browser: Browser, api: Api, unique: Unique) -> None:
    tenant = api.post(TENANTS, {"name": unique(), "description": "before"})
    form = inputs(browser.get(tenant["url"]))
    form["description"], form["_dry_run"] = "", True
    page = form.submit("_method", value="PUT", status=200)
    sent = json.loads(page.html.select_one("#body-again").text)
    assert (sent["name"], sent["slug"], sent["description"], sent["tags"]) == (tenant["name"], tenant["slug"], "", [])
    assert api.get(tenant["url"])["description"] == "before"
    form["_dry_run"] = False
    form.submit("_method", value="PUT", status=200)
    assert api.get(tenant["url"])["description"] == ""


def test_a_form_that_is_refused_keeps_its_texts_with_the_errors(browser: Browser, api: Api, unique: Unique) -> None:
    tenant = api.post(TENANTS, {"name": unique()})
    form = inputs(browser.get(TENANTS))
    form["name"], form["slug"] = tenant["name"], "no slug!"
    again = form.submit("_method", value="POST", status=400)
    assert inputs(again)["name"].value == tenant["name"]
    assert "slug" in again.html.select_one("#error-slug").text and again.html.select_one("#api-form")["open"] == ""
    api.post(
        "/api/extras/custom-fields/",
        {"slug": "of_form", "label": "Of form", "type": "json", "content_types": ["tenancy.tenant"]},
    )
    form = inputs(browser.get(tenant["url"]))
    form["custom_fields.of_form"] = "{"
    page = form.submit("_method", value="PATCH", status=422)
    assert "not JSON" in page.words and page.html.select_one("#api-answer") is None


@pytest.mark.parametrize("label", ["dcim.device", "dcim.devicetype", "extras.webhook", "users.objectpermission"])
def test_a_form_of_an_object_as_it_was_changes_nothing(service: Service, label: str) -> None:
    item = Case(service, label).for_reading().filled()
    form = inputs(Browser(service, service.admin).get(item["url"]))
    page = form.submit("_method", value="PATCH", status=200)
    assert "200 OK" in page and page.html.select_one("#body-again").text.strip() == "{}"


@pytest.mark.parametrize(
    ("path", "method"), [("/login/", "POST"), ("//example.com/api/", "POST"), (TENANTS, "GET"), ("", "")]
)
def test_only_requests_to_the_api_are_sent(browser: Browser, path: str, method: str) -> None:
    browser.post("/api-request/", {"_path": path, "_method": method, "_body": "{}"}, status=422)


def test_a_page_of_another_site_cannot_send_requests(browser: Browser, api: Api, unique: Unique) -> None:
    name = unique()
    form = {"_path": TENANTS, "_method": "POST", "_body": json.dumps({"name": name})}
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        browser.post("/api-request/", form, headers=headers, status=403)
    assert api.get(TENANTS, {"name": name})["count"] == 0


def test_editors_are_those_that_a_user_may_use(service: Service, make_user: Any, api: Api, unique: Unique) -> None:
    reader = Browser(service, make_user(("view", "tenancy.tenant"), password=PASSWORD))
    page = reader.get(TENANTS, status=200)
    assert not page.html.select("form[action='/api-request/']")
    form = {"_path": TENANTS, "_method": "POST", "_body": json.dumps({"name": unique()})}
    assert "403 Forbidden" in reader.post("/api-request/", form, status=403)


def test_a_visitor_is_led_to_the_sign_in_and_a_client_gets_json(service: Service) -> None:
    assert Browser(service).get("/api/", status=303).headers["Location"].startswith("/login/?next=")
    assert Browser(service).get("/api/", headers={"Accept": "application/json"}, status=403).json
    Browser(service).post("/api-request/", {"_path": TENANTS, "_method": "POST"}, status=403)
