"""Schedules of jobs: run when their time has come, once, however many workers look and however late; some only after
approval.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.models.base import now, table_of
from netinv_extras.jobs import scheduler
from netinv_extras.jobs.crontab import Crontab
from netinv_extras.jobs.schedules import ScheduledJob
from netinv_testing import Service
from tests.support.jobs import RESULTS, SITES, ask, job, logs, result, service, work

__all__ = ["ask", "job", "service"]
PATH = "/api/extras/scheduled-jobs/"
LATER = "2050-01-01T00:00:00Z"
_schedule = table_of(ScheduledJob)


@pytest.fixture
def schedule(service: Service, ask: Callable[..., Any]) -> Callable[..., Any]:
    """``schedule("weekly")``: a schedule of a job that makes sites, with a name of its own."""

    def add(interval: str, start: str | None = LATER, *, job: str = "MakeSites", api: Any = None, **more: Any) -> Any:
        word = service.unique()
        asked = {"name": word, "interval": interval, "start_time": start, **more}
        return ask(job, api, body={"schedule": asked}, word=word)

    return add


def move(service: Service, shown: Any, **values: Any) -> None:
    """Changes a schedule behind the service's back."""
    with service.unit_of_work() as uow:
        uow.execute(sa.update(_schedule).where(_schedule.c.id == uuid.UUID(shown["id"])).values(**values))


def runs(service: Service, shown: Any) -> list[Any]:
    """The results of a schedule, oldest first."""
    return list(reversed(service.api.get(RESULTS, {"schedule_id": shown["id"]})["results"]))


def in_database(service: Service, shown: Any) -> Any:
    """The row of a schedule."""
    (row,) = service.rows(sa.select(_schedule).where(_schedule.c.id == uuid.UUID(shown["id"])))
    return row


def test_a_schedule_is_shown_with_what_it_is_to_do(service: Service, schedule: Callable[..., Any]) -> None:
    weekly, once = schedule("weekly"), schedule("future")
    assert {**weekly, "id": 0, "url": 0} == {
        **{"id": 0, "url": 0, "crontab": "", "interval": "weekly", "start_time": LATER},
        **{"name": weekly["name"], "display": f"{weekly['name']}: weekly"},
    }
    found = service.api.get(f"{PATH}{weekly['id']}/")
    assert (found["last_run_at"], found["total_run_count"], found["job_class"]) == (
        "2049-12-25T00:00:00Z",
        0,
        "local/examples/MakeSites",
    )
    assert (found["user"]["username"], found["job_model"]["job_class_name"], found["queue"]) == (
        service.admin.username,
        "MakeSites",
        None,
    )
    assert (
        found["description"]
        == f"Nautobot job {weekly['name']} scheduled by {service.admin.username} on 2050-01-01 00:00:00+00:00"
    )
    assert (found["approval_required"], found["approved_by_user"], found["approved_at"]) == (False, None, None)
    assert service.api.get(f"{PATH}{once['id']}/")["last_run_at"] is None
    assert service.api.get(PATH, {"job_model": "local-examples-makesites", "name": once["name"]})["count"] == 1


@pytest.mark.parametrize(
    ("interval", "more", "following"),
    [
        ("future", {}, None),
        ("hourly", {}, datetime.timedelta(hours=1)),
        ("daily", {}, datetime.timedelta(days=1)),
        ("weekly", {}, datetime.timedelta(weeks=1)),
        ("custom", {"crontab": "*/5 * * * *"}, datetime.timedelta(minutes=5)),
    ],
)
def test_what_was_due_while_no_worker_looked_runs_once(
    service: Service, schedule: Callable[..., Any], interval: str, more: Any, following: datetime.timedelta | None
) -> None:
    made, start = schedule(interval, **more), now() - datetime.timedelta(days=30, minutes=7)
    work(service)
    assert runs(service, made) == []
    move(service, made, start_time=start, next_run=start)
    work(service)
    work(service)
    (run,) = runs(service, made)
    assert (run["status"]["value"], run["schedule"]["id"], run["user"]["username"]) == (
        "completed",
        made["id"],
        service.admin.username,
    )
    shown, row = service.api.get(f"{PATH}{made['id']}/"), in_database(service, made)
    assert shown["total_run_count"] == 1 and shown["last_run_at"] >= run["created"]
    if following is None:
        assert row.next_run is None
    else:
        assert now() < row.next_run <= now() + following


def test_two_workers_start_a_schedule_once(service: Service, schedule: Callable[..., Any]) -> None:
    made = schedule("future")
    move(service, made, next_run=now())
    assert [scheduler.start_due(service.engine, service.registry) for _ in range(2)] == [1, 0]
    work(service)
    assert len(runs(service, made)) == 1


def test_a_schedule_of_who_may_no_longer_run_the_job_does_not(service: Service, schedule: Callable[..., Any]) -> None:
    someone = service.user(("view", "extras.job"))
    permission = service.permit("run", "extras.job", users=[someone.id])
    made = schedule("daily", api=someone.api)
    service.api.delete(permission["url"])
    move(service, made, next_run=now())
    work(service)
    (run,) = runs(service, made)
    assert run["status"]["value"] == "errored"


@pytest.mark.parametrize(("owner", "word"), [("user_id", "account"), ("job_model_id", "job")])
def test_a_schedule_whose_account_or_job_was_deleted_ends_with_a_reason(
    service: Service, schedule: Callable[..., Any], owner: str, word: str, caplog: Any
) -> None:
    made = schedule("daily")
    move(service, made, next_run=now(), **{owner: None})
    for _ in range(2):
        work(service)
        (run,) = runs(service, made)
    assert run["status"]["value"] == "failed" and run["completed"] is not None
    ((level, message),) = logs(service, run)
    assert level == "failure" and f"{word}" in message.lower() and "was deleted" in message
    assert in_database(service, made).next_run is None
    assert f"the schedule {made['name']} ended" in caplog.text


def test_what_a_deleted_account_asked_for_cannot_be_approved(service: Service, ask: Callable[..., Any]) -> None:
    someone = service.user(("view run", "extras.job"))
    waiting = ask("Asks", someone.api, word=service.unique())
    service.api.delete(f"/api/users/users/{someone.id}/")
    answer = service.api.post(f"{PATH}{waiting['id']}/approve/", status=409)
    assert "was deleted" in answer["detail"]
    service.api.delete(f"{PATH}{waiting['id']}/")


def test_a_schedule_that_is_deleted_runs_no_more(service: Service, schedule: Callable[..., Any]) -> None:
    made = schedule("daily")
    move(service, made, next_run=now())
    work(service)
    (run,) = runs(service, made)
    service.api.delete(f"{PATH}{made['id']}/")
    assert result(service, run)["schedule"] is None


# -- approval


@pytest.fixture
def approver(service: Service) -> Any:
    """Somebody who may approve jobs."""
    return service.user(
        ("view approve run", "extras.job"), ("view change delete", "extras.scheduledjob"), ("view", "extras.jobresult")
    ).api


def test_a_job_that_needs_approval_waits_for_it(service: Service, ask: Callable[..., Any], approver: Any) -> None:
    word = service.unique()
    waiting = ask("Asks", word=word)
    assert waiting["interval"] == "immediately" and waiting["name"]
    work(service)
    assert runs(service, waiting) == []
    own = service.api.post(f"{PATH}{waiting['id']}/approve/", status=403)
    assert own == {"detail": "You cannot approve a job that you asked for yourself."}
    approved = approver.post(f"{PATH}{waiting['id']}/approve/", status=200)
    assert approved["approved_by_user"] and approved["approved_at"]
    assert approver.post(f"{PATH}{waiting['id']}/approve/", status=409) == {
        "detail": "This scheduled job does not wait for approval."
    }
    work(service)
    (run,) = runs(service, waiting)
    assert (run["status"]["value"], run["user"]["username"]) == ("completed", service.admin.username)
    assert service.api.get(SITES, {"name": word})["count"] == 1
    work(service)
    assert len(runs(service, waiting)) == 1


def test_approval_needs_permission_on_the_job_and_on_the_schedule(service: Service, ask: Callable[..., Any]) -> None:
    waiting = ask("Asks", word=service.unique())
    everything = ("view change delete", "extras.scheduledjob")
    for permissions, status in (
        ((), 403),
        ((everything,), 403),
        ((everything, ("view approve", "extras.job", {"job_class_name": "Echo"})), 403),
        ((("view", "extras.scheduledjob"), ("view approve", "extras.job")), 403),
        ((("view change delete", "extras.scheduledjob", {"name": "another"}), ("view approve", "extras.job")), 404),
    ):
        someone = service.user(*permissions).api
        for action in ("approve", "deny"):
            someone.post(f"{PATH}{waiting['id']}/{action}/", status=status)
    service.user(("view", "extras.scheduledjob"), ("view", "extras.job")).api.post(
        f"{PATH}{waiting['id']}/dry-run/", status=403
    )
    service.api.delete(f"{PATH}{waiting['id']}/")


def test_a_denied_job_is_gone(
    service: Service, ask: Callable[..., Any], schedule: Callable[..., Any], approver: Any
) -> None:
    waiting, other = ask("Asks", word=service.unique()), schedule("daily")
    approver.post(f"{PATH}{other['id']}/deny/", status=409)
    approver.post(f"{PATH}{waiting['id']}/deny/", status=204)
    service.api.get(f"{PATH}{waiting['id']}/", status=404)
    approver.post(f"{PATH}{waiting['id']}/deny/", status=404)


def test_a_dry_run_runs_now_and_writes_nothing(service: Service, ask: Callable[..., Any], approver: Any) -> None:
    word = service.unique()
    waiting = ask("Asks", word=word)
    tried = approver.post(f"{PATH}{waiting['id']}/dry-run/", status=200)
    work(service)
    done = result(service, tried)
    assert (done["status"]["value"], done["data"], done["schedule"]) == ("completed", {"output": f"\n{word}"}, None)
    assert logs(service, tried) == [("info", "Database changes have been reverted automatically.")]
    assert service.api.get(SITES, {"name": word})["count"] == 0
    assert service.api.get(f"{PATH}{waiting['id']}/")["total_run_count"] == 0


def test_what_should_have_run_already_is_approved_only_when_that_is_said(
    service: Service, schedule: Callable[..., Any], approver: Any
) -> None:
    waiting, again = schedule("future", job="Asks"), schedule("hourly", job="Asks")
    past = now() - datetime.timedelta(days=1)
    for shown in (waiting, again):
        move(service, shown, start_time=past, next_run=past)
    assert "force=true" in approver.post(f"{PATH}{waiting['id']}/approve/", status=409)["detail"]
    approver.post(f"{PATH}{waiting['id']}/approve/?force=true", status=200)
    approver.post(f"{PATH}{again['id']}/approve/", status=200)
    assert in_database(service, again).next_run > now()
    work(service)
    assert (len(runs(service, waiting)), len(runs(service, again))) == (1, 0)


# -- crontabs


def test_a_crontab_that_is_longer_than_its_column_is_refused(ask: Callable[..., Any], service: Service) -> None:
    schedule = {
        "name": service.unique(),
        "interval": "custom",
        "start_time": LATER,
        "crontab": f"{'0,' * 130}0 * * * *",
    }
    answer = ask("MakeSites", body={"schedule": schedule}, word="w", status=400)
    assert answer == {"schedule": {"crontab": ["Ensure this field has no more than 255 characters."]}}


def test_a_crontab_has_no_run_after_the_last_year(schedule: Callable[..., Any], service: Service) -> None:
    made = schedule("custom", "9999-12-31T23:59:59Z", crontab="* * * * *")
    assert in_database(service, made).next_run is None


@pytest.mark.parametrize(
    ("line", "after", "expected"),
    [
        ("* * * * *", "2026-02-03 04:05:06", "2026-02-03 04:06"),
        ("0 0 * * *", "2026-02-03 00:00:00", "2026-02-04 00:00"),
        ("*/15 8-10 * * mon-fri", "2026-02-06 10:45:00", "2026-02-09 08:00"),
        ("30 6 1,15 * *", "2026-02-01 06:30:00", "2026-02-15 06:30"),
        ("0 12 29 feb *", "2026-01-01 00:00:00", "2028-02-29 12:00"),
        ("0 0 * * 7", "2026-02-03 00:00:00", "2026-02-08 00:00"),
        ("5/20 0 * * *", "2026-02-03 00:05:00", "2026-02-03 00:25"),
        ("0 0 1 jan,jul *", "2026-02-03 00:00:00", "2026-07-01 00:00"),
    ],
)
def test_a_crontab_says_when_next(line: str, after: str, expected: str) -> None:
    zone = datetime.UTC
    found = Crontab(line).after(datetime.datetime.fromisoformat(after).replace(tzinfo=zone))
    assert found == datetime.datetime.fromisoformat(expected).replace(tzinfo=zone)


WRONG = """
* * * * | * * * * * * | 60 * * * * | * 24 * * * | * * 0 * * | * * * 13 * | * * * * 8 | a * * * * | 5-1 * * * * | */0 * * * * | 1,,2 * * * *
| @daily | -1 * * * * | 1-2-3 * * * * | * * 30 2 *
"""


@pytest.mark.parametrize("line", ["", *map(str.strip, WRONG.split("|"))])
def test_what_is_no_crontab_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r".+\."):
        Crontab(line)
