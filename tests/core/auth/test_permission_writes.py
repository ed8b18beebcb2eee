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


@write("prefixes/split POST", "prefixes/merge POST", "prefixes/move POST")
def reshaping_within_the_constraint(service: Service) -> None:
    """Prefixes are split, merged and moved as far as all that is written is within the constraints, or not at all."""
    vrf = service.api.post("/api/ipam/vrfs/", {"name": service.unique(), "enforce_unique": False})["id"]
    bodies = [{"prefix": f"10.50.0.{low}/25", "status": "active", "vrf": vrf} for low in (0, 128)]
    own, sibling = service.api.post(PREFIXES, bodies)
    sight, other = ("view", ["ipam.prefix", "ipam.vrf"]), {"id": sibling["id"]}
    adder = service.user(sight, ("add", "ipam.prefix", {"description": "inside"}), ("change", "ipam.prefix")).api
    adder.post(f"{own['url']}split/", {"length": 26}, status=404)
    eraser = service.user(sight, ("delete", "ipam.prefix", {"id": own["id"]}), ("change", "ipam.prefix")).api
    (words,) = eraser.post(f"{own['url']}merge/", {"length": 24}, status=400)["length"]
    assert f"Object not found using the provided ID: {sibling['id']}" in words
    mover = service.user(sight, ("change", "ipam.prefix", other), ("change", "ipam.ipaddress")).api
    mover.post(f"{own['url']}move/", {"vrf": None}, status=404)
    for action, body in (("split", {"length": 26}), ("merge", {"length": 24}), ("move", {"vrf": None})):
        assert service.user(sight).api.post(f"{own['url']}{action}/", body, status=403) == DENIED
    assert [item["prefix"] for item in service.api.get(PREFIXES, {"vrf_id": vrf})["results"]] == [
        own["prefix"],
        sibling["prefix"],
    ]


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
    sight = ("view", ["extras.webhook", "dcim.region"])
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


@write("device-types/apply POST")
def a_type_is_applied_within_the_constraint(service: Service) -> None:
    """All that a device lacks is added, as far as the user may add it and view it, or nothing."""
    device, names = sample(service, "dcim.device"), [service.unique(), service.unique()]
    type_ = device["device_type"]["id"]
    bodies = [{"device_type": type_, "name": name} for name in names]
    service.api.post("/api/dcim/console-port-templates/", bodies)
    path, ports = f"/api/dcim/device-types/{type_}/apply/", "/api/dcim/console-ports/"
    sight = ("view", ["dcim.devicetype", "dcim.device", "dcim.consoleporttemplate", "dcim.consoleport"])
    adder = service.user(sight, ("add", "dcim.consoleport", {"name": names[0]})).api
    assert adder.post(path, {}, status=403) == DENIED
    assert service.api.get(ports, {"device_id": device["id"]})["count"] == 0
    keep = {"action": "keep", "name": names[1]}
    assert adder.post(path, {"choices": [keep]}, status=200)["counts"]["add"] == 1
    assert service.api.get(ports, {"device_id": device["id"]})["count"] == 1


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


@write("change-requests/propose POST")
def proposals_of_documents_within_the_constraint(service: Service) -> None:
    """A document is proposed by who may write each of its objects, in a change request that they may change."""
    path, allowed, other = "/api/extras/change-requests/propose/", service.unique(), service.unique()
    rights = ("view", "tenancy.tenant"), ("add change", "tenancy.tenant", {"name": allowed})
    someone = service.user(("view add change", "extras.changerequest", {"title": allowed}), *rights).api
    objects = {"tenancy.tenant": [{"name": allowed}]}
    assert someone.post(path, {"title": other, "objects": objects}, status=403) == DENIED
    outside = {"tenancy.tenant": [{"name": allowed}, {"name": other}]}
    assert someone.post(path, {"title": allowed, "objects": outside}, status=403) == DENIED
    foreign = service.api.post("/api/extras/change-requests/", {"title": other})["id"]
    someone.post(path, {"change_request": foreign, "objects": objects}, status=400)
    assert someone.get("/api/extras/change-requests/")["count"] == 0
    made = someone.post(path, {"title": allowed, "objects": objects}, status=200)
    assert (made["title"], made["creates"]) == (allowed, 1)
    assert service.api.get("/api/tenancy/tenants/", {"name": allowed})["count"] == 0


@write("change-requests/merge POST")
def merges_within_the_constraint(service: Service) -> None:
    """A change request is merged by who may write each of its objects, or not at all."""
    made, (first, second) = change_request(service)
    limit = ("change", "dcim.site", {"id": first["id"]})
    someone = service.user(("view change", "extras.changerequest"), ("view", "dcim.site"), limit).api
    assert someone.post(f"{made['url']}merge/", {}, status=403) == DENIED
    assert {service.api.get(site["url"])["comments"] for site in (first, second)} == {""}
    assert service.api.get(made["url"])["state"]["value"] == "draft"


@write("change-requests/revert POST")
def reverts_of_merges_within_the_constraint(service: Service) -> None:
    """A merge is taken back by who may write each of its objects, or not at all."""
    made, (first, second) = change_request(service)
    service.api.post(f"{made['url']}merge/", {}, status=200)
    limit = ("change", "dcim.site", {"id": first["id"]})
    rights = ("view", ["dcim.site", "extras.objectchange"]), ("view change", "extras.changerequest")
    someone = service.user(*rights, limit).api
    assert someone.post(f"{made['url']}revert/", {}, status=403) == DENIED
    assert {service.api.get(site["url"])["comments"] for site in (first, second)} == {"proposed"}
    assert service.api.get(made["url"])["state"]["value"] == "merged"


STEPS = ("close", "reopen", "rebase", "submit", "schedule")


@write(*(f"change-requests/{step} POST" for step in STEPS))
def steps_within_the_constraint(service: Service) -> None:
    """The steps of a change request are for those who may change it."""
    made, (site, _) = change_request(service)
    other = ("change", "extras.changerequest", {"title": service.unique()})
    someone = service.user(("view", ["extras.changerequest", "dcim.site"]), other, ("change", "dcim.site")).api
    choice = {"object_type": "dcim.site", "object_id": site["id"], "field": "comments", "take": "theirs"}
    for step in STEPS:
        body = {"choices": [choice]} if step == "rebase" else {}
        assert someone.post(f"{made['url']}{step}/", body, status=404) == NOT_FOUND
    now = service.api.get(made["url"])
    assert (now["state"]["value"], now["updates"]) == ("draft", 2)


@write("change-requests/approve POST", "change-requests/reject POST", "change-requests/comment POST")
def reviews_within_the_constraint(service: Service) -> None:
    """A change request is reviewed by those who may approve it, and commented on by those who may view it."""
    made, _ = change_request(service)
    service.api.post(f"{made['url']}submit/", {}, status=200)
    other = {"title": service.unique()}
    someone = service.user(
        ("view", "dcim.site"), ("view", "extras.changerequest"), ("approve", "extras.changerequest", other)
    ).api
    for step in ("approve", "reject"):
        assert someone.post(f"{made['url']}{step}/", {}, status=404) == NOT_FOUND
    stranger = service.user(("view approve", "extras.changerequest", other)).api
    assert stranger.post(f"{made['url']}comment/", {"text": "x"}, status=404) == NOT_FOUND
    assert service.api.get(made["url"])["state"]["value"] == "submitted"
    assert service.api.get(f"{made['url']}review/")["events"][1:] == []


def change_request(service: Service) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A change request that changes two sites, and the sites."""
    made, sites = sample(service, "extras.changerequest"), [sample(service, "dcim.site") for _ in "ab"]
    for site in sites:
        service.api.patch(site["url"], {"comments": "proposed"}, headers={"X-Change-Request": made["id"]})
    return made, sites


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
