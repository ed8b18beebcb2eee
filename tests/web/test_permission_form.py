"""The form of permissions: types and actions are checkboxes, constraints are rows; without scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_testing import Account, Api, Service
from netinv_web.testing import Browser, BrowserPage

pytestmark = pytest.mark.any_database
MakeUser = Callable[..., Account]
NAMES = ("field", "lookup", "value")
ADD = "/users/permissions/add/"


@pytest.fixture
def permission(api: Api, service: Service) -> Iterator[Callable[..., Any]]:
    """The function that creates a permission."""
    created: list[Any] = []

    def create(**values: Any) -> Any:
        body = {"name": service.unique(), "object_types": ["dcim.site"], "actions": ["view"], **values}
        created.append(api.post("/api/users/permissions/", body))
        return created[-1]

    yield create
    for item in created:
        api.delete(item["url"])


def edit_path(item: Any) -> str:
    """The path of the form of a permission."""
    return f"/users/permissions/{item['id']}/edit/"


def row(form: Any, number: int, *texts: str) -> None:
    """Enters a row of constraints; ``number`` counts from 0."""
    for name, text in zip(NAMES, texts, strict=True):
        form.set(f"_{name}_constraints", text, index=number)


def rows(form: Any) -> list[tuple[str, ...]]:
    """The rows of constraints with text."""
    columns = [form.fields.get(f"_{name}_constraints", []) for name in NAMES]
    texts = [tuple(field.value for field in fields) for fields in zip(*columns, strict=True)]
    return [texts_of_row for texts_of_row in texts if texts_of_row[0] or texts_of_row[2]]


def checked(form: Any, name: str) -> list[str]:
    """The values of the checkboxes of a name that are checked."""
    return [field._value for field in form.fields[name] if getattr(field, "checked", False)]


def check(form: Any, name: str, *values: str) -> None:
    """Checks the checkboxes of a name with these values, and no others."""
    for field in form.fields[name]:
        if hasattr(field, "checked"):
            field.checked = field._value in values


def error_of(page: BrowserPage, name: str) -> str:
    """The text of the error at a control."""
    return str(page.html.select_one(f"p[id='error-{name}']").text).strip()


def test_a_permission_is_created_without_json(
    browser: Browser, api: Api, service: Service, make_user: MakeUser
) -> None:
    name, user = service.unique(), make_user()
    form = browser.get(ADD).form()
    form["name"] = name
    check(form, "object_types", "dcim.site", "dcim.rack")
    check(form, "actions", "view", "change")
    form.fields["actions"][-1].value = "run, approve"
    if "_text_users" in form.fields:
        form["_text_users"] = user.id
    else:
        form["users"] = [user.id]
    row(form, 0, "tenant__slug", "in", "acme, globex")
    row(form, 1, "name", "istartswith", "l")
    row(form, 2, "tenant", "isnull", "false")
    form.submit()
    created = api.get("/api/users/permissions/", {"name": name})["results"][0]
    assert sorted(created["object_types"]) == ["dcim.rack", "dcim.site"]
    assert created["actions"] == ["view", "change", "run", "approve"]
    assert created["constraints"] == {
        "tenant__slug__in": ["acme", "globex"],
        "name__istartswith": "l",
        "tenant__isnull": False,
    }
    assert [item["id"] for item in created["users"]] == [user.id]
    api.delete(created["url"])


def test_the_form_shows_what_a_permission_has(browser: Browser, permission: Callable[..., Any]) -> None:
    constraints = {"name": "a", "asn__gte": 5, "tenant__isnull": True, "status__slug__in": ["active", "planned"]}
    form = browser.get(edit_path(permission(actions=["delete", "run"], constraints=constraints))).form()
    assert checked(form, "actions") == ["delete"]
    assert form.fields["actions"][-1].value == "run"
    assert rows(form) == [
        ("name", "exact", "a"),
        ("asn", "gte", "5"),
        ("tenant", "isnull", "true"),
        ("status__slug", "in", "active, planned"),
    ]
    assert len(form.fields["_field_constraints"]) == 7
    assert form["constraints"].value.strip() == ""


def test_a_form_that_is_posted_back_changes_nothing(browser: Browser, api: Api, permission: Callable[..., Any]) -> None:
    for constraints in (
        {"asn__gte": 5, "name__in": ["a", "b"]},
        [{"name": "a"}, {"name": "b"}],
        None,
        {"tenant": None},
    ):
        item = permission(actions=["run", "view"], constraints=constraints)
        browser.get(edit_path(item)).form().submit()
        after = api.get(item["url"])
        assert (after["constraints"], after["actions"]) == (constraints, ["run", "view"])


def test_rows_are_changed_and_removed(browser: Browser, api: Api, permission: Callable[..., Any]) -> None:
    item = permission(constraints={"name": "a", "slug": "b"})
    form = browser.get(edit_path(item)).form()
    row(form, 0, "", "exact", "")
    row(form, 1, "slug", "icontains", "c")
    form.submit()
    assert api.get(item["url"])["constraints"] == {"slug__icontains": "c"}
    form = browser.get(edit_path(item)).form()
    row(form, 0, "", "exact", "")
    form.submit()
    assert api.get(item["url"])["constraints"] is None


def test_more_rows_come_without_a_script(browser: Browser, api: Api, permission: Callable[..., Any]) -> None:
    item = permission()
    for path in (edit_path(item), ADD):
        form = browser.get(path).form()
        form["name"] = "entered"
        assert len(form.fields["_field_constraints"]) == 3
        for number in range(3):
            row(form, number, f"name{number}", "contains", "x")
        form = form.submit("_show_again", status=200).form()
        assert rows(form) == [(f"name{number}", "contains", "x") for number in range(3)]
        assert len(form.fields["_field_constraints"]) == 6
        assert form["name"].value == "entered"
    assert api.get(item["url"])["constraints"] is None


def test_alternatives_are_json(browser: Browser, api: Api, permission: Callable[..., Any]) -> None:
    item = permission(constraints=[{"name": "a"}, {"name": "b"}])
    form = browser.get(edit_path(item)).form()
    assert "_field_constraints" not in form.fields
    assert json.loads(form["constraints"].value) == [{"name": "a"}, {"name": "b"}]
    form["constraints"] = '[{"name": "c"}]'
    form.submit()
    assert api.get(item["url"])["constraints"] == [{"name": "c"}]
    form["constraints"] = ""
    form.submit()
    assert api.get(item["url"])["constraints"] is None


@pytest.mark.night
def test_errors_are_at_their_controls(browser: Browser, permission: Callable[..., Any]) -> None:
    path = edit_path(permission())
    cases = [
        (("name", "exact", ""), "Row 1 needs a value."),
        (("", "exact", "a"), "Row 1 needs a field."),
        (("nonsense", "exact", "a"), "Invalid constraints for dcim.site"),
        (("tenant", "isnull", "maybe"), "Enter true or false."),
    ]
    for texts, message in cases:
        form = browser.get(path).form()
        row(form, 0, *texts)
        page = form.submit(status=422)
        assert message in error_of(page, "constraints")
        assert rows(page.form()) == [texts]
    form = browser.get(path).form()
    row(form, 0, "name", "exact", "a")
    row(form, 1, "name", "exact", "b")
    assert "Row 2 repeats" in error_of(form.submit(status=422), "constraints")
    form["constraints"] = "{"
    page = form.submit(status=422)
    assert "not both" in error_of(page, "constraints")
    assert (len(rows(page.form())), page.form()["constraints"].value) == (2, "{")
    form = browser.get(path).form()
    form["constraints"] = "{"
    check(form, "actions")
    page = form.submit(status=422)
    assert "This is not JSON" in error_of(page, "constraints")
    form = browser.get(path).form()
    check(form, "actions")
    assert "cannot be blank" in error_of(form.submit(status=422), "actions")


def test_constraints_of_a_query_are_shown_as_text(browser: Browser) -> None:
    """A prepared address fills the form; what it states is no markup."""
    form = browser.get(ADD, {"actions": ["view", "<b>"], "constraints": "<i>"}).form()
    assert checked(form, "actions") == ["view"]
    assert form.fields["actions"][-1].value == "<b>"
    assert form["constraints"].value == "<i>"
