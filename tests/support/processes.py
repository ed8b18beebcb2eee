"""Processes as the system sees them."""

from __future__ import annotations

import os
from pathlib import Path


def processor_seconds(pid: int) -> float:
    """Processor time that a process has used; none once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def runs(pid: int) -> bool:
    """True while a process exists and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
