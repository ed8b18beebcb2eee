"""Tools of a release: the locked versions of libraries, and the files that users install."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent


def epoch() -> int:
    """The time of everything that is built, in seconds since 1970: ``SOURCE_DATE_EPOCH``, else that of the commit. Of
    sources outside of a repository, or without git, it is the time of the file ``VERSION``.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    command = ["git", "log", "-1", "--format=%ct"]
    try:
        return int(subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return int((REPOSITORY / "VERSION").stat().st_mtime)
