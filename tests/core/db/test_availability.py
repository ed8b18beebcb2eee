"""Availability: connections that are cut, a database that is away, busy or out of connections; start without one."""

from __future__ import annotations

import contextlib
import gc
import logging
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from sqlalchemy import event
from sqlalchemy.engine import Engine

from netinv_admin.commands.cli import cli
from netinv_core import main as service
from netinv_core import worker_tasks
from netinv_core.db import availability
from netinv_core.db.engine import engine_from, session_factory
from netinv_core.tasks import queue as task_queue
from netinv_testing import Api, Service, Unique
from tests.support.databases import SERVER

TENANTS = "/api/tenancy/tenants/"
AWAY = {"detail": "The database cannot be reached at the moment. Try again later."}


def connections_of(service: Service, other: Any) -> set[int]:
    """The connections of the service's process to its database, as the server numbers them."""
    if service.engine.dialect.name == "postgresql":
        text = "SELECT pid FROM pg_stat_activity WHERE datname = :name AND pid <> pg_backend_pid()"
    else:
        text = "SELECT id FROM information_schema.processlist WHERE db = :name AND id <> connection_id()"
    return set(other.execute(sa.text(text), {"name": service.engine.url.database}).scalars())


def cut(service: Service, number: int | None = None) -> None:
    """Has the server end one connection, or all of them; with SQLite, where there is no server, the pool lets go of its
    own.
    """
    if not SERVER:
        return service.engine.dispose()
    url = service.engine.url.render_as_string(hide_password=False)
    admin = engine_from(url, isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool)
    with admin.connect() as other:
        numbers = connections_of(service, other) if number is None else {number}
        for one in numbers:
            with contextlib.suppress(sa.exc.OperationalError):  # it ended meanwhile
                other.execute(
                    sa.text(
                        f"SELECT pg_terminate_backend({one})" if admin.dialect.name == "postgresql" else f"KILL {one}"
                    )
                )
        deadline = time.monotonic() + 30
        while numbers & connections_of(service, other):
            assert time.monotonic() < deadline
            time.sleep(0.01)


def number_of(connection: Any) -> int | None:
    """The number of a driver's connection; SQLite's is closed instead."""
    if isinstance(connection, sqlite3.Connection):
        connection.close()
        return None
    return int(connection.info.backend_pid if hasattr(connection, "info") else connection.thread_id())


@contextlib.contextmanager
def cut_before(service: Service, word: str) -> Iterator[list[str]]:
    """Cuts the connection on which a statement that contains ``word`` is about to be executed, once."""
    done: list[str] = []

    def before(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if not done and word in statement:
            done.append(statement)
            number = number_of(connection.connection.driver_connection)
            if number is not None:
                cut(service, number)

    event.listen(service.engine, "before_cursor_execute", before)
    try:
        yield done
    finally:
        event.remove(service.engine, "before_cursor_execute", before)


@contextlib.contextmanager
def database(service: Service, engine: Engine) -> Iterator[None]:
    """Another engine for the service's requests."""
    registry = service.app.registry
    before = registry.netinv_sessions
    registry.netinv_sessions = session_factory(engine)
    try:
        yield
    finally:
        registry.netinv_sessions = before
        engine.dispose()


# -- connections that are cut


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_first_request_after_connections_were_cut_succeeds(
    service: Service, api: Api, unique: Unique, method: str
) -> None:
    for _ in range(3):
        api.get(TENANTS)
        cut(service)
        if method == "GET":
            api.get(TENANTS)
        else:
            api.post(TENANTS, {"name": unique()})


def test_a_connection_is_tried_without_a_statement_more(api: Api, statements: Any) -> None:
    with statements() as sent:
        api.get("/api/")
    assert len(sent) == 1


@pytest.mark.parametrize("word", ["core_token", "tenancy_tenant"])
def test_a_read_whose_connection_is_cut_is_503_and_the_next_succeeds(
    service: Service, api: Api, caplog: Any, word: str
) -> None:
    with caplog.at_level(logging.WARNING), cut_before(service, word) as done:
        answer = api.send("GET", TENANTS, status=503)
        assert done and (answer.json, answer.headers["Retry-After"]) == (AWAY, "5")
        api.get(TENANTS)
    (line,) = [record for record in caplog.records if record.name.startswith("netinv")]
    assert line.exc_info is None and line.getMessage().startswith(f"GET {TENANTS} answered 503: ")


@pytest.mark.parametrize("word", ["INSERT INTO tenancy_tenant", "INSERT INTO core_object_change"])
def test_a_write_whose_connection_is_cut_is_503_and_changes_nothing(
    service: Service, api: Api, unique: Unique, word: str
) -> None:
    name = unique()
    with cut_before(service, word) as done:
        answer = api.send("POST", TENANTS, {"name": name}, status=503)
    assert done and (answer.json, answer.headers["Retry-After"]) == (AWAY, "5")
    assert api.get(TENANTS, {"name": name})["count"] == 0
    api.post(TENANTS, {"name": name})


# -- a database that is away


URLS = [
    "postgresql://someone:hidden@127.0.0.1:{}/none",
    "mysql://someone:hidden@127.0.0.1:{}/none",
    "sqlite:////nowhere/there/{}.sqlite",
]
REQUESTS = [
    ("GET", path)
    for path in (
        "/api/",
        TENANTS,
        f"{TENANTS}x/",
        "/metrics",
        "/media/images/x.png",
        "/api/status/",
        "/api/users/config/",
    )
]
REQUESTS += [
    ("POST", TENANTS),
    ("PATCH", TENANTS),
    ("DELETE", TENANTS),
    ("POST", "/api/graphql/"),
    ("PATCH", "/api/users/config/"),
    ("OPTIONS", TENANTS),
]


@pytest.mark.night
@pytest.mark.parametrize("url", URLS)
def test_a_database_that_is_away_is_503_everywhere(
    service: Service, api: Api, closed_port: int, caplog: Any, url: str
) -> None:
    with caplog.at_level(logging.WARNING), database(service, engine_from(url.format(closed_port))):
        for method, path in REQUESTS:
            caplog.clear()
            answer = api.send(method, path, {"name": "x"} if method in ("POST", "PATCH") else b"", status=503)
            assert (answer.json, answer.headers["Retry-After"]) == (AWAY, "5")
            (line,) = caplog.records
            assert line.exc_info is None and "answered 503" in line.getMessage() and "hidden" not in line.getMessage()
        with_password = {"Authorization": "Basic eDp5"}
        assert api.send("POST", "/api/users/tokens/", {}, token=None, headers=with_password, status=503).json == AWAY
        for path in ("/api/docs/", "/api/swagger.json", "/nosuch"):
            assert api.send("GET", path).status_int in (200, 404)
    api.get(TENANTS)


def test_no_free_connection_is_503(service: Service, api: Api) -> None:
    engine = engine_from(
        service.engine.url.render_as_string(hide_password=False), pool_size=1, max_overflow=0, pool_timeout=0.05
    )
    with database(service, engine):
        with engine.connect():
            assert api.send("GET", TENANTS, status=503).headers["Retry-After"] == "5"
        api.get(TENANTS)


def test_a_file_that_stays_locked_is_away(tmp_path: Path) -> None:
    first, second = (
        sa.create_engine(f"sqlite:///{tmp_path / 'x'}", connect_args={"timeout": 0, "isolation_level": None})
        for _ in range(2)
    )
    with first.connect() as holder, second.connect() as waiter:
        holder.exec_driver_sql("BEGIN IMMEDIATE")
        with pytest.raises(sa.exc.OperationalError) as refused:
            waiter.exec_driver_sql("BEGIN IMMEDIATE")
        holder.exec_driver_sql("ROLLBACK")
    assert availability.is_away(refused.value) and not availability.is_busy(refused.value)


@pytest.mark.parametrize("text", ["SELECT nothing FROM nowhere", "SELEC 1", "SELECT nosuchfunction(1, 2)"])
def test_a_wrong_statement_is_neither_away_nor_busy(service: Service, text: str) -> None:
    with service.engine.connect() as connection, pytest.raises(sa.exc.DBAPIError) as refused:
        connection.execute(sa.text(text))
    assert not availability.is_away(refused.value) and not availability.is_busy(refused.value)


def test_a_task_without_a_database_is_one_line_in_the_log(
    service: Service, closed_port: int, caplog: Any, tmp_path: Path
) -> None:
    huey = task_queue.queue(f"sqlite:///{tmp_path / 'queue'}")
    huey.immediate = True
    call = worker_tasks.add_tasks(huey, engine_from(URLS[0].format(closed_port)), service.registry)["number_changes"]
    with caplog.at_level(logging.WARNING):
        call()
    (line,) = caplog.records
    assert line.exc_info is None and line.getMessage().startswith(
        "the task number_changes was broken off, and is run at its next time: "
    )


# -- start


@pytest.mark.parametrize("url", URLS)
@pytest.mark.night
def test_a_service_that_cannot_reach_its_database_says_so_and_ends(closed_port: int, url: str) -> None:
    with pytest.raises(SystemExit) as ended:
        service.main(
            {},
            **{
                "netinv.database_url": url.format(closed_port),
                "netinv.secret": "a random text of more than 32 characters",
            },
        )
    told = str(ended.value.code)
    assert told.startswith("netinv does not start: the database ") and "cannot be reached: " in told
    assert "hidden" not in told and "\n" not in told
    assert gc.isenabled(), "paused while the application is built"


@pytest.mark.night
def test_a_service_without_tables_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="run `netinv migrate` first"):
        service.main(
            {},
            **{
                "netinv.database_url": f"sqlite:///{tmp_path / 'empty'}",
                "netinv.secret": "a random text of more than 32 characters",
            },
        )


def test_a_service_with_wrong_settings_says_so_and_ends() -> None:
    with pytest.raises(SystemExit, match=r"netinv does not start: the setting netinv\.nosuch is not known"):
        service.main({}, **{"netinv.nosuch": "1"})


COMMANDS = [
    ["migrate"],
    ["migrate", "--check"],
    ["user", "list"],
    ["token", "list", "x"],
    ["worker"],
    ["webhooks", "status"],
]


@pytest.mark.parametrize(
    ("url", "command"), [*((URLS[0], command) for command in COMMANDS), *((url, ["migrate"]) for url in URLS[1:])]
)
def test_commands_without_a_database_end_with_the_reason(
    tmp_path: Path, closed_port: int, command: list[str], url: str
) -> None:
    ini = tmp_path / "x.ini"
    settings = {
        "database_url": url.format(closed_port),
        "secret": "a random text of more than 32 characters",
        "queue_url": f"sqlite:///{tmp_path / 'queue'}",
    }
    lines = "".join(f"netinv.{name} = {value}\n" for name, value in settings.items())
    ini.write_text(
        f"[app:main]\nuse = egg:netinv-core\n{lines}[loggers]\nkeys = root\n[handlers]\nkeys =\n[formatters]\nkeys =\n[logger_root]\nhandlers =\n"
    )
    ended = CliRunner().invoke(cli, ["-c", str(ini), *command])
    assert ended.exit_code == 1 and ended.output.startswith("Error: the database "), ended.output
    assert "cannot be reached: " in ended.output and "hidden" not in ended.output and "Traceback" not in ended.output


def test_an_error_among_its_own_causes_is_judged() -> None:
    """A refusal that is raised again, from an error that it led to."""
    refusal, consequence = ValueError("refused"), KeyError("led to")
    refusal.__cause__, consequence.__cause__ = consequence, refusal
    assert not availability.is_violation(refusal)
    consequence.__cause__ = sa.exc.IntegrityError("INSERT", {}, Exception("taken"))
    assert availability.is_violation(refusal)
