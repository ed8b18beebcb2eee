"""Git repositories, and requests for their synchronisation.

Each repository has one row of :class:`GitSync`: the pending request, the lease of a worker, and the last outcome.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.auth.configuration_version import lock_configuration
from netinv_core.auth.models import User
from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import Base, Primary, table_of
from netinv_core.models.columns import (
    SET_NULL,
    Name,
    Ref,
    Slug,
    column,
    column_info,
    encrypted_text,
    foreign_key,
    json_document,
    required_text,
    text,
)
from netinv_core.models.types import Chars, Json, LongText, Timestamp
from netinv_core.read import filters
from netinv_core.resource import FieldFactory, Resource
from netinv_core.sql.lookups import convert_flag
from netinv_core.tasks import queue as task_queue
from netinv_core.write.delete import GenericCascade
from netinv_core.write.draft import ALL
from netinv_core.write.system_update import system_update
from netinv_extras.config_contexts.merge import LOCAL
from netinv_extras.git.sync import LABEL, content_kinds
from netinv_extras.secrets import SecretsGroup
from netinv_outgoing.urls import split_url

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

SYNC = "sync_repositories"  # name of the worker's task
OVERLAP = (
    "Another Git repository already configured for remote URL {} provides contents overlapping with this repository."
)
NO_CREDENTIALS = "Credentials do not belong in the URL: give a user name and a token, or a secrets group."
GROUP_NOT_PERMITTED = (
    "To have the secrets of this group sent to the host of the URL, you need the permission to change the group."
)
HOST_CHANGED = "The URL leads to another host than the one this token was given for: give it again."


class GitRepository(Primary):
    """A branch of a remote Git repository. ``current_head`` is the commit of the last successful sync."""

    __tablename__ = "extras_git_repository"

    name: Mapped[Name] = required_text(100, unique=True)
    slug: Mapped[Slug]
    remote_url: Mapped[str] = column(Chars(255), kind="url", index=True)
    branch: Mapped[str] = required_text(64, default="main")
    token: Mapped[str] = encrypted_text(200, write_only=True)
    username: Mapped[str] = text(64)
    secrets_group_id: Mapped[Ref | None] = foreign_key(SecretsGroup, on_delete=SET_NULL)
    current_head: Mapped[str] = text(48, "The commit whose contents are here; a sync sets it", read_only=True)
    provided_contents: Mapped[Any] = json_document(default=list)


class GitSync(Base):
    """Sync of a repository.

    ``wanted`` is the time of the pending request, null when there is none. ``claimed_by`` and ``claimed_until`` are the
    lease of a worker. ``head``, ``error`` and ``report`` are the outcome of the last sync.
    """

    __tablename__ = "extras_git_sync"

    repository_id: Mapped[uuid.UUID] = mapped_column(
        sa.ForeignKey("extras_git_repository.id", ondelete="CASCADE"), primary_key=True
    )
    wanted: Mapped[datetime.datetime | None] = mapped_column(Timestamp(), index=True)
    user_id: Mapped[uuid.UUID | None] = mapped_column(
        sa.ForeignKey(User.__table__.c.id, ondelete="SET NULL"), index=True
    )
    user_name: Mapped[str] = mapped_column(Chars(150), default="")
    claimed_by: Mapped[uuid.UUID | None]
    claimed_until: Mapped[datetime.datetime | None]
    started: Mapped[datetime.datetime | None]
    finished: Mapped[datetime.datetime | None]
    head: Mapped[str] = mapped_column(Chars(48), default="")
    error: Mapped[str] = mapped_column(LongText(), default="")
    report: Mapped[Any] = mapped_column(Json(), nullable=True)


def _repository_column(**options: Any) -> sa.Column[uuid.UUID]:
    reference = sa.ForeignKey("extras_git_repository.id", ondelete="CASCADE")
    return sa.Column("repository_id", sa.Uuid(), reference, **options)


# Objects of any package whose local context data comes from a repository.
local_contexts = sa.Table(
    "extras_git_local_context",
    Base.metadata,
    sa.Column("object_type", Chars(100), primary_key=True),
    sa.Column("object_id", sa.Uuid(), primary_key=True),
    _repository_column(nullable=False, index=True),
)
# Modules with jobs from a repository; the digest is the SHA-256 of the code in hexadecimal.
job_modules = sa.Table(
    "extras_git_job_module",
    Base.metadata,
    _repository_column(primary_key=True),
    sa.Column("name", Chars(100), primary_key=True),
    sa.Column("digest", Chars(64), nullable=False),
    sa.Column("code", LongText(), nullable=False),
)
_table, _sync = table_of(GitRepository), table_of(GitSync)


@dataclasses.dataclass(eq=False, kw_only=True)
class ProvidedContents(fields.ListValue):
    """List of the kinds of contents by label; ``titles`` holds the allowed ones."""

    titles: Mapping[str, str]
    kind: str = "multiple choice"

    def parse_items(self, items: list[Any]) -> list[Any]:
        for label in items:
            if not isinstance(label, str) or label not in self.titles:
                raise colander.Invalid(None, f'"{label}" is not a valid choice.')
        return list(dict.fromkeys(items))

    def options(self) -> dict[str, Any]:
        choices = [{"value": label, "display": title} for label, title in self.titles.items()]
        return super().options() | {"choices": choices}


def _provided_contents(registry: Registry, endpoint: Endpoint) -> Field:
    name = "provided_contents"
    titles = {label: kind.title for label, kind in sorted(content_kinds(registry).items())}
    kind: dict[str, Any] = {"type": "string", "enum": list(titles)}
    if registry.unserved:  # repositories may have kinds of disabled features
        del kind["enum"]
    openapi = {"type": "array", "items": kind}
    info = column_info(endpoint.table.c[name])
    return ProvidedContents(name=name, attribute=name, info=info, titles=titles, openapi=openapi)


git_repositories = Resource(
    GitRepository,
    "git-repositories",
    title="Git repository",
    plural="Git repositories",
    search=["name", "slug", "remote_url", "branch"],
    fields=[FieldFactory("provided_contents", _provided_contents)],
    omit=["tags"],
    filters=[filters.value("provided_contents", lookup="icontains", lookup_names=())],
    example={
        "remote_url": lambda number: f"https://git.example.com/{number}.git",
        "provided_contents": ["extras.exporttemplate"],
    },
    exempt_by_name_only=True,
)


@git_repositories.filter("sync_failed", multiple=False, kind="boolean")
def sync_failed(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by the repositories whose last sync failed."""
    condition = last_sync_failed(table)
    return condition if convert_flag(values[-1]) else sa.not_(condition)


def last_sync_failed(table: Any) -> Any:
    """The condition that the last sync of a repository failed. A request for another one does not change that."""
    return sa.exists().where(_sync.c.repository_id == table.c.id, _sync.c.error != "").correlate(table)


def owned_by_repositories(registry: Registry) -> Iterable[GenericCascade]:
    """Returns the cascades of a repository: the objects that it owns are deleted with it."""
    kinds = content_kinds(registry)
    for endpoint in registry.stored():
        if (endpoint.label in kinds or endpoint.label in registry.unserved) and "owner_object_id" in endpoint.table.c:
            yield GenericCascade(
                endpoint.table,
                "owner_content_type",
                "owner_object_id",
                label=endpoint.label,
                applies=lambda owner: owner.label == LABEL,
            )
    yield GenericCascade(local_contexts, "object_type", "object_id", applies=lambda owner: LOCAL in owner.table.c)


# -- rules


def _origin(url: str) -> tuple[Any, ...]:
    """Returns scheme, host and port of a URL; nothing of text that is none."""
    parts = split_url(url)
    return () if parts is None else (parts.scheme.lower(), parts.hostname, parts.port)


def _is_moved(draft: Draft) -> bool:
    """True for a repository whose URL changes to another scheme, host or port."""
    if draft.new or not draft.changed("remote_url"):
        return False
    return _origin(draft["remote_url"]) != _origin(draft.before["remote_url"])


@git_repositories.rule
def remote_url_is_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects URLs of protocols that ``netinv.git_protocols`` does not allow, and URLs with credentials."""
    protocols = uow.registry.settings["git_protocols"]
    for draft in drafts:
        if not draft.changed("remote_url"):
            continue
        parts = split_url(draft["remote_url"])
        if parts is None:
            draft.reject("remote_url", "Enter a valid URL.")
            continue
        scheme, host, user = parts.scheme.lower(), parts.hostname, parts.netloc.rpartition("@")[0]
        if scheme not in protocols:
            prefixes = ", ".join(f"{name}://" for name in protocols)
            draft.reject("remote_url", f"The URL must begin with one of: {prefixes}.")
        elif scheme == "file" and host not in (None, "localhost"):
            draft.reject("remote_url", "The URL of a file begins with file:///.")
        elif ":" in user or (user and scheme != "ssh"):
            draft.reject("remote_url", NO_CREDENTIALS)


@git_repositories.rule
def moved_remotes_need_a_new_token(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Requires the token again when the remote host changes. Otherwise a user could have it sent to any host."""
    for draft in drafts:
        if _is_moved(draft) and draft.before["token"] and "token" not in draft.body:
            draft.reject("token", HOST_CHANGED)


@git_repositories.rule
def secrets_group_must_be_permitted(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Requires permission to change a secrets group of users who decide to which host its secrets are sent."""
    with_group = [
        draft
        for draft in drafts
        if draft["secrets_group_id"] is not None
        and (draft.new or draft.changed("secrets_group_id") or _is_moved(draft))
    ]
    if not with_group or uow.identity.superuser:
        return
    groups = uow.registry.of_model(SecretsGroup)
    limits: list[Any] = [sa.false()]
    if (groups.label, "change") in uow.identity.permissions:
        limits = permissions.limits(uow, groups, "change", groups.table)
    statement = sa.select(groups.table.c.id).where(in_parameter(groups.table.c.id), *limits)
    keys = list({draft["secrets_group_id"] for draft in with_group})
    permitted = set(uow.execute(statement, {"keys": keys}).scalars())
    for draft in with_group:
        if draft["secrets_group_id"] not in permitted:
            draft.reject("secrets_group", GROUP_NOT_PERMITTED)


@git_repositories.rule
def contents_must_not_overlap(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects repositories that provide the same kind of contents from one URL. A lock serialises concurrent writes."""
    changed = [
        draft for draft in drafts if draft.changed("remote_url", "provided_contents") and draft["provided_contents"]
    ]
    if not changed:
        return
    lock_configuration(uow)
    urls = {draft["remote_url"] for draft in changed}
    columns = _table.c.id, _table.c.remote_url, _table.c.provided_contents
    rows = uow.execute(sa.select(*columns).where(_table.c.remote_url.in_(urls)))
    updated = {draft.id for draft in drafts if not draft.new}
    provided = {(url, label) for key, url, labels in rows if key not in updated for label in labels}
    for draft in drafts:
        if draft not in changed:
            provided |= _contents(draft)
    for draft in changed:
        if _contents(draft) & provided:
            draft.reject(ALL, OVERLAP.format(draft["remote_url"]))
        provided |= _contents(draft)


def _contents(draft: Draft) -> set[tuple[str, str]]:
    return {(draft["remote_url"], label) for label in draft["provided_contents"]}


# -- requests for a sync


@git_repositories.after_save
def sync_changed_repositories(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Requests a sync of new repositories, and of those whose remote, credentials or contents change."""
    new = [draft for draft in drafts if draft.new]
    if new:
        uow.execute(sa.insert(_sync), [{"repository_id": draft.id, **_request(uow)} for draft in new])
        task_queue.notify_worker(uow, SYNC)
    columns = ("remote_url", "branch", "token", "username", "secrets_group_id", "provided_contents")
    enqueue_sync(uow, [draft.id for draft in drafts if not draft.new and draft.changed(*columns)])


def _request(uow: UnitOfWork) -> dict[str, Any]:
    return {"wanted": uow.now, "user_id": uow.identity.user_id, "user_name": uow.identity.username}


def enqueue_sync(uow: UnitOfWork, keys: Sequence[Any]) -> None:
    """Requests a sync of repositories by id, and notifies the worker."""
    if keys:
        is_synced = in_parameter(_sync.c.repository_id)
        uow.execute(sa.update(_sync).where(is_synced).values(_request(uow)), {"keys": list(keys)})
        task_queue.notify_worker(uow, SYNC)


@git_repositories.before_delete
def clear_owned_local_contexts(uow: UnitOfWork, rows: Sequence[Mapping[str, Any]]) -> None:
    """Sets local context data to null that came from a deleted repository."""
    columns = local_contexts.c
    of_repositories = in_parameter(columns.repository_id)
    statement = sa.select(columns.object_type, columns.object_id).where(of_repositories)
    keys_by_label: dict[str, list[Any]] = {}
    for label, key in uow.execute(statement, {"keys": [row["id"] for row in rows]}):
        keys_by_label.setdefault(label, []).append(key)
    for label, keys in keys_by_label.items():
        if (endpoint := uow.registry.get(label)) is not None:
            nulls = {name: None for name in (LOCAL, "local_context_schema_id") if name in endpoint.table.c}
            system_update(uow, endpoint, dict.fromkeys(keys, nulls))
