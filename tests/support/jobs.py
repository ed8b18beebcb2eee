"""Jobs of the folder ``local_jobs``: a service that has them enabled, and functions that ask for them and run them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_core.testing import Api, Service
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import runner
from tests.support import SUPPORT
from tests.support.databases import migrated_database

JOBS = {"netinv.jobs_root": str(SUPPORT / "local_jobs")}
PATH, RESULTS, SITES = "/api/extras/jobs/", "/api/extras/job-results/", "/api/dcim/sites/"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Service]:
    """A service on a database of its own, so that nobody else's jobs are run."""
    with migrated_database(tmp_path_factory.mktemp("jobs"), database_template) as engine:
        service = Service(engine, JOBS)
        with service.unit_of_work() as uow:
            job_models.refresh(uow)
        for item in service.api.get(PATH)["results"]:
            service.api.patch(item["url"], {"enabled": True})
        yield service
        runner.runner(engine, service.registry).stop(0)


@pytest.fixture
def job(service: Service) -> Callable[[str], Any]:
    """``job("Echo")``: a job, by the name of its class."""
    return lambda name: service.api.get(PATH, {"job_class_name": name})["results"][0]


@pytest.fixture
def ask(service: Service, job: Callable[[str], Any]) -> Callable[..., Any]:
    """``ask("Echo", text="x")``: has a job run; the answer's result, or schedule."""

    def run(name: str, api: Api | None = None, *, status: int = 201, body: dict[str, Any] | None = None, **data: Any) -> Any:
        found = (api or service.api).post(f"{job(name)['url']}run/", {"data": data, **(body or {})}, status=status)
        return (found["job_result"] or found["schedule"]) if status == 201 else found

    return run


def work(service: Service, seconds: float = 60) -> None:
    """Runs what is pending or due."""
    one = runner.runner(service.engine, service.registry)
    one.poll()
    assert one.wait(seconds)


def result(service: Service, shown: Any) -> Any:
    """A result as it is now."""
    return service.api.get(f"{RESULTS}{shown['id']}/")


def logs(service: Service, shown: Any) -> list[tuple[str, str]]:
    """Log entries of a job."""
    return [(item["log_level"], item["message"]) for item in service.api.get(f"{RESULTS}{shown['id']}/logs/")]


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Polls a condition; returns its first true value."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come to be in time"
        time.sleep(0.05)
    return found
