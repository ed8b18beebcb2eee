"""Accounts of users whom identity providers prove: found by provider and subject, linked or created at the first
sign-in. Groups are set at every sign-in.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import colander
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.auth import password_policy
from netinv_core.auth.account import Identity
from netinv_core.auth.audit import audit, audit_after_commit
from netinv_core.auth.configuration_version import configuration_changed
from netinv_core.auth.models import ExternalIdentity, Group, User, user_groups
from netinv_core.auth.providers import ExternalUser
from netinv_core.db.availability import is_busy
from netinv_core.db.engine import lock_rows, session_factory
from netinv_core.driver.sessions import commit
from netinv_core.errors import Denied, Invalid
from netinv_core.fields import Value, schema
from netinv_core.models.base import now, table_of
from netinv_core.uow import UnitOfWork
from netinv_core.write import save

if TYPE_CHECKING:
    from netinv_core.registry import Registry

ATTEMPTS = 3  # when concurrent sign-ins create the same account
INACTIVE = "This account is not active."
NOT_LINKED = "An account with the name {} exists already and does not belong to you at {}. Ask an administrator."
NO_ACCOUNT = "You have no account here. Ask an administrator."
INVALID = "Enter a valid value."
REFUSED = "No account can be created for the name {}: {}"
_users, _groups, _links = table_of(User), table_of(Group), table_of(ExternalIdentity)


def user_id_of(engine: Engine, registry: Registry, user: ExternalUser) -> uuid.UUID:
    """Returns the id of the account of a user, in a transaction of its own, which links or creates it and sets its
    groups.

    :raises Denied: when there is no account, and none may be linked or created; for an inactive one
    """
    for attempt in range(ATTEMPTS):
        try:
            with session_factory(engine)() as session:
                uow = UnitOfWork(registry, session, Identity(superuser=True), writing=True)
                user_id = _account(uow, user)
                _update(uow, user_id, user)
                commit(session)
                return user_id
        except Denied as error:
            audit("sign_in.refused", provider=user.provider, user=user.username, reason=error.body["detail"])
            raise
        except sa.exc.DBAPIError as error:
            if attempt == ATTEMPTS - 1 or not (is_busy(error) or isinstance(error, sa.exc.IntegrityError)):
                raise
    raise AssertionError


def _account(uow: UnitOfWork, user: ExternalUser) -> uuid.UUID:
    """The id of the account, which is linked or created if the provider's subject is new."""
    if not (user.subject and user.subject.isprintable() and user.username.isprintable()):
        raise Denied(REFUSED.format(user.username, INVALID))
    is_subject = sa.and_(_links.c.provider == user.provider, _links.c.subject == user.subject)
    user_id: uuid.UUID | None = uow.execute(sa.select(_links.c.user_id).where(is_subject)).scalar()
    if user_id is None:
        found = uow.execute(lock_rows(sa.select(_users).where(_users.c.username == user.username))).first()
        user_id = _linkable(uow, found, user) if found is not None else _create_account(uow, user)
        link = {"provider": user.provider, "subject": user.subject, "user_id": user_id, "created": now()}
        uow.execute(sa.insert(_links).values(link))
        created = {"provider": user.provider, "id": str(user_id), "created": found is None}
        audit_after_commit(uow, "user.linked", user=user.username, **created)
    return user_id


def _linkable(uow: UnitOfWork, account: Any, user: ExternalUser) -> uuid.UUID:
    """The id of an account with the user's name, if it may be linked: by the setting, and no superuser, and not linked
    to somebody else at the provider.
    """
    taken = sa.select(_links.c.subject).where(_links.c.provider == user.provider, _links.c.user_id == account.id)
    by_name = user.provider in uow.registry.settings["sign_in_link_by_username"]
    if not by_name or account.is_superuser or uow.execute(taken).first() is not None:
        raise Denied(NOT_LINKED.format(user.username, user.provider))
    user_id: uuid.UUID = account.id
    return user_id


def _create_account(uow: UnitOfWork, user: ExternalUser) -> uuid.UUID:
    """Creates an account, with a password that nobody knows."""
    if not uow.registry.settings["sign_in_create_users"]:
        raise Denied(NO_ACCOUNT)
    body = {
        "username": user.username,
        "password": password_policy.generate_password(uow.registry.settings),
        **_profile(uow, user),
    }
    try:
        (created,) = save.create(uow, uow.registry["users.user"], [body], single=True)
    except Invalid as error:
        reasons = "; ".join(str(text) for texts in error.body.values() for text in texts)
        raise Denied(REFUSED.format(user.username, reasons)) from None
    return uuid.UUID(str(created["id"]))


def _profile(uow: UnitOfWork, user: ExternalUser) -> dict[str, str]:
    """The names and the e-mail address that the provider states, without those that accounts cannot have."""
    stated = {"email": user.email, "first_name": user.first_name, "last_name": user.last_name}
    writable, profile = uow.registry["users.user"].writable, {}
    for name, text in stated.items():
        field = writable[name]
        assert isinstance(field, Value)
        with contextlib.suppress(colander.Invalid):
            profile[name] = schema.parse(field.node, text) if text else ""
    return {name: text for name, text in profile.items() if text}


def _update(uow: UnitOfWork, user_id: uuid.UUID, user: ExternalUser) -> None:
    """Writes what the provider states to an account: profile, superuser, groups; only what differs.

    :raises Denied: for an inactive account
    """
    is_account = _users.c.id == user_id
    account = uow.execute(lock_rows(sa.select(_users).where(is_account))).one()
    if not account.is_active:
        raise Denied(INACTIVE)
    stated: dict[str, Any] = dict(_profile(uow, user))
    if user.superuser is not None:
        stated |= {"is_superuser": user.superuser, "is_staff": user.superuser}
    changed = {name: value for name, value in stated.items() if account._mapping[name] != value}
    if changed:
        uow.execute(sa.update(_users).where(is_account).values(changed))
    if user.groups is not None:
        _set_groups(uow, user_id, user, user.groups)


def _set_groups(uow: UnitOfWork, user_id: uuid.UUID, user: ExternalUser, names: Sequence[str]) -> None:
    """Sets the groups of an account to those with these names; others are created by the setting, else left out."""
    wanted = {name for name in names if 0 < len(name) <= 150 and name.isprintable()}
    known = dict(uow.execute(sa.select(_groups.c.name, _groups.c.id).where(_groups.c.name.in_(wanted))).tuples().all())
    missing = sorted(wanted - known.keys())
    if missing and uow.registry.settings["sign_in_create_groups"]:
        created = save.create(uow, uow.registry["auth.group"], [{"name": name} for name in missing])
        known |= {group["name"]: group["id"] for group in created}
    is_member = user_groups.c.owner_id == user_id
    former = set(uow.execute(sa.select(user_groups.c.target_id).where(is_member)).scalars())
    groups = {known[name] for name in wanted if name in known}
    if former == groups:
        return
    if former - groups:
        uow.execute(sa.delete(user_groups).where(is_member, user_groups.c.target_id.in_(former - groups)))
    if groups - former:
        uow.execute(
            sa.insert(user_groups), [{"owner_id": user_id, "target_id": key} for key in sorted(groups - former)]
        )
    configuration_changed(uow)
    kept = ",".join(sorted(wanted & known.keys()))
    audit_after_commit(uow, "user.groups_changed", provider=user.provider, user=user.username, groups=kept)
