"""Bound of the processor time of a request: it tells a hang from work.

Times are measured by ``make bench`` and never asserted: a busy machine takes ten times as long as an idle one. What is
bounded here takes a fiftieth of the bound on an idle machine, and took more than it before its fault was mended.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

MAX_SECONDS = 60


@contextmanager
def no_hang(what: object = "") -> Iterator[None]:
    """Fails if the block takes more than ``MAX_SECONDS`` of processor time, in all threads of the process.

    :param what: the input, for the message of the failure
    """
    began = time.process_time()
    yield
    seconds = time.process_time() - began
    assert seconds < MAX_SECONDS, f"{seconds:.0f} s: {str(what)[:300]}"
