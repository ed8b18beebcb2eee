"""Jobs that are started by changes, and by buttons on objects."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.models.base import table_of
from netinv_core.write.system_update import system_update
from netinv_extras.jobs.results import JobResult
from netinv_testing import Account, Service
from tests.support.jobs import RESULTS, SCHEDULES, SITES, ask, job, logs, result, service, work

__all__ = ["ask", "job", "service"]
HOOKS, BUTTONS, TENANTS = "/api/extras/job-hooks/", "/api/extras/job-buttons/", "/api/tenancy/tenants/"


@pytest.fixture
def hook(service: Service, job: Callable[[str], Any]) -> Iterator[Callable[..., Any]]:
    """``hook(type_create=True)``: a job hook on tenants; gone after the test."""
    made = []

    def add(**fields: Any) -> Any:
        found = service.api.post(
            HOOKS,
            {"name": service.unique(), "content_types": ["tenancy.tenant"], "job": job("Watcher")["id"], **fields},
        )
        made.append(found["url"])
        return found

    yield add
    for url in made:
        service.api.delete(url)


def watched(service: Service) -> list[Any]:
    """The results of the receiver, oldest first."""
    return list(reversed(service.api.get(RESULTS, {"name": "local/examples/Watcher"})["results"]))


@pytest.mark.night
def test_changes_start_the_job_once_each_and_its_own_changes_none(service: Service, hook: Callable[..., Any]) -> None:
    hook(type_create=True, type_update=True, type_delete=True)
    before = len(watched(service))
    one, two = service.api.post(TENANTS, [{"name": service.unique()} for _ in range(2)])
    work(service)
    found = watched(service)[before:]
    assert [item["status"]["value"] for item in found] == ["completed"] * 2
    assert {logs(service, item)[0][1] for item in found} == {f"create {one['name']}", f"create {two['name']}"}
    assert found[0]["user"]["username"] == service.admin.username
    assert service.api.get(one["url"])["comments"] == "seen: create"
    service.api.patch(one["url"], {"description": "d"})
    work(service)
    assert service.api.get(one["url"])["comments"] == "seen: update"
    service.api.delete(one["url"])
    work(service)
    assert [logs(service, item)[0][1].split()[0] for item in watched(service)[before + 2 :]] == ["update", "delete"]


@pytest.mark.night
def test_only_the_chosen_events_of_enabled_hooks_count_and_only_what_is_committed(
    service: Service, hook: Callable[..., Any]
) -> None:
    hook(type_delete=True)
    hook(type_create=True, enabled=False)
    before = len(watched(service))
    name = service.unique()
    made = service.api.post(TENANTS, {"name": name})
    service.api.post(TENANTS, [{"name": service.unique()}, {"name": name}], status=400)
    assert len(watched(service)) == before
    service.api.delete(made["url"])
    assert len(watched(service)) == before + 1
    work(service)


def test_a_hook_takes_as_many_statements_for_many_changes_as_for_few(
    service: Service, hook: Callable[..., Any], job: Callable[[str], Any]
) -> None:
    hook(type_create=True)
    service.api.post(TENANTS, {"name": service.unique()})  # what the process caches is cached
    counts = []
    for count in (2, 40):
        with service.statements() as found:
            service.api.post(TENANTS, [{"name": service.unique()} for _ in range(count)])
        counts.append(len(found))
    assert counts[0] == counts[1]
    service.api.delete(
        RESULTS, [{"id": item["id"]} for item in watched(service) if item["status"]["value"] == "pending"]
    )


def test_a_hook_starts_its_job_for_the_changes_that_match_its_conditions(
    service: Service, hook: Callable[..., Any]
) -> None:
    word = service.unique()
    described = {"before": {"description": [""]}, "after": {"description__n": "", "name__isw": [word]}}
    hook(type_create=True, type_update=True, conditions={**described, "changed": ["description"]})
    hook(type_delete=True, conditions={"before": {"name__isw": [word], "description": ["d"]}})
    before = len(watched(service))
    bodies = [{"name": f"{word} 1"}, {"name": f"{word} 2"}, {"name": service.unique()}]
    one, two, other = service.api.post(TENANTS, bodies)
    assert len(watched(service)) == before
    changes = [{"id": item["id"], "description": "d"} for item in (one, other)]
    assert service.api.send("PATCH", f"{TENANTS}?dry_run=true", changes).json["count"]["job_hooks"] == 1
    service.api.patch(TENANTS, [*changes, {"id": two["id"], "comments": "c"}])
    assert len(watched(service)) == before + 1
    service.api.patch(one["url"], {"description": "e"})
    service.api.delete(TENANTS, [{"id": item["id"]} for item in (one, two, other)])
    assert len(watched(service)) == before + 1
    made = service.api.post(TENANTS, {"name": f"{word} 3", "description": "d"})
    service.api.delete(made["url"])
    assert len(watched(service)) == before + 2
    work(service)
    assert [logs(service, item)[0][1].split()[0] for item in watched(service)[before:]] == ["update", "delete"]


def test_conditions_take_as_many_statements_for_many_hooks_and_changes(
    service: Service, hook: Callable[..., Any]
) -> None:
    counts = []
    for number in range(3):
        hook(type_update=True, conditions={"before": {"name": [f"x {number}"]}, "after": {"name": [f"y {number}"]}})
        for size in (1, 2, 12):
            made = service.api.post(TENANTS, [{"name": service.unique()} for _ in range(size)])
            with service.statements() as found:
                service.api.patch(TENANTS, [{"id": item["id"], "comments": "c"} for item in made])
            counts.append(len(found) if size > 1 else 0)
    assert len(set(counts)) == 2, counts


def test_a_disabled_job_is_not_started(service: Service, hook: Callable[..., Any], job: Callable[[str], Any]) -> None:
    hook(type_create=True)
    before = len(watched(service))
    service.api.patch(job("Watcher")["url"], {"enabled": False})
    service.api.post(TENANTS, {"name": service.unique()})
    service.api.patch(job("Watcher")["url"], {"enabled": True})
    assert len(watched(service)) == before


def test_a_hook_no_longer_starts_a_job_that_was_disabled_or_is_not_installed_any_more(
    service: Service, hook: Callable[..., Any], job: Callable[[str], Any]
) -> None:
    """Job hooks are cached with their jobs, by the request before."""
    hook(type_create=True)

    def runs() -> int:
        before = len(watched(service))
        service.api.post(TENANTS, {"name": service.unique()})
        return len(watched(service)) - before

    def set_installed(installed: bool) -> None:
        with service.unit_of_work() as uow:
            key = uuid.UUID(job("Watcher")["id"])
            system_update(uow, uow.registry["extras.job"], {key: {"installed": installed}})

    assert runs() == 1
    service.api.patch(job("Watcher")["url"], {"enabled": False})
    assert runs() == 0
    service.api.patch(job("Watcher")["url"], {"enabled": True})
    assert runs() == 1
    set_installed(False)
    assert runs() == 0
    set_installed(True)
    assert runs() == 1
    work(service)


def test_a_hook_does_not_run_a_job_for_a_user_who_may_not_run_it(service: Service, hook: Callable[..., Any]) -> None:
    """Neither without the permission, nor outside its constraints: a result says why, once an hour for a user."""
    made, table = hook(type_create=True), table_of(JobResult)
    editing = ("add view change", "tenancy.tenant")

    def started_by(account: Account) -> list[Any]:
        found: list[Any] = service.api.get(RESULTS, {"user": account.username})["results"]
        return found

    for permission in ([], [("run", "extras.job", {"name": "Echo"})]):
        account = service.user(editing, *permission)
        for _ in range(2):
            effects = account.api.post(f"{TENANTS}?dry_run=true", {"name": service.unique()}, status=200)
            assert effects["count"]["job_hooks"] == 0
            account.api.post(TENANTS, [{"name": service.unique()} for _ in range(2)])
        (refused,) = started_by(account)
        assert (refused["status"]["value"], refused["job_kwargs"]) == ("failed", None)
        ((level, message),) = logs(service, refused)
        assert (level, account.username in message, made["name"] in message) == ("failure", True, True)
        with service.unit_of_work() as uow:
            earlier = uow.now - datetime.timedelta(hours=1)
            uow.execute(sa.update(table).where(table.c.id == uuid.UUID(refused["id"])).values(created=earlier))
        account.api.post(TENANTS, {"name": service.unique()})
        assert [item["status"]["value"] for item in started_by(account)] == ["failed"] * 2
    other = hook(type_create=True)
    account.api.post(TENANTS, {"name": service.unique()})
    newest, *_ = started_by(account)
    assert other["name"] in logs(service, newest)[0][1] and len(started_by(account)) == 3
    allowed = service.user(editing, ("run", "extras.job", {"job_class_name": "Watcher"}))
    allowed.api.post(TENANTS, {"name": service.unique()})
    work(service)
    assert [item["status"]["value"] for item in started_by(allowed)] == ["completed"] * 2


def test_a_hook_of_a_job_that_requires_approval_waits_for_it(
    service: Service, hook: Callable[..., Any], job: Callable[[str], Any]
) -> None:
    hook(type_create=True)
    editor = service.user(("add view", "tenancy.tenant"), ("run", "extras.job"))
    own = dict.fromkeys(("approval_required_override", "has_sensitive_variables_override"), True)
    service.api.patch(job("Watcher")["url"], {**own, "approval_required": True, "has_sensitive_variables": False})
    before = len(watched(service))
    made = editor.api.post(TENANTS, {"name": service.unique()})
    service.api.patch(job("Watcher")["url"], dict.fromkeys(own, False))
    work(service)
    assert len(watched(service)) == before
    (schedule,) = service.api.get(SCHEDULES, {"user": editor.username, "awaits_approval": True})["results"]
    service.api.post(f"{schedule['url']}approve/", status=200)
    work(service)
    assert [item["status"]["value"] for item in watched(service)[before:]] == ["completed"]
    assert service.api.get(made["url"])["comments"] == "seen: create"


def test_a_receiver_that_is_run_by_itself_takes_objects_that_the_user_may_view(
    service: Service, job: Callable[[str], Any]
) -> None:
    site, hidden = service.api.post(SITES, [{"name": service.unique(), "status": "active"} for _ in range(2)])
    user = service.user(("view run", "extras.job"), ("view", "dcim.site", {"id": site["id"]}))
    for label, key, wrong in (
        ("dcim.site", hidden["id"], "object_pk"),
        ("dcim.site", str(uuid.uuid4()), "object_pk"),
        ("dcim.site", "zz", "object_pk"),
        ("dcim.rack", site["id"], "object_pk"),
        ("dcim.none", site["id"], "object_model_name"),
    ):
        body = {"data": {"object_model_name": label, "object_pk": key}}
        assert list(user.api.post(f"{job('Marker')['url']}run/", body, status=400)["errors"]) == [wrong]
    change = service.api.get("/api/extras/object-changes/", {"changed_object_id": hidden["id"]})["results"][0]
    body = {"data": {"object_change": change["id"]}}
    assert list(user.api.post(f"{job('Watcher')['url']}run/", body, status=400)["errors"]) == ["object_change"]
    body = {"data": {"object_model_name": "dcim.site", "object_pk": site["id"]}}
    user.api.post(f"{job('Marker')['url']}run/", body)
    service.api.delete(
        RESULTS, [{"id": item["id"]} for item in service.api.get(RESULTS, {"status": "pending"})["results"]]
    )


def test_hooks_and_buttons_that_make_no_sense_are_refused(service: Service, job: Callable[[str], Any]) -> None:
    good = {
        "name": service.unique(),
        "content_types": ["tenancy.tenant"],
        "job": job("Watcher")["id"],
        "type_create": True,
    }
    for wrong, field in (
        ({"type_create": False}, "__all__"),
        ({"job": job("Echo")["id"]}, "job"),
        ({"content_types": []}, "content_types"),
        ({"content_types": ["extras.jobresult"]}, "content_types"),
    ):
        assert list(service.api.post(HOOKS, {**good, **wrong}, status=400)) == [field]
    button = {
        "name": service.unique(),
        "content_types": ["dcim.site"],
        "job": job("Marker")["id"],
        "text": "{{ obj.name }}",
    }
    for wrong, field in (
        ({"job": job("Watcher")["id"]}, "job"),
        ({"text": "{{"}, "text"),
        ({"content_types": []}, "content_types"),
    ):
        assert list(service.api.post(BUTTONS, {**button, **wrong}, status=400)) == [field]


def test_a_button_starts_its_job_for_an_object(service: Service, job: Callable[[str], Any]) -> None:
    site = service.api.post(SITES, {"name": service.unique(), "status": "active"})
    button = service.api.post(
        BUTTONS,
        {
            "name": service.unique(),
            "content_types": ["dcim.site"],
            "job": job("Marker")["id"],
            "text": "{{ obj.name }}",
        },
    )
    assert (button["job"], button["button_class"], button["confirmation"], button["weight"]) == (
        job("Marker")["id"],
        "default",
        True,
        100,
    )
    pressed = {"object_model_name": "dcim.site", "object_pk": site["id"]}
    with service.statements() as statements:
        asked = service.api.post(f"{button['url']}run/", pressed)["job_result"]
    assert sum("FROM dcim_site" in statement for statement in statements) == 1
    work(service)
    assert (result(service, asked)["status"]["value"], result(service, asked)["data"]) == (
        "completed",
        {"output": f"\n{site['name']}"},
    )
    assert service.api.get(site["url"])["facility"] == "marked"
    for wrong, field in (
        ({"object_model_name": "dcim.rack"}, "object_model_name"),
        ({"object_model_name": ["dcim.site"]}, "object_model_name"),
        ({"object_pk": "zz"}, "object_pk"),
        ({"object_pk": button["id"]}, "object_pk"),
        ({"object_pk": ""}, "object_pk"),
    ):
        assert list(service.api.post(f"{button['url']}run/", {**pressed, **wrong}, status=400)) == [field]
    service.api.post(f"{button['url']}run/", [], status=400)
    blind = service.user(("view", "extras.jobbutton"), ("view run", "extras.job"))
    blind.api.post(f"{button['url']}run/", pressed, status=403)
    powerless = service.user(("view", "extras.jobbutton"), ("view", "extras.job"), ("view", "dcim.site"))
    powerless.api.post(f"{button['url']}run/", pressed, status=403)
    service.api.post(f"{job('Marker')['url']}run/", {"data": pressed})
    work(service)
