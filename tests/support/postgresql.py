"""PostgreSQL servers of a test: a primary that it creates with `initdb`, and streaming replicas of it."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from netinv_core.db.engine import engine_from
from tests.support.servers import free_port

ACCOUNT = "postgres"  # the servers refuse to run as root
CONFIGURATION = """
listen_addresses = '127.0.0.1'
unix_socket_directories = '{folder}'
port = {port}
fsync = off
shared_buffers = 16MB
max_connections = 60
wal_retrieve_retry_interval = 100ms
"""


def _programs() -> Path:
    """The folder of the newest server programs of this machine."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    found = shutil.which("initdb")
    return folders[-1] if folders else Path(found or "initdb").parent


def run_as_server(*command: object) -> None:
    """Runs a program as the account of the servers.

    :raises AssertionError: with its output, when it fails
    """
    account = {"user": ACCOUNT, "group": ACCOUNT, "extra_groups": []} if os.getuid() == 0 else {}
    words = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as output:  # a pipe would stay open in a server that the program starts
        done = subprocess.run(words, stdout=output, stderr=subprocess.STDOUT, cwd="/", check=False, **account)  # type: ignore[call-overload]
        output.seek(0)
        assert done.returncode == 0, f"{' '.join(words)}: {output.read()}"


class Server:
    """A PostgreSQL server with its data in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"postgresql://{ACCOUNT}@127.0.0.1:{self.port}/postgres"

    def create(self) -> Server:
        """Creates the data of a primary."""
        options = ("--username", ACCOUNT, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        run_as_server(_programs() / "initdb", "--pgdata", self.folder, *options)
        return self

    def copy(self, primary: Server) -> Server:
        """Copies the data of a running primary, to follow it."""
        source = f"host=127.0.0.1 port={primary.port} user={ACCOUNT}"
        options = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--wal-method=stream")
        run_as_server(_programs() / "pg_basebackup", "--dbname", source, "--pgdata", self.folder, *options)
        return self

    def start(self) -> Server:
        """Starts the server, and waits until it accepts connections."""
        with (self.folder / "postgresql.auto.conf").open("a") as file:
            file.write(CONFIGURATION.format(folder=self.folder, port=self.port))
        self._control("start", "--log", self.folder / "log", "--wait", "--timeout=60")
        return self

    def stop(self, mode: str = "immediate") -> None:
        """Stops the server; ``immediate`` is a crash."""
        self._control("stop", "--mode", mode)

    def _control(self, *words: object) -> None:
        run_as_server(_programs() / "pg_ctl", *words, "--pgdata", self.folder)

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """The rows of a statement."""
        engine = engine_from(self.url, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                result = connection.execute(sa.text(statement))
                return [tuple(row) for row in result] if result.returns_rows else []
        finally:
            engine.dispose()


@contextlib.contextmanager
def primary_server() -> Iterator[Server]:
    """A running primary with a folder of its own, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="netinv-postgresql-"))
    if os.getuid() == 0:
        account = pwd.getpwnam(ACCOUNT)
        os.chown(folder, account.pw_uid, account.pw_gid)
    try:
        with _running(Server(folder / "primary").create()) as primary:
            yield primary
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def servers() -> Iterator[tuple[Server, Server]]:
    """A primary and a replica that follows it, both running."""
    with primary_server() as primary:
        replica = Server(primary.folder.with_name("replica")).copy(primary)
        with _running(replica):
            yield primary, replica


@contextlib.contextmanager
def _running(server: Server) -> Iterator[Server]:
    server.start()
    try:
        yield server
    finally:
        with contextlib.suppress(AssertionError):  # it is stopped already
            server.stop()
