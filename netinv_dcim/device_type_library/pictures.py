"""Pictures of the device type library: files of `elevation-images`, by the names that both public libraries give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from netinv_core.write.slugs import slugify

IMAGES = "elevation-images"
MAX_PICTURES = 100_000  # names of a folder that are looked at


class Pictures:
    """The pictures of a library; the names of each folder are read once. ``used`` are those that were found."""

    def __init__(self) -> None:
        self.used: set[Path] = set()
        self._folders: dict[Path, dict[str, Path]] = {}

    def find(self, file: Path, stems: Iterable[str], side: str) -> Path | None:
        """The picture of a side (``front``, ``rear``) of the type that a file describes, by the first stem that has
        one: ``elevation-images/Cisco/cisco-c9300.front.png``. None where there is no picture.
        """
        path = file.absolute()
        named = self._files_by_name(path.parent.parent.parent / IMAGES / path.parent.name)
        found = next((named[name] for stem in stems if (name := f"{stem}.{side}".lower()) in named), None)
        self.used |= {found} if found is not None else set()
        return found

    def _files_by_name(self, folder: Path) -> dict[str, Path]:
        if folder not in self._folders:
            self._folders[folder] = dict(_named_files(folder))
        return self._folders[folder]


def _named_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files of a folder by their names without extension, in lower case."""
    try:
        paths = sorted(folder.iterdir(), reverse=True)[:MAX_PICTURES]
    except OSError:
        return
    for path in paths:
        yield path.stem.lower(), path


def stems_of(manufacturer: str, model: str, slug: str, file: Path) -> list[str]:
    """The names that pictures of a type may have: its slug, or manufacturer and model, as a file or in words."""
    maker = slugify(manufacturer)
    names = [slug, slugify(model), slugify(file.stem), file.stem]
    stems = [stem for name in names if name for stem in (f"{maker}-{name}", name)]
    return list(dict.fromkeys([slug, *stems] if slug else stems))
