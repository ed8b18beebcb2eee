"""Servers as an operator starts them: processes of commands, with their output."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

PATIENCE = 60.0  # seconds until a process is expected to be ready


PORTS = range(20_000, 30_000)  # below those that Linux gives to connections and to servers that bind port 0
_held: list[object] = []  # locked files, open until the process ends


def free_port() -> int:
    """A TCP port at which nothing listens, and which no other test gets while this process lives.

    :raises AssertionError: when all are in use
    """
    folder = Path(tempfile.gettempdir(), "netinv-test-ports")
    folder.mkdir(exist_ok=True)
    for port in random.sample(PORTS, len(PORTS)):
        lock = (folder / str(port)).open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            _held.append(lock)
            return port
        lock.close()
    raise AssertionError("no port is free")


@contextlib.contextmanager
def running(
    command: Sequence[object], log: Path, ready: Callable[[], bool], environment: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A process, from the time when it is ready; ended with SIGTERM.

    :raises AssertionError: when it ends or is not ready in time, with its output
    """
    given = {**os.environ, **(environment or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(word) for word in command], stdout=output, stderr=subprocess.STDOUT, env=given, cwd=log.parent
        )
        try:
            end = time.monotonic() + PATIENCE
            while not ready():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.1)
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE)


def listens(port: int) -> Callable[[], bool]:
    """Returns a condition: whether a connection to a port of this machine is accepted."""

    def condition() -> bool:
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", port)) == 0

    return condition
