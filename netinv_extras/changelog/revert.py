"""The route ``revert/`` below a change record: undo of the change, or of all changes of its request."""

from __future__ import annotations

from typing import Any

from pyramid.request import Request

from netinv_core.changelog.models import ACTIONS
from netinv_core.errors import Invalid
from netinv_core.http import query_parameters, views
from netinv_core.http.actions import documented
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_undo.refusals import RevertRefused
from netinv_undo.reverting import RevertedObject, revert

FLAGS = {"true": True, "1": True, "false": False, "0": False, "": False}
_OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "changes": {
            "type": "array",
            "items": {"type": "string", "format": "uuid"},
            "description": "The changes undone.",
        },
        "changed_object_type": {"type": "string"},
        "changed_object_id": {"type": "string", "format": "uuid"},
        "object_repr": {"type": "string"},
        "action": {"type": "string", "enum": [value for value, _ in ACTIONS.items], "description": "What was done."},
        "object": {"type": "object", "nullable": True, "description": "The object now; null for a deleted one."},
        "not_restored": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Fields that could not be restored, with the reason: secrets and files.",
        },
    },
}
_SCHEMA = {
    "type": "object",
    "properties": {
        "request_id": {"type": "string", "format": "uuid", "description": "The request id of the new changes."},
        "objects": {"type": "array", "items": _OBJECT},
    },
    "required": ["request_id", "objects"],
}
_QUERY = (
    query_parameters.query(
        "request", {"type": "boolean"}, "Undo every change with the same request id, in one transaction."
    ),
)


@documented(_SCHEMA, status=200, query=_QUERY, errors=(RevertRefused,))
def revert_change(request: Request) -> dict[str, Any]:
    """Undoes a change; 409 with the reasons by object and field where later changes or rules stand against it."""
    uow: RequestUnitOfWork = request.uow
    reverted = revert(uow, views.key_of(request), whole_request=_whole_request(uow))
    return {"request_id": uow.request_id, "objects": [_entry(uow, item) for item in reverted]}


def _whole_request(uow: RequestUnitOfWork) -> bool:
    value = uow.query.get("request", [""])[-1].lower()
    if value not in FLAGS:
        raise Invalid.field("request", "Must be a valid boolean.")
    return FLAGS[value]


def _entry(uow: RequestUnitOfWork, item: RevertedObject) -> dict[str, Any]:
    shown = None
    if item.representation is not None:
        (shown,) = views.downgrade_representation(uow, item.endpoint, [item.representation])
    return {
        "changes": item.changes,
        "changed_object_type": item.endpoint.label,
        "changed_object_id": item.key,
        "object_repr": item.name,
        "action": item.action,
        "object": shown,
        "not_restored": dict(item.not_restored),
    }


def includeme(config: Any) -> None:
    """Adds the route."""
    config.add_netinv_action("extras/object-changes", "revert", post=revert_change, permission="view")
