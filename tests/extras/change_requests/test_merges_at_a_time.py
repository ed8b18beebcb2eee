"""Merges at a time: the worker merges what is due, as who asked for it, or tells why not."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.models.base import now
from netinv_extras.change_requests import scheduled
from netinv_extras.change_requests.models import request_table
from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.threads import at_once

REQUESTS, SITES, LABEL = "/api/extras/change-requests/", "/api/dcim/sites/", "extras.changerequest"
LATER = "2099-01-01T00:00:00Z"
Made = dict[str, Any]


@pytest.fixture
def change_request(api: Api, site: Made, unique: Unique) -> Made:
    """A change request that changes the site."""
    made = api.post(REQUESTS, {"title": unique()})
    propose(api, made, site, facility="DC 7")
    return {**made, "at": f"{REQUESTS}{made['id']}/"}


@pytest.fixture
def merger(service: Service) -> Account:
    """A user who may merge changes of sites."""
    return service.user(("view change", LABEL), ("view change", "dcim.site"))


def propose(api: Api, change_request: Made, site: Made, **values: Any) -> None:
    """Changes a site in a change request."""
    api.patch(f"{SITES}{site['id']}/", values, headers={"X-Change-Request": change_request["id"]})


def make_due(service: Service, change_request: Made) -> None:
    """Lets the time of the merge be now."""
    due = sa.update(request_table).where(request_table.c.id == sa.bindparam("key"))
    with service.engine.begin() as connection:
        connection.execute(due.values(merge_at=now() - datetime.timedelta(seconds=1)), {"key": _key(change_request)})


def _key(change_request: Made) -> Any:
    return request_table.c.id.type.python_type(change_request["id"])


def work(service: Service) -> int:
    """The task of the worker."""
    return scheduled.merge_due(service.engine, service.registry)


def events(api: Api, change_request: Made) -> list[Made]:
    """The events of a change request."""
    found: list[Made] = api.get(f"{change_request['at']}review/")["events"]
    return found


def test_it_is_merged_at_its_time_as_who_asked_for_it(
    service: Service, api: Api, merger: Account, change_request: Made, site: Made
) -> None:
    shown = merger.api.post(f"{change_request['at']}schedule/", {"at": LATER}, status=200)
    assert datetime.datetime.fromisoformat(shown["merge_at"]) == datetime.datetime.fromisoformat(LATER)
    assert shown["merger"]["id"] == str(merger.id)
    work(service)
    assert api.get(f"{SITES}{site['id']}/")["facility"] == ""
    make_due(service, change_request)
    assert work(service) >= 1
    assert api.get(f"{SITES}{site['id']}/")["facility"] == "DC 7"
    merged = api.get(change_request["at"])
    assert (merged["state"]["value"], merged["merge_at"], merged["merger"]) == ("merged", None, None)
    records = api.get("/api/extras/object-changes/", {"request_id": merged["request_id"]})["results"]
    assert {item["user_name"] for item in records} == {merger.username}
    assert len(records) == 2
    assert [event["kind"]["value"] for event in events(api, change_request)] == ["schedule", "merge"]


def test_several_workers_merge_it_once(
    service: Service, api: Api, merger: Account, change_request: Made, site: Made
) -> None:
    merger.api.post(f"{change_request['at']}schedule/", {"at": LATER}, status=200)
    make_due(service, change_request)
    at_once(lambda _: work(service), 3)
    assert api.get("/api/extras/object-changes/", {"changed_object_id": site["id"]})["count"] == 2
    assert [event["kind"]["value"] for event in events(api, change_request)] == ["schedule", "merge"]


def test_conflicts_are_told_and_end_the_schedule(
    service: Service, api: Api, merger: Account, change_request: Made, site: Made
) -> None:
    merger.api.post(f"{change_request['at']}schedule/", {"at": LATER}, status=200)
    api.patch(f"{SITES}{site['id']}/", {"facility": "DC 9"})
    make_due(service, change_request)
    work(service)
    shown, (_, failed) = api.get(change_request["at"]), events(api, change_request)
    assert (shown["state"]["value"], shown["merge_at"]) == ("draft", None)
    assert (failed["kind"]["value"], failed["user_name"]) == ("fail", merger.username)
    assert "conflicts" in failed["text"]
    assert shown["last_comment"] == failed["text"]
    assert api.get(f"{SITES}{site['id']}/")["facility"] == "DC 9"


@pytest.mark.parametrize("lost", ["account", "permission", "approval"])
def test_what_is_missing_at_the_time_is_told(
    service: Service, api: Api, change_request: Made, site: Made, lost: str, configured: Any
) -> None:
    someone = service.user(("view change", LABEL), ("view", "dcim.site"))
    permission = service.permit("change", "dcim.site", users=[someone.id])
    someone.api.post(f"{change_request['at']}schedule/", {"at": LATER}, status=200)
    make_due(service, change_request)
    with configured(change_request_approvals=int(lost == "approval")):
        if lost == "account":
            api.patch(f"/api/users/users/{someone.id}/", {"is_active": False})
        elif lost == "permission":
            api.delete(permission["url"])
        work(service)
    assert events(api, change_request)[-1]["kind"]["value"] == "fail"
    assert api.get(f"{SITES}{site['id']}/")["facility"] == ""
    assert api.get(change_request["at"])["merge_at"] is None


@pytest.mark.night
def test_a_refusal_by_a_package_is_told_without_its_words_and_holds_no_other_up(
    installed: Callable[..., Service], unique: Unique
) -> None:
    """Its words may name objects that readers of the change request may not view; who merges by hand gets them."""
    service = installed("guest")
    api, due = service.api, []
    for name in (f"{unique()} forbidden", unique()):
        tenant = api.post("/api/tenancy/tenants/", {"name": unique()})
        made = api.post(REQUESTS, {"title": unique()})
        inside = {"X-Change-Request": made["id"]}
        api.patch(f"/api/tenancy/tenants/{tenant['id']}/", {"name": name}, headers=inside)
        due.append({**made, "at": f"{REQUESTS}{made['id']}/"})
        api.post(f"{due[-1]['at']}schedule/", {"at": LATER}, status=200)
        make_due(service, made)
    refused, other = due
    work(service)
    shown, (_, failed) = api.get(refused["at"]), events(api, refused)
    assert (shown["merge_at"], failed["kind"]["value"], failed["text"]) == (None, "fail", scheduled.REFUSED)
    assert shown["last_comment"] == scheduled.REFUSED
    assert api.get(other["at"])["state"]["value"] == "merged"
    assert "It is forbidden." in str(api.post(f"{refused['at']}merge/", {}, status=400))


def test_a_change_of_what_it_proposes_ends_the_schedule(api: Api, change_request: Made, site: Made) -> None:
    api.post(f"{change_request['at']}schedule/", {"at": LATER}, status=200)
    propose(api, change_request, site, facility="DC 8")
    assert api.get(change_request["at"])["merge_at"] is None
    assert [event["kind"]["value"] for event in events(api, change_request)] == ["schedule", "unschedule"]


def test_the_schedule_is_taken_back(service: Service, api: Api, change_request: Made, site: Made) -> None:
    api.post(f"{change_request['at']}schedule/", {"at": None}, status=409)
    api.post(f"{change_request['at']}schedule/", {"at": LATER}, status=200)
    assert api.post(f"{change_request['at']}schedule/", {"at": None}, status=200)["merge_at"] is None
    api.post(f"{change_request['at']}schedule/", {"at": LATER}, status=200)
    assert api.post(f"{change_request['at']}close/", {}, status=200)["merge_at"] is None
    api.post(f"{change_request['at']}schedule/", {"at": LATER}, status=409)


@pytest.mark.parametrize(
    "at", ["tomorrow", "2099-01-01T00:00:00", "2001-01-01T00:00:00Z", 7, ["x"], "9999-12-31T23:59:59-10:00"]
)
def test_what_is_no_time_in_the_future_is_refused(api: Api, change_request: Made, at: Any) -> None:
    assert list(api.post(f"{change_request['at']}schedule/", {"at": at}, status=400)) == ["at"]


def test_an_empty_one_is_not_scheduled(api: Api, unique: Unique) -> None:
    made = api.post(REQUESTS, {"title": unique()})
    api.post(f"{REQUESTS}{made['id']}/schedule/", {"at": LATER}, status=409)


def test_the_page_sets_the_time_and_takes_it_back(service: Service, api: Api, change_request: Made) -> None:
    browser, path = Browser(service, service.user(superuser=True, password=PASSWORD)), change_request["at"][4:]
    form = browser.get(path).form(action=f"{path}schedule/")
    form["at"] = "2099-01-01T22:30"
    page = form.submit().follow()
    assert "2099-01-01 22:30 UTC" in page.html.select_one("[data-notice]").get_text()
    assert api.get(change_request["at"])["merge_at"].startswith("2099-01-01T22:30:00")
    page.form(action=f"{path}schedule/").submit()
    assert api.get(change_request["at"])["merge_at"] is None
