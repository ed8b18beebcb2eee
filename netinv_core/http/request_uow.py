"""The start of every API request: media type and version, transaction, identity."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from pyramid.request import Request

from netinv_core.auth import identity
from netinv_core.db.engine import join_transaction
from netinv_core.errors import Denied
from netinv_core.http import versions
from netinv_core.http.serialization import Query, query_of
from netinv_core.registry import Registry
from netinv_core.uow import UnitOfWork

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class RequestUnitOfWork(UnitOfWork):
    """The context of a request, with its query and the media type it asked for."""

    query: Query
    media: str


def begin_request(
    request: Request, allow: str, *, basic: bool = False, anonymous: bool = False, offers: Sequence[str] = (), reads: bool = False
) -> RequestUnitOfWork:
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
    uow = new_unit_of_work(request, version, reads=reads)
    uow.query, uow.media = query, media
    _authenticate(uow, request, basic=basic, anonymous=anonymous)
    if uow.writing and not (uow.identity.can_write or uow.identity.anonymous):
        raise Denied()
    return uow


def open_file(request: Request, allow: str) -> RequestUnitOfWork:
    """The context of a request for a file, which has no versions and whose media type is its own.

    :raises Denied: as :func:`begin_request`
    """
    request.add_response_callback(lambda _, response: response.headers.update({"Allow": allow}))
    uow = new_unit_of_work(request, versions.NEWEST)
    _authenticate(uow, request)
    return uow


def new_unit_of_work(request: Request, version: str, *, reads: bool = False) -> RequestUnitOfWork:
    """A context on a session of the request's transaction, not yet authenticated; of none, when it only ``reads``."""
    registry: Registry = request.registry.netinv
    session = request.registry.netinv_sessions()
    writing = request.method in WRITES and not reads
    if writing:
        join_transaction(session, request.tm)
    base = registry.settings.get("base_url") or request.host_url
    made = RequestUnitOfWork(registry, session, identity.ANONYMOUS, base, version, uuid.uuid4(), writing, managed=writing)
    request.add_finished_callback(lambda _: session.close())
    return made


def _authenticate(uow: RequestUnitOfWork, request: Request, *, basic: bool = False, anonymous: bool = False) -> None:
    uow.identity = _identify(uow, request, basic=basic)
    exempted = request.method in ("GET", "HEAD") and uow.registry.settings.get("exempt_view_permissions")
    if uow.identity.anonymous and not (anonymous or exempted):
        raise Denied(identity.NOT_GIVEN)


def _identify(uow: UnitOfWork, request: Request, *, basic: bool) -> identity.Identity:
    header = request.headers.get("Authorization", "")
    if not header:
        return identity.ANONYMOUS
    if basic:
        found = identity.by_password(uow, header, request.remote_addr or "")  # client_addr would believe any X-Forwarded-For
        if not found.anonymous:
            return found
    return identity.by_token(uow, header)
