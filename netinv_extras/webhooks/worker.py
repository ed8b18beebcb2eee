"""The worker that sends webhook deliveries until none is due.

One thread of a process uses the database (:class:`Deliverer`), others send. Each receiver starts with one
concurrent message. The number grows while it answers, and falls back to one after a timeout. Receivers that timed
out may use at most half of the threads together, so that slow receivers do not delay others.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import logging
import queue
import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.auth.account import ANONYMOUS
from netinv_core.db.engine import session_factory
from netinv_core.models.base import now
from netinv_core.tasks.background import BackgroundWorker
from netinv_core.telemetry import log_context
from netinv_core.telemetry.tracing import tracing_of
from netinv_core.uow import UnitOfWork
from netinv_extras.webhooks import change_records, outbox, pausing, payload
from netinv_extras.webhooks.claims import SUSPECT
from netinv_extras.webhooks.http_client import DeliveryAnswer, Sender
from netinv_extras.webhooks.models import DELIVER
from netinv_extras.webhooks.outbox import AttemptOutcome, ClaimedDelivery, Outbox, Row
from netinv_extras.webhooks.receivers import Receiver, SendingJob

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.telemetry.otel import Tracing

log = logging.getLogger(__name__)
BATCH = 64  # outcomes recorded in one transaction at most
BATCH_DELAY = 0.03  # seconds that an outcome waits for others of its batch
POLL_INTERVAL = 1.0  # seconds between queries for new deliveries
REPORT_INTERVAL = 60.0  # seconds between log lines during a long drain, and between runs of the periodic task
MAX_CONSECUTIVE_FAILURES = 10  # of the database, after which the worker gives up until the next task
SHUTDOWN_TIMEOUT = 10.0  # seconds for messages in progress when the process ends
MAX_LOST_CLAIMS = 5  # claims in a row after which a delivery has failed
LOST = f"Workers that had it in hand ended {MAX_LOST_CLAIMS} times without a word."
GONE = "The change record is no longer there: it is older than netinv.changelog_retention allows."


class Deliverer(BackgroundWorker):
    """Sends the deliveries of one registry in one process.

    The background thread claims deliveries and records their outcomes; other threads send. ``_changed`` guards the
    attributes below, except for the settings, which only the background thread uses.
    """

    thread_name = "webhooks"
    shutdown_timeout = SHUTDOWN_TIMEOUT

    def __init__(self, engine: Engine, registry: Registry) -> None:
        super().__init__(engine, registry)
        self._configure()
        self._receivers: dict[Any, Receiver] = {}
        self._outcomes: queue.SimpleQueue[AttemptOutcome | None] = (
            queue.SimpleQueue()
        )  # None wakes the background thread
        self._threads = self._idle = 0
        self._weight = 0  # of what is being sent
        self._stale: list[ClaimedDelivery] = []
        self._held: dict[int, int] = {}  # lost claims by the id of each delivery in hand

    def _configure(self) -> None:
        settings = self._registry.settings
        self._patience: float = settings["webhook_total_timeout"] + settings["template_total_timeout"]
        self._lease = 2 * self._patience + 5
        self._most: int = max(settings["webhook_threads"], 1)
        self._outbox = Outbox(self._engine, datetime.timedelta(seconds=self._lease))
        self._sender = Sender(settings)

    # -- the background thread, which uses the database

    def _wake(self) -> None:
        super()._wake()
        self._outcomes.put(None)

    def work(self) -> None:
        """Sends everything that is due, and enqueues the task for what is due soon."""
        failed = True
        try:
            self._configure()
            self._drain()
            self._enqueue_for(DELIVER, self._outbox.next_due(), datetime.timedelta(seconds=REPORT_INTERVAL))
            failed = False
        finally:
            self._sender.close()
            with self._changed:
                self._receivers = {
                    key: receiver for key, receiver in self._receivers.items() if receiver.late and not failed
                }
                self._held.clear()

    def _drain(self) -> None:
        """Claims deliveries, starts threads that send them, and records outcomes, until nothing is due."""
        done: list[AttemptOutcome] = []
        last_claim = last_report = last_record = time.monotonic()
        should_claim, failures = True, 0
        while True:
            try:
                if should_claim and not self._stopping:
                    self._claim()
                    should_claim, last_claim = False, time.monotonic()
                self._give_back()
                idle = self._start_threads()
                overdue = time.monotonic() - last_record > BATCH_DELAY
                if done and (len(done) >= BATCH or idle or self._stopping or overdue):
                    self._record(done)
                    done, should_claim = [], True
                    continue
                failures = 0
            except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
                failures += 1
                if failures > MAX_CONSECUTIVE_FAILURES:
                    raise
                log.warning("the database did not take part in delivering webhooks: %s", str(error).partition("\n")[0])
                time.sleep(min(0.05 * 2**failures, 2))
                continue
            if not done and idle and self._outcomes.empty() and (self._stopping or not self._requested):
                break
            if not done:
                last_record = time.monotonic()
            done += self._collect(BATCH_DELAY if done else POLL_INTERVAL)
            with self._changed:
                overdue = time.monotonic() - last_claim > POLL_INTERVAL
                should_claim, self._requested = should_claim or self._requested or overdue, False
            if time.monotonic() - last_report > REPORT_INTERVAL:
                last_report = time.monotonic()
                self._report()
        self._report()

    def _claim(self) -> None:
        """Claims as many deliveries as the receivers have room for."""
        with self._changed:
            self._requested = False
        until = time.monotonic() + self._lease
        with self._changed:
            suspects = sum(lost >= SUSPECT for lost in self._held.values())
        claims = self._outbox.claim_ready(self._room, max(1 - suspects, 0))
        weights = {claimed.delivery["id"]: change_records.weight(claimed.change) for claimed in claims}
        renderings = self._renderings({claimed.delivery["changed_object_type"] for claimed in claims})
        with self._changed:
            for claimed in claims:
                if claimed.delivery["id"] not in self._held:  # else: its lease ended, but this process still sends it
                    self._held[claimed.delivery["id"]] = claimed.delivery["lost_claims"]
                    rendering = renderings.get(claimed.delivery["changed_object_type"], payload.NONE)
                    job = SendingJob(claimed, until, rendering, weights[claimed.delivery["id"]])
                    self._receivers[claimed.webhook["id"]].waiting.append(job)
            self._changed.notify_all()

    def _renderings(self, labels: set[str]) -> dict[str, payload.Renderings]:
        with session_factory(self._engine)() as session:
            uow = UnitOfWork(self._registry, session, ANONYMOUS)
            uow.configuration.cached = {}  # one cache for all labels
            return payload.renderings_for(uow, labels)

    def _room(self, webhook: Row) -> int:
        with self._changed:
            receiver = self._receivers.setdefault(webhook["id"], Receiver())
            receiver.name = webhook["name"]
            return receiver.room

    def _give_back(self) -> None:
        """Releases claims that would end before the message is sent; when the process ends, all not being sent."""
        with self._changed:
            if self._stopping:
                for receiver in self._receivers.values():
                    self._stale += [job.claimed for job in receiver.waiting]
                    receiver.waiting.clear()
            stale, self._stale = self._stale, []
        if stale:
            with contextlib.suppress(sa.exc.SQLAlchemyError):  # the claims end with their leases anyway
                self._outbox.release(stale)
            self._let_go(stale)

    def _let_go(self, items: Iterable[ClaimedDelivery]) -> None:
        with self._changed:
            for item in items:
                self._held.pop(item.delivery["id"], None)

    def _start_threads(self) -> bool:
        """Starts threads for the deliveries that can be sent now. Returns True if nothing is waiting or being sent."""
        with self._changed:
            possible = sum(
                max(min(len(receiver.waiting), receiver.width - receiver.busy), 0)
                for receiver in self._receivers.values()
                if receiver.can_start(self._weight)
            )
            for _ in range(min(possible - self._idle, self._most - self._threads)):
                self._threads += 1
                threading.Thread(target=self._send, name="webhook", daemon=True).start()
            active = any(receiver.waiting or receiver.busy for receiver in self._receivers.values())
            return not self._stale and not active

    def _collect(self, seconds: float) -> list[AttemptOutcome]:
        """Takes the outcomes from the queue, waiting for the first one; at most :data:`BATCH`."""
        outcomes = []
        with contextlib.suppress(queue.Empty):
            outcomes.append(self._outcomes.get(timeout=seconds))
            while len(outcomes) < BATCH:
                outcomes.append(self._outcomes.get_nowait())
        return [outcome for outcome in outcomes if outcome is not None]

    def _record(self, done: list[AttemptOutcome]) -> None:
        lost = self._outbox.record(done)
        if lost:
            log.info("%d messages were sent whose deliveries had been taken over or deleted meanwhile", len(lost))
        self._let_go(outcome.claimed for outcome in done)
        if gone := {outcome.claimed.webhook["id"]: outcome.time for outcome in done if outcome.status == outbox.GONE}:
            pausing.pause_gone(self._engine, self._registry, gone)

    # -- the threads that send

    def _send(self) -> None:
        """Thread: sends deliveries; ends when none can be sent for :data:`POLL_INTERVAL` seconds."""
        while True:
            with self._changed:
                taken = self._take()
                if taken is None:
                    self._idle += 1
                    self._changed.wait_for(
                        lambda: self._stopping or not self._running or self._is_something_waiting(), POLL_INTERVAL
                    )
                    self._idle -= 1
                    taken = self._take()
                if taken is None:
                    self._threads -= 1
                    return
            job, receiver = taken
            try:
                with log_context.task("deliver", job.claimed.delivery["request_id"]):
                    outcome, answer = self._attempt(job)
            except payload.Postponed as error:
                log.warning("a delivery is put off: %s", error)
                with self._changed:
                    self._end(job, receiver)
                    self._stale.append(job.claimed)
                    self._outcomes.put(None)
                continue
            with self._changed:
                self._end(job, receiver)
                receiver.learn(answer)
                receiver.sent += outcome.good
                if not outcome.good:
                    receiver.failed += 1
                    receiver.last_error = outcome.error or f"it answered {outcome.status}"
                self._outcomes.put(outcome)
                self._changed.notify()

    def _is_something_waiting(self) -> bool:
        return any(receiver.can_start(self._weight) for receiver in self._receivers.values())

    def _end(self, job: SendingJob, receiver: Receiver) -> None:
        receiver.busy -= 1
        self._weight -= job.weight

    def _take(self) -> tuple[SendingJob, Receiver] | None:
        """Returns the next delivery to send, from the receivers in turn (round robin)."""
        if self._stopping:
            return None
        slow = sum(receiver.busy for receiver in self._receivers.values() if receiver.late)
        for key, receiver in self._receivers.items():
            throttled = receiver.late and slow >= max(self._most // 2, 1)
            while receiver.can_start(self._weight) and not throttled:
                job = receiver.waiting.popleft()
                if time.monotonic() > job.until - self._patience - 1:
                    self._stale.append(job.claimed)
                    continue
                receiver.busy += 1
                self._weight += job.weight
                self._receivers[key] = self._receivers.pop(key)  # to the end of the order
                return job, receiver
        return None

    def _attempt(self, job: SendingJob) -> tuple[AttemptOutcome, DeliveryAnswer]:
        """Builds the message and sends it.

        :raises Postponed: when it cannot be built now
        """
        claimed, began, start, final = job.claimed, now(), time.monotonic(), False
        tracing = tracing_of(self._registry.settings)
        try:
            change = self._change(claimed)
            message = payload.build_message(
                self._registry, claimed.delivery, claimed.webhook, change, began, job.renderings
            )
            del change  # its states are not kept while the receiver answers
            answer = self._sender.send(message) if tracing is None else self._send_traced(tracing, claimed, message)
        except payload.Postponed:
            raise
        except payload.PayloadError as error:
            final = isinstance(error, payload.FinalError)
            answer = DeliveryAnswer(None, str(error), "", time.monotonic() - start)
        except Exception as error:  # a bug: recorded as the outcome, without stopping other deliveries
            log.exception("the message of delivery %s could not be made", claimed.delivery["id"])
            reason = f"The message could not be made ({type(error).__name__})."
            answer = DeliveryAnswer(None, reason, "", time.monotonic() - start)
        if not answer.good:
            reason = answer.error or f"it answered {answer.status}"
            log.info("delivery %s to %s failed: %s", claimed.delivery["id"], claimed.webhook["name"], reason)
        outcome = AttemptOutcome(
            claimed, began, answer.seconds, answer.status, answer.error, answer.text, answer.good, final
        )
        return outcome, answer

    def _change(self, claimed: ClaimedDelivery) -> Row:
        """The change record of a delivery.

        :raises FinalError: when there is none, when it is too large, or when workers lost it too often
        :raises Postponed: when the database cannot be asked
        """
        if claimed.change is not None and claimed.delivery["lost_claims"] >= MAX_LOST_CLAIMS:
            raise payload.FinalError(LOST)
        most = self._registry.settings["max_answer_size"]
        change = claimed.change and change_records.with_states(self._engine, claimed.change, most)
        if change is None:
            raise payload.FinalError(GONE)
        return change

    def _send_traced(
        self, tracing: Tracing, claimed: ClaimedDelivery, message: payload.WebhookMessage
    ) -> DeliveryAnswer:
        """Sends a message within a span, whose trace the receiver may continue."""
        delivery = claimed.delivery
        with tracing.delivery(delivery["id"], claimed.webhook["name"], delivery["request_id"]) as span:
            headers = {**{name: value.encode() for name, value in tracing.headers().items()}, **message.headers}
            answer = self._sender.send(dataclasses.replace(message, headers=headers))
            tracing.end_attempt(span, answer.status, answer.error)
        return answer

    # -- the log

    def _report(self) -> None:
        """Logs one line with the totals, and a warning for each receiver with failures. Resets the counters."""
        with self._changed:
            totals = [(r.name, r.sent, r.failed, r.last_error) for r in self._receivers.values() if r.sent or r.failed]
            for receiver in self._receivers.values():
                receiver.sent = receiver.failed = 0
        if totals:
            delivered, undelivered = sum(item[1] for item in totals), sum(item[2] for item in totals)
            log.info("webhooks: %d messages delivered, %d not", delivered, undelivered)
        for name, sent, failed, error in totals:
            if failed:
                text = "webhook %s: %d of %d messages were not delivered, the last one because: %s"
                log.warning(text, name, failed, sent + failed, error)


def deliver(engine: Engine, registry: Registry) -> None:
    """The task of the queue: starts sending all due deliveries in the background. Returns at once."""
    Deliverer.of_process(engine, registry).poll()


def deliver_now(engine: Engine, registry: Registry, seconds: float | None = None) -> bool:
    """Sends all due deliveries and waits for the end. Returns False if ``seconds`` did not suffice."""
    deliverer = Deliverer(engine, registry)
    deliverer.poll()
    if deliverer.wait(seconds):
        return True
    deliverer.stop()
    return False
