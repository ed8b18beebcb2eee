"""The queue in Redis. While Redis cannot be reached, each worker runs its periodic tasks itself and waits for Redis to
return.
"""

from __future__ import annotations

import datetime
import logging
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from huey import RedisHuey
from huey.api import PeriodicTask, Task
from redis import ConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, RedisError
from redis.retry import Retry

from netinv_core.tasks.messages import ReadableMessages

log = logging.getLogger(__name__)
CONNECT_TIMEOUT, ANSWER_TIMEOUT = 5.0, 15.0  # seconds; workers wait a second for the next task
RETRY_DELAY = 1.0  # seconds between attempts to reach the queue
Answer = TypeVar("Answer")


class RedisQueue(ReadableMessages, RedisHuey):  # type: ignore[misc]
    """Huey with a consumer that survives an outage of Redis, logged once at its beginning and once at its end.

    :param timeout: seconds for connecting and for an answer; by default those of a worker, which waits for messages
    """

    def __init__(self, name: str, url: str, timeout: float | None = None) -> None:
        # One immediate retry: a pooled connection may belong to a Redis that was restarted. One that hangs is not asked
        # twice.
        retry = Retry(NoBackoff(), 1, supported_errors=(ConnectionError,))
        pool = ConnectionPool.from_url(
            url,
            retry=retry,
            socket_connect_timeout=timeout or CONNECT_TIMEOUT,
            socket_timeout=timeout or ANSWER_TIMEOUT,
        )
        super().__init__(name, connection_pool=pool, results=False)
        self._away = False
        self._running: set[str] = set()
        self._changing = threading.Lock()

    def enqueue(self, task: Any) -> Any:
        """Enqueues a task. Without Redis a periodic task runs in a thread of this process, one run at a time.

        :raises RedisError: for any other task
        """
        try:
            return self._call_redis(super().enqueue, task)
        except RedisError:
            if not isinstance(task, PeriodicTask):
                raise
            self._run_here(task)
            return None

    def dequeue(self) -> Task | None:
        """The next task; without Redis none, after a delay."""
        try:
            return self._call_redis(super().dequeue)
        except RedisError:
            time.sleep(RETRY_DELAY)
            return None

    def read_schedule(self, timestamp: datetime.datetime | None = None) -> list[Task]:
        """The tasks scheduled until now; without Redis none."""
        try:
            return self._call_redis(super().read_schedule, timestamp)
        except RedisError:
            return []

    def _call_redis(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Calls a function that needs Redis, and logs when Redis goes away or returns."""
        try:
            answer = function(*arguments)
        except RedisError as error:
            self._note(True, error)
            raise
        self._note(False)
        return answer

    def _note(self, away: bool, error: RedisError | None = None) -> None:
        with self._changing:
            if away == self._away:
                return
            self._away = away
        if away:
            log.warning("the queue cannot be reached; workers run periodic tasks without it: %s", error)
        else:
            log.warning("the queue can be reached again")

    def _run_here(self, task: PeriodicTask) -> None:
        with self._changing:
            if task.name in self._running:
                return
            self._running.add(task.name)
        threading.Thread(target=self._execute_here, args=(task,), name=f"netinv-{task.name}", daemon=True).start()

    def _execute_here(self, task: PeriodicTask) -> None:
        try:
            task.execute()
        except Exception:
            log.exception("the task %s failed", task.name)
        finally:
            with self._changing:
                self._running.discard(task.name)
