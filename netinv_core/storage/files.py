"""Stored files, in one folder beside the database that all processes of a service share.

A file is written and synced before the transaction that refers to it commits; it is removed when the transaction rolls
back. A discarded file is removed after the commit. Every file that the database refers to therefore exists.
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

MAX_NAME_LENGTH = 100
log = logging.getLogger(__name__)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*/[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclasses.dataclass(frozen=True)
class Upload:
    """An uploaded file: the name given by the client, and the content."""

    name: str
    content: bytes


def new_name(folder: str, client_name: str, suffix: str) -> str:
    """Returns an unused name ``folder/random-stem.suffix``; the stem is the ASCII part of ``client_name``."""
    stem = client_name.replace("\\", "/").rpartition("/")[2].rpartition(".")[0] or client_name
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    start = f"{folder}/{secrets.token_hex(8)}"
    limit = min(40, MAX_NAME_LENGTH - len(start) - len(suffix) - 1)
    clean_stem = re.sub(r"[^A-Za-z0-9]+", "-", plain)[:limit].strip("-")
    return f"{start}-{clean_stem}{suffix}" if clean_stem else f"{start}{suffix}"


def upload_name(name: str) -> str:
    """Returns the part of a name of :func:`new_name` that comes from the client's name, with the suffix."""
    file_name = name.rpartition("/")[2]
    return file_name.partition("-")[2] or file_name


class Files:
    """Files of a unit of work; additions and removals follow the transactions and savepoints of its session."""

    def __init__(self, root: Path, session: Session) -> None:
        self._root = root
        self._session = session
        self._added: list[tuple[SessionTransaction | None, str]] = []
        self._discarded: list[tuple[SessionTransaction | None, str]] = []
        self._listening = False
        self._committing = False

    def add(self, name: str, content: bytes) -> None:
        """Writes a new file; it is removed when the transaction rolls back.

        :raises Unavailable: when it cannot be written
        """
        self._listen()
        self._added.append((self._current(), name))
        try:
            write(self._root, name, content)
        except OSError as error:
            log.error("the file %s cannot be written: %s", name, error)
            raise Unavailable("The file cannot be stored.") from error

    def discard(self, name: str) -> None:
        """Removes a file after the commit of the transaction."""
        self._listen()
        self._discarded.append((self._current(), name))

    def open(self, name: str) -> BinaryIO:
        """Opens a file for reading.

        :raises FileNotFoundError: when it does not exist, or for an invalid name
        """
        try:
            return self._path(name).open("rb")
        except ValueError as error:
            raise FileNotFoundError(str(error)) from None

    def _path(self, name: str) -> Path:
        return _path(self._root, name)

    def _current(self) -> SessionTransaction | None:
        return self._session.get_nested_transaction() or self._session.get_transaction()

    def _listen(self) -> None:
        if not self._listening:
            self._listening = True
            event.listen(self._session, "before_commit", self._before_commit)
            event.listen(self._session, "after_commit", self._after_commit)
            event.listen(self._session, "after_soft_rollback", self._after_rollback)
            event.listen(self._session, "after_transaction_end", self._after_transaction_end)

    def _before_commit(self, session: Session) -> None:
        self._committing = self._committing or session.get_nested_transaction() is None

    def _after_commit(self, session: Session) -> None:
        """Removes discarded files after the commit of the outermost transaction."""
        if session.get_nested_transaction() is None:
            self._added.clear()
            self._remove(self._discarded, lambda transaction: True)

    def _after_rollback(self, session: Session, ended: SessionTransaction) -> None:
        """Reverts what happened within a savepoint or transaction that was rolled back."""
        self._remove(self._added, lambda transaction: _is_within(transaction, ended))
        self._discarded[:] = [
            (transaction, name) for transaction, name in self._discarded if not _is_within(transaction, ended)
        ]

    def _after_transaction_end(self, session: Session, ended: SessionTransaction) -> None:
        """Removes the files that the outermost transaction did not commit.

        After a failed commit the state of the database is unknown. The files stay then: a superfluous file is better
        than a missing one.
        """
        if ended.parent is not None:
            return
        if self._committing and self._added:
            names = ", ".join(name for _, name in self._added)
            log.warning("a commit failed; perhaps nothing names these files: %s", names)
            self._added.clear()
        self._remove(self._added, lambda transaction: True)
        self._discarded.clear()
        self._committing = False

    def _remove(self, files: list[tuple[SessionTransaction | None, str]], condition: Callable[[Any], bool]) -> None:
        """Removes the files whose transaction meets the condition, from the list and from the folder."""
        for entry in [entry for entry in files if condition(entry[0])]:
            files.remove(entry)
            try:
                self._path(entry[1]).unlink(missing_ok=True)
            except (OSError, ValueError) as error:
                log.warning("the file %s is named no more and cannot be removed: %s", entry[1], error)


def list_files(root: Path) -> Iterator[tuple[str, float]]:
    """Yields the name of each file in the folder and the time of its last write (seconds since 1970)."""
    for path in sorted(root.glob("*/*")):
        with contextlib.suppress(FileNotFoundError):
            yield f"{path.parent.name}/{path.name}", path.stat().st_mtime


def _is_within(transaction: SessionTransaction | None, outer: SessionTransaction) -> bool:
    """True when a transaction is ``outer`` or a savepoint within it."""
    while transaction is not None and transaction is not outer:
        transaction = transaction.parent
    return transaction is outer


def is_name(name: str) -> bool:
    """True for the name of a stored file: one below the folder, and not that of a temporary file."""
    return _NAME.fullmatch(name) is not None


def _path(root: Path, name: str) -> Path:
    """Returns the path of a file.

    :raises ValueError: for a name outside of the folder, or of a temporary file
    """
    if not is_name(name):
        raise ValueError(f"{name!r} is not the name of a stored file")
    return root / name


def write(root: Path, name: str, content: bytes) -> None:
    """Writes a file atomically and durably: temporary file, fsync, rename.

    :raises ValueError: for an invalid name
    :raises OSError: when it cannot be written
    """
    path = _path(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as target:
            target.write(content)
            target.flush()
            os.fsync(target.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Syncs the entries of a folder to disk, where the operating system supports it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
