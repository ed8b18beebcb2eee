"""Cost of webhooks: a request that one matches against one that none does, and deliveries per second of a worker."""

from __future__ import annotations

import http.server
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.client import Client
from bench.service import BIN, ENVIRONMENT, Service

ROUNDS, SINGLE, BULK = 48, 20, 1000
LIMIT, LOOK = 120.0, 1.0  # seconds; who looks takes time from who delivers
TENANTS, DELIVERIES = "tenancy/tenants/", "extras/webhook-deliveries/"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    def log_message(self, *_: Any) -> None:
        pass


def receive() -> None:
    """A receiver that answers at once, in a process of its own; prints its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def measure(service: Service, client: Client, progress: Callable[[str], None]) -> dict[str, float]:
    """Measures the time that a matching webhook adds to creating one tenant and a thousand, in per cent, and the
    deliveries per second of one worker.
    """
    receiver = subprocess.Popen(
        [sys.executable, "-c", "from bench.hooks import receive; receive()"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert receiver.stdout is not None
        body = {"name": "bench", "content_types": ["tenancy.tenant"], "type_create": True}
        url = f"http://127.0.0.1:{receiver.stdout.readline().strip()}/"
        hook = client.call("POST", "extras/webhooks/", {**body, "payload_url": url}, expect=201)["id"]
        progress("creating with and without a webhook")
        names = (f"told {number}" for number in itertools.count())
        found = {
            "a webhook adds to a create, %": _added(client, hook, lambda: _one(client, names), ROUNDS, SINGLE),
            "a webhook adds to 1000 in bulk, %": _added(client, hook, lambda: _many(client, names), ROUNDS // 8, 2),
        }
        progress("delivering")
        return {**found, "deliveries/s": _delivered(service, client)}
    finally:
        receiver.kill()


def _one(client: Client, names: Iterator[str]) -> None:
    client.call("POST", TENANTS, {"name": next(names)}, expect=201)


def _many(client: Client, names: Iterator[str]) -> None:
    client.call("POST", TENANTS, [{"name": next(names)} for _ in range(BULK)], expect=201)


def _added(client: Client, hook: str, call: Callable[[], None], rounds: int, times: int) -> float:
    """How much longer a call takes with the webhook than without, per cent; the two take turns."""
    taken: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * rounds):
        told = number % 2 == 0
        client.call("PATCH", f"extras/webhooks/{hook}/", {"type_create": told, "type_delete": not told})
        call()
        for _ in range(times):
            began = time.perf_counter()
            call()
            taken[told].append(time.perf_counter() - began)
    return (statistics.median(taken[True]) / statistics.median(taken[False]) - 1) * 100


def _queued(client: Client) -> int:
    return int(client.call("GET", f"{DELIVERIES}?state=queued&limit=1")["count"])


def _delivered(service: Service, client: Client) -> float:
    """Deliveries per second, from the first that a worker has sent until the look before the last."""
    with service.log.open("ab") as log:
        command = [BIN / "netinv", "--config", service.ini, "worker"]
        worker = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | ENVIRONMENT)
    try:
        total = left = _queued(client)
        seen: list[tuple[float, int]] = []
        deadline = time.perf_counter() + LIMIT
        while left and time.perf_counter() < deadline:
            time.sleep(LOOK)
            left = _queued(client)
            if left < total:
                seen.append((time.perf_counter(), left))
        (began, first), (ended, last) = seen[0], seen[-2]
        return (first - last) / (ended - began)
    finally:
        worker.terminate()
        worker.wait()
