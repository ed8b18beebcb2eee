"""A netinv service of the benchmark's own: a database that is made and dropped, one process, a free port."""

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
use = egg:waitress#main
listen = 127.0.0.1:{port}
threads = {threads}
"""
START_LIMIT = 60
ENVIRONMENT = {"MALLOC_ARENA_MAX": "2"}  # as docs/operating.md has it


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
    """The service in a folder: prepared once, started and stopped as often as wanted."""

    def __init__(self, folder: Path, database: str, queue: str, threads: int) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        self.ini = folder / "bench.ini"
        self.ini.write_text(
            INI.format(
                database=database.replace("%", "%%"),
                queue=queue,
                secret=secrets.token_hex(32),
                port=port,
                threads=threads,
            )
        )
        self.database = database
        self.log = folder / "service.log"
        self.url = f"http://127.0.0.1:{port}"
        self.process: subprocess.Popen[bytes] | None = None
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
        """Starts the process; gives the seconds until it answered a request that reads the database.

        :raises RuntimeError: when it ends, or does not answer within a minute
        """
        began = time.perf_counter()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [BIN / "pserve", self.ini], stdout=log, stderr=log, env=os.environ | ENVIRONMENT
            )
        while time.perf_counter() - began < START_LIMIT:
            with contextlib.suppress(requests.ConnectionError):
                answer = requests.get(
                    f"{self.url}/api/dcim/devices/?limit=1", headers=self.headers, timeout=START_LIMIT
                )
                if not answer.ok:
                    raise RuntimeError(
                        f"the service started, but does not work: {answer.status_code} {answer.text[:500]}"
                    )
                return time.perf_counter() - began
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        raise RuntimeError("the service did not start")

    def last_words(self) -> str:
        """The end of what the process logged."""
        return self.log.read_text()[-2000:] if self.log.exists() else ""

    def stop(self) -> None:
        """Stops the process, when there is one."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    @property
    def headers(self) -> dict[str, str]:
        """Headers that authenticate a request."""
        return {"Authorization": f"Token {self.token}"}

    def client(self) -> Client:
        """A connection to the service."""
        return Client(self.url, self.headers)

    def peak_memory(self) -> float:
        """The most memory the process ever held resident, MiB (``VmHWM``, Linux)."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024
