"""Time limit of the parts that plugins add to answers: a request does not wait for a part that takes longer.

The part runs in a thread of its own, on the connections of the request. When the time is over, the request leaves them
to the thread, which ends when the part does, and goes on with others. Until then the part is not called again.
"""

from __future__ import annotations

import contextvars
import copy
import logging
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.threadlocal import RequestContext

from netinv_core.errors import RequestError
from netinv_core.packages import exceptions_only
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
SECONDS = 5.0  # of a part of an answer of the API


class TakesTooLong(Exception):
    """The time of a part is over, or an earlier call of it still runs."""


@cached_in_registry
def _running_threads(registry: Registry) -> dict[Any, threading.Thread]:
    """The threads of parts that took too long, by the key of the part."""
    return {}


def in_time(request: Request, key: Hashable, function: Callable[[Request], Any], seconds: float) -> Any:
    """The result of ``function``, which gets a copy of the request.

    ``key`` tells what is called, so that it is not called again while an earlier call runs.

    Requests that write, or that show what a change request proposes, have no limit: the transaction is theirs.

    :param seconds: the time limit; none if it is 0
    :raises TakesTooLong: when the time is over
    """
    registry: Registry = request.registry.netinv
    uow = request.uow
    if not seconds or uow.writing or uow.aside is not None:
        return function(request)
    running = _running_threads(registry)
    if (thread := running.get(key)) is not None and thread.is_alive():
        raise TakesTooLong(f"an earlier call still runs after {seconds:g} s")
    call = _Call(request, function)
    thread = threading.Thread(target=contextvars.copy_context().run, args=(call.run,), name="netinv-part", daemon=True)
    thread.start()
    if call.wait(seconds):
        running.pop(key, None)
        return call.outcome()
    running[key] = thread
    raise TakesTooLong(f"it took longer than {seconds:g} s")


def call_in_time(request: Request, package: str, key: Hashable, function: Callable[[Request], Any]) -> Any:
    """The result of a function of a package, which gets the request; that of a plugin within :data:`SECONDS`.

    :raises TakesTooLong: when the time is over
    """
    with exceptions_only():
        is_limited = request.registry.netinv.is_plugin(package)
        return in_time(request, key, function, SECONDS) if is_limited else function(request)


def parts_in_time(request: Request, hook: str, read: Callable[[Any], Any]) -> Iterator[Any]:
    """As :meth:`netinv_core.registry.Registry.parts`, for a hook with a unit of work. The part of a plugin that takes
    longer than :data:`SECONDS` is left out, too.
    """
    registry: Registry = request.registry.netinv
    for package, caller in registry.callers(hook):

        def call(own: Request, caller: Any = caller) -> list[Any]:
            return [read(result) for result in caller(uow=own.uow)]

        try:
            found = call_in_time(request, package, (hook, package), call)
        except RequestError:
            raise
        except Exception as error:
            registry.leave_out(package, error, hook, request.uow)
        else:
            yield from found


class _Call:
    """A call of a part in a thread, with a copy of the request and of its unit of work."""

    def __init__(self, request: Request, function: Callable[[Request], Any]) -> None:
        self._page, self._function = request, function
        self._request = copy.copy(request)
        self._request.__dict__["uow"] = self._uow = copy.copy(request.uow)
        self._lock, self._ended, self._is_left = threading.Lock(), threading.Event(), False
        self._value: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Runs the part."""
        try:
            with RequestContext(self._request):
                self._value = self._function(self._request)
        except BaseException as error:
            self._error = error
        with self._lock:
            self._ended.set()
            is_left = self._is_left
        if is_left:
            self._uow.close()

    def wait(self, seconds: float) -> bool:
        """Waits for the part. False when it has not ended; it then has the connections of the page."""
        if self._ended.wait(seconds):
            return True
        with self._lock:
            if self._ended.is_set():
                return True
            self._is_left = True
            self._uow.interrupt()
            uow, session = self._page.uow, self._page.registry.netinv_sessions()
            uow.leave_connections(session, uow.registry.driver.read_connection(session.bind))
        return False

    def outcome(self) -> Any:
        """Returns the result of the part, or raises its exception."""
        vars(self._page.uow).update(vars(self._uow))
        if self._error is not None:
            raise self._error
        return self._value
