"""Fork server: each run of a job has a process of its own, forked from one that has loaded all packages.

A job can therefore be killed, returns its memory, and starts within milliseconds instead of the seconds that
loading takes. The process of a job ends when its worker dies, because the socket between them is closed.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core import child_processes

if TYPE_CHECKING:
    from netinv_core.registry import Registry

IDLE_TIMEOUT = 600.0  # seconds without a request after which the server process ends
CLOSE_TIMEOUT = 2.0  # seconds that the server process has to end by itself; it holds nothing that would be lost
Message = dict[str, Any]


class Channel:
    """One end of a socket that carries messages: JSON, one per line."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._rest = b""
        self._sending = threading.Lock()
        self.busy = 0

    @contextlib.contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Sets ``busy`` for the block: a signal handler must not raise now, or half a message would be sent."""
        self.busy += 1
        try:
            yield
        finally:
            self.busy -= 1

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message; it is dropped when the other end is closed."""
        with self.undisturbed(), self._sending, contextlib.suppress(OSError):
            self._end.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, seconds: float | None = None) -> Message | None:
        """Returns the next message, or ``None`` after ``seconds``.

        :raises EOFError: when the other end is closed
        """
        while b"\n" not in self._rest:
            if not select.select([self._end], [], [], seconds)[0]:
                return None
            try:
                chunk = self._end.recv(1 << 16)
            except OSError:
                chunk = b""
            if not chunk:
                raise EOFError
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(json.loads(line))

    def close(self) -> None:
        """Closes the socket."""
        self._end.close()


class ForkServer:
    """Client of the fork server of a registry; the server process is started on demand."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._starting = threading.Lock()

    def start(self, work: Message) -> Channel:
        """Forks a process that does ``work``; returns the channel to it."""
        ours, theirs = socket.socketpair()
        with self._starting:
            try:
                self._hand_over(theirs)
            except OSError:  # the server process has ended: start another one
                self._end()
                self._hand_over(theirs)
        theirs.close()
        channel = Channel(ours)
        channel.send(work)
        return channel

    def _hand_over(self, end: socket.socket) -> None:
        if self._process is None or self._process.poll() is not None or self._control is None:
            self._open()
        assert self._control is not None
        socket.send_fds(self._control, [b"."], [end.fileno()])

    def _open(self) -> None:
        self._end()
        self._control, theirs = socket.socketpair()
        command = [sys.executable, "-m", "netinv_extras.jobs.forkserver", str(theirs.fileno())]
        config = {"path": sys.path, "dialect": self._registry.dialect, "settings": self._registry.settings}
        line = json.dumps(config).encode() + b"\n"  # before the process starts, which waits for it
        self._process = subprocess.Popen(  # noqa: S603 - this very module
            command, stdin=subprocess.PIPE, pass_fds=[theirs.fileno()], start_new_session=True
        )
        theirs.close()
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.close()

    def close(self) -> None:
        """Ends the server process; it is killed after :data:`CLOSE_TIMEOUT` seconds. The processes of jobs continue."""
        with self._starting:
            self._end()

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            child_processes.end(self._process, CLOSE_TIMEOUT)
        self._process = self._control = None


def _serve(control: socket.socket) -> None:
    """Main loop of the server: forks a process for each socket received, until the control socket is closed or idle."""
    config = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = config["path"]
    from netinv_core.main import registry_for
    from netinv_extras.jobs import child

    registry = registry_for(config["dialect"], config["settings"])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies; closed sockets tell the worker that a child ended
    control.settimeout(IDLE_TIMEOUT)
    gc.collect()
    gc.freeze()
    while True:
        try:
            data, descriptors, *_ = socket.recv_fds(control, 1, 1)
        except TimeoutError:
            return
        if not data:
            return
        if os.fork() == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os._exit(child.main(registry, Channel(socket.socket(fileno=descriptors[0]))))
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
