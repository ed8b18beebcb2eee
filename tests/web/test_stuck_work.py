"""Background work that cannot run: its object says so, the home page has an entry, and the log a line, for each kind."""

from __future__ import annotations

import dataclasses
import datetime
import logging
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core import worker_tasks
from netinv_core.models.base import now, table_of
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks import workers
from netinv_core.upkeep import BACKUP_ROW, Upkeep
from netinv_extras.change_requests import scheduled
from netinv_extras.change_requests.models import request_table
from netinv_extras.git.worker import sync_now
from netinv_extras.jobs.claims import Claims
from netinv_extras.jobs.results import JobResult
from netinv_extras.jobs.schedules import ScheduledJob
from netinv_extras.webhooks import worker as webhooks
from netinv_extras.webhooks.deliveries import WebhookDelivery
from netinv_testing import Account, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.jobs import PATH, SCHEDULES, SITES, service, work
from tests.support.waiting import until

__all__ = ["service"]
CHANGE_REQUESTS, TENANTS = "/api/extras/change-requests/", "/api/tenancy/tenants/"
HOOKS, WEBHOOKS = "/api/extras/job-hooks/", "/api/extras/webhooks/"
REPOSITORIES = "/api/extras/git-repositories/"
LATER = "2050-01-01T00:00:00Z"
WHOLE = {
    "number_changes",
    "upkeep",
    "backup",
    "find_jobs",
    "match_review_rules",
}  # tasks that fail as a whole or not at all


def find(service: Service, job_class: str) -> Any:
    """A job by the name of its class."""
    return service.api.get(PATH, {"job_class_name": job_class})["results"][0]


def delete(service: Service, account: Account) -> None:
    """Deletes an account."""
    service.api.delete(f"/api/users/users/{account.id}/")


def change(service: Service, model: Any, key: Any, **values: Any) -> None:
    """Changes a row behind the service's back."""
    table = table_of(model)
    with service.unit_of_work() as uow:
        uow.execute(sa.update(table).where(table.c.id == key).values(**values))


def schedule(service: Service, job_class: str, account: Account | None = None) -> Any:
    """A daily schedule of a job that makes sites."""
    word = service.unique()
    body = {"data": {"word": word}, "schedule": {"name": word, "interval": "daily", "start_time": LATER}}
    api = service.api if account is None else account.api
    return api.post(f"{find(service, job_class)['url']}run/", body)["schedule"]


def runner_of_jobs(service: Service) -> Account:
    """An account that may run jobs."""
    return service.user(("view run", "extras.job"))


# -- what is stuck: each function returns the name that the list shows


def schedule_of_a_deleted_account(service: Service) -> str:
    account = runner_of_jobs(service)
    made = schedule(service, "MakeSites", account)
    delete(service, account)
    change(service, ScheduledJob, uuid.UUID(made["id"]), next_run=now())
    work(service)
    return str(made["name"])


def schedule_of_an_inactive_account(service: Service) -> str:
    account = runner_of_jobs(service)
    made = schedule(service, "MakeSites", account)
    service.api.patch(f"/api/users/users/{account.id}/", {"is_active": False})
    change(service, ScheduledJob, uuid.UUID(made["id"]), next_run=now())
    work(service)
    return str(made["name"])


def schedule_of_a_disabled_job(service: Service) -> str:
    made, found = schedule(service, "MakeSites"), find(service, "MakeSites")
    service.api.patch(found["url"], {"enabled": False})
    change(service, ScheduledJob, uuid.UUID(made["id"]), next_run=now())
    work(service)
    return str(made["name"])


def approval_for_a_deleted_account(service: Service) -> str:
    account = runner_of_jobs(service)
    made = schedule(service, "Asks", account)
    delete(service, account)
    service.api.post(f"{SCHEDULES}{made['id']}/approve/", status=409)
    return str(made["name"])


def run_of_an_inactive_account(service: Service) -> str:
    account = runner_of_jobs(service)
    account.api.post(f"{find(service, 'Echo')['url']}run/", {"data": {"text": "x"}})
    service.api.patch(f"/api/users/users/{account.id}/", {"is_active": False})
    work(service)
    return "Echo"


def run_whose_worker_is_gone(service: Service) -> str:
    made = service.api.post(f"{find(service, 'Echo')['url']}run/", {"data": {"text": "x"}})["job_result"]
    past = now() - datetime.timedelta(hours=1)
    change(service, JobResult, uuid.UUID(made["id"]), status="running", claimed_by=uuid.uuid4(), claimed_until=past)
    assert Claims(service.engine).sweep() == 1
    return "Echo"


def hook_of_a_disabled_job(service: Service) -> str:
    found = find(service, "Watcher")
    hook = {"name": service.unique(), "content_types": ["tenancy.tenant"], "job": found["id"], "type_create": True}
    service.api.post(HOOKS, hook)
    service.api.patch(found["url"], {"enabled": False})
    service.api.post(TENANTS, {"name": service.unique()})
    return str(hook["name"])


def repository_that_cannot_be_reached(service: Service) -> str:
    name = service.unique()
    repository = {"name": name, "remote_url": f"https://127.0.0.1/{name}.git", "provided_contents": []}
    service.api.post(REPOSITORIES, repository)
    assert sync_now(service.engine, service.registry) == 1
    return name


def webhook(service: Service) -> str:
    """A webhook that leads to an address that is not allowed, and a change for it; returns the name of its object."""
    url, name = f"https://127.0.0.1/{service.unique()}", service.unique()
    hook = {"name": name, "content_types": ["tenancy.tenant"], "type_create": True, "payload_url": url}
    made = service.api.post(WEBHOOKS, hook)
    service.api.post(TENANTS, {"name": name})
    service.api.patch(made["url"], {"enabled": False})
    return name


def delivery_that_failed(service: Service) -> str:
    name = webhook(service)
    webhooks.deliver_now(service.engine, service.registry, 60)
    return name


def delivery_that_nobody_sends(service: Service) -> str:
    name = webhook(service)
    with service.unit_of_work() as uow:
        due = sa.update(table_of(WebhookDelivery)).where(table_of(WebhookDelivery).c.object_repr == name)
        uow.execute(due.values(due=now() - datetime.timedelta(hours=2)))
    return name


def merge_for(service: Service, account: Account) -> Any:
    """A change request with a change, which is to be merged later as an account."""
    made = service.api.post(CHANGE_REQUESTS, {"title": service.unique()})
    site = {"name": service.unique(), "status": "active"}
    service.api.post(SITES, site, headers={"X-Change-Request": made["id"]})
    account.api.post(f"{CHANGE_REQUESTS}{made['id']}/schedule/", {"at": LATER}, status=200)
    return made


def merge_for_a_deleted_account(service: Service) -> str:
    account = service.user(("view change", "extras.changerequest"))
    made = merge_for(service, account)
    delete(service, account)
    return str(made["title"])


def merge_that_was_refused(service: Service) -> str:
    made = merge_for(service, service.user(("view change", "extras.changerequest")))
    with service.unit_of_work() as uow:
        due = sa.update(request_table).where(request_table.c.id == uuid.UUID(made["id"]))
        uow.execute(due.values(merge_at=now() - datetime.timedelta(seconds=1)))
    scheduled.merge_due(service.engine, service.registry)
    return str(made["title"])


@dataclasses.dataclass(frozen=True)
class Stuck:
    """Work that is stuck: how, the task that it belongs to, the link of the entry of the home page, the words beside the
    name in the list to which it leads, and a part of the log line; work that is not tried has none.
    """

    happens: Callable[[Service], str]
    task: str
    link: str
    words: str
    logged: str = ""


SCHEDULE, RUN = "/extras/scheduled-jobs/?cannot_run=true", "/extras/job-results/?unfinished=true"
HOOK, REPOSITORY = "/extras/job-hooks/?cannot_run=true", "/extras/git-repositories/?sync_failed=true"
DELIVERY, MERGE = "/extras/webhook-deliveries/queue/?state=", "/extras/change-requests/?merge_failed=true"
NO_ACCOUNT, NO_JOB = "Cannot run: The account that asked for it was deleted", "Cannot run: Its job"
KINDS = [
    Stuck(schedule_of_a_deleted_account, "run_jobs", SCHEDULE, NO_ACCOUNT, "ended: The account"),
    Stuck(schedule_of_an_inactive_account, "run_jobs", SCHEDULE, NO_ACCOUNT, "was not started"),
    Stuck(schedule_of_a_disabled_job, "run_jobs", SCHEDULE, NO_JOB, "was not started"),
    Stuck(approval_for_a_deleted_account, "run_jobs", SCHEDULE, NO_ACCOUNT),
    Stuck(run_of_an_inactive_account, "run_jobs", RUN, "Errored", "was not started: Whoever"),
    Stuck(run_whose_worker_is_gone, "run_jobs", RUN, "Errored", "was broken off: The worker"),
    Stuck(hook_of_a_disabled_job, "run_jobs", HOOK, NO_JOB, "started nothing"),
    Stuck(repository_that_cannot_be_reached, "sync_repositories", REPOSITORY, "", "was not synced"),
    Stuck(delivery_that_failed, "deliver", f"{DELIVERY}failed", "Failed", "failed: "),
    Stuck(delivery_that_nobody_sends, "deliver", f"{DELIVERY}queued", "Queued"),
    Stuck(merge_for_a_deleted_account, "merge_change_requests", MERGE, "Draft"),
    Stuck(merge_that_was_refused, "merge_change_requests", MERGE, "Draft", "was not merged"),
]


def entries(browser: Browser) -> dict[str, str]:
    """The texts under *Needs attention*, by the paths of their links."""
    items = browser.get("/").html.select("#attention li")
    return {item.select_one("a")["href"]: " ".join(item.text.split()) for item in items}


def count(browser: Browser, link: str) -> int:
    """The number in the entry whose link begins so; 0 without one."""
    texts = [text for path, text in entries(browser).items() if path.startswith(link)]
    return int(texts[0].split()[0].replace(",", "")) if texts else 0


@pytest.fixture
def tidied(service: Service) -> Iterator[None]:
    """Leaves the service to other modules as it was: jobs are enabled, and nothing follows a change."""
    yield
    for disabled in ("MakeSites", "Watcher"):
        service.api.patch(find(service, disabled)["url"], {"enabled": True})
    for path in (HOOKS, WEBHOOKS, REPOSITORIES):
        service.api.delete(path, [{"id": item["id"]} for item in service.api.get(path, {"limit": 0})["results"]])


@pytest.mark.usefixtures("tidied")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.happens.__name__)
def test_work_that_cannot_run_says_so_at_its_object_on_the_home_page_and_in_the_log(
    service: Service, kind: Stuck, caplog: Any
) -> None:
    browser = Browser(service, service.admin)
    before = count(browser, kind.link)
    with caplog.at_level(logging.INFO):
        name = kind.happens(service)
    (path,) = [path for path in entries(browser) if path.startswith(kind.link)]
    assert count(browser, kind.link) == before + 1
    assert kind.logged in caplog.text
    rows = {" ".join(row.text.split()): row for row in browser.get(path).html.select("tbody tr")}
    (row,) = [row for text, row in rows.items() if name in text and kind.words in text][:1]
    page = browser.get(row.select_one("a[href^='/extras/']")["href"])
    assert " ".join((kind.words or "failed").split()) in " ".join(page.html.select_one("main").text.split())


def test_who_may_not_view_stuck_work_is_not_told_of_it(service: Service) -> None:
    """Neither that of others, nor that of the service."""
    approval_for_a_deleted_account(service)
    assert entries(Browser(service, service.user(("view", "dcim.site"), password=PASSWORD))) == {}


def test_each_task_that_fails_is_told_until_it_no_longer_does(
    service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: Any
) -> None:
    """A task has kinds of stuck work above, or can only fail as a whole."""
    with service.configured(backup_folder=str(tmp_path)):
        tasks = worker_tasks.tasks_of(service.registry)
    names = sorted(task.name for task in tasks)
    assert set(names) == {kind.task for kind in KINDS} | WHOLE
    broken = {name: RuntimeError(f"{name} is broken") for name in names}

    def failing(name: str) -> Callable[..., None]:
        def run(*of: Any) -> None:
            if name in broken:
                raise broken[name]

        return run

    replaced = [dataclasses.replace(task, run=failing(task.name), run_at_startup=False) for task in tasks]
    monkeypatch.setattr(worker_tasks, "tasks_of", lambda registry: replaced)
    monkeypatch.setattr(workers, "INTERVAL", 0.05)
    queue = task_queue.queue(f"sqlite:///{tmp_path}/queue.sqlite")
    registered = worker_tasks.add_tasks(queue, service.engine, service.registry)
    consumer = task_queue.start_embedded(queue)
    try:
        for enqueue in registered.values():
            enqueue()
        until(lambda: f"failed at its last run, see the log of the worker: {', '.join(names)}" in entry(service))
        assert all(f"{name} is broken" in caplog.text for name in names)
        broken.clear()
        for enqueue in registered.values():
            enqueue()
        until(lambda: entry(service) == "")
    finally:
        consumer.stop(graceful=True)


def entry(service: Service) -> str:
    """The entry about tasks that fail, for superusers."""
    found = Browser(service, service.admin).get("/").html.select("#attention li")
    texts = [" ".join(item.text.split()) for item in found]
    return next((text for text in texts if "Background work failed" in text), "")


def test_superusers_are_told_of_missing_workers_and_backups(service: Service, tmp_path: Path) -> None:
    table, browser = table_of(Upkeep), Browser(service, service.admin)
    some = {"id": BACKUP_ROW, "claimed_by": None, "claimed_until": None, "finished": None}
    states = {
        "The last backup failed": {"claimed_until": now() + datetime.timedelta(minutes=5)},
        "A backup is overdue": {"finished": now() - datetime.timedelta(days=9)},
    }
    with service.configured(backup_folder=str(tmp_path), queue_url=f"sqlite:///{tmp_path}/queue.sqlite"):
        for text, values in states.items():
            with service.unit_of_work() as uow:
                uow.execute(sa.delete(table).where(table.c.id == BACKUP_ROW))
                uow.execute(sa.insert(table).values(**{**some, **values}))
            shown = browser.get("/").html.select_one("#attention").text
            assert text in shown and "No worker is running" in shown
    with service.unit_of_work() as uow:
        uow.execute(sa.delete(table).where(table.c.id == BACKUP_ROW))
