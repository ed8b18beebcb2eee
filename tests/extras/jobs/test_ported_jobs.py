"""Jobs written for Nautobot: their settings, log methods, tests, forms of ``run`` and imports."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import webtest

from netinv_extras.jobs import Job, JobDefinitionError, ObjectVar, feature
from netinv_extras.jobs.catalog import LOCAL_PACKAGE
from netinv_extras.jobs.declarations import META, settings_of
from netinv_extras.jobs.imports import import_error_text
from netinv_extras.jobs.modules import JobSource, load
from netinv_testing import Service
from netinv_web.testing import Browser
from tests.support.jobs import PATH, RESULTS, SITES, ask, job, logs, result, service, work

pytestmark = pytest.mark.any_database
__all__ = ["ask", "job", "service"]
Ask, Find = Callable[..., Any], Callable[[str], Any]


@pytest.fixture
def site(service: Service) -> Any:
    return service.api.post(SITES, {"name": service.unique(), "status": "active"})


# -- settings


def test_members_of_meta_are_the_settings_of_the_job(service: Service, job: Find) -> None:
    declared = job("Declared")
    shown = {name: declared[name] for name in META if name in declared}
    assert shown == {
        "name": "Everything declared",
        "grouping": "Ported",
        "description": "A job with every setting.",
        "read_only": True,
        "commit_default": False,
        "has_sensitive_variables": False,
        "approval_required": True,
        "hidden": True,
        "soft_time_limit": 20.0,
        "time_limit": 30.5,
        "task_queues": ["slow", "default"],
    }
    variables = [item["name"] for item in service.api.get(f"{declared['url']}variables/")]
    assert variables == ["second", "name", "first", "description"]
    assert job("Keywords")["commit_default"] is False  # dryrun_default


def test_a_run_is_limited_by_what_meta_says(service: Service, job: Find, ask: Ask) -> None:
    schedule = service.api.get(ask("Declared", body={"commit": True})["url"])
    assert (schedule["name"].startswith("Everything declared"), schedule["queue"]) == (True, "slow")
    assert schedule["approval_required"] is True
    assert ask("Declared", status=400, body={"task_queue": "fast"}) == {"task_queue": ['"fast" is not a valid choice.']}
    page = Browser(service, service.admin).get(f"/extras/jobs/{job('Declared')['id']}/run/", status=200).html
    assert page.select_one("#field-commit") is None and "Another user has to approve" in page.text
    assert [item["value"] for item in page.select("#field-task_queue option") if item["value"]] == ["slow", "default"]
    assert page.select_one("[name=var-name]").find_previous("[name=var-second]") is None


def test_a_meta_replaces_that_of_the_base_class() -> None:
    class Base(Job):
        read_only = True

        class Meta:
            hidden = True

    class Inheriting(Base):
        pass

    class Replacing(Base):
        class Meta:
            name = "Other"

    class Extending(Base):
        class Meta(Base.Meta):
            name = "More"

    shown = [
        (settings_of(kind)["hidden"], settings_of(kind)["read_only"]) for kind in (Inheriting, Replacing, Extending)
    ]
    assert shown == [(True, True), (False, True), (True, True)]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"aproval_required": True}, "netinv has no setting Meta.aproval_required: known are name, grouping"),
        ({"template_name": "x.html"}, "netinv has no setting Meta.template_name: the form of a job is made from its"),
        ({"is_singleton": True}, "netinv has no setting Meta.is_singleton: runs of a job are not limited"),
        ({"read_only": "yes"}, "Meta.read_only is 'yes'; it takes True or False"),
        ({"time_limit": -1}, "Meta.time_limit is -1; it takes a number of seconds, 0 or more"),
        ({"soft_time_limit": True}, "Meta.soft_time_limit is True; it takes a number"),
        ({"task_queues": "slow"}, "Meta.task_queues is 'slow'; it takes a list of texts"),
        ({"name": None}, "Meta.name is None; it takes a text"),
        ({"commit_default": True, "dryrun_default": True}, "Meta has both commit_default and dryrun_default"),
    ],
)
def test_a_setting_that_cannot_be_honoured_is_refused(members: dict[str, Any], message: str) -> None:
    with pytest.raises(JobDefinitionError) as refused:
        type("Refused", (Job,), {"Meta": type("Meta", (), members)})
    assert str(refused.value).startswith(f"Refused: {message}")


@pytest.mark.parametrize("name", ["before_start", "on_success", "on_failure", "on_retry", "after_return"])
def test_a_method_that_would_never_be_called_is_refused(name: str) -> None:
    with pytest.raises(JobDefinitionError, match=rf"Refused: {name}\(\) is never called"):
        type("Refused", (Job,), {name: lambda self: None})


def test_a_variable_of_objects_takes_the_label_of_its_model() -> None:
    with pytest.raises(TypeError, match="takes a label such as"):
        ObjectVar(model=Job)


# -- runs


def test_log_methods_take_the_object_first_or_second(service: Service, ask: Ask, site: Any) -> None:
    asked = ask("Tested", site=site["id"])
    work(service)
    entries = service.api.get(f"{RESULTS}{asked['id']}/logs/")
    shown = [(item["log_level"], item["message"], item["log_object"], item["grouping"]) for item in entries]
    name = site["display"]
    assert shown == [
        ("default", "plain", None, "run"),
        ("default", "more", None, "run"),
        ("info", "object first", name, "run"),
        ("success", "object second", name, "run"),
        ("warning", "by names", name, "run"),
        ("info", "only a message", None, "run"),
        ("info", "no object", None, "run"),
        ("success", "two texts", "core-1", "run"),
        ("info", "logged it", name, "checks"),
        ("failure", "no failure", None, "run"),
        ("success", "a is fine", None, "test_a"),
        ("success", "b is fine", None, "test_b"),
        ("info", "False 2", None, "post_run"),
    ]
    ended = result(service, asked)
    user = service.admin.username
    assert ended["status"]["value"] == "completed"
    assert ended["data"] == {"output": f"\n{user} {user}\nb\nafterwards"}
    assert service.api.get(SITES, {"name": ended["job_id"]})["count"] == 1  # post_run belongs to the transaction


@pytest.mark.parametrize(("word", "status"), [("failing", "failed"), ("raising", "errored")])
def test_post_run_follows_an_exception_and_cannot_write(service: Service, ask: Ask, word: str, status: str) -> None:
    asked = ask("Tested", fail=word)
    work(service)
    ended = result(service, asked)
    assert ended["status"]["value"] == status
    assert [message for _, message in logs(service, asked)][-2:] == [
        "True 2",
        "The job has failed: post_run can no longer write.",
    ]
    assert service.api.get(SITES, {"name": [word, ended["job_id"]]})["count"] == 0


def test_versions_before_1_3_list_the_tests(service: Service, job: Find) -> None:
    shown = service.api.get(f"{PATH}local/ported/Tested/", version="1.2")
    assert shown["test_methods"] == ["test_a", "test_b"]


def test_run_may_take_the_variables_by_name(service: Service, ask: Ask, site: Any) -> None:
    content = base64.b64encode(b"a\nb\n").decode()
    asked = ask("Keywords", site=site["id"], table={"name": "rows.csv", "content": content})
    work(service)
    ended = result(service, asked)
    assert ended["data"] == {"output": f"\nTrue {site['name']} rows.csv [b'a', b'b'] seen"}
    assert ended["job_kwargs"]["data"]["table"] == "rows.csv"
    for value, message in (
        ("text", "Send a file as an object with its name and its content (base64)."),
        ({"name": "x", "content": "%"}, "The content is not base64."),
    ):
        assert ask("Keywords", status=400, table=value) == {"errors": {"table": [message]}}
    later = {"interval": "daily", "name": "n", "start_time": "2100-01-01T00:00:00Z"}
    refused = ask("Keywords", status=400, body={"schedule": later, "data": {"table": {"name": "x", "content": ""}}})
    assert "interval" in refused["schedule"]


def test_a_file_is_sent_with_the_form(service: Service, job: Find) -> None:
    path = f"/extras/jobs/{job('Keywords')['id']}/run/"
    form = Browser(service, service.admin).get(path).form()
    form["var-table"] = webtest.Upload("lines.txt", b"one\ntwo", "text/plain")
    address = form.submit(status=303).headers["Location"]
    work(service)
    ended = service.api.get(f"/api{address.partition('http://localhost')[2] or address}")
    assert "lines.txt [b'one', b'two']" in ended["data"]["output"]


def test_objects_match_the_value_of_another_variable(service: Service, job: Find, ask: Ask, site: Any) -> None:
    regions = [service.api.post("/api/dcim/regions/", {"name": service.unique()}) for _ in range(2)]
    service.api.patch(site["url"], {"region": regions[0]["id"]})
    assert ask("Keywords", region=regions[0]["id"], site=site["id"])["id"]
    assert ask("Keywords", site=site["id"])["id"]
    refused = ask("Keywords", status=400, region=regions[1]["id"], site=site["id"])
    assert list(refused["errors"]) == ["site"]
    page = Browser(service, service.admin).get(f"/extras/jobs/{job('Keywords')['id']}/run/", status=200).html
    picker = page.select_one(".picker:has(#field-var-site)")
    assert (picker["data-depends-on"].strip(), picker["data-parameters"]) == ("var-region:region_id", "status=active")


# -- imports


def error_of(code: str) -> str:
    """The error of the import of a module."""
    origin = "/jobs/mine.py"
    _, errors = load(f"{LOCAL_PACKAGE}_tried", {"mine": JobSource(code.encode(), origin)})
    return import_error_text(errors["mine"], origin)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "import os\nfrom nautobot.dcim.models import Device\n",
            "line 2: ModuleNotFoundError: there is no module nautobot",
        ),
        (
            "from django.db import transaction\n",
            "line 1: ModuleNotFoundError: there is no module django in netinv: see",
        ),
        ("from nautobot.extras.jobs import Script\n", "line 1: ImportError: cannot import name 'Script'"),
        (
            "from nautobot.extras.jobs import Job\n\nclass A(Job):\n    class Meta:\n        aproval_required = True\n",
            "line 3: JobDefinitionError: A: netinv has no setting Meta.aproval_required",
        ),
    ],
)
def test_what_a_module_cannot_import_is_said_with_its_line(code: str, message: str) -> None:
    text = error_of(code)
    assert text.startswith(message)
    assert "docs/jobs-from-nautobot.md" in text


def test_an_import_that_the_module_guards_is_no_error() -> None:
    code = "try:\n    from nautobot.core.x import y\nexcept ImportError:\n    from nautobot.extras import jobs\n"
    modules, errors = load(f"{LOCAL_PACKAGE}_tried", {"mine": JobSource(code.encode(), "/jobs/mine.py")})
    assert errors == {}
    assert modules["mine"].jobs.Job is Job


def test_files_that_cannot_be_imported_are_findings(service: Service, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("from nautobot.dcim.models import Device\n")
    with service.configured(jobs_root=str(tmp_path)):
        finding, *_ = feature.netinv_checks(service.engine, service.registry)
    assert finding.message.startswith("old.py cannot be imported: line 1: ModuleNotFoundError: there is no module")
