"""Receivers of webhooks: real servers on this machine, each a thread, that do as a test tells them and keep what they
were sent.
"""

from __future__ import annotations

import dataclasses
import http.server
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any, Self


@dataclasses.dataclass(frozen=True)
class Received:
    """One request, as it came in, and when it began (monotonic)."""

    method: str
    path: str
    headers: Any
    body: bytes
    time: float


class Receiver:
    """``with Receiver() as receiver``: a server at ``receiver.url``.

    ``answer`` is a status, or a function that gets the handler and the request and answers itself.
    """

    def __init__(
        self,
        answer: int | Callable[[Any, Received], None] = 200,
        *,
        tls: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.answer = answer
        self.received: list[Received] = []
        self.connections = 0
        self._lock = threading.Lock()
        self._server = _server(self, host, port)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self._server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://{host}:{self.port}/hook"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def note(self, request: Received) -> None:
        """Keeps a request."""
        with self._lock:
            self.received.append(request)

    def wait(self, count: int, seconds: float = 60) -> list[Received]:
        """What was received, once it is at least so much."""
        deadline = time.monotonic() + seconds
        while len(self.received) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(self.received) >= count, f"{len(self.received)} of {count} requests came"
        return list(self.received)


def _server(receiver: Receiver, host: str, port: int) -> Any:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def setup(self) -> None:
            receiver.connections += 1
            super().setup()

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Received(self.command, self.path, self.headers, body, time.monotonic())
            receiver.note(request)
            if callable(receiver.answer):
                receiver.answer(self, request)
            else:
                say(self, receiver.answer)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, *_: Any) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass

    return Server((host, port), Handler)


def say(handler: Any, status: int, text: str = "", **headers: str) -> None:
    """An ordinary answer."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(text.encode())))
    handler.end_headers()
    handler.wfile.write(text.encode())
    handler.wfile.flush()
