"""Upkeep: what is older than the settings say is deleted in chunks, by one process at a time."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result
from sqlalchemy.engine import Engine

from netinv_admin.commands import upkeep as command
from netinv_core import upkeep
from netinv_core.changelog.models import ObjectChange
from netinv_core.environment import Environment
from netinv_core.models.base import now, table_of
from netinv_core.stored_answers import StoredAnswer
from netinv_core.tasks import retention
from netinv_extras.jobs.results import COMPLETED, JobLogEntry, JobResult
from netinv_testing import Service
from netinv_web.auth.sessions import WebSession
from tests.support.databases import migrated_database

LONG_AGO = now() - datetime.timedelta(days=400)
_changes, _answers, _sessions = table_of(ObjectChange), table_of(StoredAnswer), table_of(WebSession)
_results, _logs, _upkeep = table_of(JobResult), table_of(JobLogEntry), table_of(upkeep.Upkeep)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Service]:
    """A service on a database of its own."""
    with migrated_database(tmp_path_factory.mktemp("upkeep"), database_template) as engine:
        yield Service(engine)


@pytest.fixture
def service(started: Service) -> Service:
    """The service, whose upkeep has never run; the tables that tests fill are empty."""
    with started.unit_of_work() as uow:
        for table in (_logs, _results, _answers, _sessions, _changes):
            uow.execute(sa.delete(table))
        uow.execute(sa.update(_upkeep).values(claimed_by=None, claimed_until=None, finished=None))
    return started


@pytest.fixture
def run(service: Service) -> Callable[..., Result]:
    """``run(*words)``: the result of ``netinv upkeep``."""
    environment = Environment("x.ini")
    environment.__dict__ |= {"engine": service.engine, "registry": service.registry}
    return lambda *words: CliRunner().invoke(command.upkeep, words, obj=environment)


def answers(engine: Engine, *created: datetime.datetime) -> None:
    """Stores answers of these times."""
    with engine.begin() as connection:
        for at in created:
            values = {"id": uuid.uuid4(), "user_id": uuid.uuid4(), "key_digest": "k", "request_digest": "r"}
            connection.execute(sa.insert(_answers).values(**values, created=at))


def number(service: Service, table: Any) -> int:
    return int(service.rows(sa.select(sa.func.count()).select_from(table))[0][0])


def fill(service: Service) -> None:
    """Writes an old and a new row of several tables."""
    answers(service.engine, LONG_AGO, now())
    old, _ = (service.api.post("/api/tenancy/tenants/", {"name": service.unique()}) for _ in range(2))
    with service.unit_of_work() as uow:
        uow.execute(sa.update(_changes).where(_changes.c.object_repr == old["name"]).values(time=LONG_AGO))
        for used in (LONG_AGO, now()):
            words = {"address": "", "user_agent": "", "key_hash": uuid.uuid4().hex}
            uow.execute(
                sa.insert(_sessions).values(**words, user_id=uuid.UUID(service.admin.id), created=used, last_used=used)
            )
        for created, completed in ((LONG_AGO, LONG_AGO), (LONG_AGO, None), (now(), now())):
            result = {"id": uuid.uuid4(), "job_id": uuid.uuid4(), "name": "x", "obj_type": "extras.job"}
            uow.execute(sa.insert(_results).values(**result, status=COMPLETED, created=created, completed=completed))
            uow.execute(
                sa.insert(_logs),
                [{"id": uuid.uuid4(), "job_result_id": result["id"], "message": str(n)} for n in range(7)],
            )


@pytest.mark.night
def test_what_is_too_old_is_deleted_and_the_rest_stays(service: Service, run: Callable[..., Result]) -> None:
    fill(service)
    planned = run("--dry-run")
    assert number(service, _answers) == 2
    done = run()
    assert done.exit_code == 0, done.output
    lines = {words[1]: int(words[0]) for words in (line.split(maxsplit=1) for line in done.output.splitlines())}
    expected = {"core_object_change": 1, "core_stored_answer": 1, "web_session": 1, "extras_job_result": 1}
    assert lines | expected == lines
    assert lines["rows deleted"] == 4
    assert {line for line in planned.output.splitlines() if line[:12].split()[0] != "0"} >= {
        line for line in done.output.splitlines() if line.endswith("core_stored_answer")
    }
    left = (number(service, table) for table in (_answers, _sessions, _results, _logs))
    assert tuple(left) == (1, 1, 2, 14)
    assert run("--dry-run").output.splitlines()[-1].split() == ["0", "rows", "would", "be", "deleted"]


def test_nothing_is_deleted_when_the_settings_keep_everything(service: Service) -> None:
    fill(service)
    kept = {f"{name}_retention": 0 for name in ("changelog", "idempotency", "job_result", "webhook_delivery", "plan")}
    with service.configured(**kept, session_idle_timeout=10**9, session_lifetime=10**9):
        assert sum(dict(upkeep.run(service.engine, service.registry)).values()) == 0


def test_rows_are_deleted_in_chunks_between_which_others_write(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "CHUNK", 3)
    answers(service.engine, *[LONG_AGO] * 8)
    sizes = []

    def write(seconds: float) -> None:
        sizes.append(number(service, _answers))
        answers(service.engine, now())

    monkeypatch.setattr(retention.time, "sleep", write)
    assert dict(upkeep.run(service.engine, service.registry))["core_stored_answer"] == 8
    assert sizes == [5, 3]
    assert number(service, _answers) == 2


def test_rows_are_searched_once_for_many_chunks(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search among millions of rows takes longer than deleting a chunk of them."""
    monkeypatch.setattr(retention, "CHUNK", 2)
    answers(service.engine, *[LONG_AGO] * 9)
    searches: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("SELECT") and _answers.name in statement:
            searches.append(statement)

    sa.event.listen(service.engine, "before_cursor_execute", note)
    try:
        assert dict(upkeep.run(service.engine, service.registry))[_answers.name] == 9
    finally:
        sa.event.remove(service.engine, "before_cursor_execute", note)
    assert len(searches) == 1


def test_one_process_at_a_time(service: Service, run: Callable[..., Result]) -> None:
    answers(service.engine, LONG_AGO)
    first = upkeep.run(service.engine, service.registry)
    next(first)
    refused = run()
    assert refused.exit_code == 1 and refused.output == "Error: another process does the upkeep\n"
    upkeep.run_hourly(service.engine, service.registry)
    assert number(service, _answers) == 1
    list(first)
    assert number(service, _answers) == 0


def test_a_worker_that_died_loses_its_lease(service: Service) -> None:
    answers(service.engine, LONG_AGO)
    with service.unit_of_work() as uow:
        past = now() - datetime.timedelta(seconds=1)
        uow.execute(sa.update(_upkeep).values(claimed_by=uuid.uuid4(), claimed_until=past))
    upkeep.run_hourly(service.engine, service.registry)
    assert number(service, _answers) == 0


def test_workers_share_one_upkeep_an_hour(service: Service) -> None:
    upkeep.run_hourly(service.engine, service.registry)
    answers(service.engine, LONG_AGO)
    upkeep.run_hourly(service.engine, service.registry)
    assert number(service, _answers) == 1
    with service.unit_of_work() as uow:
        uow.execute(sa.update(_upkeep).values(finished=now() - upkeep.PERIOD))
    upkeep.run_hourly(service.engine, service.registry)
    assert number(service, _answers) == 0


def test_a_run_that_takes_too_long_is_completed_by_the_next(service: Service) -> None:
    answers(service.engine, LONG_AGO)
    assert sum(dict(upkeep.run(service.engine, service.registry, seconds=0)).values()) == 0
    assert sum(dict(upkeep.run(service.engine, service.registry)).values()) == 1
