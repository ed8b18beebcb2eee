"""Requests of every action that writes: a table of functions, each of which prepares one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from netinv_testing import Samples, Service

JOBS, SCHEDULES, DELIVERIES = "/api/extras/jobs/", "/api/extras/scheduled-jobs/", "/api/extras/webhook-deliveries/"
Request = tuple[str, Any]  # path and body
Prepare = Callable[[Service], Request]
WRITES: dict[str, Prepare] = {}


def write(name: str) -> Callable[[Prepare], Prepare]:
    """Enters a function into the table: it prepares a request of the action that writes."""

    def enter(function: Prepare) -> Prepare:
        WRITES[name] = function
        return function

    return enter


def sample(service: Service, label: str, **members: Any) -> dict[str, Any]:
    """A new object."""
    return Samples(service).make(service.registry[label], **members)


def job(service: Service, name: str) -> dict[str, Any]:
    """A job of the tests, enabled."""
    (item,) = service.api.get(JOBS, {"job_class_name": name})["results"]
    return dict(service.api.patch(item["url"], {"enabled": True}))


@write("*/notes POST")
def note(service: Service) -> Request:
    """A note on a site."""
    return f"{sample(service, 'dcim.site')['url']}notes/", {"note": service.unique()}


@write("prefixes/available-ips POST")
def addresses(service: Service) -> Request:
    """Two addresses."""
    prefix = service.api.post("/api/ipam/prefixes/", {"prefix": f"{service.unique.ipv6()}::/64", "status": "active"})
    return f"{prefix['url']}available-ips/", [{"status": "active"}, {"status": "active"}]


@write("prefixes/available-prefixes POST")
def networks(service: Service) -> Request:
    """Two networks."""
    prefix = service.api.post("/api/ipam/prefixes/", {"prefix": f"{service.unique.ipv6()}::/48", "status": "active"})
    return f"{prefix['url']}available-prefixes/", [{"prefix_length": 64, "status": "active"}] * 2


def schedule(service: Service) -> dict[str, Any]:
    """A schedule of another user that waits for approval."""
    path = f"{job(service, 'Asks')['url']}run/"
    user = service.user(("view run", "extras.job"), ("add view", ["extras.jobresult", "extras.scheduledjob"]))
    waiting: dict[str, Any] = user.api.post(path, {"data": {"word": service.unique()}})["schedule"]
    return waiting


@write("scheduled-jobs/approve POST")
def approval(service: Service) -> Request:
    """Approval of a schedule."""
    return f"{SCHEDULES}{schedule(service)['id']}/approve/", {}


@write("scheduled-jobs/deny POST")
def denial(service: Service) -> Request:
    """Denial of a schedule."""
    return f"{SCHEDULES}{schedule(service)['id']}/deny/", {}


@write("scheduled-jobs/dry-run POST")
def dry_run_of_a_schedule(service: Service) -> Request:
    """A run of a schedule's job without commit."""
    return f"{SCHEDULES}{schedule(service)['id']}/dry-run/", {}


@write("jobs/run POST")
def run(service: Service) -> Request:
    """A run of a job."""
    return f"{job(service, 'MakeSites')['url']}run/", {"data": {"word": service.unique()}}


@write("jobs/{source}/{module_name}/{job_class_name}/run POST")
def run_by_path(service: Service) -> Request:
    """A run of a job by the path of its class."""
    job(service, "MakeSites")
    return f"{JOBS}local/examples/MakeSites/run/", {"data": {"word": service.unique()}}


@write("job-buttons/run POST")
def button(service: Service) -> Request:
    """A run of a button's job."""
    site, marker = sample(service, "dcim.site"), job(service, "Marker")
    item = sample(service, "extras.jobbutton", job=marker["id"], content_types=["dcim.site"], text="x")
    return f"{item['url']}run/", {"object_model_name": "dcim.site", "object_pk": site["id"]}


@write("webhook-deliveries/retry POST")
def retries(service: Service) -> Request:
    """Another attempt at the failed deliveries of a webhook."""
    name = service.unique()
    receiver = {
        "name": name,
        "content_types": ["dcim.region"],
        "type_create": True,
        "payload_url": f"http://{name}.example.com/",
    }
    webhook = service.api.post("/api/extras/webhooks/", receiver)
    service.api.post("/api/dcim/regions/", {"name": service.unique()})
    service.api.patch(webhook["url"], {"enabled": False})
    table = service.registry["extras.webhookdelivery"].table
    with service.unit_of_work() as uow:
        uow.execute(sa.update(table).where(table.c.state == "queued").values(state="failed", finished=uow.now))
    return f"{DELIVERIES}retry/?webhook={name}", {}


@write("object-changes/revert POST")
def undoing(service: Service) -> Request:
    """The undo of a creation."""
    tenant = sample(service, "tenancy.tenant")
    (change,) = service.api.get("/api/extras/object-changes/", {"changed_object_id": tenant["id"]})["results"]
    return f"{change['url']}revert/", {}


@write("git-repositories/sync POST")
def sync(service: Service) -> Request:
    """A sync of a repository."""
    return f"{sample(service, 'extras.gitrepository')['url']}sync/", {}


@write("plans/apply POST")
def applied_plan(service: Service) -> Request:
    """A plan of a new tenant."""
    plan = service.api.post("/api/extras/plans/", {"objects": {"tenancy.tenant": [{"name": service.unique()}]}})
    return f"{plan['url']}apply/", {}


@write("maintenance-windows/close POST")
def closing(service: Service) -> Request:
    """The end of a maintenance window."""
    times = {"start": "2020-01-01T00:00:00Z", "end": "2100-01-01T00:00:00Z"}
    return f"{sample(service, 'example.maintenancewindow', **times)['url']}close/", {}
