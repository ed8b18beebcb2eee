"""Tools of a release: the locked versions of libraries, and the files that users install."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent


def epoch() -> int:
    """The time of everything that is built, in seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    command = ["git", "log", "-1", "--format=%ct"]
    return int(given or subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout)
