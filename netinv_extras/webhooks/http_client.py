"""HTTP client for webhook messages: checks addresses of receivers (SSRF), limits the time, bounds the answer."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NameResolutionError

from netinv_core.caches import lru_cache
from netinv_core.masking import without_secrets
from netinv_extras.webhooks.deliveries import MAX_ANSWER_LENGTH
from netinv_extras.webhooks.payload import WebhookMessage
from netinv_outgoing.guarded_http import GuardedAdapter, GuardedConnection, target_of
from netinv_outgoing.ssrf import ConnectionRefused, Guard, own_services
from netinv_outgoing.urls import split_url

_READ = MAX_ANSWER_LENGTH * 4  # bytes that can encode so many characters in UTF-8
_TICK = 0.2  # seconds between checks for overdue requests


# Preparing a target takes a seventh of the processor time of a request.
_target_of = lru_cache("webhook targets", 256)(target_of)


@dataclasses.dataclass(frozen=True)
class DeliveryAnswer:
    """Result of sending a message: ``status`` and beginning of the answer, or an ``error``; secrets are masked.

    ``seconds`` is the duration; ``late`` means that the receiver did not answer in time.
    """

    status: int | None
    error: str
    text: str
    seconds: float
    late: bool = False

    @property
    def good(self) -> bool:
        """True if the receiver accepted the message (2xx)."""
        return self.status is not None and 200 <= self.status < 300


# -- connections that another thread can shut down


class _Sending:
    """A request in progress: its deadline (monotonic) and its connection.

    ``again`` means that the connection was reused, ``anew`` that a new one is required.
    """

    def __init__(self, end: float) -> None:
        self.end = end
        self.connection: Any = None
        self.again = False
        self.anew = False
        self.cut = False

    def stop(self) -> None:
        """Shuts the socket down, from any thread: a blocked read or write of it returns at once."""
        self.cut = True
        sock = getattr(self.connection, "sock", None)
        if sock is not None:
            with contextlib.suppress(OSError):  # SSLSocket.shutdown() would discard the TLS state under its reader
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


class _Here(threading.local):
    sending: _Sending | None = None


_here = _Here()


class _Connection(GuardedConnection):
    """Connection that the request in progress knows, so that another thread can shut it down.

    Head and body of a request are sent together: each write to a socket takes 0.1 ms of processor time, and wakes the
    receiver.
    """

    served = 0
    _parts: list[bytes] | None = None  # of the request that is being put together

    def _new_conn(self) -> socket.socket:
        sending = _here.sending
        assert sending is not None
        sending.connection = self
        return super()._new_conn()

    def request(self, *arguments: Any, **named: Any) -> None:
        sending = _here.sending
        assert sending is not None
        if sending.anew:
            self.close()
        sending.connection, sending.again = self, self.served > 0
        self.served += 1
        self._parts = []
        try:
            super().request(*arguments, **named)
        finally:
            parts, self._parts = self._parts, None
        self.send(b"".join(parts))

    def send(self, data: Any) -> None:
        """Sends a part of a request, once all are there."""
        if self._parts is None:
            super().send(data)
        else:
            self._parts.append(data)


# -- sending


class Sender:
    """Thread-safe sender of messages with a pool of persistent connections."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        guard = Guard(settings["webhook_allow"], own=own_services(settings))
        self._timeout = (settings["webhook_connect_timeout"], settings["webhook_read_timeout"])
        self._total = settings["webhook_total_timeout"]
        self._adapter = GuardedAdapter(guard, self._timeout, _Connection, pool_connections=64, pool_maxsize=32)
        self._running: set[_Sending] = set()
        self._lock = threading.Lock()
        self._clock: threading.Thread | None = None

    def close(self) -> None:
        """Closes the idle connections of the pool."""
        self._adapter.close()

    def send(self, message: WebhookMessage) -> DeliveryAnswer:
        """Sends a message. Every failure becomes an :class:`DeliveryAnswer` with an error text; nothing is raised."""
        start = time.monotonic()
        status, text, error, late = None, "", "", False
        total = min(self._total, message.timeout or self._total)
        sending = _Sending(start + total)
        try:
            status, text = self._exchange(sending, message)
        except Exception as problem:  # any failure is recorded as the outcome of the attempt
            late = sending.cut or _is_late(problem)
            error = f"There was no answer within {total:g} s." if sending.cut else self._explain_error(problem)
        text = without_secrets(text, message.secrets).replace("\x00", "\N{REPLACEMENT CHARACTER}")
        error = without_secrets(error, message.secrets).replace("\x00", "")
        seconds = time.monotonic() - start
        return DeliveryAnswer(status, error[:MAX_ANSWER_LENGTH], text[:MAX_ANSWER_LENGTH], seconds, late)

    def _exchange(self, sending: _Sending, message: WebhookMessage) -> tuple[int, str]:
        parts = split_url(message.url)
        if parts is None or parts.scheme.lower() not in ("http", "https"):
            raise ConnectionRefused("The URL must begin with http:// or https://.")
        target = _target_of(message.method, message.url)
        self._watch(sending)
        _here.sending = sending
        try:
            try:
                response = self._adapter.exchange(target, message.headers, message.body, message.verify)
            except (HTTPError, OSError) as problem:
                if not sending.again or sending.cut or not _closed_by_other_side(problem):
                    raise
                sending.anew = True  # the receiver closed an idle connection: retry once with a new one
                response = self._adapter.exchange(target, message.headers, message.body, message.verify)
            return response.status, _read_beginning(response)
        finally:
            _here.sending = None
            with self._lock:
                self._running.discard(sending)

    def _watch(self, sending: _Sending) -> None:
        with self._lock:
            self._running.add(sending)
            if self._clock is None or not self._clock.is_alive():
                self._clock = threading.Thread(target=self._cut_overdue, name="webhook clock", daemon=True)
                self._clock.start()

    def _cut_overdue(self) -> None:
        """Thread: shuts down overdue requests. Ends when no request is in progress."""
        while True:
            time.sleep(_TICK)
            with self._lock:
                if not self._running:
                    self._clock = None
                    return
                overdue = [sending for sending in self._running if time.monotonic() > sending.end]
            for sending in overdue:
                sending.stop()

    def _explain_error(self, problem: Exception) -> str:
        """Returns the error text for an exception, without the URL, which may hold credentials."""
        inner = _innermost(problem)
        if isinstance(inner, NameResolutionError | socket.gaierror):
            return "The name of the host cannot be resolved."
        if isinstance(inner, ConnectTimeoutError):
            return f"There was no connection within {self._timeout[0]:g} s."
        if isinstance(inner, TimeoutError | urllib3.exceptions.TimeoutError):
            return f"The receiver sent nothing for {self._timeout[1]:g} s."
        if isinstance(inner, ssl.SSLError):
            return f"TLS failed: {getattr(inner, 'verify_message', '') or inner.reason or inner}"
        if isinstance(inner, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError):
            return "The receiver closed the connection without an answer."
        if isinstance(inner, http.client.HTTPException):
            return f"The receiver's answer is not HTTP ({type(inner).__name__})."
        if isinstance(inner, OSError) and inner.strerror:
            return f"There was no connection: {inner.strerror}."
        return str(inner) or type(inner).__name__


def _read_beginning(response: Any) -> str:
    """Reads the beginning of an answer's body, as far as it arrives; a body read to its end keeps the connection."""
    content = b""
    try:
        while len(content) < _READ:
            part = response.read1(_READ - len(content), decode_content=False)
            if not part:
                break
            content += part
    except (HTTPError, OSError, http.client.HTTPException, ValueError):
        pass  # the status decides, even if the body is incomplete
    finally:
        response.close()
        response.release_conn()
    return content.decode("utf-8", "replace")


def _innermost(problem: BaseException) -> BaseException:
    """Returns the original exception that others wrap."""
    seen: list[BaseException] = []
    while problem not in seen:
        seen.append(problem)
        if type(problem) is ConnectTimeoutError or isinstance(problem, NameResolutionError | ConnectionRefused):
            break
        inside = [getattr(problem, "reason", None), *problem.args, problem.__cause__]
        problem = next((item for item in inside if isinstance(item, BaseException)), problem)
    return problem


def _is_late(problem: BaseException) -> bool:
    return isinstance(_innermost(problem), TimeoutError | urllib3.exceptions.TimeoutError)


def _closed_by_other_side(problem: BaseException) -> bool:
    return isinstance(_innermost(problem), http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError)
