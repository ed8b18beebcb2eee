"""Identities: authentication of credentials, in one statement."""

from __future__ import annotations

import base64
import dataclasses
import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import stored_answers
from netinv_core.auth import crypto, passwords
from netinv_core.auth.models import (
    ConfigurationVersion,
    ObjectPermission,
    Token,
    User,
    permission_groups,
    permission_types,
    permission_users,
    user_groups,
)
from netinv_core.db.engine import lock_rows
from netinv_core.errors import Denied
from netinv_core.models.base import now, table_of

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

Permissions = dict[tuple[str, str], list[Any]]
NOT_GIVEN = "Authentication credentials were not provided."


@dataclasses.dataclass(frozen=True)
class Identity:
    """An authenticated account, or nobody. ``permissions`` maps (label, action) to constraints, any of which must
    hold.
    """

    user_id: uuid.UUID | None = None
    username: str = ""
    superuser: bool = False
    can_write: bool = True
    permissions: Permissions = dataclasses.field(default_factory=dict)

    @property
    def anonymous(self) -> bool:
        """True if nobody was authenticated. The service itself is a superuser without an account."""
        return self.user_id is None and not self.superuser


ANONYMOUS = Identity(can_write=False)

_user = table_of(User)
_token = table_of(Token)
_version = (
    sa.select(table_of(ConfigurationVersion).c.number).where(table_of(ConfigurationVersion).c.id == 1).scalar_subquery()
)
# The columns of an account that :func:`identity_of` needs.
IDENTITY_COLUMNS = (_user.c.id, _user.c.username, _user.c.is_superuser, _user.c.is_active, _version.label("version"))
_by_key = (
    sa.select(*IDENTITY_COLUMNS, _token.c.expires, _token.c.write_enabled)
    .join_from(_token, _user)
    .where(_token.c.key_hash == sa.bindparam("digest"))
)
# The same with the stored answer to a request that has an Idempotency-Key.
_by_key_with_answer = (
    sa.select(*IDENTITY_COLUMNS, _token.c.expires, _token.c.write_enabled, *stored_answers.COLUMNS)
    .join_from(_token, _user)
    .join(table_of(stored_answers.StoredAnswer), stored_answers.is_stored_for(_user.c.id), isouter=True)
    .where(_token.c.key_hash == sa.bindparam("digest"))
)
_by_name = sa.select(*IDENTITY_COLUMNS).where(_user.c.username == sa.bindparam("username"))
_by_id = sa.select(*IDENTITY_COLUMNS).where(_user.c.id == sa.bindparam("id"))


def by_token(uow: UnitOfWork, header: str) -> Identity:
    """The identity of an ``Authorization: Token …`` header; anonymous for another scheme.

    :raises Denied: for a malformed header, an unknown or expired key, an inactive user
    """
    scheme, *rest = header.split() or [""]
    if scheme.lower() != "token":
        return ANONYMOUS
    if not rest:
        raise Denied("Invalid token header. No credentials provided.")
    if len(rest) > 1:
        raise Denied("Invalid token header. Token string should not contain spaces.")
    row, keyed = None, uow.keyed_request
    if keyed is None:
        row = uow.execute(_by_key, {"digest": crypto.digest(rest[0])}).first()
    else:
        values = {"digest": crypto.digest(rest[0]), "key_digest": keyed.key_digest}
        row = uow.execute(_by_key_with_answer, values).first()
        keyed.found(row)
    if row is None:
        raise Denied("Invalid token")
    if row.expires is not None and row.expires <= now():
        raise Denied("Token expired")
    return identity_of(uow, row, writes=row.write_enabled)


def by_password(uow: UnitOfWork, header: str, address: str) -> Identity:
    """The identity of an ``Authorization: Basic …`` header from a client's ``address``; anonymous for another scheme.

    :raises Denied: for a malformed header; as :func:`netinv_core.auth.passwords.sign_in`
    :raises TooManyRequests: as :func:`netinv_core.auth.passwords.sign_in`
    """
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return ANONYMOUS
    try:
        username, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:  # not ASCII, not base64, not UTF-8
        raise Denied("Invalid basic header. Credentials not correctly base64 encoded.") from None
    user_id = passwords.sign_in(uow, username, password, address)
    row = uow.execute(_by_id, {"id": user_id}).first()
    if row is None:
        raise Denied(passwords.WRONG)
    return identity_of(uow, row, writes=True)


def by_username(uow: UnitOfWork, username: str) -> Identity:
    """The identity of an account, for commands.

    :raises LookupError: when there is none
    """
    row = uow.execute(_by_name, {"username": username}).first()
    if row is None:
        raise LookupError(f"no user is called {username!r}")
    return _long_lived(uow, row)


def by_id(uow: UnitOfWork, user_id: uuid.UUID) -> Identity:
    """The identity of an account, for work that its owner requested earlier.

    :raises LookupError: for a deleted account
    :raises Denied: for an inactive user
    """
    row = uow.execute(_by_id, {"id": user_id}).first()
    if row is None:
        raise LookupError("the account is no longer there")
    return _long_lived(uow, row)


def _long_lived(uow: UnitOfWork, row: Any) -> Identity:
    """The identity for long work, which reads the configuration anew each time instead of from the cache of one
    version.
    """
    identity = identity_of(uow, row, writes=True)
    uow.configuration.cached = None
    return identity


def identity_of(uow: UnitOfWork, row: Any, *, writes: bool) -> Identity:
    """The identity of a row of :data:`IDENTITY_COLUMNS`. The unit of work uses the configuration of its version.

    :raises Denied: for an inactive user
    """
    if not row.is_active:
        raise Denied("User inactive")
    uow.configuration.cached = uow.registry.cached(row.version)
    if row.is_superuser:
        return Identity(row.id, row.username, True, writes)
    permissions = uow.cached_config(("permissions", row.id), lambda uow: _permissions_of(uow, row.id))
    return Identity(row.id, row.username, False, writes, permissions)


def _permissions_of(uow: UnitOfWork, user_id: uuid.UUID) -> Permissions:
    """Every enabled permission of a user, assigned directly or by group."""
    table = table_of(ObjectPermission)
    groups = sa.select(user_groups.c.target_id).where(user_groups.c.owner_id == user_id)
    permission_ids = sa.union(
        sa.select(permission_users.c.owner_id).where(permission_users.c.target_id == user_id),
        sa.select(permission_groups.c.owner_id).where(permission_groups.c.target_id.in_(groups)),
    )
    statement = (
        sa.select(permission_types.c.label, table.c.actions, table.c.constraints)
        .join_from(table, permission_types, permission_types.c.owner_id == table.c.id)
        .where(table.c.enabled, table.c.id.in_(permission_ids))
    )
    permissions: Permissions = {}
    for label, actions, constraints in uow.execute(statement):
        for action in actions:
            permissions.setdefault((label, action), []).append(constraints or {})
    return permissions


def lock_configuration(uow: UnitOfWork) -> None:
    """Locks the row of the configuration version until the transaction ends, for rules over the whole configuration."""
    table = table_of(ConfigurationVersion)
    uow.execute(lock_rows(sa.select(table.c.number).where(table.c.id == 1)))


def configuration_changed(uow: UnitOfWork) -> None:
    """Increments the configuration version: other processes drop their cache at the next authentication, this unit at
    once.
    """
    table = table_of(ConfigurationVersion)
    uow.write(sa.update(table).where(table.c.id == 1).values(number=table.c.number + 1))
    uow.configuration.cached = None
