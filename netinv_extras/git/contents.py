"""Contents of a repository's files, on disk: each is read when it is asked for, so that memory holds one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO


class StoredContents(Mapping[str, bytes]):
    """Contents by path, one after the other in a temporary file, which goes with this object."""

    def __init__(self, folder: Path) -> None:
        self._file = _temporary(folder)
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, path: str, content: bytes) -> None:
        """Stores the content of a file."""
        self._places[path] = self._file.seek(0, 2), len(content)
        self._file.write(content)

    def __getitem__(self, path: str) -> bytes:
        start, size = self._places[path]
        self._file.seek(start)
        return self._file.read(size)

    def __contains__(self, path: object) -> bool:
        return path in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Below(Mapping[str, bytes]):
    """The files of another mapping that are below some folders."""

    def __init__(self, contents: Mapping[str, bytes], folders: tuple[str, ...]) -> None:
        self._contents = contents
        self._paths = dict.fromkeys(path for path in contents if path.startswith(folders))

    def __getitem__(self, path: str) -> bytes:
        if path not in self._paths:
            raise KeyError(path)
        return self._contents[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def _temporary(folder: Path) -> IO[bytes]:
    return tempfile.TemporaryFile(dir=folder)
