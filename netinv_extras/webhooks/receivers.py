"""Receivers of a worker: what waits for each, and how many messages it takes at once."""

from __future__ import annotations

import collections
import dataclasses

from netinv_extras.webhooks import change_records, payload
from netinv_extras.webhooks.http_client import DeliveryAnswer
from netinv_extras.webhooks.outbox import ClaimedDelivery

MAX_IN_FLIGHT = 8  # concurrent messages to one receiver
PREFETCH = 8  # claimed deliveries of a receiver for each concurrent message


@dataclasses.dataclass(frozen=True)
class SendingJob:
    """A claimed delivery, the end of its lease (monotonic), the renderings for its message, and the bytes of its
    states.
    """

    claimed: ClaimedDelivery
    until: float
    renderings: payload.Renderings
    weight: int


class Receiver:
    """State of a webhook's receiver in this process.

    ``waiting`` holds its claimed deliveries, ``busy`` counts its concurrent messages, ``width`` limits them.
    ``late`` means that its last answer timed out.
    """

    def __init__(self) -> None:
        self.waiting: collections.deque[SendingJob] = collections.deque()
        self.width = 1
        self.busy = 0
        self.late = False
        self.name = ""
        self.sent = self.failed = 0
        self.last_error = ""

    @property
    def room(self) -> int:
        """Number of further deliveries to claim; 0 until half of the claimed ones are being sent."""
        full = 2 if self.late else PREFETCH * self.width
        return full - len(self.waiting) if len(self.waiting) * 2 <= full else 0

    def learn(self, answer: DeliveryAnswer) -> None:
        """Adapts the number of concurrent messages to an answer: +1, or 1 after a timeout."""
        if answer.late:
            self.late, self.width = True, 1
        elif answer.status is not None:
            self.late, self.width = False, min(self.width + 1, MAX_IN_FLIGHT)

    def can_start(self, weight: int) -> bool:
        """True when its next message can be sent beside others with states of so many bytes."""
        if not self.waiting or self.busy >= self.width:
            return False
        return not self.waiting[0].weight or weight < change_records.IN_HAND
