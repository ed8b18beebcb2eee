"""Import of uploaded files of the device type library."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from netinv_core.errors import BadRequest, TooLarge
from netinv_core.storage.files import Upload
from netinv_dcim.components.differences import differing_by_type
from netinv_dcim.device_type_library import MAX_PARTS, MAX_SIZE, MAX_TYPES, TYPES, UNLIMITED
from netinv_dcim.device_type_library.archives import BAD_NAME, Unpacked, is_archive, unpack
from netinv_dcim.device_type_library.files import SUFFIXES
from netinv_dcim.device_type_library.importer import ImportedType, import_library
from netinv_dcim.device_type_library.outcomes import FileOutcomes
from netinv_dcim.device_type_library.pictures import IMAGES
from netinv_dcim.device_types import DeviceType
from netinv_import.report import CREATED, DELETED, SKIPPED, UPDATED, ImportReport
from netinv_web.file_imports import FileOutcome, FilesResult
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAX_NOTES = 20  # of one file
MAX_FOLLOWING = 50  # types that can be applied
HEAD = 4096  # bytes in which a file of a device type names its manufacturer
UNUSED = "no device type of these files has this picture"
NO_TYPES = "The files hold no device types: YAML files in a folder for each manufacturer are expected."
_MANUFACTURER = re.compile(rb"^manufacturer\s*:", re.MULTILINE)


def takes(files: Sequence[Upload]) -> bool:
    """True for an archive, and for YAML that describes a device type."""
    return any(is_archive(file) or _describes_a_type(file) for file in files)


def _describes_a_type(file: Upload) -> bool:
    is_yaml = "." not in file.name or file.name.lower().endswith(SUFFIXES)
    return is_yaml and bool(_MANUFACTURER.search(file.content[:HEAD]))


def run(uow: UnitOfWork, files: Sequence[Upload], *, exact: bool) -> FilesResult:
    """Imports files; with ``exact`` as :func:`netinv_dcim.device_type_library.importer.import_library` does.

    :raises BadRequest: for files without a device type
    :raises TooLarge: for more device types than are imported in one request
    """
    named = [file if "." in file.name else Upload(f"{file.name}.yaml", file.content) for file in files]
    with tempfile.TemporaryDirectory() as folder:
        unpacked = unpack(named, Path(folder))
        types = [place for place in unpacked.names if place.startswith(f"{TYPES}/")]
        if not types:
            unfit = [f" {name[:100]}: {reason}." for name, reason in unpacked.skipped if reason == BAD_NAME]
            raise BadRequest(NO_TYPES + "".join(unfit[:1]))
        if len(types) > MAX_TYPES:
            text = f"The files hold {len(types):,} device types. At most {MAX_TYPES:,} are imported at once here; "
            raise TooLarge(f"{text}{UNLIMITED}")
        if sum((Path(folder) / place).stat().st_size for place in types) > MAX_SIZE:
            raise TooLarge(f"The device types have more than {MAX_SIZE >> 20} MiB together. {UNLIMITED}")
        report = ImportReport()
        imported = import_library(uow, Path(folder), report, MAX_PARTS, exact=exact)
        places = {str(path.relative_to(Path(folder).absolute())) for path in imported.pictures}
    return _Result(uow, report, unpacked, places, imported.types).result()


class _Result:
    """The result of an import, in the names of the uploaded files."""

    def __init__(
        self,
        uow: UnitOfWork,
        report: ImportReport,
        unpacked: Unpacked,
        used: Collection[str],
        types: Mapping[str, ImportedType],
    ) -> None:
        self.uow, self.report, self.unpacked, self.used, self.types = uow, report, unpacked, used, types
        self.outcomes = FileOutcomes(uow.registry, report)

    def result(self) -> FilesResult:
        """The outcomes of all files, those that failed first."""
        notes, beyond = self.outcomes.notes(), self.outcomes.beyond()
        files = [
            self._outcome(place, name, notes.get(place, []), beyond.get(place, ""))
            for place, name in self._files(TYPES)
        ]
        unused = [name for place, name in self._files(IMAGES) if place not in self.used]
        files += [FileOutcome(name, SKIPPED, [UNUSED]) for name in unused]
        files += [FileOutcome(name, SKIPPED, [reason]) for name, reason in self.unpacked.skipped]
        files.sort(key=lambda file: (not file.failed, file.outcome == SKIPPED))
        counts = {self.outcomes.title(label): dict(count) for label, count in sorted(self.report.counts().items())}
        changes = sum(self.report.total(outcome) for outcome in (CREATED, UPDATED, DELETED))
        return FilesResult(files, counts, self.outcomes.general_notes(), changes, self._next_pages())

    def _next_pages(self) -> list[tuple[str, str]]:
        """The pages that apply the types which have changed to their devices that differ."""
        changed = [item for place, item in self.types.items() if self.outcomes.outcome(place) == UPDATED]
        counts = differing_by_type(self.uow, {item.id for item in changed})
        endpoint = self.uow.registry.of_model(DeviceType)
        found = [(item, counts[item.id]) for item in changed if item.id in counts]
        return [
            (
                f"Apply {item.name} to {count:,} {'device that differs' if count == 1 else 'devices that differ'}",
                f"{object_path(endpoint, item.id)}apply/",
            )
            for item, count in found[:MAX_FOLLOWING]
        ]

    def _files(self, kind: str) -> list[tuple[str, str]]:
        return [(place, name) for place, name in self.unpacked.names.items() if place.startswith(f"{kind}/")]

    def _outcome(self, place: str, name: str, notes: list[str], beyond: str) -> FileOutcome:
        told = [reason] if (reason := self.outcomes.reason(place)) else []
        told += notes[:MAX_NOTES] + ([f"and {len(notes) - MAX_NOTES} more"] if len(notes) > MAX_NOTES else [])
        stays = [beyond] if beyond else []
        return FileOutcome(name, self.outcomes.outcome(place), [*told, *stays], failed=bool(told))
