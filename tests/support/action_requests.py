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


def reshaped(service: Service, *networks: str) -> dict[str, Any]:
    """The first of new prefixes in a VRF of their own."""
    vrf = service.api.post("/api/ipam/vrfs/", {"name": service.unique(), "enforce_unique": False})["id"]
    bodies = [{"prefix": network, "status": "active", "vrf": vrf} for network in networks]
    return dict(service.api.post("/api/ipam/prefixes/", bodies)[0])


@write("prefixes/split POST")
def split(service: Service) -> Request:
    """Split of a prefix into two."""
    return f"{reshaped(service, '10.50.0.0/24')['url']}split/", {"length": 25}


@write("prefixes/merge POST")
def merge(service: Service) -> Request:
    """Merge of two prefixes."""
    return f"{reshaped(service, '10.50.0.0/25', '10.50.0.128/25')['url']}merge/", {"length": 24}


@write("prefixes/move POST")
def move(service: Service) -> Request:
    """Move of a prefix to another VRF."""
    vrf = service.api.post("/api/ipam/vrfs/", {"name": service.unique(), "enforce_unique": False})["id"]
    return f"{reshaped(service, '10.50.0.0/24')['url']}move/", {"vrf": vrf}


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


@write("device-types/apply POST")
def applied_type(service: Service) -> Request:
    """A template more than its only device has."""
    device = sample(service, "dcim.device")
    type_ = device["device_type"]["id"]
    service.api.post("/api/dcim/console-port-templates/", {"device_type": type_, "name": service.unique()})
    return f"/api/dcim/device-types/{type_}/apply/", {}


def change_request(service: Service) -> tuple[dict[str, Any], dict[str, Any]]:
    """A change request that changes a site, and the site."""
    made, site = sample(service, "extras.changerequest"), sample(service, "dcim.site")
    service.api.patch(site["url"], {"comments": "proposed"}, headers={"X-Change-Request": made["id"]})
    return made, site


@write("change-requests/rebase POST")
def rebasing(service: Service) -> Request:
    """The withdrawal of a proposal."""
    made, site = change_request(service)
    choice = {"object_type": "dcim.site", "object_id": site["id"], "field": "comments", "take": "theirs"}
    return f"{made['url']}rebase/", {"choices": [choice]}


@write("change-requests/merge POST")
def merging(service: Service) -> Request:
    """The merge of a change of a site."""
    return f"{change_request(service)[0]['url']}merge/", {}


@write("change-requests/propose POST")
def proposing_a_document(service: Service) -> Request:
    """A document in a new change request."""
    tenant = {"name": service.unique()}
    return "/api/extras/change-requests/propose/", {"title": service.unique(), "objects": {"tenancy.tenant": [tenant]}}


@write("change-requests/submit POST")
def submitting(service: Service) -> Request:
    """The submission for review."""
    return f"{change_request(service)[0]['url']}submit/", {"text": "Please look"}


@write("change-requests/approve POST")
def approving(service: Service) -> Request:
    """The approval of what another user wrote."""
    return f"{submitted(service)}approve/", {"text": "Good"}


@write("change-requests/reject POST")
def rejecting(service: Service) -> Request:
    """The rejection of a submitted change request."""
    return f"{submitted(service)}reject/", {}


def submitted(service: Service) -> str:
    """The URL of a submitted change request of another user."""
    author, site = service.user(superuser=True).api, sample(service, "dcim.site")
    made = author.post("/api/extras/change-requests/", {"title": service.unique()})
    author.patch(site["url"], {"comments": "proposed"}, headers={"X-Change-Request": made["id"]})
    author.post(f"{made['url']}submit/", {}, status=200)
    return str(made["url"])


@write("change-requests/comment POST")
def commenting(service: Service) -> Request:
    """A comment."""
    return f"{change_request(service)[0]['url']}comment/", {"text": "What about Porto?"}


@write("change-requests/close POST")
def closing_of_a_request(service: Service) -> Request:
    """The end of a change request."""
    return f"{change_request(service)[0]['url']}close/", {}


@write("change-requests/revert POST")
def reverting_a_merge(service: Service) -> Request:
    """The undo of a merge."""
    made, _ = change_request(service)
    service.api.post(f"{made['url']}merge/", {}, status=200)
    return f"{made['url']}revert/", {}


@write("change-requests/schedule POST")
def scheduling_a_merge(service: Service) -> Request:
    """A merge at a time."""
    return f"{change_request(service)[0]['url']}schedule/", {"at": "2099-01-01T00:00:00Z"}


@write("change-requests/reopen POST")
def reopening(service: Service) -> Request:
    """The return of a closed change request."""
    made, _ = change_request(service)
    service.api.post(f"{made['url']}close/", {}, status=200)
    return f"{made['url']}reopen/", {}


@write("maintenance-windows/close POST")
def closing(service: Service) -> Request:
    """The end of a maintenance window."""
    times = {"start": "2020-01-01T00:00:00Z", "end": "2100-01-01T00:00:00Z"}
    return f"{sample(service, 'example.maintenancewindow', **times)['url']}close/", {}
