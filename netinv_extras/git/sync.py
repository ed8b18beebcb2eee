"""Sync of a repository within its transaction: the report of outcomes, and the kinds of contents that packages import.

The hook ``netinv_git_content_kinds`` adds kinds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.errors import RequestError, error_text

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

LABEL = "extras.gitrepository"
CREATED, UPDATED, DELETED, UNCHANGED = "created", "updated", "deleted", "unchanged"
MAX_REPORTED = 1000  # objects, and refused files, that a report lists
Files = Mapping[str, bytes]  # contents by path


@dataclasses.dataclass
class SyncReport:
    """Outcomes of a sync: number of objects by outcome, the changed objects, and the refused files.

    ``notes`` tell what else became of files that are not refused.
    """

    counts: dict[str, int] = dataclasses.field(
        default_factory=lambda: dict.fromkeys((CREATED, UPDATED, DELETED, UNCHANGED), 0)
    )
    objects: list[dict[str, str]] = dataclasses.field(default_factory=list)
    refused: list[dict[str, str]] = dataclasses.field(default_factory=list)
    notes: list[dict[str, str]] = dataclasses.field(default_factory=list)
    refused_count: int = 0

    def record(self, label: str, name: str, outcome: str) -> None:
        """Counts an object, and lists it unless it is unchanged."""
        self.counts[outcome] += 1
        if outcome != UNCHANGED and len(self.objects) < MAX_REPORTED:
            self.objects.append({"object_type": label, "name": name, "outcome": outcome})

    def refuse(self, path: str, reason: str) -> None:
        """Counts a refused file, and lists it with the reason."""
        self.refused_count += 1
        if len(self.refused) < MAX_REPORTED:
            self.refused.append({"file": path, "reason": reason})

    def note(self, path: str, text: str) -> None:
        """Lists a note on a file or folder."""
        if len(self.notes) < MAX_REPORTED:
            self.notes.append({"file": path, "note": text})

    def as_json(self) -> dict[str, Any]:
        """Returns the report in the form that is stored and shown."""
        return {**self.counts, "objects": self.objects, "refused": self.refused, "notes": self.notes}


@dataclasses.dataclass
class Sync:
    """Running sync of one repository: its unit of work, the repository's row, and the report so far."""

    uow: UnitOfWork
    repository: Mapping[str, Any]
    report: SyncReport = dataclasses.field(default_factory=SyncReport)

    @property
    def owner(self) -> dict[str, str]:
        """Members that name the repository as owner in the body of an object."""
        return {"owner_content_type": LABEL, "owner_object_id": str(self.repository["id"])}

    def attempt(self, write: Callable[[], Any]) -> str | None:
        """Calls ``write`` within a savepoint. Returns the error text when the write was rejected, else ``None``."""
        try:
            with self.uow.savepoint():
                write()
        except RequestError as error:
            return error_text(error.body)
        return None


@dataclasses.dataclass(frozen=True)
class ContentKind:
    """Kind of contents that a repository may provide.

    ``title`` names it for users. ``folder`` holds its files. ``import_files`` writes the objects of these files; called
    without files it deletes the objects of former ones. ``attachments`` is a folder of files beside them, such as
    pictures: they are left out, and the report says so, when they are too many or too large.
    """

    title: str
    folder: str
    import_files: Callable[[Sync, Files], None]
    attachments: str = ""


def content_kinds(registry: Registry) -> dict[str, ContentKind]:
    """Returns the kinds of contents of all packages by label, in the order in which a sync imports them."""
    by_package: dict[str, dict[str, ContentKind]] = {}
    for package, contributed in registry.call_each("netinv_git_content_kinds", registry=registry):
        by_package.setdefault(package, {}).update(contributed)
    return {label: kind for kinds in reversed(by_package.values()) for label, kind in kinds.items()}
