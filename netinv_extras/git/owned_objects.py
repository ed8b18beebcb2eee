"""Bringing in: files of a repository become objects that the repository owns, written the way everything is.

A file that is wrong is refused and keeps no other one out. What has left the repository goes, but nothing of a kind while a file of that
kind cannot be read: it may be the one that says otherwise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.db.engine import lock_rows
from netinv_core.endpoint import Endpoint
from netinv_core.errors import RequestError, error_text
from netinv_core.uow import UnitOfWork
from netinv_core.write import delete, references, save
from netinv_core.write.draft import Draft
from netinv_extras.git import files as git_files
from netinv_extras.git.files import Fault
from netinv_extras.git.models import LABEL

METADATA = "_metadata"
CREATED, UPDATED, DELETED, UNCHANGED = "created", "updated", "deleted", "unchanged"
LISTED = 1000  # objects and files that a report names
Files = Mapping[str, bytes]
Name = tuple[Any, ...]


@dataclasses.dataclass
class Report:
    """What came of a sync: how many objects had each outcome, which of them changed, and which files were refused."""

    counts: dict[str, int] = dataclasses.field(default_factory=lambda: dict.fromkeys((CREATED, UPDATED, DELETED, UNCHANGED), 0))
    objects: list[dict[str, str]] = dataclasses.field(default_factory=list)
    refused: list[dict[str, str]] = dataclasses.field(default_factory=list)

    def settle(self, label: str, name: str, outcome: str) -> None:
        """Says what became of an object."""
        self.counts[outcome] += 1
        if outcome != UNCHANGED and len(self.objects) < LISTED:
            self.objects.append({"object_type": label, "name": name, "outcome": outcome})

    def refuse(self, path: str, reason: str) -> None:
        """Says what is wrong with a file."""
        if len(self.refused) < LISTED:
            self.refused.append({"file": path, "reason": reason})

    def shown(self) -> dict[str, Any]:
        """It all, as it is kept and shown."""
        return {**self.counts, "objects": self.objects, "refused": self.refused}


@dataclasses.dataclass
class Sync:
    """A sync in its transaction: for which repository (a row), and what has come of it so far."""

    uow: UnitOfWork
    repository: Mapping[str, Any]
    report: Report = dataclasses.field(default_factory=Report)

    @property
    def owner(self) -> dict[str, str]:
        """The members of what the repository owns."""
        return {"owner_content_type": LABEL, "owner_object_id": str(self.repository["id"])}

    def attempt(self, write: Callable[[], Any]) -> str | None:
        """Writes something, all of it or nothing; gives the reason when it was refused."""
        uow = self.uow
        try:
            with uow.collecting() as changes, uow.session.begin_nested():
                write()
        except RequestError as error:
            uow.expire_all()
            return error_text(error.body)
        uow.change_set.merge(changes)
        return None


# -- objects that a repository owns


@dataclasses.dataclass(frozen=True)
class Wanted:
    """An object that a file wants: its body, and the file."""

    path: str
    body: Mapping[str, Any]


class OwnedObjectSync:
    """Brings in the objects of one model, which are told apart by the columns ``by``."""

    def __init__(self, sync: Sync, label: str, by: Sequence[str]) -> None:
        self.sync, self.by = sync, by
        self.endpoint = sync.uow.registry[label]
        self.wanted: dict[Name, Wanted] = {}
        self.unreadable = False

    def want(self, path: str, body: Mapping[str, Any]) -> None:
        """Takes an object that a file wants."""
        name = tuple(body[column] for column in self.by)
        if name in self.wanted:
            self.refuse(path, f"{self.wanted[name].path} has another one that is called {name[0]}")
        else:
            self.wanted[name] = Wanted(path, {**body, **self.sync.owner})

    def refuse(self, path: str, reason: str) -> None:
        """Takes a file that is wrong."""
        self.unreadable = True
        self.sync.report.refuse(path, reason)

    def settle(self) -> None:
        """Makes what the repository owns be what is wanted."""
        there = self._there()
        if not self.unreadable:
            self._delete([row for name, row in there.items() if name not in self.wanted])
        self._create({name: item for name, item in self.wanted.items() if name not in there})
        self._update({name: item for name, item in self.wanted.items() if name in there}, there)

    def _there(self) -> dict[Name, Mapping[str, Any]]:
        """The rows of what the repository owns, held, by name."""
        table = self.endpoint.table
        mine = sa.select(table).where(table.c.owner_content_type == LABEL, table.c.owner_object_id == self.sync.repository["id"])
        rows = self.sync.uow.execute(lock_rows(mine.order_by(table.c.id))).mappings()
        return {tuple(row[column] for column in self.by): dict(row) for row in rows}

    def _delete(self, rows: Sequence[Mapping[str, Any]]) -> None:
        delete.delete(self.sync.uow, self.endpoint, [{"id": row["id"]} for row in rows])
        for row in rows:
            self.sync.report.settle(self.endpoint.label, row["name"], DELETED)

    def _create(self, items: Mapping[Name, Wanted]) -> None:
        self._write(items, CREATED, lambda some: save.create(self.sync.uow, self.endpoint, [item.body for item in some]))

    def _update(self, items: Mapping[Name, Wanted], there: Mapping[Name, Mapping[str, Any]]) -> None:
        changed = differing(self.sync.uow, self.endpoint, {there[name]["id"]: (there[name], item.body) for name, item in items.items()})
        changing = {name: item for name, item in items.items() if there[name]["id"] in changed}
        for name in items.keys() - changing.keys():
            self.sync.report.settle(self.endpoint.label, there[name]["name"], UNCHANGED)
        moving = {name: Wanted(item.path, {**item.body, "id": str(there[name]["id"])}) for name, item in changing.items()}
        self._write(moving, UPDATED, lambda some: save.update(self.sync.uow, self.endpoint, [item.body for item in some], partial=True))

    def _write(self, items: Mapping[Name, Wanted], outcome: str, write: Callable[[Sequence[Wanted]], Any]) -> None:
        """Writes all of them at once, or, when that is refused, each by itself."""
        every = list(items.values())
        if not every:
            return
        alone = len(every) > 1 and self.sync.attempt(lambda: write(every)) is not None
        for item in every:
            reason = self.sync.attempt(lambda item=item: write([item])) if alone or len(every) == 1 else None  # type: ignore[misc]
            if reason is None:
                self.sync.report.settle(self.endpoint.label, item.body["name"], outcome)
            else:
                self.sync.report.refuse(item.path, reason)


def differing(uow: UnitOfWork, endpoint: Endpoint, items: Mapping[Any, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> set[Any]:
    """The ids of those objects, each with its row and a body for it, that the body changes; those with a faulty body among them."""
    drafts = [Draft(endpoint, body, dict(row)) for row, body in items.values()]
    for draft in drafts:
        draft.parse(partial=True)
    references.resolve(uow, drafts)
    lists = {name for draft in drafts for name in draft.many}
    shown = dict(endpoint.plan(without=frozenset(endpoint.fields) - lists).fetch(uow, list(items))) if lists else {}
    return {draft.id for draft in drafts if draft.errors or draft.changed(*draft.values) or _lists_differ(endpoint, draft, shown)}


def _lists_differ(endpoint: Endpoint, draft: Draft, shown: Mapping[Any, Mapping[str, Any]]) -> bool:
    for name, wanted in draft.many.items():
        field = endpoint.fields[name]
        there = shown[draft.id][name]
        if isinstance(field, fields.ToMany) and field.by is not None:
            there, wanted = sorted(there), sorted(draft.body[name])
        else:
            there, wanted = sorted(str(item["id"]) for item in there), sorted(map(str, wanted))
        if there != wanted:
            return True
    return False


# -- documents with metadata


@dataclasses.dataclass(frozen=True)
class Document:
    """An object of a file: what it says of itself, the rest of it, and the file's name and the folders it is in, below that of its kind."""

    path: str
    metadata: dict[str, Any]
    data: dict[str, Any]
    folders: tuple[str, ...]
    stem: str


def documents(files: Files, refuse: Callable[[str, str], None]) -> Iterator[Document]:
    """What the files of a folder hold, by path; a file may hold a list of them."""
    reader = git_files.Reader()
    for path, content in sorted(files.items()):
        place = PurePosixPath(path)
        if place.suffix not in git_files.SUFFIXES:
            continue
        try:
            found = reader.document(path, content)
            for item in found if isinstance(found, list) else [found]:
                if not isinstance(item, dict):
                    raise Fault("it is not in object form")
                metadata = item.pop(METADATA, {})
                if not isinstance(metadata, dict):
                    raise Fault(f"{METADATA} is not in object form")
                yield Document(path, metadata, item, place.parts[1:-1], place.stem)
        except Fault as error:
            refuse(path, str(error))


def known_members(document: Document, allowed: Iterable[str]) -> None:
    """Refuses metadata that nothing is known of.

    :raises Fault: naming it
    """
    unknown = sorted(document.metadata.keys() - set(allowed))
    if unknown:
        raise Fault(f"{METADATA} has members that nothing is known of: {', '.join(unknown)}")
