"""Files kept beside the database, in one folder that every process of a service shares.

A file is written, whole and durable, before the transaction that names it commits; it goes again when that transaction does not,
and a file that is no longer named goes only after the commit. So what the database names is always there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import re
import secrets
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import event
from sqlalchemy.orm import Session, SessionTransaction

from netinv_core.errors import Unavailable

LENGTH = 100
log = logging.getLogger(__name__)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*/[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclasses.dataclass(frozen=True)
class Upload:
    """A file that was sent: what its sender calls it, and what it holds."""

    name: str
    content: bytes


def new_name(folder: str, called: str, suffix: str) -> str:
    """A name that no file has, ``folder/random-stem.suffix``: of what the sender calls the file, only plain letters and digits are kept."""
    stem = called.replace("\\", "/").rpartition("/")[2].rpartition(".")[0] or called
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    start = f"{folder}/{secrets.token_hex(8)}"
    kept = re.sub(r"[^A-Za-z0-9]+", "-", plain)[: min(40, LENGTH - len(start) - len(suffix) - 1)].strip("-")
    return f"{start}-{kept}{suffix}" if kept else f"{start}{suffix}"


def upload_name(name: str) -> str:
    """What the file of a name made by :func:`new_name` is called: what is kept of its sender's word for it, and the suffix."""
    own = name.rpartition("/")[2]
    return own.partition("-")[2] or own


class Files:
    """The files of a unit of work: what it adds and discards becomes so with its session's transaction, or not at all."""

    def __init__(self, root: Path, session: Session) -> None:
        self._root = root
        self._session = session
        self._added: list[tuple[SessionTransaction | None, str]] = []
        self._discarded: list[tuple[SessionTransaction | None, str]] = []
        self._listening = False
        self._committing = False

    def add(self, name: str, content: bytes) -> None:
        """Writes a new file; it goes again when the transaction is not committed.

        :raises Unavailable: when it cannot be written
        """
        self._listen()
        self._added.append((self._current(), name))
        try:
            _write(self._path(name), content)
        except OSError as error:
            log.error("the file %s cannot be written: %s", name, error)
            raise Unavailable("The file cannot be stored.") from error

    def discard(self, name: str) -> None:
        """Has a file removed once the transaction is committed."""
        self._listen()
        self._discarded.append((self._current(), name))

    def open(self, name: str) -> BinaryIO:
        """A file, to be read.

        :raises FileNotFoundError: when there is none of this name, or the name is not one of a file kept here
        """
        try:
            return self._path(name).open("rb")
        except ValueError as error:
            raise FileNotFoundError(str(error)) from None

    def _path(self, name: str) -> Path:
        """Where a file is kept.

        :raises ValueError: for a name that leads out of its folder, or to a file that is not written yet
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of a stored file")
        return self._root / name

    def _current(self) -> SessionTransaction | None:
        return self._session.get_nested_transaction() or self._session.get_transaction()

    def _listen(self) -> None:
        if not self._listening:
            self._listening = True
            event.listen(self._session, "before_commit", self._decided)
            event.listen(self._session, "after_commit", self._committed)
            event.listen(self._session, "after_soft_rollback", self._undone)
            event.listen(self._session, "after_transaction_end", self._ended)

    def _decided(self, session: Session) -> None:
        self._committing = self._committing or session.get_nested_transaction() is None

    def _committed(self, session: Session) -> None:
        """The outermost transaction is committed: what was discarded is named no more."""
        if session.get_nested_transaction() is None:
            self._added.clear()
            self._remove(self._discarded, lambda transaction: True)

    def _undone(self, session: Session, ended: SessionTransaction) -> None:
        """A savepoint, or everything, was rolled back: nothing that happened within it has happened."""
        self._remove(self._added, lambda transaction: _within(transaction, ended))
        self._discarded[:] = [(transaction, name) for transaction, name in self._discarded if not _within(transaction, ended)]

    def _ended(self, session: Session, ended: SessionTransaction) -> None:
        """The outermost transaction is over; what it did not commit is not there.

        When the commit itself failed, nobody knows what the database did: a file too many is better than one that is missing.
        """
        if ended.parent is not None:
            return
        if self._committing and self._added:
            log.warning("a commit failed; perhaps nothing names these files: %s", ", ".join(name for _, name in self._added))
            self._added.clear()
        self._remove(self._added, lambda transaction: True)
        self._discarded.clear()
        self._committing = False

    def _remove(self, files: list[tuple[SessionTransaction | None, str]], concerned: Callable[[Any], bool]) -> None:
        for entry in [entry for entry in files if concerned(entry[0])]:
            files.remove(entry)
            try:
                self._path(entry[1]).unlink(missing_ok=True)
            except (OSError, ValueError) as error:
                log.warning("the file %s is named no more and cannot be removed: %s", entry[1], error)


def stored(root: Path) -> Iterator[tuple[str, float]]:
    """Every file in a folder of files: its name, and when it was written (seconds since 1970)."""
    for path in sorted(root.glob("*/*")):
        with contextlib.suppress(FileNotFoundError):
            yield f"{path.parent.name}/{path.name}", path.stat().st_mtime


def _within(transaction: SessionTransaction | None, outer: SessionTransaction) -> bool:
    """Whether a transaction is ``outer``, or a savepoint within it."""
    while transaction is not None and transaction is not outer:
        transaction = transaction.parent
    return transaction is outer


def _write(path: Path, content: bytes) -> None:
    """Writes a file so that it is there as a whole, even after the machine fails, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as target:
            target.write(content)
            target.flush()
            os.fsync(target.fileno())
        Path(draft).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(draft).unlink()
        raise
    _keep_entry(path.parent)


def _keep_entry(folder: Path) -> None:
    """Makes a folder's entries durable, where the system offers it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
