"""Read replicas: a primary and a streaming standby, which the tests start, pause, kill and promote."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import webtest
from click.testing import CliRunner

from netinv_admin.commands.cli import cli
from netinv_core.db.engine import engine_from
from netinv_core.main import main, read_settings
from netinv_testing import Service
from netinv_testing.client import SECRET, Api
from tests.support.databases import migrate
from tests.support.postgresql import Server, servers

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.night]
PATIENCE = 30.0
SITES, TAGS = "/api/dcim/sites/", "/api/extras/tags/"
MAX_LAG = 2


class Cluster:
    """A service on a primary with one replica."""

    def __init__(self, primary: Server, replica: Server) -> None:
        self.primary, self.replica = primary, replica
        engine = engine_from(primary.url)
        migrate(engine)
        self.settings = {
            "netinv.database_url": primary.url,
            "netinv.database_read_urls": replica.url,
            "netinv.database_read_lag": str(MAX_LAG),
        }
        self.service = Service(engine, self.settings)

    def reads(self, server: str | None = None) -> float:
        """The number of reads from a server, by default from the replica."""
        metrics = self.service.api.send("GET", "/metrics", status=200).text
        name = re.escape(server or f"127.0.0.1:{self.replica.port}/postgres")
        found = re.search(rf'netinv_database_reads_total{{server="{name}"}} (\S+)', metrics)
        return float(found[1]) if found else 0.0

    def states(self) -> dict[str, str]:
        """The results of the readiness, by name."""
        answer = self.service.anonymous.send("GET", "/health/ready", status=200).json
        return {check["name"]: check["result"] for check in answer["checks"]}

    def wait_for(self, state: str) -> None:
        """Waits until the service finds the replica in a state."""
        wait_until(lambda: self.states()["replica 1"] == state)

    def wait_for_replay(self) -> None:
        """Waits until the replica has replayed what the primary has written."""
        [(position,)] = self.primary.execute("SELECT pg_current_wal_insert_lsn()")
        behind = f"SELECT pg_last_wal_replay_lsn() >= '{position}'"
        wait_until(lambda: self.replica.execute(behind) == [(True,)])

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """The replica stays where it is, while the block runs."""
        self.wait_for("ok")
        self.wait_for_replay()
        self.replica.execute("SELECT pg_wal_replay_pause()")
        wait_until(lambda: self.replica.execute("SELECT pg_get_wal_replay_pause_state()") == [("paused",)])
        try:
            yield
        finally:
            self.replica.execute("SELECT pg_wal_replay_resume()")
            self.wait_for_replay()

    def tag(self, **values: Any) -> str:
        """The path of a new tag."""
        name = self.service.unique()
        body = {"name": name, "slug": name, "content_types": ["dcim.site"], **values}
        return f"{TAGS}{self.service.api.post(TAGS, body)['id']}/"


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits until a condition holds.

    :raises AssertionError: when it does not within :data:`PATIENCE`
    """
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture(scope="module")
def pair() -> Iterator[Cluster]:
    with servers() as (primary, replica):
        cluster = Cluster(primary, replica)
        yield cluster
        cluster.service.app.registry.netinv_replicas.stop()
        cluster.service.engine.dispose()


@pytest.fixture
def cluster(pair: Cluster) -> Cluster:
    """A service whose replica is in use."""
    pair.wait_for("ok")
    pair.wait_for_replay()
    return pair


def test_requests_that_only_read_are_answered_from_the_replica(cluster: Cluster) -> None:
    api, tag = cluster.service.user(superuser=True).api, cluster.tag()
    cluster.wait_for_replay()
    for read in (
        lambda: api.get(tag),
        lambda: api.get(TAGS, {"limit": 2}),
        lambda: api.send("HEAD", TAGS, status=200),
        lambda: api.options(TAGS),
        lambda: api.post(f"{TAGS}query/", {"limit": 2}, status=200),
        lambda: api.post("/api/graphql/", {"query": "{ tags { name } }"}, status=200),
    ):
        before = cluster.reads()
        read()
        assert cluster.reads() >= before + 2  # and that of the metrics


def test_writes_are_answered_from_the_primary(cluster: Cluster) -> None:
    before = cluster.reads()
    cluster.service.api.delete(cluster.tag())
    assert cluster.reads() <= before + 1  # that of the metrics, which a replica behind is left out of


def test_clients_read_their_own_writes_while_the_replica_is_behind(cluster: Cluster) -> None:
    api, other = cluster.service.api, cluster.service.user(superuser=True).api
    tag = cluster.tag(description="before")
    with cluster.paused():
        assert api.get(tag)["description"] == "before"
        api.patch(tag, {"description": "after"})
        assert api.get(tag)["description"] == "after"
        assert other.get(tag)["description"] == "before"
        added = cluster.tag()
        assert api.get(added)["id"]
        other.get(added, status=404)
    before = cluster.reads()
    assert api.get(tag)["description"] == other.get(tag)["description"] == "after"
    assert cluster.reads() >= before + 3


def test_the_writes_of_all_tokens_and_sessions_of_an_account_are_read(cluster: Cluster) -> None:
    service = cluster.service
    account = service.user(superuser=True, password="a long password")
    browser = webtest.TestApp(service.app, extra_environ={"HTTP_SEC_FETCH_SITE": "same-origin"})
    browser.post("/login/", {"username": account.username, "password": "a long password"}, status=303)
    with cluster.paused():
        name = service.unique()
        account.api.post(TAGS, {"name": name, "slug": name, "content_types": ["dcim.site"]})
        assert name in browser.get("/extras/tags/", {"name": name}).text


def test_the_feed_is_read_from_the_primary(cluster: Cluster) -> None:
    feed = "/api/extras/object-changes/feed/"
    cursor = cluster.service.api.get(feed)["cursor"]
    with cluster.paused():
        tag = cluster.tag()
        [change] = cluster.service.user(superuser=True).api.get(feed, {"after": cursor})["results"]
        assert change["changed_object_id"] in tag


def test_what_is_revoked_ends_at_once(cluster: Cluster) -> None:
    service = cluster.service
    reader = service.user(("view", "extras.tag"))
    with cluster.paused():
        reader.api.get(TAGS)
        service.api.patch(f"/api/users/users/{reader.id}/", {"is_active": False})
        reader.api.get(TAGS, status=403)


def test_configuration_is_the_newest_while_the_replica_is_behind(cluster: Cluster) -> None:
    service = cluster.service
    other, name = service.user(superuser=True).api, service.unique()
    status = next(iter(service.api.get("/api/extras/statuses/", {"content_types": "dcim.site"})["results"]))["slug"]
    site = service.api.post(SITES, {"name": name, "slug": name, "status": status})["id"]
    with cluster.paused():
        field = {"name": name, "slug": name, "label": name, "type": "text", "content_types": ["dcim.site"]}
        service.api.post("/api/extras/custom-fields/", field)
        assert name in other.get(f"{SITES}{site}/")["custom_fields"]
    before = cluster.reads()
    assert name in other.get(f"{SITES}{site}/")["custom_fields"]
    assert cluster.reads() >= before + 2


def test_a_replica_that_lags_is_left_out_and_taken_in_again(cluster: Cluster, tmp_path: Path) -> None:
    other = cluster.service.user(superuser=True).api
    with cluster.paused():
        tag = cluster.tag()
        cluster.wait_for("lagging")
        assert other.get(tag)["id"]
        before = cluster.reads()
        assert cluster.reads() == before
        assert re.search(r": (ok|lagging), [1-9]\.\d s behind", check(cluster, tmp_path))
        assert "netinv_database_replica_up" in other.send("GET", "/metrics", status=200).text
    cluster.wait_for("ok")
    assert f"127.0.0.1:{cluster.replica.port}/postgres: ok" in check(cluster, tmp_path)


def check(cluster: Cluster, folder: Path, **settings: str) -> str:
    """The output of `netinv check`."""
    changed = {f"netinv.{name}": value for name, value in settings.items()}
    file, values = folder / "netinv.ini", {**cluster.settings, "netinv.secret": SECRET, **changed}
    lines = "".join(f"{name} = {value}\n" for name, value in values.items())
    file.write_text(f"[app:main]\nuse = egg:netinv-core\n{lines}")
    return CliRunner().invoke(cli, ["-c", str(file), "check"]).output


def test_nothing_older_is_read_after_a_crash_of_the_primary(cluster: Cluster) -> None:
    api, tag = cluster.service.api, cluster.tag(description="before")
    with cluster.paused():
        api.patch(tag, {"description": "after"})
        cluster.primary.stop()
        cluster.primary.start()
        assert api.get(tag)["description"] == "after"
    cluster.wait_for("ok")
    assert api.get(tag)["description"] == "after"


class Client(threading.Thread):
    """An account that writes and reads its writes until it is stopped."""

    def __init__(self, api: Api, tag: str, stopped: threading.Event) -> None:
        super().__init__()
        self.api, self.tag, self.stopped = api, tag, stopped
        self.requests, self.errors = 0, list[str]()

    def run(self) -> None:
        while not self.stopped.is_set():
            text = str(self.requests)
            try:
                self.api.patch(self.tag, {"description": text})
                read = self.api.get(self.tag)["description"]
                listed = self.api.get(TAGS, {"id": self.tag.split("/")[-2]})["results"][0]["description"]
                assert read == listed == text, f"{read} and {listed} instead of {text}"
            except Exception as error:  # shown by the test
                self.errors.append(f"{type(error).__name__}: {error}")
            self.requests += 3


def test_a_replica_is_killed_and_restarted_under_load(cluster: Cluster) -> None:
    stopped = threading.Event()
    clients = [Client(cluster.service.user(superuser=True).api, cluster.tag(), stopped) for _ in range(4)]
    before = cluster.reads()
    for client in clients:
        client.start()
    for _ in range(3):
        wait_until(lambda: sum(client.requests for client in clients) > 30)
        cluster.replica.stop()
        cluster.wait_for("unreachable")
        cluster.replica.start()
        cluster.wait_for("ok")
        with cluster.paused():
            time.sleep(0.2)
    after_restart = cluster.reads()
    wait_until(lambda: cluster.reads() > after_restart + 20)
    stopped.set()
    for client in clients:
        client.join(PATIENCE)
    assert [error for client in clients for error in client.errors] == []
    assert after_restart > before and all(client.requests for client in clients)


def test_a_promoted_replica_is_left_out(cluster: Cluster, tmp_path: Path) -> None:
    other = Server(cluster.primary.folder.with_name("other")).copy(cluster.primary).start()
    service = Service(cluster.service.engine, {**cluster.settings, "netinv.database_read_urls": other.url})
    replica = service.app.registry.netinv_replicas.all[0]
    try:
        service.api.get(TAGS)
        wait_until(lambda: replica.state == "ok")
        other.execute("SELECT pg_promote()")
        wait_until(lambda: replica.state == "not a standby")
        assert service.api.get(TAGS)["count"] >= 0
        assert "not a standby" in check(cluster, tmp_path, database_read_urls=other.url)
    finally:
        service.app.registry.netinv_replicas.stop()
        other.stop()


def test_replicas_of_other_databases_are_refused_at_the_start(tmp_path: Path) -> None:
    settings = {"netinv.secret": SECRET, "netinv.database_url": f"sqlite:///{tmp_path}/netinv.sqlite"}
    for url in ("postgresql://127.0.0.1/netinv", "mysql://127.0.0.1/netinv"):
        with pytest.raises(ValueError, match="database_read_urls"):
            read_settings({**settings, "netinv.database_read_urls": url})
    with pytest.raises(SystemExit, match="database_read_urls"):
        main({}, **settings, **{"netinv.database_read_urls": "postgresql://127.0.0.1/netinv"})
