"""Deletion of accounts: the page says what an account owns and what becomes of it, and an account that is signed in can
be deleted.
"""

from __future__ import annotations

import uuid

import pytest
import sqlalchemy as sa

from netinv_core.models.base import Base, now, table_of
from netinv_extras.jobs.schedules import ScheduledJob
from netinv_testing import Account, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser, BrowserPage

SITES, REQUESTS, VIEWS = "/api/dcim/sites/", "/api/extras/change-requests/", "/api/web/saved-views/"
USERS, SCHEDULES = "/users/users/", "/extras/scheduled-jobs/"
_schedule = table_of(ScheduledJob)
# Foreign keys to resources whose rows functions before the deletion of the target delete (Resource.before_delete).
DELETED_BEFORE = {
    ("extras_proposal", "change_request_id"),
    ("extras_change_request_event", "change_request_id"),
    ("extras_required_review", "change_request_id"),
    ("extras_required_review", "rule_id"),
}
KEPT = {
    "2 Saved views": "",
    "1 Scheduled job": "They run no more, and cannot be approved.",
    "1 Change request": "They have no author any more, and stay in review. They are not merged at their time.",
    "3 Object changes": "They keep the name of the account.",
}


@pytest.fixture
def owner(service: Service, unique: Unique) -> Account:
    """An account, signed in, that owns something of each kind."""
    labels = ["dcim.site", "extras.changerequest", "web.savedview", "users.user"]
    account = service.user(("view add change", labels), password=PASSWORD)
    Browser(service, account).get("/")
    for name, shared in ((unique(), True), (unique(), False)):
        account.api.post(VIEWS, {"name": name, "content_type": "dcim.site", "shared": shared})
    made = account.api.post(REQUESTS, {"title": unique()})
    account.api.post(SITES, {"name": unique(), "status": "active"}, headers={"X-Change-Request": made["id"]})
    account.api.post(f"{REQUESTS}{made['id']}/schedule/", {"at": "2099-01-01T00:00:00Z"}, status=200)
    row = {"id": uuid.uuid4(), "name": unique(), "job_class": "x", "start_time": now(), "next_run": now(), "kwargs": {}}
    with service.unit_of_work() as uow:
        uow.execute(sa.insert(_schedule).values(**row, user_id=uuid.UUID(account.id)))
    return account


def owned(page: BrowserPage) -> dict[str, str]:
    """The items of a page of deletion, about what is deleted and what is kept, by number and title."""
    items = page.html.select(".affected li")
    return {" ".join(item.strong.text.split()): " ".join(item.text.split()) for item in items}


def schedule_of(service: Service, owner: Account) -> str:
    """The name of the schedule of an account."""
    (row,) = service.rows(sa.select(_schedule.c.name).where(_schedule.c.user_id == uuid.UUID(owner.id)))
    return str(row.name)


@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_the_page_says_what_accounts_own_and_what_becomes_of_it(
    service: Service, browser: Browser, owner: Account, several: bool
) -> None:
    name = schedule_of(service, owner)
    if several:
        page = browser.post(f"{USERS}delete/", [("pk", owner.id), ("pk", service.user().id)], status=200)
    else:
        page = browser.get(f"{USERS}{owner.id}/delete/")
    found = owned(page)
    tokens = "2 Tokens" if several else "1 Token"
    assert "(not listed)" in found[tokens]  # their owners alone see them
    for number, note in KEPT.items():
        assert note in found[number], found
    assert name in found["1 Scheduled job"]
    assert "more changes are not listed" not in page.text
    if not several:
        link = page.html.find("a", string="1 Scheduled job")["href"]
        assert name in browser.get(link).words


def test_who_may_not_view_what_an_account_owns_learns_the_number_alone(service: Service, owner: Account) -> None:
    limited = service.user(
        ("view delete", "users.user"), ("view", "users.token", {"write_enabled": True}), password=PASSWORD
    )
    page = Browser(service, limited).get(f"{USERS}{owner.id}/delete/")
    assert owned(page) == {}
    assert schedule_of(service, owner) not in page.text
    assert "more changes are not listed" in page.text


def test_an_account_that_is_signed_in_is_deleted_and_its_schedules_say_that_they_cannot_run(
    service: Service, browser: Browser, owner: Account
) -> None:
    name = schedule_of(service, owner)
    page = browser.get(f"{USERS}{owner.id}/delete/").form().submit().follow()
    assert f"{owner.username} was deleted" in page.words
    (row,) = [row for row in browser.get(f"{SCHEDULES}?q={name}").html.select("tbody tr") if name in row.text]
    assert "Cannot run: The account that asked for it was deleted" in row.text
    path = row.select_one(f"a[href^='{SCHEDULES}']")["href"]
    assert "Cannot run: The account" in browser.get(path).html.select_one("#panel-approval").text


def test_rows_without_a_resource_never_keep_an_object_from_being_deleted(service: Service) -> None:
    """The database deletes or clears them with it, or a function before the deletion does."""
    of_resources = set(service.registry.by_table)
    left = {
        (table.name, key.parent.name)
        for table in Base.metadata.tables.values()
        for key in table.foreign_keys
        if key.column.table in of_resources and table not in of_resources and key.ondelete is None
    }
    assert left == DELETED_BEFORE


def test_the_change_records_of_a_deleted_account_are_updated_in_one_statement_and_not_read(
    service: Service, unique: Unique
) -> None:
    account = service.user(("view add", "dcim.site"))
    account.api.post(SITES, [{"name": unique(), "status": "active"} for _ in range(3)])
    with service.statements() as found:
        service.api.delete(f"/api/users/users/{account.id}/")
    of_records = [text for text in found if "extras_object_change" in text or "core_object_change" in text]
    written = [text for text in of_records if text.startswith("UPDATE") and "user_id" in text]
    assert len(written) == 1, of_records
    assert not [text for text in of_records if text.startswith("SELECT") and "FOR UPDATE" in text]
    records = service.api.get("/api/extras/object-changes/", {"user_name": account.username})["results"]
    assert [item["user"] for item in records] == [None] * 3
