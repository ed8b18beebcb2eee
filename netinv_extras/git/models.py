"""Git repositories: remote ones, what each of them provides, and the sync that brings it in.

A sync is a row of its repository's own: who asked for it and when, which worker has it in hand, and what came of the last one.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import colander
import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.auth.identity import lock_configuration
from netinv_core.auth.models import User
from netinv_core.db.engine import in_parameter
from netinv_core.endpoint import Endpoint
from netinv_core.models.base import Base, Primary, table_of
from netinv_core.models.columns import SET_NULL, Name, Ref, Slug, column, column_info, encrypted_text, foreign_key, json_document, required_text, text
from netinv_core.models.types import Chars, Json, LongText, Timestamp
from netinv_core.read import filters
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory, Resource
from netinv_core.tasks import queue as task_queue
from netinv_core.uow import UnitOfWork
from netinv_core.write.delete import GenericCascade
from netinv_core.write.draft import ALL, Draft
from netinv_core.write.system_update import system_update
from netinv_extras.config_contexts.merge import LOCAL
from netinv_extras.secrets import SecretsGroup

LABEL = "extras.gitrepository"
SYNC = "sync_repositories"  # the worker's task
PROVIDED = {
    "extras.configcontext": "config contexts",
    "extras.configcontextschema": "config context schemas",
    "extras.exporttemplate": "export templates",
    "extras.job": "jobs",
}
OVERLAP = "Another Git repository already configured for remote URL {} provides contents overlapping with this repository."
NO_CREDENTIALS = "Credentials do not belong in the URL: give a user name and a token, or a secrets group."
NOT_TO_GIVE = "To have the secrets of this group sent to the host of the URL, you need the permission to change the group."
ELSEWHERE = "The URL leads to another host than the one this token was given for: give it again."


class GitRepository(Primary):
    """A branch of a remote repository; ``current_head`` is the commit whose contents are here."""

    __tablename__ = "extras_git_repository"

    name: Mapped[Name] = required_text(100, unique=True)
    slug: Mapped[Slug]
    remote_url: Mapped[str] = column(Chars(255), kind="url", index=True)
    branch: Mapped[str] = required_text(64, default="main")
    token: Mapped[str] = encrypted_text(200, write_only=True)
    username: Mapped[str] = text(64)
    secrets_group_id: Mapped[Ref | None] = foreign_key(SecretsGroup, on_delete=SET_NULL)
    current_head: Mapped[str] = text(48, "The commit whose contents are here; a sync sets it")
    provided_contents: Mapped[Any] = json_document(default=list)


class GitSync(Base):
    """The sync of a repository: ``wanted`` since when it is asked for, until it is done; ``claimed_until`` until when a worker has it in hand.

    ``head``, ``error`` and ``report`` are what came of the last one.
    """

    __tablename__ = "extras_git_sync"

    repository_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("extras_git_repository.id", ondelete="CASCADE"), primary_key=True)
    wanted: Mapped[datetime.datetime | None] = mapped_column(Timestamp(), index=True)
    user_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey(User.__table__.c.id, ondelete="SET NULL"), index=True)
    user_name: Mapped[str] = mapped_column(Chars(150), default="")
    claimed_by: Mapped[uuid.UUID | None]
    claimed_until: Mapped[datetime.datetime | None]
    started: Mapped[datetime.datetime | None]
    finished: Mapped[datetime.datetime | None]
    head: Mapped[str] = mapped_column(Chars(48), default="")
    error: Mapped[str] = mapped_column(LongText(), default="")
    report: Mapped[Any] = mapped_column(Json(), nullable=True)


# Which objects of any package have their local context data from which repository.
local_contexts = sa.Table(
    "extras_git_local_context",
    Base.metadata,
    sa.Column("object_type", Chars(100), primary_key=True),
    sa.Column("object_id", sa.Uuid(), primary_key=True),
    sa.Column("repository_id", sa.Uuid(), sa.ForeignKey("extras_git_repository.id", ondelete="CASCADE"), nullable=False, index=True),
)
# The modules with jobs that a repository brought: the text of each, and its SHA-256 in hexadecimal.
job_modules = sa.Table(
    "extras_git_job_module",
    Base.metadata,
    sa.Column("repository_id", sa.Uuid(), sa.ForeignKey("extras_git_repository.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", Chars(100), primary_key=True),
    sa.Column("digest", Chars(64), nullable=False),
    sa.Column("code", LongText(), nullable=False),
)
_table, _sync = table_of(GitRepository), table_of(GitSync)


@dataclasses.dataclass(eq=False, kw_only=True)
class Provided(fields.Value):
    """The kinds of contents, as a list of their labels."""

    kind: str = "multiple choice"

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        if not isinstance(value, list):
            raise fields.refused_items(value)
        for label in value:
            if not isinstance(label, str) or label not in PROVIDED:
                raise colander.Invalid(None, f'"{label}" is not a valid choice.')
        draft.values[self.attribute] = list(dict.fromkeys(value))

    def options(self) -> dict[str, Any]:
        return super().options() | {"choices": [{"value": label, "display": title} for label, title in PROVIDED.items()]}


def _provided(registry: Registry, endpoint: Endpoint) -> fields.Field:
    what = column_info(endpoint.table.c["provided_contents"])
    openapi = {"type": "array", "items": {"type": "string", "enum": list(PROVIDED)}}
    return Provided(name="provided_contents", attribute="provided_contents", known=what, openapi=openapi)


git_repositories = Resource(
    GitRepository,
    "git-repositories",
    title="Git repository",
    plural="Git repositories",
    search=["name", "slug", "remote_url", "branch"],
    fields=[FieldFactory("provided_contents", _provided)],
    omit=["tags"],
    filters=[filters.value("provided_contents", lookup="icontains", lookup_names=())],
    example={"remote_url": lambda number: f"https://git.example.com/{number}.git", "provided_contents": ["extras.exporttemplate"]},
    exempt_by_name_only=True,
)


def owned_by_repositories(registry: Registry) -> Iterable[GenericCascade]:
    """What goes with a repository: the objects that it owns."""
    owners = (endpoint for endpoint in registry.endpoints.values() if endpoint.label in PROVIDED and "owner_object_id" in endpoint.table.c)
    for endpoint in owners:
        yield GenericCascade(endpoint.table, "owner_content_type", "owner_object_id", label=endpoint.label, applies=lambda owner: owner.label == LABEL)
    yield GenericCascade(local_contexts, "object_type", "object_id", applies=lambda owner: LOCAL in owner.table.c)


# -- rules


def _origin(url: str) -> tuple[Any, ...]:
    """Whom a URL leads to."""
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.hostname, parts.port


def _moved(draft: Draft) -> bool:
    """Tells whether a repository is led to another host than it was."""
    return not draft.new and draft.changed("remote_url") and _origin(draft["remote_url"]) != _origin(draft.before["remote_url"])


@git_repositories.rule
def remote_url_is_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The URL is one that the operator lets netinv follow, and holds no credentials."""
    protocols = uow.registry.settings["git_protocols"]
    for draft in drafts:
        if not draft.changed("remote_url"):
            continue
        try:
            scheme, host, _ = _origin(draft["remote_url"])
            user = urlsplit(draft["remote_url"]).netloc.rpartition("@")[0]
        except ValueError as error:
            draft.reject("remote_url", f"Enter a valid URL: {error}.")
            continue
        if scheme not in protocols:
            draft.reject("remote_url", f"The URL must begin with one of: {', '.join(f'{name}://' for name in protocols)}.")
        elif scheme == "file" and host != "localhost":
            draft.reject("remote_url", "The URL of a file begins with file://localhost/.")
        elif ":" in user or (user and scheme != "ssh"):
            draft.reject("remote_url", NO_CREDENTIALS)


@git_repositories.rule
def moved_remotes_need_a_new_token(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Whoever may lead a repository elsewhere does not send the token there that others gave it: it cannot be read, and so has to be given."""
    for draft in drafts:
        if _moved(draft) and draft.before["token"] and "token" not in draft.body:
            draft.reject("token", ELSEWHERE)


@git_repositories.rule
def uses_secrets_that_its_writer_may_give(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Requires permission to change a secrets group from those who decide where its secrets are sent."""
    bound = [draft for draft in drafts if draft["secrets_group_id"] is not None and (draft.new or draft.changed("secrets_group_id") or _moved(draft))]
    if not bound or uow.identity.superuser:
        return
    groups = uow.registry.of_model(SecretsGroup)
    allowed: Any = sa.false()
    if (groups.label, "change") in uow.identity.permissions:
        scope = permissions.scope(uow, groups, "change", groups.table)
        allowed = sa.true() if scope is None else scope
    found = sa.select(groups.table.c.id).where(in_parameter(uow.registry.dialect, groups.table.c.id), allowed)
    seen = set(uow.execute(found, {"keys": list({draft["secrets_group_id"] for draft in bound})}).scalars())
    for draft in bound:
        if draft["secrets_group_id"] not in seen:
            draft.reject("secrets_group", NOT_TO_GIVE)


@git_repositories.rule
def provides_what_no_other_provides(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """No two repositories bring in the same kind of contents from one URL; those who write them at the same time wait for each other."""
    wanted = [draft for draft in drafts if draft.changed("remote_url", "provided_contents") and draft["provided_contents"]]
    if not wanted:
        return
    lock_configuration(uow)
    others = sa.select(_table.c.id, _table.c.remote_url, _table.c.provided_contents).where(_table.c.remote_url.in_({d["remote_url"] for d in wanted}))
    own = {draft.id for draft in drafts if not draft.new}
    taken = {(url, label) for key, url, labels in uow.execute(others) if key not in own for label in labels}
    taken |= {(draft["remote_url"], label) for draft in drafts if draft not in wanted for label in draft["provided_contents"]}
    for draft in wanted:
        provided = {(draft["remote_url"], label) for label in draft["provided_contents"]}
        if provided & taken:
            draft.reject(ALL, OVERLAP.format(draft["remote_url"]))
        taken |= provided


# -- asking for a sync


@git_repositories.after_save
def sync_what_is_new(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A new repository is synced, and one that leads elsewhere, by other means or for other contents, is synced again."""
    new = [draft for draft in drafts if draft.new]
    if new:
        uow.write(sa.insert(_sync), [{"repository_id": draft.id, **_asking(uow)} for draft in new])
        task_queue.notify_worker(uow, SYNC)
    reasons = ("remote_url", "branch", "token", "username", "secrets_group_id", "provided_contents")
    enqueue_sync(uow, [draft.id for draft in drafts if not draft.new and draft.changed(*reasons)])


def _asking(uow: UnitOfWork) -> dict[str, Any]:
    return {"wanted": uow.now, "user_id": uow.identity.user_id, "user_name": uow.identity.username}


def enqueue_sync(uow: UnitOfWork, keys: Sequence[Any]) -> None:
    """Asks for a sync of repositories, and has the worker look."""
    if keys:
        uow.write(sa.update(_sync).where(in_parameter(uow.registry.dialect, _sync.c.repository_id)).values(_asking(uow)), {"keys": list(keys)})
        task_queue.notify_worker(uow, SYNC)


@git_repositories.before_delete
def clear_owned_local_contexts(uow: UnitOfWork, rows: Sequence[Mapping[str, Any]]) -> None:
    """What has its local context data from a repository loses it with the repository."""
    theirs = sa.select(local_contexts.c.object_type, local_contexts.c.object_id).where(in_parameter(uow.registry.dialect, local_contexts.c.repository_id))
    found: dict[str, list[Any]] = {}
    for label, key in uow.execute(theirs, {"keys": [row["id"] for row in rows]}):
        found.setdefault(label, []).append(key)
    for label, keys in found.items():
        if (endpoint := uow.registry.get(label)) is not None:
            nothing = {name: None for name in (LOCAL, "local_context_schema_id") if name in endpoint.table.c}
            system_update(uow, endpoint, dict.fromkeys(keys, nothing))
