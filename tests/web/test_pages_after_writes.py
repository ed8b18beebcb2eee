"""Pages after writes: users who may write, not view, are led to one that they may open, with what was done on it."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Account, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser, BrowserPage

pytestmark = pytest.mark.any_database
CHANGES = ("view", "extras.objectchange")
Entered = dict[str, Any]


@pytest.fixture
def signed_in(service: Service, make_user: Any) -> Any:
    """``signed_in(permission, …)``: the browser of a new user."""
    return lambda *permissions: Browser(service, make_user(*permissions, password=PASSWORD))


def added(browser: Browser, path: str, button: str | None = None, **entered: str) -> BrowserPage:
    """The page after a new object."""
    form = browser.get(path).form()
    for name, text in entered.items():
        form[name] = text
    page: BrowserPage = form.submit(button, "1").follow() if button else form.submit().follow()
    return page


def notice(page: BrowserPage) -> str:
    """The words of the notice."""
    return " ".join(page.html.select_one("[data-notice]").text.split())


def test_who_may_only_add_is_led_back_to_the_form(signed_in: Any, unique: Unique) -> None:
    browser = signed_in(("add", "dcim.region"))
    for button in (None, "_another"):
        page = added(browser, "/dcim/regions/add/", button, name=(name := unique()))
        assert page.request.path == "/dcim/regions/add/" and name in notice(page)
        assert "Open it" not in notice(page) and "Undo" not in notice(page)
    several = browser.get("/dcim/regions/add/").form()
    several["name"] = f"{unique()}[1-3]"
    preview = several.submit(status=200).form()
    page = browser.post("/dcim/regions/add/", [*preview.submit_fields(), ("_several", "all")]).follow()
    assert page.request.path == "/dcim/regions/add/" and "3 regions were created." in notice(page)


def test_who_may_not_view_the_new_object_is_led_to_the_list(service: Service, make_user: Any, unique: Unique) -> None:
    user: Account = make_user(("add", "dcim.region"), password=PASSWORD)
    service.permit("view", "dcim.region", {"name": "another one"}, users=[user.id])
    page = added(Browser(service, user), "/dcim/regions/add/", name=(name := unique()))
    assert page.request.path == "/dcim/regions/" and name in notice(page)


def test_a_change_that_hides_the_object_leads_to_the_list(
    service: Service, make_user: Any, make: Any, unique: Unique
) -> None:
    region, user = make("/api/dcim/regions/"), make_user(("change", "dcim.region"), password=PASSWORD)
    service.permit("view", "dcim.region", {"description": ""}, users=[user.id])
    form = Browser(service, user).get(f"/dcim/regions/{region['id']}/edit/").form()
    form["description"] = "hidden from now on"
    page = form.submit().follow()
    assert page.request.path == "/dcim/regions/" and region["name"] in notice(page)


@pytest.mark.parametrize("action", ["delete", "change"])
def test_undo_is_offered_to_those_who_may_undo(signed_in: Any, unique: Unique, action: str) -> None:
    """A new object is undone by a deletion."""
    browser = signed_in(CHANGES, *((name, "dcim.region") for name in ("add", "view", action)))
    page = added(browser, "/dcim/regions/add/", name=unique())
    assert ("Undo" in notice(page)) == (action == "delete")
    changed = signed_in(CHANGES, ("view", "dcim.region"), ("change", "dcim.region"))
    form = changed.get(f"{page.request.path}edit/").form()
    form["description"] = unique()
    assert "Undo" in notice(form.submit().follow())


@pytest.mark.parametrize(("more", "end"), [([], ""), (["view"], "/"), (["view", "change"], "/edit/")])
def test_an_allocation_leads_to_the_form_where_it_may_be_changed(
    service: Service, signed_in: Any, unique: Unique, more: list[str], end: str
) -> None:
    network = {"prefix": f"{unique.ipv6()}::/112", "status": "active"}
    prefix = service.api.post("/api/ipam/prefixes/", network)
    own, both = f"/ipam/prefixes/{prefix['id']}/", ("ipam.ipaddress", "ipam.prefix")
    needed = [("view", "ipam.prefix"), *(("add", label) for label in both)]
    browser = signed_in(*{*needed, *((action, label) for action in more for label in both)})
    page = browser.post(f"{own}allocate/").follow()
    assert "was allocated" in notice(page)
    assert page.request.path.endswith(end) if more else page.request.path == own
    page = browser.post(f"{own}next-prefix/", {"prefix_length": "120"}).follow()
    assert "was allocated" in notice(page) and page.request.path != own
