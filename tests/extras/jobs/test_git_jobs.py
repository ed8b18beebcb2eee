"""Jobs that Git repositories bring: what the modules say is what is run, and no more than the operator allows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_extras.git.worker import sync_now
from netinv_extras.jobs import runner as job_running
from netinv_testing import Service
from tests.support.git_remotes import Remote

REPOSITORIES, JOBS, RESULTS, SITES = (
    "/api/extras/git-repositories/",
    "/api/extras/jobs/",
    "/api/extras/job-results/",
    "/api/dcim/sites/",
)
SHARED = "PREFIX = 'from git '\n"
BRANCHES = """
from netinv_extras.jobs import Job, StringVar
from ._shared import PREFIX

name = "Branches"

class NewBranch(Job):
    description = "{description}"
    has_sensitive_variables = False
    code = StringVar("Letters")

    def run(self, data, commit):
        self.inventory.create("dcim.site", {{"name": data["code"], "status": "planned", "comments": PREFIX + "{word}"}})
        return "made"
"""
AUDIT = "from netinv_extras.jobs import Job\n\nclass Audit(Job):\n    def run(self, data, commit):\n        raise RuntimeError('no')\n"


def files(description: str = "first", word: str = "a") -> dict[str, Any]:
    """A repository's files."""
    return {
        "jobs/branches.py": BRANCHES.format(description=description, word=word),
        "jobs/_shared.py": SHARED,
        "jobs/README.md": "text",
    }


@pytest.fixture
def service(sending_service: Service, tmp_path: Path) -> Iterator[Service]:
    """A service that may run code from repositories of this machine."""
    settings = {"git_protocols": ("file",), "git_root": str(tmp_path / "git"), "git_jobs": True}
    with sending_service.configured(**settings):
        yield sending_service
        for path in (REPOSITORIES, f"{JOBS}?source=git"):
            left = sending_service.api.get(path, {"limit": 0})["results"]
            sending_service.api.delete(path.partition("?")[0], [{"id": item["id"]} for item in left])


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    """A remote repository without commits."""
    return Remote(tmp_path / "remote")


@pytest.fixture
def synced(service: Service, remote: Remote) -> Any:
    """``synced(files)``: what came of the sync of a commit of them; the repository is made by the first one."""
    made: dict[str, Any] = {}

    def sync(changes: dict[str, Any]) -> Any:
        remote.write(changes)
        if not made:
            word = service.unique()
            made.update(
                service.api.post(
                    REPOSITORIES,
                    {"name": word, "slug": word, "remote_url": remote.url, "provided_contents": ["extras.job"]},
                )
            )
        else:
            service.api.post(f"{made['url']}sync/", status=200)
        sync_now(service.engine, service.registry)
        return service.api.get(f"{made['url']}sync/") | {"repository": made}

    return sync


def jobs(service: Service) -> dict[str, Any]:
    """The jobs of repositories, by class."""
    return {item["job_class_name"]: item for item in service.api.get(JOBS, {"source": "git", "limit": 0})["results"]}


def ran(service: Service, job: Any, **data: Any) -> Any:
    """What came of a run."""
    asked = service.api.post(f"{job['url']}run/", {"data": data}, status=201)["job_result"]
    runner = job_running.runner(service.engine, service.registry)
    runner.poll()
    assert runner.wait(60)
    return service.api.get(f"{RESULTS}{asked['id']}/")


@pytest.mark.night
def test_a_class_in_a_repository_becomes_a_job_that_is_enabled_and_run(service: Service, synced: Any) -> None:
    outcome = synced(files())
    assert (outcome["state"], outcome["refused"], outcome["created"]) == ("succeeded", [], 1)
    assert outcome["objects"] == [{"object_type": "extras.job", "name": "branches/NewBranch", "outcome": "created"}]
    job, slug = jobs(service)["NewBranch"], outcome["repository"]["slug"]
    assert (job["source"], job["module_name"], job["grouping"], job["description"]) == (
        "git",
        "branches",
        "Branches",
        "first",
    )
    assert (job["installed"], job["enabled"], job["slug"]) == (True, False, f"git-{slug}-branches-newbranch")
    assert service.api.get(f"{job['url']}variables/")[0]["name"] == "code"
    service.api.post(f"{job['url']}run/", {"data": {"code": "x"}}, status=403)
    service.api.patch(job["url"], {"enabled": True})
    name = service.unique()
    assert ran(service, job, code=name)["status"]["value"] == "completed"
    (site,) = service.api.get(SITES, {"name": name})["results"]
    assert site["comments"] == "from git a"


@pytest.mark.night
def test_what_a_commit_changes_is_what_runs_from_then_on(service: Service, synced: Any) -> None:
    synced(files())
    job = jobs(service)["NewBranch"]
    service.api.patch(job["url"], {"enabled": True})
    first, second = service.unique(), service.unique()
    ran(service, job, code=first)
    assert synced(files())["unchanged"] == 1
    outcome = synced(files("second", "b") | {"jobs/audit.py": AUDIT})
    assert sorted((item["name"], item["outcome"]) for item in outcome["objects"]) == [
        ("audit/Audit", "created"),
        ("branches/NewBranch", "updated"),
    ]
    assert (jobs(service)["NewBranch"]["description"], jobs(service)["NewBranch"]["enabled"]) == ("second", True)
    ran(service, job, code=second)
    assert [service.api.get(SITES, {"name": name})["results"][0]["comments"] for name in (first, second)] == [
        "from git a",
        "from git b",
    ]
    synced({"jobs/_shared.py": "PREFIX = 'changed '\n"})
    third = service.unique()
    ran(service, job, code=third)
    assert service.api.get(SITES, {"name": third})["results"][0]["comments"] == "changed b"


def test_a_class_that_leaves_the_repository_is_not_installed_any_more(service: Service, synced: Any) -> None:
    synced(files() | {"jobs/audit.py": AUDIT})
    audit = jobs(service)["Audit"]
    service.api.patch(audit["url"], {"enabled": True})
    assert synced({"jobs/audit.py": None})["deleted"] == 1
    assert (jobs(service)["Audit"]["installed"], jobs(service)["NewBranch"]["installed"]) == (False, True)
    service.api.post(f"{audit['url']}run/", {}, status=403)
    synced({"jobs/audit.py": AUDIT})
    assert (jobs(service)["Audit"]["installed"], jobs(service)["Audit"]["enabled"], jobs(service)["Audit"]["id"]) == (
        True,
        True,
        audit["id"],
    )


@pytest.mark.night
def test_a_failing_job_shows_the_line_of_the_repository(service: Service, synced: Any) -> None:
    slug = synced({"jobs/audit.py": AUDIT})["repository"]["slug"]
    job = jobs(service)["Audit"]
    service.api.patch(
        job["url"], {"enabled": True, "has_sensitive_variables": False, "has_sensitive_variables_override": True}
    )
    result = ran(service, job)
    said = "\n".join(item["message"] for item in service.api.get(f"{RESULTS}{result['id']}/logs/"))
    assert result["status"]["value"] == "errored"
    assert f'File "{slug}:jobs/audit.py", line 5' in said and "raise RuntimeError('no')" in said


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("broken", "class X(:\n", "it is not Python: line 1: invalid syntax"),
        (
            "missing",
            "import tomorrow\n",
            "it cannot be imported: line 1: ModuleNotFoundError: No module named 'tomorrow'",
        ),
        ("leaving", "raise SystemExit(3)\n", "it cannot be imported: line 1: SystemExit: 3"),
        ("no-name", "x = 1\n", "no module can have that name"),
        ("bytes", b"\xff\n", "it is not UTF-8: byte 1"),
    ],
)
def test_a_module_that_is_wrong_is_refused_and_keeps_no_other_out(
    service: Service, synced: Any, name: str, text: Any, reason: str
) -> None:
    outcome = synced(files() | {f"jobs/{name}.py": text})
    assert (outcome["state"], outcome["refused"]) == ("incomplete", [{"file": f"jobs/{name}.py", "reason": reason}])
    assert list(jobs(service)) == ["NewBranch"]


def test_a_module_that_no_longer_reads_stays_as_it_was(service: Service, synced: Any) -> None:
    synced(files())
    assert synced({"jobs/branches.py": "def"})["state"] == "incomplete"
    assert jobs(service)["NewBranch"]["installed"] is True


def test_code_is_not_run_unless_the_operator_allows_it(service: Service, synced: Any, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with service.configured(git_jobs=False):
        outcome = synced({"jobs/x.py": f"open({str(trace)!r}, 'w').write('run')\n{AUDIT}"})
        assert outcome["refused"] == [
            {"file": "", "reason": "The setting netinv.git_jobs does not allow code from repositories."}
        ]
        assert (jobs(service), trace.exists()) == ({}, False)
    assert synced({"README.md": "more"})["created"] == 1 and trace.exists()
    service.api.patch(jobs(service)["Audit"]["url"], {"enabled": True})
    with service.configured(git_jobs=False):
        service.api.post(f"{jobs(service)['Audit']['url']}run/", {}, status=403)
        synced({"README.md": "even more"})
        assert jobs(service)["Audit"]["installed"] is False


@pytest.mark.night
def test_with_the_repository_its_jobs_lose_their_classes_but_not_their_results(
    service: Service, synced: Any, remote: Remote
) -> None:
    repository = synced(files())["repository"]
    job = jobs(service)["NewBranch"]
    service.api.patch(job["url"], {"enabled": True})
    result = ran(service, job, code=service.unique())
    service.api.delete(repository["url"])
    gone = jobs(service)["NewBranch"]
    assert (gone["id"], gone["installed"]) == (job["id"], False)
    assert service.api.get(f"{RESULTS}{result['id']}/")["job_model"]["id"] == job["id"]
    again = {
        "name": repository["name"],
        "slug": repository["slug"],
        "remote_url": remote.url,
        "provided_contents": ["extras.job"],
    }
    service.api.post(REPOSITORIES, again)
    sync_now(service.engine, service.registry)
    found = service.api.get(JOBS, {"source": "git", "installed": True})["results"]
    assert [(item["slug"], item["name"]) for item in found] == [(f"{job['slug']}-2", "NewBranch (2)")]


def test_versions_before_1_3_name_them_by_the_repository(service: Service, synced: Any) -> None:
    slug = synced(files())["repository"]["slug"]
    old = {"Accept": "application/json; version=1.2"}
    service.api.patch(jobs(service)["NewBranch"]["url"], {"enabled": True})
    shown = service.api.get(f"{JOBS}git.{slug}/branches/NewBranch/", headers=old)
    assert (shown["id"], shown["name"], shown["vars"]) == (
        f"git.{slug}/branches/NewBranch",
        "NewBranch",
        {"code": "StringVar"},
    )
    assert shown["id"] in [item["id"] for item in service.api.get(JOBS, {"limit": 0}, headers=old)["results"]]
    assert ran(service, jobs(service)["NewBranch"], code=service.unique())["name"] == f"git.{slug}/branches/NewBranch"
    service.api.get(f"{JOBS}git.elsewhere/branches/NewBranch/", headers=old, status=404)
    service.api.get(f"{JOBS}git/branches/NewBranch/", headers=old, status=404)


def test_a_repository_that_is_renamed_renames_the_paths_of_its_jobs(service: Service, synced: Any) -> None:
    repository = synced(files())["repository"]
    old, slug = {"Accept": "application/json; version=1.2"}, service.unique()
    service.api.patch(repository["url"], {"slug": slug})
    assert service.api.get(f"{JOBS}git.{slug}/branches/NewBranch/", headers=old)["name"] == "NewBranch"
    outcome = synced({"README.md": "more"})
    assert (outcome["created"], outcome["deleted"], len(jobs(service))) == (0, 0, 1)


@pytest.mark.night
def test_a_process_that_does_not_sync_renames_the_paths_of_jobs_too() -> None:
    """A rule registered by the worker's modules alone would be missing in a process that only serves requests."""
    code = """if True:
        from netinv_core.main import registry_for
        from netinv_extras.git.models import GitRepository
        resource = registry_for("sqlite", {}).of_model(GitRepository).resource
        print(*(function.__module__ for function in resource.after_save_functions))
    """
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "netinv_extras.jobs.git_source" in printed.split()
