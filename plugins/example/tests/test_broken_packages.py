"""Packages beside the example that cannot be loaded, or claim what another has."""

from __future__ import annotations

import importlib.metadata
import textwrap
from pathlib import Path

import pytest
import sqlalchemy as sa
from netinv_example.maintenance_windows import MaintenanceWindow

from netinv_core import main as service
from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.packages import PackageError
from netinv_core.registry import Registry
from netinv_core.resource import Resource
from netinv_testing import Service

WINDOWS = "/api/plugins/example/maintenance-windows/"
SITES = "/api/dcim/sites/"


def add_package(folder: Path, name: str, source: str, requires: str = "netinv-core") -> None:
    """Writes a distribution into a folder, with a module of this source as its entry point."""
    (folder / f"netinv_{name}.py").write_text(textwrap.dedent(source))
    info = folder / f"netinv_{name}-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: netinv-{name}\nVersion: 0.1\nRequires-Dist: {requires}\n"
    )
    (info / "entry_points.txt").write_text(f"[netinv]\n{name} = netinv_{name}\n")


REASONS = {
    "elder": f"it requires netinv-core>=99, and {importlib.metadata.version('netinv-core')} is installed",
    "stranger": "it requires netinv-elsewhere, which is not installed",
    "unwell": "RuntimeError: it cannot be (netinv_unwell.py, line 1)",
}


@pytest.fixture(scope="module")
def started(engine: sa.Engine, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """A service beside whose packages there are some that cannot be loaded."""
    folder = tmp_path_factory.mktemp("packages")
    add_package(folder, "elder", "raise RuntimeError('it is not asked')", "netinv-core>=99")
    add_package(folder, "stranger", "raise RuntimeError('it is not asked')", "netinv-elsewhere")
    add_package(folder, "unwell", "raise RuntimeError('it cannot be')")
    with pytest.MonkeyPatch.context() as patches:
        patches.syspath_prepend(str(folder))
        return Service(engine)


@pytest.mark.parametrize("name", REASONS)
def test_a_package_that_cannot_be_loaded_is_reported_and_answers_503(started: Service, name: str) -> None:
    reported = {"name": name, "package": f"netinv-{name}", "status": "broken", "reason": REASONS[name]}
    assert reported in started.api.get("/api/plugins/installed-plugins/")
    assert started.api.get("/api/status/")["broken-packages"][name] == REASONS[name]
    for path in ("", "things/", "things/1/"):
        answer = started.api.send("GET", f"/api/plugins/{name}/{path}", status=503)
        assert answer.json == {"detail": "This package could not be started; /api/status/ tells why."}
    started.api.get(SITES)
    started.api.get(WINDOWS)


def test_a_package_that_claims_the_path_of_another_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_package(
        tmp_path,
        "usurper",
        """
        from netinv_core.app import App
        from netinv_core.hookspecs import hookimpl

        @hookimpl
        def netinv_app():
            return App("example", "Not the example", plugin=True)
        """,
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = service.registry_for("sqlite", {})
    (failed,) = [package for package in registry.broken if package.name == "usurper"]
    assert failed.reason == "ValueError: it claims the application 'example', which the package example has"
    assert registry.packages["example"] == "example"


def test_two_resources_with_one_path_fail_at_the_start() -> None:
    class Claims:
        @staticmethod
        @hookimpl
        def netinv_app() -> App:
            both = [
                Resource(MaintenanceWindow, "windows"),
                Resource(MaintenanceWindow, "windows", label="claims.other"),
            ]
            return App("claims", "Claims", both, plugin=True)

    with pytest.raises(PackageError) as failure:
        Registry("sqlite").add("claims", Claims)
    assert str(failure.value.__cause__) == "two resources claim the path '/api/plugins/claims/windows/'"
