"""Clients that generators make of the OpenAPI document, with the libraries of ``make test-all``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from netinv_core.http.versions import NEWEST
from netinv_openapi import documents
from netinv_testing import Case, Service
from tests.support import REPOSITORY, SUPPORT
from tests.support.http_server import served

pytestmark = [pytest.mark.slow, pytest.mark.any_database, pytest.mark.night]
LIBRARIES = Path(os.environ.get("NETINV_TEST_GENERATORS", REPOSITORY / ".venv" / "generators"))
NODE = LIBRARIES / "typescript"


@pytest.fixture(scope="session")
def document(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the document."""
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    path.write_text(json.dumps(documents.document(service.registry, NEWEST)))
    return path


@pytest.fixture
def address(service: Service) -> Iterator[str]:
    """The address of the service, which has a device."""
    Case(service, "dcim.device").filled()
    with served(service.app) as url:
        yield url


def run(*command: object, folder: Path) -> str:
    """The output of a command that succeeds."""
    environment = {**os.environ, "PYTHONPATH": f"{LIBRARIES}{os.pathsep}{folder}"}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def test_a_python_client_of_openapi_python_client(service: Service, document: Path, address: str) -> None:
    """Lists, objects that are read, changed and put back, and allocation."""
    folder = document.parent
    (folder / "config.yaml").write_text("post_hooks: []\n")
    generate = ["-m", "openapi_python_client", "generate", "--meta", "none", "--config", folder / "config.yaml"]
    run(sys.executable, *generate, "--path", document, "--output-path", folder / "netinv_client", folder=folder)
    script, network = SUPPORT / "generated_client_calls.py", f"{service.unique.ipv6()}::/112"
    called = run(sys.executable, script, address, service.admin.token, service.unique(), network, folder=folder)
    assert int(called) >= 30


def test_a_typescript_client_of_openapi_typescript(service: Service, document: Path, address: str) -> None:
    """Its types are checked by the compiler, and 10 calls are made."""
    folder = document.parent
    for name in ("calls.ts", "package.json"):
        shutil.copy(SUPPORT / "typescript" / name, folder)
    (folder / "node_modules").symlink_to(NODE / "node_modules")
    bins = folder / "node_modules" / ".bin"
    run(bins / "openapi-typescript", document, "-o", "api.d.ts", folder=folder)
    options = [
        "--strict",
        "--target",
        "es2022",
        "--module",
        "esnext",
        "--moduleResolution",
        "bundler",
        "--skipLibCheck",
    ]
    run(bins / "tsc", *options, "--lib", "es2022,dom", "calls.ts", folder=folder)
    assert int(run("node", "calls.js", address, service.admin.token, service.unique(), folder=folder)) == 10
