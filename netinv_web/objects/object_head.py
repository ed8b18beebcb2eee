"""The head of an object's pages: the line below its name, and its last change."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from markupsafe import Markup
from pyramid.request import Request

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.changelog.models import ObjectChange
from netinv_core.models.base import table_of
from netinv_web.lists.columns import presentation_of
from netinv_web.markup import member_markup, time_markup

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

MAX_REFERENCES = 3  # of a summary that no presentation states
_change = table_of(ObjectChange)


def summary_fields(endpoint: Endpoint) -> list[str]:
    """The fields of the line below an object's name: its status, then the stated ones or its required references."""
    statuses = [name for name, field in endpoint.fields.items() if isinstance(field, fields.Status)]
    stated = [name for name in presentation_of(endpoint).summary if name in endpoint.fields]
    references = [
        name for name, field in endpoint.fields.items() if isinstance(field, fields.Reference) and field.required
    ]
    return list(dict.fromkeys([*statuses, *(stated or references[:MAX_REFERENCES])]))


def summary_of(
    uow: UnitOfWork, endpoint: Endpoint, representation: Mapping[str, Any], cells: Mapping[str, Markup]
) -> list[Markup]:
    """The parts of the line below an object's name, from its cells as far as there are any; empty ones are left out."""
    names = [name for name in summary_fields(endpoint) if representation.get(name) not in (None, "", [], {})]
    shown = [name for name in names if name in cells or not isinstance(representation[name], uuid.UUID)]
    return [cells[name] if name in cells else member_markup(uow, representation[name]) for name in shown]


@dataclasses.dataclass(frozen=True)
class LastChange:
    """The last change of an object: its time, and the name of the user who may be unknown."""

    time: Markup
    user_name: str


def last_change(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> LastChange | None:
    """The last change of an object that the user may view; one statement. ``None`` for resources without times."""
    uow, registry = request.uow, request.registry.netinv
    if has_records(registry, endpoint):
        limits = permissions.visible(uow, registry.of_model(ObjectChange), _change)
        statement = (
            sa.select(_change.c.time, _change.c.user_name)
            .where(
                _change.c.changed_object_id == representation["id"],
                _change.c.changed_object_type == endpoint.label,
                *limits,
            )
            .order_by(_change.c.time.desc(), _change.c.position.desc())
            .limit(1)
        )
        row = uow.execute(statement).first()
        if row is not None:
            return LastChange(time_markup(row.time), row.user_name)
    updated = representation.get("last_updated")
    return None if updated is None else LastChange(time_markup(updated), "")


def has_records(registry: Registry, endpoint: Endpoint) -> bool:
    """True for resources whose changes are recorded, and can be read by the API."""
    return endpoint.resource.recorded and any(item.model is ObjectChange for item in registry.endpoints.values())
