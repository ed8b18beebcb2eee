"""Webhooks with very many deliveries waiting (PostgreSQL): claims, other receivers meanwhile, catching up, disk.

The deliveries are made by SQL: ten changes each of as many objects as it takes, for one receiver that is down. They
share the records of a thousand real changes.
"""

from __future__ import annotations

import datetime
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import sqlalchemy as sa

from bench.client import Client
from bench.pages import processor_time
from bench.receiver import DOWN, TIMED, Receiver, receiver
from bench.service import Service, analyze
from bench.special import Special
from netinv_core.db.engine import engine_from
from netinv_extras.webhooks.outbox import Outbox

WEBHOOKS, CHANGES, LANE = 200, 1000, 10
CLAIMS, ROOM = 300, 64  # claims measured, and deliveries of each
LIVE, PAUSE = 150, 0.05  # changes for live receivers, and seconds between them
TURNS, TURN = 3, 8.0  # turns of one and of two workers, and seconds of each
BULK, MATCHING = 10_000, 20  # objects of a request, and webhooks that match them
TENANTS, ROLES, HOOKS = "tenancy/tenants/", "dcim/rack-roles/", "extras/webhooks/"
Row = dict[str, Any]
FILL = """
INSERT INTO extras_webhook_delivery (webhook_id, change_id, event, changed_object_type, changed_object_id, object_repr,
    request_id, user_name, time, state, attempts, due, lost_claims)
SELECT webhook_id, change_id, event, changed_object_type, md5((n / :lane)::text)::uuid, object_repr,
    request_id, user_name, time, 'queued', 0, now() - interval '1 hour' + n * interval '1 millisecond', 0
FROM generate_series(0, :number - 1) n
JOIN (SELECT *, row_number() OVER () - 1 AS place FROM extras_webhook_delivery WHERE webhook_id = :webhook) sample
    ON sample.place = n % :changes
ORDER BY n
"""


class _Waiting:
    """A service with 200 webhooks, of which the first is for tenants and down."""

    def __init__(self, service: Service, given: Receiver, tell: Callable[[str], None]) -> None:
        self.service, self.given, self.tell = service, given, tell
        self.client: Client = service.client()
        self.engine = engine_from(service.database)
        self.rows: list[Row] = []
        bodies = [self._hook(number) for number in range(WEBHOOKS)]
        self.hooks = [item["id"] for item in self.client.call("POST", HOOKS, bodies, expect=201)]

    def _hook(self, number: int) -> Row:
        kinds, path = (["tenancy.tenant"], DOWN) if number == 0 else (["dcim.rackrole"], f"{TIMED}/{number}")
        retried = {"retries": 20, "retry_after": 3600}
        return {
            "name": f"bench {number}",
            "content_types": kinds,
            "payload_url": self.given.url + path,
            "type_create": True,
            "enabled": number < 2,
            **retried,
        }

    def add(self, kind: str, figure: float, unit: str) -> None:
        """Adds a figure."""
        self.rows.append({"kind": kind, "figure": float(figure), "unit": unit})

    def execute(self, statement: str, **values: Any) -> Any:
        """Runs a statement in a transaction of its own; gives the first value, when there is one."""
        with self.engine.begin() as connection:
            result = connection.execute(sa.text(statement), values)
            return result.scalar() if result.returns_rows else None

    # -- parts

    def live(self, kind: str) -> None:
        """Measures the seconds from a change to its message at a receiver that answers."""
        path = f"{TIMED}/1"
        self.client.call(
            "POST", ROLES, {"name": f"{kind}, first"}, expect=201
        )  # the worker has started when it is sent
        known = self.given.counts().get(path, {"messages": 0})["messages"]
        self._await(lambda: self.given.counts().get(path, {"messages": 0})["messages"] > known)
        before = len(self.given.counts().get(path, {"delays": []})["delays"])
        for _ in range(LIVE):
            self.client.call("POST", ROLES, {"name": f"{kind} {time.monotonic_ns()}"}, expect=201)
            time.sleep(PAUSE)
        self._await(lambda: len(self.given.counts()[path]["delays"]) >= before + LIVE)
        delays = sorted(self.given.counts()[path]["delays"][before:])
        self.add(f"live receiver, {kind}: median", statistics.median(delays) * 1000, "ms")
        self.add(f"live receiver, {kind}: p95", delays[len(delays) * 95 // 100] * 1000, "ms")

    def fill(self, number: int) -> None:
        """Has deliveries wait for the first webhook."""
        self.client.call("POST", TENANTS, [{"name": f"waiting {n}"} for n in range(CHANGES)], expect=201)
        size = "SELECT pg_total_relation_size('extras_webhook_delivery')"
        before = self.execute(size)
        began = time.perf_counter()
        self.execute(FILL, webhook=self.hooks[0], lane=LANE, number=number, changes=CHANGES)
        self.add("deliveries made by SQL", number / (time.perf_counter() - began), "a second")
        analyze(self.service.database)
        self.add("disk of a waiting delivery, indexes included", (self.execute(size) - before) / number, "bytes")

    def claims(self) -> None:
        """Measures claims, each of as many deliveries as a receiver with eight messages at a time has room for."""
        outbox = Outbox(self.engine, datetime.timedelta(minutes=1))
        times = []
        for _ in range(CLAIMS):
            began = time.perf_counter()
            claimed = outbox.claim_ready(lambda _: ROOM)
            times.append(time.perf_counter() - began)
            if len(claimed) != ROOM:
                raise RuntimeError(f"{len(claimed)} deliveries were claimed instead of {ROOM}")
            outbox.release(claimed)
        self.add(f"claim of {ROOM}: median", statistics.median(times) * 1000, "ms")
        self.add(f"claim of {ROOM}: p95", sorted(times)[CLAIMS * 95 // 100] * 1000, "ms")

    def catch_up(self) -> None:
        """Has the receiver work again; measures one worker and two in turn."""
        body = {"payload_url": f"{self.given.url}/up"}
        self.client.call("PATCH", f"{HOOKS}{self.hooks[0]}/", body)
        self.execute("UPDATE extras_webhook_delivery SET due = time WHERE state = 'queued' AND due > now()")
        analyze(self.service.database)
        rates: dict[int, list[float]] = {1: [], 2: []}
        spent: dict[int, list[float]] = {1: [], 2: []}
        for turn in range(2 * TURNS):
            workers = 1 + turn % 2
            self.tell(f"catching up, {workers} worker{'s' * (workers > 1)}")
            rate, used = self._caught_up(workers)
            rates[workers].append(rate)
            spent[workers].append(used)
        for workers, found in rates.items():
            name = f"catching up, {workers} worker{'s' * (workers > 1)}"
            self.add(name, statistics.median(found), "a second")
            self.add(f"{name}, processor time of the workers", statistics.median(spent[workers]), "ms a message")
        self.add("two workers ÷ one", statistics.median(rates[2]) / statistics.median(rates[1]), "")

    def _caught_up(self, workers: int) -> tuple[float, float]:
        """Messages a second, and processor time of a message in ms."""
        start = self.given.total("messages")
        with ExitStack() as stack:
            processes = [stack.enter_context(self.service.worker()) for _ in range(workers)]
            self._await(lambda: self.given.total("messages") > start + 500 * workers)
            time.sleep(2)
            first, began = self.given.total("messages"), time.perf_counter()
            used = sum(processor_time(process.pid) for process in processes)
            time.sleep(TURN)
            sent, seconds = self.given.total("messages") - first, time.perf_counter() - began
            used = sum(processor_time(process.pid) for process in processes) - used
        return sent / seconds, used / sent

    def bulk(self) -> None:
        """Measures requests that create many objects, with no webhook, one and some that match, of 200."""
        hooks = self.hooks[1:]
        self.client.call("PATCH", HOOKS, [{"id": key, "enabled": True} for key in hooks])
        for matching in (0, 1, MATCHING):
            kind = f"{matching} of {WEBHOOKS} webhooks match"
            kinds = {key: "dcim.rackrole" if number < matching else "dcim.rack" for number, key in enumerate(hooks)}
            bodies = [{"id": key, "content_types": [label]} for key, label in kinds.items()]
            self.client.call("PATCH", HOOKS, bodies)
            self.tell(f"{BULK} changes, {kind}")
            before, used = self.service.peak_memory(), processor_time(self.service.process.pid)
            began = time.perf_counter()
            names = [{"name": f"{kind} {n} {began}"} for n in range(BULK)]
            self.client.call("POST", ROLES, names, expect=201)
            name = f"{BULK} changes in a request, {kind}"
            self.add(name, time.perf_counter() - began, "s")
            self.add(f"{name}, of this in the process", (processor_time(self.service.process.pid) - used) / 1000, "s")
            self.add(f"{name}, peak memory more than before", self.service.peak_memory() - before, "MiB")

    def _await(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 120
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError("the workers did not send what was expected")
            time.sleep(0.2)


def measure(service: Service, number: int, tell: Callable[[str], None]) -> Special:
    """Starts the service and measures it with a number of waiting deliveries."""
    service.start()
    with receiver() as given:
        parts = _Waiting(service, given, tell)
        with service.worker():
            tell("live receivers")
            parts.live("nothing waits")
        tell("filling")
        parts.fill(number)
        tell("claims")
        parts.claims()
        with service.worker():
            tell("live receivers")
            parts.live(f"{number} wait for one that is down")
        parts.catch_up()
        parts.bulk()
    return Special(f"{WEBHOOKS} webhooks, {number} deliveries waiting", {"webhooks": parts.rows})
