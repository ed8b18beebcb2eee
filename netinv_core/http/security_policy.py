"""Pyramid's security policy: the identity of a request, and its permissions.

A view names one of these as its ``permission`` (:mod:`netinv_core.http.pipeline`):

* a permission on the resource of ``request.context``: ``view``, ``add``, ``change``, ``delete``, or another that
  permissions may name;
* :data:`API_ACCESS`: any active account; for GET also an anonymous request, where some resource may be read by anyone;
* :data:`AUTHENTICATED`: any active account;
* :data:`OF_METHOD`: the permission on the resource that the method of the request needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyramid import security
from pyramid.request import Request, RequestLocalCache

from netinv_core.auth import permissions
from netinv_core.auth.account import NOT_GIVEN, Identity
from netinv_core.auth.identity import by_token
from netinv_core.auth.token_use import INTERVAL, TokenUse
from netinv_core.errors import Denied
from netinv_core.http import rate_limits
from netinv_core.http.methods import PERMISSIONS
from netinv_core.telemetry import log_context

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

#: The permission of a view for every active account; GET also for anyone, by ``netinv.exempt_view_permissions``.
API_ACCESS = "api-access"
#: The permission of a view for every active account.
AUTHENTICATED = "authenticated"
OF_METHOD = "of-method"
# A way to authenticate: the identity of a request, or None where the request has no credentials of this kind.
IdentitySource = Callable[[Request], Identity | None]


def from_authorization_header(request: Request) -> Identity | None:
    """The identity of a header ``Authorization: Token …``.

    :raises Denied: for wrong credentials
    """
    header = request.headers.get("Authorization", "")
    if not header:
        return None
    address = request.remote_addr or ""  # client_addr would trust any X-Forwarded-For
    identity = by_token(request.uow, header, address)
    token = identity.token
    if token is not None and (token.last_used is None or request.uow.now - token.last_used >= INTERVAL):
        TokenUse.of_process(request.registry.netinv_engine, request.registry.netinv).note(token.id)
    return identity


class SecurityPolicy:
    """Authenticates by the first of ``sources`` that knows the request; delegates permissions to the module
    :mod:`netinv_core.auth.permissions`.

    Packages add sources, such as the cookie of a session, with ``config.add_identity_source``.
    """

    def __init__(self, sources: Sequence[IdentitySource] = (from_authorization_header,)) -> None:
        self._sources = list(sources)
        self._identities = RequestLocalCache(self._authenticate)

    def add_source(self, source: IdentitySource, *, first: bool = False) -> None:
        """Adds a source, to be asked after those before it, or before all of them."""
        self._sources.insert(0 if first else len(self._sources), source)

    def identity(self, request: Request) -> Identity:
        """The identity of a request, anonymous without credentials; the unit of work acts for it from then on.

        :raises Denied: for wrong credentials
        :raises TooManyRequests: above ``netinv.rate_limit_token``
        """
        identity: Identity = self._identities.get_or_create(request)
        return identity

    def _authenticate(self, request: Request) -> Identity:
        uow: UnitOfWork = request.uow
        for source in self._sources:
            identity = source(request)
            if identity is not None:
                uow.identity = identity
                break
        log_context.note_user(uow.identity.username)
        if uow.settings["rate_limit_token"] is not None and not uow.identity.anonymous:
            rate_limits.check_identity(request, uow.identity)
        if uow.read_route is not None:
            uow.read_route.follow(uow)
        return uow.identity

    def authenticated_userid(self, request: Request) -> str | None:
        """The id of the account; ``None`` for an anonymous request."""
        user_id = self.identity(request).user_id
        return None if user_id is None else str(user_id)

    def permits(self, request: Request, context: Any, permission: str) -> security.PermitsResult:
        """Pyramid's answer to whether the request has a permission, on the resource of ``context`` where it has one.

        A negative one carries the error that the request is answered with, as ``error``.
        """
        try:
            self._check(request, context, permission)
        except Denied as error:
            result = security.Denied("%s", error.body["detail"])
            result.error = error
            return result
        return security.Allowed("%s", permission)

    def _check(self, request: Request, context: Any, permission: str) -> None:
        """Checks authentication, then whether the token may write, then the permission itself.

        :raises Denied: with the reason
        """
        identity, uow = self.identity(request), request.uow
        if identity.anonymous and (permission == AUTHENTICATED or not _readable_by_anyone(request)):
            raise Denied(NOT_GIVEN)
        if uow.writing and not (identity.can_write or identity.anonymous):
            raise Denied()
        if permission not in (AUTHENTICATED, API_ACCESS):
            needed = PERMISSIONS[request.method] if permission == OF_METHOD else permission
            permissions.check(uow, context.endpoint, needed)

    def remember(self, request: Request, userid: str, **options: Any) -> list[tuple[str, str]]:
        """The headers that keep a user signed in: none, because tokens are sent with each request."""
        return []

    def forget(self, request: Request, **options: Any) -> list[tuple[str, str]]:
        """The headers that sign a user out: none, because tokens are sent with each request."""
        return []


def _readable_by_anyone(request: Request) -> bool:
    """True for reading where the setting ``netinv.exempt_view_permissions`` exempts some resource."""
    settings = request.registry.netinv.settings
    return request.method in ("GET", "HEAD") and bool(settings["exempt_view_permissions"])
