"""Pages of errors: who deleted an object, and which permission is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Service
from netinv_web.testing import Browser

pytestmark = pytest.mark.any_database
MakeUser = Callable[..., Account]
LOG = ("view", "extras.objectchange")
PLAIN = "There is nothing here"


@pytest.fixture
def deleted(service: Service) -> Any:
    """A tenant that the administrator deleted."""
    name = service.unique()
    tenant = service.api.post("/api/tenancy/tenants/", {"name": name, "slug": name})
    service.api.delete(tenant["url"])
    return tenant


def page_of(tenant: Any) -> str:
    return f"/tenancy/tenants/{tenant['id']}/"


@pytest.mark.parametrize("below", ["", "edit/", "delete/", "changelog/"])
def test_the_page_of_a_deleted_object_names_who_deleted_it_and_leads_to_the_record(
    service: Service, deleted: Any, below: str
) -> None:
    browser = Browser(service, service.admin)
    page = browser.get(f"{page_of(deleted)}{below}", status=404)
    assert page.html.h1.text == f"Tenant {deleted['name']} was deleted"
    assert page.html.select_one("main time") is not None
    assert f"{service.admin.username} deleted it" in page.words
    record = page.click("Open the change record")
    assert "deleted" in record.words and deleted["name"] in record.words


def test_users_of_the_change_log_who_may_view_all_of_the_model_see_who_deleted_it(
    service: Service, make_user: MakeUser, deleted: Any
) -> None:
    reader = Browser(service, make_user(("view", "tenancy.tenant"), LOG, password="a password"))
    assert f"{service.admin.username} deleted it" in reader.get(page_of(deleted), status=404).words


@pytest.mark.parametrize(
    "permissions",
    [
        [("view", "tenancy.tenant")],
        [("view", "tenancy.tenant"), (*LOG, {"user_name": "nobody"})],
        [("view", "tenancy.tenant", {"name": "another"}), LOG],
    ],
    ids=["without the log", "with other records", "with other objects"],
)
def test_others_are_told_that_there_is_nothing(
    service: Service, make_user: MakeUser, deleted: Any, permissions: Any
) -> None:
    page = Browser(service, make_user(*permissions, password="a password")).get(page_of(deleted), status=404)
    assert page.html.h1.text == PLAIN
    assert deleted["name"] not in page.text and service.admin.username not in page.html.main.text


def test_an_object_that_came_back_is_not_called_deleted(service: Service, deleted: Any) -> None:
    (record,) = service.api.get(f"/api/extras/object-changes/?changed_object_id={deleted['id']}&action=delete")[
        "results"
    ]
    browser = Browser(service, service.admin)
    browser.post("/extras/undo/", {"change": record["id"]})
    assert browser.get(f"{page_of(deleted)}no-such-tab/", status=404).html.h1.text == PLAIN


def test_a_missing_object_costs_one_statement_more_than_a_wrong_path(service: Service, deleted: Any) -> None:
    browser, counts = Browser(service, service.admin), []
    for path in (page_of(deleted), page_of(deleted), "/tenancy/tenants/nothing/"):
        with service.statements() as found:
            browser.get(path, status=404)
        counts.append(len(found))
    assert counts[1] <= counts[2] + 3, counts


@pytest.mark.parametrize(
    ("permission", "path", "title"),
    [
        (("view", "dcim.site"), "/tenancy/tenants/", "You may not view tenants"),
        (("view", "tenancy.tenant"), "/tenancy/tenants/add/", "You may not add tenants"),
        (("view", "ipam.ipaddress"), "/ipam/ip-addresses/edit/", "You may not change IP addresses"),
        (("view", "dcim.rackgroup"), "/dcim/rack-groups/delete/", "You may not delete rack groups"),
        (("view", "tenancy.tenant"), "/tenancy/tenants/import/", "You may not add tenants"),
        (("view", ["dcim.rack", "dcim.device"]), "/dcim/rack-elevations/?_plan=1", "You may not change devices"),
        (("view", "dcim.cable"), "/dcim/cables/insert-panel/", "You may not delete cables"),
    ],
)
def test_the_page_of_a_refusal_names_the_permission_that_is_missing(
    service: Service, make_user: MakeUser, permission: Any, path: str, title: str
) -> None:
    page = Browser(service, make_user(permission, password="a password")).get(path, status=403)
    assert page.html.h1.text == title
    assert title.replace("You may not", "a permission to") in page.words


def test_the_page_of_a_refusal_shows_nothing_of_the_object(
    service: Service, make_user: MakeUser, make: Callable[..., Any]
) -> None:
    tenant = make("/api/tenancy/tenants/")
    reader = Browser(service, make_user(("view", "dcim.site"), password="a password"))
    page = reader.get(f"{page_of(tenant)}edit/", status=403)
    assert page.html.h1.text == "You may not change tenants"
    assert tenant["name"] not in page.text


def test_the_page_of_the_system_says_that_it_is_for_superusers(service: Service, make_user: MakeUser) -> None:
    page = Browser(service, make_user(("view", "dcim.site"), password="a password")).get("/system/", status=403)
    assert "Only superusers may see this page." in page.words
