"""The service behind waitress with the settings of ``production.ini``: half-sent requests, smuggling, sizes, what its
own errors tell.
"""

from __future__ import annotations

import configparser
import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from waitress.server import create_server

from netinv_testing import Service
from netinv_testing.hangs import no_hang

INI = Path(__file__).parents[3] / "production.ini"
OURS = (
    "ident",
    "max_request_header_size",
    "max_request_body_size",
    "inbuf_overflow",
    "connection_limit",
    "asyncore_use_poll",
)


def of_production() -> dict[str, str]:
    """The settings of waitress in ``production.ini``, but for addresses and times."""
    parsed = configparser.ConfigParser(interpolation=None)
    parsed.read(INI)
    return {name: parsed["server:main"][name] for name in OURS}


@contextlib.contextmanager
def serving(app: Any, **settings: Any) -> Iterator[int]:
    """The port of a server for the block."""
    server = create_server(
        app, host="127.0.0.1", port=0, threads=2, asyncore_loop_timeout=1, **{**of_production(), **settings}
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield int(server.effective_port)
    finally:
        server.close()
        thread.join(10)


@pytest.fixture(scope="module")
def port(service: Service) -> Iterator[int]:
    """A server as in production."""
    with serving(service.app) as found:
        yield found


def answers(port: int, sent: bytes) -> bytes:
    """All that a server answers to bytes on one connection, until it closes it."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def statuses(received: bytes) -> list[int]:
    """The statuses of answers, in order."""
    return [int(part[2:5]) for part in received.split(b"HTTP/1.")[1:]]


def is_answered(port: int) -> bool:
    """Tells whether a new client gets an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/nosuch")
    status = connection.getresponse().status
    connection.close()
    return status == 404


@pytest.mark.parametrize(
    "begun",
    [
        b"GET /api/ HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST /api/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx",
        b"",
    ],
)
def test_half_sent_requests_keep_nobody_waiting(port: int, begun: bytes) -> None:
    with contextlib.ExitStack() as opened:
        for _ in range(110):
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            connection.sendall(begun)
        assert is_answered(port)


@pytest.mark.night
def test_connections_on_which_nothing_happens_are_closed(service: Service) -> None:
    """Then those who waited are let in: here of ten connections, some of which are waitress's own."""
    limits = {"connection_limit": 10, "channel_timeout": 1, "cleanup_interval": 1}
    with serving(service.app, **limits) as port, contextlib.ExitStack() as opened:
        for _ in range(20):
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            connection.sendall(b"GET /api/ HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        assert is_answered(port)


SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
REQUESTS = {
    "two lengths": b"POST /nosuch HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: %d\r\n\r\n"
    % len(SMUGGLED),
    "a signed length": b"POST /nosuch HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n",
    "an odd length": b"POST /nosuch HTTP/1.1\r\nHost: x\r\nContent-Length: 0x10\r\n\r\n",
    "an odd coding": b"POST /nosuch HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "an odd chunk": b"POST /nosuch HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\nx\r\n0\r\n\r\n",
    "a name with a space": b"POST /nosuch HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\n",
    "a folded header": b"GET /nosuch HTTP/1.1\r\nHost: x\r\nX: a\n b: c\r\n\r\n",
    "a bare line feed": b"GET /nosuch HTTP/1.1\nHost: x\r\n\r\n",
    "no first line": b"Host: x\r\n\r\n",
    "an odd version": b"GET /nosuch HTTP/9.9x\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("sent", REQUESTS.values(), ids=REQUESTS)
def test_a_request_with_two_meanings_is_refused_and_ends_the_connection(port: int, sent: bytes) -> None:
    told = statuses(answers(port, sent + SMUGGLED))
    assert len(told) == 1 and told[0] in (400, 404, 501), told
    assert is_answered(port)


def test_of_a_length_and_chunks_the_chunks_count(port: int) -> None:
    """As RFC 9112 says; the connection is closed, as what follows may be a body for whoever stands in front of netinv."""
    head = b"POST /nosuch HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    for sent in (head, head.replace(b"chunked", b"Chunked"), head.replace(b"Content-Length: 4", b"content-length: 0")):
        received = answers(port, sent + b"0\r\n\r\n" + SMUGGLED)
        assert statuses(received) == [404] and b"\r\nconnection: close\r\n" in received.lower()
    chunks = b"POST /nosuch HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert statuses(answers(port, chunks + SMUGGLED)) == [404, 404]


def test_headers_and_bodies_are_bounded_before_they_are_taken_in(service: Service, port: int) -> None:
    assert int(of_production()["max_request_header_size"]) == 2**16
    with serving(service.app, max_request_header_size=1000) as small:
        assert statuses(answers(small, b"GET /nosuch HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 1000 + b"\r\n\r\n")) == [431]
    assert statuses(answers(port, b"POST /nosuch HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"))[0] == 413


def test_no_answer_names_the_server(port: int) -> None:
    for sent in (SMUGGLED, b"GET /nosuch HTTP/9.9x\r\n\r\n", b"GET /api/ HTTP/1.0\r\n\r\n"):
        assert b"\r\nserver:" not in answers(port, sent).lower()


def test_a_long_accept_header_holds_nobody_up(port: int) -> None:
    sent = b"GET /api/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept: a;b" + b" " * 64_000 + b"c=d\r\n\r\n"
    with no_hang():
        assert statuses(answers(port, sent)) == [431]
