"""Objects that a repository owns: created, updated and deleted to match its files, by the same write path as requests.

A wrong file is refused and does not stop the others. Objects without a file are deleted, unless a file of their kind
was refused: it may be the one that describes them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import sqlalchemy as sa

from netinv_core.db.engine import lock_rows
from netinv_core.write import delete, save
from netinv_core.write.differing import find_differing
from netinv_extras.git import files as git_files
from netinv_extras.git.files import FileFault
from netinv_extras.git.sync import CREATED, DELETED, LABEL, UNCHANGED, UPDATED, Files, Sync

METADATA = "_metadata"
Name = tuple[Any, ...]  # values of the columns that tell the objects of a model apart
Row = Mapping[str, Any]


# -- objects that a repository owns


@dataclasses.dataclass(frozen=True)
class SourceObject:
    """Object described by a file: the path of the file, and the body for a write."""

    path: str
    body: Mapping[str, Any]


class OwnedObjectSync:
    """Sync of the objects of one model. Objects correspond when the columns ``by`` have equal values."""

    def __init__(self, sync: Sync, label: str, by: Sequence[str]) -> None:
        self.sync, self.by = sync, by
        self.endpoint = sync.uow.registry[label]
        self.objects: dict[Name, SourceObject] = {}
        self.has_refused = False

    def add(self, path: str, body: Mapping[str, Any]) -> None:
        """Adds an object of a file; refuses the file when an earlier one describes the same object."""
        name = tuple(body[column] for column in self.by)
        if name in self.objects:
            self.refuse(path, f"{self.objects[name].path} has another one that is called {name[0]}")
        else:
            self.objects[name] = SourceObject(path, {**body, **self.sync.owner})

    def refuse(self, path: str, reason: str) -> None:
        """Reports a wrong file. No object is deleted then."""
        self.has_refused = True
        self.sync.report.refuse(path, reason)

    def write(self) -> None:
        """Deletes, creates and updates the repository's objects to match the added ones."""
        rows = self._owned_rows()
        if not self.has_refused:
            self._delete([row for name, row in rows.items() if name not in self.objects])
        self._create([item for name, item in self.objects.items() if name not in rows])
        self._update({name: item for name, item in self.objects.items() if name in rows}, rows)

    def _owned_rows(self) -> dict[Name, Row]:
        """Selects and locks the rows that the repository owns, by name."""
        table, repository = self.endpoint.table, self.sync.repository["id"]
        is_owned = table.c.owner_content_type == LABEL, table.c.owner_object_id == repository
        statement = lock_rows(sa.select(table).where(*is_owned).order_by(table.c.id))
        rows = self.sync.uow.execute(statement).mappings()
        return {tuple(row[column] for column in self.by): dict(row) for row in rows}

    def _delete(self, rows: Sequence[Row]) -> None:
        delete.delete(self.sync.uow, self.endpoint, [{"id": row["id"]} for row in rows])
        for row in rows:
            self.sync.report.record(self.endpoint.label, row["name"], DELETED)

    def _create(self, items: Sequence[SourceObject]) -> None:
        uow, endpoint = self.sync.uow, self.endpoint
        self._write(items, CREATED, lambda batch: save.create(uow, endpoint, [item.body for item in batch]))

    def _update(self, items: Mapping[Name, SourceObject], rows: Mapping[Name, Row]) -> None:
        uow, endpoint = self.sync.uow, self.endpoint
        pairs = {rows[name]["id"]: (rows[name], item.body) for name, item in items.items()}
        changed_ids = find_differing(uow, endpoint, pairs)
        changed = [name for name in items if rows[name]["id"] in changed_ids]
        for name in items.keys() - set(changed):
            self.sync.report.record(endpoint.label, rows[name]["name"], UNCHANGED)
        updates = [
            SourceObject(items[name].path, {**items[name].body, "id": str(rows[name]["id"])}) for name in changed
        ]

        def update(batch: Sequence[SourceObject]) -> None:
            save.update(uow, endpoint, [item.body for item in batch], partial=True)

        self._write(updates, UPDATED, update)

    def _write(
        self, items: Sequence[SourceObject], outcome: str, write: Callable[[Sequence[SourceObject]], Any]
    ) -> None:
        """Writes all objects in one batch. When that is rejected, writes each by itself to find the wrong ones."""
        if not items:
            return
        batch_written = len(items) > 1 and self.sync.attempt(lambda: write(items)) is None
        for item in items:
            reason = None if batch_written else self.sync.attempt(functools.partial(write, [item]))
            if reason is None:
                self.sync.report.record(self.endpoint.label, item.body["name"], outcome)
            else:
                self.sync.report.refuse(item.path, reason)


# -- documents with metadata


@dataclasses.dataclass(frozen=True)
class OwnedDocument:
    """JSON object of a file.

    ``metadata`` is its member ``_metadata``, ``data`` the rest. ``folders`` are those between the folder of the kind
    and the file; ``stem`` is the file's name without suffix.
    """

    path: str
    metadata: dict[str, Any]
    data: dict[str, Any]
    folders: tuple[str, ...]
    stem: str


def documents(files: Files, refuse: Callable[[str, str], None]) -> Iterator[OwnedDocument]:
    """Yields the objects of JSON and YAML files in the order of their paths; a file may hold a list of objects.

    :param refuse: called with path and reason for a wrong file
    """
    reader = git_files.DataFileReader()
    for path, content in sorted(files.items()):
        location = PurePosixPath(path)
        if location.suffix not in git_files.SUFFIXES:
            continue
        try:
            value = reader.document(path, content)
            for item in value if isinstance(value, list) else [value]:
                if not isinstance(item, dict):
                    raise FileFault("it is not in object form")
                metadata = item.pop(METADATA, {})
                if not isinstance(metadata, dict):
                    raise FileFault(f"{METADATA} is not in object form")
                yield OwnedDocument(path, metadata, item, location.parts[1:-1], location.stem)
        except FileFault as error:
            refuse(path, str(error))


def reject_unknown_members(document: OwnedDocument, allowed: Iterable[str]) -> None:
    """Checks that the metadata has only known members.

    :raises Fault: naming the others
    """
    unknown = sorted(document.metadata.keys() - set(allowed))
    if unknown:
        raise FileFault(f"{METADATA} has members that nothing is known of: {', '.join(unknown)}")
