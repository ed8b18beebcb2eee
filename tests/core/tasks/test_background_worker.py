"""Background workers: one thread for each process, which ends when nothing is left to do."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from netinv_core.tasks.background import BackgroundWorker
from netinv_testing import Service


class Counter(BackgroundWorker):
    """Counts its passes; each calls ``action``."""

    action: Callable[[], None] = staticmethod(lambda: None)
    passes = 0

    def work(self) -> None:
        self.passes += 1
        self.action()


@pytest.fixture
def worker(service: Service) -> Counter:
    return Counter(service.engine, service.registry)


def test_a_request_during_a_pass_causes_exactly_one_more(worker: Counter) -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        inside.set()
        assert leave.wait(60)

    worker.action = hold
    worker.poll()
    assert inside.wait(60)
    for _ in range(3):
        worker.poll()
    assert not worker.wait(0)
    leave.set()
    assert worker.wait(60)
    assert worker.passes == 2


def test_a_failed_pass_is_logged_and_the_next_request_starts_again(
    worker: Counter, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError("the database is gone")

    worker.action = fail
    with caplog.at_level(logging.ERROR):
        worker.poll()
        assert worker.wait(60)
    assert "the database is gone" in caplog.text
    worker.action = lambda: None
    worker.poll()
    assert worker.wait(60)
    assert worker.passes == 2


def test_a_stopped_worker_begins_no_other_pass(worker: Counter) -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        inside.set()
        assert leave.wait(60)

    worker.action = hold
    worker.poll()
    assert inside.wait(60)
    worker.poll()
    worker.stop(0)
    leave.set()
    assert worker.wait(60)
    assert worker.passes == 1


def test_a_process_has_one_worker_of_each_kind_for_a_registry(service: Service) -> None:
    assert Counter.of_process(service.engine, service.registry) is Counter.of_process(service.engine, service.registry)
