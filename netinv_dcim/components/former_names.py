"""Former names of component templates, by the change log: a component of such a name is the one to be renamed."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.changelog.models import UPDATE, ObjectChange
from netinv_core.changelog.states import before_and_after, stored_states
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied
from netinv_core.models.base import table_of

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAX_READ = 1000  # changes, the latest ones


def former_names(uow: UnitOfWork, templates: Collection[Any]) -> dict[Any, list[str]]:
    """The names that templates had before, the latest first, by id; one statement.

    Nothing is told of changes that the user may not view.
    """
    change = table_of(ObjectChange)
    if not templates:
        return {}
    try:
        limits = permissions.limits(uow, uow.registry.of_model(ObjectChange), "view", change)
    except Denied:
        return {}
    conditions = [in_parameter(change.c.changed_object_id), change.c.action == UPDATE]
    conditions += limits
    statement = sa.select(change.c.changed_object_id, *stored_states()).where(*conditions)
    rows = uow.execute(statement.order_by(change.c.time.desc()).limit(MAX_READ), {"keys": list(templates)}).tuples()
    names: dict[Any, list[str]] = {}
    for key, *stored in rows:
        before, after = before_and_after(*stored)
        if before and after and before.get("name") != after.get("name"):
            names.setdefault(key, []).append(before["name"])
    return names
