"""Delivering over real sockets: in order, none lost, whoever answers slowly, wrongly or not at all."""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core import worker_tasks
from netinv_core.changelog.models import ObjectChange
from netinv_core.models.base import now, table_of
from netinv_core.tasks import queue as task_queue
from netinv_extras.templates import renderer_pool, sandbox
from netinv_extras.webhooks.deliveries import WebhookDelivery
from netinv_extras.webhooks.models import Webhook
from netinv_extras.webhooks.worker import GONE, Deliverer
from netinv_testing import Service
from tests.support.databases import new_queue_url
from tests.support.processes import processor_seconds
from tests.support.receivers import Received, Receiver, say
from tests.support.webhook_workers import (
    GROUPS,
    WEBHOOKS,
    change,
    deliver,
    deliveries,
    describe,
    end,
    group,
    groups,
    history,
    hook,
    impatient,
    outbox_of,
    service,
    states,
)

TEXT = {"body_template": "{{ data.id }} {{ data.description }}", "http_content_type": "text/plain"}
__all__ = ["end", "hook", "impatient", "service"]
_delivery, _webhook, _change = table_of(WebhookDelivery), table_of(Webhook), table_of(ObjectChange)


# -- outcomes


def test_a_change_is_delivered_and_the_outcome_recorded(service: Service, hook: Callable[..., str]) -> None:
    with Receiver(lambda handler, _: say(handler, 201, "thanks")) as receiver:
        webhook, key = hook(receiver), group(service)
        deliver(service)
        (request,) = receiver.received
    (row,) = deliveries(service, webhook)
    assert (row.state, row.attempts, row.claimed_by, row.claimed_until) == ("succeeded", 1, None, None)
    assert row.finished is not None and str(row.changed_object_id) == key
    assert request.headers["X-Netinv-Delivery"] == str(row.id) and request.headers["X-Netinv-Event"] == str(
        row.change_id
    )
    (attempt,) = history(service, webhook)
    assert (attempt["number"], attempt["status"], attempt["error"], attempt["answer"]) == (1, 201, "", "thanks")
    assert attempt["duration_ms"] >= 0


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (500, 500, ""),
        (301, 301, ""),
        (
            lambda handler, _: setattr(handler, "close_connection", True),
            None,
            "The receiver closed the connection without an answer.",
        ),
    ],
)
def test_what_is_not_2xx_has_failed_and_is_not_sent_again(
    service: Service, hook: Callable[..., str], answer: Any, status: Any, error: str
) -> None:
    with Receiver(answer) as receiver:
        webhook = hook(receiver)
        group(service)
        deliver(service)
        deliver(service)
        assert len(receiver.received) == 1
    assert states(service, webhook) == ["failed"]
    (attempt,) = history(service, webhook)
    assert (attempt["status"], attempt["error"]) == (status, error)


@pytest.mark.usefixtures("impatient")
def test_a_receiver_that_does_not_answer_has_failed(
    service: Service, hook: Callable[..., str], end: threading.Event
) -> None:
    with Receiver(lambda handler, _: end.wait(60)) as receiver:
        webhook = hook(receiver)
        group(service)
        deliver(service)
        end.set()
    assert states(service, webhook) == ["failed"]
    (attempt,) = history(service, webhook)
    assert (attempt["status"], attempt["error"]) == (None, "The receiver sent nothing for 0.2 s.")


def test_it_is_sent_again_later_and_later_as_often_as_the_webhook_says(
    service: Service, hook: Callable[..., str]
) -> None:
    with Receiver(503) as receiver:
        webhook = hook(receiver, retries=2, retry_after=100)
        group(service)
        for wait in (100, 200):
            before = now()
            deliver(service)
            (row,) = deliveries(service, webhook)
            assert row.state == "queued" and row.claimed_by is None
            assert before <= row.due - datetime.timedelta(seconds=wait) <= now()
            change(service, sa.update(_delivery).where(_delivery.c.id == row.id).values(due=now()))
        deliver(service)
        assert [request.headers["X-Netinv-Attempt"] for request in receiver.received] == ["1", "2", "3"]
    assert states(service, webhook) == ["failed"]
    assert [attempt["status"] for attempt in history(service, webhook)] == [503] * 3


def test_a_template_that_fails_fails_the_delivery(service: Service, hook: Callable[..., str]) -> None:
    with Receiver() as receiver:
        webhook = hook(receiver, body_template="{{ data.nothing.here }}")
        group(service)
        deliver(service)
        assert receiver.received == []
    (attempt,) = history(service, webhook)
    assert attempt["status"] is None and attempt["error"].startswith("The body template failed: ")


@pytest.mark.parametrize("content_type", ["application/json", "Application/vnd.x+json; charset=utf-8"])
def test_a_body_that_is_no_json_is_not_sent_as_json(
    service: Service, hook: Callable[..., str], content_type: str
) -> None:
    with Receiver() as receiver:
        given = {"http_content_type": content_type, "retries": 0}
        webhook = hook(receiver, body_template='{"name": {{ data.name }}}', **given)
        quoted = hook(f"{receiver.url}/quoted", body_template='{"name": {{ data.name|tojson }}}', **given)
        group(service)
        deliver(service)
        assert [json.loads(request.body).keys() for request in receiver.received] == [{"name"}]
    assert (states(service, webhook), states(service, quoted)) == (["failed"], ["succeeded"])
    (attempt,) = history(service, webhook)
    media_type = content_type.partition(";")[0].lower()
    start = f"The rendered body is not valid JSON, but is sent as {media_type}: Expecting value: line 1 column 10"
    assert attempt["status"] is None and attempt["error"].startswith(start)


def test_a_file_of_authorities_that_is_no_longer_allowed_is_not_read(
    service: Service, hook: Callable[..., str], tmp_path: Path
) -> None:
    with Receiver() as receiver:
        with service.configured(webhook_ca_folders=(str(tmp_path),)):
            webhook = hook(receiver, ca_file_path=str(tmp_path / "ca.pem"))
        group(service)
        deliver(service)
        assert receiver.received == []
    assert [attempt["error"] for attempt in history(service, webhook)] == [
        "The setting netinv.webhook_ca_folders does not allow this file."
    ]


@pytest.mark.night
def test_a_template_that_holds_its_process_fails_its_delivery_and_no_other(
    service: Service, hook: Callable[..., str]
) -> None:
    twins = "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}"
    with Receiver() as receiver, service.configured(template_timeout=0.3, template_total_timeout=60.0):
        poisoned = hook(f"{receiver.url}/poisoned", body_template=f"{twins} {service.unique()}", retries=1)
        good = hook(
            f"{receiver.url}/good",
            body_template="{{ data.id }}",
            http_content_type="text/plain",
            additional_headers="X-Event: {{ event }}",
        )
        groups(service, 6)
        worker = Deliverer(service.engine, service.registry)
        worker.poll()
        assert worker.wait(60)
        worker.stop()
        assert [request.headers["X-Event"] for request in receiver.received] == ["created"] * 6
    assert states(service, good) == ["succeeded"] * 6
    rows = deliveries(service, poisoned)
    assert {(row.state, row.attempts, row.claimed_by) for row in rows} == {("queued", 1, None)}
    reasons = {
        service.api.get(f"/api/extras/webhook-deliveries/{row.id}/")["history"][0]["error"].partition(":")[2]
        for row in rows
    }
    assert reasons <= {
        " it takes longer than 0.3 s",
        " it ran out of time or memory 3 times: it is not tried again for 60 s",
    }
    change(service, sa.update(_delivery).where(_delivery.c.state == "queued").values(due=now()))
    deliver(service)
    assert set(states(service, poisoned)) == {"failed"}


def pool_of_its_own(service: Service) -> renderer_pool.PoolLimits:
    """Limits of a pool of one renderer that no other test has."""
    filters = sandbox.limits_of(service.registry).pool.filters
    return renderer_pool.PoolLimits(1, 2**28 + uuid.uuid4().int % 2**16 * 4096, filters)


def test_a_delivery_waits_while_no_renderer_is_free(service: Service, hook: Callable[..., str]) -> None:
    limits = pool_of_its_own(service)
    settings = {"template_processes": limits.processes, "template_memory": limits.memory}
    with Receiver() as receiver:
        webhook = hook(receiver, body_template="{{ data.id }}", http_content_type="text/plain")
        group(service)
        with (
            renderer_pool.pool(limits).borrow(time.monotonic() + 60),
            service.configured(template_total_timeout=0.1, **settings),
        ):
            deliver(service)
        assert [(row.state, row.attempts, row.claimed_by) for row in deliveries(service, webhook)] == [
            ("queued", 0, None)
        ]
        with service.configured(**settings):
            deliver(service)
    renderer_pool.pool(limits).close()
    assert states(service, webhook) == ["succeeded"]


@pytest.mark.night
def test_a_worker_that_ends_while_a_template_holds_its_renderer_loses_nothing(
    service: Service, hook: Callable[..., str]
) -> None:
    limits = pool_of_its_own(service)
    twins = "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}"
    pool = renderer_pool.pool(limits)
    settings = {
        "template_processes": limits.processes,
        "template_memory": limits.memory,
        "template_timeout": 600.0,
        "template_total_timeout": 600.0,
    }
    with service.configured(**settings):
        webhook = hook("http://127.0.0.1:1/", body_template=twins)
        group(service)
        worker = Deliverer(service.engine, service.registry)
        worker.poll()
        deadline = time.monotonic() + 60
        while (
            not any(processor_seconds(process.pid) > 1 for process in pool.processes()) and time.monotonic() < deadline
        ):
            time.sleep(0.01)
        worker.stop(0.1)
        assert not worker.wait(0)
        pool.close()
        assert worker.wait(60)
    assert [(row.state, row.attempts, row.claimed_by) for row in deliveries(service, webhook)] == [("queued", 0, None)]


def test_without_its_change_record_a_delivery_has_failed_for_good(service: Service, hook: Callable[..., str]) -> None:
    with Receiver() as receiver:
        webhook = hook(receiver, retries=5)
        group(service)
        (row,) = deliveries(service, webhook)
        change(service, sa.delete(_change).where(_change.c.id == row.change_id))
        deliver(service)
        assert receiver.received == []
    assert states(service, webhook) == ["failed"]
    assert [attempt["error"] for attempt in history(service, webhook)] == [GONE]


def test_secrets_are_in_neither_records_nor_log(
    service: Service, hook: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    def echo(handler: Any, request: Received) -> None:
        say(
            handler,
            500,
            f"{request.headers['Authorization']} {request.headers['X-Api-Key']} s3cret-s3cret {request.body.decode()}",
        )

    with Receiver(echo) as receiver:
        webhook = hook(
            receiver, secret="s3cret-s3cret", additional_headers="X-Api-Key: k3y-{{ event }}", body_template="0"
        )
        url = receiver.url.replace("://", "://someone:pa55-word@")  # of a time when that was not refused yet
        change(service, sa.update(_webhook).where(_webhook.c.id == uuid.UUID(webhook)).values(payload_url=url))
        group(service)
        deliver(service)
    (attempt,) = history(service, webhook)
    shown = f"{attempt} {caplog.text}"
    assert attempt["status"] == 500 and not any(
        text in shown for text in ("s3cret", "pa55", "k3y-created", "c29tZW9uZTpwYTU1LXdvcmQ=")
    )


def test_masking_tells_nobody_the_letters_of_a_short_secret(service: Service, hook: Callable[..., str]) -> None:
    """A receiver that answers with text of its choice learns, with whoever reads the history, nothing of a secret that
    the text holds by chance.
    """
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    with Receiver(lambda handler, _: say(handler, 500, f"{letters} incident")) as receiver:
        webhook = hook(receiver, secret="d", additional_headers="Authorization: Token xyz\nX-Api-Key: {{ 'mno' }}")
        group(service)
        deliver(service)
    (attempt,) = history(service, webhook)
    assert attempt["answer"] == f"{letters} incident"


# -- order, and who waits for whom


def test_what_follows_waits_for_the_retry_and_other_objects_do_not(service: Service, hook: Callable[..., str]) -> None:
    first, second = groups(service, 2)
    refusing = {first}

    def answer(handler: Any, request: Received) -> None:
        say(handler, 500 if request.body.decode().partition(" ")[0] in refusing else 200)

    with Receiver(answer) as receiver:
        webhook = hook(receiver, retries=3, retry_after=100, **TEXT)
        for text in "ab":
            describe(service, first, text)
            describe(service, second, text)
        deliver(service)
        assert sorted(request.body.decode() for request in receiver.received) == sorted(
            [f"{first} a", f"{second} a", f"{second} b"]
        )
        refusing.clear()
        change(service, sa.update(_delivery).where(_delivery.c.state == "queued").values(due=now()))
        deliver(service)
        assert [request.body.decode() for request in receiver.received[3:]] == [f"{first} a", f"{first} b"]
    assert set(states(service, webhook)) == {"succeeded"}


def test_several_workers_keep_the_order_and_send_each_change_once(service: Service, hook: Callable[..., str]) -> None:
    keys = groups(service, 5)
    with Receiver() as receiver:
        hook(receiver, **TEXT)
        for number in range(12):
            service.api.patch(GROUPS, [{"id": key, "description": str(number)} for key in keys])
        workers = [Deliverer(service.engine, service.registry) for _ in range(3)]
        for worker in workers:
            worker.poll()
        assert all(worker.wait(60) for worker in workers)
        deliver(service)
        sent = [request.body.decode().split() for request in receiver.received]
    for key in keys:
        assert [int(number) for owner, number in sent if owner == key] == list(range(12))


def test_dead_receivers_keep_nobody_waiting(service: Service, hook: Callable[..., str], end: threading.Event) -> None:
    """Half as many receivers as there are threads never answer; each holds one thread, and the others go on."""

    def hang(handler: Any, request: Received) -> None:
        end.wait(120)
        handler.close_connection = True

    with Receiver(hang) as dead, Receiver() as good:
        for number in range(8):
            hook(f"{dead.url}/{number}")
        groups(service, 50)
        webhook = hook(good)
        groups(service, 50)
        worker = Deliverer(service.engine, service.registry)
        worker.poll()
        good.wait(50)
        dead.wait(8)
        assert sorted(request.path for request in dead.received) == [f"/hook/{number}" for number in range(8)]
        end.set()
        worker.stop(60)
    assert states(service, webhook) == ["succeeded"] * 50


def test_a_fast_receiver_gets_several_at_a_time(service: Service, hook: Callable[..., str]) -> None:
    """Each message after the first ones waits until there are others on their way with it."""
    running, most, served, lock, several = [0], [0], [0], threading.Lock(), threading.Event()

    def answer(handler: Any, request: Received) -> None:
        with lock:
            running[0] += 1
            served[0] += 1
            most[0] = max(most[0], running[0])
            if running[0] >= 4:
                several.set()
            first = served[0] <= 20
        if not first:
            several.wait(60)
        with lock:
            running[0] -= 1
        say(handler, 200)

    with Receiver(answer) as receiver:
        hook(receiver)
        groups(service, 100)
        deliver(service)
    assert 4 <= most[0] <= 8


def test_the_statements_do_not_grow_with_the_deliveries(service: Service, hook: Callable[..., str]) -> None:
    with Receiver() as receiver:
        hook(receiver)
        groups(service, 200)
        with service.statements() as found:
            deliver(service)
        assert len(receiver.received) == 200
    assert len(found) < 150


# -- webhooks that change meanwhile


def test_what_was_queued_is_sent_though_the_webhook_was_disabled_since(
    service: Service, hook: Callable[..., str]
) -> None:
    with Receiver() as receiver:
        webhook = hook(receiver)
        group(service)
        change(service, sa.update(_webhook).where(_webhook.c.id == uuid.UUID(webhook)).values(enabled=False))
        deliver(service)
        assert len(receiver.received) == 1


def test_the_webhook_counts_as_it_is_when_it_is_sent(service: Service, hook: Callable[..., str]) -> None:
    with Receiver() as receiver:
        webhook = hook("http://127.0.0.1:1/")
        group(service)
        service.api.patch(f"{WEBHOOKS}{webhook}/", {"payload_url": receiver.url, "http_method": "PUT"})
        deliver(service)
        assert [request.method for request in receiver.received] == ["PUT"]


def test_a_webhook_that_is_deleted_on_the_way_leaves_nothing(
    service: Service, hook: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    made: list[str] = []

    def answer(handler: Any, request: Received) -> None:
        service.api.delete(f"{WEBHOOKS}{made[0]}/", status=[204, 404])
        say(handler, 200)

    with Receiver(answer) as receiver:
        made.append(hook(receiver))
        groups(service, 3)
        deliver(service)
        assert receiver.received
    assert deliveries(service, made[0]) == [] and "broken off" not in caplog.text


# -- the worker


@contextlib.contextmanager
def working(service: Service, folder: Path) -> Iterator[None]:
    """A worker in this process, on a real queue. At the end nothing is being delivered any more."""
    url = new_queue_url(folder)
    with service.configured(queue_url=url):
        huey = task_queue.queue(url)
        huey.flush()
        worker_tasks.add_tasks(huey, service.engine, service.registry)
        consumer = task_queue.start_embedded(huey)
        try:
            yield
        finally:
            consumer.stop(graceful=True)
            Deliverer.of_process(service.engine, service.registry).stop(60)


@pytest.fixture
def worker(service: Service, tmp_path: Path) -> Iterator[None]:
    """A worker for the test."""
    with working(service, tmp_path):
        yield


@pytest.mark.usefixtures("worker")
def test_a_change_reaches_its_receiver_at_once(service: Service, hook: Callable[..., str]) -> None:
    with Receiver() as receiver:
        webhook = hook(receiver)
        key = group(service)
        receiver.wait(1)
        describe(service, key, "x")
        receiver.wait(2)
        deadline = time.monotonic() + 60
        while set(states(service, webhook)) != {"succeeded"} and time.monotonic() < deadline:
            time.sleep(0.02)
    assert states(service, webhook) == ["succeeded"] * 2


@pytest.mark.usefixtures("worker")
@pytest.mark.night
def test_a_retry_that_is_due_soon_is_not_left_to_the_next_minute(service: Service, hook: Callable[..., str]) -> None:
    with Receiver(
        lambda handler, request: say(handler, 200 if request.headers["X-Netinv-Attempt"] == "2" else 500)
    ) as receiver:
        hook(receiver, retries=1, retry_after=1)
        group(service)
        one, two = receiver.wait(2)
        assert two.time - one.time > 0.9


@pytest.mark.night
def test_what_a_dead_worker_had_in_hand_is_not_left_to_the_next_minute(
    service: Service, hook: Callable[..., str], tmp_path: Path
) -> None:
    """It dies before another one is there, which would be faster."""
    with Receiver() as receiver:
        hook(receiver)
        group(service)
        assert len(outbox_of(service, 3).claim_ready(lambda row: 10)) == 1
        with working(service, tmp_path):
            group(service)
            receiver.wait(2)


def test_the_log_has_a_line_for_each_failure_one_for_all_and_one_for_each_receiver_that_fails(
    service: Service, hook: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "netinv_extras")
    with Receiver() as good, Receiver(500) as bad:
        hook(good)
        webhook = service.api.get(f"{WEBHOOKS}{hook(bad)}/")["name"]
        groups(service, 5)
        deliver(service)
    lines = [
        (record.levelname, record.getMessage())
        for record in caplog.records
        if record.name == "netinv_extras.webhooks.worker"
    ]
    of_deliveries = [text for _, text in lines if text.startswith("delivery ")]
    assert len(of_deliveries) == 5 and all(
        text.endswith(f"to {webhook} failed: it answered 500") for text in of_deliveries
    )
    assert lines[5:] == [
        ("INFO", "webhooks: 5 messages delivered, 5 not"),
        ("WARNING", f"webhook {webhook}: 5 of 5 messages were not delivered, the last one because: it answered 500"),
    ]
