"""`netinv webhook-listener`: an HTTP server that prints the requests of webhooks, for setting them up.

Requests are untrusted input: control characters are escaped before anything is printed.
"""

from __future__ import annotations

import hashlib
import hmac
import http.server
import json
import os
import re
import socket
import sys
import threading
import time
import unicodedata
from collections.abc import Iterator, Mapping
from email.message import Message
from typing import Any

import click
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.text import Text

MAX_BODY_BYTES = 1 << 20  # bytes of a body that are read
READ_TIMEOUT = 30  # seconds for a request to arrive
MAX_COLOURED = 100_000  # characters; longer bodies are printed without syntax colours, which take time
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def visible(text: str, *, lines: bool = False) -> str:
    """Escapes the control characters of a text, including bidirectional ones. ``lines`` keeps newlines and tabs."""
    if text.isprintable():
        return text
    allowed = "\n\t" if lines else ""
    return "".join(
        character if character in allowed or unicodedata.category(character) not in _UNSEEN else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def checks(secret: bytes, headers: Mapping[str, str] | Message, body: bytes, now: float) -> Iterator[tuple[str, bool]]:
    """Checks both signatures of a message; yields a line to print and True if the signature is valid, for each."""
    expected = hmac.new(secret, body, hashlib.sha512).hexdigest()
    yield _verdict("X-Hook-Signature", headers.get("X-Hook-Signature"), expected)
    signed = headers.get("X-Netinv-Signature")
    match = re.fullmatch(r"t=([0-9]{1,15}),v1=([0-9a-f]+)", signed or "")
    if match is None:
        yield f"X-Netinv-Signature is {'missing' if signed is None else 'not of the form t=…,v1=…'}", False
        return
    moment, digest = match.groups()
    expected = hmac.new(secret, moment.encode() + b"." + body, hashlib.sha256).hexdigest()
    words, right = _verdict("X-Netinv-Signature", digest, expected)
    yield f"{words} (signed {now - int(moment):.0f} seconds ago)", right


def _verdict(name: str, signature: str | None, expected: str) -> tuple[str, bool]:
    if signature is None:
        return f"{name} is missing", False
    right = hmac.compare_digest(signature.encode("utf-8", "surrogateescape"), expected.encode())
    return f"{name} is {'right' if right else 'WRONG: the secret is another, or the body was changed'}", right


def readable(body: bytes) -> tuple[str, bool]:
    """Returns a body as text, JSON indented, and True if it is JSON."""
    try:
        return visible(json.dumps(json.loads(body), indent=2, ensure_ascii=False), lines=True), True
    except (ValueError, RecursionError):
        return visible(body.decode("utf-8", "backslashreplace"), lines=True), False


class Listener(http.server.ThreadingHTTPServer):
    """Answers every request with one ``status``, after ``slow`` seconds, and prints it."""

    daemon_threads = True

    def __init__(
        self, address: tuple[str, int], console: Console, *, secret: bytes | None, status: int, slow: float
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.console, self.secret, self.status, self.slow = console, secret, status, slow
        self.printing = threading.Lock()
        super().__init__(address, _ListenerRequest)

    def show(self, request: _ListenerRequest, body: bytes, cut: bool) -> None:
        """Prints a request; a lock keeps concurrent requests apart."""
        text, is_json = readable(body)
        with self.printing:
            say = self.console.print
            title = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {visible(request.command)} {visible(request.path)}"
            say(Text(title, "bold cyan"), soft_wrap=True)
            for name, value in request.headers.items():
                say(Text.assemble((visible(name), "bold"), f": {visible(value)}"), soft_wrap=True)
            if self.secret is not None:
                for words, right in checks(self.secret, request.headers, body, time.time()):
                    say(Text(words, "green" if right else "bold red"), soft_wrap=True)
            if is_json and len(text) <= MAX_COLOURED:
                say(JSONHighlighter()(Text(f"\n{text}")), soft_wrap=True)
            else:
                self.console.file.write(f"\n{text or '(no body)'}\n")
            if cut:
                say(Text(f"(cut after {MAX_BODY_BYTES} bytes)", "yellow"))
            say()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints that a connection was lost, without a traceback."""
        self.complain(f"a connection ended early: {sys.exc_info()[1]}")

    def complain(self, words: str) -> None:
        """Prints an error about input that is not an HTTP request."""
        with self.printing:
            self.console.print(Text(visible(words), "yellow"), soft_wrap=True)


class _ListenerRequest(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = READ_TIMEOUT
    server: Listener

    def __getattr__(self, name: str) -> Any:
        """Handles every HTTP method with :meth:`_receive`."""
        if name.startswith("do_"):
            return self._receive
        raise AttributeError(name)

    def _receive(self) -> None:
        self.close_connection = True
        try:
            body, cut = self._body()
        except ValueError as error:
            self.send_error(400, str(error))
            return
        self.server.show(self, body, cut)
        time.sleep(self.server.slow)
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def _body(self) -> tuple[bytes, bool]:
        """Reads the body; returns it and True if it was cut at :data:`MAX_BODY_BYTES`."""
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            body = b"".join(self._chunks())
            return body[:MAX_BODY_BYTES], len(body) > MAX_BODY_BYTES
        length = self.headers.get("Content-Length", "0").strip()
        if not re.fullmatch(r"[0-9]{1,15}", length):
            raise ValueError("Content-Length is no number")
        return self.rfile.read(min(int(length), MAX_BODY_BYTES)), int(length) > MAX_BODY_BYTES

    def _chunks(self) -> Iterator[bytes]:
        """The parts of a chunked body (RFC 9112, 7.1), until there are enough."""
        taken = 0
        while taken <= MAX_BODY_BYTES:
            size = self.rfile.readline(100).partition(b";")[0].strip()
            if not re.fullmatch(rb"[0-9a-fA-F]{1,8}", size):
                raise ValueError("the size of a chunk is no number")
            part = self.rfile.read(min(int(size, 16), MAX_BODY_BYTES + 1 - taken))
            if not part:
                return
            taken += len(part)
            yield part
            self.rfile.readline(3)

    def version_string(self) -> str:
        return "netinv webhook-listener"

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        """Does nothing, because the request was printed."""

    def log_message(self, format: str, *arguments: Any) -> None:
        self.server.complain(f"no request: {format % arguments}")


@click.command("webhook-listener")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=9000,
    show_default=True,
    help="The TCP port; 0 takes one that is free.",
)
@click.option(
    "--bind",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="The address to listen at; 0.0.0.0 for all of this machine.",
)
@click.option("--secret", metavar="TEXT", help="The webhook's secret: says whether signatures are right.")
@click.option(
    "--secret-env",
    metavar="VARIABLE",
    help="The environment variable that holds the secret; others cannot see it in the list of processes.",
)
@click.option(
    "--status",
    type=click.IntRange(200, 599),
    default=200,
    show_default=True,
    help="The status to answer with, to see what is done about failures.",
)
@click.option(
    "--slow",
    type=click.FloatRange(0, 3600),
    default=0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait before each answer.",
)
def webhook_listener(
    port: int, bind: str, secret: str | None, secret_env: str | None, status: int, slow: float
) -> None:
    """Print what webhooks send: method, path, headers and body of every request that arrives.

    Needs no settings and no database. Make a webhook with the URL http://127.0.0.1:9000/, let the worker run,
    change something, and see what a receiver gets. If nothing arrives: is a worker running (`netinv worker`)? Does
    `netinv webhooks status` count a delivery? If not, the webhook is for other types or events; if it does, `netinv
    webhooks failed` has the reason.

    \b
      netinv webhook-listener
      netinv webhook-listener --secret-env HOOK_SECRET      # are the signatures right?
      netinv webhook-listener --status 500                  # what happens when a receiver fails?

    Control characters are shown as escapes, and bodies up to 1 MiB. Stop it with Ctrl-C.
    """
    if secret is not None and secret_env is not None:
        raise click.UsageError("give the secret with --secret or with --secret-env, not both")
    if secret_env is not None:
        if secret_env not in os.environ:
            raise click.UsageError(f"the environment variable {secret_env} is not set")
        secret = os.environ[secret_env]
    console = Console(highlight=False)
    key = None if secret is None else secret.encode()
    try:
        listener = Listener((bind, port), console, secret=key, status=status, slow=slow)
    except OSError as error:
        raise click.ClickException(f"cannot listen at {bind}, port {port}: {error.strerror or error}") from None
    with listener:
        host = f"[{bind}]" if ":" in bind else bind
        url = f"http://{host}:{listener.server_port}/"
        console.print(Text(f"listening at {url} and answering {status}; stop with Ctrl-C\n"), soft_wrap=True)
        try:
            listener.serve_forever()
        except KeyboardInterrupt:
            console.print("stopped")
