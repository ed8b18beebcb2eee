"""The route ``propose/`` of change requests: carries out a document of several models, as plans have it, in a new one
or one that is open. A document that is refused leaves nothing behind, not even the new change request.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid, not_an_object
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of, json_response
from netinv_core.http.traversal import Collection
from netinv_core.sql.plans import plan_of
from netinv_core.write import save
from netinv_extras.change_requests import entering
from netinv_extras.change_requests.models import LABEL
from netinv_extras.plans import document
from netinv_extras.plans.execution import execute

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

OWN = ("title", "description", "due")  # of a new change request
EMPTY = "The document has no objects."
EITHER = "Leave it out: the change request has its own."
_BODY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "objects": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "object", "additionalProperties": True}},
            "description": "Lists of bodies by content type, as in plans.",
        },
        "match": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
            "nullable": True,
            "description": "Fields that identify the objects of a content type.",
        },
        "change_request": {
            "type": "string",
            "format": "uuid",
            "nullable": True,
            "description": "An open change request; without it, a new one is made.",
        },
        "title": {"type": "string", "maxLength": 200},
        "description": {"type": "string"},
        "due": {"type": "string", "format": "date-time", "nullable": True},
    },
    "required": ["objects"],
}


@documented(LABEL, status=200, request_body=_BODY)
def propose(request: Request) -> dict[str, Any]:
    """Carries a document out in a change request; answers with the change request."""
    uow, endpoint, body = request.uow, request.context.endpoint, body_of(request)
    if not isinstance(body, Mapping):
        raise Invalid(not_an_object(body))
    planned = document.parse(uow.registry, body.get("objects"), body.get("match"))
    if not planned:
        raise Invalid.field(document.OBJECTS, EMPTY)
    key = _change_request(uow, endpoint, body)

    def carried_out(context: Any, request: Request) -> Response:
        execute(request.uow, planned, {})
        return json_response({})

    entering.run(carried_out, Collection(planned[0].endpoint), request, key)
    (shown,) = plan_of(endpoint).represent(uow, [key])
    return shown


def _change_request(uow: UnitOfWork, endpoint: Endpoint, body: Mapping[str, Any]) -> uuid.UUID:
    """The id of the change request that a body names, or of a new one.

    :raises Invalid: for anything but an id, and for a new change request that is not valid
    """
    named = body.get(entering.PARAMETER)
    if named is None:
        own = {name: body[name] for name in OWN if name in body}
        (made,) = save.create(uow, endpoint, [own], single=True)
        key: uuid.UUID = made["id"]
        return key
    if given := [name for name in OWN if name in body]:
        raise Invalid({name: [EITHER] for name in given})
    try:
        return uuid.UUID(named)
    except (ValueError, TypeError, AttributeError):
        raise Invalid.field(entering.PARAMETER, entering.MALFORMED) from None


def includeme(config: Any) -> None:
    """Adds the route. Whoever adds change requests makes new ones; writing in one takes the permission to change it."""
    config.add_netinv_action("extras/change-requests", "propose", on_list=True, post=propose, permission="view")
