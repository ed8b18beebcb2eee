"""Hooks of Gunicorn for metrics of several processes: ``--config python:netinv_core.telemetry.gunicorn_hooks``."""

from __future__ import annotations

import os
from typing import Any

from prometheus_client import multiprocess

from netinv_core.telemetry.metrics import MULTIPROCESS


def child_exit(server: Any, worker: Any) -> None:
    """Removes the gauges of a worker process that ended."""
    if MULTIPROCESS in os.environ:
        multiprocess.mark_process_dead(worker.pid)
