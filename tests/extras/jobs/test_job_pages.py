"""Pages of jobs: the form of a run, its log, schedules and approvals."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netinv_extras.jobs import live_log, runner
from netinv_testing import Account, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.jobs import job, service, work
from tests.support.waiting import until

pytestmark = pytest.mark.any_database
__all__ = ["job", "service"]
MakeUser = Callable[..., Account]
Find = Callable[[str], Any]


@pytest.fixture
def browser(service: Service) -> Browser:
    """The browser of an administrator."""
    return Browser(service, service.admin)


def run_path(job: Any) -> str:
    return f"/extras/jobs/{job['id']}/run/"


def test_the_form_has_a_control_for_each_variable(browser: Browser, job: Find) -> None:
    page = browser.get(run_path(job("Echo")), status=200).html
    assert page.select_one("#field-var-text")["maxlength"] == "20"
    assert (page.select_one("#field-var-num")["type"], page.select_one("#field-var-num")["value"]) == ("number", "3")
    assert page.select_one("#field-var-flag")["type"] == "checkbox"
    assert [option["value"] for option in page.select("#field-var-picks option")] == ["a", "2"]
    assert page.select_one("#field-var-prose").name == "textarea"
    assert page.select_one(".picker:has(#field-var-sites)")["data-source"] == "/dcim/sites/"
    assert not page.select_one("#field-commit").has_attr("checked")


def test_the_page_of_a_job_begins_with_what_it_does(service: Service, browser: Browser, job: Find) -> None:
    found = job("Echo")
    path = f"/extras/jobs/{found['id']}/"
    page = browser.get(path, status=200)
    titles = ["Run", "Job", "Limits", "Class"]
    assert [title.text for title in page.html.select(".detail h2")] == titles
    assert found["description"] and found["description"] in page.html.select_one("#panel-run").text
    service.api.patch(found["url"], {"hidden_override": True})
    try:
        titles.append("Stated here, in the place of the class")
        assert [title.text for title in browser.get(path).html.select(".detail h2")] == titles
    finally:
        service.api.patch(found["url"], {"hidden_override": False})


def test_the_path_of_a_class_leads_to_the_page_of_its_job(service: Service, browser: Browser, job: Find) -> None:
    """As below /api/, where it is the address of a job before version 1.3."""
    found = job("Echo")
    query = {"source": found["source"], "module_name": found["module_name"], "limit": 0}
    jobs = service.api.get("/api/extras/jobs/", query, version="1.2")["results"]
    (path,) = [item["url"].partition("/api")[2] for item in jobs if item["pk"] == found["id"]]
    assert browser.get(path, status=302).follow().request.path == f"/extras/jobs/{found['id']}/"
    browser.get(f"{path.removesuffix('/')}None/", status=404)


def test_a_run_is_requested_by_the_form_and_its_log_is_shown(service: Service, browser: Browser, job: Find) -> None:
    site = service.api.post("/api/dcim/sites/", {"name": service.unique(), "status": "active"})
    values = [
        ("var-text", "hello <b>"),
        ("var-flag", "true"),
        ("var-picks", "a"),
        ("var-picks", "2"),
        ("var-site", site["id"]),
    ]
    response = browser.post(run_path(job("Echo")), values, status=303)
    page = response.follow(status=200).html
    log = page.select_one("#job-log")
    assert "Pending" in log.text
    assert log["data-poll"] == f"{response.headers['Location']}live-log/"
    assert log.select_one("a").text == "Reload"
    work(service)
    part = browser.get(log["data-poll"], status=200).html.select_one("#job-log")
    assert "Completed" in part.text
    assert "data-poll" not in part.attrs
    messages = [row.th.text for row in part.select("tbody tr")]
    assert "got hello <b>" in messages
    assert f"/dcim/sites/{site['id']}/" in [link["href"] for link in part.select("tbody a")]


def test_the_log_is_shown_while_the_job_writes(
    service: Service, browser: Browser, job: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(service.registry.settings, "queue_url", f"sqlite:///{tmp_path / 'queue.sqlite'}")
    gate = tmp_path / "gate"
    values = {"var-gate": str(gate), "var-write": "true", "commit": "true", "interval": "immediately"}
    path = browser.post(run_path(job("Linger")), values, status=303).headers["Location"]
    worker = runner.runner(service.engine, service.registry)
    worker.poll()

    def messages() -> list[str]:
        return [row.th.text for row in browser.get(f"{path}live-log/", status=200).html.select("tbody tr")]

    both = ["here we are", "in the middle"]
    until(lambda: messages() == both)
    stored = service.api.get(f"/api{path}logs/")
    assert [entry["message"] for entry in stored] == both[:1]
    gate.touch()
    assert worker.wait(60)
    part = browser.get(f"{path}live-log/").html.select_one("#job-log")
    assert (messages(), part.pre.text) == (both, "waited")
    assert live_log.shared_entries(service.registry, path.split("/")[-2]) == []
    title = browser.get(path).html.h1.text
    assert title == service.api.get(f"/api{path}")["display"] and title.startswith("Linger 20")


def test_a_dry_run_changes_nothing_and_a_run_does(service: Service, browser: Browser, job: Find) -> None:
    word = service.unique()
    for commit, count in (("", 0), ("true", 2)):
        values = {"var-word": word, "interval": "immediately", **({"commit": commit} if commit else {})}
        browser.post(run_path(job("MakeSites")), values, status=303)
        work(service)
        assert service.api.get("/api/dcim/sites/", {"name__isw": word})["count"] == count


@pytest.mark.parametrize(
    ("then", "commit", "status", "kept"),
    [("", "true", "Completed", True), ("", "", "Completed", False), ("raise", "true", "Errored", False)],
)
def test_a_run_leads_to_its_changes_if_it_has_kept_any(
    service: Service, browser: Browser, job: Find, then: str, commit: str, status: str, kept: bool
) -> None:
    values = {"var-word": service.unique(), "var-then": then, "interval": "immediately"}
    values |= {"commit": commit} if commit else {}
    path = browser.post(run_path(job("MakeSites")), values, status=303).headers["Location"]
    work(service)
    log = browser.get(f"{path}live-log/").html.select_one("#job-log")
    assert status in log.select_one(".actions").text
    links = [link for link in log.select(".actions a") if link.text == "Changes of this run"]
    assert len(links) == kept
    for link in links:
        assert browser.get(link["href"]).html.select(".change, tbody tr")


def test_what_was_entered_is_kept_with_the_errors(browser: Browser, job: Find) -> None:
    values = [("var-text", "#no"), ("var-num", "12"), ("var-pick", "b"), ("var-flag", "true")]
    page = browser.post(run_path(job("Echo")), values, status=422).html
    assert "Enter a valid value." in page.select_one("#error-var-text").text
    assert "less than or equal to 9" in page.select_one("#error-var-num").text
    assert page.select_one("#field-var-text")["value"] == "#no"
    assert page.select_one("#field-var-pick option[selected]")["value"] == "b"
    assert page.select_one("#field-var-flag").has_attr("checked")


def test_variables_for_objects_offer_what_the_user_may_view(service: Service, make_user: MakeUser, job: Find) -> None:
    names = [service.unique(), service.unique()]
    sites = [service.api.post("/api/dcim/sites/", {"name": name, "status": "active"}) for name in names]
    user = make_user(("view run", "extras.job"), password=PASSWORD)
    service.permit("view", "dcim.site", {"name": names[0]}, users=[user.id])
    page = Browser(service, user).get(run_path(job("Echo")), status=200).html
    assert [option.text for option in page.select("#field-var-sites option")] == [names[0]]
    assert sites[1]["id"] not in page.text


def test_objects_are_named_beside_a_picker(service: Service, browser: Browser, job: Find) -> None:
    names = [service.unique(), service.unique()]
    sites = [service.api.post("/api/dcim/sites/", {"name": name, "status": "active"}) for name in names]
    values = {
        "var-text": "x",
        "_text_var-site": sites[0]["slug"],
        "_text_var-sites": ", ".join(item["slug"] for item in sites),
    }
    page = browser.post(run_path(job("Echo")), values, status=303).follow()
    work(service)
    log = browser.get(f"{page.request.path}live-log/").html.select_one("#job-log")
    assert f"/dcim/sites/{sites[0]['id']}/" in [link["href"] for link in log.select("tbody a")]
    page = browser.post(run_path(job("Echo")), {"var-text": "x", "_text_var-site": "no such site"}, status=422).html
    assert page.select_one("#error-var-site") is not None


def test_a_run_is_scheduled(service: Service, browser: Browser, job: Find) -> None:
    values = {"var-word": "w", "interval": "daily", "name": "", "start_time": "2001-01-01T00:00:00Z"}
    page = browser.post(run_path(job("MakeSites")), values, status=422).html
    assert page.select_one("#error-name") is not None
    assert "past" in page.select_one("#error-start_time").text
    values |= {"name": "every day", "start_time": "2050-01-01T00:00:00Z"}
    page = browser.post(run_path(job("MakeSites")), values, status=303).follow()
    assert "The run is scheduled." in page
    assert "Next run" in page.html.select_one("#panel-approval").text


def make_request(service: Service, browser: Browser, job: Find) -> str:
    """The path of a schedule that waits for approval."""
    shown = job("MakeSites")
    service.api.patch(shown["url"], {"approval_required_override": True, "approval_required": True})
    try:
        response = browser.post(run_path(shown), {"var-word": service.unique(), "interval": "immediately"}, status=303)
    finally:
        service.api.patch(shown["url"], {"approval_required_override": False})
    return str(response.headers["Location"])


APPROVER = ("view approve run", "extras.job"), ("view change delete", "extras.scheduledjob")


def test_a_second_user_approves_a_run(service: Service, browser: Browser, make_user: MakeUser, job: Find) -> None:
    path = make_request(service, browser, job)
    approver = Browser(service, make_user(*APPROVER, ("view", "extras.jobresult"), password=PASSWORD))
    assert "Approve" not in browser.get(path).html.select_one("#panel-approval").text
    assert "Approve" in approver.get(path).html.select_one("#panel-approval").text
    browser.post(f"{path}decide/", {"approve": "1"}, status=403)
    assert "The schedule is approved." in approver.post(f"{path}decide/", {"approve": "1"}, status=303).follow()
    assert "does not wait" in approver.post(f"{path}decide/", {"deny": "1"}, status=303).follow()


def test_a_second_user_denies_a_run_after_a_dry_run(
    service: Service, browser: Browser, make_user: MakeUser, job: Find
) -> None:
    path = make_request(service, browser, job)
    approver = Browser(service, make_user(*APPROVER, ("view", "extras.jobresult"), password=PASSWORD))
    assert "Pending" in approver.post(f"{path}decide/", {"dry_run": "1"}, status=303).follow()
    assert "was denied" in approver.post(f"{path}decide/", {"deny": "1"}, status=303).follow()
    browser.get(path, status=404)
    approver.get(approver.post(f"{make_request(service, browser, job)}decide/", {}, status=303).headers["Location"])


# -- permissions


def test_a_reader_sees_a_job_but_cannot_run_it(service: Service, make_user: MakeUser, job: Find) -> None:
    reader = Browser(service, make_user(("view", ["extras.job", "extras.jobresult"]), password=PASSWORD))
    shown = job("Echo")
    panel = reader.get(f"/extras/jobs/{shown['id']}/", status=200).html.select_one("#panel-run")
    assert "You may not run this job." in panel.text
    reader.get(run_path(shown), status=403)
    reader.post(run_path(shown), {"var-text": "x"}, status=403)


def test_nobody_sees_runs_without_permission(
    service: Service, make_user: MakeUser, browser: Browser, job: Find
) -> None:
    path = browser.post(run_path(job("Echo")), {"var-text": "x"}, status=303).headers["Location"]
    nobody = Browser(service, make_user(password=PASSWORD))
    for address in (path, f"{path}live-log/", run_path(job("Echo"))):
        nobody.get(address, status=403)
        Browser(service).get(address, status=303)
    work(service)


def test_a_job_that_there_is_not_has_no_form(browser: Browser) -> None:
    browser.get(f"/extras/jobs/{uuid.uuid4()}/run/", status=404)
    browser.get("/extras/jobs/nonsense/run/", status=404)


def test_a_job_that_is_not_enabled_says_who_can_enable_it(
    service: Service, browser: Browser, job: Find, make_user: MakeUser
) -> None:
    shown = job("Echo")
    service.api.patch(shown["url"], {"enabled": False})
    path = f"/extras/jobs/{shown['id']}/"
    panel = browser.get(path).html.select_one("#panel-run")
    assert "not enabled" in panel.text
    assert panel.a["href"] == f"{path}edit/#field-enabled"
    reader = Browser(service, make_user(("view", "extras.job"), ("run", "extras.job"), password=PASSWORD))
    panel = reader.get(path).html.select_one("#panel-run")
    assert "Users who may change jobs can enable it" in panel.text
    assert panel.a is None
    assert "not enabled" in browser.get(run_path(shown), status=403)
    service.api.patch(shown["url"], {"enabled": True})
