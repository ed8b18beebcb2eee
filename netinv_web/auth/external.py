"""Sessions of users whom an identity provider has proven."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth.account import ANONYMOUS
from netinv_core.auth.audit import audit
from netinv_core.auth.providers import ExternalUser, IdentityProvider, providers_of
from netinv_core.driver.sessions import commit
from netinv_core.uow import UnitOfWork
from netinv_signin import external_users
from netinv_web.auth import sessions
from netinv_web.pages import local_path, see_other

if TYPE_CHECKING:
    from netinv_core.registry import Registry


def sign_in(request: Request, user: ExternalUser, following: str, data: Mapping[str, Any]) -> Response:
    """Begins the session of a user; the answer to the request that proved the identity, also by GET.

    ``data`` is stored with the session, encrypted, for the provider's ``sign_out_url``.

    :raises Denied: when the user may have no account here
    """
    registry: Registry = request.registry.netinv
    user_id = external_users.user_id_of(request.registry.netinv_engine, registry, user)
    with request.registry.netinv_sessions() as session:
        uow = UnitOfWork(registry, session, ANONYMOUS, writing=True)
        key = sessions.begin(request, user_id, uow, provider=user.provider, data={"subject": user.subject, **data})
        commit(session)
    audit("session.started", user=user.username, provider=user.provider)
    response = see_other(local_path(following))
    sessions.set_cookie(request, response, key)
    return response


def provider_of(registry: Registry, session: sessions.CurrentSession) -> IdentityProvider | None:
    """The provider of a session; ``None`` for that of a password, and of a provider that is not there any more."""
    return providers_of(registry).get(session.provider)


def sign_out_url(request: Request, session: sessions.CurrentSession) -> str:
    """The address that the browser goes to after the sign-out; empty for the sign-in page."""
    provider = provider_of(request.registry.netinv, session)
    if provider is None or provider.sign_out_url is None:
        return ""
    return provider.sign_out_url(request, session.data(request.registry.netinv))
