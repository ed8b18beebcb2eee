"""``netinv jobs check``, and the page about jobs from Nautobot: what it shows runs, and the command finds what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from netinv_admin.commands.cli import cli
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import porting
from netinv_testing import Service
from tests.support import REPOSITORY, SUPPORT
from tests.support.jobs import PATH, job, logs, result, service, work

pytestmark = pytest.mark.any_database
__all__ = ["job", "service"]
SAMPLES = SUPPORT / "nautobot_jobs"
GUIDE = (REPOSITORY / "docs/jobs-from-nautobot.md").read_text()
BLOCKS = re.findall(r"^```python\n# (before|after)\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)
EXPECTED = {  # lines of the samples, each with the beginning of what is found there, or a part of its replacement
    "backup_configs": {3: "from netinv_extras.jobs import Soft", 4: "self.logger", 5: "os.environ", 6: '"dcim.device"', 10: "self.logger", 14: 'model="dcim.device"', 21: "os.environ", 25: 'device["primary_ip"]', 26: "custom_fields", 27: 'update("dcim.device"'},
    "branch_office": {3: "slugs", 4: '"dcim.rack"', 6: '"extras.status"', 10: 'model="dcim.region"', 13: "display_field", 20: '"status": "active"', 21: 'create("dcim.site"', 22: 'update("dcim.site"', 24: 'get("dcim.devicerole"', 26: 'create("dcim.device"', 27: 'site["slug"]', 30: 'list("dcim.rack"'},
    "either_version": {},
    "free_addresses": {4: '"ipam.prefix"', 16: "ordering", 18: 'list("ipam.ipaddress"', 19: 'prefix["prefix"]', 21: 'obj["url"]'},
    "hooks_v2": {4: '"extras.role"', 12: "lock", 14: "never called", 18: "comprehension", 20: "self.log_failure", 22: "never called"},
    "import_circuits": {5: "RequestError", 6: '"circuits.circuit"', 16: "form of a job", 22: 'get("circuits.provider"', 26: "list(", 27: 'create("circuits.circuit"', 29: "remove it", 30: 'update("circuits.circuit"'},
    "locations_v2": {4: '"dcim.location"', 5: '"extras.status"', 11: 'model="dcim.location"', 20: 'list("dcim.device"', 21: 'count("dcim.device"', 22: 'location["name"]', 24: '"status": value', 25: 'update("dcim.location"', 26: "return the text"},
    "on_change": {3: '"dcim.interface"', 14: "device_id", 15: 'interface["connected_endpoint"]', 17: '"description": value', 18: "update(", 23: 'list("dcim.interface"', 24: '"enabled": value', 25: 'update("dcim.interface"', 26: 'obj["name"]'},
    "power_report": {3: '"dcim.powerport"', 11: 'list("dcim.powerport"', 12: 'port["cable"]', 13: 'port["name"]', 16: "name__n", 17: "device", 23: 'count("dcim.device")'},
    "retire_devices": {3: "one transaction", 4: "alternatives", 5: '"dcim.device"', 7: '"extras.tag"', 11: 'model="dcim.device"', 16: "has_sensitive_variables", 20: 'get("extras.status"', 21: 'get("extras.tag"', 22: "one transaction", 24: '"status": value', 25: '"add"', 26: "custom_fields", 27: 'update("dcim.device"', 28: "two lists"},
    "verify_hostnames": {5: '"dcim.site"', 12: 'model="dcim.site"', 21: 'list("dcim.device")', 23: 'list("dcim.device"', 25: 'device["name"]', 28: 'device["name"]'},
    "vlan_audit": {3: "log methods", 5: '"ipam.vlan"', 22: 'list("ipam.vlan")', 23: 'list("ipam.vlan"', 24: 'vlan["vid"]', 25: "log methods"},
}  # fmt: skip


def checked(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["-c", str(REPOSITORY / "development.ini"), "jobs", "check", *arguments])


@pytest.mark.parametrize("name", sorted(path.stem for path in SAMPLES.glob("*.py")))
def test_the_lines_to_change_are_found(name: str) -> None:
    path = SAMPLES / f"{name}.py"
    remarks = porting.check(path.read_bytes(), path.name)
    by_line: dict[int, str] = {}
    for remark in remarks:
        by_line[remark.line] = by_line.get(remark.line, "") + f"{remark.what}: {remark.replacement}\n"
    assert sorted(by_line) == sorted(EXPECTED[name])
    assert {line: text for line, text in by_line.items() if EXPECTED[name][line] not in text} == {}


@pytest.mark.night
def test_the_command_lists_them_and_says_so_with_its_exit_code(tmp_path: Path) -> None:
    found = checked(str(SAMPLES))
    assert found.exit_code == 1
    assert f'{SAMPLES / "branch_office.py"}:10: model=Region\n    model="dcim.region"\n' in found.output
    assert re.search(r"^12 files: \d+ to change$", found.output, flags=re.MULTILINE)
    as_json = checked("--json", str(SAMPLES / "branch_office.py"), str(SAMPLES / "vlan_audit.py"))
    assert as_json.exit_code == 1
    assert json.loads(as_json.output)[0] == {
        "path": str(SAMPLES / "branch_office.py"),
        "line": 3,
        "what": "from django.utils.text import slugify",
        "replacement": "remove it: slugs that are left out are made from names",
    }
    clean = checked(str(SUPPORT / "local_jobs/examples.py"))
    assert (clean.exit_code, clean.output) == (0, "1 files: nothing to change\n")
    assert checked("--json", str(SAMPLES / "either_version.py")).output == "[]\n"
    assert checked(str(tmp_path / "missing.py")).exit_code == 2


def test_a_file_is_never_executed(tmp_path: Path) -> None:
    trap = tmp_path / "trap.py"
    trap.write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')\nraise SystemExit(3)\n")
    assert checked(str(trap)).exit_code == 0
    assert not (tmp_path / "sprung").exists()
    trap.write_text("def broken(:\n")
    assert "trap.py:1: this is not Python" in checked(str(trap)).output


def test_a_missing_name_of_the_job_api_is_found() -> None:
    (remark,) = porting.check(b"from nautobot.apps.jobs import Job, JSONVar\n", "x.py")
    assert (remark.line, remark.what) == (1, "from nautobot.apps.jobs import JSONVar")
    (remark,) = porting.check(b"import nautobot.extras.jobs\n", "x.py")
    assert remark.replacement.startswith("from nautobot.extras.jobs import Job")


# -- the page


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_page_shows_what_changes(number: int) -> None:
    kind, text = BLOCKS[number]
    assert bool(porting.check(text.encode(), "x.py")) == (kind == "before")


@pytest.fixture
def ported(service: Service, tmp_path: Path) -> Iterator[Callable[[str], Any]]:
    """The jobs that the page shows, enabled in a folder of their own."""
    for kind, text in BLOCKS:
        if kind == "after":
            name = re.findall(r"^class (\w+)", text, flags=re.MULTILINE)[0]
            (tmp_path / f"{name.lower()}.py").write_text(text)
    with service.configured(jobs_root=str(tmp_path)):
        with service.unit_of_work() as uow:
            job_models.refresh(uow)
        found = {item["job_class_name"]: item for item in service.api.get(PATH, {"installed": True})["results"]}
        service.api.patch(PATH, [{"id": item["id"], "enabled": True} for item in found.values()])
        yield lambda name: found[name]
    with service.unit_of_work() as uow:
        job_models.refresh(uow)
    gone = service.api.get(PATH, {"installed": False})["results"]
    service.api.delete(PATH, [{"id": item["id"]} for item in gone])


@pytest.mark.night
def test_the_jobs_of_the_page_run(service: Service, ported: Callable[[str], Any]) -> None:
    api, word = service.api, service.unique()
    region = api.post("/api/dcim/regions/", {"name": word})
    maker = api.post("/api/dcim/manufacturers/", {"name": word})
    switch = api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": word})
    data = {"region": region["id"], "site_name": word, "switch_type": switch["id"], "switch_count": 2}
    made = api.post(f"{ported('NewBranch')['url']}run/", {"data": data, "commit": True})["job_result"]
    work(service)
    assert (result(service, made)["data"], logs(service, made)) == (
        {"output": f"\n{word}"},
        [("success", "Created the site"), ("success", "Created a switch"), ("success", "Created a switch")],
    )
    devices = api.get("/api/dcim/devices/", {"site": word})["results"]
    assert [item["name"] for item in devices] == [f"{word}-sw1", f"{word}-sw2"]
    api.patch(devices[0]["url"], {"status": "active", "name": f"sw-{word}"})
    api.patch(devices[1]["url"], {"status": "active"})
    body = {"data": {"site": {"name": word}}}
    report = api.post(f"{ported('VerifyHostnames')['url']}run/", body)["job_result"]
    work(service)
    assert result(service, report)["status"]["value"] == "failed"
    assert sorted(logs(service, report))[:2] == [
        ("failure", f"{word}-sw2 does not begin with sw-."),
        ("info", "Database changes have been reverted automatically."),
    ]
