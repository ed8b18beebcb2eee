"""Whether an identity may act on a resource, and on which of its objects: asked once, where selects are built."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth.identity import NOT_GIVEN
from netinv_core.db.engine import in_parameter
from netinv_core.errors import Denied
from netinv_core.read import relations

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

USER = "$user"


def exempt(endpoint: Endpoint) -> bool:
    """True when anyone may read this resource (the setting ``netinv.exempt_view_permissions``).

    ``*`` stands for every resource that is not exempt by name only.
    """
    names = endpoint.registry.settings.get("exempt_view_permissions", ())
    return endpoint.label in names or ("*" in names and not endpoint.exempt_by_name_only)


def check(uow: UnitOfWork, endpoint: Endpoint, action: str) -> None:
    """Refuses what no object of the resource could make permitted.

    :raises Denied: for an anonymous request, a read-only token that writes, a missing permission, what the resource itself keeps from anyone
    """
    identity = uow.identity
    if action == "view" and exempt(endpoint):
        return
    if identity.anonymous:
        raise Denied(NOT_GIVEN)
    if action != "view" and not identity.can_write:
        raise Denied()
    if not identity.superuser and (endpoint.label, action) not in identity.permissions:
        raise Denied()
    if endpoint.resource.restriction is not None and not endpoint.resource.restriction(uow, action):
        raise Denied()


def scope(uow: UnitOfWork, endpoint: Endpoint, action: str, table: Any) -> Any:
    """The condition that an object is within what is permitted; ``None`` when every object is.

    What is about other objects (:class:`netinv_core.resource.Resource`) is permitted only where these may be viewed.

    :raises Denied: as :func:`check`
    """
    check(uow, endpoint, action)
    about = [visible_named(uow, table.c[label], table.c[key]) for label, key in endpoint.resource.about]
    conditions = [*_own_limits(uow, endpoint, action, table), *(limit for limits in about for limit in limits)]
    return sa.and_(*conditions) if conditions else None


def visible(uow: UnitOfWork, endpoint: Endpoint, table: Any) -> list[Any]:
    """Conditions on ``table`` that a row may be viewed; empty when every row may.

    Whatever a client names or compares is limited by them, so that an object outside of its permissions behaves like one that does not exist.
    """
    try:
        allowed = scope(uow, endpoint, "view", table)
    except Denied:
        return [sa.false()]
    return [] if allowed is None else [allowed]


def visible_for(uow: UnitOfWork) -> relations.Visible:
    """:func:`visible` for a user: how far paths lead that are followed on behalf of that user."""
    return functools.partial(visible, uow)


def visible_named(uow: UnitOfWork, types: Any, keys: Any, *, within: bool = False) -> list[Any]:
    """Conditions on two columns, a content type's label and an id, that the object they name may be viewed; empty for superusers.

    What is no longer there counts as visible to those who may view every object of its model. ``within`` stops at objects that are
    about others in turn, so that a note on a note on a note is for superusers.
    """
    if uow.identity.superuser:
        return []
    whole: list[str] = []
    conditions: list[Any] = []
    for endpoint in uow.registry.endpoints.values():
        about = endpoint.resource.about
        if within and about:
            continue
        table = endpoint.table.alias()
        try:
            check(uow, endpoint, "view")
        except Denied:
            continue
        limits = _own_limits(uow, endpoint, "view", table)
        limits += [limit for pair in about for limit in visible_named(uow, *(table.c[name] for name in pair), within=True)]
        if not limits:
            whole.append(endpoint.label)
        elif endpoint.key_type is uuid.UUID:
            conditions.append(sa.and_(types == endpoint.label, keys.in_(sa.select(table.c.id).where(*limits))))
    return [sa.or_(types.in_(whole), *conditions)]


def _own_limits(uow: UnitOfWork, endpoint: Endpoint, action: str, table: Any) -> list[Any]:
    """The conditions of the permissions themselves and of the resource."""
    granted = _granted(uow, endpoint, action, table)
    narrowing = endpoint.resource.narrowing
    return [*([] if granted is None else [granted]), *([] if narrowing is None else [narrowing(uow, table)])]


def _granted(uow: UnitOfWork, endpoint: Endpoint, action: str, table: Any) -> Any:
    identity = uow.identity
    if identity.superuser or (action == "view" and exempt(endpoint)):
        return None
    granted = identity.permissions[endpoint.label, action]
    if any(not constraints for constraints in granted):
        return None
    dialect = endpoint.registry.dialect
    conditions = []
    for constraints in granted:
        try:
            conditions.append(relations.constraint(endpoint, table, dialect, _with_user(constraints, identity.user_id)))
        except (ValueError, TypeError):
            continue  # a constraint that makes no sense grants nothing
    return sa.or_(sa.false(), *conditions)


def constraint_error(endpoint: Endpoint, constraints: Any) -> str | None:
    """The reason why constraints on an endpoint's objects are not valid: an unknown or hidden member, a value that does not fit."""
    try:
        relations.constraint(endpoint, endpoint.table, endpoint.registry.dialect, _with_user(constraints, uuid.uuid4()))
    except (ValueError, TypeError) as error:
        return str(error)
    return None


def _with_user(wanted: Any, user_id: Any) -> Any:
    if isinstance(wanted, dict):
        return {name: _with_user(value, user_id) for name, value in wanted.items()}
    if isinstance(wanted, list):
        return [_with_user(value, user_id) for value in wanted]
    return user_id if wanted == USER else wanted


def verify(uow: UnitOfWork, endpoint: Endpoint, action: str, ids: Sequence[Any]) -> None:
    """Refuses a write that left objects outside of what is permitted; one statement, none without constraints.

    :raises Denied: when one of them is
    """
    table = endpoint.table
    condition = scope(uow, endpoint, action, table)
    if condition is None or not ids:
        return
    clause = in_parameter(endpoint.registry.dialect, table.c.id)
    inside = uow.execute(sa.select(sa.func.count()).select_from(table).where(clause, condition), {"keys": list(ids)}).scalar()
    if inside != len(set(ids)):
        raise Denied()
