"""Access control of files that users name by path: only below configured folders, never netinv's own secret files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from netinv_core.setting_variables import files
from netinv_core.settings import words


def folders(text: str) -> tuple[str, ...]:
    """Absolute paths of folders. The root is refused, because it would allow every file.

    :raises ValueError: for anything else
    """
    paths = words(text)
    if any(not Path(path).is_absolute() or os.path.normpath(path) in ("/", "//") for path in paths):
        raise ValueError(text)
    return tuple(map(os.path.normpath, paths))


class PathNotAllowed(Exception):
    """Path outside of the allowed folders. The message does not reveal whether a file exists."""


def resolve(path: str, settings: Mapping[str, Any], setting: str) -> Path:
    """Resolves the symbolic links of a path; the file need not exist.

    :param setting: name of the setting that lists the allowed folders
    :raises NotAllowed: for a path that is not below one of the folders
    """
    refusal = PathNotAllowed(f"The setting netinv.{setting} does not allow this file.")
    folders = [Path(folder) for folder in settings[setting]]
    if "\0" in path or not Path(path).is_absolute() or not _is_below(Path(os.path.normpath(path)), folders):
        raise refusal
    real = Path(os.path.realpath(path))
    if not _is_below(real, [Path(os.path.realpath(folder)) for folder in folders]) or _is_secret_file(real, settings):
        raise refusal
    return real


def _is_below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path != folder and path.is_relative_to(folder) for folder in folders)


def _is_secret_file(path: Path, settings: Mapping[str, Any]) -> bool:
    """True for netinv's own secret file, the files of its settings that environment variables name, and hard links to
    them.
    """
    return any(_is_same(path, file) for file in (settings["secret_file"], *files(settings, os.environ)) if file)


def _is_same(path: Path, file: str) -> bool:
    try:
        return path == Path(os.path.realpath(file)) or path.samefile(file)
    except OSError:  # one of the two does not exist
        return False
