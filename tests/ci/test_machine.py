"""Machine of the tests: servers that do not answer, programs that are missing, and what killed runs left."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ci import machine
from ci.machine import RUN, SERVERS, Unfit, abandoned_processes, check_disk, install_missing, process_mark, start
from netinv_testing import databases
from tests.support.servers import free_port

pytestmark = pytest.mark.any_database
BY_NAME = {server.name: server for server in SERVERS}
ERROR = b"E\0\0\0\x20SFATAL\0Mthe database system is starting up\0\0"


@pytest.fixture
def answering() -> Iterator[tuple[int, list[bytes]]]:
    """The port of a server that answers each connection with the first of the texts."""
    texts: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(texts[0])

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1], texts
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("name", "answer", "problem"),
    [
        ("PostgreSQL", b"R\0\0\0\x08\0\0\0\0", ""),
        ("PostgreSQL", ERROR, "the database system is starting up"),
        ("PostgreSQL", b"HTTP/1.1 400", "not that of PostgreSQL"),
        ("MariaDB", b"\x4a\0\0\0\x0a10.11.19-MariaDB\0", ""),
        ("MariaDB", b"\x20\0\0\0\xff\x10\x04Too many connections", "Too many connections"),
        ("MariaDB", b"SSH-2.0-server", "not that of MariaDB"),
        ("Redis", b"+PONG\r\n", ""),
        ("Redis", b"-NOAUTH Authentication required.\r\n", ""),
        ("Redis", b"-LOADING the dataset\r\n", "LOADING"),
    ],
)
def test_a_server_is_asked_in_its_protocol(
    name: str, answer: bytes, problem: str, answering: tuple[int, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, texts = answering
    texts.append(answer)
    monkeypatch.setenv(BY_NAME[name].variable, f"scheme://user@127.0.0.1:{port}/9")
    found = BY_NAME[name].problem()
    assert problem in found and bool(found) == bool(problem)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_server_elsewhere_that_does_not_answer_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be started from here; the reason is one line with its variable."""
    server, port = BY_NAME[name], free_port()
    monkeypatch.setenv(server.variable, f"scheme://user@127.0.0.1:{port}/9")
    with pytest.raises(Unfit, match=rf"{name} does not answer at 127\.0\.0\.1:{port} \({server.variable}\): .*refused"):
        start(server)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("touch started; exit 1", ""),  # as that of MariaDB without its configuration file
        ("[ -e before ] && touch started; touch before; exit 1", ""),  # a killed server was not yet gone
        ("echo No space left on device; exit 3", "`service redis-server start` ended with status 3: No space left"),
        ("exit 0", "Redis was started and does not answer at 127.0.0.1:6379: no answer"),
    ],
    ids=["fails and runs", "runs at the second start", "fails", "does nothing"],
)
def test_the_answer_of_a_server_decides_whether_it_was_started(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Redis(machine.Server):
        def problem(self) -> str:
            return "" if Path(tmp_path, "started").exists() else "no answer"

    service = tmp_path / "service"
    service.write_text(f"#!/bin/sh\ncd {tmp_path}\n{script}\n")
    service.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv(BY_NAME["Redis"].variable, raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(machine, "PATIENCE", 0.1)
    monkeypatch.setattr(machine, "PATIENCE_AFTER_FAILURE", 0.1)
    server = Redis(**vars(BY_NAME["Redis"]))
    if reason:
        with pytest.raises(Unfit, match=re.escape(reason)):
            start(server)
    else:
        start(server)


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "false")
    monkeypatch.setitem(machine.PROGRAMS, "no-such-program", ("one",))
    monkeypatch.setitem(machine.PROGRAMS, "/no/such/header.h", ("two",))
    with pytest.raises(Unfit, match="these Debian packages: one two"):
        install_missing(["no-such-program", "/no/such/header.h"], [])


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 30))
    with pytest.raises(Unfit, match=r"has 1\.0 GiB of free disk space; the tests need 2 GiB"):
        check_disk()


def test_processes_of_a_killed_run_are_found() -> None:
    """Those of this run are not among them, nor those of one that still runs."""
    waiting = [sys.executable, "-c", "import time; time.sleep(600)"]
    first = subprocess.Popen(waiting)
    marked = {**os.environ, RUN: process_mark(first.pid)}
    second = subprocess.Popen(waiting, env=marked)
    try:
        deadline = time.monotonic() + 60
        while RUN.encode() not in Path(f"/proc/{second.pid}/environ").read_bytes():
            assert time.monotonic() < deadline
        assert second.pid not in list(abandoned_processes())
        first.kill()
        first.wait()
        assert second.pid in list(abandoned_processes())
    finally:
        first.kill()
        second.kill()
        first.wait()
        second.wait()
    assert os.getpid() not in list(abandoned_processes())


def test_a_database_of_a_process_that_is_gone_is_abandoned() -> None:
    own = databases.process_mark(os.getpid())
    host, pid, started = own.split("_")
    gone = subprocess.Popen(["true"])
    gone.wait()
    names = {
        f"netinv_test_{own}_0123abcd": False,
        f"netinv_test_{host}_{pid}_{int(started) + 1}_0123abcd": True,
        f"netinv_test_{host}_{gone.pid}_1_0123abcd": True,
        f"netinv_test_00000000_{gone.pid}_1_0123abcd": False,  # of another machine
        "netinv_test_0123456789ab": False,
        "netinv": False,
        f"production_{host}_{gone.pid}_1_0123abcd": False,
    }
    assert {name: databases.is_abandoned(name) for name in names} == names
