"""``netinv deploy``: the files that it writes are taken by the programs that they are for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from click.testing import CliRunner, Result

from netinv_admin.commands.cli import cli
from tests.support import REPOSITORY
from tests.support.deploy_files import NGINX, certificate, ini
from tests.support.servers import free_port, listens, running

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.night]
HOST = "inventory.example.org"


def deploy(folder: Path, *options: str) -> Result:
    """The result of the command: its output and exit code."""
    return CliRunner().invoke(cli, ["deploy", str(folder), *options])


@pytest.fixture(scope="module")
def port() -> int:
    """A port that is free."""
    return free_port()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, port: int) -> Path:
    """A folder with the files of an installation in the environment of the tests."""
    folder = tmp_path_factory.mktemp("deploy")
    done = deploy(
        folder / "files", "--host", HOST, "--port", str(port), "--settings", f"{folder}/etc", "--data", f"{folder}/data"
    )
    assert done.exit_code == 0, done.output
    assert f"cp {folder}/files/systemd/*.service /etc/systemd/system/" in done.output
    return folder / "files"


def test_each_file_of_deploy_is_written_with_the_host_and_the_paths(written: Path) -> None:
    sources = {
        str(path.relative_to(REPOSITORY / "deploy"))
        for path in (REPOSITORY / "deploy").rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    files = {str(path.relative_to(written)): path for path in written.rglob("*") if path.is_file()}
    assert files.keys() == {*sources, "production.ini"}
    of_image = ("container/", "helm/")
    for name, path in files.items():
        text = path.read_text()
        assert "netinv.example.net" not in text
        places = (
            ("deploy/container",) if name.startswith(of_image) else ("/opt/netinv", "/etc/netinv", "/var/lib/netinv")
        )
        assert not any(place in text for place in places), name
    assert files["production.ini"].stat().st_mode & 0o777 == 0o640


def test_the_service_starts_from_the_ini_file_under_its_host(written: Path, port: int, tmp_path: Path) -> None:
    variables = {
        "NETINV_DATABASE_URL": f"sqlite:///{tmp_path}/netinv.sqlite",
        "NETINV_SECRET": "for tests only, 32 characters or more",
        "NETINV_QUEUE_URL": f"sqlite:///{tmp_path}/queue.sqlite",
        "NETINV_MEDIA_ROOT": str(tmp_path / "media"),
    }
    settings = str(written / "production.ini")
    migrate = [sys.executable, "-c", "from netinv_admin.commands.cli import cli; cli()", "-c", settings, "migrate"]
    subprocess.run(migrate, env={**os.environ, **variables}, check=True, capture_output=True)
    serve = [sys.executable, "-m", "pyramid.scripts.pserve", settings]
    with running(serve, tmp_path / "log", listens(port), variables):
        for host, status in ((HOST, 403), ("other.example", 400)):
            sent = {"Host": host, "X-Forwarded-Proto": "https", "X-Forwarded-Host": host}
            assert requests.get(f"http://127.0.0.1:{port}/api/", headers=sent, timeout=60).status_code == status


@pytest.mark.parametrize("site", ["netinv.conf", "netinv-below-a-path.conf"])
def test_nginx_takes_its_files(site: str, written: Path, tmp_path: Path, port: int) -> None:
    tls = written.parent / "etc/tls"
    tls.mkdir(parents=True, exist_ok=True)
    certificate(tls)
    text = (written / "nginx" / site).read_text()
    assert f"server 127.0.0.1:{port};" in text
    text = text.replace("listen 80;", f"listen 127.0.0.1:{free_port()};")
    (tmp_path / "site.conf").write_text(text.replace("listen 443 ssl", f"listen 127.0.0.1:{free_port()} ssl"))
    shutil.copy(written / "nginx/netinv-proxy.conf", tmp_path)
    (tmp_path / "nginx.conf").write_text(NGINX.format(folder=tmp_path, user=""))
    done = subprocess.run(
        ["nginx", "-t", "-c", str(tmp_path / "nginx.conf")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_systemd_takes_its_units(written: Path) -> None:
    units = sorted((written / "systemd").iterdir())
    for unit in units:
        program = ini(unit)["Service"]["execstart"].split()[0]
        assert Path(program).is_file() and Path(program).parent == Path(sys.prefix, "bin")
        assert ini(unit)["Service"]["readwritepaths"] == str(written.parent / "data")
    if shutil.which("systemd-analyze"):
        done = subprocess.run(
            ["systemd-analyze", "verify", *map(str, units)], capture_output=True, text=True, check=False
        )
        named = [line for line in done.stderr.splitlines() if "netinv" in line]
        assert named == []


def test_gunicorn_takes_its_file(written: Path, port: int) -> None:
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "--check-config",
        "--config",
        str(written / "gunicorn/gunicorn.conf.py"),
    ]
    done = subprocess.run([*command, "wsgiref.simple_server:demo_app"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f'"127.0.0.1:{port}"' in (written / "gunicorn/gunicorn.conf.py").read_text()


def test_the_other_files_can_be_parsed(written: Path) -> None:
    compose: Any = yaml.safe_load((written / "container/compose.yaml").read_text())
    build = compose["services"]["service"]["build"]
    folder = written / "container"
    assert (folder / build["context"]).resolve() == written
    assert (folder / build["context"] / build["dockerfile"]).is_file()
    assert yaml.safe_load((written / "helm/netinv/values.yaml").read_text())["ingress"]["host"] == HOST
    assert yaml.safe_load((written / "monitoring/netinv-alerts.yaml").read_text())["groups"]
    assert json.loads((written / "monitoring/netinv-dashboard.json").read_text())["panels"]
    assert "pgbouncer" in ini(written / "pgbouncer/pgbouncer.ini")


def test_files_that_exist_are_replaced_with_force_only(tmp_path: Path) -> None:
    changed = tmp_path / "systemd/netinv.service"
    changed.parent.mkdir()
    changed.write_text("changed")
    refused = deploy(tmp_path)
    assert refused.exit_code == 1 and "systemd/netinv.service already; nothing was written" in refused.output
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [changed] and changed.read_text() == "changed"
    assert deploy(tmp_path, "--force").exit_code == 0
    assert "ExecStart" in changed.read_text()


@pytest.mark.parametrize(
    "options", [("--host", "a b"), ("--port", "0"), ("--prefix", "opt"), ("--data", "/x;y"), ("--settings", "/a b")]
)
def test_what_would_break_a_file_is_refused_with_the_name_of_the_option(
    options: tuple[str, str], tmp_path: Path
) -> None:
    done = deploy(tmp_path / "files", *options)
    assert done.exit_code == 2 and options[0] in done.output
    assert not (tmp_path / "files").exists()


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = deploy(tmp_path / "file" / "folder")
    assert done.exit_code == 1 and done.output.count("\n") == 1 and "cannot be written" in done.output
