"""The mapping step of imports: columns (or members of objects) of a file and fields, guessed, chosen, and remembered for the user."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser, BrowserPage
from tests.support.importing import preview

pytestmark = pytest.mark.any_database  # files and forms over the write path

TENANTS = "/api/tenancy/tenants/"


@pytest.fixture
def user(service: Service) -> Browser:
    """The browser of a user who has imported nothing yet."""
    return Browser(service, service.user(superuser=True, password=PASSWORD))


@pytest.fixture
def word(unique: Callable[[], str]) -> str:
    """A word that no other object has."""
    return unique()


def mapped(page: BrowserPage) -> dict[str, str]:
    """The chosen fields by the columns of the file."""
    rows = page.html.select(".column-mapping tbody tr")
    return {row.th.get_text(strip=True): (row.select_one("option[selected]") or {}).get("value", "-") for row in rows}


def submit(page: BrowserPage, step: str, status: int, **members: Any) -> BrowserPage:
    """Posts the form of a preview."""
    form = page.form()
    for name, value in members.items():
        form[name] = value
    fields = [item for item in form.submit_fields() if item[0] != "_step"] + [("_step", step)]
    return page.test_app.post(page.request.path, fields, status=status, upload_files=None)


def test_columns_are_guessed_ignored_ones_told_and_choices_remembered(user: Browser, api: Api, word: str) -> None:
    text = f"Name,Kürzel,Remark,Old No\n{word},{word},hello,7\n"
    page = preview(user, text)
    assert mapped(page) == {"Name": "name", "Kürzel": "-", "Remark": "-", "Old No": "-"}
    assert "Not imported: Kürzel, Remark, Old No." in page.words
    page = submit(page, "preview", 200, _column_1="slug", _column_2="description")
    assert mapped(page) == {"Name": "name", "Kürzel": "slug", "Remark": "description", "Old No": "-"}
    submit(page, "apply", 303)
    assert api.get(TENANTS, {"slug": word})["results"][0]["description"] == "hello"
    again = preview(user, text.replace(word, f"{word}-2"))
    assert mapped(again) == {"Name": "name", "Kürzel": "slug", "Remark": "description", "Old No": "-"}


def test_a_guess_that_is_refused_is_remembered_too(user: Browser, api: Api, word: str) -> None:
    text = f"name,slug,description\n{word},{word},no\n"
    page = submit(preview(user, text), "preview", 200, _column_2="-")
    submit(page, "apply", 303)
    assert api.get(TENANTS, {"slug": word})["results"][0]["description"] == ""
    assert mapped(preview(user, text.replace(word, f"{word}-2")))["description"] == "-"


def test_other_columns_than_those_of_the_preview_are_previewed_again(user: Browser, api: Api, word: str) -> None:
    page = preview(user, f"name,slug,x\n{word},{word},text\n")
    page = submit(page, "apply", 200, _column_2="description")
    assert "The rows differ from those of the preview" in page.words
    assert api.get(TENANTS, {"slug": word})["count"] == 0


def test_two_columns_of_one_field_and_files_without_known_columns_are_refused(user: Browser, word: str) -> None:
    page = preview(user, f"name,slug,x\n{word},{word},text\n")
    assert "Two columns of the file are imported as Name" in submit(page, "preview", 422, _column_2="name").words
    assert "No column of the file is known" in preview(user, "first,second\na,b\n", status=422).words


@pytest.mark.parametrize("value", ["nothing", "\ud800", "created", "name.x.y"])
def test_a_field_that_there_is_not_is_refused(user: Browser, word: str, value: str) -> None:
    page = preview(user, f"name,slug,x\n{word},{word},text\n")
    body = {"data": f"name,slug,x\n{word},{word},t\n", "_column_2": value.encode("utf-8", "replace").decode()}
    assert page.test_app.post(page.request.path, body, status="*").status_int in (200, 422)


# -- members of objects


def as_json(items: list[Any]) -> str:
    """A JSON document."""
    return json.dumps(items)


def as_yaml(items: list[Any]) -> str:
    """A YAML document in lines."""
    return "".join(
        f"{'- ' if first else '  '}{name}: {json.dumps(value, ensure_ascii=False)}\n"
        for item in items
        for first, (name, value) in zip([True, *[False] * len(item)], item.items(), strict=False)
    )


@pytest.mark.parametrize("written", [as_json, as_yaml])
def test_members_of_objects_are_mapped_and_choices_remembered(
    user: Browser, api: Api, word: str, written: Callable[[list[Any]], str]
) -> None:
    item = {"Name": word, "Kürzel": word, "Remark": "hello", "Old No": 7}
    page = preview(user, written([item]))
    assert mapped(page) == {"Name": "name", "Kürzel": "-", "Remark": "-", "Old No": "-"}
    assert "Not imported: Kürzel, Remark, Old No." in page.words
    page = submit(page, "preview", 200, _column_1="slug", _column_2="description")
    submit(page, "apply", 303)
    assert api.get(TENANTS, {"slug": word})["results"][0]["description"] == "hello"
    again = preview(user, written([{**item, "Name": f"{word}-2", "Kürzel": f"{word}-2"}]))
    assert mapped(again) == {"Name": "name", "Kürzel": "slug", "Remark": "description", "Old No": "-"}


def test_members_have_the_names_of_pages_and_of_netbox(user: Browser, api: Api, word: str) -> None:
    maker = api.post("/api/dcim/manufacturers/", {"name": word})
    kind = api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": word})
    api.post("/api/dcim/device-roles/", {"name": word})
    site = api.post("/api/dcim/sites/", {"name": word, "status": "active"})
    item = {"Name": word, "Device type": {"model": word}, "role": word, "site__name": word, "Status": "Active"}
    page = preview(user, as_json([item, {**item, "Name": f"{word} 2"}]), "/dcim/devices/import/")
    assert mapped(page) == {
        "Name": "name",
        "Device type": "device_type",
        "role": "device_role",
        "site__name": "site.name",
        "Status": "status",
    }
    submit(page, "apply", 303)
    (made, _) = api.get("/api/dcim/devices/", {"site_id": site["id"]})["results"]
    assert (made["name"], made["device_type"]["id"], made["status"]["value"]) == (word, kind["id"], "active")


def test_a_custom_field_is_a_member_or_in_its_document(user: Browser, api: Api, word: str) -> None:
    field = {"label": word, "name": word, "slug": word, "type": "text", "content_types": ["tenancy.tenant"]}
    api.post("/api/extras/custom-fields/", field)
    items = [
        {"name": f"{word}-a", f"cf_{word}": "one"},
        {"name": f"{word}-b", "custom_fields": {word: "two"}},
        {"name": f"{word}-c", "custom_fields": {word: "two"}, f"cf_{word}": "three"},
    ]
    submit(preview(user, as_json(items)), "apply", 303)
    made = api.get(TENANTS, {"name__isw": word, "limit": 0})["results"]
    assert [item["custom_fields"][word] for item in sorted(made, key=lambda item: item["name"])] == [
        "one",
        "two",
        "three",
    ]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"group": "x", "group.name": "y"}, "Another column names the same object by its attributes."),
        ({"group.name": {"a": [1]}}, "group"),
        ({"slug": ["x"]}, "slug"),
        ({"custom_fields": "x", "name": {}}, "name"),
        ({f"member {n}": n for n in range(201)}, "The objects have more than 200 different members."),
    ],
)
def test_members_that_do_not_fit_are_refused(user: Browser, word: str, item: dict[str, Any], reason: str) -> None:
    page = preview(user, as_json([{"name": word, "slug": word, **item}]), status=422)
    assert reason in page.words


def test_objects_without_a_known_member_are_refused(user: Browser) -> None:
    assert (
        "No column of the file is known. They are: first." in preview(user, as_json([{"first": 1}]), status=422).words
    )
    assert "An object is expected." in preview(user, "[1, 2]", status=422).words


def test_the_number_of_statements_is_that_of_two_objects(service: Service, user: Browser, word: str) -> None:
    def statements(count: int, prefix: str) -> int:
        text = as_json([{"Name": f"{prefix}{n}", "Kürzel": n, "group": None} for n in range(count)])
        with service.statements() as found:
            preview(user, text)
        return len(found)

    statements(2, word)
    assert statements(2, word) == statements(40, word)
