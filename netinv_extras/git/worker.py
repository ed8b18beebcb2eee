"""Syncing: what the worker does with the repositories that a sync is asked for, one after another.

A repository is claimed for a time (a lease), fetched without any transaction, and brought in by a single one, which also records what came of it:
a worker that dies on the way has changed nothing, and another one begins anew when the lease is over.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import os
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.orm import Session

from netinv_core import content_types
from netinv_core.auth import crypto
from netinv_core.auth.identity import Identity
from netinv_core.db.engine import lock_rows, options_for, session_factory
from netinv_core.models.base import now, table_of
from netinv_core.registry import Registry
from netinv_core.uow import UnitOfWork
from netinv_core.write.system_update import system_update
from netinv_extras import secrets
from netinv_extras.git.client import GitError, Remote, Tree, fetch
from netinv_extras.git.content_kinds import KINDS
from netinv_extras.git.models import GitRepository, GitSync
from netinv_extras.git.owned_objects import Report, Sync
from netinv_extras.secrets import Secret, SecretError, SecretsGroupAssociation

log = logging.getLogger(__name__)
ATTEMPTS = 3  # of a transaction that the database gives up because of another one
LEASE_SECONDS = 600  # seconds, beside those that git has, after which a worker is taken for dead
ACCESS = "HTTP(S)"
Row = Mapping[str, Any]
_repository, _sync = table_of(GitRepository), table_of(GitSync)


class _LeaseLost(Exception):
    """The lease was over before the work was."""


@dataclasses.dataclass(frozen=True)
class Claimed:
    """A sync in hand: its row, and that of its repository."""

    sync: Row
    repository: Row
    worker: uuid.UUID

    @property
    def mine(self) -> Any:
        """The condition that it is still in hand."""
        return sa.and_(_sync.c.repository_id == self.repository["id"], _sync.c.claimed_by == self.worker)

    def done(self) -> dict[str, Any]:
        """The columns that say so; what was asked for meanwhile stays wanted."""
        wanted = sa.case((_sync.c.wanted == self.sync["wanted"], sa.null()), else_=_sync.c.wanted)
        return {"wanted": wanted, "claimed_by": None, "claimed_until": None, "finished": now()}


class Syncer:
    """Syncs for one registry in one process, in at most one thread of its own, so that the worker is free for other tasks."""

    def __init__(self, engine: Engine, registry: Registry) -> None:
        self._engine, self._registry = engine, registry
        self._lock = threading.Lock()
        self._asked = self._running = False
        self.process = os.getpid()

    def poll(self) -> None:
        """Has it looked for what is asked for; returns at once."""
        with self._lock:
            self._asked = True
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="git", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._asked:
                    self._running = False
                    return
                self._asked = False
            try:
                sync_now(self._engine, self._registry)
            except Exception:
                log.exception("syncing repositories was broken off; what was in hand is synced when its time is over")


_syncers: dict[Registry, Syncer] = {}
_making = threading.Lock()


def sync(engine: Engine, registry: Registry) -> None:
    """The worker's task: has every repository synced that it is asked for."""
    with _making:
        found = _syncers.get(registry)
        if found is None or found.process != os.getpid():
            found = _syncers[registry] = Syncer(engine, registry)
    found.poll()


def sync_now(engine: Engine, registry: Registry) -> int:
    """Syncs every repository that it is asked for, and gives how many there were."""
    count = 0
    while (claimed := _claim(engine, registry)) is not None:
        count += 1
        _work(engine, registry, claimed)
    return count


@contextmanager
def _transaction(engine: Engine, registry: Registry) -> Iterator[Connection]:
    with engine.connect().execution_options(**options_for(registry.dialect, writing=True)) as connection, connection.begin():
        yield connection


def _claim(engine: Engine, registry: Registry) -> Claimed | None:
    """Takes in hand what has been asked for longest."""
    lease = datetime.timedelta(seconds=registry.settings["git_timeout"] + LEASE_SECONDS)
    worker = uuid.uuid4()
    with _transaction(engine, registry) as connection:
        at = now()  # not before the transaction has begun, which may have to wait
        free = _sync.c.wanted.is_not(None) & (_sync.c.claimed_until.is_(None) | (_sync.c.claimed_until < at))
        first = sa.select(_sync.c.repository_id).where(free).order_by(_sync.c.wanted).limit(1).with_for_update(skip_locked=True)
        key = connection.execute(first).scalar()
        if key is None:
            return None
        own = _sync.c.repository_id == key
        connection.execute(sa.update(_sync).where(own).values(claimed_by=worker, claimed_until=at + lease, started=at))
        row = connection.execute(sa.select(_sync).where(own)).mappings().one()
        repository = connection.execute(sa.select(_repository).where(_repository.c.id == key)).mappings().one()
        return Claimed(dict(row), dict(repository), worker)


def _work(engine: Engine, registry: Registry, claimed: Claimed) -> None:
    """Fetches and brings in, and records what came of it, whatever that is."""
    name = claimed.repository["name"]
    try:
        tree = _fetched(engine, registry, claimed.repository)
        report = _import_tree(engine, registry, claimed, tree)
        log.info("repository %s synced at %s: %s, %d files refused", name, tree.head, report.counts, len(report.refused))
        return
    except _LeaseLost:
        log.info("the sync of repository %s was taken over, or the repository deleted", name)
        return
    except (GitError, SecretError) as error:
        reason = str(error)
    except Exception as error:  # a fault of ours, or the database's: it must be told, and not stop the others
        log.exception("the sync of repository %s was broken off", name)
        reason = f"The sync was broken off ({type(error).__name__})."
    log.warning("repository %s was not synced: %s", name, reason)
    with _transaction(engine, registry) as connection:
        connection.execute(sa.update(_sync).where(claimed.mine).values(**claimed.done(), error=reason, report=None))


# -- fetching


def _fetched(engine: Engine, registry: Registry, repository: Row) -> Tree:
    """The repository's files, of every kind that it provides.

    :raises GitError: when they cannot be had
    :raises SecretError: when a secret cannot be had
    """
    with session_factory(engine)() as session:
        username, token = _credentials(registry, session, repository)
    folders = [kind.folder for label, kind in KINDS.items() if label in repository["provided_contents"]]
    return fetch(registry.settings, Remote(repository["remote_url"], repository["branch"], username, token), folders)


def _credentials(registry: Registry, session: Session, repository: Row) -> tuple[str, str]:
    """User name and token: of the secrets group, when there is one, else the repository's own.

    :raises SecretError: when the group has no token, or a value cannot be had
    :raises GitError: when the repository's own token cannot be read, or is none
    """
    if repository["secrets_group_id"] is None:
        try:
            found = repository["username"], crypto.decrypt(registry.settings["secret"], repository["token"])
        except ValueError as error:
            raise GitError(f"The token cannot be read: {error}") from None
    else:
        found = _of_group(registry, session, repository)
    if any(not part.isprintable() for part in found):
        raise GitError("User name or token hold control characters.")
    return found


def _of_group(registry: Registry, session: Session, repository: Row) -> tuple[str, str]:
    association, secret = table_of(SecretsGroupAssociation), table_of(Secret)
    there = association.c.group_id == repository["secrets_group_id"], association.c.access_type == ACCESS
    statement = sa.select(association.c.secret_type, secret).join_from(association, secret).where(*there)
    held = {row["secret_type"]: row for row in session.execute(statement).mappings()}
    token = held.get("token") or held.get("password")
    if token is None:
        raise SecretError(f"The secrets group holds no token for {ACCESS}.")
    username = secrets.value_of(registry, dict(held["username"])) if "username" in held else repository["username"]
    return username, secrets.value_of(registry, dict(token))


# -- bringing in


def _import_tree(engine: Engine, registry: Registry, claimed: Claimed, tree: Tree) -> Report:
    """The one transaction: everything that the files say, the repository's head, and the outcome.

    :raises _TakenOver: when the sync is no longer in hand
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with session_factory(engine)() as session:
                user = Identity(claimed.sync["user_id"], claimed.sync["user_name"], superuser=True)
                uow = UnitOfWork(registry, session, user, base=registry.settings.get("base_url") or "", writing=True)
                content_types.load(uow)
                report = _carry_out(uow, claimed, tree)
                session.commit()
                return report
        except sa.exc.OperationalError:
            if attempt == ATTEMPTS:
                raise
    raise AssertionError("unreachable")


def _carry_out(uow: UnitOfWork, claimed: Claimed, tree: Tree) -> Report:
    # The repository first: whoever deletes or changes it holds its row before that of its sync.
    row = uow.execute(lock_rows(sa.select(_repository).where(_repository.c.id == claimed.repository["id"]))).mappings().first()
    held = uow.execute(lock_rows(sa.select(_sync.c.repository_id).where(claimed.mine))).scalar()
    if row is None or held is None:
        raise _LeaseLost()
    work = Sync(uow, dict(row))
    for label, kind in KINDS.items():
        provided = label in claimed.repository["provided_contents"]
        kind.import_files(work, {path: content for path, content in tree.files.items() if provided and path.startswith(f"{kind.folder}/")})
    system_update(uow, uow.registry.of_model(GitRepository), {row["id"]: {"current_head": tree.head}})
    uow.write(sa.update(_sync).where(claimed.mine).values(**claimed.done(), head=tree.head, error="", report=work.report.shown()))
    return work.report
