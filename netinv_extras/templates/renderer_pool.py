"""Pool of the renderer processes (:mod:`netinv_extras.templates.renderer`): starts, lends and kills them.

A process starts when it is first needed, with an empty environment and no descriptors but its socket and its
progress pipe. It ends when the socket is closed, which happens even if this process is killed. Processes are reused
until they have used
:data:`MAX_CPU` seconds. A forked child has a pool of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import importlib.util
import json
import logging
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Self

from netinv_core import child_processes
from netinv_extras.templates.renderer import frames

log = logging.getLogger(__name__)
START_TIMEOUT = 30.0  # seconds for the start of a process
IDLE_TIMEOUT = 60.0  # seconds after which idle processes end, except for the one used last
MAX_CPU = 60.0  # seconds of processor time after which a process is replaced
ENVIRONMENT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # inherited variables: library paths of Python itself
LIBRARIES = ("jinja2", "markupsafe", "markdown_it", "mdurl", "netutils", "yaml")  # that the renderer imports
MAIN = pathlib.Path(frames.__file__).with_name("__main__.py")


class RendererDied(Exception):
    """The process has ended, or sent an invalid frame."""


class RendererTimeout(Exception):
    """The process did not answer in time."""


class PoolExhausted(Exception):
    """All processes were in use until the deadline, or this process is ending."""


@dataclasses.dataclass(frozen=True)
class PoolLimits:
    """Limits of a pool: number of processes, and memory of each in bytes; the filters of packages that they load."""

    processes: int
    memory: int
    filters: tuple[tuple[str, str, str], ...] = ()  # name, file, function

    @classmethod
    def of(cls, settings: Mapping[str, Any], filters: tuple[tuple[str, str, str], ...] = ()) -> Self:
        """Returns the limits of the settings."""
        return cls(max(settings["template_processes"], 1), settings["template_memory"], filters)


class Process:
    """A renderer process. ``used`` is the time of its last return (monotonic); ``worn`` ones are replaced."""

    def __init__(self, limits: PoolLimits) -> None:
        ours, theirs = socket.socketpair()
        self._progress, progress = os.pipe()
        self._socket = ours
        self._received = bytearray()
        self.used = time.monotonic()
        self.worn = False
        specs = [importlib.util.find_spec(name) for name in LIBRARIES]
        paths = sorted({str(pathlib.Path(spec.origin or "").parent.parent) for spec in specs if spec is not None})
        options = {"paths": paths, "progress": progress, "memory": limits.memory, "filters": limits.filters}
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
            ready, _ = self.receive(time.monotonic() + START_TIMEOUT, 0)
        except (RendererDied, RendererTimeout):
            self.kill()
            raise RendererDied("the renderer process does not start") from None
        for name in ready.get("failed", ()):
            log.error("the filter %s of templates cannot be loaded and is left out", name)

    def send(self, head: frames.Head, deadline: float) -> None:
        """Sends a message.

        :raises RendererDied: when the process has ended
        :raises RendererTimeout: when it does not read
        """
        self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            self._socket.sendall(frames.pack(head))
        except TimeoutError:
            raise RendererTimeout from None
        except OSError as error:
            raise RendererDied(str(error)) from None

    def receive(self, deadline: float, longest: int) -> tuple[frames.Head, bytes]:
        """Returns the next message, with a body of at most ``longest`` bytes.

        :raises RendererDied: when the process has ended, or sends an invalid frame
        :raises RendererTimeout: when none arrives in time
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
        """Returns the number of renderings begun since the last call, from the progress pipe."""
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
        """Kills the process; the thread that uses it gets :exc:`RendererDied`."""
        self._process.kill()

    def kill(self) -> None:
        """Kills the process, reaps it and closes the descriptors."""
        self._process.kill()
        child_processes.reap(self._process)
        self._close()

    def abandon(self) -> None:
        """Closes this process's copies of the descriptors: after a fork it belongs to the parent."""
        self._close()

    def _close(self) -> None:
        self._socket.close()
        with contextlib.suppress(OSError):
            os.close(self._progress)


class RendererPool:
    """Bounded pool of renderer processes; each is used by one thread at a time."""

    def __init__(self, limits: PoolLimits) -> None:
        self._limits = limits
        self._idle: list[Process] = []  # the one used last at the end
        self._borrowed: set[Process] = set()
        self._count = 0
        self._closed = False
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def borrow(self, deadline: float) -> Iterator[Process]:
        """Context manager: a process for the block. It is killed if the block raises; a worn one is not reused.

        :raises PoolExhausted: when none is free until the deadline
        :raises RendererDied: when none can be started
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
        """Returns all processes, those in use first."""
        with self._changed:
            return [*self._borrowed, *self._idle]

    def close(self) -> None:
        """Ends all processes and starts no more; for the exit of this process."""
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
        self._by_limits: dict[PoolLimits, RendererPool] = {}
        self._lock = threading.Lock()

    def get(self, limits: PoolLimits) -> RendererPool:
        """Returns the pool with these limits."""
        with self._lock:
            if limits not in self._by_limits:
                self._by_limits[limits] = RendererPool(limits)
            return self._by_limits[limits]

    def begin_anew(self) -> None:
        """Drops the inherited pools after a fork: their processes and sockets belong to the parent."""
        for inherited in self._by_limits.values():
            inherited.abandon()
        self._by_limits, self._lock = {}, threading.Lock()

    def close(self) -> None:
        """Ends all processes."""
        for renderers in list(self._by_limits.values()):
            renderers.close()


_pools = _Pools()
pool = _pools.get
os.register_at_fork(after_in_child=_pools.begin_anew)
atexit.register(_pools.close)
