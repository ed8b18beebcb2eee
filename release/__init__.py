"""Tools of a release: the locked versions of libraries, and the files that users install."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
