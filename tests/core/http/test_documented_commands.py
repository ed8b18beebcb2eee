"""The curl commands of README and of all pages, run by a shell against a service as written."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from netinv_testing import Service
from tests.support.databases import migrated_database
from tests.support.http_server import served
from tests.support.images import png

pytestmark = pytest.mark.any_database
ROOT = Path(__file__).parents[3]
PAGES = ("README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))
ELSEWHERE = re.compile(r"https?://(127\.0\.0\.1:8000|netinv\.example\.com)")
OBJECT_ID = re.compile(r"\b(5be2c5e5|b2c0d1a4)-…")
REFUSED = {"If-Match": 412, "application/problem+json": 400}  # what these headers are shown with


def commands(page: str) -> list[str]:
    """The commands of a page: from ``curl`` to the first line end that is neither escaped nor quoted."""
    found, lines = [], (ROOT / page).read_text().splitlines()
    while lines:
        command = lines.pop(0).strip().removeprefix("$ ")
        if command.startswith("curl ") and "curl …" not in command:
            while not _is_whole(command):
                command += "\n" + lines.pop(0)
            found.append(command)
    return found


def _is_whole(command: str) -> bool:
    try:
        return bool(shlex.split(command)) and not command.endswith("\\")
    except ValueError:
        return False


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Service]:
    """A service with the objects that the pages speak of."""
    folder = tmp_path_factory.mktemp("commands")
    with migrated_database(folder, database_template) as engine:
        yield Service(engine, {"netinv.media_root": str(folder / "media")})


@pytest.fixture(scope="module")
def variables(service: Service) -> dict[str, str]:
    """The variables of the commands: a token and ids of objects."""
    api = service.api
    for slug in ("leased", "planned"):
        api.post("/api/extras/tags/", {"name": slug, "slug": slug, "content_types": ["dcim.site"]})
    region = api.post("/api/dcim/regions/", {"name": "EMEA", "slug": "emea"})
    site = api.post("/api/dcim/sites/", {"name": "Lisbon", "slug": "lisbon", "status": "active"})
    rack = api.post("/api/dcim/racks/", {"name": "A1", "site": site["id"], "status": "active"})
    maker = api.post("/api/dcim/manufacturers/", {"name": "ACME", "slug": "acme"})
    kind = api.post("/api/dcim/device-types/", {"model": "R1", "slug": "r1", "manufacturer": maker["id"]})
    role = api.post("/api/dcim/device-roles/", {"name": "Router", "slug": "router"})
    placed = {"site": site["id"], "device_type": kind["id"], "device_role": role["id"], "status": "active"}
    device = api.post("/api/dcim/devices/", {"name": "r1", **placed})
    prefix = api.post("/api/ipam/prefixes/", {"prefix": "10.9.0.0/24", "status": "active"})
    api.patch(region["url"], {"description": "Europe"})
    change = api.get("/api/extras/object-changes/", {"changed_object_id": region["id"], "action": "update"})
    plan = api.post("/api/extras/plans/", {"objects": {"dcim.site": [{"name": "Porto", "status": "active"}]}})
    return {
        "TOKEN": api.token,
        "SITE": site["id"],
        "REGION": region["id"],
        "CHANGE": change["results"][0]["id"],
        "PREFIX": prefix["id"],
        "PLAN": plan["id"],
        "DEVICE": device["id"],
        "TYPE": kind["id"],
        "rack": rack["id"],
        "device_type": kind["id"],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the commands send."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("front.png", "rear.png", "rack.jpg"):
        (folder / name).write_bytes(png())
    return folder


@pytest.fixture(scope="module")
def address(service: Service) -> Iterator[str]:
    """Where the service answers."""
    with served(service.app) as url:
        yield url


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_the_commands_of_a_page_are_answered_as_it_says_in_their_order(
    page: str, service: Service, variables: dict[str, str], folder: Path, address: str
) -> None:
    for command in commands(page):
        text = _as_typed(command, service, variables, address)
        if page == "README.md":  # on an empty inventory, which has no site of this name
            text = text.replace("Lisbon", "Faro")
        text = text.replace("curl ", "curl -sS --write-out '%{stderr}status %{http_code}' ", 1)
        given = "".join(f"{name}={value}\n" for name, value in variables.items())
        shell = ["bash", "-c", f"{given}uuidgen() {{ echo 0f8fad5b-d9cb-469f-a165-70867728950e; }}\n{text}"]
        outcome = subprocess.run(shell, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        status = int(outcome.stderr.rpartition("status ")[2] or 0)
        expected = next((status for header, status in REFUSED.items() if header in command), None)
        assert status == expected if expected else 200 <= status < 300, (text, outcome.stdout, outcome.stderr)


def _as_typed(command: str, service: Service, variables: dict[str, str], address: str) -> str:
    """The command with the address, ids, times and cursors of this service instead of those of the page."""
    object_id = variables["device_type" if "device-types" in command else "rack"]
    text = OBJECT_ID.sub(object_id, ELSEWHERE.sub(address, command))
    text = text.replace("-u admin ", f"-u '{service.admin.username}:{service.admin.password}' ")
    if "?as_of=" in text:
        changes = service.api.get("/api/extras/object-changes/", {"changed_object_id": variables["SITE"]})
        text = re.sub(r"as_of=[^\"]*", f"as_of={changes['results'][0]['time']}", text)
    feed = service.api.get("/api/extras/object-changes/feed/", {"limit": 1})
    return text.replace("MTo0Mg", feed["cursor"])
