"""Messages of the queue that cannot be read: of a package that is not installed here, or of something else."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Iterable, Iterator
from typing import Any

from netinv_core.models.base import now

log = logging.getLogger(__name__)


class ReadableMessages:
    """Mixin of queues, which leaves out messages that cannot be read and tells each in one line. The others taken with
    it are not lost, and the worker goes on at once.
    """

    storage: Any

    def dequeue(self) -> Any:
        """The task of the next message; ``None`` without one."""
        message = self.storage.dequeue()
        return next(self._tasks_of(() if message is None else [message]), None)

    def read_schedule(self, timestamp: datetime.datetime | None = None) -> list[Any]:
        """The tasks scheduled until a time, by default until now, as the worker asks for them."""
        due = now().replace(tzinfo=None) if timestamp is None else timestamp  # the queue has UTC without an offset
        return list(self._tasks_of(self.storage.read_schedule(due)))

    def _tasks_of(self, messages: Iterable[Any]) -> Iterator[Any]:
        queue: Any = self
        for message in messages:
            try:
                yield queue.deserialize_task(message)
            except Exception as error:  # what is read may be anything
                log.warning("a message of the queue cannot be read, and is left out: %s", error)
