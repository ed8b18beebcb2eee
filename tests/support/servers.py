"""Servers as an operator starts them: processes of commands, with their output."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

PATIENCE = 60.0  # seconds until a process is expected to be ready


def free_port() -> int:
    """A TCP port at which nothing listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


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
