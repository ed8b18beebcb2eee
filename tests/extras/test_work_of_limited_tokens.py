"""Tokens that may do less than their users: work that they ask for does no more either, whenever it is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique
from netinv_web.testing import Browser
from tests.support.importing import apply, preview
from tests.support.jobs import work
from tests.support.runs import service

__all__ = ["service"]
MAX = 1  # objects that a request changes
SETTINGS = {
    f"netinv.{name}": str(MAX)
    for name in ("bulk_background_objects", "import_background_rows", "undo_background_changes")
}
TENANTS, REQUESTS = "/api/tenancy/tenants/", "/api/extras/change-requests/"
ALL = ("view add change delete", ["tenancy.tenant", "extras.objectchange", "extras.changerequest"])


@pytest.fixture
def account(service: Service) -> Account:
    """A user who may do everything with tenants."""
    return service.user(ALL, ("add", "users.token"))


@pytest.fixture
def limited(service: Service, account: Account) -> Callable[..., Api]:
    """``limited(actions=[…])``: a client with a token of the user, with limits."""

    def make(**limits: Any) -> Api:
        return Api(service.app, account.api.post("/api/users/tokens/", limits)["key"])

    return make


@pytest.fixture
def page_of(service: Service) -> Callable[[Api], Browser]:
    """``page_of(api)``: a browser that sends the token of a client."""

    def make(api: Api) -> Browser:
        browser = Browser(service)
        browser.extra_environ["HTTP_AUTHORIZATION"] = f"Token {api.token}"
        return browser

    return make


@pytest.fixture
def tenants(api: Api, unique: Unique) -> list[Any]:
    """More tenants than a request changes, made in one request."""
    names = [unique() for _ in range(MAX + 1)]
    created: list[Any] = api.post(TENANTS, [{"name": name, "slug": name} for name in names])
    return created


def kept(api: Api, tenants: list[Any]) -> list[Any]:
    """The tenants as they are now, without those that are gone."""
    return [found for item in tenants for found in api.get(TENANTS, {"id": item["id"]})["results"]]


LIMITS = [
    {"actions": ["view", "add", "change"]},
    {"object_types": ["extras.objectchange", "extras.changerequest"]},
]


@pytest.mark.parametrize("limits", LIMITS)
def test_an_undo_is_no_more_than_the_token_may(
    service: Service, api: Api, limited: Any, page_of: Any, tenants: list[Any], limits: Any
) -> None:
    record = api.get("/api/extras/object-changes/", {"changed_object_id": tenants[0]["id"]})["results"][0]
    client = limited(**limits)
    client.post(f"/api/extras/object-changes/{record['id']}/revert/?request=true", {}, status=(403, 404))
    form = {"request": record["request_id"], "next": "/", "_step": "apply"}
    page_of(client).post("/extras/undo/", form, status="*")
    work(service)
    assert len(kept(api, tenants)) == len(tenants)


def test_an_import_is_no_more_than_the_token_may(
    service: Service, api: Api, account: Account, limited: Any, page_of: Any, tenants: list[Any]
) -> None:
    rows = "id,description\n" + "".join(f"{item['id']},taken\n" for item in tenants)
    browser = page_of(account.api)
    shown = preview(browser, rows, "/tenancy/tenants/import/")
    browser.extra_environ["HTTP_AUTHORIZATION"] = f"Token {limited(actions=['view', 'add']).token}"
    apply(browser, shown, status="*")
    work(service)
    assert {item["description"] for item in kept(api, tenants)} == {""}


@pytest.mark.parametrize("limits", LIMITS)
def test_a_merge_at_a_time_is_no_more_than_the_token_may(
    api: Api, account: Account, limited: Any, tenants: list[Any], unique: Unique, limits: Any
) -> None:
    made = api.post(REQUESTS, {"title": unique()})
    api.delete(f"{TENANTS}{tenants[0]['id']}/", headers={"X-Change-Request": made["id"]})
    client = limited(**limits)
    client.post(f"{REQUESTS}{made['id']}/merge/", {}, status=403)
    client.post(f"{REQUESTS}{made['id']}/schedule/", {"at": "2099-01-01T00:00:00Z"}, status=403)
    assert api.get(f"{REQUESTS}{made['id']}/")["merge_at"] is None


def test_long_work_of_a_limited_token_is_done_within_its_limits(
    service: Service, api: Api, limited: Any, page_of: Any, tenants: list[Any]
) -> None:
    browser = page_of(limited(object_types=["tenancy.tenant"]))
    selected = browser.post("/tenancy/tenants/delete/", [("pk", item["id"]) for item in tenants], status=200)
    selected.form().submit("_step")
    assert kept(api, tenants) == []
