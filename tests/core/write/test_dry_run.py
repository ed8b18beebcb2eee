"""Dry runs over HTTP: what would be written is answered, and nothing is written, sent or kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.auth.models import ConfigurationVersion
from netinv_core.driver.sessions import commit
from netinv_core.errors import Invalid
from netinv_core.models.base import table_of
from netinv_core.write import dry_run, save
from netinv_testing import Samples, Service
from tests.support.images import kept, png, send

SITES, TENANTS, DEVICES = "/api/dcim/sites/", "/api/tenancy/tenants/", "/api/dcim/devices/"
INTERFACES, WEBHOOKS = "/api/dcim/interfaces/", "/api/extras/webhooks/"
TYPES = "/api/dcim/device-types/"
DRY = {"dry_run": "true"}


def sample(service: Service, label: str, **members: Any) -> dict[str, Any]:
    """A new object."""
    return Samples(service).make(service.registry[label], **members)


def changes_of(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Action, content type and id of each change of a preview."""
    return [(change["action"], change["object_type"], change["object_id"]) for change in answer["changes"]]


def test_a_new_object_is_shown_and_not_made(service: Service) -> None:
    name = service.unique()
    answer = service.api.post(TENANTS, {"name": name}, query=DRY, status=200)
    assert (answer["dry_run"], answer["status"], answer["result"]["name"]) == (True, 201, name)
    (change,) = answer["changes"]
    assert (change["action"], change["object_type"], change["display"], change["before"]) == (
        "create",
        "tenancy.tenant",
        name,
        None,
    )
    assert change["after"]["name"] == name and "name" in change["fields"]
    assert answer["count"] == {"changes": 1, "webhooks": 0, "job_hooks": 0}
    assert service.api.get(TENANTS, {"name": name})["count"] == 0


def test_a_change_is_shown_with_the_fields_that_differ(service: Service) -> None:
    tenant = sample(service, "tenancy.tenant", description="")
    answer = service.api.patch(tenant["url"], {"description": "new"}, query=DRY)
    (change,) = answer["changes"]
    assert (change["action"], change["fields"], answer["status"]) == ("update", ["description"], 200)
    assert (change["before"]["description"], change["after"]["description"]) == ("", "new")
    assert service.api.get(tenant["url"])["description"] == ""
    assert service.api.patch(tenant["url"], {"description": ""}, query=DRY)["changes"] == []


def test_a_new_device_is_shown_with_its_components(service: Service) -> None:
    device_type = sample(service, "dcim.devicetype")
    service.api.post(
        "/api/dcim/interface-templates/", {"device_type": device_type["id"], "name": "eth0", "type": "virtual"}
    )
    body = Samples(service).body(service.registry["dcim.device"], device_type=device_type["id"])
    answer = service.api.post(DEVICES, body, query=DRY, status=200)
    device_id = answer["result"]["id"]
    assert changes_of(answer)[0] == ("create", "dcim.device", device_id)
    (interface,) = [change["after"] for change in answer["changes"] if change["object_type"] == "dcim.interface"]
    assert (interface["name"], interface["device"]["id"]) == ("eth0", device_id)
    assert service.api.get(INTERFACES, {"device_id": device_id}, status=(200, 400)).get("count", 0) == 0


def test_a_deletion_is_shown_with_what_goes_along_and_what_is_emptied(service: Service) -> None:
    parent, child = (sample(service, "dcim.region") for _ in range(2))
    service.api.patch(child["url"], {"parent": parent["id"]})
    site = sample(service, "dcim.site", region=child["id"])
    answer = service.api.delete(parent["url"], query=DRY, status=200)
    assert (answer["status"], answer["result"]) == (204, None)
    expected = {
        ("update", "dcim.site", site["id"]),
        *(("delete", "dcim.region", item["id"]) for item in (parent, child)),
    }
    assert set(changes_of(answer)) == expected
    (emptied,) = [change for change in answer["changes"] if change["object_type"] == "dcim.site"]
    assert (emptied["before"]["region"]["id"], emptied["after"]["region"]) == (child["id"], None)
    assert service.api.get(site["url"])["region"]["id"] == child["id"]


def test_errors_are_those_of_the_write(service: Service) -> None:
    tenant = sample(service, "tenancy.tenant")
    site = sample(service, "dcim.site", tenant=tenant["id"])
    assert site["id"] in service.api.delete(tenant["url"], query=DRY, status=409)["detail"]
    for body in ({}, {"name": tenant["name"]}, [{"name": service.unique()}, {}]):
        assert service.api.post(TENANTS, body, query=DRY, status=400) == service.api.post(TENANTS, body, status=400)
    reader = service.user(("view", "tenancy.tenant")).api
    reader.patch(tenant["url"], {"description": "x"}, query=DRY, status=403)
    limited = service.user(("view change", "tenancy.tenant", {"description": tenant["description"]})).api
    limited.patch(tenant["url"], {"description": service.unique()}, query=DRY, status=403)
    readonly = service.user(superuser=True, write_enabled=False).api
    readonly.patch(tenant["url"], {"description": "x"}, query=DRY, status=403)


@pytest.mark.parametrize("query", ["dry_run=", "dry_run", "dry_run=yes", "dry_run=2", "dry_run=true&dry_run=false"])
def test_a_value_that_is_no_boolean_is_refused_and_nothing_is_written(service: Service, query: str) -> None:
    name = service.unique()
    assert service.api.post(f"{TENANTS}?{query}", {"name": name}, status=400) == {
        "dry_run": ["Must be one of true, false, 1, 0."]
    }
    assert service.api.get(TENANTS, {"name": name})["count"] == 0


def test_true_and_false_are_taken_in_any_case_and_as_digits(service: Service) -> None:
    name = service.unique()
    for value in ("True", "TRUE", "1"):
        assert service.api.post(TENANTS, {"name": name}, query={"dry_run": value}, status=200)["dry_run"] is True
    for value in ("False", "0"):
        created = service.api.post(TENANTS, {"name": name}, query={"dry_run": value})
        service.api.delete(created["url"])


def test_the_answer_has_no_location_and_the_result_is_in_the_version_of_the_request(service: Service) -> None:
    device_type = sample(service, "dcim.devicetype")
    body = Samples(service).body(service.registry["dcim.device"], device_type=device_type["id"])
    for version in ("1.2", "1.6"):
        response = service.api.send("POST", DEVICES, body, query=DRY, version=version, status=200)
        assert "Location" not in response.headers and response.headers["API-Version"] == version
        created = service.api.post(DEVICES, body, version=version)
        assert response.json["result"].keys() == created.keys()
        service.api.delete(created["url"])


def test_webhooks_and_job_hooks_are_shown_by_name_to_those_who_may_view_them(service: Service) -> None:
    (watcher,) = service.api.get("/api/extras/jobs/", {"job_class_name": "Watcher"})["results"]
    service.api.patch(watcher["url"], {"enabled": True})
    events = {"content_types": ["tenancy.tenant"], "type_create": True}
    webhook = service.api.post(WEBHOOKS, {"name": service.unique(), "payload_url": "http://203.0.113.1/", **events})
    hook = service.api.post("/api/extras/job-hooks/", {"name": service.unique(), "job": watcher["id"], **events})
    try:
        rows = service.row_counts()
        bodies = [{"name": service.unique()} for _ in range(2)]
        answer = service.api.post(TENANTS, bodies, query=DRY, status=200)
        assert answer["count"] == {"changes": 2, "webhooks": 2, "job_hooks": 2}
        for entry, change in zip(answer["webhooks"], answer["changes"], strict=True):
            named = {"webhook": {"id": webhook["id"], "name": webhook["name"]}, "event": "create"}
            assert entry == {**named, "object_type": "tenancy.tenant", "object_id": change["object_id"]}
        assert answer["job_hooks"][0]["job_hook"] == {"id": hook["id"], "name": hook["name"]}
        partly = service.user(("view add", "tenancy.tenant"), ("view", "extras.jobhook"), ("run", "extras.job")).api
        seen = partly.post(TENANTS, bodies, query=DRY, status=200)
        assert (len(seen["webhooks"]), len(seen["job_hooks"]), seen["count"]) == (0, 2, answer["count"])
        assert (
            service.row_counts().items()
            >= {name: rows[name] for name in ("extras_webhook_delivery", "extras_job_result")}.items()
        )
    finally:
        service.api.delete(webhook["url"])
        service.api.delete(hook["url"])


def test_objects_that_the_user_may_not_view_are_only_counted(service: Service) -> None:
    region = sample(service, "dcim.region")
    shown, hidden = (sample(service, "dcim.site", region=region["id"]) for _ in range(2))
    user = service.user(("view delete", "dcim.region"), ("view", "dcim.site", {"name": shown["name"]}))
    answer = user.api.delete(region["url"], query=DRY, status=200)
    assert answer["count"]["changes"] == 3
    assert {key for _, label, key in changes_of(answer) if label == "dcim.site"} == {shown["id"]}
    assert hidden["id"] not in str(answer) and hidden["name"] not in str(answer)


def test_new_objects_are_shown_within_the_constraints_of_viewing(service: Service) -> None:
    inside, outside = service.unique(), service.unique()
    user = service.user(("add", "tenancy.tenant"), ("view", "tenancy.tenant", {"name": inside}))
    answer = user.api.post(TENANTS, [{"name": inside}, {"name": outside}], query=DRY, status=200)
    assert ([change["display"] for change in answer["changes"]], answer["count"]["changes"]) == ([inside], 2)


def test_credentials_are_masked(service: Service) -> None:
    body = {
        "name": service.unique(),
        "content_types": ["dcim.site"],
        "type_create": True,
        "payload_url": "http://me:word@203.0.113.1/",
    }
    webhook = service.api.post(WEBHOOKS, {**body, "enabled": False}, status=(201, 400))
    if "id" not in webhook:
        webhook = service.api.post(WEBHOOKS, {**body, "enabled": False, "payload_url": "http://203.0.113.1/"})
    answer = service.api.patch(
        webhook["url"], {"additional_headers": "X-Auth-Token: hush", "secret": "quiet"}, query=DRY
    )
    assert all(word not in str(answer["changes"]) for word in ("hush", "quiet"))
    service.api.delete(webhook["url"])


def test_many_changes_are_counted_and_listed_up_to_a_limit(service: Service) -> None:
    bodies = [{"name": service.unique()} for _ in range(dry_run.MAX_LISTED + 5)]
    answer = service.api.post(TENANTS, bodies, query=DRY, status=200)
    assert (answer["count"]["changes"], len(answer["changes"])) == (len(bodies), dry_run.MAX_LISTED)
    assert len(answer["result"]) == len(bodies)


def test_a_file_is_not_kept_and_a_replaced_one_stays(service: Service, tmp_path: Path) -> None:
    maker = sample(service, "dcim.manufacturer")
    members = {"manufacturer": maker["id"], "model": service.unique(), "front_image": ("a.png", png())}
    with service.configured(media_root=str(tmp_path)):
        preview = send(service.api, "POST", f"{TYPES}?dry_run=true", members, status=200).json
        assert preview["result"]["front_image"] and kept(tmp_path) == []
        created = send(service.api, "POST", TYPES, members, status=201).json
        files = kept(tmp_path)
        changed = {"front_image": ("b.png", png(5, 5))}
        path = f"{created['url'].removeprefix('http://localhost')}?dry_run=true"
        assert (
            send(service.api, "PATCH", path, changed, status=200).json["result"]["front_image"]
            != created["front_image"]
        )
        service.api.delete(created["url"], query=DRY, status=200)
        assert len(files) == 1 and kept(tmp_path) == files


def test_the_configuration_is_as_before(service: Service) -> None:
    """A status of a dry run is unknown to later requests, and one that is deleted in a dry run is still known."""
    name = service.unique()
    status = service.api.post("/api/extras/statuses/", {"name": name, "content_types": ["dcim.site"]})
    version = sa.select(table_of(ConfigurationVersion).c.number)
    before = service.rows(version)
    service.api.post(
        "/api/extras/statuses/", {"name": f"{name}2", "content_types": ["dcim.site"]}, query=DRY, status=200
    )
    service.api.delete(status["url"], query=DRY, status=200)
    assert service.rows(version) == before
    service.api.post(SITES, {"name": name, "status": f"{name}2"}, status=400)
    assert service.api.post(SITES, {"name": name, "status": status["slug"]})["status"]["value"] == status["slug"]


def test_a_unit_of_work_goes_on_after_a_dry_run(service: Service) -> None:
    """Writes and functions before and after the dry run are committed; those within it are not."""
    before, within, after = (service.unique() for _ in range(3))
    tenants, called = service.registry["tenancy.tenant"], list[str]()
    with service.unit_of_work() as uow:
        save.create(uow, tenants, [{"name": before}])
        uow.after_commit(lambda: called.append(before))
        with dry_run.dry_run(uow) as preview:
            save.create(uow, tenants, [{"name": within}])
            uow.after_commit(lambda: called.append(within))
        assert [change["display"] for change in preview.changes] == [within]
        with pytest.raises(Invalid), dry_run.dry_run(uow):
            save.create(uow, tenants, [{"name": before}])
        save.create(uow, tenants, [{"name": after}])
        uow.after_commit(lambda: called.append(after))
    listed = service.api.get(TENANTS, {"name": [before, within, after]})["results"]
    assert {item["name"] for item in listed} == {before, after} == set(called)
    for item in listed:
        assert service.api.get("/api/extras/object-changes/", {"changed_object_id": item["id"]})["count"] == 1


def test_a_commit_within_a_dry_run_is_an_error(service: Service) -> None:
    name = service.unique()
    with pytest.raises(RuntimeError, match="committed"), service.unit_of_work() as uow, dry_run.dry_run(uow):
        save.create(uow, service.registry["tenancy.tenant"], [{"name": name}])
        commit(uow.session)
    assert service.api.get(TENANTS, {"name": name})["count"] == 0
