"""``Idempotency-Key``: a write that is sent again with the same key is answered as the first time, and not repeated.

A view deriver around the rendering of every view that writes. The scope of a key is the user. Answers of requests that
were rolled back, errors among them, are not stored: such a request is carried out anew. Dry runs ignore the key.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core import stored_answers
from netinv_core.errors import Conflict, Invalid, KeyReused, RequestError
from netinv_core.http import bodies, dry_run
from netinv_core.http.request_uow import IDEMPOTENCY_KEY, negotiation_of
from netinv_core.stored_answers import KeptAnswer

if TYPE_CHECKING:
    from netinv_core.stored_answers import KeyedRequest

REPLAYED = "Idempotency-Replayed"
MALFORMED = "Must be 1 to 255 visible ASCII characters, such as a UUID."
NOT_KEPT = "The request with this key was carried out, but its answer is not kept, as it is too large or unreadable."
_RECALCULATED = frozenset({"content-length", "set-cookie"})
View = Callable[[Any, Request], Response]


def idempotent_view(view: View, info: Any) -> View:
    """Deriver that replays the stored answer to a request with a key, or stores its answer in its transaction."""
    if info.exception_only or info.options.get("read_only", False):
        return view

    def wrapper(context: Any, request: Request) -> Response:
        keyed, user_id = request.uow.keyed_request, request.uow.identity.user_id
        if keyed is None:
            raise Invalid.field(IDEMPOTENCY_KEY, MALFORMED)
        if user_id is None or dry_run.is_requested(request):
            return view(context, request)
        if not keyed.looked_up:
            stored_answers.look_up(request.uow, keyed)
        digest = _digest(request)
        return _replay(request, keyed, digest) if keyed.row is not None else _carried_out(view, request, keyed, digest)

    return wrapper


def _carried_out(view: View, request: Request, keyed: KeyedRequest, digest: str) -> Response:
    """The answer of the view, stored if its transaction will be committed."""
    try:
        response = view(request.context, request)
    except RequestError:
        if not _was_stored_meanwhile(request, keyed):
            raise
        request.tm.doom()
        return _replay(request, keyed, digest)
    if response.status_int < 400:
        headers = [(name, value) for name, value in response.headerlist if name.lower() not in _RECALCULATED]
        stored_answers.store(request.uow, keyed, digest, KeptAnswer(response.status_int, headers, response.body))
    return response


def _was_stored_meanwhile(request: Request, keyed: KeyedRequest) -> bool:
    """True if another request with the key was committed since this one began, which may be why this one failed.

    It is unknown in a transaction that the database has aborted; such a request is run again.
    """
    with contextlib.suppress(sa.exc.SQLAlchemyError):
        stored_answers.look_up(request.uow, keyed)
    return keyed.row is not None


def _replay(request: Request, keyed: KeyedRequest, digest: str) -> Response:
    """The stored answer.

    :raises KeyReused: if the key is that of another request
    :raises Conflict: if the answer was not kept
    """
    if keyed.row.request_digest != digest:
        raise KeyReused()
    answer = stored_answers.read(request.uow.registry.settings["secret"], keyed.row.content)
    if answer is None:
        raise Conflict(NOT_KEPT)
    headers = [*answer.headers, (REPLAYED, "true")]
    return Response(body=answer.body, status=answer.status, headerlist=headers)


def _digest(request: Request) -> str:
    """The digest of what makes a request another one: method, path, query, form of the answer, and body."""
    settings, negotiation = request.registry.netinv.settings, negotiation_of(request)
    content = bodies.read_content(request, settings["max_request_size"], "netinv.max_request_size")
    request.body = content  # to be read again by the view
    parts = (
        *(request.method, request.path, request.query_string, request.headers.get("Content-Type", "")),
        *(negotiation.media_type, negotiation.api_version),
    )
    return hashlib.sha256("\0".join(parts).encode() + b"\0" + content).hexdigest()


def describe(operation: dict[str, Any]) -> None:
    """Adds the header, and what it may lead to, to the OpenAPI operation of a write."""
    operation.setdefault("parameters", []).append(
        {
            "name": IDEMPOTENCY_KEY,
            "in": "header",
            "description": f"A key of the request: sent again with it, it is answered as before (`{REPLAYED}: true`).",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        }
    )
