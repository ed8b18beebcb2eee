"""Jobs: asked for over HTTP, run by a worker in processes of their own, recorded, and never left running."""

from __future__ import annotations

import ast
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from netinv_admin.commands.cli import cli
from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.models.base import table_of
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs.results import JobResult
from netinv_testing import Service
from tests.support.jobs import JOBS, PATH, RESULTS, SITES, ask, job, logs, result, service, work

__all__ = ["ask", "job", "service"]
_result, _change = table_of(JobResult), table_of(ObjectChange)
NAMES = ("Asks", "Audit", "Echo", "Facility", "Linger", "MakeSites", "Marker", "Outside", "Watcher")


# -- what there is


def test_classes_in_the_folder_become_jobs_that_are_not_enabled(service: Service) -> None:
    found = {item["job_class_name"]: item for item in service.api.get(PATH, {"module_name": "examples"})["results"]}
    assert tuple(sorted(found)) == NAMES
    echo = found["Echo"]
    assert (echo["source"], echo["module_name"], echo["slug"]) == ("local", "examples", "local-examples-echo")
    assert (echo["grouping"], echo["name"], echo["display"]) == ("Examples", "Echo", "Echo")
    assert (echo["description"], echo["commit_default"], echo["has_sensitive_variables"]) == (
        "Says what it was given.",
        False,
        True,
    )
    audit = found["Audit"]
    assert (audit["grouping"], audit["name"], audit["read_only"], audit["task_queues"]) == (
        "Audits",
        "Audit of sites",
        True,
        ["audits", "default"],
    )
    assert (audit["soft_time_limit"], audit["time_limit"]) == (20.0, 30.0)
    assert (found["Watcher"]["is_job_hook_receiver"], found["Marker"]["is_job_button_receiver"]) == (True, True)


def test_a_new_class_is_found_a_gone_one_is_told_and_overrides_stay(service: Service, tmp_path: Path) -> None:
    text = "from netinv_extras.jobs import Job\n\nclass {}(Job):\n    description = 'first'\n    def run(self, data, commit):\n        pass\n"
    (tmp_path / "things.py").write_text(text.format("One"))

    def refreshed() -> dict[str, Any]:
        with service.configured(jobs_root=str(tmp_path)), service.unit_of_work() as uow:
            job_models.refresh(uow)
        return {item["job_class_name"]: item for item in service.api.get(PATH, {"module_name": "things"})["results"]}

    try:
        one = refreshed()["One"]
        assert (one["installed"], one["enabled"]) == (True, False)
        with service.configured(jobs_root=str(tmp_path)):
            service.api.patch(one["url"], {"description": "mine", "description_override": True, "enabled": True})
            refused = service.api.patch(one["url"], {"name": "mine"}, status=400)
            assert list(refused) == ["name"]
        (tmp_path / "things.py").write_text(text.format("One").replace("first", "second") + text.format("Two"))
        found = refreshed()
        assert (found["One"]["description"], found["Two"]["description"]) == ("mine", "first")
        with service.configured(jobs_root=str(tmp_path)):
            assert service.api.patch(one["url"], {"description_override": False})["description"] == "second"
        (tmp_path / "things.py").write_text(text.format("Two"))
        found = refreshed()
        assert (found["One"]["installed"], found["One"]["enabled"], found["Two"]["installed"]) == (False, True, True)
        refused = service.api.post(f"{one['url']}run/", {}, status=403)
        assert refused == {"detail": "This job is not presently installed and cannot be run."}
        service.api.get(f"{one['url']}variables/", status=403)
    finally:
        with service.unit_of_work() as uow:
            job_models.refresh(uow)
        service.api.delete(
            PATH, [{"id": item["id"]} for item in service.api.get(PATH, {"module_name": "things"})["results"]]
        )


def test_variables_are_described(service: Service, job: Callable[[str], Any]) -> None:
    found = {item["name"]: item for item in service.api.get(f"{job('Echo')['url']}variables/")}
    assert found["text"] == {
        "name": "text",
        "type": "StringVar",
        "help_text": "some text",
        "required": True,
        "min_length": 1,
        "max_length": 20,
    }
    assert found["num"] == {
        "name": "num",
        "type": "IntegerVar",
        "required": False,
        "min_value": 1,
        "max_value": 9,
        "default": 3,
    }
    assert found["flag"] == {"name": "flag", "type": "BooleanVar", "required": False}
    assert found["pick"] == {
        "name": "pick",
        "type": "ChoiceVar",
        "required": False,
        "choices": [["a", "A"], ["b", "B"]],
    }
    assert found["site"] == {"name": "site", "type": "ObjectVar", "required": False, "model": "dcim.site"}
    assert found["prose"]["label"] == "Prose"
    receiver = service.api.get(f"{job('Marker')['url']}variables/")
    assert receiver == [
        {"name": name, "type": "StringVar", "required": True} for name in ("object_pk", "object_model_name")
    ]


def test_versions_before_1_3_list_classes(service: Service, job: Callable[[str], Any], ask: Callable[..., Any]) -> None:
    asked = ask("MakeSites", word=service.unique())
    page = service.api.get(PATH, {"source": "local", "module_name": "examples", "limit": 0}, version="1.2")
    found = page["results"]
    assert sorted(item["id"] for item in found) == sorted(f"local/examples/{name}" for name in NAMES)
    second = service.api.get(
        PATH, {"source": "local", "module_name": "examples", "limit": 1, "offset": 1}, version="1.2"
    )
    assert (second["count"], second["results"]) == (page["count"], [found[1]])
    shown = next(item for item in found if item["id"] == "local/examples/MakeSites")
    assert (shown["pk"], shown["test_methods"], shown["vars"]) == (
        job("MakeSites")["id"],
        [],
        {"word": "StringVar", "then": "StringVar"},
    )
    assert (shown["result"]["id"], shown["result"]["status"]["value"]) == (asked["id"], "pending")
    assert service.api.get(shown["url"])["id"] == "local/examples/MakeSites"
    answered = service.api.post(f"{shown['url']}run/", {"data": {"word": "x"}}, status=200, version="1.2")
    assert answered["result"]["job_model"]["id"] == shown["pk"] and answered["result"]["job_kwargs"] == {
        "data": {"word": "x", "then": ""},
        "commit": True,
    }
    service.api.get(f"{PATH}local/examples/Nothing/", status=404)
    service.api.delete(RESULTS, [{"id": asked["id"]}, {"id": answered["result"]["id"]}])


# -- asking


@pytest.mark.parametrize(
    ("data", "errors"),
    [
        ({}, {"text": ["This field is required."]}),
        ({"text": "x", "num": 99}, {"num": ["Ensure this value is less than or equal to 9."]}),
        ({"text": "x", "num": 0}, {"num": ["Ensure this value is greater than or equal to 1."]}),
        ({"text": "x", "num": "one"}, {"num": ["Enter a whole number."]}),
        ({"text": "x", "bogus": 1}, {"bogus": ["Job data contained an unknown property"]}),
        ({"text": "x" * 21}, {"text": ["Ensure this value has at most 20 characters (it has 21)."]}),
        ({"text": "#"}, {"text": ["Enter a valid value."]}),
        ({"text": {}}, {"text": ["Not a valid string."]}),
        ({"text": "a\x00"}, {"text": ["Null characters are not allowed."]}),
        ({"text": "x", "flag": "maybe"}, {"flag": ["Must be a valid boolean."]}),
        ({"text": "x", "pick": "c"}, {"pick": ["Select a valid choice. c is not one of the available choices."]}),
        ({"text": "x", "picks": "a"}, {"picks": ["Enter a list of values."]}),
        (
            {"text": "x", "picks": ["a", "z"]},
            {"picks": ["Select a valid choice. z is not one of the available choices."]},
        ),
        (
            {"text": "x", "site": "zz"},
            {
                "site": [
                    "Related objects must be referenced by ID or by dictionary of attributes. Received an unrecognized value: zz"
                ]
            },
        ),
        (
            {"text": "x", "site": {"name": "no such"}},
            {"site": ["Related object not found using the provided attributes: {'name': 'no such'}"]},
        ),
        ({"text": "x", "site": {"region__name__x": []}}, ...),
        ({"text": "x", "sites": {"a": 1}}, {"sites": ["Enter a list of values."]}),
        ({"text": "x", "address": "10.0.0.0/8"}, {"address": ["Invalid IPv4/IPv6 address format: 10.0.0.0/8"]}),
        ({"text": "x", "interface": "10.0.0.1"}, {"interface": ["CIDR mask (e.g. /24) is required."]}),
        (
            {"text": "x", "network": "10.0.0.1/24"},
            {"network": ["10.0.0.1/24 is not a valid prefix. Did you mean 10.0.0.0/24?"]},
        ),
        ({"text": "x", "network": "10.0.0.0/25"}, {"network": ["The prefix length must be less than or equal to 24."]}),
        ("zz", ["Job data needs to be a dict"]),
    ],
)
def test_input_that_does_not_fit_is_refused(
    service: Service, job: Callable[[str], Any], data: Any, errors: Any
) -> None:
    refused = service.api.post(f"{job('Echo')['url']}run/", {"data": data, "commit": True}, status=400)
    assert list(refused) == ["errors"] and (errors is ... or refused["errors"] == errors)


def test_the_rest_of_a_request_is_checked_too(service: Service, ask: Callable[..., Any]) -> None:
    for body, refused in (
        ({"commit": "maybe"}, {"commit": ["Must be a valid boolean."]}),
        ({"task_queue": "nowhere"}, {"task_queue": ['"nowhere" is not a valid choice.']}),
        ({"schedule": {"interval": "nope"}}, {"schedule": {"interval": ['"nope" is not a valid choice.']}}),
        ({"schedule": {}}, {"schedule": {"interval": ["This field is required."]}}),
        ({"schedule": 5}, {"schedule": {"non_field_errors": ["Invalid data. Expected a dictionary, but got int."]}}),
        (
            {"schedule": {"interval": "future"}},
            {"schedule": {name: ["This field is required."] for name in ("name", "start_time")}},
        ),
        (
            {"schedule": {"interval": "daily", "name": "n", "start_time": "2001-01-01T00:00:00Z"}},
            {"schedule": {"start_time": ["The time must not be in the past."]}},
        ),
        ({"schedule": {"interval": "custom", "name": "n"}}, {"schedule": {"crontab": ["This field is required."]}}),
        (
            {"schedule": {"interval": "custom", "name": "n", "crontab": "61 * * * *"}},
            {"schedule": {"crontab": ["“61” is no minute (0 to 59)."]}},
        ),
        (
            {"schedule": {"interval": "custom", "name": "n", "crontab": "0 0 31 2 *"}},
            {"schedule": {"crontab": ["There is no such date."]}},
        ),
    ):
        assert ask("MakeSites", status=400, body=body, word="w") == refused
    for junk in ([], "zz", None, 5):
        service.api.post(
            f"{PATH}{service.api.get(PATH, {'job_class_name': 'Echo'})['results'][0]['id']}/run/", junk, status=400
        )
    secret = ask(
        "Echo",
        status=400,
        body={"schedule": {"interval": "future", "name": "n", "start_time": "2050-01-01T00:00:00Z"}},
        text="x",
    )
    assert list(secret["schedule"]) == ["interval"]


def test_only_who_may_run_a_job_does(service: Service, job: Callable[[str], Any]) -> None:
    echo, other = job("Echo"), job("MakeSites")
    body = {"data": {"text": "x"}}
    reader = service.user(("view", "extras.job"))
    runner = service.user(("view run", "extras.job", {"job_class_name": "Echo"}))
    blind = service.user(("run", "extras.job"))
    frozen = service.user(("view run", "extras.job"), write_enabled=False)
    for someone, item, status in (
        (reader, echo, 403),
        (runner, other, 404),
        (frozen, echo, 403),
        (runner, echo, 201),
        (blind, echo, 201),
    ):
        someone.api.post(f"{item['url']}run/", body, status=status)
    service.anonymous.post(f"{echo['url']}run/", body, status=403)
    runner.api.post(f"{PATH}local/examples/Echo/run/", body, status=200)
    runner.api.post(f"{PATH}local/examples/MakeSites/run/", {"data": {"word": "w"}}, status=404)
    service.api.patch(echo["url"], {"enabled": False})
    assert runner.api.post(f"{echo['url']}run/", body, status=403) == {"detail": "This job is not enabled to be run."}
    service.api.patch(echo["url"], {"enabled": True})
    site = service.api.post(SITES, {"name": service.unique(), "status": "active"})
    refused = runner.api.post(f"{echo['url']}run/", {"data": {"text": "x", "site": site["id"]}}, status=400)
    assert refused == {
        "errors": {"site": [f"Select a valid choice. {site['id']} is not one of the available choices."]}
    }
    work(service)


def test_asking_takes_as_many_statements_for_many_objects_as_for_few(
    service: Service, job: Callable[[str], Any]
) -> None:
    sites = service.api.post(SITES, [{"name": service.unique(), "status": "active"} for _ in range(30)])
    counts = []
    for some in (sites[:2], sites):
        with service.statements() as found:
            service.api.post(
                f"{job('Echo')['url']}run/", {"data": {"text": "x", "sites": [item["id"] for item in some]}}
            )
        counts.append(len(found))
    assert counts[0] == counts[1] <= 10
    work(service)


# -- running


def test_a_job_is_run_with_its_values(service: Service, ask: Callable[..., Any]) -> None:
    site = service.api.post(SITES, {"name": service.unique(), "status": "active"})
    asked = ask(
        "Echo",
        body={"commit": True},
        text="x",
        site={"name": site["name"]},
        sites=[site["id"]],
        network="10.0.0.0/24",
        picks=["a", "2"],
    )
    assert (asked["status"], asked["completed"], asked["name"]) == (
        {"value": "pending", "label": "Pending"},
        None,
        "local/examples/Echo",
    )
    assert asked["user"]["username"] == service.admin.username
    work(service)
    done = result(service, asked)
    assert done["status"] == {"value": "completed", "label": "Completed"} and done["completed"] >= done["created"]
    kinds = dict.fromkeys(("text", "pick", "prose"), "str") | {
        "num": "int",
        "flag": "bool",
        "picks": "list",
        "site": "dict",
        "sites": "list",
    }
    kinds |= {"address": "NoneType", "interface": "NoneType", "network": "IPNetwork"}
    assert done["data"]["output"].startswith("\nTrue 3 False '' ['a', 2] 256 ")
    assert ast.literal_eval(done["data"]["output"].partition("256 ")[2]) == kinds
    asked_at = done["created"].partition(".")[0].rstrip("Z").replace("T", " ")
    assert (done["display"], done["obj_type"], done["job_kwargs"], done["schedule"]) == (
        f"Echo {asked_at} UTC",
        "extras.job",
        None,
        None,
    )
    entries = service.api.get(f"{RESULTS}{asked['id']}/logs/")
    assert [(item["display"], item["log_level"], item["log_object"], item["grouping"]) for item in entries] == [
        ("got x", "info", None, "run"),
        ("done", "success", site["name"], "run"),
    ]
    assert entries[1]["absolute_url"] == f"{SITES}{site['id']}/"
    listed = service.api.get("/api/extras/job-logs/", {"job_result": asked["id"]})["results"]
    assert [item["message"] for item in listed] == ["got x", "done"] and listed[0]["display"].endswith("+00:00")


def test_what_a_job_writes_is_validated_recorded_and_told(service: Service, ask: Callable[..., Any]) -> None:
    word = service.unique()
    hook = service.api.post(
        "/api/extras/webhooks/",
        {"name": word, "content_types": ["dcim.site"], "type_create": True, "payload_url": "http://r.example.com/"},
    )
    asked = ask("MakeSites", word=word)
    work(service)
    done = result(service, asked)
    assert (done["status"]["value"], done["data"]) == ("completed", {"output": "\nchanged"})
    assert [item["name"] for item in service.api.get(SITES, {"name__isw": word})["results"]] == [
        f"{word} 0",
        f"{word} 1",
    ]
    assert [level for level, _ in logs(service, asked)] == ["success", "warning"]
    rows = service.rows(
        sa.select(*record_columns())
        .where(_change.c.request_id == uuid.UUID(done["job_id"]))
        .order_by(_change.c.position)
    )
    assert [(row.action, row.object_repr, row.user_name) for row in rows] == [
        ("create", f"{word} {n}", service.admin.username) for n in (0, 1)
    ]
    assert rows[0].after["facility"] == "changed"
    assert service.api.get("/api/extras/webhook-deliveries/", {"webhook": hook["id"]})["count"] == 2
    service.api.delete(hook["url"])


@pytest.mark.parametrize(
    ("then", "commit", "status", "said"),
    [
        ("", False, "completed", [("info", "Database changes have been reverted automatically.")]),
        (
            "raise",
            True,
            "errored",
            [
                ("failure", "An exception occurred: `RuntimeError: on purpose`"),
                ("info", "Database changes have been reverted due to error."),
            ],
        ),
        *(
            (
                method,
                True,
                "errored",
                [
                    (
                        "failure",
                        "An exception occurred: `RuntimeError: the session of a unit of work is not "
                        f"{ended} by hand: {instead}`",
                    ),
                    ("info", "Database changes have been reverted due to error."),
                ],
            )
            for method, ended, instead in (
                ("rollback", "rolled back", "raise an error, or use uow.savepoint()"),
                ("commit", "committed", "what is written is committed at the end of the unit of work"),
                ("close", "closed", "the unit of work closes it at its end"),
            )
        ),
        (
            "fail",
            True,
            "failed",
            [("failure", "it is not to be"), ("info", "Database changes have been reverted due to error.")],
        ),
        (
            "log failure",
            True,
            "failed",
            [("failure", "something is wrong"), ("info", "Database changes have been reverted automatically.")],
        ),
    ],
)
def test_what_does_not_end_well_or_is_but_tried_leaves_nothing(
    service: Service, ask: Callable[..., Any], then: str, commit: bool, status: str, said: list[tuple[str, str]]
) -> None:
    word = service.unique()
    asked = ask("MakeSites", body={"commit": commit}, word=word, then=then)
    work(service)
    done = result(service, asked)
    assert done["status"]["value"] == status
    assert [(level, message.splitlines()[0]) for level, message in logs(service, asked)][2:] == said
    assert service.api.get(SITES, {"name__isw": word})["count"] == 0
    assert service.rows(sa.select(_change.c.id).where(_change.c.request_id == uuid.UUID(done["job_id"]))) == []


def test_a_read_only_job_writes_nothing(service: Service, ask: Callable[..., Any]) -> None:
    asked = ask("Audit", body={"commit": True, "task_queue": "audits"})
    work(service)
    assert result(service, asked)["status"]["value"] == "completed"
    assert service.api.get(SITES, {"name": "never"})["count"] == 0


def test_input_is_sealed_until_the_job_is_done_and_then_gone(service: Service, ask: Callable[..., Any]) -> None:
    asked = ask("Echo", text="s3cret-s3cret")
    (row,) = service.rows(sa.select(_result).where(_result.c.id == uuid.UUID(asked["id"])))
    assert row.arguments and "s3cret" not in str(row._mapping)
    work(service)
    (row,) = service.rows(sa.select(_result).where(_result.c.id == uuid.UUID(asked["id"])))
    assert (row.arguments, row.job_kwargs, row.claimed_by, row.claimed_until) == ("", None, None, None)


def test_what_became_unfit_meanwhile_is_not_run(
    service: Service, job: Callable[[str], Any], ask: Callable[..., Any]
) -> None:
    runner = service.user(("view run", "extras.job"), ("view", "dcim.site"))
    site = service.api.post(SITES, {"name": service.unique(), "status": "active"})
    disabled, orphaned = ask("MakeSites", word="w"), ask("Echo", runner.api, text="x")
    lost = ask("Echo", text="x", site=site["id"])
    service.api.patch(job("MakeSites")["url"], {"enabled": False})
    service.api.patch(f"/api/users/users/{runner.id}/", {"is_active": False})
    service.api.delete(f"{SITES}{site['id']}/")
    work(service)
    service.api.patch(job("MakeSites")["url"], {"enabled": True})
    for asked, reason in (
        (disabled, "This job is not enabled to be run."),
        (orphaned, "Whoever asked for this job has no active account any more, or may not run it."),
        (lost, "What was chosen for site is no longer there."),
    ):
        assert result(service, asked)["status"]["value"] == "errored"
        assert logs(service, asked) == [("failure", reason)]


# -- for those who operate it


def test_it_is_told_what_waits(service: Service, ask: Callable[..., Any]) -> None:
    asked = ask("MakeSites", word="w")
    found = service.api.get("/api/status/")["jobs"]
    assert (found["pending"], found["running"]) == (1, 0) and found["oldest_pending_seconds"] >= 0
    lines = service.api.send("GET", "/metrics", status=200).text.splitlines()
    assert 'netinv_jobs{status="pending"} 1.0' in lines and 'netinv_jobs{status="running"} 0.0' in lines
    service.api.delete(RESULTS, [{"id": asked["id"]}])
    assert service.api.get("/api/status/")["jobs"] == {"pending": 0, "running": 0, "oldest_pending_seconds": None}


def test_commands_list_jobs_and_find_them_anew(service: Service, tmp_path: Path) -> None:
    ini = tmp_path / "netinv.ini"
    url = service.engine.url.render_as_string(hide_password=False)
    secret, jobs = service.settings["secret"], JOBS["netinv.jobs_root"]
    lines = [
        "[app:main]",
        "use = egg:netinv-core",
        f"netinv.database_url = {url}",
        f"netinv.secret = {secret}",
        f"netinv.jobs_root = {jobs}",
    ]
    logging = [
        "[loggers]",
        "keys = root",
        "[handlers]",
        "keys =",
        "[formatters]",
        "keys =",
        "[logger_root]",
        "level = CRITICAL",
        "handlers =",
    ]
    ini.write_text("\n".join([*lines, *logging]).replace("%", "%%"))
    listed = CliRunner().invoke(cli, ["-c", str(ini), "jobs", "list"], env={"COLUMNS": "120"})
    assert listed.exit_code == 0 and "local/examples/Echo" in listed.output and "Examples: Echo" in listed.output
    refreshed = CliRunner().invoke(cli, ["-c", str(ini), "jobs", "refresh"])
    assert refreshed.stdout.endswith("0 added, 0 changed, 0 gone\n")
    assert refreshed.stderr.startswith("broken.py cannot be imported: line 3: ModuleNotFoundError")
