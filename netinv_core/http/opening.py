"""The start of every API request: media type and version, transaction, identity."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from pyramid.request import Request

from netinv_core.auth import identity
from netinv_core.context import Context
from netinv_core.database import join_transaction
from netinv_core.errors import Denied
from netinv_core.http import versions
from netinv_core.http.answers import Query, query_of
from netinv_core.registry import Registry

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Opened(Context):
    """The context of a request, with its query and the media type it asked for."""

    query: Query
    media: str


def open_request(request: Request, allow: str, *, basic: bool = False, anonymous: bool = False, offers: Sequence[str] = (), reads: bool = False) -> Opened:
    """The context of a request; ``allow`` is the value of the Allow header, ``basic`` also takes a password.

    ``offers`` names media types that are answered with beside those that every path has; what only ``reads`` writes nothing,
    whatever its method.

    :raises Denied: without credentials, unless ``anonymous`` or some model is exempt from permissions; for a read-only token where something
        may be written, whatever the path
    """
    headers = {"Vary": "Accept", "Allow": allow}
    request.add_response_callback(lambda _, response: response.headers.update(headers))
    query = query_of(request)
    media, version = versions.negotiate(request.headers.get("Accept"), query, offers)
    headers["API-Version"] = version
    context = context_of(request, version, reads=reads)
    context.query, context.media = query, media
    _authenticate(context, request, basic=basic, anonymous=anonymous)
    if context.writing and not (context.identity.writes or context.identity.anonymous):
        raise Denied()
    return context


def open_file(request: Request, allow: str) -> Opened:
    """The context of a request for a file, which has no versions and whose media type is its own.

    :raises Denied: as :func:`open_request`
    """
    request.add_response_callback(lambda _, response: response.headers.update({"Allow": allow}))
    context = context_of(request, versions.NEWEST)
    _authenticate(context, request)
    return context


def context_of(request: Request, version: str, *, reads: bool = False) -> Opened:
    """A context on a session of the request's transaction, not yet authenticated; of none, when it only ``reads``."""
    registry: Registry = request.registry.netinv
    session = request.registry.netinv_sessions()
    writing = request.method in WRITES and not reads
    if writing:
        join_transaction(session, request.tm)
    base = registry.settings.get("base_url") or request.host_url
    made = Opened(registry, session, identity.ANONYMOUS, base, version, uuid.uuid4(), writing, managed=writing)
    request.add_finished_callback(lambda _: session.close())
    return made


def _authenticate(context: Opened, request: Request, *, basic: bool = False, anonymous: bool = False) -> None:
    context.identity = _identify(context, request, basic=basic)
    exempted = request.method in ("GET", "HEAD") and context.registry.settings.get("exempt_view_permissions")
    if context.identity.anonymous and not (anonymous or exempted):
        raise Denied(identity.NOT_GIVEN)


def _identify(context: Context, request: Request, *, basic: bool) -> identity.Identity:
    header = request.headers.get("Authorization", "")
    if not header:
        return identity.ANONYMOUS
    if basic:
        found = identity.by_password(context, header, request.remote_addr or "")  # client_addr would believe any X-Forwarded-For
        if not found.anonymous:
            return found
    return identity.by_token(context, header)
