"""Jobs while they run: leases, limits, killed processes and workers."""

from __future__ import annotations

import datetime
import os
import signal
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.db.engine import engine_from
from netinv_core.models.base import now, table_of
from netinv_extras.jobs import runner as job_running
from netinv_extras.jobs.claims import ABANDONED
from netinv_extras.jobs.results import JobResult
from netinv_extras.jobs.runner import DIED, Runner, run_jobs
from netinv_testing import Service
from tests.support.jobs import RESULTS, SITES, ask, job, logs, result, service, work
from tests.support.waiting import until

__all__ = ["ask", "job", "service"]
_result = table_of(JobResult)


# -- while it runs, and when it dies


@pytest.fixture
def runner(service: Service) -> Runner:
    """A worker's part that runs jobs, within this process."""
    return job_running.runner(service.engine, service.registry)


def test_what_a_job_says_can_be_read_while_it_runs(
    service: Service, ask: Callable[..., Any], runner: Runner, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    asked = ask("Linger", gate=str(gate))
    runner.poll()
    until(lambda: logs(service, asked))
    shown = result(service, asked)
    assert (shown["status"]["value"], shown["completed"]) == ("running", None)
    gate.touch()
    assert runner.wait(60)
    assert result(service, asked)["data"] == {"output": "\nwaited"}


def test_a_lease_is_extended_while_the_job_lives(
    service: Service, ask: Callable[..., Any], runner: Runner, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    with service.configured(job_lease=3):
        asked = ask("Linger", gate=str(gate))
        runner.poll()
        until(lambda: logs(service, asked))
        first = _lease_of(service, asked)
        until(lambda: _lease_of(service, asked) > first)
        gate.touch()
        assert runner.wait(60)
    assert result(service, asked)["status"]["value"] == "completed"


@pytest.mark.night
def test_a_job_over_its_soft_limit_is_told_and_one_over_its_limit_is_killed(
    service: Service, job: Callable[[str], Any], ask: Callable[..., Any]
) -> None:
    linger = job("Linger")
    limits = {"soft_time_limit": 0.5, "soft_time_limit_override": True, "time_limit": 60, "time_limit_override": True}
    service.api.patch(linger["url"], limits)
    tidy = ask("Linger")
    work(service)
    service.api.patch(linger["url"], {"time_limit": 2})
    stubborn = ask("Linger", gate="stubborn")
    work(service)
    assert result(service, tidy)["data"] == {"output": "\nleft in order"}
    assert result(service, stubborn)["status"]["value"] == "errored"
    soft = "The job has taken longer than its soft time limit of 0.5 s."
    assert logs(service, tidy) == [("info", "here we are"), ("warning", soft)]
    assert logs(service, stubborn) == [
        ("info", "here we are"),
        ("warning", soft),
        ("failure", "The job took longer than its time limit of 2 s and was killed; nothing that it wrote was kept."),
    ]
    service.api.patch(linger["url"], {"soft_time_limit_override": False, "time_limit_override": False})


def test_a_job_whose_process_is_killed_is_errored_at_once_and_has_written_nothing(
    service: Service, ask: Callable[..., Any]
) -> None:
    word = service.unique()
    asked = ask("MakeSites", word=word, then="die")
    work(service)
    assert result(service, asked)["status"]["value"] == "errored"
    assert logs(service, asked)[-1] == ("failure", DIED) and logs(service, asked)[0] == ("success", "made")
    assert service.api.get(SITES, {"name__isw": word})["count"] == 0


def worker(service: Service, **settings: Any) -> int:
    """The id of a worker in a process of its own, that can be killed."""
    url = service.engine.url.render_as_string(hide_password=False)
    process = os.fork()
    if process == 0:
        try:
            service.registry.settings.update(settings)
            run_jobs(engine_from(url), service.registry)
            time.sleep(300)
        finally:
            os._exit(1)
    return process


@pytest.mark.parametrize("writing", [False, True])
@pytest.mark.night
def test_a_job_whose_worker_is_killed_is_errored_when_its_lease_ends(
    service: Service, ask: Callable[..., Any], writing: bool, tmp_path: Path
) -> None:
    word, written = service.unique(), tmp_path / "written"
    asked = ask("MakeSites", word=word, then=str(written)) if writing else ask("Linger")
    process = worker(service, job_lease=3600)
    try:
        until(lambda: result(service, asked)["status"]["value"] == "running")
        until(written.exists if writing else lambda: logs(service, asked))
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    work(service)
    assert result(service, asked)["status"]["value"] == "running"
    end_lease_of(service, asked)
    work(service)
    assert result(service, asked)["status"]["value"] == "errored"
    assert logs(service, asked)[-1] == ("failure", ABANDONED)
    assert service.api.get(SITES, {"name__isw": word})["count"] == 0
    service.api.post(SITES, {"name": word, "status": "active"})  # nobody holds the database any more


def end_lease_of(service: Service, asked: Any) -> None:
    """Lets the lease of a run end."""
    over = now() - datetime.timedelta(seconds=1)
    with service.unit_of_work() as uow:
        uow.execute(sa.update(_result).where(_result.c.id == uuid.UUID(asked["id"])).values(claimed_until=over))


def _lease_of(service: Service, asked: Any) -> datetime.datetime:
    (row,) = service.rows(sa.select(_result.c.claimed_until).where(_result.c.id == uuid.UUID(asked["id"])))
    return row.claimed_until


def test_what_was_given_up_is_not_ended_by_a_job_that_comes_back(
    service: Service, ask: Callable[..., Any], runner: Runner, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    asked = ask("Linger", gate=str(gate))
    runner.poll()
    until(lambda: logs(service, asked))
    end_lease_of(service, asked)
    assert Runner(service.engine, service.registry)._claims.sweep() == 1
    gate.touch()
    assert runner.wait(60)
    assert result(service, asked)["status"]["value"] == "errored"
    assert logs(service, asked)[-1][1] == ABANDONED


def test_deleting_the_result_of_a_running_job_ends_it(
    service: Service, ask: Callable[..., Any], runner: Runner
) -> None:
    with service.configured(job_lease=1):
        asked = ask("Linger")
        runner.poll()
        until(lambda: logs(service, asked))
        service.api.delete(f"{RESULTS}{asked['id']}/")
        assert runner.wait(60)


@pytest.mark.night
def test_two_workers_run_a_job_once(service: Service, ask: Callable[..., Any]) -> None:
    asked = [ask("MakeSites", word=service.unique()) for _ in range(6)]
    workers = [Runner(service.engine, service.registry) for _ in range(2)]
    for one in workers:
        one.poll()
    for one in workers:
        assert one.wait(60)
        one.stop(0)
    for item in asked:
        assert result(service, item)["status"]["value"] == "completed"
        assert [level for level, _ in logs(service, item)] == ["success", "warning"]
