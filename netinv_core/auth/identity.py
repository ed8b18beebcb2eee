"""Identities: authentication of credentials, in one statement."""

from __future__ import annotations

import dataclasses
import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import crypto, stored_answers
from netinv_core.auth import narrowing
from netinv_core.auth.account import ANONYMOUS, Identity, Permissions, TokenReference
from netinv_core.auth.audit import audit, audit_token_use
from netinv_core.auth.audit import log as audit_log
from netinv_core.auth.configuration_version import CONFIGURATION_VERSION
from netinv_core.auth.models import (
    ObjectPermission,
    Token,
    User,
    permission_groups,
    permission_types,
    permission_users,
    user_groups,
)
from netinv_core.caches import lru_cache
from netinv_core.db import read_positions
from netinv_core.errors import Denied
from netinv_core.models.associations import EVERY_TYPE
from netinv_core.models.base import now, table_of
from netinv_core.net import addresses

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork


_user = table_of(User)
_token = table_of(Token)
# The columns of an account that :func:`identity_of` needs.
IDENTITY_COLUMNS = (
    _user.c.id,
    _user.c.username,
    _user.c.is_superuser,
    _user.c.is_active,
    CONFIGURATION_VERSION.label("version"),
)
_TOKEN_COLUMNS = (
    _token.c.id.label("token_id"),
    *(_token.c[name] for name in ("expires", "write_enabled", "last_used")),
    *(_token.c[name] for name in ("allowed_networks", "actions", "object_types")),
)
_by_key = (
    sa.select(*IDENTITY_COLUMNS, *_TOKEN_COLUMNS)
    .join_from(_token, _user)
    .where(_token.c.key_hash == sa.bindparam("digest"))
)
_by_name = sa.select(*IDENTITY_COLUMNS).where(_user.c.username == sa.bindparam("username"))
_by_id = sa.select(*IDENTITY_COLUMNS).select_from(_user).where(_user.c.id == sa.bindparam("id"))


def account_row(uow: UnitOfWork, select: sa.Select[Any], values: Mapping[str, Any]) -> Any:
    """Returns the first row of a SELECT of :data:`IDENTITY_COLUMNS` for :func:`identity_of`, or ``None``.

    It has the stored answer, too, to a request with an Idempotency-Key (:mod:`netinv_core.stored_answers`), and where
    reads go to replicas the position that they need (:mod:`netinv_core.db.read_positions`).
    """
    keyed, route = uow.keyed_request, uow.read_route
    if route is not None:
        row = uow.execute(read_positions.with_positions(select, _user.c.id), values).first()
        route.needed = read_positions.needed_position(row)
        return row
    if keyed is None:
        return uow.execute(select, values).first()
    return uow.execute(_with_answer(select), {**values, "key_digest": keyed.key_digest}).first()


@lru_cache("SQL statements", 100)
def _with_answer(select: sa.Select[Any]) -> sa.Select[Any]:
    """A SELECT of accounts LEFT JOINed to the stored answer of the parameter ``key_digest``."""
    table, is_stored = table_of(stored_answers.StoredAnswer), stored_answers.is_stored_for(_user.c.id)
    return select.add_columns(*stored_answers.COLUMNS).join(table, is_stored, isouter=True)


def by_token(uow: UnitOfWork, header: str, address: str) -> Identity:
    """The identity of an ``Authorization: Token …`` header from a client's ``address``; anonymous for another scheme.

    :raises Denied: for a malformed header, an unknown or expired key, an inactive user, an address that the token does
        not allow
    """
    scheme, *rest = header.split() or [""]
    if scheme.lower() != "token":
        return ANONYMOUS
    if not rest:
        raise refusal("malformed", "Invalid token header. No credentials provided.")
    if len(rest) > 1:
        raise refusal("malformed", "Invalid token header. Token string should not contain spaces.")
    row = account_row(uow, _by_key, {"digest": crypto.digest(rest[0])})
    if row is None:
        raise refusal("unknown_token", "Invalid token")
    if row.expires is not None and row.expires <= now():
        raise refusal("expired_token", "Token expired")
    identity = identity_of(uow, row, writes=row.write_enabled)
    if row.allowed_networks and not addresses.is_in(address, row.allowed_networks):
        raise refusal("address", f"This token is not accepted from the address {address}.")
    identity = dataclasses.replace(identity, token=TokenReference(row.token_id, row.last_used))
    if audit_log.isEnabledFor(logging.INFO):
        audit_token_use(row.token_id, row.username)
    if row.allowed_networks or row.actions or row.object_types:
        return _limit_identity(uow, identity, row.actions or (), row.object_types or ())
    return identity


def refusal(reason: str, detail: str) -> Denied:
    """The error for credentials that are not accepted, which are also named in the audit log."""
    audit("credentials.refused", reason=reason)
    return Denied(detail)


def _limit_identity(uow: UnitOfWork, identity: Identity, actions: Sequence[str], labels: Sequence[str]) -> Identity:
    """The identity of a user's token that is limited to ``actions`` and object types (``labels``); empty for all."""
    if not (actions or labels):
        return dataclasses.replace(identity, limited=True)
    if identity.superuser:
        permissions: Permissions = narrowing.Unconstrained(labels or tuple(uow.registry.endpoints), actions)
    else:
        permissions = narrowing.narrow(identity.permissions, actions, labels)
    writes = identity.can_write and (not actions or set(actions) != {"view"})
    narrower = dataclasses.replace(identity, superuser=False, can_write=writes, permissions=permissions)
    return dataclasses.replace(narrower, limited=True, limited_to_types=bool(labels))


def by_account(uow: UnitOfWork, user_id: uuid.UUID) -> Identity | None:
    """The identity of an account for one request, whose credentials were verified; ``None`` when it is deleted.

    :raises Denied: for an inactive user
    """
    row = account_row(uow, _by_id, {"id": user_id})
    return None if row is None else identity_of(uow, row, writes=True)


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
    """The identity of a row of :data:`IDENTITY_COLUMNS`. The unit of work uses the configuration of its version, and
    the stored answer of the row, if it has one (:func:`account_row`).

    :raises Denied: for an inactive user
    """
    if not row.is_active:
        raise refusal("inactive_account", "User inactive")
    # Without the row of the version nobody would learn of changes: nothing is cached then.
    cached = None if row.version is None else uow.registry.cached(row.version)
    uow.configuration.cached, uow.configuration.number = cached, row.version
    if uow.keyed_request is not None and hasattr(row, "request_digest"):
        uow.keyed_request.take_row(row)
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
    permissions: dict[tuple[str, str], list[Any]] = {}
    for listed, actions, constraints in uow.execute(statement):
        for label in uow.registry.endpoints if listed == EVERY_TYPE else (listed,):
            for action in actions:
                permissions.setdefault((label, action), []).append(constraints or {})
    return permissions
