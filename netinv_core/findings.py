"""Findings of the self-check ``netinv check``."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from pathlib import Path

OK, WARNING, PROBLEM = "ok", "warning", "problem"
MIN_FREE = 256 * 2**20  # bytes of a file system


@dataclasses.dataclass(frozen=True)
class Finding:
    """One finding: ``check`` is the name of what was checked, ``level`` one of ``"ok"``, ``"warning"`` and
    ``"problem"``, ``message`` a sentence, ``remedy`` what to do about it.
    """

    check: str
    level: str
    message: str
    remedy: str = ""


def folder(check: str, setting: str, path: str) -> list[Finding]:
    """Findings about a folder that the service writes to: it is created when first needed."""
    place, missing = Path(path), []
    while not place.exists() and place != place.parent:
        missing.append(place)
        place = place.parent
    try:
        if missing:
            writable = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
        else:
            with tempfile.TemporaryFile(dir=place):
                writable = True
        free = shutil.disk_usage(place).free
    except OSError:
        writable, free = False, MIN_FREE
    if not writable:
        remedy = "make it writable for the account of the service, or name another folder"
        return [Finding(check, PROBLEM, f"{setting}: {path} cannot be written to", remedy)]
    later = " (it is created when needed)" if missing else ""
    found = [Finding(check, OK, f"{setting}: {path} can be written to{later}")]
    if free < MIN_FREE:
        found.append(Finding(check, WARNING, f"{free // 2**20} MiB are free in {place}", "free some space"))
    return found
