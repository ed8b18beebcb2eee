"""Restarts of the processes of a service, one after the other, behind nginx and under load: every request is answered."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner

from netinv_admin.commands.cli import cli
from tests.support.servers import free_port, listens, running

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.night]
CLIENTS = 4
SETTINGS = """
[app:main]
use = egg:netinv-core
netinv.database_url = sqlite:///{folder}/netinv.sqlite
netinv.secret = for tests only, 32 characters or more
netinv.media_root = {folder}/media
netinv.allowed_hosts = localhost 127.0.0.1
[server:main]
use = egg:netinv-core
listen = 127.0.0.1:{port}
"""
NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream netinv {{
        server 127.0.0.1:{first} max_fails=0;
        server 127.0.0.1:{second} max_fails=0;
        keepalive 16;
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://netinv;
            proxy_http_version 1.1;
            proxy_set_header Host localhost;
            proxy_set_header Connection "";
        }}
    }}
}}
"""


@dataclasses.dataclass
class Installation:
    """A migrated database in a folder, and the token of an administrator."""

    folder: Path
    token: str

    @contextlib.contextmanager
    def process(self, port: int) -> Iterator[subprocess.Popen[bytes]]:
        """A process of the service."""
        ini = self.folder / f"{port}.ini"
        ini.write_text(SETTINGS.format(folder=self.folder, port=port))
        command = [Path(sys.executable).parent / "pserve", ini]
        with running(command, self.folder / f"{port}.log", listens(port)) as process:
            yield process

    @contextlib.contextmanager
    def proxy(self, port: int, ports: tuple[int, int]) -> Iterator[None]:
        """nginx in front of two processes."""
        user = "user root;" if os.geteuid() == 0 else ""
        values = {"folder": self.folder, "user": user, "port": port, "first": ports[0], "second": ports[1]}
        configuration = self.folder / "nginx.conf"
        configuration.write_text(NGINX.format(**values))
        with running(["nginx", "-c", configuration], self.folder / "nginx.log", listens(port)):
            yield


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """An installation of its own."""
    ini = tmp_path / "commands.ini"
    ini.write_text(SETTINGS.format(folder=tmp_path, port=0))
    assert CliRunner().invoke(cli, ["-c", str(ini), "migrate"]).exit_code == 0
    created = CliRunner().invoke(cli, ["-c", str(ini), "user", "create", "admin", "--superuser", "--with-token"])
    return Installation(tmp_path, re.findall(r"token\s+(\S+)", created.output)[0])


class Load:
    """Clients that read lists and create sites, and count what they are answered."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.headers = url, {"Authorization": f"Token {token}"}
        self.ends, self.answers, self.created = threading.Event(), Counter[str](), list[str]()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(CLIENTS)]

    def _run(self, client: int) -> None:
        session, number = requests.Session(), 0
        session.trust_env = False
        while not self.ends.wait(0.01):
            number += 1
            name = f"site-{client}-{number}"
            body = json.dumps({"name": name, "slug": name, "status": "active"})
            headers = self.headers | {"Content-Type": "application/json"}
            try:
                if number % 3:
                    answer = session.get(f"{self.url}/api/dcim/sites/?limit=50", headers=self.headers, timeout=30)
                    assert answer.status_code != 200 or answer.json()
                else:
                    answer = session.post(f"{self.url}/api/dcim/sites/", data=body, headers=headers, timeout=30)
                    self.created += [answer.json()["name"]] if answer.status_code == 201 else []
                self.answers[str(answer.status_code)] += 1
            except (requests.RequestException, ValueError, KeyError) as error:
                self.answers[type(error).__name__] += 1

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ends.set()
        for thread in self._threads:
            thread.join()


def test_no_answer_is_lost_while_the_processes_are_restarted(installation: Installation) -> None:
    ports, front = (free_port(), free_port()), free_port()
    with contextlib.ExitStack() as stack:
        processes = {port: stack.enter_context(installation.process(port)) for port in ports}
        stack.enter_context(installation.proxy(front, ports))
        with Load(f"http://127.0.0.1:{front}", installation.token) as load:
            for port in ports:
                time.sleep(1)
                processes[port].send_signal(signal.SIGTERM)
                assert processes[port].wait(30) == 0
                processes[port] = stack.enter_context(installation.process(port))
            time.sleep(1)
        assert set(load.answers) == {"200", "201"}, load.answers
        assert load.answers["200"] > 50
        sites = requests.get(f"http://127.0.0.1:{front}/api/dcim/sites/?limit=1", headers=load.headers, timeout=60)
        assert sites.json()["count"] == len(set(load.created)) == load.answers["201"]


def test_a_request_that_is_being_sent_is_answered_and_new_connections_are_refused(installation: Installation) -> None:
    """The body arrives after the signal. The answer says that the connection ends, and the exit code is 0."""
    port = free_port()
    body = b'{"name": "slow", "slug": "slow", "status": "active"}'
    lines = [
        "POST /api/dcim/sites/ HTTP/1.1",
        "Host: localhost",
        f"Authorization: Token {installation.token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    with installation.process(port) as process, socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body[:10])
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        time.sleep(1.5)
        assert not listens(port)()
        connection.sendall(body[10:])
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        assert answer.startswith(b"HTTP/1.1 201 ")
        assert b"\r\nConnection: close\r\n" in answer
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["name"] == "slow"
        assert process.wait(10) == 0


def test_a_service_that_stops_is_not_ready_and_serves_on_for_the_delay(installation: Installation) -> None:
    port = free_port()
    ini = installation.folder / f"{port}.ini"
    ini.write_text(SETTINGS.format(folder=installation.folder, port=port) + "shutdown_delay = 4\n")
    url = f"http://127.0.0.1:{port}/health/ready"
    command = [Path(sys.executable).parent / "pserve", ini]
    with running(command, installation.folder / "delay.log", listens(port)) as process:
        assert requests.get(url, timeout=10).json()["status"] == "ready"
        process.send_signal(signal.SIGTERM)
        time.sleep(1)
        stopping = requests.get(url, timeout=10)
        assert (stopping.status_code, stopping.json()["status"]) == (503, "stopping")
        assert process.wait(15) == 0


def test_a_port_that_is_taken_is_one_line_and_another_one_is_a_word_of_the_command(installation: Installation) -> None:
    taken, free = free_port(), free_port()
    ini = installation.folder / "taken.ini"
    ini.write_text(SETTINGS.format(folder=installation.folder, port=taken))
    command = [str(Path(sys.executable).parent / "pserve"), str(ini)]
    with socket.create_server(("127.0.0.1", taken)):
        refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        assert f"cannot serve at 127.0.0.1:{taken}" in refused.stderr
        with running([*command, f"port={free}"], installation.folder / "free.log", listens(free)):
            assert requests.get(f"http://127.0.0.1:{free}/health/live", timeout=10).status_code == 200
