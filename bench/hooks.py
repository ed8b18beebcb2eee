"""Cost of webhooks: a request that one matches against one that none does, and deliveries per second of a worker."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator

from bench.client import Client
from bench.receiver import receiver
from bench.service import Service

ROUNDS, SINGLE, BULK = 48, 20, 1000
LIMIT, LOOK = 120.0, 1.0  # seconds; who looks takes time from who delivers
TENANTS, DELIVERIES = "tenancy/tenants/", "extras/webhook-deliveries/"


def measure(service: Service, client: Client, progress: Callable[[str], None]) -> dict[str, float]:
    """Measures the time that a matching webhook adds to creating one tenant and a thousand, in per cent, and the
    deliveries per second of one worker.
    """
    with receiver() as given:
        body = {"name": "bench", "content_types": ["tenancy.tenant"], "type_create": True, "payload_url": given.url}
        hook = client.call("POST", "extras/webhooks/", body, expect=201)["id"]
        progress("creating with and without a webhook")
        names = (f"told {number}" for number in itertools.count())
        found = {
            "a webhook adds to a create, %": _added(client, hook, lambda: _one(client, names), ROUNDS, SINGLE),
            "a webhook adds to 1000 in bulk, %": _added(client, hook, lambda: _many(client, names), ROUNDS // 8, 2),
        }
        progress("delivering")
        return {**found, "deliveries/s": _delivered(service, client)}


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
    with service.worker():
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
