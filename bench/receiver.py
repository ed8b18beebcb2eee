"""A receiver of webhooks in a process of its own, which answers at once and counts what it gets.

``POST /down`` is answered 503, ``POST`` to any other path 200; ``GET`` is answered with the counts by path. It is as
bare as asyncio allows: what it costs is taken from the workers on the same machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import http.client
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import orjson

END = b"\r\n\r\n"
DOWN, TIMED = "/down", "/timed"  # messages to paths that begin with TIMED are compared with the clock


class Counts:
    """Counts of a path: messages, ids of deliveries, and seconds from the change to the message."""

    def __init__(self) -> None:
        self.messages = 0
        self.deliveries: set[bytes] = set()
        self.delays: list[float] = []

    def data(self) -> dict[str, Any]:
        """The counts as JSON."""
        return {"messages": self.messages, "deliveries": len(self.deliveries), "delays": self.delays}


class _Exchange(asyncio.Protocol):
    """Requests of one connection, one after the other."""

    def __init__(self, counts: dict[str, Counts]) -> None:
        self._counts, self._read = counts, b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        while (end := self._read.find(END)) >= 0:
            head = self._read[:end]
            length = int(_header(head, b"content-length") or 0)
            if len(self._read) < end + len(END) + length:
                return
            body = self._read[end + len(END) : end + len(END) + length]
            self._read = self._read[end + len(END) + length :]
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        method, path, _ = head.split(b" ", 2)
        if method == b"GET":
            found = orjson.dumps({name: counts.data() for name, counts in self._counts.items()})
            self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(found), found))
            return
        name = path.decode()
        counts = self._counts.setdefault(name, Counts())
        counts.messages += 1
        counts.deliveries.add(_header(head, b"x-netinv-delivery"))
        if name.startswith(TIMED):
            changed = datetime.datetime.fromisoformat(orjson.loads(body)["timestamp"])
            counts.delays.append((datetime.datetime.now(datetime.UTC) - changed).total_seconds())
        status = b"503 Service Unavailable" if name == DOWN else b"200 OK"
        self._transport.write(b"HTTP/1.1 %b\r\nContent-Length: 0\r\n\r\n" % status)


def _header(head: bytes, name: bytes) -> bytes:
    """The value of a header; empty without it."""
    for line in head.split(b"\r\n")[1:]:
        found, _, value = line.partition(b":")
        if found.lower() == name:
            return value.strip()
    return b""


async def _serve() -> None:
    counts: dict[str, Counts] = {}
    server = await asyncio.get_running_loop().create_server(lambda: _Exchange(counts), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def receive() -> None:
    """Runs the receiver; prints its port."""
    asyncio.run(_serve())


class Receiver:
    """The receiver as the benchmark sees it: its address, and what it has counted."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.url = f"http://127.0.0.1:{port}"

    def counts(self) -> dict[str, dict[str, Any]]:
        """The counts by path, in the form of :meth:`Counts.data`."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", "/")
            found: dict[str, dict[str, Any]] = orjson.loads(connection.getresponse().read())
        return found

    def total(self, name: str) -> int:
        """The sum of a count over all paths."""
        return sum(int(counts[name]) for counts in self.counts().values())


@contextlib.contextmanager
def receiver() -> Iterator[Receiver]:
    """A receiver, killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from bench.receiver import receive; receive()"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield Receiver(int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()
