"""Rights of runs of jobs: those of who asked, and the approval that the job requires, count when a run begins."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.models.base import now, table_of
from netinv_extras.jobs.schedules import ScheduledJob
from netinv_testing import Account, Service
from tests.support.jobs import RESULTS, SCHEDULES, SITES, ask, job, logs, result, service, work

__all__ = ["ask", "job", "service"]
LATER = "2050-01-01T00:00:00Z"
_schedule = table_of(ScheduledJob)


@pytest.fixture
def approved_only(service: Service, job: Callable[[str], Any]) -> Iterator[Callable[[str], None]]:
    """``approved_only("MakeSites")``: the job requires approval from now on."""
    changed: list[str] = []

    def change(name: str) -> None:
        changed.append(job(name)["url"])
        service.api.patch(changed[-1], {"approval_required_override": True, "approval_required": True})

    yield change
    for url in changed:
        service.api.patch(url, {"approval_required_override": False})


@pytest.fixture
def runner(service: Service) -> Account:
    """A user who may run jobs, once they have the permission."""
    return service.user(("view", "extras.jobresult"))


def make_due(service: Service, schedule: Any) -> None:
    """Lets the time of a schedule be now."""
    at = now() - datetime.timedelta(seconds=1)
    with service.unit_of_work() as uow:
        is_one = _schedule.c.id == uuid.UUID(schedule["id"])
        uow.execute(sa.update(_schedule).where(is_one).values(start_time=at, next_run=at))


def sites(service: Service, word: str) -> int:
    """The number of sites that a job has made."""
    count: int = service.api.get(SITES, {"name__isw": word})["count"]
    return count


@pytest.mark.parametrize("lost", ["permission", "constraint", "account"])
def test_a_run_that_waits_begins_only_while_who_asked_may_run_it(
    service: Service, ask: Callable[..., Any], runner: Account, lost: str
) -> None:
    permission, word = service.permit("view run", "extras.job", users=[runner.id]), service.unique()
    waiting = ask("MakeSites", runner.api, word=word)
    if lost == "account":
        service.api.patch(f"/api/users/users/{runner.id}/", {"is_active": False})
    elif lost == "permission":
        service.api.delete(f"/api/users/permissions/{permission['id']}/")
    else:
        service.api.patch(f"/api/users/permissions/{permission['id']}/", {"constraints": {"name": "another"}})
    work(service)
    assert result(service, waiting)["status"]["value"] == "errored"
    assert "may not run it" in logs(service, waiting)[-1][1]
    assert waiting["id"] in [item["id"] for item in service.api.get(RESULTS, {"unfinished": True})["results"]]
    assert sites(service, word) == 0


def test_a_run_that_waits_does_not_begin_once_its_job_requires_approval(
    service: Service, ask: Callable[..., Any], approved_only: Callable[[str], None]
) -> None:
    word = service.unique()
    waiting = ask("MakeSites", word=word)
    approved_only("MakeSites")
    work(service)
    assert result(service, waiting)["status"]["value"] == "errored"
    assert "requires approval" in logs(service, waiting)[-1][1]
    assert sites(service, word) == 0


def test_a_schedule_of_before_does_not_run_without_the_approval_that_its_job_requires_now(
    service: Service, ask: Callable[..., Any], approved_only: Callable[[str], None]
) -> None:
    word = service.unique()
    planned = {"schedule": {"name": word, "interval": "daily", "start_time": LATER}}
    schedule = ask("MakeSites", body=planned, word=word)
    assert service.api.get(SCHEDULES, {"id": schedule["id"], "cannot_run": True})["count"] == 0
    approved_only("MakeSites")
    assert service.api.get(SCHEDULES, {"id": schedule["id"], "cannot_run": True})["count"] == 1
    make_due(service, schedule)
    work(service)
    (run,) = service.api.get(RESULTS, {"schedule_id": schedule["id"]})["results"]
    assert run["status"]["value"] == "errored" and "requires approval" in logs(service, run)[-1][1]
    assert sites(service, word) == 0


@pytest.mark.parametrize("lacking", ["hidden", "gone"])
def test_a_dry_run_is_refused_who_may_not_view_the_object(
    service: Service, ask: Callable[..., Any], approved_only: Callable[[str], None], lacking: str
) -> None:
    site = service.api.post(SITES, {"name": service.unique(), "status": "active"})
    approved_only("Facility")
    schedule = ask("Facility", site=site["id"], facility="x")
    approver = service.user(("view approve run", "extras.job"), ("view", ["extras.scheduledjob", "extras.jobresult"]))
    path = f"{SCHEDULES}{schedule['id']}/dry-run/"
    if lacking == "gone":
        service.permit("view", "dcim.site", users=[approver.id])
        assert approver.api.post(path, status=200)["job_kwargs"]["data"]["site"] == site["id"]
        service.api.delete(f"{SITES}{site['id']}/")
    before = service.api.get(RESULTS)["count"]
    assert "object that does not exist" in approver.api.post(path, status=403)["detail"]
    assert service.api.get(RESULTS)["count"] == before
