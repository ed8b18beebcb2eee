"""Files that users name by path: read only below folders that the settings list, and never the files that hold netinv's own secrets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class NotAllowed(Exception):
    """A path outside of the folders that are set. It says nothing about what is there: not even whether there is a file."""


def resolve(path: str, settings: Mapping[str, Any], setting: str) -> Path:
    """The path of a file without links, below one of the folders of a setting; the file need not exist.

    :raises NotAllowed: for any other path
    """
    refusal = NotAllowed(f"The setting netinv.{setting} does not allow this file.")
    folders = [Path(folder) for folder in settings[setting]]
    if "\0" in path or not Path(path).is_absolute() or not _is_below(Path(os.path.normpath(path)), folders):
        raise refusal
    real = Path(os.path.realpath(path))
    if not _is_below(real, [Path(os.path.realpath(folder)) for folder in folders]) or _is_own(real, settings):
        raise refusal
    return real


def _is_below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path != folder and path.is_relative_to(folder) for folder in folders)


def _is_own(path: Path, settings: Mapping[str, Any]) -> bool:
    """Tells whether a path leads to netinv's own secret, by whatever name (a hard link is another name)."""
    own = settings["secret_file"]
    if not own:
        return False
    try:
        return path == Path(os.path.realpath(own)) or path.samefile(own)
    except OSError:  # one of the two does not exist
        return False
