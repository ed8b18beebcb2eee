"""Number of lookups that the permissions of an account hold together, which a read compares one by one.

One permission holds at most ``netinv.max_compared_values``. A group, or a further permission, adds its own:
no membership may lead an account above that number.
"""

from __future__ import annotations

import collections
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.auth.models import ObjectPermission, permission_groups, permission_types, permission_users, user_groups
from netinv_core.db.expressions import in_parameter
from netinv_core.models.associations import EVERY_TYPE
from netinv_core.models.base import table_of
from netinv_core.sql.lookups import max_terms

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

TOO_MANY = (
    "With this, the permissions of an account to {action} objects of {label} hold {count} lookups together, "
    "those of the values of documents one by one. They may hold at most {most} (netinv.max_compared_values)."
)
_GRANTED = ("constraints", "actions", "enabled")
_LISTS = ("groups", "users", "object_types")
Grant = tuple[str, Sequence[str], Any]  # content type, actions, constraints


def check_permissions(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects saved permissions that lead one of their accounts above the limit. Constant number of statements."""
    fields = {draft.id: field for draft in drafts if draft["enabled"] and (field := _changed_field(draft)) is not None}
    if not fields:
        return
    accounts = _accounts_of(uow, list(fields))
    faults = _faults(uow, {account for ids in accounts.values() for account in ids})
    for draft in drafts:
        found = [faults[account] for account in accounts.get(draft.id, ()) if account in faults]
        if found:
            draft.reject(fields[draft.id], min(found))


def check_users(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects saved accounts whose groups lead them above the limit. Constant number of statements."""
    faults = _faults(uow, {draft.id for draft in drafts if draft.many.get("groups")})
    for draft in drafts:
        if draft.id in faults:
            draft.reject("groups", faults[draft.id])


def _changed_field(draft: Draft) -> str | None:
    """The first field of a permission that changed what it grants, where it has constraints."""
    if not draft["constraints"]:
        return None
    changed = [name for name in _GRANTED if draft.changed(name)]
    return next(iter([*changed, *(name for name in _LISTS if draft.many.get(name))]), None)


def _accounts_of(uow: UnitOfWork, keys: Sequence[int]) -> Mapping[int, set[uuid.UUID]]:
    """The accounts that have each permission, by its id: directly or by a group."""
    accounts = collections.defaultdict[int, set[uuid.UUID]](set)
    columns = permission_users.c.owner_id, permission_users.c.target_id
    direct = sa.select(*columns).where(in_parameter(permission_users.c.owner_id))
    by_group = (
        sa.select(permission_groups.c.owner_id, user_groups.c.owner_id)
        .join_from(permission_groups, user_groups, user_groups.c.target_id == permission_groups.c.target_id)
        .where(in_parameter(permission_groups.c.owner_id))
    )
    for permission, account in uow.execute(sa.union(direct, by_group), {"keys": list(keys)}):
        accounts[permission].add(account)
    return accounts


def _faults(uow: UnitOfWork, accounts: Collection[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Why the permissions of accounts hold too many lookups, by the account's id. Two statements."""
    if not accounts:
        return {}
    permitted = _permissions_of(uow, accounts)
    grants = _grants(uow, {key for keys in permitted.values() for key in keys})
    by_set = {keys: _fault(uow.registry, [one for key in keys for one in grants[key]]) for keys in permitted.values()}
    return {account: fault for account, keys in permitted.items() if (fault := by_set[keys]) is not None}


def _permissions_of(uow: UnitOfWork, accounts: Collection[uuid.UUID]) -> dict[uuid.UUID, frozenset[int]]:
    """The permissions of each account, by its id."""
    found = collections.defaultdict[uuid.UUID, set[int]](set)
    columns = permission_users.c.target_id, permission_users.c.owner_id
    direct = sa.select(*columns).where(in_parameter(permission_users.c.target_id))
    by_group = (
        sa.select(user_groups.c.owner_id, permission_groups.c.owner_id)
        .join_from(user_groups, permission_groups, permission_groups.c.target_id == user_groups.c.target_id)
        .where(in_parameter(user_groups.c.owner_id))
    )
    for account, permission in uow.execute(sa.union(direct, by_group), {"keys": list(accounts)}):
        found[account].add(permission)
    return {account: frozenset(keys) for account, keys in found.items()}


def _grants(uow: UnitOfWork, keys: Collection[int]) -> Mapping[int, list[Grant]]:
    """Grants of each enabled permission, by its id."""
    table, grants = table_of(ObjectPermission), collections.defaultdict[int, list[Grant]](list)
    statement = (
        sa.select(table.c.id, permission_types.c.label, table.c.actions, table.c.constraints)
        .join_from(table, permission_types, permission_types.c.owner_id == table.c.id)
        .where(table.c.enabled, in_parameter(table.c.id))
    )
    for key, label, actions, constraints in uow.execute(statement, {"keys": list(keys)}):
        grants[key].append((label, actions, constraints))
    return grants


def _fault(registry: Registry, grants: Sequence[Grant]) -> str | None:
    """Why permissions hold too many lookups: the first model and action, or ``None``.

    A permission without constraints frees its objects of those of the others.
    """
    terms, free = collections.Counter[tuple[str, str]](), set[tuple[str, str]]()
    for listed, actions, constraints in grants:
        for label in registry.endpoints if listed == EVERY_TYPE else (listed,):
            endpoint = registry.get(label)
            count = permissions.terms_of(endpoint, constraints) if endpoint is not None else 0
            for action in actions:
                terms[label, action] += count
                if not constraints:
                    free.add((label, action))
    most = max_terms(registry.settings)
    over = sorted(pair for pair, count in terms.items() if count > most and pair not in free)
    return TOO_MANY.format(label=over[0][0], action=over[0][1], count=terms[over[0]], most=most) if over else None
