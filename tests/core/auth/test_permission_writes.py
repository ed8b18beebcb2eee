"""Constraints of permissions on what actions write: refused as a whole where an object would be outside of them, and
nothing is left behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_testing import Service
from tests.support.action_permissions import NEEDS, READS
from tests.support.action_requests import job, sample

DENIED = {"detail": "You do not have permission to perform this action."}
NOT_FOUND = {"detail": "Not found."}
NOTES, PREFIXES, ADDRESSES = "/api/extras/notes/", "/api/ipam/prefixes/", "/api/ipam/ip-addresses/"
JOBS, RESULTS, SCHEDULES = "/api/extras/jobs/", "/api/extras/job-results/", "/api/extras/scheduled-jobs/"
WEBHOOKS, DELIVERIES = "/api/extras/webhooks/", "/api/extras/webhook-deliveries/"
Write = Callable[[Service], None]
WRITES: dict[str, Write] = {}


def write(*names: str) -> Callable[[Write], Write]:
    """Enters a function into the table: it says what actions of these names write, and for whom they do not."""

    def enter(function: Write) -> Write:
        WRITES.update(dict.fromkeys(names, function))
        return function

    return enter


def runs(service: Service) -> tuple[int, int]:
    """Numbers of the results and schedules of jobs."""
    return service.api.get(RESULTS, {"limit": 1})["count"], service.api.get(SCHEDULES, {"limit": 1})["count"]


@write("*/notes POST")
def notes_within_the_constraint(service: Service) -> None:
    """A note is made where the permission to add notes allows that note."""
    site, word = sample(service, "dcim.site"), service.unique()
    path = f"{site['url']}notes/"
    writer = service.user(("view", "dcim.site"), ("add", "extras.note", {"note": word})).api
    assert writer.post(path, {"note": "another"}, status=403) == DENIED
    assert service.api.get(path)["count"] == 0
    assert (
        service.user(("view", "dcim.site"), ("view", "extras.note")).api.post(path, {"note": word}, status=403)
        == DENIED
    )
    assert writer.post(path, {"note": word})["note"] == word


@write("prefixes/available-ips POST")
def addresses_within_the_constraint(service: Service) -> None:
    """Of the addresses asked for, all are given out or none."""
    network = f"{service.unique.ipv6()}::/64"
    prefix = service.api.post(PREFIXES, {"prefix": network, "status": "active"})
    path, sight = f"{prefix['url']}available-ips/", ("view", "ipam.prefix", {"id": prefix["id"]})
    keeper = service.user(sight, ("add", "ipam.ipaddress", {"dns_name": "a.example.com"})).api
    inside, outside = ({"status": "active", "dns_name": f"{name}.example.com"} for name in "ab")
    for body in (outside, [inside, outside]):
        assert keeper.post(path, body, status=403) == DENIED
    assert service.user(sight, ("view", "ipam.ipaddress")).api.post(path, inside, status=403) == DENIED
    assert service.api.get(ADDRESSES, {"parent": network})["count"] == 0
    assert len(keeper.post(path, [inside, inside])) == 2


@write("prefixes/available-prefixes POST")
def networks_within_the_constraint(service: Service) -> None:
    """Of the networks asked for, all are given out or none."""
    network = f"{service.unique.ipv6()}::/48"
    prefix = service.api.post(PREFIXES, {"prefix": network, "status": "active"})
    path, sight = f"{prefix['url']}available-prefixes/", ("view", "ipam.prefix", {"id": prefix["id"]})
    keeper = service.user(sight, ("add", "ipam.prefix", {"description": "inside"})).api
    inside, outside = (
        {"status": "active", "prefix_length": 64, "description": place} for place in ("inside", "outside")
    )
    for body in ([outside], [inside, outside]):
        assert keeper.post(path, body, status=403) == DENIED
    assert service.user(("view", "ipam.prefix")).api.post(path, [inside], status=403) == DENIED
    assert service.api.get(PREFIXES, {"within": network})["count"] == 0
    assert len(keeper.post(path, [inside, inside])) == 2


@write("scheduled-jobs/approve POST")
def approval_within_the_constraint(service: Service) -> None:
    """An approved schedule is still one that the approver may change."""
    waiting = service.api.post(f"{job(service, 'Asks')['url']}run/", {"data": {"word": service.unique()}})["schedule"]
    path, judging = f"{SCHEDULES}{waiting['id']}/", ("approve", "extras.job")
    former = service.user(judging, ("change", "extras.scheduledjob", {"approved_at__isnull": True})).api
    assert former.post(f"{path}approve/", status=403) == DENIED
    assert service.api.get(path)["approved_at"] is None
    approver = service.user(judging, ("change", "extras.scheduledjob", {"id": waiting["id"]})).api
    assert approver.post(f"{path}approve/", status=200)["approved_at"]
    service.api.delete(path)


@write("scheduled-jobs/deny POST", "scheduled-jobs/dry-run POST")
def schedules_within_the_constraint(service: Service) -> None:
    """A refused denial deletes nothing, a refused dry run starts nothing."""
    asks = job(service, "Asks")
    waiting = service.api.post(f"{asks['url']}run/", {"data": {"word": service.unique()}})["schedule"]
    path, elsewhere = f"{SCHEDULES}{waiting['id']}/", {"job_class_name": "Echo"}
    before = runs(service)
    for permission in (("run approve", "extras.job", elsewhere), ("view run", "extras.job", elsewhere)):
        someone = service.user(permission, ("view delete", "extras.scheduledjob")).api
        assert someone.post(f"{path}deny/", status=403) == DENIED
        assert someone.post(f"{path}dry-run/", status=404) == NOT_FOUND
    other = service.user(("run approve", "extras.job"), ("view delete", "extras.scheduledjob", {"name": "another"})).api
    for action in ("deny", "dry-run"):
        assert other.post(f"{path}{action}/", status=404) == NOT_FOUND
    assert runs(service) == before
    service.api.delete(path)


@write("jobs/run POST", "jobs/{source}/{module_name}/{job_class_name}/run POST")
def runs_within_the_constraint(service: Service) -> None:
    """A job that may not be run leaves neither a result nor a schedule, however it is named."""
    makes, elsewhere = job(service, "MakeSites"), {"job_class_name": "Echo"}
    body = {"data": {"word": service.unique()}}
    later = body | {"schedule": {"name": service.unique(), "interval": "future", "start_time": "2050-01-01T00:00:00Z"}}
    before = runs(service)
    for path in (f"{makes['url']}run/", f"{JOBS}local/examples/MakeSites/run/"):
        for permissions, status, told in (
            ([("view", "extras.job"), ("run", "extras.job", elsewhere)], 403, DENIED),
            ([("view run", "extras.job", elsewhere)], 404, NOT_FOUND),
            ([("run", "extras.job", elsewhere)], 404, NOT_FOUND),
        ):
            someone = service.user(*permissions, ("add", ["extras.jobresult", "extras.scheduledjob"])).api
            for asked in (body, later):
                assert someone.post(path, asked, status=status) == told
    assert runs(service) == before


@write("job-buttons/run POST")
def buttons_within_the_constraint(service: Service) -> None:
    """A button starts its job for who may run that job and view the object."""
    marker, site = job(service, "Marker"), sample(service, "dcim.site")
    button = sample(service, "extras.jobbutton", job=marker["id"], content_types=["dcim.site"], text="x")
    path, body = f"{button['url']}run/", {"object_model_name": "dcim.site", "object_pk": site["id"]}
    sight, elsewhere = [("view", ["extras.jobbutton", "extras.job"])], {"job_class_name": "Echo"}
    before = runs(service)
    powerless = service.user(*sight, ("view", "dcim.site"), ("run", "extras.job", elsewhere)).api
    assert powerless.post(path, body, status=403) == DENIED
    blind = service.user(*sight, ("view", "dcim.site", {"name": "another"}), ("run", "extras.job")).api
    absent = "00000000-0000-4000-8000-000000000000"
    hidden, nothing = (blind.post(path, body | {"object_pk": key}, status=400) for key in (site["id"], absent))
    assert str(hidden).replace(site["id"], absent) == str(nothing)
    assert runs(service) == before


def failed(service: Service, count: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A webhook, and deliveries of it that have failed."""
    name = service.unique()
    receiver = {
        "name": name,
        "content_types": ["dcim.region"],
        "type_create": True,
        "payload_url": f"http://{name}.example.com/",
    }
    webhook = service.api.post(WEBHOOKS, receiver)
    service.api.post("/api/dcim/regions/", [{"name": service.unique()} for _ in range(count)])
    service.api.patch(webhook["url"], {"enabled": False})
    table = service.registry["extras.webhookdelivery"].table
    with service.unit_of_work() as uow:
        uow.execute(sa.update(table).where(table.c.state == "queued").values(state="failed", finished=uow.now))
    return webhook, service.api.get(DELIVERIES, {"webhook": name})["results"]


@write("webhook-deliveries/retry POST")
def retries_within_the_constraint(service: Service) -> None:
    """A delivery that is sent again is still one that the user may change; of several, all are or none."""
    webhook, (one, other) = failed(service, 2)
    query = {"webhook": webhook["name"]}
    sight = ("view", "extras.webhook")
    leaving = service.user(sight, ("change", "extras.webhookdelivery", {"state": "failed"})).api
    partly = service.user(sight, ("change", "extras.webhookdelivery", [{"state": "failed"}, {"id": one["id"]}])).api
    assert leaving.post(f"{one['url']}retry/", status=403) == DENIED
    for client in (leaving, partly):
        assert client.post(f"{DELIVERIES}retry/", query=query, status=403) == DENIED
    assert service.api.get(DELIVERIES, query | {"state": "failed"})["count"] == 2
    narrow = service.user(sight, ("change", "extras.webhookdelivery", {"id": other["id"]})).api
    assert narrow.post(f"{one['url']}retry/", status=404) == NOT_FOUND
    assert narrow.post(f"{DELIVERIES}retry/", query=query, status=200) == {"retried": 1}
    (left,) = service.api.get(DELIVERIES, query | {"state": "failed"})["results"]
    assert left["id"] == one["id"]
    service.api.delete(webhook["url"])


@write("object-changes/revert POST")
def reverts_within_the_constraint(service: Service) -> None:
    """A change is undone where the permission for the opposite write allows the object."""
    tenant, log = sample(service, "tenancy.tenant"), "/api/extras/object-changes/"
    (change,) = service.api.get(log, {"changed_object_id": tenant["id"]})["results"]
    path, sight = f"{log}{change['id']}/revert/", ("view", ["extras.objectchange", "tenancy.tenant"])
    someone = service.user(sight, ("delete", "tenancy.tenant", {"name": "another"})).api
    assert someone.post(path, status=403) == DENIED
    assert service.user(sight).api.post(path, status=403) == DENIED
    assert service.api.get(tenant["url"])
    service.user(sight, ("delete", "tenancy.tenant", {"name": tenant["name"]})).api.post(path, status=200)
    service.api.get(tenant["url"], status=404)


@write("plans/apply POST")
def plans_within_the_constraint(service: Service) -> None:
    """A plan is made, and applied, where the permissions for its writes allow the objects."""
    tenant, plans = sample(service, "tenancy.tenant", description="a"), "/api/extras/plans/"
    limit = ("add change", "tenancy.tenant", {"description": "a"})
    someone = service.user(("add view", "extras.plan"), ("view", "tenancy.tenant"), limit).api
    outside = [{"name": service.unique()}]
    assert someone.post(plans, {"objects": {"tenancy.tenant": outside}}, status=403) == DENIED
    changed = [{"name": tenant["name"], "comments": "x"}]
    plan = someone.post(plans, {"objects": {"tenancy.tenant": changed}})
    service.api.patch(tenant["url"], {"description": "b"})
    someone.post(f"{plan['url']}apply/", {}, status=409)
    assert service.api.get(tenant["url"])["comments"] == ""
    service.api.patch(tenant["url"], {"description": "a"})


@write("git-repositories/sync POST")
def syncs_within_the_constraint(service: Service) -> None:
    """A sync is asked for by who may change that repository."""
    repository = sample(service, "extras.gitrepository")
    path = f"{repository['url']}sync/"
    before = service.api.get(path)
    someone = service.user(
        ("view", "extras.gitrepository"), ("change", "extras.gitrepository", {"name": "another"})
    ).api
    assert someone.post(path, status=404) == NOT_FOUND
    assert service.api.get(path) == before
    service.api.delete(repository["url"])


@write("graphql-queries/run POST")
def kept_queries_within_the_constraint(service: Service) -> None:
    """A kept query shows objects that may be viewed, and writes nothing."""
    one, other = (sample(service, "dcim.site") for _ in range(2))
    names = f'["{one["name"]}", "{other["name"]}"]'
    kept = service.api.post(
        "/api/extras/graphql-queries/", {"name": service.unique(), "query": f"{{sites(name: {names}) {{name}}}}"}
    )
    reader = service.user(("add", "extras.graphqlquery"), ("view", "dcim.site", {"id": one["id"]})).api
    assert reader.post(f"{kept['url']}run/", {}, status=200) == {"data": {"sites": [{"name": one["name"]}]}}


def test_the_table_of_writes_names_every_action_that_is_not_read() -> None:
    assert {name for name in NEEDS if not name.endswith(" GET")} - WRITES.keys() - READS == {
        "maintenance-windows/close POST"
    }  # in the plugin's tests


@pytest.mark.parametrize("name", sorted(WRITES))
def test_actions_write_within_constraints(service: Service, name: str) -> None:
    """Each action of the table, by its own function."""
    WRITES[name](service)
