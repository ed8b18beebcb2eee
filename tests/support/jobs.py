"""Jobs of the folder ``local_jobs``: a service that has them enabled, and functions that ask for them and run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_core.main import registry_for
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import runner
from netinv_extras.jobs.forkserver import ForkServer
from netinv_testing import Api, Service
from tests.support import SUPPORT
from tests.support.databases import DIALECT, migrated_database

JOBS = {"netinv.jobs_root": str(SUPPORT / "local_jobs")}
PATH, RESULTS, SITES = "/api/extras/jobs/", "/api/extras/job-results/", "/api/dcim/sites/"
SCHEDULES = "/api/extras/scheduled-jobs/"


class _Lasting(ForkServer):
    """The fork server of all workers of this process: each job is told its database and settings."""

    def close(self) -> None:
        """Does nothing: other workers need it. It ends with this process, which closes its socket."""


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """One fork server for all workers of this process: it takes two seconds of processor time to load all packages."""
    with pytest.MonkeyPatch.context() as patches:
        server = _Lasting(registry_for(DIALECT, {}))
        patches.setattr("netinv_extras.jobs.runner.ForkServer", lambda registry: server)
        yield server
    ForkServer.close(server)


@pytest.fixture(scope="session")
def jobs_service(
    tmp_path_factory: pytest.TempPathFactory, database_template: str, fork_server: ForkServer
) -> Iterator[Service]:
    """A service on a database of its own, so that nobody else's jobs are run."""
    with migrated_database(tmp_path_factory.mktemp("jobs"), database_template) as engine:
        service = Service(engine, JOBS)
        with service.unit_of_work() as uow:
            job_models.refresh(uow)
        found = service.api.get(PATH, {"limit": 0})["results"]
        service.api.patch(PATH, [{"id": item["id"], "enabled": True} for item in found])
        yield service
        runner.runner(engine, service.registry).stop(0)


@pytest.fixture(scope="module")
def service(jobs_service: Service) -> Iterator[Service]:
    """The service for jobs. What a module leaves to be run, the next one does not see."""
    yield jobs_service
    for path in (SCHEDULES, RESULTS):
        left = jobs_service.api.get(path, {"limit": 0})["results"]
        jobs_service.api.delete(path, [{"id": item["id"]} for item in left])


@pytest.fixture
def job(service: Service) -> Callable[[str], Any]:
    """``job("Echo")``: a job, by the name of its class."""
    return lambda name: service.api.get(PATH, {"job_class_name": name})["results"][0]


@pytest.fixture
def ask(service: Service, job: Callable[[str], Any]) -> Callable[..., Any]:
    """``ask("Echo", text="x")``: has a job run; the answer's result, or schedule."""

    def run(
        name: str, api: Api | None = None, *, status: int = 201, body: dict[str, Any] | None = None, **data: Any
    ) -> Any:
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
