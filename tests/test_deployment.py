"""Files of `deploy/` that need neither a container engine nor a cluster to be checked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from netinv_core.main import read_settings
from tests.support import REPOSITORY
from tests.support.deploy_files import ini

pytestmark = pytest.mark.any_database
DEPLOY = REPOSITORY / "deploy"
VERSION = (REPOSITORY / "VERSION").read_text().strip()
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


def test_the_settings_of_the_containers_are_valid() -> None:
    section = dict(ini(DEPLOY / "container/production.ini")["app:main"])
    del section["netinv.secret_file"]
    settings, _ = read_settings({**section, "netinv.secret": "x" * 32})
    compose: Any = yaml.safe_load((DEPLOY / "container/compose.yaml").read_text())
    assert {"service", "worker", "migrate", "proxy", "database", "queue"} == set(compose["services"])
    assert "@database:" in settings["database_url"]
    assert "//queue:" in settings["queue_url"]


def test_containers_of_netinv_have_no_privileges_and_a_read_only_root() -> None:
    compose: Any = yaml.safe_load((DEPLOY / "container/compose.yaml").read_text())
    for name in ("service", "worker", "migrate"):
        container = compose["services"][name]
        assert (container["read_only"], container["cap_drop"], container["user"]) == (True, ["ALL"], "10001:10001")
    lines = (DEPLOY / "container/Containerfile").read_text().splitlines()
    assert "USER 10001:10001" in lines
    assert any("/health/live" in line for line in lines)


def test_the_workflow_builds_and_lints_files_that_exist() -> None:
    """Hosted machines run the workflow itself."""
    workflow: Any = yaml.safe_load((REPOSITORY / ".github/workflows/image.yml").read_text())
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    named = {path for command in commands for path in re.findall(r"deploy/[\w./-]+", command)} - {
        "deploy/container/secret"
    }
    assert len(named) == 3 and all((REPOSITORY / path).exists() for path in named)


WORKFLOWS = [*(REPOSITORY / ".github/workflows").glob("*.yml"), REPOSITORY / "netinv_admin/plugin_files/ci.yml.in"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_leave_no_credentials_to_what_they_run(path: Path) -> None:
    workflow: Any = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"].values()
    checkouts = [step for job in jobs for step in job["steps"] if "checkout" in step.get("uses", "")]
    assert checkouts and all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_the_chart_has_the_version_of_netinv() -> None:
    chart: Any = yaml.safe_load((DEPLOY / "helm/netinv/Chart.yaml").read_text())
    values: Any = yaml.safe_load((DEPLOY / "helm/netinv/values.yaml").read_text())
    assert (chart["version"], chart["appVersion"], values["image"]) == (VERSION, VERSION, f"netinv:{VERSION}")


def test_templates_of_the_chart_name_values_that_it_has() -> None:
    values: Any = yaml.safe_load((DEPLOY / "helm/netinv/values.yaml").read_text())
    for path in (DEPLOY / "helm/netinv/templates").iterdir():
        for name in re.findall(r"\.Values\.([\w.]+)", path.read_text()):
            value = values
            for step in name.split("."):
                assert step in value, f"{path.name}: {name}"
                value = value[step]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_run_without_privileges(path: Path) -> None:
    service = ini(path)["Service"]
    assert service["user"] == "netinv"
    assert service["nonewprivileges"] == service["memorydenywriteexecute"] == "yes"
    assert service["protectsystem"] == "strict"
    assert service["capabilityboundingset"] == ""
    assert service["execstart"].startswith("/opt/netinv/bin/")
