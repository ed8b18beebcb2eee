"""Imports of files of one kind, such as device types of a library, on the import page of a resource.

A package returns them from the hook ``netinv_web_file_imports``. The page shows what would become of each file, and
then imports them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from netinv_core.storage.files import Upload


@dataclasses.dataclass(frozen=True)
class FileOutcome:
    """The outcome of one file, with the reasons for what is not imported, and the key of the object if it is one."""

    name: str
    outcome: str
    notes: Sequence[str] = ()
    failed: bool = False


@dataclasses.dataclass(frozen=True)
class FilesResult:
    """The outcome of an import: of each file, of the objects by title of their model and outcome, and what else is to
    tell. Without ``changes`` there is nothing to import. ``following`` has the titles and paths of pages with what
    there is to do after the import.
    """

    files: Sequence[FileOutcome]
    counts: Mapping[str, Mapping[str, int]] = dataclasses.field(default_factory=dict)
    notes: Sequence[str] = ()
    changes: int = 0
    following: Sequence[tuple[str, str]] = ()

    @property
    def failures(self) -> int:
        """The number of files that are not imported whole."""
        return sum(file.failed for file in self.files)


@dataclasses.dataclass(frozen=True)
class ImportOption:
    """A checkbox of an import of files, which ``run`` has as the keyword argument ``name``: True when it is ticked."""

    name: str
    label: str
    help: str = ""


@dataclasses.dataclass(frozen=True)
class FileImport:
    """An import of files: ``takes(files)`` tells if uploaded files are of this kind, ``run(uow, files)`` writes them.

    ``help`` is a sentence about the files, ``extensions`` are those that the browser offers. ``run`` gets the values of
    ``options``, and raises a :class:`netinv_core.errors.RequestError` for files that cannot be read at all.
    """

    name: str
    help: str
    extensions: Sequence[str]
    takes: Callable[[Sequence[Upload]], bool]
    run: Callable[..., FilesResult]
    position: int = 500
    options: Sequence[ImportOption] = ()
