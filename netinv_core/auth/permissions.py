"""Object permissions: checks of actions on a resource, and SQL conditions for the objects that a user may access."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import named_objects
from netinv_core.auth.account import NOT_GIVEN
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied
from netinv_core.sql import documents, lookups, relations
from netinv_core.sql.lookups import max_terms

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

USER = "$user"  # stands for the user's id in constraints


def exempt(endpoint: Endpoint) -> bool:
    """True when anyone may read this resource (the setting ``netinv.exempt_view_permissions``).

    ``*`` stands for every resource that is not exempt by name only.
    """
    names = endpoint.registry.settings["exempt_view_permissions"]
    return endpoint.label in names or ("*" in names and not endpoint.exempt_by_name_only)


def check(uow: UnitOfWork, endpoint: Endpoint, action: str) -> None:
    """Rejects an action that is not permitted on any object of the resource.

    :raises Denied: for an anonymous request, a write with a read-only token, a missing permission, or a restriction of
        the resource itself
    """
    identity = uow.identity
    if action == "view" and exempt(endpoint):
        return
    if identity.anonymous:
        raise Denied(NOT_GIVEN)
    if action != "view" and not identity.can_write:
        raise Denied()
    if not identity.superuser and (endpoint.label, action) not in identity.permissions:
        raise Denied(missing=(endpoint.label, action))
    if endpoint.resource.restriction is not None and not endpoint.resource.restriction(uow, action):
        raise Denied()


def limits(uow: UnitOfWork, endpoint: Endpoint, action: str, table: Any) -> list[Any]:
    """Returns the conditions on ``table`` that an action is permitted on a row; empty when it is on every row.

    Objects about other objects (``about`` of :class:`netinv_core.resource.Resource`), such as notes, are accessible
    only where these may be viewed.

    :raises Denied: as :func:`check`
    """
    check(uow, endpoint, action)
    conditions = _own_limits(uow, endpoint, action, table)
    if endpoint.resource.about and not uow.identity.superuser:
        pairs = [(table.c[label], table.c[key]) for label, key in endpoint.resource.about]
        conditions.append(named_objects.visible(uow, pairs, _view_limits))
    return conditions


def visible(uow: UnitOfWork, endpoint: Endpoint, table: Any) -> list[Any]:
    """Returns the conditions on ``table`` that the user may view a row; empty when the user may view every row.

    They limit whatever a client names or compares: an object that it may not view behaves like one that does not exist.
    """
    try:
        return limits(uow, endpoint, "view", table)
    except Denied:
        return [sa.false()]


def visible_ids(uow: UnitOfWork, endpoint: Endpoint, ids: Sequence[Any]) -> set[Any]:
    """Returns those of the ids whose objects the user may view; one statement, none without constraints."""
    return permitted_ids(uow, endpoint, "view", ids)


def permitted_ids(uow: UnitOfWork, endpoint: Endpoint, action: str, ids: Sequence[Any]) -> set[Any]:
    """Returns those of the ids on whose objects an action is permitted; one statement, none without constraints."""
    try:
        conditions = limits(uow, endpoint, action, endpoint.table)
    except Denied:
        return set()
    if not conditions or not ids:
        return set(ids)
    clause = in_parameter(endpoint.table.c.id)
    return set(uow.execute(sa.select(endpoint.table.c.id).where(clause, *conditions), {"keys": list(ids)}).scalars())


def all_granted(uow: UnitOfWork, endpoint: Endpoint) -> bool:
    """True when the user's permissions have every object of a resource. Its base filter may still hide some."""
    try:
        check(uow, endpoint, "view")
    except Denied:
        return False
    if uow.identity.superuser or exempt(endpoint):
        return True
    return not endpoint.resource.about and _constraints_granting(uow, endpoint, "view", endpoint.table) is None


def visible_for(uow: UnitOfWork) -> relations.Visible:
    """Returns :func:`visible` bound to a unit of work, to limit the paths of :mod:`netinv_core.sql.relations`."""
    return functools.partial(visible, uow)


def _view_limits(uow: UnitOfWork, endpoint: Endpoint, table: Any) -> list[Any] | None:
    """Returns the limits to a model but for those by what its objects are about; ``None`` for no access."""
    try:
        check(uow, endpoint, "view")
    except Denied:
        return None
    return _own_limits(uow, endpoint, "view", table)


def _own_limits(uow: UnitOfWork, endpoint: Endpoint, action: str, table: Any) -> list[Any]:
    """Returns the conditions of the permissions and of the resource's base filter."""
    is_free = uow.identity.superuser or (action == "view" and exempt(endpoint))
    granted = None if is_free else _constraints_granting(uow, endpoint, action, table)
    limits = [] if granted is None else [granted]
    if endpoint.resource.narrowing is not None:
        limits.append(endpoint.resource.narrowing(uow, table))
    return limits


def _constraints_granting(uow: UnitOfWork, endpoint: Endpoint, action: str, table: Any) -> Any:
    """Returns the OR of the constraints of the user's permissions; ``None`` when one of them has no constraints."""
    identity = uow.identity
    granted = identity.permissions[endpoint.label, action]
    if any(not constraints for constraints in granted):
        return None
    conditions = []
    for constraints in granted:
        try:
            keywords = with_user(constraints, identity.user_id)
            conditions.append(relations.constraint_condition(endpoint, table, keywords))
        except (ValueError, TypeError):
            continue  # an invalid constraint grants nothing
    return sa.or_(sa.false(), *conditions)


def constraint_error(uow: UnitOfWork, endpoint: Endpoint, constraints: Any) -> str | None:
    """Returns why constraints are invalid (an unknown or hidden member, a bad value), with the member, or ``None``."""
    keywords = with_user(constraints, uuid.uuid4())
    options = keywords if isinstance(keywords, list) else [keywords]
    if terms_of(endpoint, options) > (most := max_terms(uow.settings)):
        return f"Constraints may hold at most {most} lookups, those of the values of documents one by one."
    for option in options:
        for name, value in option.items():
            try:
                relations.keyword_condition(endpoint, endpoint.table, name, value)
                _check_member(uow, endpoint, name, value)
            except relations.UnknownPath as error:
                return str(error)
            except (ValueError, TypeError) as error:
                return f"{name}: {error}"
    return None


def terms_of(endpoint: Endpoint, constraints: Any) -> int:
    """Returns the number of lookups that constraints hold, those of the values of documents one by one."""
    options = constraints if isinstance(constraints, list) else [constraints or {}]
    return sum(_terms(endpoint, option) for option in options)


def _terms(endpoint: Endpoint, option: Mapping[str, Any]) -> int:
    """The conditions of which the one of a mapping of keywords is made: one for each value of a document's member."""
    lists = [value for name, value in option.items() if isinstance(value, list) and _is_of_document(endpoint, name)]
    single = sum(lookups.terms(name.rpartition("__")[2], [value]) for name, value in option.items())
    return single + sum(map(len, lists))


def _is_of_document(endpoint: Endpoint, name: str) -> bool:
    try:
        return documents.parse(endpoint, name) is not None
    except ValueError:
        return False


def _check_member(uow: UnitOfWork, endpoint: Endpoint, name: str, value: Any) -> None:
    """Checks a keyword that leads to a member of a document: the member must be defined, and may have the value.

    :raises ValueError: when it is not, or may not
    """
    path = documents.parse(endpoint, name)
    if path is None:
        return
    members: dict[str, Any] = {}
    for found in uow.registry.results("netinv_document_members", dict, uow=uow, endpoint=path.owner):
        members |= found
    check = members.get(path.names[0])
    if check is None:
        choices = ", ".join(sorted(members)) or "none"
        raise ValueError(f"{path.owner.label} has no custom field '{path.names[0]}'. Choices are: {choices}")
    check(path.names[1:], path.lookup, value)


def with_user(constraints: Any, user_id: Any) -> Any:
    """Replaces :data:`USER` by the user's id in constraints."""
    if isinstance(constraints, dict):
        return {name: with_user(value, user_id) for name, value in constraints.items()}
    if isinstance(constraints, list):
        return [with_user(value, user_id) for value in constraints]
    return user_id if constraints == USER else constraints


def verify(uow: UnitOfWork, endpoint: Endpoint, action: str, ids: Sequence[Any], reported: Sequence[Any] = ()) -> None:
    """Rejects a write after which an object is outside of the constraints; one statement, none without constraints.

    :param reported: the ids of the list that the error is about, where ``ids`` are a part of it
    :raises Denied: for such an object
    """
    table = endpoint.table
    conditions = limits(uow, endpoint, action, table)
    if not conditions or not ids:
        return
    clause = in_parameter(table.c.id)
    inside = set(uow.execute(sa.select(table.c.id).where(clause, *conditions), {"keys": list(ids)}).scalars())
    if inside.issuperset(ids):
        return
    error, outside = Denied(), set(ids) - inside
    if len(reported or ids) > 1:
        error.object_errors = [error.body if key in outside else {} for key in reported or ids]
    raise error
