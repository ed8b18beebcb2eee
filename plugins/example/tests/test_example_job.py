"""The job of the example plugin, run by a worker on a database of its own: it starts whatever else is due there."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from netinv_extras.jobs import runner as job_running
from netinv_testing import Api, Service, Unique

JOBS = "/api/extras/jobs/"
WINDOWS = "/api/plugins/example/maintenance-windows/"
HOUR = datetime.timedelta(hours=1)


@pytest.fixture(scope="module")
def service(jobs_service: Service) -> Service:
    """The service, whose database has no other jobs to be run."""
    return jobs_service


@pytest.fixture
def make_window(api: Api, unique: Unique) -> Any:
    """``make_window(site, start)``: a window of an hour, which begins ``start`` hours from now."""

    def make(site: Any, start: float, **other: Any) -> Any:
        begin = datetime.datetime.now(datetime.UTC) + start * HOUR
        times = {"start": begin.isoformat(), "end": (begin + HOUR).isoformat()}
        return api.post(WINDOWS, {"name": unique(), "site": site["id"], **times, **other})

    return make


@pytest.mark.usefixtures("fork_server")
def test_the_job_cancels_what_nobody_confirmed(service: Service, make: Any, make_window: Any) -> None:
    """Of the site that is chosen, and only what is over."""
    site, other = make("/api/dcim/sites/", status="active"), make("/api/dcim/sites/", status="active")
    forgotten, coming = make_window(site, -99), make_window(site, 1)
    confirmed, elsewhere = make_window(site, -99, status="confirmed"), make_window(other, -99)
    (job,) = service.api.get(JOBS, {"job_class_name": "CancelForgotten"})["results"]
    assert (job["source"], job["module_name"], job["grouping"]) == ("plugins", "netinv_example.tidying", "Maintenance")
    service.api.patch(job["url"], {"enabled": True})
    asked = service.api.post(f"{job['url']}run/", {"data": {"site": {"name": site["name"]}, "days": 2}})["job_result"]
    runner = job_running.runner(service.engine, service.registry)
    runner.poll()
    assert runner.wait(60)
    runner.stop(0)
    assert service.api.get(asked["url"])["data"] == {"output": "\n1 cancelled"}
    shown = [service.api.get(window["url"])["status"]["value"] for window in (forgotten, coming, confirmed, elsewhere)]
    assert shown == ["cancelled", "planned", "confirmed", "planned"]
