"""The processes that templates are rendered in (:mod:`netinv_extras.templates.renderer`), as the service sees them: started, borrowed, killed.

A process starts when it is first needed, with an empty environment and no descriptors but its socket and its progress pipe. It ends when the
socket is closed: with this process, however that ends. It is used again until it has rendered much; a fork begins with none.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Self

import jinja2
import markupsafe

from netinv_extras.templates.renderer import frames

START_TIMEOUT = 30.0  # seconds that a process has to start
IDLE_TIMEOUT = 60.0  # seconds that a second idle process is kept
MOST_CPU = 60.0  # seconds of processor time after which a process is replaced
ENVIRONMENT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # all that a process inherits: where Python itself may be
MAIN = pathlib.Path(frames.__file__).with_name("__main__.py")


class RendererDied(Exception):
    """The process has ended, or sent something that is no frame."""


class RendererTimeout(Exception):
    """The process did not answer in time."""


class PoolExhausted(Exception):
    """All processes were in use until the time was over, or this process ends."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """The settings of a pool: how many processes, and the memory of each (bytes)."""

    processes: int
    memory: int

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """As an ini file says."""
        return cls(max(settings["template_processes"], 1), settings["template_memory"])


class Process:
    """One renderer process; ``used`` is when it was given back last, ``worn`` says that it is not to be used again."""

    def __init__(self, limits: Limits) -> None:
        ours, theirs = socket.socketpair()
        self._progress, progress = os.pipe()
        self._socket = ours
        self._received = bytearray()
        self.used = time.monotonic()
        self.worn = False
        paths = sorted({str(pathlib.Path(module.__file__ or "").parent.parent) for module in (jinja2, markupsafe)})
        options = {"paths": paths, "progress": progress, "memory": limits.memory}
        command = [sys.executable, "-I", "-S", str(MAIN), json.dumps(options)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this very package
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[progress],
                env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            self._close()
            raise RendererDied(str(error)) from None
        finally:
            theirs.close()
            os.close(progress)
        os.set_blocking(self._progress, False)
        self.pid = self._process.pid
        try:
            self.receive(time.monotonic() + START_TIMEOUT, 0)
        except (RendererDied, RendererTimeout):
            self.kill()
            raise RendererDied("the renderer process does not start") from None

    def send(self, head: frames.Head, deadline: float) -> None:
        """Sends a message.

        :raises Gone: when the process has ended
        :raises Silent: when it does not read
        """
        self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            self._socket.sendall(frames.pack(head))
        except TimeoutError:
            raise RendererTimeout from None
        except OSError as error:
            raise RendererDied(str(error)) from None

    def receive(self, deadline: float, longest: int) -> tuple[frames.Head, bytes]:
        """The next message, with a body of at most ``longest`` bytes.

        :raises Gone: when the process has ended, or sends something else
        :raises Silent: when none comes in time
        """

        def exactly(count: int) -> bytes:
            while len(self._received) < count:
                self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
                part = self._socket.recv(1 << 16)
                if not part:
                    break
                self._received += part
            content = bytes(self._received[:count])
            del self._received[:count]
            return content

        try:
            frame = frames.read(exactly, frames.MAX_HEAD_BYTES, longest)
        except TimeoutError:
            raise RendererTimeout from None
        except (OSError, frames.BadFrame) as error:
            raise RendererDied(str(error)) from None
        if frame is None:
            raise RendererDied("the renderer process has ended")
        return frame

    def begun(self) -> int:
        """The number of jobs that have begun since the last call."""
        count = 0
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self._progress, 1 << 16):
                count += len(part)
        return count

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        return self._process.poll() is None

    def end(self) -> None:
        """Ends it; its user, in another thread, finds out."""
        self._process.kill()

    def kill(self) -> None:
        """Ends it at once, and closes the descriptors."""
        self._process.kill()
        self._process.wait()
        self._close()

    def abandon(self) -> None:
        """Closes this process's copies of the descriptors: after a fork it belongs to the parent."""
        self._close()

    def _close(self) -> None:
        self._socket.close()
        with contextlib.suppress(OSError):
            os.close(self._progress)


class Pool:
    """The renderer processes of this process: at most as many as the limits say, borrowed by one thread at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._idle: list[Process] = []  # the one used last at the end
        self._borrowed: set[Process] = set()
        self._count = 0
        self._closed = False
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def borrow(self, deadline: float) -> Iterator[Process]:
        """A process for the block. One that the block leaves with an exception is killed; one that has ended or is worn out is not used again.

        :raises Busy: when none is free until the deadline
        :raises Gone: when none can be started
        """
        process = self._take(deadline)
        try:
            yield process
        except BaseException:
            self._forget(process)
            raise
        self._give_back(process)

    def _take(self, deadline: float) -> Process:
        with self._changed:
            while True:
                if self._closed:
                    raise PoolExhausted
                while self._idle:
                    process = self._idle.pop()
                    if process.alive:
                        self._borrowed.add(process)
                        return process
                    process.kill()
                    self._count -= 1
                if self._count < self._limits.processes:
                    self._count += 1
                    break
                if not self._changed.wait(deadline - time.monotonic()):
                    raise PoolExhausted
        try:
            process = Process(self._limits)
        except BaseException:
            with self._changed:
                self._count -= 1
                self._changed.notify()
            raise
        with self._changed:
            self._borrowed.add(process)
        return process

    def _forget(self, process: Process) -> None:
        process.kill()
        with self._changed:
            self._borrowed.discard(process)
            self._count -= 1
            self._changed.notify()

    def _give_back(self, process: Process) -> None:
        if process.worn:
            self._forget(process)
            return
        process.used = time.monotonic()
        with self._changed:
            self._borrowed.discard(process)
            self._idle.append(process)
            while len(self._idle) > 1 and self._idle[0].used < process.used - IDLE_TIMEOUT:
                self._idle.pop(0).kill()
                self._count -= 1
            self._changed.notify()

    def abandon(self) -> None:
        """Closes this process's copies of all descriptors."""
        for process in [*self._borrowed, *self._idle]:
            process.abandon()

    def processes(self) -> list[Process]:
        """All of them, those in use first."""
        with self._changed:
            return [*self._borrowed, *self._idle]

    def close(self) -> None:
        """Ends all processes and starts no more, because this process ends."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            self._count -= len(idle)
            for process in self._borrowed:
                process.end()
            self._changed.notify_all()
        for process in idle:
            process.kill()


class _Pools:
    """The pools of this process, by their limits."""

    def __init__(self) -> None:
        self._by_limits: dict[Limits, Pool] = {}
        self._lock = threading.Lock()

    def get(self, limits: Limits) -> Pool:
        """The pool with these limits."""
        with self._lock:
            if limits not in self._by_limits:
                self._by_limits[limits] = Pool(limits)
            return self._by_limits[limits]

    def begin_anew(self) -> None:
        """Has no pools any more, after a fork: the processes belong to the parent, which alone may hold their sockets."""
        for inherited in self._by_limits.values():
            inherited.abandon()
        self._by_limits, self._lock = {}, threading.Lock()

    def close(self) -> None:
        """Ends all processes."""
        for each in list(self._by_limits.values()):
            each.close()


_pools = _Pools()
pool = _pools.get
os.register_at_fork(after_in_child=_pools.begin_anew)
atexit.register(_pools.close)
