"""The processes that jobs run in: one for each run, forked from one that has everything loaded and does nothing else.

A job can so be killed, and gives its memory back; and it begins within milliseconds, not after the seconds that loading takes. A process whose worker
has died ends at once, because the socket between them is closed.
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
from typing import Any

from netinv_core.registry import Registry

IDLE_TIMEOUT = 600.0  # seconds without work after which the process that is forked from ends
Message = dict[str, Any]


class Channel:
    """One end of a socket that carries messages: JSON, one a line."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._rest = b""
        self._sending = threading.Lock()
        self.busy = 0

    @contextlib.contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Says (``busy``) that who is at it must not be broken off by a signal: half a message would be left behind."""
        self.busy += 1
        try:
            yield
        finally:
            self.busy -= 1

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message; what nobody is there to read is dropped."""
        with self.undisturbed(), self._sending, contextlib.suppress(OSError):
            self._end.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, seconds: float | None = None) -> Message | None:
        """The next message; ``None`` when there is none in time.

        :raises EOFError: when the other side is gone
        """
        while b"\n" not in self._rest:
            if not select.select([self._end], [], [], seconds)[0]:
                return None
            try:
                found = self._end.recv(1 << 16)
            except OSError:
                found = b""
            if not found:
                raise EOFError
            self._rest += found
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(json.loads(line))

    def close(self) -> None:
        """Ends it."""
        self._end.close()


class ForkServer:
    """Where the processes of a registry's jobs come from; the process that they are forked from is started when it is needed."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._starting = threading.Lock()

    def start(self, work: Message) -> Channel:
        """A link to a new process that does ``work``."""
        ours, theirs = socket.socketpair()
        with self._starting:
            try:
                self._hand_over(theirs)
            except OSError:  # it has ended meanwhile
                self.close()
                self._hand_over(theirs)
        theirs.close()
        link = Channel(ours)
        link.send(work)
        return link

    def _hand_over(self, end: socket.socket) -> None:
        if self._process is None or self._process.poll() is not None or self._control is None:
            self._open()
        assert self._control is not None
        socket.send_fds(self._control, [b"."], [end.fileno()])

    def _open(self) -> None:
        self.close()
        self._control, theirs = socket.socketpair()
        command = [sys.executable, "-m", "netinv_extras.jobs.forkserver", str(theirs.fileno())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[theirs.fileno()], start_new_session=True)  # noqa: S603 - this very module
        theirs.close()
        told = {"path": sys.path, "dialect": self._registry.dialect, "settings": self._registry.settings}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(told).encode() + b"\n")
        self._process.stdin.close()

    def close(self) -> None:
        """Ends the process that others are forked from; those go on."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.wait()
        self._process = self._control = None


def _serve(control: socket.socket) -> None:
    """Forks a process for each socket that comes, until none does."""
    told = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = told["path"]
    from netinv_core.main import registry_for
    from netinv_extras.jobs import child

    registry = registry_for(told["dialect"], told["settings"])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they ended: their sockets tell
    control.settimeout(IDLE_TIMEOUT)
    gc.collect()
    gc.freeze()
    while True:
        try:
            word, descriptors, *_ = socket.recv_fds(control, 1, 1)
        except TimeoutError:
            return
        if not word:
            return
        if os.fork() == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os._exit(child.main(registry, Channel(socket.socket(fileno=descriptors[0]))))
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
