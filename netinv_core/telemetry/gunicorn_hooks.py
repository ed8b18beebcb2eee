"""Hooks of Gunicorn, used by ``deploy/gunicorn/gunicorn.conf.py``: for metrics of several processes, and for SIGHUP.

The module of the metrics and the service are not imported: the process that starts the others has neither.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from prometheus_client import multiprocess

from netinv_core.telemetry import MULTIPROCESS

STARTED_WITHIN = 120  # seconds in which a process has to start
# Starts the service as a process of Gunicorn does, without a worker.
_START = """
import sys
from pyramid.paster import get_app, setup_logging
setup_logging(sys.argv[1])
get_app(sys.argv[1])
"""


def child_exit(server: Any, worker: Any) -> None:
    """Removes the gauges of a worker process that ended."""
    if MULTIPROCESS in os.environ:
        multiprocess.mark_process_dead(worker.pid)


def on_starting(server: Any) -> None:
    """Has SIGHUP try first whether the service starts with the changed ini file.

    Gunicorn ends all of its processes when a new one does not start.
    """
    take = server.handle_hup

    def take_if_it_starts() -> None:
        reason = _fault(server.cfg.paste) if server.cfg.paste else ""
        if reason:
            server.log.error("SIGHUP: nothing of %s is taken, the former processes stay: %s", server.cfg.paste, reason)
        else:
            take()

    server.handle_hup = take_if_it_starts


def _fault(ini: str) -> str:
    """The last line that a service with this ini file says before it ends; empty when it starts."""
    command = [sys.executable, "-c", _START, ini]
    environment = {**os.environ, "NETINV_EMBEDDED_WORKER": "no"}
    environment.pop(MULTIPROCESS, None)
    try:
        done = subprocess.run(  # noqa: S603 - this service with its own ini file
            command, capture_output=True, text=True, env=environment, timeout=STARTED_WITHIN, check=False
        )
    except subprocess.TimeoutExpired:
        return f"it does not start within {STARTED_WITHIN} seconds"
    said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return said[-1] if done.returncode else ""
