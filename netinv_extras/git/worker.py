"""The worker that synchronises Git repositories, one after another.

A repository is claimed for a limited time (a lease) and fetched without a transaction. One transaction then imports its files
and records the result. A worker that dies has changed nothing; another one starts again when the lease ends.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session

from netinv_core import content_types
from netinv_core.auth import crypto
from netinv_core.auth.identity import Identity
from netinv_core.db.engine import lock_rows, session_factory
from netinv_core.models.base import now, table_of
from netinv_core.registry import Registry
from netinv_core.tasks.background import BackgroundWorker
from netinv_core.tasks.leases import RELEASED, Leases, free
from netinv_core.uow import UnitOfWork
from netinv_core.write.system_update import system_update
from netinv_extras import secrets
from netinv_extras.git.client import GitError, Remote, Tree, fetch
from netinv_extras.git.models import GitRepository, GitSync
from netinv_extras.git.sync import Report, Sync, content_kinds
from netinv_extras.secrets import Secret, SecretError, SecretsGroupAssociation

log = logging.getLogger(__name__)
ATTEMPTS = 3  # of a transaction that the database gives up because of another one
LEASE_SECONDS = 600  # of a claim, in addition to the time limit of git
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
    claim: uuid.UUID

    @property
    def mine(self) -> Any:
        """The condition that it is still in hand."""
        return sa.and_(_sync.c.repository_id == self.repository["id"], _sync.c.claimed_by == self.claim)

    def done(self) -> dict[str, Any]:
        """The columns that say so; what was asked for meanwhile stays wanted."""
        wanted = sa.case((_sync.c.wanted == self.sync["wanted"], sa.null()), else_=_sync.c.wanted)
        return {**RELEASED, "wanted": wanted, "finished": now()}


class SyncWorker(BackgroundWorker):
    """Synchronises the repositories for which that was requested. A running sync is not waited for at the end of the process."""

    thread_name = "git"
    shutdown_timeout = 0.0

    def work(self) -> None:
        """Synchronises until no sync is requested."""
        sync_now(self._engine, self._registry)


def sync(engine: Engine, registry: Registry) -> None:
    """The task of the queue: starts the synchronisation of every repository for which it was requested. Returns at once."""
    SyncWorker.of_process(engine, registry).poll()


def sync_now(engine: Engine, registry: Registry) -> int:
    """Syncs every repository that it is asked for, and gives how many there were."""
    count = 0
    while (claimed := _claim(engine, registry)) is not None:
        count += 1
        _work(engine, registry, claimed)
    return count


def _leases(engine: Engine, registry: Registry) -> Leases:
    return Leases(engine, registry.dialect, _sync, "repository_id")


def _claim(engine: Engine, registry: Registry) -> Claimed | None:
    """Claims the sync that was requested first, or returns None."""
    leases = _leases(engine, registry)
    lease = datetime.timedelta(seconds=registry.settings["git_timeout"] + LEASE_SECONDS)
    with leases.transaction() as connection:
        at = now()  # after the transaction has begun, which may have to wait
        requested = sa.select(_sync.c.repository_id).where(_sync.c.wanted.is_not(None), free(_sync, at))
        claims = leases.claim(connection, requested.order_by(_sync.c.wanted).limit(1), lease, started=at)
        if not claims:
            return None
        ((key, claim),) = claims
        row = connection.execute(sa.select(_sync).where(_sync.c.repository_id == key)).mappings().one()
        repository = connection.execute(sa.select(_repository).where(_repository.c.id == key)).mappings().one()
        return Claimed(dict(row), dict(repository), claim)


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
    with _leases(engine, registry).transaction() as connection:
        connection.execute(sa.update(_sync).where(claimed.mine).values(**claimed.done(), error=reason, report=None))


# -- fetching


def _fetched(engine: Engine, registry: Registry, repository: Row) -> Tree:
    """The repository's files, of every kind that it provides.

    :raises GitError: when they cannot be had
    :raises SecretError: when a secret cannot be had
    """
    with session_factory(engine)() as session:
        username, token = _credentials(registry, session, repository)
    kinds = content_kinds(registry)
    folders = [kind.folder for label, kind in kinds.items() if label in repository["provided_contents"]]
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
    for label, kind in content_kinds(uow.registry).items():
        provided = label in claimed.repository["provided_contents"]
        kind.import_files(work, {path: content for path, content in tree.files.items() if provided and path.startswith(f"{kind.folder}/")})
    system_update(uow, uow.registry.of_model(GitRepository), {row["id"]: {"current_head": tree.head}})
    uow.write(sa.update(_sync).where(claimed.mine).values(**claimed.done(), head=tree.head, error="", report=work.report.as_json()))
    return work.report
