"""The feed of changes: whoever follows it has what the service has, whatever happens at the same time."""

from __future__ import annotations

import base64
import concurrent.futures
import datetime
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import sqlalchemy as sa

from netinv_core.auth.account import Identity
from netinv_core.changelog import sequence
from netinv_core.changelog.models import ChangeNumbering, ObjectChange
from netinv_core.models.base import now, table_of
from netinv_core.tasks.retention import delete_old
from netinv_core.write import save
from netinv_extras.changelog.feed import cursor_of, number_of
from netinv_testing import Api, Service, Unique
from tests.support.http_server import served
from tests.support.waiting import until

FEED, CHANGES, SITES = "/api/extras/object-changes/feed/", "/api/extras/object-changes/", "/api/dcim/sites/"
SITE, CHANGE = "dcim.site", "extras.objectchange"
EVERYTHING = {"include": ["computed_fields", "relationships"], "limit": 1000}


@pytest.fixture
def start(api: Api) -> str:
    """The cursor of this moment."""
    cursor: str = api.get(FEED, {"after": "now"})["cursor"]
    return cursor


@pytest.fixture
def make_site(api: Api, unique: Unique) -> Any:
    """``make_site()``: a new site."""
    return lambda: api.post(SITES, {"name": unique(), "status": "active"})


class Mirror:
    """A copy of the sites, kept up to date from the feed alone; it insists that each change follows from what it
    has.
    """

    def __init__(self, read: Any, cursor: str) -> None:
        self.read, self.cursor = read, cursor
        self.sites: dict[str, Any] = {}
        self.changes: list[str] = []

    def follow(self, **query: Any) -> bool:
        """Takes one page; whether there is more."""
        page = self.read({"after": self.cursor, **query})
        for change in page["results"]:
            key = change["changed_object_id"]
            assert change["before"] == self.sites.get(key), (
                f"{change['event']} of {change['object_repr']} comes out of order"
            )
            self.changes.append(change["id"])
            if change["after"] is None:
                del self.sites[key]
            else:
                self.sites[key] = change["after"]
        self.cursor = page["cursor"]
        more: bool = page["more"]
        return more

    def follow_until(self, done: threading.Event, limit: int) -> None:
        """Takes pages until there are no more after the event."""
        last = False
        while not last:
            last = done.is_set()
            while self.follow(limit=limit, wait=1):
                pass


class Client:
    """A client of the service at an address."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._headers = {"Authorization": f"Token {token}", "Accept": "application/json; version=1.6"}

    def send(self, method: str, path: str, body: Any = None, query: Any = None) -> Any:
        answer = requests.request(
            method, f"{self._address}{path}", params=query, json=body, headers=self._headers, timeout=120
        )
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def read(self, query: dict[str, Any]) -> Any:
        return self.send("GET", FEED, query=query)


def test_it_tells_what_happened_in_the_order_in_which_it_did(api: Api, start: str, make_site: Any) -> None:
    site = make_site()
    changed = api.patch(f"{SITES}{site['id']}/", {"facility": "B7"})
    api.delete(f"{SITES}{site['id']}/")
    page = api.get(FEED, {"after": start})
    assert [
        (
            change["event"],
            change["before"] and change["before"]["facility"],
            change["after"] and change["after"]["facility"],
        )
        for change in page["results"]
    ] == [
        ("created", None, ""),
        ("updated", "", "B7"),
        ("deleted", "B7", None),
    ]
    change = page["results"][1]
    logged = api.get(CHANGES, {"changed_object_id": site["id"], "action": "update"})["results"][0]
    assert {
        name: change[name]
        for name in ("id", "time", "user_name", "request_id", "changed_object_type", "changed_object_id")
    } == {
        name: logged[name]
        for name in ("id", "time", "user_name", "request_id", "changed_object_type", "changed_object_id")
    }
    assert change["object_repr"] == site["name"]
    assert {name: change["after"][name] for name in changed} == changed
    assert (page["more"], page["cursor"]) == (False, page["results"][-1]["cursor"])


def test_pages_follow_each_other(api: Api, start: str, make_site: Any) -> None:
    made = [make_site()["id"] for _ in range(5)]
    cursor, found, more = start, [], True
    while more:
        page = api.get(FEED, {"after": cursor, "limit": 2})
        found.append([change["changed_object_id"] for change in page["results"]])
        cursor, more = page["cursor"], page["more"]
    assert found == [made[:2], made[2:4], made[4:]]
    assert api.get(FEED, {"after": cursor}) == {"results": [], "cursor": cursor, "more": False}


def test_a_place_within_a_page_is_a_place_to_go_on_from(api: Api, start: str, make_site: Any) -> None:
    made = [make_site()["id"] for _ in range(3)]
    first = api.get(FEED, {"after": start})["results"][0]
    assert [change["changed_object_id"] for change in api.get(FEED, {"after": first["cursor"]})["results"]] == made[1:]


def test_representations_are_of_the_version_asked_for(api: Api, start: str, unique: Unique) -> None:
    name = unique()
    api.post("/api/extras/tags/", {"name": name, "slug": name, "content_types": [SITE]})
    for version, shown in (("1.2", False), ("1.6", True)):
        (change,) = api.get(FEED, {"after": start}, version=version)["results"]
        assert ("content_types" in change["after"]) is shown


def test_several_changes_of_one_request_are_told_in_its_order(api: Api, start: str, unique: Unique) -> None:
    made = api.post(SITES, [{"name": unique(), "status": "active"} for _ in range(30)])
    assert [change["changed_object_id"] for change in api.get(FEED, {"after": start})["results"]] == [
        site["id"] for site in made
    ]


# -- waiting


def test_one_who_waits_is_told_at_once_and_holds_no_connection_meanwhile(
    service: Service, start: str, make_site: Any
) -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        answer = pool.submit(service.api.get, FEED, {"after": start, "wait": 60})
        held: Any = service.engine.pool
        deadline = time.monotonic() + 50
        while (not service.app.registry.netinv_waiters.count or held.checkedout()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not answer.done() and held.checkedout() == 0
        site = make_site()
        (change,) = answer.result(timeout=30)["results"]
    assert change["changed_object_id"] == site["id"]
    assert service.app.registry.netinv_waiters.count == 0


@pytest.mark.night
def test_nobody_waits_longer_than_said(api: Api, start: str) -> None:
    asked = time.monotonic()
    assert api.get(FEED, {"after": start, "wait": 1}) == {"results": [], "cursor": start, "more": False}
    assert time.monotonic() - asked > 0.9


def test_only_so_many_wait_at_once(service: Service, api: Api, start: str, make_site: Any) -> None:
    """The threads of the server are for all: one more is answered without waiting."""
    with service.configured(feed_waiters=1), concurrent.futures.ThreadPoolExecutor(2) as pool:
        first = pool.submit(api.get, FEED, {"after": start, "wait": 60})
        until(lambda: service.app.registry.netinv_waiters.count)
        second = pool.submit(api.get, FEED, {"after": start, "wait": 60})
        assert second.result(timeout=30)["results"] == [] and not first.done()
        make_site()
        assert len(first.result(timeout=30)["results"]) == 1


@pytest.mark.parametrize("wait", ["61", "-1", "soon", "", "1.5"])
def test_a_wait_is_a_minute_at_most(api: Api, wait: str) -> None:
    assert api.get(FEED, {"wait": wait}, status=400) == {"wait": ["A whole number of seconds is required, 60 at most."]}


@pytest.mark.parametrize("text", ["", "1", "0:5", "1:-1", "1:abc", "1:1:1", "1:9999999999999999999999999999"])
def test_what_is_no_cursor_is_refused(api: Api, text: str) -> None:
    for cursor in (base64.urlsafe_b64encode(text.encode()).decode() or "é", f"{text} "):
        assert api.get(FEED, {"after": cursor}, status=400) == {"after": ["This is no cursor of this feed."]}


def test_a_cursor_has_one_spelling_besides_its_padding(api: Api, start: str) -> None:
    """A cursor that was damaged on its way names no other place."""
    for damaged in (f"!{start}", f"{start}\n", f"{start[:2]} {start[2:]}", f"{start}.", cursor_with_zeros(start)):
        assert api.get(FEED, {"after": damaged}, status=400) == {"after": ["This is no cursor of this feed."]}
    assert api.get(FEED, {"after": start + "=" * (-len(start) % 4)})["cursor"] == start


def cursor_with_zeros(cursor: str) -> str:
    """The same number with zeros before it."""
    return base64.urlsafe_b64encode(f"1:00{number_of(cursor)}".encode()).decode().rstrip("=")


def test_it_is_read_only(api: Api) -> None:
    assert api.post(FEED, {}, status=405) == {"detail": 'Method "POST" not allowed.'}
    assert api.send("OPTIONS", FEED, status=200).headers["Allow"] == "GET, HEAD, OPTIONS"
    assert api.send("GET", FEED, query={"after": "now"}, status=200).headers["Cache-Control"] == "no-store"


@pytest.mark.night
def test_it_is_documented(api: Api) -> None:
    found = api.get("/api/swagger.json")["paths"]["/extras/object-changes/feed/"]["get"]
    assert {"after", "limit", "wait"} <= {parameter.get("name") for parameter in found["parameters"]}


# -- who sees what


@pytest.mark.night
def test_it_is_for_those_who_may_view_the_change_log_and_the_type(
    service: Service, start: str, make_site: Any, unique: Unique
) -> None:
    site = make_site()
    tenant = service.api.post("/api/tenancy/tenants/", {"name": unique()})
    end = service.api.get(FEED, {"after": start})["cursor"]

    def seen(*permissions: Any) -> list[str]:
        page = service.user(*permissions).api.get(FEED, {"after": start, "wait": 1})
        assert number_of(page["cursor"]) >= number_of(end)
        return [
            change["changed_object_id"]
            for change in page["results"]
            if change["changed_object_id"] in (site["id"], tenant["id"])
        ]

    assert seen(("view", CHANGE)) == []
    assert seen(("view", [CHANGE, SITE])) == [site["id"]]
    assert seen(("view", [CHANGE, SITE, "tenancy.tenant"])) == [site["id"], tenant["id"]]
    assert seen(("view", CHANGE), ("view", SITE, {"name": site["name"]})) == []
    assert seen(("view", CHANGE, {"changed_object_type": SITE}), ("view", [SITE, "tenancy.tenant"])) == [site["id"]]
    assert service.user(("view", SITE)).api.get(FEED, status=403) == {
        "detail": "You do not have permission to perform this action."
    }
    assert service.anonymous.get(FEED, status=403) == {"detail": "Authentication credentials were not provided."}


def test_what_is_hidden_counts_as_read(service: Service, start: str, make_site: Any) -> None:
    """Page by page, so that a reader who may see little gets ahead."""
    reader = service.user(("view", [CHANGE, "tenancy.tenant"])).api
    before = service.api.get(FEED, {"after": "now"})["cursor"]
    for _ in range(3):
        make_site()
    end = service.api.get(FEED, {"after": "now"})["cursor"]
    first = reader.get(FEED, {"after": before, "limit": 2})
    assert (first["results"], first["more"]) == ([], True)
    assert reader.get(FEED, {"after": first["cursor"], "limit": 2}) == {"results": [], "cursor": end, "more": False}


# -- what is kept


@pytest.fixture
def kept(service: Service) -> Iterator[Any]:
    """``kept(cursor)``: only the changes behind the cursor are kept, the others are deleted."""
    table = table_of(ObjectChange)

    def prune(*sites: str) -> int:
        long_ago = now() - datetime.timedelta(days=4000)
        with service.engine.begin() as connection:
            connection.execute(
                sa.update(table).where(table.c.changed_object_id.in_(map(uuid.UUID, sites))).values(time=long_ago)
            )
        with service.configured(changelog_retention=3650):
            return delete_old(service.engine, service.registry, sequence.retention)

    yield prune


def test_one_who_comes_too_late_is_told_so(api: Api, start: str, make_site: Any, kept: Any) -> None:
    old, new = make_site(), make_site()
    between = api.get(FEED, {"after": start})["results"][0]["cursor"]
    assert kept(old["id"]) == 1
    reason = (
        "Changes after this cursor are no longer kept: read everything anew, then go on from a cursor of that time."
    )
    assert api.get(FEED, {"after": start}, status=410) == {"detail": reason}
    assert [change["changed_object_id"] for change in api.get(FEED, {"after": between})["results"]] == [new["id"]]
    assert api.get(FEED, {"limit": 1})["results"][0]["changed_object_id"] == new["id"]


def test_numbers_go_on_when_nothing_is_left(api: Api, start: str, make_site: Any, kept: Any) -> None:
    """A number is given once, even when the changes that had the last ones are gone."""
    gone = [make_site()["id"] for _ in range(3)]
    last = api.get(FEED, {"after": start})["cursor"]
    kept(*gone)
    site = make_site()
    page = api.get(FEED, {"after": last})
    assert [change["changed_object_id"] for change in page["results"]] == [site["id"]]


def test_a_change_nobody_has_read_yet_gets_a_number_before_it_goes(
    api: Api, start: str, make_site: Any, kept: Any
) -> None:
    site = make_site()
    assert kept(site["id"]) == 1
    api.get(FEED, {"after": start}, status=410)


def test_a_cursor_from_later_than_the_log_is_told_so(service: Service, start: str, make_site: Any) -> None:
    """After a restored backup, say."""
    make_site()
    cursor = service.api.get(FEED, {"after": start})["cursor"]
    table = table_of(ChangeNumbering)
    with service.engine.begin() as connection:
        connection.execute(sa.update(table).values(given=table.c.given - 1))
    try:
        reason = "There is no such change: the log is older than this cursor. Read everything anew, then go on from a cursor of that time."
        assert service.api.get(FEED, {"after": cursor}, status=410) == {"detail": reason}
    finally:
        with service.engine.begin() as connection:
            connection.execute(sa.update(table).values(given=table.c.given + 1))


def test_what_comes_begins_behind_all_there_is(
    service: Service, make_site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even when there is more than is numbered at once."""
    monkeypatch.setattr(sequence, "BATCH_SIZE", 2)
    for _ in range(5):
        made = make_site()
    cursor = service.api.get(FEED, {"after": "now"})["cursor"]
    assert (
        service.api.get(FEED, {"after": cursor_of(number_of(cursor) - 1)})["results"][0]["changed_object_id"]
        == made["id"]
    )
    assert service.api.get(FEED, {"after": cursor})["results"] == []


# -- at the same time


def test_a_change_that_commits_late_is_not_missed(service: Service, start: str, unique: Unique) -> None:
    """It was written first, and the reader has read what was written after it before it committed."""
    between = []
    with service.unit_of_work() as late:
        (first,) = _create(late, service, unique)
        if service.engine.dialect.name != "sqlite":  # where only one transaction writes at a time
            between.append(service.api.post(SITES, {"name": unique(), "status": "active"})["id"])
        page = service.api.get(FEED, {"after": start})
        assert [change["changed_object_id"] for change in page["results"]] == between
    assert [change["changed_object_id"] for change in service.api.get(FEED, {"after": page["cursor"]})["results"]] == [
        str(first["id"])
    ]


def _create(context: Any, service: Service, unique: Unique, count: int = 1) -> Any:
    context.identity = Identity(user_id=uuid.UUID(service.admin.id), username=service.admin.username, superuser=True)
    made = save.create(
        context, service.registry[SITE], [{"name": unique(), "status": "active"} for _ in range(count)], single=False
    )
    return made


def _change_sites(client: Client, unique: Unique, shared: list[Any], number: int) -> None:
    """Creates, changes and deletes sites, and changes shared ones, six times."""
    for turn in range(6):
        own = client.send("POST", SITES, [{"name": unique(), "status": "active"} for _ in range(3)])
        client.send("PATCH", f"{SITES}{shared[turn % 3]['id']}/", {"facility": f"{number} {turn}"})
        changed = [*sorted(shared, key=lambda site: site["id"]), own[0]]
        client.send("PATCH", SITES, [{"id": site["id"], "description": f"{number} {turn}"} for site in changed])
        client.send("DELETE", f"{SITES}{own[1]['id']}/")
        client.send("PATCH", f"{SITES}{own[2]['id']}/", {"comments": str(turn)})


def _stay_open(service: Service, address: str, unique: Unique) -> None:
    """Creates five sites in a transaction that is committed two seconds later."""
    with service.unit_of_work() as late:
        late.base = address
        _create(late, service, unique, 5)
        time.sleep(2)


@pytest.mark.night
def test_a_mirror_has_what_the_service_has(service: Service, start: str, unique: Unique) -> None:
    """Eight clients create, change and delete, some of it the same objects; a transaction stays open meanwhile; two
    mirrors follow.
    """
    done = threading.Event()
    with served(service.app) as address, concurrent.futures.ThreadPoolExecutor(12) as pool:
        client = Client(address, service.api.token)
        shared = [client.send("POST", SITES, {"name": unique(), "status": "active"}) for _ in range(3)]
        mirrors = [Mirror(client.read, start), Mirror(client.read, start)]
        followers = [
            pool.submit(mirror.follow_until, done, limit) for mirror, limit in zip(mirrors, (7, 1000), strict=True)
        ]
        writers = [pool.submit(_stay_open, service, address, unique)]
        writers += [pool.submit(_change_sites, client, unique, shared, number) for number in range(8)]
        for writer in writers:
            writer.result(timeout=300)
        done.set()
        for follower in followers:
            follower.result(timeout=60)
        keys = sorted(
            {key for mirror in mirrors for key in mirror.sites}
        )  # of others there may be more than fit a page
        page = client.send("GET", SITES, query=EVERYTHING | {"id": keys})
        stored = {site["id"]: site for site in page["results"]}
    logged = table_of(ObjectChange)
    expected = {str(key) for (key,) in service.rows(sa.select(logged.c.id).where(logged.c.number > number_of(start)))}
    for mirror in mirrors:
        assert len(mirror.changes) == len(set(mirror.changes)) and set(mirror.changes) == expected
        assert mirror.sites == {key: stored[key] for key in mirror.sites}
        assert len(mirror.sites) == 3 + 5 + 8 * 6 * 2
