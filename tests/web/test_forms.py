"""Forms for one object without scripts: values, errors, merges of changes, clones and deletion."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.forms.form import readable
from netinv_web.testing import Browser, BrowserPage
from tests.support import REPOSITORY

pytestmark = pytest.mark.any_database
Make = Callable[..., Any]


@pytest.fixture
def site(make: Make) -> Any:
    """A site."""
    return make("/api/dcim/sites/", status="active")


def edit_form(browser: Browser, path: str) -> Any:
    """The form of the object with a path of the API."""
    return browser.get(f"{path.removeprefix('/api')}edit/").form()


def path_of(item: Any) -> str:
    """The path of an object's page."""
    return str(item["url"].partition("/api")[2])


def changes_of(api: Api, item: Any) -> list[Any]:
    """The change records of an object, newest first."""
    return list(api.get("/api/extras/object-changes/", {"changed_object_id": item["id"]})["results"])


def error_of(page: BrowserPage, name: str) -> str:
    """The text of the error at a control."""
    return str(page.html.select_one(f"p[id='error-{name}']").text).strip()


FOLDERS = [*REPOSITORY.glob("netinv_*"), REPOSITORY / "plugins"]
FORM = re.compile(r"<form([^>]*)>(.*?)</form>", re.DOTALL)
CONTROL = re.compile(r"""<(input|select|textarea)((?:[^<>"']|"[^"]*"|'[^']*')*)""")


def names_of(text: str, *, hidden: bool) -> set[str]:
    """The names of the controls of a template's form that are hidden, or of those that are not."""
    controls = [attributes for _, attributes in CONTROL.findall(text) if ('type="hidden"' in attributes) == hidden]
    return {name for attributes in controls for name in re.findall(r'\bname="([^"]+)"', attributes)}


def test_no_form_that_writes_holds_a_choice_of_another_form_as_it_was_shown() -> None:
    """A button writes what is chosen when it is pressed: the choice of a preview and its button are of one form."""
    apart, read = [], 0
    for file in sorted(file for folder in FOLDERS for file in folder.rglob("*.jinja2") if "build" not in file.parts):
        forms = FORM.findall(file.read_text())
        read += len(forms)
        chosen = {name for start, text in forms if "post" not in start for name in names_of(text, hidden=False)}
        sent = {name for start, text in forms if "post" in start for name in names_of(text, hidden=True)}
        apart += [f"{file.name}: {name}" for name in chosen & sent]
    assert read > 50 and apart == []


# -- kinds of controls


@pytest.fixture
def custom_fields(api: Api, service: Service) -> dict[str, str]:
    """Custom fields of sites, one of each type: slugs by type."""
    slugs = {}
    for type_ in ("text", "integer", "boolean", "date", "url", "select", "multi-select", "json", "markdown"):
        slug = service.unique().replace("-", "_")
        body = {"label": slug, "slug": slug, "type": type_, "content_types": ["dcim.site"]}
        field = api.post("/api/extras/custom-fields/", body)
        if "select" in type_:
            for value in ("one", "two"):
                api.post("/api/extras/custom-field-choices/", {"field": field["id"], "value": value})
        slugs[type_] = slug
    return slugs


def test_each_custom_field_has_a_control_of_its_type(
    browser: Browser, api: Api, site: Any, custom_fields: dict[str, str]
) -> None:
    form = edit_form(browser, site["url"].partition("localhost")[2])
    entered = {
        "text": "a text",
        "integer": "12",
        "boolean": "false",
        "date": "2026-01-31",
        "url": "https://example.com/",
        "select": "two",
        "json": '{"a": [1]}',
        "markdown": "**bold**",
    }
    for type_, text in entered.items():
        form[f"custom_fields.{custom_fields[type_]}"] = text
    form.get(f"custom_fields.{custom_fields['multi-select']}", index=0).checked = True
    form.submit()
    values = api.get(f"/api/dcim/sites/{site['id']}/")["custom_fields"]
    expected = {**entered, "integer": 12, "boolean": False, "json": {"a": [1]}, "multi-select": ["one"]}
    assert {type_: values[slug] for type_, slug in custom_fields.items()} == expected
    before = len(changes_of(api, site))
    edit_form(browser, f"/api/dcim/sites/{site['id']}/").submit()
    assert len(changes_of(api, site)) == before
    for field in api.get("/api/extras/custom-fields/", {"content_types": "dcim.site", "limit": 0})["results"]:
        if field["slug"] in custom_fields.values():
            api.delete(f"/api/extras/custom-fields/{field['id']}/")


def test_relationships_are_pickers(browser: Browser, api: Api, make: Make, site: Any, service: Service) -> None:
    slug, tenant = service.unique(), make("/api/tenancy/tenants/")
    relationship = api.post(
        "/api/extras/relationships/",
        {
            "name": slug,
            "slug": slug,
            "type": "many-to-many",
            "source_type": "dcim.site",
            "destination_type": "tenancy.tenant",
        },
    )
    path = f"/api/dcim/sites/{site['id']}/"
    form = edit_form(browser, path)
    name = f"relationships.{slug}.destination"
    if f"_text_{name}" in form.fields:
        form[f"_text_{name}"] = tenant["slug"]
    else:
        form[name] = [tenant["id"]]
    form.submit()
    related = api.get(path, {"include": "relationships"})["relationships"][slug]["destination"]["objects"]
    assert [item["id"] for item in related] == [tenant["id"]]
    api.delete(f"/api/extras/relationships/{relationship['id']}/")


def test_a_reference_that_fits_nothing_says_what_was_looked_for(browser: Browser, site: Any) -> None:
    """In the words of problems, not in those that clients of version 1 expect."""
    path = f"/dcim/sites/{site['id']}/edit/"
    form = edit_form(browser, f"/api/dcim/sites/{site['id']}/")
    page = browser.post(path, [*form.submit_fields(), ("_text_tenant", "no-such-tenant")], status=422)
    assert "No tenant with slug no-such-tenant." in page.text and "Related object" not in page.text


def test_a_picker_takes_what_was_typed_beside_it(browser: Browser, api: Api, make: Make, site: Any) -> None:
    """A name, a slug, an id or the address of a page stand for an object, also where a select would be too long."""
    tenant = make("/api/tenancy/tenants/")
    path = f"/api/dcim/sites/{site['id']}/"
    for text in (tenant["slug"], tenant["id"], f"http://localhost/tenancy/tenants/{tenant['id']}/"):
        api.patch(path, {"tenant": None})
        form = edit_form(browser, path)
        values = [*form.submit_fields(), ("_text_tenant", text)]
        browser.post(f"/dcim/sites/{site['id']}/edit/", values)
        assert api.get(path)["tenant"]["id"] == tenant["id"]


def test_more_objects_than_a_select_offers_have_a_text_box(browser: Browser, api: Api, service: Service) -> None:
    names = [service.unique() for _ in range(101)]
    api.post("/api/dcim/platforms/", [{"name": name, "slug": name} for name in names])
    page = browser.get("/dcim/devices/add/")
    assert page.html.select("input[name=_text_platform]")
    assert len(page.html.select("#field-platform option")) == 1


def test_a_list_of_numbers_takes_ranges(browser: Browser, api: Api, make: Make) -> None:
    cluster_type = make("/api/virtualization/cluster-types/")
    cluster = make("/api/virtualization/clusters/", type=cluster_type["id"])
    machine = make("/api/virtualization/virtual-machines/", cluster=cluster["id"], status="active")
    body = {"name": "web", "protocol": "tcp", "ports": [80], "virtual_machine": machine["id"]}
    service = api.post("/api/ipam/services/", body)
    path = f"/api/ipam/services/{service['id']}/"
    form = edit_form(browser, path)
    assert form["ports"].value == "80"
    form["ports"] = "22, 80-82"
    form.submit()
    assert api.get(path)["ports"] == [22, 80, 81, 82]


def test_content_types_are_checkboxes_below_sections(browser: Browser, api: Api, service: Service) -> None:
    name = service.unique()
    tag = api.post("/api/extras/tags/", {"name": name, "slug": name, "content_types": ["dcim.site"]})
    path = f"/api/extras/tags/{tag['id']}/"
    form = edit_form(browser, path)
    boxes = list(form.fields["content_types"])
    assert [box._value for box in boxes if box.checked] == ["dcim.site"]
    next(box for box in boxes if box._value == "dcim.device").checked = True
    form.submit()
    assert sorted(api.get(path)["content_types"]) == ["dcim.device", "dcim.site"]


def test_an_error_in_json_names_its_line(browser: Browser, make: Make) -> None:
    platform = make("/api/dcim/platforms/")
    form = edit_form(browser, f"/api/dcim/platforms/{platform['id']}/")
    form["napalm_args"] = '{"a": 1,\n b}'
    page = form.submit(status=422)
    assert "line 2" in error_of(page, "napalm_args")
    assert page.form()["napalm_args"].value == '{"a": 1,\r\n b}', "as browsers send it"


def test_time_zones_are_proposed(browser: Browser) -> None:
    page = browser.get("/dcim/sites/add/")
    zones = [option.get("value") for option in page.html.select("#list-time_zone option")]
    assert "Europe/Zurich" in zones


def test_a_new_object_has_the_defaults_that_the_form_shows(browser: Browser, api: Api, service: Service) -> None:
    name = service.unique()
    form = browser.get("/dcim/device-types/add/").form()
    assert form["is_full_depth"].checked
    manufacturer = api.post("/api/dcim/manufacturers/", {"name": name, "slug": name})
    values = {"manufacturer": "", "model": name, "slug": name, "_text_manufacturer": name, "is_full_depth": "true"}
    page = browser.post("/dcim/device-types/add/", {**values, "_controls": "is_full_depth"})
    created = api.get(f"/api{page.headers['Location']}")
    assert created["manufacturer"]["id"] == manufacturer["id"]
    assert created["is_full_depth"] is True
    page = browser.post(
        "/dcim/device-types/add/", {**values, "model": f"{name}2", "slug": f"{name}2", "is_full_depth": ""}
    )
    assert api.get(f"/api{page.headers['Location']}")["is_full_depth"] is False


# -- errors


def test_a_refused_form_keeps_what_was_entered(browser: Browser, make: Make, site: Any) -> None:
    tenant = make("/api/tenancy/tenants/")
    form = edit_form(browser, f"/api/dcim/sites/{site['id']}/")
    values = [(name, value) for name, value in form.submit_fields() if name not in ("name", "latitude", "tenant")]
    values += [("name", ""), ("latitude", "north"), ("tenant", tenant["id"])]
    page = browser.post(f"/dcim/sites/{site['id']}/edit/", values, status=422)
    assert {"#field-name", "#field-latitude"} <= {link["href"] for link in page.html.select("#error-summary a")}
    assert page.form()["latitude"].value == "north"
    assert tenant["name"] in [option.text for option in page.html.select("#field-tenant option")]


def test_the_error_of_a_custom_field_is_at_its_control(
    browser: Browser, api: Api, site: Any, custom_fields: dict[str, str]
) -> None:
    form = edit_form(browser, f"/api/dcim/sites/{site['id']}/")
    form[f"custom_fields.{custom_fields['date']}"] = "tomorrow"
    page = form.submit(status=422)
    assert "YYYY-MM-DD" in error_of(page, f"custom_fields.{custom_fields['date']}")


# -- changes of others


def test_changes_of_other_fields_are_merged(browser: Browser, api: Api, site: Any) -> None:
    path = f"/api/dcim/sites/{site['id']}/"
    form = edit_form(browser, path)
    api.patch(path, {"facility": "theirs"})
    form["physical_address"] = "mine"
    page = form.submit().follow()
    assert "Facility" in page.words
    merged = api.get(path)
    assert (merged["facility"], merged["physical_address"]) == ("theirs", "mine")


@pytest.mark.parametrize("version", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "yesterday", ""])
def test_a_version_that_is_no_time_is_none(browser: Browser, api: Api, site: Any, version: str) -> None:
    form = edit_form(browser, path_of(site))
    form["_version"].force_value(version)
    form["facility"] = "Hall 5"
    form.submit()
    assert api.get(site["url"])["facility"] == "Hall 5"


def test_the_same_field_is_shown_with_both_values(browser: Browser, api: Api, service: Service, site: Any) -> None:
    path = f"/api/dcim/sites/{site['id']}/"
    form = edit_form(browser, path)
    api.patch(path, {"facility": "theirs", "description": "also theirs"})
    form["facility"], form["physical_address"] = "mine", "mine too"
    page = form.submit(status=409)
    assert "Theirs: theirs" in page.words
    assert service.admin.username in page.words
    again = page.form()
    assert (again["facility"].value, again["description"].value) == ("mine", "also theirs")
    assert api.get(path)["facility"] == "theirs"
    again["_resolve_facility"] = "theirs"
    again.submit()
    merged = api.get(path)
    assert (merged["facility"], merged["physical_address"]) == ("theirs", "mine too")


def test_the_own_value_can_be_chosen_in_a_conflict(browser: Browser, api: Api, site: Any) -> None:
    path = f"/api/dcim/sites/{site['id']}/"
    form = edit_form(browser, path)
    api.patch(path, {"facility": "theirs"})
    form["facility"] = "mine"
    form.submit(status=409).form().submit()
    assert api.get(path)["facility"] == "mine"


# -- clones and deletion


def test_a_clone_copies_what_does_not_identify_one_object(browser: Browser, api: Api, make: Make) -> None:
    site = make("/api/dcim/sites/", status="active")
    rack = make("/api/dcim/racks/", status="active", site=site["id"], serial="S1", asset_tag="A1", u_height=12)
    form = browser.get("/dcim/racks/add/", {"_clone": rack["id"]}).form()
    assert form["u_height"].value == "12"
    assert form["site"].value == site["id"]
    assert (form["name"].value, form["asset_tag"].value) == ("", "")


def test_a_clone_of_a_mounted_device_has_its_rack_and_face_and_no_position(browser: Browser, make: Make) -> None:
    site = make("/api/dcim/sites/", status="active")
    rack = make("/api/dcim/racks/", status="active", site=site["id"], u_height=12)
    kind = make("/api/dcim/device-types/", manufacturer=make("/api/dcim/manufacturers/")["id"], model="M1")
    kinds = {"device_type": kind["id"], "device_role": make("/api/dcim/device-roles/")["id"]}
    place = {"site": site["id"], "rack": rack["id"], "face": "rear", "position": 3}
    device = make("/api/dcim/devices/", status="active", **kinds, **place)
    form = browser.get("/dcim/devices/add/", {"_clone": device["id"]}).form()
    assert (form["rack"].value, form["face"].value, form["position"].value) == (rack["id"], "rear", "")


@pytest.mark.parametrize(
    ("path", "status"), [("dcim/devices", "active"), ("dcim/cables", "connected"), ("ipam/vlans", "active")]
)
def test_a_form_for_a_new_object_begins_with_the_first_status(browser: Browser, path: str, status: str) -> None:
    assert browser.get(f"/{path}/add/").form()["status"].value == status


def test_the_query_chooses_another_status_than_the_first(browser: Browser) -> None:
    assert browser.get("/dcim/devices/add/", {"status": "planned"}).form()["status"].value == "planned"


def test_the_page_before_a_deletion_names_what_goes_along(browser: Browser, api: Api, make: Make) -> None:
    site = make("/api/dcim/sites/", status="active")
    region = make("/api/dcim/regions/")
    api.patch(f"/api/dcim/sites/{site['id']}/", {"region": region["id"]})
    page = browser.get(f"/dcim/regions/{region['id']}/delete/")
    assert "no longer refer" in page.words
    assert f"/dcim/sites/{site['id']}/" in page.links()
    page.form("").submit()
    assert api.get(f"/api/dcim/sites/{site['id']}/")["region"] is None


def test_the_page_before_a_deletion_names_what_protects(browser: Browser, make: Make) -> None:
    site = make("/api/dcim/sites/", status="active")
    rack = make("/api/dcim/racks/", status="active", site=site["id"])
    page = browser.get(f"/dcim/sites/{site['id']}/delete/")
    assert f"/dcim/racks/{rack['id']}/" in page.links()
    assert "1 dependent object was found." in page.words
    assert not page.html.select("form[method=post]:not([action])")


def test_a_picker_offers_only_what_the_user_may_view(service: Service, make: Make, api: Api) -> None:
    visible, hidden = make("/api/tenancy/tenants/"), make("/api/tenancy/tenants/")
    account = service.user(
        ("view add", "dcim.site"), ("view", "tenancy.tenant", {"name": visible["name"]}), password=PASSWORD
    )
    page = Browser(service, account).get("/dcim/sites/add/")
    offered = json.dumps([option.text for option in page.html.select("#field-tenant option")])
    assert visible["name"] in offered
    assert hidden["name"] not in offered


# -- one field in its place


def test_one_field_is_edited_in_its_place(browser: Browser, api: Api, site: Any) -> None:
    """Scripts fetch the form of one field, and post it to the same address."""
    address = f"/dcim/sites/{site['id']}/edit/?_field=facility"
    assert browser.get(f"/dcim/sites/{site['id']}/").html.select_one("div.facts[data-inline]")
    form = browser.get(address).form()
    assert "name" not in form.fields
    form["facility"] = "F" * 51
    assert "50" in error_of(form.submit(status=422), "facility")
    form["facility"] = "DC1"
    form.submit()
    assert api.get(f"/api/dcim/sites/{site['id']}/")["facility"] == "DC1"


@pytest.mark.parametrize("action", ["view", "change"])
def test_an_object_is_changed_by_those_who_may_view_and_change_it(
    service: Service, make_user: Any, api: Api, make: Make, action: str
) -> None:
    site, other = (make("/api/dcim/sites/", status="active") for _ in range(2))
    kinds = {"view": [("view", "dcim.site", {"id": site["id"]}), ("change", "dcim.site")]}
    kinds["change"] = [("view", "dcim.site"), ("change", "dcim.site", {"id": site["id"]})]
    browser = Browser(service, make_user(*kinds[action], password=PASSWORD))
    form = edit_form(browser, site["url"].partition("/api")[2])
    form["facility"] = "Hall 3"
    form.submit()
    assert api.get(site["url"])["facility"] == "Hall 3"
    browser.post(f"{path_of(other)}edit/", {"facility": "Hall 4"}, status=404)
    assert api.get(other["url"])["facility"] == ""


@pytest.mark.parametrize("path", ["/extras/webhooks/add/", "/users/users/add/", "/dcim/devices/add/"])
def test_browsers_fill_in_no_text_of_an_object(service: Service, browser: Browser, unique: Unique, path: str) -> None:
    """They would take a text above a password for the name of the user's account. Custom fields are such texts, too."""
    label = service.registry.by_path[tuple(path.split("/")[1:3])].label
    if label == "dcim.device":
        name = unique()
        body = {"name": name, "slug": name, "label": name, "type": "text", "content_types": [label]}
        service.api.post("/api/extras/custom-fields/", body)
    page = browser.get(path).html
    texts = page.select("main input[type=text], main input[type=password], main input:not([type])")
    assert texts and all(text.get("autocomplete") for text in texts)


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ({"asset_tag": ["Too long."]}, "Asset tag: Too long."),
        ({"site": {"time_zone": ["Unknown."]}}, "Site: Time zone: Unknown."),
        ([{"name": ["Blank."]}], "Name: Blank."),
        ({"0": ["Wrong."], "__all__": ["Never."]}, "Item 1: Wrong. Never."),
        ({"name__ic": ["No filter."]}, "name__ic: No filter."),
    ],
)
def test_messages_say_fields_as_people_do(messages: Any, text: str) -> None:
    assert readable(messages) == text
