"""PgBouncer in transaction mode between the service and PostgreSQL, with the file of `deploy/pgbouncer`."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from netinv_admin.commands.cli import cli
from netinv_core.db.engine import engine_from
from netinv_testing import Service
from netinv_testing.client import SECRET
from tests.support import REPOSITORY
from tests.support.databases import migrate
from tests.support.postgresql import ACCOUNT, primary_server
from tests.support.servers import free_port, listens, running

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.night]
SERVER_CONNECTIONS = 3
CLIENTS = 8
REPETITIONS = 12  # psycopg would prepare a statement at its sixth execution


@dataclasses.dataclass(frozen=True)
class Pooled:
    """A service whose database is behind a pooler."""

    service: Service
    url: str


def configuration(folder: Path, port: int, server_port: int) -> Path:
    """The file of `deploy/pgbouncer` with addresses of the test and few connections."""
    text = (REPOSITORY / "deploy/pgbouncer/pgbouncer.ini").read_text()
    for setting, value in {
        "netinv": f"host=127.0.0.1 port={server_port} dbname=postgres connect_query='SET statement_timeout = 2000'",
        "listen_port": port,
        "auth_type": "any",
        "auth_file": "",
        "default_pool_size": SERVER_CONNECTIONS,
    }.items():
        text, replaced = re.subn(rf"^{setting} = .*$", f"{setting} = {value}", text, flags=re.M)
        assert replaced == 1, setting
    text = text.replace("dbname=postgres ", f"dbname=postgres user={ACCOUNT} ")
    file = folder / "pgbouncer.ini"
    file.write_text(text + (f"user = {ACCOUNT}\n" if os.getuid() == 0 else ""))
    return file


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pooled]:
    folder, port = tmp_path_factory.mktemp("pgbouncer"), free_port()
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    with primary_server() as primary:
        direct = engine_from(primary.url)
        migrate(direct)
        direct.dispose()
        file = configuration(folder, port, primary.port)
        with running([program, file], folder / "log", listens(port)):
            url = f"postgresql://netinv@127.0.0.1:{port}/netinv?pooler=transaction"
            engine = engine_from(url, pool_size=CLIENTS)
            yield Pooled(Service(engine, {"netinv.database_url": url}), url)
            engine.dispose()


def in_threads(function: Any, count: int) -> list[BaseException]:
    """Calls a function in several threads at once; returns the errors."""
    errors: list[BaseException] = []

    def call() -> None:
        try:
            function()
        except BaseException as error:  # shown by the test
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_statements_are_repeated_by_more_clients_than_the_server_has_connections(pooled: Pooled) -> None:
    def work() -> None:
        api, name = pooled.service.user(superuser=True).api, pooled.service.unique()
        body = {"name": name, "slug": name, "content_types": ["dcim.site"]}
        path = f"/api/extras/tags/{api.post('/api/extras/tags/', body)['id']}/"
        for number in range(REPETITIONS):
            api.patch(path, {"description": str(number)})
            assert api.get(path)["description"] == str(number)
            assert api.get("/api/extras/tags/", {"name__ic": name})["count"] == 1
        api.delete(path)

    assert in_threads(work, CLIENTS) == []


def test_concurrent_allocations_give_each_address_once(pooled: Pooled) -> None:
    api, unique = pooled.service.api, pooled.service.unique
    status = api.get("/api/extras/statuses/", {"content_types": "ipam.prefix"})["results"][0]["slug"]
    network = f"{unique.ipv6()}::/64"
    path = f"/api/ipam/prefixes/{api.post('/api/ipam/prefixes/', {'prefix': network, 'status': status})['id']}/"
    active = api.get("/api/extras/statuses/", {"content_types": "ipam.ipaddress"})["results"][0]["slug"]
    given: list[str] = []

    def allocate() -> None:
        for _ in range(REPETITIONS):
            given.append(api.post(f"{path}available-ips/", {"status": active})["address"])

    assert in_threads(allocate, CLIENTS) == []
    assert len(set(given)) == len(given) == CLIENTS * REPETITIONS


def test_sessions_of_the_server_have_the_time_zone_and_the_timeout(pooled: Pooled) -> None:
    for _ in range(SERVER_CONNECTIONS * 2):
        [(zone, timeout)] = pooled.service.rows(
            sa.text("SELECT current_setting('timezone'), current_setting('statement_timeout')")
        )
        assert (zone, timeout) == ("UTC", "2s")


def test_commands_work_through_the_pooler(pooled: Pooled, tmp_path: Path) -> None:
    file = tmp_path / "netinv.ini"
    file.write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.secret = {SECRET}\nnetinv.database_url = {pooled.url}\n"
        f"netinv.media_root = {tmp_path / 'media'}\n"
    )
    checked = CliRunner().invoke(cli, ["-c", str(file), "check"]).output
    assert "pooler: statements through the pooler end after 2s" in checked
    for command in (["migrate", "--check"], ["upkeep"], ["backup", str(tmp_path / "backup.zip")]):
        result = CliRunner().invoke(cli, ["-c", str(file), *command])
        assert result.exit_code == 0, result.output


def test_a_url_names_a_known_kind_of_pooler() -> None:
    with pytest.raises(ValueError, match="pooler=session"):
        engine_from("postgresql://127.0.0.1/netinv?pooler=session")
