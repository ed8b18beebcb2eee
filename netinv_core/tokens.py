"""Tokens as a resource. Only the hash of a key is stored; the response to the creation is the only one with the key."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import crypto, fields
from netinv_core.auth import permissions
from netinv_core.auth.models import Token, User
from netinv_core.errors import Denied
from netinv_core.fields import schema
from netinv_core.models.base import table_of
from netinv_core.models.columns import ColumnInfo, column_info
from netinv_core.presentation import Presentation
from netinv_core.read import filters
from netinv_core.resource import FieldFactory, Resource
from netinv_core.sql.lookups import NUMBER
from netinv_core.token_limits import FIELDS

if TYPE_CHECKING:
    from netinv_core.fields import Field
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

KEY_TAKEN = "Token with this Key already exists."
NO_KEY = "Enter 40 hexadecimal digits."
USER_HELP = "The account of the token, by default that of the request; others need the permission to change them."
EXPIRED = "The token would be expired already: this is in the past."
USER_FIXED = "The account of a token cannot be changed."
USER_DENIED = "This takes the permission to change this account, and a superuser for the token of a superuser."
HELP = "Only in the response that creates the token, null afterwards. Random by default; null keeps the present key."


@dataclasses.dataclass(eq=False, kw_only=True)
class TokenKey(fields.Field):
    """Key of a token: 40 hexadecimal digits; null except in the response to the creation of the token."""

    kind: str = "string"
    node: Any = None
    confidential: bool = True
    nullable: bool = True

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        index = plan.column(place, "id")
        return lambda row, page: page.uow.revealed.get(row[index])

    def accept(self, draft: Draft, value: Any) -> None:
        if value is not None:
            draft.extra["key"] = schema.parse(self.node, value).lower()

    def options(self) -> dict[str, Any]:
        return {**super().options(), "max_length": crypto.KEY_LENGTH, "min_length": crypto.KEY_LENGTH}


def _token_key(registry: Any, endpoint: Any) -> Field:
    length = crypto.KEY_LENGTH
    info = ColumnInfo(blank=True, min_length=length, pattern=r"^[0-9a-fA-F]*\Z", pattern_error=NO_KEY)
    node = schema.node("key", str, info, length=length, digits=None)
    openapi = {"type": "string", "minLength": length, "maxLength": length}
    return TokenKey(name="key", help=HELP, node=node, openapi=openapi)


def _user(registry: Any, endpoint: Any) -> Field:
    """The account of a token, shown where ``include`` names it, because the reference API does not have it."""
    column = endpoint.table.c.user_id
    info = dataclasses.replace(column_info(column), hidden=False, required=False, help=USER_HELP)
    field = fields.from_column(registry, "user_id", column, info)
    assert field is not None
    return dataclasses.replace(field, opt_in=True, own=True)


def token_name(key: uuid.UUID, username: str) -> str:
    """Display of a token: the first eight digits of its id, and its user."""
    return f"{str(key)[:8]} ({username})"


tokens = Resource(
    Token,
    "tokens",
    type_order="~1 ",
    display=(token_name, "id", "user.username"),
    brief=["write_enabled"],
    order=["created"],
    fields=[FieldFactory("key", _token_key), FieldFactory("user", _user), *FIELDS],
    filters=[filters.value("created", lookup_names=NUMBER), filters.value("expires", lookup_names=NUMBER)],
    search=["description"],
    recorded=False,
    allow_basic_auth=True,
    exempt_by_name_only=True,
    presentation=Presentation(
        empty="Scripts and other programs use the API by a token: add one for each, limited to what it has to do."
    ),
)


@tokens.filter("key", suffixes=["n"], listed=True)
def by_key(uow: UnitOfWork, table: Any, values: list[str], suffix: str) -> Any:
    """Filter by whole keys, compared by their hashes."""
    matches = table.c.key_hash.in_([crypto.digest(value) for value in values])
    return sa.not_(matches) if suffix else matches


@tokens.base_filter
def own_tokens(uow: UnitOfWork, table: Any) -> Any:
    """Base filter: users see their own tokens only, and in the answer those that they make for others."""
    own = table.c.user_id == uow.identity.user_id
    return sa.or_(own, table.c.id.in_(list(uow.revealed))) if uow.revealed else own


@tokens.permission_check
def only_token_writers(uow: UnitOfWork, action: str) -> bool:
    """Permission check: the setting ``netinv.token_writers`` states who may create and change tokens.

    A limited token may not: another one could do more than it.
    """
    if action in ("add", "change") and uow.identity.limited:
        return False
    writers = uow.registry.settings["token_writers"]
    if action in ("view", "delete") or writers == "permitted":
        return True
    return bool(writers == "superusers" and uow.identity.superuser)


@tokens.rule
def tokens_of_others_need_a_permission(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a token of another account without the permission to change that account, and another account of a
    token that there is. A superuser's tokens are made by superusers.
    """
    for draft in drafts:
        if not draft.new and draft.changed("user_id"):
            draft.reject("user", USER_FIXED)
    named = {draft["user_id"] for draft in drafts if draft.new} - {uow.identity.user_id}
    if not named or uow.identity.superuser:
        return
    users = uow.registry.of_model(User)
    try:
        changed = permissions.limits(uow, users, "change", users.table)
    except Denied:
        changed = [sa.false()]
    conditions = [users.table.c.id.in_(named), users.table.c.is_superuser.is_(False)]
    limits = [*permissions.visible(uow, users, users.table), *changed]
    allowed = set(uow.execute(sa.select(users.table.c.id).where(*conditions, *limits)).scalars())
    for draft in drafts:
        if draft.new and draft["user_id"] in named - allowed:
            draft.reject("user", USER_DENIED)


@tokens.rule
def tokens_expire_in_the_future(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a token that would be expired already."""
    for draft in drafts:
        if draft.changed("expires") and draft["expires"] is not None and draft["expires"] <= uow.now:
            draft.reject("expires", EXPIRED)


@tokens.prepare
def hash_keys(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Sets the user and the key of new tokens, replaces keys by their hashes, and rejects keys that are taken."""
    by_digest: dict[str, Draft] = {}
    for draft in drafts:
        if draft.new:
            draft["user_id"] = draft["user_id"] or uow.identity.user_id
            draft.extra["key"] = draft.extra.get("key") or crypto.new_key()
        if key := draft.extra.get("key"):
            draft["key_hash"] = crypto.digest(key)
            if draft["key_hash"] in by_digest:
                draft.reject("key", KEY_TAKEN)
            by_digest[draft["key_hash"]] = draft
    table = table_of(Token)
    if not by_digest:
        return
    existing = sa.select(table.c.key_hash, table.c.id).where(table.c.key_hash.in_(list(by_digest)))
    for key_hash, token_id in uow.execute(existing):
        if token_id != by_digest[key_hash].id:
            by_digest[key_hash].reject("key", KEY_TAKEN)


@tokens.after_save
def reveal_new_keys(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Adds the keys of new tokens to the response (``uow.revealed``)."""
    uow.revealed.update((draft.id, draft.extra["key"]) for draft in drafts if draft.new)
