"""The route ``history/`` below the objects of every recorded resource: their changes, field by field."""

from __future__ import annotations

import dataclasses
import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.changelog.differences import differences
from netinv_core.changelog.models import ACTIONS, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import NotFound
from netinv_core.http import pagination, query_parameters, views
from netinv_core.http.actions import documented
from netinv_core.models.base import table_of
from netinv_core.read import listing, pages
from netinv_core.read.past_states import has_history

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

_change = table_of(ObjectChange)
_COLUMNS = ("id", "time", "user_name", "request_id", "action", "object_repr", "bypassed")
_TEXT = {"type": "string"}
_UUID = {"type": "string", "format": "uuid"}
_ANY = {"nullable": True, "description": "The value as represented; null where there is none."}
_DIFFERENCE = {
    "type": "object",
    "properties": {
        "field": {"type": "string", "description": "`field`, or `field.member`, such as a custom field."},
        "label": _TEXT,
        "before": _ANY,
        "after": _ANY,
        "before_text": _TEXT,
        "after_text": {"type": "string", "description": "The value as people read it."},
    },
}
_SCHEMA = {
    "type": "object",
    "properties": {
        "id": _UUID,
        "time": {"type": "string", "format": "date-time"},
        "user_name": _TEXT,
        "request_id": _UUID,
        "action": {"type": "string", "enum": [value for value, _ in ACTIONS.items]},
        "object_repr": _TEXT,
        "bypassed": {"type": "string", "nullable": True, "description": "The review rules that were left out."},
        "changes": {"type": "array", "items": _DIFFERENCE},
    },
}


@documented(_SCHEMA, form="page", query=query_parameters.PAGING)
def list_history(request: Request) -> dict[str, Any]:
    """The changes of an object with the differences of its fields, newest first; those of a deleted object too."""
    uow, endpoint, key = request.uow, request.context.endpoint, views.key_of(request)
    if not has_history(endpoint):
        raise NotFound()
    part = pagination.page_window(uow.query, uow.registry.settings)
    records = uow.registry.of_model(ObjectChange)
    parameters = [("changed_object_type", [endpoint.label]), ("changed_object_id", [str(key)])]
    page = pages.page(uow, records, parameters, part, of=request.path)
    if not page.count and not page.keys:
        listing.detail(uow, endpoint, key, shape="nested")
    return pagination.body(request, page, _entries(uow, endpoint, page.keys))


def _entries(uow: UnitOfWork, endpoint: Endpoint, ids: list[uuid.UUID]) -> list[dict[str, Any]]:
    """The entries of these change records, in order; one statement."""
    statement = sa.select(*record_columns((*_COLUMNS, "before", "after"))).where(in_parameter(_change.c.id))
    rows = {row.id: row for row in uow.execute(statement, {"keys": ids})} if ids else {}
    return [_entry(uow, endpoint, rows[key]) for key in ids if key in rows]


def _entry(uow: UnitOfWork, endpoint: Endpoint, row: Any) -> dict[str, Any]:
    changes = differences(uow.registry, endpoint.label, row.before, row.after)
    return {
        **{name: getattr(row, name) for name in _COLUMNS},
        "changes": [dataclasses.asdict(item) for item in changes],
    }


def includeme(config: Any) -> None:
    """Adds ``history/`` below the objects of every application."""
    for app in config.registry.netinv.apps:
        config.add_netinv_action(f"{app}/[^/]+", "history", offered=has_history, get=list_history, permission="view")
