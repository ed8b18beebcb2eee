"""Ids of change records."""

from __future__ import annotations

import secrets
import time
import uuid

_NANOSECONDS = 1_000_000  # of a millisecond


def new_record_ids(count: int) -> list[uuid.UUID]:
    """Returns UUIDs of version 7 (RFC 9562, method 3): they begin with the time, in quarters of a microsecond. Each has
    a later one than that before, so that they are in order.

    The log is only added to: such ids go to the end of the index of the primary key, whose pages get full. With random
    ones each record is on another page, of which a third stays empty.
    """
    milliseconds, rest = divmod(time.time_ns(), _NANOSECONDS)
    first = (milliseconds << 12) + rest * 4096 // _NANOSECONDS
    bits = secrets.token_bytes(8 * count)
    ids = []
    for position in range(count):
        moment = first + position
        random = int.from_bytes(bits[8 * position : 8 * position + 8], "big") >> 2
        ids.append(uuid.UUID(int=(moment >> 12) << 80 | 7 << 76 | (moment & 0xFFF) << 64 | 2 << 62 | random))
    return ids
