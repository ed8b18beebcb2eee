"""``request.uow``: the unit of work of a request, on a session that follows the request's transaction."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.auth.account import ANONYMOUS
from netinv_core.db.replicas import ReadRoute, Replicas
from netinv_core.driver.data_manager import joined_session
from netinv_core.http import versions
from netinv_core.http.methods import UNSAFE_METHODS
from netinv_core.http.mount import KEY as MOUNT
from netinv_core.http.mount import base_of
from netinv_core.http.serialization import Query, query_of
from netinv_core.stored_answers import KeyedRequest, digest_of_key
from netinv_core.telemetry.log_context import id_of
from netinv_core.uow import UnitOfWork

if TYPE_CHECKING:
    from netinv_core.registry import Registry

IDEMPOTENCY_KEY = "Idempotency-Key"


@dataclasses.dataclass(frozen=True)
class Negotiation:
    """The result of content negotiation: media type and API version of the answer, and the value of the Allow header.

    ``read_only`` is true for a view that writes nothing, whatever its method.
    """

    media_type: str = versions.JSON
    api_version: str = versions.NEWEST
    allow: str = ""
    read_only: bool = False


class RequestUnitOfWork(UnitOfWork):
    """A unit of work with the query of its request."""

    query: Query


def negotiation_of(request: Request) -> Negotiation:
    """The negotiation of a request (:mod:`netinv_core.http.negotiation`); the default for views without one."""
    negotiation: Negotiation = getattr(request, "netinv_negotiation", None) or Negotiation()
    return negotiation


def unit_of_work(request: Request) -> RequestUnitOfWork:
    """The unit of work of a request; reified as ``request.uow``.

    Its identity is anonymous until the security policy authenticates the request, which it does before any view with a
    permission runs. Where the request may write, the session joins the request's transaction. It is closed when the
    request is finished.
    """
    registry: Registry = request.registry.netinv
    negotiation = negotiation_of(request)
    writing = request.method in UNSAFE_METHODS and not negotiation.read_only
    factory = request.registry.netinv_sessions
    session: Any = joined_session(factory, request.tm) if writing else factory()
    uow = RequestUnitOfWork(
        registry,
        session,
        ANONYMOUS,
        base_of(request) if MOUNT in request.environ else registry.settings["base_url"] or request.host_url,
        negotiation.api_version,
        id_of(request.environ),
        writing,
        managed=writing,
    )
    request.add_finished_callback(lambda _: uow.close())
    uow.query = query_of(request)
    if not writing:
        if request.registry.netinv_replicas is not None:
            uow.read_route = _read_route(request, request.registry.netinv_replicas)
        if uow.read_route is None:
            uow.read_connection = registry.driver.read_connection(session.bind)
    elif IDEMPOTENCY_KEY in request.headers:
        digest = digest_of_key(request.headers[IDEMPOTENCY_KEY].strip())
        uow.keyed_request = None if digest is None else KeyedRequest(digest)
    return uow


def _read_route(request: Request, replicas: Replicas) -> ReadRoute | None:
    """The way to a replica, at the first of several attempts: the last one reads the primary."""
    attempt, attempts = request.environ.get("retry.attempt", 0), request.environ.get("retry.attempts", 1)
    return ReadRoute(replicas) if attempt == 0 and attempts > 1 else None
