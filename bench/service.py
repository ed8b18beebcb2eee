"""A netinv service of the benchmark's own: a database that is made and dropped, its processes, free ports."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import requests
import sqlalchemy as sa
from sqlalchemy.engine import make_url

from bench.client import Client
from netinv_core.db.engine import engine_from

BIN = Path(sys.executable).parent
INI = """\
[app:main]
use = egg:netinv-core
netinv.database_url = {database}
netinv.secret = {secret}
netinv.queue_url = {queue}
netinv.webhook_allow = 127.0.0.0/8

[server:main]
use = egg:netinv-core
listen = 127.0.0.1:%(port)s
threads = {threads}
"""
START_LIMIT = 60


@contextlib.contextmanager
def postgresql(url: str) -> Iterator[str]:
    """The URL of a new database on the server at ``url``, which is dropped at the end."""
    name = f"netinv_bench_{os.getpid()}"
    server = engine_from(url, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    try:
        yield make_url(url).set(database=name).render_as_string(hide_password=False)
    finally:
        with server.connect() as connection:
            connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))
        server.dispose()


def analyze(database: str) -> None:
    """Has PostgreSQL look at its tables, as it does by itself within a minute: what is measured before would be
    measured with the plans of empty tables.
    """
    engine = engine_from(database, isolation_level="AUTOCOMMIT")
    if engine.dialect.name == "postgresql":
        with engine.connect() as connection:
            connection.execute(sa.text("VACUUM ANALYZE"))
    engine.dispose()


class Service:
    """The service in a folder: prepared once, started and stopped as often as wanted.

    :param processes: how many processes there are, each at a port of its own
    """

    def __init__(self, folder: Path, database: str, queue: str, threads: int, processes: int = 1) -> None:
        self._ports = [_free_port() for _ in range(processes)]
        self.ini = folder / "bench.ini"
        self.ini.write_text(
            INI.format(
                database=database.replace("%", "%%"),
                queue=queue,
                secret=secrets.token_hex(32),
                threads=threads,
            )
        )
        self.database = database
        self.log = folder / "service.log"
        self.urls = [f"http://127.0.0.1:{port}" for port in self._ports]
        self.url = self.urls[0]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._netinv("migrate")
        self.username, self.password = f"bench-{secrets.token_hex(4)}", secrets.token_urlsafe(16)
        self._netinv("user", "create", self.username, "--superuser", "--password", self.password)
        self.token = self._netinv("token", "create", self.username).split()[-1]

    def _netinv(self, *words: str) -> str:
        done = subprocess.run(
            [BIN / "netinv", "--config", self.ini, *words], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"netinv {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self) -> float:
        """Starts the processes; gives the seconds until each answered a request that reads the database.

        :raises RuntimeError: when one ends, or does not answer within a minute
        """
        began = time.perf_counter()
        with self.log.open("ab") as log:
            for port in self._ports:
                command: list[str | Path] = [BIN / "pserve", self.ini, f"port={port}"]
                self._processes.append(subprocess.Popen(command, stdout=log, stderr=log))
        for url, process in zip(self.urls, self._processes, strict=True):
            self._await(url, process, began + START_LIMIT)
        return time.perf_counter() - began

    def _await(self, url: str, process: subprocess.Popen[bytes], end: float) -> None:
        """Waits until a process answers."""
        while time.perf_counter() < end:
            with contextlib.suppress(requests.ConnectionError):
                answer = requests.get(f"{url}/api/dcim/devices/?limit=1", headers=self.headers, timeout=START_LIMIT)
                if not answer.ok:
                    raise RuntimeError(
                        f"the service started, but does not work: {answer.status_code} {answer.text[:500]}"
                    )
                return
            if process.poll() is not None:
                break
            time.sleep(0.01)
        raise RuntimeError("the service did not start")

    @contextlib.contextmanager
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        """A worker, ended with SIGTERM."""
        with self.log.open("ab") as log:
            command: list[str | Path] = [BIN / "netinv", "--config", self.ini, "worker"]
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait()

    def last_words(self) -> str:
        """The end of what the process logged."""
        return self.log.read_text()[-2000:] if self.log.exists() else ""

    def stop(self) -> None:
        """Stops the processes, when there are some."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait()
        self._processes = []

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The first process."""
        return self._processes[0]

    @property
    def headers(self) -> dict[str, str]:
        """Headers that authenticate a request."""
        return {"Authorization": f"Token {self.token}"}

    def client(self, process: int = 0) -> Client:
        """A connection to one of the processes."""
        return Client(self.urls[process], self.headers)

    def memory(self) -> float:
        """The most memory that one of the processes holds resident, MiB (``VmRSS``, Linux)."""
        return self._most("VmRSS")

    def peak_memory(self) -> float:
        """The most memory that one of the processes ever held resident, MiB (``VmHWM``, Linux)."""
        return self._most("VmHWM")

    def _most(self, name: str) -> float:
        found = [Path(f"/proc/{process.pid}/status").read_text() for process in self._processes]
        return max(int(status.partition(f"{name}:")[2].split()[0]) for status in found) / 1024


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
