"""Child processes are waited for within limits: one that is stuck does not hold up the service or its end."""

from __future__ import annotations

import logging
import subprocess

REAP_TIMEOUT = 5.0  # seconds until a killed process has ended; longer in a system call that cannot be interrupted
log = logging.getLogger(__name__)


def end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Waits for a process that ends by itself; kills it after ``seconds``."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        log.warning("the process %d did not end within %g seconds and is killed", process.pid, seconds)
        process.kill()
        reap(process)


def reap(process: subprocess.Popen[bytes]) -> None:
    """Waits for a killed process, at most :data:`REAP_TIMEOUT` seconds."""
    try:
        process.wait(REAP_TIMEOUT)
    except subprocess.TimeoutExpired:
        log.warning("the killed process %d has not ended within %g seconds", process.pid, REAP_TIMEOUT)
