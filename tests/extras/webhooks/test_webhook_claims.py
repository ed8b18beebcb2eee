"""Claims of deliveries by workers: leases, lost claims, several workers."""

from __future__ import annotations

import contextlib
import datetime
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa

from netinv_core.models.base import now, table_of
from netinv_extras.webhooks.deliveries import WebhookDelivery
from netinv_extras.webhooks.models import Webhook
from netinv_extras.webhooks.outbox import MAX_WEBHOOKS, AttemptOutcome
from netinv_extras.webhooks.worker import LOST, MAX_LOST_CLAIMS, Deliverer
from netinv_testing import Service
from tests.support.receivers import Received, Receiver, say
from tests.support.waiting import until
from tests.support.webhook_workers import (
    change,
    deliver,
    deliveries,
    end,
    group,
    groups,
    hook,
    impatient,
    outbox_of,
    service,
    states,
)

__all__ = ["end", "hook", "impatient", "service"]
_delivery, _webhook = table_of(WebhookDelivery), table_of(Webhook)


# -- claims


def test_what_a_dead_worker_had_in_hand_is_sent_when_its_time_is_over(
    service: Service, hook: Callable[..., str]
) -> None:
    with Receiver() as receiver:
        webhook = hook(receiver)
        group(service)
        assert len(outbox_of(service, 3600).claim_ready(lambda row: 10)) == 1
        deliver(service)
        assert receiver.received == []
        change(service, sa.update(_delivery).values(claimed_until=now() - datetime.timedelta(seconds=1)))
        deliver(service)
        assert len(receiver.received) == 1
    assert states(service, webhook) == ["succeeded"]


def test_a_delivery_that_ends_its_workers_fails_alone(service: Service, hook: Callable[..., str]) -> None:
    """One of ten ends whatever worker has it in hand; the others, which were in hand with it, arrive."""
    over = (
        sa.update(_delivery)
        .where(_delivery.c.state == "queued")
        .values(claimed_until=now() - datetime.timedelta(seconds=1))
    )
    with Receiver() as receiver:
        webhook = hook(receiver, retries=5)
        groups(service, 10)
        poisoned, lost = deliveries(service, webhook)[3].id, 0
        while lost < MAX_LOST_CLAIMS:
            outbox = outbox_of(service, 3600)
            claimed = {item.delivery["id"]: item for item in outbox.claim_ready(lambda row: 100)}
            assert claimed, "what is not claimed now would never be"
            if poisoned not in claimed:
                outbox.record([AttemptOutcome(item, now(), 0.1, 200, "", "", True) for item in claimed.values()])
                continue
            lost = claimed[poisoned].delivery["lost_claims"]
            change(service, over)
        deliver(service)
        assert str(poisoned) not in {request.headers["X-Netinv-Delivery"] for request in receiver.received}
    assert sorted(states(service, webhook)) == ["failed"] + ["succeeded"] * 9
    row = service.api.get(f"/api/extras/webhook-deliveries/{poisoned}/")
    assert (row["state"]["value"], row["attempts"], [attempt["error"] for attempt in row["history"]]) == (
        "failed",
        1,
        [LOST],
    )
    assert (
        service.api.post(f"/api/extras/webhook-deliveries/{poisoned}/retry/", status=200)["state"]["value"] == "queued"
    )
    with Receiver() as again:
        change(service, sa.update(_webhook).where(_webhook.c.id == uuid.UUID(webhook)).values(payload_url=again.url))
        deliver(service)
        assert len(again.received) == 1


def test_a_claim_that_is_given_back_or_recorded_is_not_lost(service: Service, hook: Callable[..., str]) -> None:
    webhook = hook("http://127.0.0.1:1/", retries=9, retry_after=1)
    group(service)
    for _ in range(3):
        outbox = outbox_of(service, 60)
        outbox.release(outbox.claim_ready(lambda row: 10))
        deliver(service)
        change(service, sa.update(_delivery).values(due=now()))
    (row,) = deliveries(service, webhook)
    assert (row.lost_claims, row.attempts, row.state) == (0, 3, "queued")


def test_who_has_lost_a_claim_records_nothing(service: Service, hook: Callable[..., str]) -> None:
    webhook = hook("http://127.0.0.1:1/")
    group(service)
    late, other = outbox_of(service, -1), outbox_of(service, 60)
    (lost,) = late.claim_ready(lambda row: 10)
    (held,) = other.claim_ready(lambda row: 10)
    assert lost.delivery["id"] == held.delivery["id"]
    outcome = AttemptOutcome(lost, now(), 0.1, 500, "", "", False)
    assert late.record([outcome]) == [outcome]
    late.release([lost])
    assert states(service, webhook) == ["queued"] and deliveries(service, webhook)[0].claimed_by is not None
    assert other.record([AttemptOutcome(held, now(), 0.1, 200, "", "", True)]) == []
    assert states(service, webhook) == ["succeeded"]


def test_two_workers_claim_nothing_twice(service: Service, hook: Callable[..., str]) -> None:
    hook("http://127.0.0.1:1/")
    groups(service, 60)
    found: list[int] = []

    def claim() -> None:
        outbox = outbox_of(service, 60)
        while got := outbox.claim_ready(lambda row: 7):
            found.extend(item.delivery["id"] for item in got)

    threads = [threading.Thread(target=claim) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(set(found)) and len(found) >= 54, "what another one is just claiming is passed over"


@contextlib.contextmanager
def claiming(service: Service, count: int) -> Iterator[set[int]]:
    """Another worker in the middle of a claim of the first deliveries: it has locked them and not committed. On SQLite,
    which has one writer at a time, it has committed.
    """
    queued = sa.select(_delivery.c.id).where(_delivery.c.state == "queued")
    first = queued.order_by(_delivery.c.due, _delivery.c.id).limit(count)
    if service.registry.dialect == "sqlite":
        yield {item.delivery["id"] for item in outbox_of(service, 60).claim_ready(lambda row: count)}
        return
    keys = [key for (key,) in service.rows(first)]
    with service.engine.connect() as connection, connection.begin():
        for key in keys:  # MariaDB would read, and lock, the whole of a small table for several keys
            connection.execute(sa.select(_delivery.c.id).where(_delivery.c.id == key).with_for_update())
        yield set(keys)


def test_a_claim_passes_those_that_another_worker_is_claiming(service: Service, hook: Callable[..., str]) -> None:
    """It does not wait for the other worker, and takes as many from behind them."""
    hook("http://127.0.0.1:1/")
    groups(service, 12)
    with claiming(service, 5) as others:
        found = {item.delivery["id"] for item in outbox_of(service, 60).claim_ready(lambda row: 5)}
        assert len(others) == len(found) == 5 and not others & found


def test_a_claim_takes_of_some_webhooks_and_the_next_one_of_others(service: Service, hook: Callable[..., str]) -> None:
    hooks = {uuid.UUID(hook(f"http://127.0.0.1:1/{n}")) for n in range(MAX_WEBHOOKS + 3)}
    groups(service, 2)
    outbox = outbox_of(service, 60)
    first = [item.webhook["id"] for item in outbox.claim_ready(lambda row: 1)]
    second = [item.webhook["id"] for item in outbox.claim_ready(lambda row: 1)]
    assert len(first) == MAX_WEBHOOKS and set(first) | set(second) == hooks


def test_a_claim_takes_the_same_statements_whatever_waits(
    service: Service, hook: Callable[..., str], statements: Any
) -> None:
    hook("http://127.0.0.1:1/")
    outbox = outbox_of(service, 60)
    for count in (2, 30):
        groups(service, count)
        with statements() as found:
            assert outbox.claim_ready(lambda row: 1)
        assert len(found) == (2 if service.registry.dialect == "postgresql" else 5)
        assert outbox.next_due() is not None


def test_a_worker_that_is_stopped_ends_what_it_began_and_gives_back_the_rest(
    service: Service, hook: Callable[..., str]
) -> None:
    def answer(handler: Any, request: Received) -> None:
        if len(receiver.received) > 3:
            stopping.wait(60)
        say(handler, 200)

    stopping = threading.Event()
    with Receiver(answer) as receiver:
        webhook = hook(receiver)
        groups(service, 60)
        worker = Deliverer(service.engine, service.registry)
        worker.poll()
        receiver.wait(4)
        stopper = threading.Thread(target=worker.stop, args=(60,))
        stopper.start()
        until(lambda: worker._stopping)
        stopping.set()
        stopper.join()
        rows = deliveries(service, webhook)
        assert sum(row.state == "succeeded" for row in rows) == len(receiver.received) < 60
        assert all(row.claimed_by is None for row in rows)
        deliver(service)
        assert len(receiver.received) == 60
    assert set(states(service, webhook)) == {"succeeded"}
