"""The tab of an account that tells what its user may do with an object."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

MakeUser = Callable[..., Account]


@pytest.fixture
def browser(service: Service) -> Browser:
    """The browser of an administrator."""
    return Browser(service, service.admin)


@pytest.fixture
def tenant(service: Service) -> Any:
    name = service.unique()
    return service.api.post("/api/tenancy/tenants/", {"name": name, "slug": name})


def answers(browser: Browser, account: Account, address: str) -> tuple[dict[str, str], Any]:
    """Texts of the tab by action, and its page."""
    page = browser.get(f"/users/users/{account.id}/access/", {"object": address}, status=200).html
    return {row.dt.text: row.dd.text for row in page.select("#access-answer dl div")}, page


def test_the_tab_tells_which_permission_allows_what(
    service: Service, browser: Browser, make_user: MakeUser, tenant: Any
) -> None:
    group = service.api.post("/api/users/groups/", {"name": service.unique()})
    user = make_user(groups=[group["id"]])
    viewing = service.permit("view", "tenancy.tenant", groups=[group["id"]])
    changing = service.permit("change", "tenancy.tenant", {"name": tenant["name"]}, users=[user.id])
    other = service.permit("delete run", "tenancy.tenant", {"name": "another"}, users=[user.id])
    actions, page = answers(browser, user, f"/tenancy/tenants/{tenant['id']}/")
    assert actions == {
        "view": f"Yes, by {viewing['name']}",
        "add": "No",
        "change": f"Yes, by {changing['name']}",
        "delete": "No",
        "run": "No",
    }
    rows = {row.th.text: [cell.text for cell in row.select("td")] for row in page.select("tbody tr")}
    assert rows[viewing["name"]] == ["view", "Yes", group["name"], "–"]
    assert rows[changing["name"]][1:3] == ["Yes", "assigned directly"]
    assert rows[other["name"]][1] == "No, by its constraints"


def test_permissions_and_groups_that_the_reader_may_not_view_are_left_out(
    service: Service, make_user: MakeUser, tenant: Any
) -> None:
    group = service.api.post("/api/users/groups/", {"name": service.unique()})
    user = make_user(groups=[group["id"]])
    shown = service.permit("view", "tenancy.tenant", groups=[group["id"]])
    hidden = service.permit("delete", "tenancy.tenant", users=[user.id])
    viewing = [("view", "users.user"), ("view", "tenancy.tenant")]
    reader = make_user(*viewing, ("view", "users.objectpermission", {"id": shown["id"]}), password=PASSWORD)
    actions, page = answers(Browser(service, reader), user, f"/tenancy/tenants/{tenant['id']}/")
    assert actions["view"] == f"Yes, by {shown['name']}"
    assert actions["delete"] == "Not by a permission that you may view"
    assert hidden["name"] not in page.text and hidden["id"] not in str(page) and group["name"] not in page.text
    assert "a group that you may not view" in page.text


def test_disabled_permissions_and_inactive_accounts_allow_nothing(
    service: Service, browser: Browser, make_user: MakeUser, tenant: Any
) -> None:
    user = make_user()
    permission = service.permit("view", "tenancy.tenant", users=[user.id])
    service.api.patch(permission["url"], {"enabled": False})
    assert answers(browser, user, tenant["url"])[0]["view"] == "No"
    service.api.patch(permission["url"], {"enabled": True})
    assert answers(browser, user, tenant["url"])[0]["view"] == f"Yes, by {permission['name']}"
    service.api.patch(f"/api/users/users/{user.id}/", {"is_active": False})
    actions, page = answers(browser, user, tenant["url"])
    assert actions["view"] == "No"
    assert "inactive" in page.select_one("#access-answer").text


def test_superusers_and_exempt_models_are_named(
    service: Service, browser: Browser, make_user: MakeUser, tenant: Any, configured: Any
) -> None:
    actions, page = answers(browser, service.admin, tenant["url"])
    assert set(actions.values()) == {"Yes"}
    assert "superuser" in page.select_one("#access-answer").text
    with configured(exempt_view_permissions=("tenancy.tenant",)):
        actions, _ = answers(browser, make_user(), tenant["url"])
        assert actions["view"].startswith("Yes, as everybody")
        assert actions["change"] == "No"


@pytest.mark.parametrize("address", ["nonsense", "http://[", "/tenancy/tenants/", "/no/such/", "/tenancy/tenants/x/"])
def test_an_address_of_no_object_is_refused(browser: Browser, service: Service, address: str) -> None:
    actions, page = answers(browser, service.admin, address)
    assert actions == {}
    assert page.select_one("[role=alert]") is not None
    assert page.select_one("#access-object")["value"] == address


def test_access_takes_as_many_statements_for_more_permissions(
    service: Service, browser: Browser, make_user: MakeUser, tenant: Any
) -> None:
    user, numbers = make_user(), []
    for _ in range(2):
        for _ in range(3):
            service.permit("view", "tenancy.tenant", {"name": service.unique()}, users=[user.id])
        answers(browser, user, tenant["url"])
        with service.statements() as statements:
            answers(browser, user, tenant["url"])
        numbers.append(len(statements))
    assert numbers[0] == numbers[1] <= 10


def test_the_tab_shows_nothing_that_its_reader_may_not_view(service: Service, make_user: MakeUser, tenant: Any) -> None:
    user = make_user(("view", "tenancy.tenant"))
    path = f"/users/users/{user.id}/access/"
    without_permissions = Browser(service, make_user(("view", "users.user"), password=PASSWORD))
    without_permissions.get(path, status=404)
    labels = ["users.user", "users.objectpermission"]
    reader = Browser(service, make_user(("view", labels), password=PASSWORD))
    page = reader.get(path, {"object": tenant["url"]}, status=200).html
    assert page.select_one("#access-answer") is None
    assert "may not view it" in page.select_one("[role=alert]").text
    reader.get(f"/users/users/{uuid.uuid4()}/access/", status=404)
    Browser(service, make_user(password=PASSWORD)).get(path, status=403)
