"""Explanations on pages of errors: the permission that is missing, and who deleted the object that a path names."""

from __future__ import annotations

import dataclasses
import uuid
from typing import TYPE_CHECKING

import sqlalchemy as sa
from markupsafe import Markup
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.changelog.models import DELETE, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.errors import Denied
from netinv_core.http.traversal import Item
from netinv_core.labels import label_of_name, title_of
from netinv_core.models.base import table_of
from netinv_core.read.names import recorded_name
from netinv_web.markup import time_markup
from netinv_web.objects.object_head import has_records
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.registry import Registry

_change = table_of(ObjectChange)


@dataclasses.dataclass(frozen=True)
class Explanation:
    """The title and the sentence of an error's page. ``record`` is the path of the change record that it is about."""

    title: str
    detail: Markup | str
    record: str = ""


def of_permission(registry: Registry, error: Denied) -> Explanation | None:
    """The explanation that names the permission that the user lacks; ``None`` for another reason."""
    if error.missing is None:
        return None
    label, action = error.missing
    plural, verb = registry[label].plural, label_of_name(action).lower()
    return Explanation(
        f"You may not {verb} {plural}",
        f"That needs a permission to {verb} {plural}, which your account does not have. "
        "An administrator of this service can grant it.",
    )


def of_deletion(request: Request) -> Explanation | None:
    """The explanation that names the user and the time of the deletion of the object that the path names; one
    statement. ``None`` for what else is missing, and for users who may not view the record, or not every object of the
    model.
    """
    place, uow = getattr(request, "context", None), request.uow
    if not isinstance(place, Item) or not isinstance(place.key, uuid.UUID):
        return None
    endpoint = place.endpoint
    if not has_records(uow.registry, endpoint) or permissions.visible(uow, endpoint, endpoint.table):
        return None
    changes = uow.registry.of_model(ObjectChange)
    of_object = (_change.c.changed_object_type == endpoint.label, _change.c.changed_object_id == place.key)
    statement = (
        sa.select(*record_columns(("id", "time", "user_name", "action", "object_repr", "before")))
        .where(*of_object, *permissions.visible(uow, changes, _change))
        .where(~sa.exists().where(endpoint.table.c.id == place.key))
        .order_by(_change.c.time.desc(), _change.c.position.desc())
    )
    row = uow.execute(statement.limit(1)).first()
    if row is None or row.action != DELETE:
        return None
    name = recorded_name(endpoint, row.before, None, row.object_repr)
    return Explanation(
        f"{title_of(endpoint)} {name} was deleted",
        Markup("{} deleted it {}.").format(row.user_name or "Somebody", time_markup(row.time)),
        object_path(changes, row.id),
    )
