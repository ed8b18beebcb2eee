"""Explanation of a user's access to one object: which permissions apply to it, with the actions that they grant."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.auth.models import (
    Group,
    ObjectPermission,
    permission_groups,
    permission_types,
    permission_users,
    user_groups,
)
from netinv_core.models.associations import EVERY_TYPE
from netinv_core.models.base import table_of
from netinv_core.sql import relations

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

_permission, _group = table_of(ObjectPermission), table_of(Group)


@dataclasses.dataclass
class Grant:
    """A permission of a user for a resource.

    * ``via``: names of the groups by which the user has it; blank for a direct assignment, ``None`` for a group that
      the reader may not view;
    * ``applies``: False when its constraints exclude the object;
    * ``error``: the reason why its constraints are invalid, so that it grants nothing.
    """

    id: uuid.UUID
    name: str
    actions: Sequence[str]
    constraints: Any
    via: list[str | None]
    applies: bool = True
    error: str = ""


def grants_of(uow: UnitOfWork, user_id: uuid.UUID, endpoint: Endpoint, key: Any) -> list[Grant]:
    """Returns the enabled permissions of a user for a resource that the reader may view, and whether each applies to an
    object: two statements.
    """
    grants: dict[uuid.UUID, Grant] = {}
    for row in uow.execute(_select_permissions(uow, user_id, endpoint.label)):
        grant = grants.setdefault(row.id, Grant(row.id, row.name, row.actions, row.constraints, []))
        grant.via.append(row.via)
    _evaluate(uow, user_id, endpoint, key, grants.values())
    return list(grants.values())


def _select_permissions(uow: UnitOfWork, user_id: uuid.UUID, label: str) -> Any:
    """SELECT of the permissions of a user for a label that the reader may view, one row for each way of assignment."""
    hidden = sa.not_(sa.and_(sa.true(), *permissions.visible(uow, uow.registry["auth.group"], _group)))
    direct = sa.select(permission_users.c.owner_id.label("id"), sa.literal("").label("via")).where(
        permission_users.c.target_id == user_id
    )
    by_group = (
        sa.select(permission_groups.c.owner_id, sa.case((hidden, None), else_=_group.c.name))
        .join_from(permission_groups, _group, _group.c.id == permission_groups.c.target_id)
        .join(user_groups, user_groups.c.target_id == _group.c.id)
        .where(user_groups.c.owner_id == user_id)
    )
    ways = sa.union_all(direct, by_group).subquery()
    columns = (_permission.c[name] for name in ("id", "name", "actions", "constraints"))
    return (
        sa.select(*columns, ways.c.via)
        .join_from(_permission, ways, ways.c.id == _permission.c.id)
        .join(permission_types, permission_types.c.owner_id == _permission.c.id)
        .where(_permission.c.enabled, permission_types.c.label.in_([label, EVERY_TYPE]))
        .where(*permissions.visible(uow, uow.registry["users.objectpermission"], _permission))
        .order_by(_permission.c.name, _permission.c.id, ways.c.via)
    )


def _evaluate(uow: UnitOfWork, user_id: uuid.UUID, endpoint: Endpoint, key: Any, grants: Iterable[Grant]) -> None:
    """Sets ``applies`` and ``error`` of grants with constraints: one statement for all."""
    limited: list[Grant] = []
    counts: list[Any] = []
    for grant in grants:
        if not grant.constraints:
            continue
        table = endpoint.table.alias()
        try:
            keywords = permissions.with_user(grant.constraints, user_id)
            condition = relations.constraint_condition(endpoint, table, keywords)
        except (ValueError, TypeError) as error:
            grant.applies, grant.error = False, str(error)
            continue
        count = sa.select(sa.func.count()).select_from(table).where(table.c.id == key, condition)
        counts.append(count.scalar_subquery().label(f"grant_{len(limited)}"))
        limited.append(grant)
    if limited:
        row = uow.execute(sa.select(*counts)).one()
        for grant, count in zip(limited, row, strict=True):
            grant.applies = bool(count)
