"""Requests at the same time: threads that meet in the middle of their transactions, and what must come of it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sqlalchemy import event

from netinv_core.driver import driver_of
from netinv_testing.cases import Case, check, writable
from netinv_testing.client import Api, Service
from netinv_testing.lock_waits import LockWaits

CLIENTS, FEW = 8, 4
VAGUE = "at the same time"  # what is said when a constraint of the database speaks first, each time
POLL = 0.05  # seconds between two looks at who waits for locks
BARRIER_TIMEOUT = 10.0  # seconds that a client at its first write waits for others at most
_WRITES = ("INSERT", "UPDATE", "DELETE", "WITH")

Call = Callable[[Api], Any]


class _Meeting:
    """Makes the clients of a race wait for each other where each first writes, so that none has seen what another one
    writes.
    """

    def __init__(self, parties: int, waits: LockWaits) -> None:
        self._waits = waits
        self._start = threading.Barrier(parties)
        self._open = threading.Event()
        self._lock = threading.Lock()
        self._missing = parties
        self._here = threading.local()

    def begin(self) -> None:
        """Waits for all clients to have come."""
        self._here.waits = True
        self._start.wait()

    def arrive(self) -> None:
        """Waits, the first time that a client comes here, until all others have, are done, or wait for its locks."""
        if not getattr(self._here, "waits", False):
            return
        self._here.waits = False
        with self._lock:
            self._missing -= 1
            if self._missing <= 0:
                self._open.set()
        deadline = time.monotonic() + BARRIER_TIMEOUT
        while not self._open.wait(POLL):
            if self._waits.count() >= self._missing or time.monotonic() > deadline:
                self._open.set()

    def end(self) -> None:
        """Notes that a client is done: nobody waits for it any longer."""
        if getattr(self._here, "waits", False):
            self._here.waits = False
            with self._lock:
                self._missing -= 1
                if self._missing <= 0:
                    self._open.set()


@contextlib.contextmanager
def _meeting(service: Service, parties: int, locking: str) -> Iterator[_Meeting]:
    meeting = _Meeting(parties, LockWaits(service.engine))
    moment = "after_cursor_execute" if locking else "before_cursor_execute"

    def wait(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        if (locking in statement and " FOR UPDATE" in statement) if locking else statement.startswith(_WRITES):
            meeting.arrive()

    # On SQLite one transaction writes at a time, so no second client comes that far.
    together = not driver_of(service.engine).locks_database
    if together:
        event.listen(service.engine, moment, wait)
    try:
        yield meeting
    finally:
        if together:
            event.remove(service.engine, moment, wait)


def race(service: Service, calls: Sequence[Call], *, locking: str = "") -> list[Any]:
    """The results of calls that are made at the same time, each with a client and a connection of its own.

    They meet where each first writes; with the name of a table, where each has locked its first rows of it.
    """
    with _meeting(service, len(calls), locking) as meeting, ThreadPoolExecutor(len(calls)) as pool:

        def run(call: Call) -> Any:
            meeting.begin()
            try:
                return call(Api(service.app, service.api.token))
            finally:
                meeting.end()

        return list(pool.map(run, calls))


def statuses(responses: Sequence[Any]) -> list[int]:
    """The status codes, in order."""
    return sorted(response.status_int for response in responses)


@check(writable)
def what_is_unique_is_created_once(case: Case) -> None:
    """Of clients who create equal objects at the same time one succeeds, where a second object is refused; the others
    are told what is taken.
    """
    body = case.body()
    case.api.post(case.path, body)
    second = case.api.send("POST", case.path, body)
    if second.status_int == 201:
        return
    expected = case.body()
    responses = race(case.service, [lambda api: api.send("POST", case.path, expected)] * FEW)
    assert statuses(responses) == [201] + [400] * (FEW - 1), [response.text for response in responses]
    assert not any(VAGUE in response.text for response in responses), [response.text for response in responses]
