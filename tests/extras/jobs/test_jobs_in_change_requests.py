"""Jobs in change requests: what they write is added to the change request, and the inventory is as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netinv_extras.jobs import runner as job_running
from netinv_testing import Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.jobs import RESULTS, SITES, job, logs, result, service, work
from tests.support.waiting import until

__all__ = ["job", "service"]
REQUESTS, BUTTONS = "/api/extras/change-requests/", "/api/extras/job-buttons/"
FACILITIES = ("view change", "dcim.site")


@pytest.fixture
def change_request(service: Service) -> Any:
    """An open change request, with the header that names it."""
    made = service.api.post(REQUESTS, {"title": service.unique()})
    return {**made, "at": f"{REQUESTS}{made['id']}/", "inside": {"X-Change-Request": made["id"]}}


@pytest.fixture
def site(service: Service) -> Any:
    """A site."""
    made = service.api.post(SITES, {"name": service.unique(), "status": "active"})
    return {**made, "at": f"{SITES}{made['id']}/"}


@pytest.fixture
def run(service: Service, job: Callable[[str], Any], change_request: Any) -> Callable[..., Any]:
    """``run("Facility", site=…)``: has a job run in the change request; its result, or the body of the refusal."""

    def asked(name: str, *, api: Any = None, status: int = 201, body: Any = None, **data: Any) -> Any:
        sent = {"data": data, "commit": True, **(body or {})}
        api, path = api or service.api, f"{job(name)['url']}run/"
        answer = api.post(path, sent, status=status, headers=change_request["inside"])
        return answer["job_result"] if status == 201 else answer

    return asked


def changes(service: Service, change_request: Any) -> dict[str, dict[str, Any]]:
    """The proposed changes: the new values of fields, by the names of the objects."""
    found = service.api.get(f"{change_request['at']}changes/")["changes"]
    return {item["display"]: {one["field"]: one["after"] for one in item["changes"]} for item in found}


def test_what_a_job_writes_is_added_to_the_change_request(
    service: Service, run: Callable[..., Any], change_request: Any, site: Any
) -> None:
    service.api.patch(site["at"], {"facility": "A"}, headers=change_request["inside"])
    asked = run("Facility", site=site["id"], facility="B")
    assert (asked["status"]["value"], asked["id"]) == ("pending", result(service, asked)["id"])
    work(service)
    shown = result(service, asked)
    assert logs(service, asked) == [
        ("info", f"was A, in {change_request['id']}"),
        ("info", "the end"),
        ("info", f"1 change added to the change request {change_request['title']}."),
    ]
    assert (shown["status"]["value"], shown["data"]) == ("completed", {"output": "\n1"})
    assert (shown["proposed_in"]["id"], shown["proposed_changes"]) == (change_request["id"], 1)
    assert service.api.get(RESULTS, {"proposed_in_id": change_request["id"]})["count"] == 1
    assert changes(service, change_request) == {site["name"]: {"facility": "B"}}
    assert service.api.get(site["at"])["facility"] == ""
    assert service.api.get(site["at"], headers=change_request["inside"])["facility"] == "B"
    service.api.post(f"{change_request['at']}merge/", {}, status=200)
    assert service.api.get(site["at"])["facility"] == "B"


def test_a_job_is_given_an_object_that_is_only_proposed(
    service: Service, run: Callable[..., Any], change_request: Any
) -> None:
    new = service.api.post(SITES, {"name": service.unique(), "status": "active"}, headers=change_request["inside"])
    asked = run("Facility", site=new["id"], facility="C")
    work(service)
    assert result(service, asked)["status"]["value"] == "completed"
    assert changes(service, change_request)[new["name"]]["facility"] == "C"
    service.api.get(f"{SITES}{new['id']}/", status=404)


def test_a_run_in_a_change_request_writes_what_others_would_write(
    service: Service, run: Callable[..., Any], change_request: Any
) -> None:
    word = service.unique()
    asked = run("MakeSites", word=word)
    work(service)
    assert result(service, asked)["proposed_changes"] == 2
    assert sorted(changes(service, change_request)) == [f"{word} 0", f"{word} 1"]
    counts = service.api.get(change_request["at"])
    assert (counts["creates"], counts["updates"], counts["deletes"]) == (2, 0, 0)
    assert service.api.get(SITES, {"name__isw": word})["count"] == 0


@pytest.mark.parametrize(("then", "status"), [("fail", "failed"), ("raise", "errored"), ("log failure", "failed")])
def test_a_job_that_fails_adds_nothing(
    service: Service, run: Callable[..., Any], change_request: Any, then: str, status: str
) -> None:
    asked = run("MakeSites", word=service.unique(), then=then)
    work(service)
    shown = result(service, asked)
    assert (shown["status"]["value"], shown["proposed_changes"]) == (status, 0)
    assert changes(service, change_request) == {}


def test_a_run_without_commit_adds_nothing(service: Service, run: Callable[..., Any], change_request: Any) -> None:
    asked = run("MakeSites", body={"commit": False}, word=service.unique())
    work(service)
    shown = result(service, asked)
    assert (shown["status"]["value"], shown["proposed_changes"]) == ("completed", 0)
    assert changes(service, change_request) == {}


def test_what_cannot_be_proposed_ends_a_run_with_the_reason(
    service: Service, run: Callable[..., Any], change_request: Any, site: Any
) -> None:
    asked = run("Facility", site=site["id"], facility="B", new_status=service.unique())
    work(service)
    assert result(service, asked)["status"]["value"] == "errored"
    said = [message for _, message in logs(service, asked)]
    assert any("statuses cannot be part of a change request" in message for message in said)
    assert said.count("the end") == 1  # post_run is called once
    assert changes(service, change_request) == {}


def test_what_cannot_run_in_a_change_request_is_refused(
    service: Service, run: Callable[..., Any], change_request: Any
) -> None:
    outside = run("Outside", status=409)
    assert "effects outside of the inventory" in outside["detail"]
    assert "requires approval" in run("Asks", status=409, word="x")["detail"]
    later = {"schedule": {"interval": "daily", "name": "x", "start_time": "2100-01-01T00:00:00Z"}}
    refused = run("MakeSites", status=400, body=later, word="x")
    assert refused["schedule"]["interval"] == ["In a change request a job can only be run immediately."]
    service.api.post(f"{change_request['at']}close/", {}, status=200)
    assert "is closed" in run("MakeSites", status=409, word="x")["detail"]
    assert service.api.get(RESULTS, {"proposed_in_id": change_request["id"]})["count"] == 0


def test_running_a_job_takes_the_right_to_change_the_change_request(
    service: Service, run: Callable[..., Any], change_request: Any, site: Any
) -> None:
    reader = service.user(("view run", "extras.job"), ("view", "extras.changerequest"), FACILITIES)
    run("Facility", api=reader.api, status=403, site=site["id"], facility="B")
    stranger = service.user(("view run", "extras.job"), FACILITIES)
    run("Facility", api=stranger.api, status=400, site=site["id"], facility="B")


@pytest.mark.night
def test_a_job_has_no_more_permissions_there_than_its_user(
    service: Service, run: Callable[..., Any], change_request: Any, site: Any
) -> None:
    needed = ("view run", "extras.job"), ("view change", "extras.changerequest"), ("view", "extras.jobresult")
    user = service.user(*needed, ("view", "dcim.site"))
    asked = run("Facility", api=user.api, site=site["id"], facility="B")
    writer = service.user(*needed, FACILITIES)
    permitted = run("Facility", api=writer.api, site=site["id"], facility="B")
    work(service)
    assert result(service, asked)["status"]["value"] == "errored"
    assert any("permission" in message for _, message in logs(service, asked))
    assert result(service, permitted)["status"]["value"] == "completed"
    (change,) = service.api.get(f"{change_request['at']}changes/")["changes"]
    assert change["user_name"] == writer.username


@pytest.mark.parametrize(
    ("step", "reason"), [("close", "The change request is closed"), ("deleted", "There is no such change request.")]
)
def test_the_change_request_is_looked_at_again_when_the_job_runs(
    service: Service, run: Callable[..., Any], change_request: Any, step: str, reason: str
) -> None:
    word = service.unique()
    asked = run("MakeSites", word=word)
    if step == "deleted":
        service.api.delete(change_request["at"])
    else:
        service.api.post(f"{change_request['at']}{step}/", {}, status=200)
    work(service)
    assert result(service, asked)["status"]["value"] == "errored"
    ((level, message),) = logs(service, asked)
    assert level == "failure" and message.startswith(reason)
    assert service.api.get(SITES, {"name__isw": word})["count"] == 0


def test_the_right_to_change_it_is_asked_for_again_when_the_job_runs(
    service: Service, run: Callable[..., Any], change_request: Any, site: Any
) -> None:
    user = service.user(("view run", "extras.job"), ("view change", "extras.changerequest"), FACILITIES)
    asked = run("Facility", api=user.api, site=site["id"], facility="B")
    permissions = service.api.get("/api/users/permissions/", {"user": user.username, "limit": 0})["results"]
    (own,) = [item for item in permissions if "extras.changerequest" in item["object_types"]]
    service.api.patch(f"/api/users/permissions/{own['id']}/", {"actions": ["view"]})
    work(service)
    ((_, message),) = logs(service, asked)
    assert "may not change the change request any more" in message
    assert changes(service, change_request) == {}


def test_a_change_request_in_conflict_refuses_the_run(
    service: Service, run: Callable[..., Any], change_request: Any, site: Any
) -> None:
    service.api.patch(site["at"], {"facility": "A"}, headers=change_request["inside"])
    asked = run("Facility", site=site["id"], facility="B")
    service.api.patch(site["at"], {"facility": "Z"})
    work(service)
    ((_, message),) = logs(service, asked)
    assert "conflicts with the inventory" in message
    assert changes(service, change_request) == {site["name"]: {"facility": "A"}}
    assert "conflicts" in run("Facility", status=409, site=site["id"], facility="B")["detail"]


def test_a_run_is_followed_in_its_change_request_while_it_holds_the_locks(
    service: Service, run: Callable[..., Any], change_request: Any, tmp_path: Path
) -> None:
    gate, runner = tmp_path / "gate", job_running.runner(service.engine, service.registry)
    asked = run("Linger", gate=str(gate), write=True)
    runner.poll()
    path = f"{RESULTS}{asked['id']}/"
    until(lambda: service.api.get(path, headers=change_request["inside"])["status"]["value"] == "running")
    service.api.get(f"{path}logs/", headers=change_request["inside"])
    gate.touch()
    assert runner.wait(60)
    shown = service.api.get(path, headers=change_request["inside"])
    assert (shown["status"]["value"], shown["proposed_changes"]) == ("completed", 0)


def test_a_run_withdraws_approvals(service: Service, run: Callable[..., Any], change_request: Any, site: Any) -> None:
    service.api.patch(site["at"], {"facility": "A"}, headers=change_request["inside"])
    service.api.post(f"{change_request['at']}submit/", {}, status=200)
    service.user(superuser=True).api.post(f"{change_request['at']}approve/", {}, status=200)
    run("Facility", site=site["id"], facility="B")
    work(service)
    shown = service.api.get(change_request["at"])
    assert (shown["state"]["value"], shown["approvals"]) == ("submitted", 0)


def test_a_job_hook_about_change_requests_runs_after_a_change_of_what_one_proposes(
    service: Service, job: Callable[[str], Any], change_request: Any, site: Any
) -> None:
    body = {"name": service.unique(), "job": job("Watcher")["id"], "content_types": ["extras.changerequest"]}
    hook = service.api.post("/api/extras/job-hooks/", {**body, "type_update": True})
    service.api.patch(site["at"], {"facility": "A"}, headers=change_request["inside"])
    found = service.api.get(RESULTS, {"job_model_id": job("Watcher")["id"], "status": "pending"})
    service.api.delete(f"/api/extras/job-hooks/{hook['id']}/")
    assert [(item["proposed_in"], item["proposed_changes"]) for item in found["results"]] == [(None, None)]
    service.api.delete(f"{RESULTS}{found['results'][0]['id']}/")


def test_a_button_runs_its_job_in_the_change_request(
    service: Service, job: Callable[[str], Any], change_request: Any, site: Any
) -> None:
    body = {"name": service.unique(), "text": "Mark", "job": job("Marker")["id"], "content_types": ["dcim.site"]}
    button = service.api.post(BUTTONS, body)
    sent = {"object_model_name": "dcim.site", "object_pk": site["id"]}
    service.api.post(f"{BUTTONS}{button['id']}/run/", sent, headers=change_request["inside"])
    work(service)
    assert changes(service, change_request) == {site["name"]: {"facility": "marked"}}
    assert service.api.get(site["at"])["facility"] == ""


def test_the_number_of_statements_of_a_request_for_a_run_does_not_grow_with_the_change_request(
    service: Service, run: Callable[..., Any], change_request: Any, site: Any
) -> None:
    def propose(count: int) -> None:
        bodies = [{"name": service.unique(), "status": "active"} for _ in range(count)]
        service.api.post(SITES, bodies, headers=change_request["inside"])

    propose(2)
    run("Facility", site=site["id"], facility="B")
    with service.statements() as few:
        run("Facility", site=site["id"], facility="B")
    propose(30)
    with service.statements() as many:
        run("Facility", site=site["id"], facility="B")
    assert len(few) == len(many)


# -- in the browser


@pytest.mark.night
def test_the_form_of_a_job_runs_it_in_the_change_request_that_one_entered(
    service: Service, job: Callable[[str], Any], change_request: Any
) -> None:
    browser, path = Browser(service, service.user(superuser=True, password=PASSWORD)), "/extras/change-requests/"
    own = f"{path}{change_request['id']}/"
    browser.get(own).form(action=f"{own}enter/").submit()
    page = browser.get(f"/extras/jobs/{job('MakeSites')['id']}/run/")
    assert "Add the changes to the change request" in page.text
    assert not page.html.select("[name=interval]")
    form = page.form()
    form["var-word"] = word = service.unique()
    shown = form.submit().follow()
    assert page.html.select(".banner") and "Pending" in shown.text
    work(service)
    shown = browser.get(shown.request.path)
    log = shown.html.select_one("#job-log")
    assert "2 changes added" in log.get_text()
    assert log.select_one(f"a[href='{own}']").text == change_request["title"]
    assert service.api.get(SITES, {"name__isw": word})["count"] == 0
    assert sorted(changes(service, change_request)) == [f"{word} 0", f"{word} 1"]


def test_the_page_of_a_job_that_has_effects_outside_says_so(
    service: Service, job: Callable[[str], Any], change_request: Any
) -> None:
    browser = Browser(service, service.user(superuser=True, password=PASSWORD))
    own = f"/extras/change-requests/{change_request['id']}/"
    browser.get(own).form(action=f"{own}enter/").submit()
    page = browser.get(f"/extras/jobs/{job('Outside')['id']}/run/", status=409)
    assert "effects outside of the inventory" in page.text
    panel = browser.get(f"/extras/jobs/{job('Outside')['id']}/").html.select_one("#panel-run")
    assert "effects outside of the inventory" in panel.get_text() and not panel.select("a.primary")
    offered = browser.get(f"/extras/jobs/{job('MakeSites')['id']}/").html.select_one("#panel-run")
    assert offered.select("a.primary")
