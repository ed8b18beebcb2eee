"""The worker that synchronises Git repositories, one after another.

A repository is claimed for a limited time (a lease) and fetched without a transaction. One transaction then imports
its files and records the result. A worker that dies has changed nothing; another one starts again when the lease
ends.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session

from netinv_core import content_types, crypto
from netinv_core.auth import identity, permissions
from netinv_core.auth.account import Identity
from netinv_core.db.engine import lock_rows, session_factory
from netinv_core.driver.sessions import commit
from netinv_core.errors import Denied
from netinv_core.models.base import now, table_of
from netinv_core.tasks.background import BackgroundWorker
from netinv_core.tasks.leases import RELEASED, Leases, free
from netinv_core.uow import UnitOfWork
from netinv_core.write.system_update import system_update
from netinv_extras import secrets
from netinv_extras.git.client import MAX_ATTACHMENTS, CommitTree, GitError, Remote, fetch
from netinv_extras.git.contents import Below
from netinv_extras.git.models import GitRepository, GitSync
from netinv_extras.git.sync import Sync, SyncReport, content_kinds
from netinv_extras.secrets import Secret, SecretError, SecretsGroupAssociation

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
ATTEMPTS = 3  # of a transaction that fails with a deadlock or serialization error
LEASE_SECONDS = 600  # of a claim, in addition to the time limit of git
ACCESS = "HTTP(S)"
NOT_PERMITTED = "Whoever asked for this sync has no active account any more, or may not change the repository."
Row = Mapping[str, Any]
_repository, _sync = table_of(GitRepository), table_of(GitSync)


class _SyncLeaseLost(Exception):
    """The lease ended before the work, or the repository was deleted."""


class _NotPermitted(Exception):
    """Error of a sync whose user may not ask for it any more."""


@dataclasses.dataclass(frozen=True)
class ClaimedSync:
    """A claimed sync: its row, and that of its repository."""

    sync: Row
    repository: Row
    claim: uuid.UUID

    @property
    def mine(self) -> Any:
        """Condition that the claim still holds."""
        return sa.and_(_sync.c.repository_id == self.repository["id"], _sync.c.claimed_by == self.claim)

    def done(self) -> dict[str, Any]:
        """Values that end the sync and the claim. A request that arrived during the sync is kept."""
        requested_at = sa.case((_sync.c.wanted == self.sync["wanted"], sa.null()), else_=_sync.c.wanted)
        return {**RELEASED, "wanted": requested_at, "finished": now()}


class SyncWorker(BackgroundWorker):
    """Synchronises the requested repositories. The end of the process does not wait for a running sync."""

    thread_name = "git"
    shutdown_timeout = 0.0

    def work(self) -> None:
        """Synchronises until no sync is requested."""
        sync_now(self._engine, self._registry)


def sync(engine: Engine, registry: Registry) -> None:
    """The task of the queue: starts the requested synchronisations in the background. Returns at once."""
    SyncWorker.of_process(engine, registry).poll()


def sync_now(engine: Engine, registry: Registry) -> int:
    """Syncs every repository for which it was requested. Returns their number."""
    count = 0
    while (claimed := _claim(engine, registry)) is not None:
        count += 1
        _work(engine, registry, claimed)
    return count


def _leases(engine: Engine, registry: Registry) -> Leases:
    return Leases(engine, _sync, "repository_id")


def _claim(engine: Engine, registry: Registry) -> ClaimedSync | None:
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
        return ClaimedSync(dict(row), dict(repository), claim)


def _work(engine: Engine, registry: Registry, claimed: ClaimedSync) -> None:
    """Fetches a repository, imports its files and records the outcome, including any error."""
    name = claimed.repository["name"]
    try:
        _check_asked(engine, registry, claimed)
        tree = _fetch(engine, registry, claimed.repository)
        report = _import_tree(engine, registry, claimed, tree)
        text = "repository %s synced at %s: %s, %d files refused"
        log.info(text, name, tree.head, report.counts, len(report.refused))
        return
    except _SyncLeaseLost:
        log.info("the sync of repository %s was taken over, or the repository deleted", name)
        return
    except (GitError, SecretError, _NotPermitted) as error:
        reason = str(error)
    except Exception as error:  # a bug or a database error: recorded, without stopping other syncs
        log.exception("the sync of repository %s was broken off", name)
        reason = f"The sync was broken off ({type(error).__name__})."
    log.warning("repository %s was not synced: %s", name, reason)
    with _leases(engine, registry).transaction() as connection:
        connection.execute(sa.update(_sync).where(claimed.mine).values(**claimed.done(), error=reason, report=None))


def _check_asked(engine: Engine, registry: Registry, claimed: ClaimedSync) -> None:
    """Checks that whoever asked for a sync may still add or change the repository. Commands have no account.

    :raises _NotPermitted: if not
    """
    user_id, key = claimed.sync["user_id"], claimed.repository["id"]
    if user_id is None and not claimed.sync["user_name"]:
        return
    with session_factory(engine)() as session:
        uow = UnitOfWork(registry, session, Identity(superuser=True))
        content_types.load(uow)
        try:
            uow.identity = identity.by_id(uow, user_id)
        except (LookupError, Denied):
            raise _NotPermitted(NOT_PERMITTED) from None
        endpoint = registry.of_model(GitRepository)
        if not any(permissions.permitted_ids(uow, endpoint, action, [key]) for action in ("change", "add")):
            raise _NotPermitted(NOT_PERMITTED)


# -- fetching


def _fetch(engine: Engine, registry: Registry, repository: Row) -> CommitTree:
    """Fetches the repository's files of all kinds that it provides.

    :raises GitError: when the fetch fails
    :raises SecretError: when a secret has no value
    """
    with session_factory(engine)() as session:
        username, token = _credentials(registry, session, repository)
    kinds = content_kinds(registry)
    provided = [kind for label, kind in kinds.items() if label in repository["provided_contents"]]
    return fetch(
        registry.settings,
        Remote(repository["remote_url"], repository["branch"], username, token),
        [kind.folder for kind in provided],
        [kind.attachments for kind in provided if kind.attachments],
    )


def _credentials(registry: Registry, session: Session, repository: Row) -> tuple[str, str]:
    """Returns user name and token, of the secrets group if there is one, else the repository's own.

    :raises SecretError: when the group has no token, or a secret has no value
    :raises GitError: when the repository's own token cannot be decrypted, or has control characters
    """
    if repository["secrets_group_id"] is None:
        try:
            credentials = repository["username"], crypto.decrypt(registry.settings["secret"], repository["token"])
        except ValueError as error:
            raise GitError(f"The token cannot be read: {error}") from None
    else:
        credentials = _of_group(registry, session, repository)
    if any(not part.isprintable() for part in credentials):
        raise GitError("User name or token hold control characters.")
    return credentials


def _of_group(registry: Registry, session: Session, repository: Row) -> tuple[str, str]:
    association, secret = table_of(SecretsGroupAssociation), table_of(Secret)
    of_group = association.c.group_id == repository["secrets_group_id"], association.c.access_type == ACCESS
    statement = sa.select(association.c.secret_type, secret).join_from(association, secret).where(*of_group)
    by_type = {row["secret_type"]: row for row in session.execute(statement).mappings()}
    token = by_type.get("token") or by_type.get("password")
    if token is None:
        raise SecretError(f"The secrets group holds no token for {ACCESS}.")
    username = repository["username"]
    if "username" in by_type:
        username = secrets.value_of(registry, dict(by_type["username"]))
    return username, secrets.value_of(registry, dict(token))


# -- import


def _import_tree(engine: Engine, registry: Registry, claimed: ClaimedSync, tree: CommitTree) -> SyncReport:
    """Imports the files and records the repository's head and the outcome, in one transaction with retries.

    :raises _SyncLeaseLost: when the claim was lost
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with session_factory(engine)() as session:
                user = Identity(claimed.sync["user_id"], claimed.sync["user_name"], superuser=True)
                uow = UnitOfWork(registry, session, user, base=registry.settings["base_url"], writing=True)
                content_types.load(uow)
                report = _carry_out(uow, claimed, tree)
                commit(session)
                return report
        except sa.exc.OperationalError:
            if attempt == ATTEMPTS:
                raise
    raise AssertionError("unreachable")


def _carry_out(uow: UnitOfWork, claimed: ClaimedSync, tree: CommitTree) -> SyncReport:
    # Lock order: the repository before its sync, as in changes and deletions of repositories.
    selected = sa.select(_repository).where(_repository.c.id == claimed.repository["id"])
    row = uow.execute(lock_rows(selected)).mappings().first()
    held = uow.execute(lock_rows(sa.select(_sync.c.repository_id).where(claimed.mine))).scalar()
    if row is None or held is None:
        raise _SyncLeaseLost()
    work = Sync(uow, dict(row))
    for label, kind in content_kinds(uow.registry).items():
        provided = label in claimed.repository["provided_contents"]
        folders = (f"{kind.folder}/", f"{kind.attachments or kind.folder}/")
        kind.import_files(work, Below(tree.files, folders if provided else ()))
    for folder in tree.left_out:
        most = uow.registry.settings["git_max_size"] >> 20
        reason = f"its files are left out: more than {MAX_ATTACHMENTS:,}, or larger than {most} MiB together"
        work.report.refuse(f"{folder}/", f"{reason} (netinv.git_max_size)")
    system_update(uow, uow.registry.of_model(GitRepository), {row["id"]: {"current_head": tree.head}})
    outcome = {"head": tree.head, "error": "", "report": work.report.as_json()}
    uow.execute(sa.update(_sync).where(claimed.mine).values(**claimed.done(), **outcome))
    return work.report
