"""Hooks of Gunicorn for metrics of several processes, used by ``deploy/gunicorn/gunicorn.conf.py``.

The module of the metrics is not imported: the process that starts the others has none.
"""

from __future__ import annotations

import os
from typing import Any

from prometheus_client import multiprocess

from netinv_core.telemetry import MULTIPROCESS


def child_exit(server: Any, worker: Any) -> None:
    """Removes the gauges of a worker process that ended."""
    if MULTIPROCESS in os.environ:
        multiprocess.mark_process_dead(worker.pid)
