"""Distributions: what is in the files that `make dist` builds, and an installation from them alone."""

from __future__ import annotations

import ast
import configparser
import hashlib
import importlib.metadata
import os
import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

import release
from release.dist import META, build, folders, main, tracked
from release.lock import RUNTIME
from tests.support import REPOSITORY
from tests.support.servers import free_port, listens, running

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.night]
VERSION = (REPOSITORY / "VERSION").read_text().strip()
DRIVERS = ("psycopg", "psycopg-binary", "pymysql", "redis")
# What `netinv[testing]` needs beside the libraries of a service, and what builds a project.
OF_TESTS = (
    *("beautifulsoup4", "html5lib", "iniconfig", "jsonschema_rs", "pygments", "pytest", "six", "soupsieve"),
    *("webencodings", "webtest", "setuptools"),
)
# Files of a distribution that are not part of its package.
OF_THE_BUILD = {"setup.cfg", "pyproject.toml", "VERSION", "LICENSE"}
SETTINGS = """
[app:main]
use = egg:netinv-core
netinv.database_url = sqlite:///%(here)s/netinv.sqlite
netinv.queue_url = sqlite:///%(here)s/queue.sqlite
netinv.secret = for tests only, 32 characters or more
netinv.media_root = %(here)s/media
[server:main]
use = egg:netinv-core
listen = 127.0.0.1:{port}
"""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of every distribution."""
    folder = tmp_path_factory.mktemp("dist")
    main(["--output", str(folder)])
    return folder


def the_file(dist: Path, folder: str, suffix: str) -> Path:
    """The only file of a distribution with this suffix."""
    name = "netinv" if folder == META else folder
    (found,) = dist.glob(f"{name}-{VERSION}*{suffix}")
    return found


def test_a_wheel_has_every_tracked_file_of_its_package(dist: Path) -> None:
    for folder in folders():
        with zipfile.ZipFile(the_file(dist, folder, ".whl")) as wheel:
            files = {name for name in wheel.namelist() if "-info/" not in name}
        if folder == META:
            assert files == {f"netinv-{VERSION}.data/data/share/netinv/production.ini"}
        else:
            built = {name for name in files if name.startswith("netinv_web/site/")}
            assert files - built == {f"{folder}/{name}" for name in tracked(folder) if name not in OF_THE_BUILD}
            assert ("netinv_web/site/reference/models/dcim-sites.html" in built) == (folder == "netinv_web")
            assert f"{folder}/py.typed" in files


def test_an_sdist_has_the_version_and_the_licence_and_no_link(dist: Path) -> None:
    for folder in folders():
        with tarfile.open(the_file(dist, folder, ".tar.gz")) as archive:
            members = {member.name.partition("/")[2]: member for member in archive.getmembers()}
            assert {"VERSION", "LICENSE", "PKG-INFO"} <= members.keys()
            assert not any(member.issym() or member.islnk() for member in members.values())


def test_a_second_build_is_equal(dist: Path, tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        for folder in ("netinv_tenancy", META):
            build(folder, tmp_path)
    finally:
        os.umask(umask)
    built = sorted(tmp_path.iterdir())
    assert len(built) == 4
    assert [digest(path) for path in built] == [digest(dist / path.name) for path in built]


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("has_git", [True, False], ids=["outside of a repository", "without git"])
def test_sources_without_a_commit_are_as_old_as_their_version(
    has_git: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make run` builds the documentation of sources that were downloaded as an archive, too."""
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.setattr(release, "REPOSITORY", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    if not has_git:
        monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "VERSION").write_text("0.2.0")
    os.utime(tmp_path / "VERSION", (0, 1_700_000_000))
    assert release.epoch() == 1_700_000_000


def test_netinv_requires_every_distribution_in_its_own_version(dist: Path) -> None:
    with zipfile.ZipFile(the_file(dist, META, ".whl")) as wheel:
        metadata = wheel.read(f"netinv-{VERSION}.dist-info/METADATA").decode()
    required = re.findall(r"^Requires-Dist: (netinv-[a-z]+)(?:\[\w+\])?==(\S+?)(?:;|$)", metadata, re.MULTILINE)
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    assert {name for name, _ in required} >= set(config["options"]["install_requires"].split())
    assert {version for _, version in required} == {VERSION}


# -- an installation


class EmptyEnvironment:
    """A virtual environment with nothing but libraries of the lock, which are linked to those of the tests."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "venv/bin"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
        (self.packages,) = (folder / "venv/lib").glob("*/site-packages")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}

    def link(self, names: Iterable[str]) -> None:
        """Makes libraries available that are installed for the tests."""
        for name in names:
            for file in importlib.metadata.files(name) or ():
                if ".." not in file.parts and "__pycache__" not in file.parts:
                    place = self.packages / file
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.symlink_to(file.locate())

    def install(self, *requirements: str, dist: Path, folder: Path | None = None) -> None:
        """Installs distributions from a folder, without an index; paths are those in another folder."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "--disable-pip-version-check"]
        options = ["--quiet", "--no-index", "--no-build-isolation", "--find-links", str(dist)]
        environment = {**self.environment, "PIP_CONFIG_FILE": os.devnull}
        subprocess.run([*pip, "install", *options, *requirements], env=environment, cwd=folder, check=True)

    def run(self, *words: object, status: int = 0, folder: Path | None = None) -> str:
        """Runs a command of the environment, in a folder; what it prints."""
        command = [str(self.bin / str(words[0])), *map(str, words[1:])]
        run = subprocess.run(command, env=self.environment, cwd=folder, capture_output=True, text=True, check=False)
        assert run.returncode == status, run.stdout + run.stderr
        assert "Warning" not in run.stderr
        return run.stdout + run.stderr


def locked() -> list[str]:
    """The names of the libraries of a service that are installed for the tests."""
    names = [line.partition("==")[0] for line in RUNTIME.read_text().splitlines()]
    installed = {distribution.name.lower().replace("_", "-") for distribution in importlib.metadata.distributions()}
    return [name for name in names if name.lower().replace("_", "-") in installed]


def test_netinv_runs_in_an_empty_environment_from_its_wheels_alone(dist: Path, tmp_path: Path) -> None:
    environment = EmptyEnvironment(tmp_path)
    environment.link(name for name in locked() if name.lower() not in DRIVERS)
    environment.install("netinv", dist=dist)
    ini, port = tmp_path / "netinv.ini", free_port()
    ini.write_text(SETTINGS.format(port=port))
    assert (environment.bin.parent / "share/netinv/production.ini").is_file()

    environment.run("netinv", "-c", ini, "migrate")
    printed = environment.run("netinv", "-c", ini, "user", "create", "admin", "--superuser", "--with-token")
    token = re.findall(r"token\s+(\S+)", printed)[0]
    headers = {"Authorization": f"Token {token}"}
    url = f"http://127.0.0.1:{port}"
    service = [environment.bin / "python", "-m", "pyramid.scripts.pserve", ini]
    worker = [environment.bin / "netinv", "-c", ini, "worker"]
    log = tmp_path / "worker.log"
    with running(service, tmp_path / "service.log", listens(port), {"PYTHONPATH": ""}):
        status = requests.get(f"{url}/api/status/", headers=headers, timeout=30).json()
        assert status["netinv-version"] == VERSION
        assert_page_has_its_files(f"{url}/login/")
        with running(worker, log, lambda: "working on" in log.read_text(), {"PYTHONPATH": ""}):
            pass
    assert "Warning" not in log.read_text() + (tmp_path / "service.log").read_text()


def assert_page_has_its_files(url: str) -> None:
    """A page, its style sheets and its scripts are answered 200."""
    page: Any = requests.get(url, timeout=30)
    assert page.status_code == 200
    links = re.findall(r'(?:href|src)="([^"]+\.(?:css|js)[^"]*)"', page.text)
    assert any(".css" in link for link in links)
    for link in links:
        assert requests.get(requests.compat.urljoin(url, link), timeout=30).status_code == 200, link


def test_the_extra_installs_the_driver_that_a_setting_needs(dist: Path, tmp_path: Path) -> None:
    environment = EmptyEnvironment(tmp_path)
    environment.link(name for name in locked() if name.lower() not in DRIVERS)
    environment.install("netinv-admin", dist=dist)
    ini = tmp_path / "netinv.ini"
    address = f"postgresql://netinv@127.0.0.1:{free_port()}/netinv"
    ini.write_text(SETTINGS.format(port=free_port()).replace("sqlite:///%(here)s/netinv.sqlite", address))
    assert 'pip install "netinv[postgresql]"' in environment.run("netinv", "-c", ini, "migrate", status=1)
    environment.link(["psycopg", "psycopg-binary"])
    environment.install("netinv[postgresql]", dist=dist)
    assert "cannot be reached" in environment.run("netinv", "-c", ini, "migrate", status=1)


# -- a new plugin


def statements_of(revision: Path) -> str:
    """The code of a revision, whatever its layout."""
    return ast.dump(ast.parse(revision.read_text()))


def run_workflow(environment: EmptyEnvironment, project: Path, dist: Path) -> str:
    """Runs the commands of a project's workflow for SQLite; what the last one prints."""
    steps = yaml.safe_load((project / ".github/workflows/ci.yml").read_text())["jobs"]["test"]["steps"]
    printed = ""
    for step in steps:
        program, *words = shlex.split(step.get("run", ""), comments=True) or [""]
        if program == "pip":
            assert words.pop(0) == "install"
            environment.install(*words, dist=dist, folder=project)
        elif program:
            printed = environment.run("python", "-m", program, *words, folder=project)
    return printed


def test_a_new_plugin_passes_its_tests_in_an_empty_environment(dist: Path, tmp_path: Path) -> None:
    """Its migration is the one that `netinv revision` writes. `pytest --netinv` finds it from an empty folder."""
    environment = EmptyEnvironment(tmp_path)
    environment.link({name.lower() for name in (*locked(), *OF_TESTS)})
    environment.install("netinv[testing]", dist=dist)
    (empty := tmp_path / "empty").mkdir()
    pytest_of = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert "no plugin of netinv is installed" in environment.run(*pytest_of, "--netinv", status=4, folder=empty)

    environment.run("netinv", "plugin", "new", "cable_labels", "--model", "CableLabel", folder=tmp_path)
    project = tmp_path / "netinv-cable-labels"
    passed = re.findall(r"(\d+) passed in", run_workflow(environment, project, dist))
    listed = environment.run(*pytest_of, "--netinv", "--collect-only", folder=empty)
    own = len(re.findall("^def test_", (project / "tests/test_cable_labels.py").read_text(), re.MULTILINE))
    assert "cable_labels.cablelabel-every_page_opens_and_its_tabs_do" in listed
    assert int(passed[0]) == listed.count("cable_labels") + own > 80
    alone = environment.run(*pytest_of, "tests/test_cable_labels.py", folder=project)
    assert re.findall(r"(\d+) passed in", alone) == [str(own)]

    ini = tmp_path / "netinv.ini"
    ini.write_text(SETTINGS.format(port=0))
    installed = project / "netinv_cable_labels/migrations/versions/0001_initial.py"
    given = statements_of(installed)
    installed.unlink()
    only_migrations = (*pytest_of, "--netinv", "-k", "migrations")
    assert "starts without cable_labels" in environment.run(*only_migrations, status=1, folder=empty)
    environment.run("netinv", "-c", ini, "migrate")
    environment.run("netinv", "-c", ini, "revision", "cable_labels", "-m", "initial")
    assert statements_of(installed) == given
    installed.write_text(re.sub(r"batch_op.create_index\(.*\)", "pass", installed.read_text()))
    assert "netinv revision cable_labels" in environment.run(*only_migrations, status=1, folder=empty)


def test_a_library_without_pages_runs_the_contract_of_rest(dist: Path, tmp_path: Path) -> None:
    """`pytest` loads the plugin where neither the interface nor a project of netinv is."""
    environment = EmptyEnvironment(tmp_path)
    environment.link({name.lower() for name in (*locked(), *OF_TESTS)} - {*DRIVERS})
    environment.install("netinv-testing", dist=dist)
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    assert 1 + 1 == 2\n")
    assert "1 passed" in environment.run("python", "-m", "pytest", "-q", folder=tmp_path)
