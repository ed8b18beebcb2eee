"""nginx in front of the service, with the files of `deploy/nginx`: TLS, forwarded headers, uploads, a path, processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
import requests
from click.testing import CliRunner

from netinv_admin.commands.cli import cli
from tests.support import REPOSITORY
from tests.support.deploy_files import NGINX, certificate
from tests.support.images import png
from tests.support.servers import free_port, listens, running

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.night]
MEBIBYTE = 2**20
SETTINGS = """
[app:main]
use = egg:netinv-core
netinv.database_url = sqlite:///{folder}/netinv.sqlite
netinv.secret = for tests only, 32 characters or more
netinv.media_root = {folder}/media
netinv.base_url = {base_url}
netinv.allowed_hosts = localhost
{filter_with}
[filter:proxy]
use = egg:netinv-core#proxy
trusted_proxy = 127.0.0.1
[server:main]
use = egg:netinv-core
listen = 127.0.0.1:{port}
max_request_header_size = 65536
max_request_body_size = 34603008
trusted_proxy = 127.0.0.1
trusted_proxy_headers = x-forwarded-for x-forwarded-proto x-forwarded-host x-forwarded-port
clear_untrusted_proxy_headers = true
"""


class Site:
    """A service behind nginx: ``url`` is its address, ``session`` asks as the administrator."""

    def __init__(self, url: str, plain: int, token: str, certificate: Path) -> None:
        self.url, self.plain = url, plain
        self.session = requests.Session()
        self.session.verify = str(certificate)
        self.session.trust_env = False
        self.token = {"Authorization": f"Token {token}", "Accept": "application/json"}

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        """The answer of the API."""
        return self.session.request(method, self.url + path, headers=self.token, timeout=60, **options)


def configured(folder: Path, source: str, host: str, ports: dict[str, int]) -> Path:
    """Writes a configuration of nginx that includes a file of `deploy/nginx`, with other ports and files."""
    folder.mkdir()
    shutil.copy(REPOSITORY / "deploy/nginx/netinv-proxy.conf", folder)
    text = (REPOSITORY / "deploy/nginx" / source).read_text()
    for old, new in (
        ("listen 80;", f"listen 127.0.0.1:{ports['plain']};"),
        ("listen 443 ssl", f"listen 127.0.0.1:{ports['secure']} ssl"),
        (f"server_name {host};", "server_name localhost;"),
        ("/etc/netinv/tls", str(folder.parent)),
        ("server 127.0.0.1:8080;", f"server 127.0.0.1:{ports['service']};"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "site.conf").write_text(text)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, user=user))
    return folder / "nginx.conf"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a migrated database and a certificate, and the token of an administrator."""
    folder = tmp_path_factory.mktemp("nginx")
    certificate(folder)
    ini = folder / "commands.ini"
    ini.write_text(SETTINGS.format(folder=folder, base_url="", port=0, filter_with=""))
    runner = CliRunner()
    assert runner.invoke(cli, ["-c", str(ini), "migrate"]).exit_code == 0
    created = runner.invoke(cli, ["-c", str(ini), "user", "create", "admin", "--superuser", "--with-token"])
    token, password = (re.findall(rf"{name}\s+(\S+)", created.output)[0] for name in ("token", "password"))
    (folder / "password").write_text(password)
    return folder, token


def gunicorn(ini: Path, port: int, processes: int) -> list[Any]:
    """The command line of Gunicorn."""
    configuration = REPOSITORY / "deploy/gunicorn/gunicorn.conf.py"
    options = ["--workers", processes, "--bind", f"127.0.0.1:{port}"]
    return [sys.executable, "-m", "gunicorn", "--config", configuration, "--paste", ini, *options]


@pytest.fixture(scope="module")
def site(installation: tuple[Path, str]) -> Iterator[Site]:
    """Two processes of Gunicorn behind nginx, at the root of a host."""
    folder, token = installation
    ports = {name: free_port() for name in ("plain", "secure", "service")}
    ini = folder / "root.ini"
    ini.write_text(SETTINGS.format(folder=folder, base_url="", port=0, filter_with="filter-with = proxy"))
    command = gunicorn(ini, ports["service"], processes=2)
    nginx = [
        "nginx",
        "-g",
        "daemon off;",
        "-c",
        configured(folder / "root", "netinv.conf", "netinv.example.net", ports),
    ]
    log = folder / "gunicorn.log"
    python = {"PYTHONPATH": os.pathsep.join(sys.path)}
    with (
        running(command, log, lambda: log.read_text().count("Booting worker") == 2, python),
        running(["nginx", "-p", folder / "root", *nginx[1:]], folder / "root.log", listens(ports["secure"])),
    ):
        yield Site(f"https://localhost:{ports['secure']}", ports["plain"], token, folder / "fullchain.pem")


@pytest.fixture(scope="module")
def below_a_path(installation: tuple[Path, str]) -> Iterator[Site]:
    """A process of waitress behind nginx, below a path."""
    folder, token = installation
    ports = {name: free_port() for name in ("plain", "secure", "service")}
    url = f"https://localhost:{ports['secure']}/netinv"
    ini = folder / "path.ini"
    ini.write_text(SETTINGS.format(folder=folder, base_url=url, port=ports["service"], filter_with=""))
    conf = configured(folder / "path", "netinv-below-a-path.conf", "example.net", ports)
    nginx = ["nginx", "-p", folder / "path", "-g", "daemon off;", "-c", conf]
    python = {"PYTHONPATH": os.pathsep.join(sys.path)}
    service = [sys.executable, "-m", "pyramid.scripts.pserve", ini]
    with (
        running(service, folder / "pserve.log", listens(ports["service"]), python),
        running(nginx, folder / "path.log", listens(ports["secure"])),
    ):
        yield Site(url, ports["plain"], token, folder / "fullchain.pem")


def sign_in(site: Site, installation: tuple[Path, str], **headers: str) -> requests.Session:
    """A browser of the administrator."""
    browser = requests.Session()
    browser.verify, browser.trust_env = site.session.verify, False
    form = {"username": "admin", "password": (installation[0] / "password").read_text()}
    origin = site.url.removesuffix("/netinv")
    answer = browser.post(f"{site.url}/login/", form, headers={"Origin": origin, **headers}, timeout=60)
    assert (answer.status_code, answer.url) == (200, f"{site.url}/")
    return browser


def test_urls_have_the_scheme_and_the_host_of_the_client(site: Site) -> None:
    assert site.ask("GET", "/api/").json()["dcim"] == f"{site.url}/api/dcim/"
    moved = site.session.get(f"http://localhost:{site.plain}/api/?x=1", allow_redirects=False, timeout=60)
    assert (moved.status_code, moved.headers["Location"]) == (308, "https://localhost/api/?x=1")


def test_a_session_has_a_secure_cookie_and_the_address_of_the_client(
    site: Site, installation: tuple[Path, str]
) -> None:
    browser = sign_in(
        site, installation, **{"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Host": "elsewhere.example"}
    )
    assert [(cookie.name, cookie.secure) for cookie in browser.cookies if "session" in cookie.name] == [
        ("__Host-netinv_session", True)
    ]
    sessions = browser.get(f"{site.url}/user/sessions/", timeout=60)
    assert sessions.status_code == 200
    assert "127.0.0.1" in sessions.text
    assert "198.51.100.7" not in sessions.text


def test_an_image_of_the_largest_size_is_taken_and_larger_ones_are_refused(site: Site) -> None:
    place = site.ask("POST", "/api/dcim/sites/", json={"name": "upload", "status": "active"}).json()
    statuses = []
    for size in (5 * MEBIBYTE, 5 * MEBIBYTE + 1, 34 * MEBIBYTE):
        fields = {"content_type": "dcim.site", "object_id": place["id"], "name": str(size)}
        image = png() + bytes(size - len(png()))
        files = {"image": ("plan.png", image, "image/png")}
        answer = site.ask("POST", "/api/extras/image-attachments/", data=fields, files=files)
        statuses.append(answer.status_code)
        if answer.status_code == 201:
            assert answer.json()["image"].startswith(f"{site.url}/media/")
            assert site.session.get(answer.json()["image"], headers=site.token, timeout=60).content == image
    assert statuses[0] == 201
    assert statuses[1] in (400, 413)
    assert statuses[2] == 413


def test_a_long_query_passes(site: Site) -> None:
    query = "&".join(f"id=00000000-0000-4000-8000-{number:012}" for number in range(1000))
    assert site.ask("GET", f"/api/dcim/sites/?{query}").json()["count"] == 0


def test_the_feed_answers_as_soon_as_something_changes(site: Site) -> None:
    feed = site.ask("GET", "/api/extras/object-changes/feed/").json()
    while feed["results"]:
        feed = site.ask("GET", f"/api/extras/object-changes/feed/?after={feed['cursor']}").json()
    answers: list[Any] = []

    def wait() -> None:
        address = f"/api/extras/object-changes/feed/?after={feed['cursor']}&wait=50"
        answers.append(site.ask("GET", address).json())

    waiting = threading.Thread(target=wait)
    waiting.start()
    site.ask("POST", "/api/dcim/sites/", json={"name": "feed", "status": "active"})
    waiting.join(40)
    assert [change["object_repr"] for change in answers[0]["results"]] == ["feed"]


def test_processes_agree_on_configuration_at_once(site: Site, below_a_path: Site) -> None:
    """A custom field that one process defines is known to the others with the next request."""
    names = ("first", "second", "third")
    for asked, other, name in ((site, below_a_path, names[0]), (below_a_path, site, names[1]), (site, site, names[2])):
        field = {"name": name, "label": name, "type": "text", "content_types": ["dcim.region"]}
        assert asked.ask("POST", "/api/extras/custom-fields/", json=field).status_code == 201
        for number in range(6):  # new connections, which Gunicorn gives to any of its processes
            with requests.Session() as fresh:
                fresh.verify, fresh.trust_env = site.session.verify, False
                body = json.dumps({"name": f"{name} {number}", "custom_fields": {name: "x"}})
                headers = {**other.token, "Content-Type": "application/json"}
                answer = fresh.post(f"{other.url}/api/dcim/regions/", body, headers=headers, timeout=60)
                assert answer.status_code == 201, answer.text


def test_below_a_path_urls_pages_files_and_sign_in_work(below_a_path: Site, installation: tuple[Path, str]) -> None:
    site = below_a_path
    place = site.ask("POST", "/api/dcim/sites/", json={"name": "below", "status": "active"}).json()
    assert place["url"] == f"{site.url}/api/dcim/sites/{place['id']}/"
    assert site.session.get(place["url"], headers=site.token, timeout=60).json()["name"] == "below"
    browser = sign_in(site, installation)
    page = browser.get(f"{site.url}/dcim/sites/{place['id']}/", timeout=60)
    assert page.url == f"{site.url}/dcim/sites/{place['id']}/"
    files = re.findall(r'(?:href|src)="([^"]+\.(?:css|js|svg))"', page.text)
    assert len(files) > 2
    assert {browser.get(urljoin(page.url, file), timeout=60).status_code for file in files} == {200}
    moved = browser.get(site.url, allow_redirects=False, timeout=60)
    assert (moved.status_code, moved.headers["Location"]) == (308, f"{site.url}/")


def test_the_configuration_has_no_mistake(installation: tuple[Path, str]) -> None:
    ports = {"plain": 8081, "secure": 8444, "service": 8080}
    for number, (source, host) in enumerate(
        [("netinv.conf", "netinv.example.net"), ("netinv-below-a-path.conf", "example.net")]
    ):
        conf = configured(installation[0] / f"check{number}", source, host, ports)
        run = subprocess.run(
            ["nginx", "-t", "-p", conf.parent, "-c", conf], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        assert "[warn]" not in run.stderr


def test_gunicorn_writes_its_lines_as_the_ini_file_says(installation: tuple[Path, str]) -> None:
    folder, _ = installation
    _, loggers, logging = (REPOSITORY / "production.ini").read_text().partition("[loggers]")
    settings = SETTINGS.format(folder=folder, base_url="", port=0, filter_with="filter-with = proxy")
    ini, log = folder / "json.ini", folder / "json.log"
    ini.write_text(settings + loggers + logging.replace("formatter = line", "formatter = json"))
    python = {"PYTHONPATH": os.pathsep.join(sys.path)}
    with running(gunicorn(ini, free_port(), processes=1), log, lambda: "Booting worker" in log.read_text(), python):
        pass
    messages = [json.loads(line)["message"] for line in log.read_text().splitlines()]
    for beginning in ("Starting gunicorn", "Listening at", "Booting worker", "Shutting down"):
        assert any(message.startswith(beginning) for message in messages), messages
