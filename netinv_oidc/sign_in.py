"""Pages that begin and complete the sign-in by OpenID Connect.

What an attempt must be completed with is in a cookie of the browser, encrypted: a response to another browser, or for
another attempt, is refused.
"""

from __future__ import annotations

import dataclasses
import hmac
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

from netinv_core import crypto
from netinv_core.errors import Denied, RequestError
from netinv_core.registry_cache import cached_in_registry
from netinv_oidc import SIGN_IN
from netinv_oidc.client import REFUSED, Attempt, ProviderClient
from netinv_web.auth import external, sessions
from netinv_web.auth.sign_in import sign_in_form
from netinv_web.pages import local_path, query_text

if TYPE_CHECKING:
    from netinv_core.registry import Registry

CALLBACK = f"{SIGN_IN}callback/"
COOKIE = "netinv_oidc"
MAX_AGE = 600  # seconds for a sign-in at the provider


@cached_in_registry
def client_of(registry: Registry) -> ProviderClient:
    """Returns the client of a registry; cached with the provider's metadata."""
    return ProviderClient(registry.settings)


def begin(request: Request) -> Response:
    """Sends the browser to the provider."""
    following = local_path(query_text(request, "next", "/"))
    attempt = Attempt.begin(following)
    try:
        url = client_of(request.registry.netinv).authorization_url(attempt, _callback_uri(request))
    except RequestError as error:
        return sign_in_form(request, following, str(error.body["detail"]), error.status)
    response = Response(status=303, headers={"Location": url, "Cache-Control": "no-store"})
    text = crypto.encrypt(request.registry.netinv.settings["secret"], json.dumps(dataclasses.asdict(attempt)))
    _set_cookie(request, response, text, MAX_AGE)
    return response


def complete(request: Request) -> Response:
    """Signs in the user whom the provider names in its response, and leads to the page that was asked for."""
    following = "/"
    try:
        attempt = _attempt(request)
        following = local_path(attempt.following)
        client = client_of(request.registry.netinv)
        _check_issuer(request, client)
        code = query_text(request, "code")
        if not code:  # with an error in its place, such as access_denied
            raise Denied(REFUSED)
        user, id_token = client.complete(attempt, code, _callback_uri(request))
        response = external.sign_in(request, user, following, {"id_token": id_token})
    except RequestError as error:
        response = sign_in_form(request, following, str(error.body["detail"]), error.status)
    _set_cookie(request, response, "", 0)
    return response


def _attempt(request: Request) -> Attempt:
    """The attempt of this browser that the response belongs to.

    :raises Denied: without one, for another ``state``, and when it began too long ago
    """
    secret = request.registry.netinv.settings["secret"]
    try:
        attempt = Attempt(**json.loads(crypto.decrypt(secret, request.cookies.get(COOKIE, ""))))
    except (ValueError, TypeError):
        raise Denied(REFUSED) from None
    sent = query_text(request, "state").encode("utf-8", "backslashreplace")
    if not hmac.compare_digest(attempt.state.encode(), sent) or time.time() - attempt.begun > MAX_AGE:
        raise Denied(REFUSED)
    return attempt


def _check_issuer(request: Request, client: ProviderClient) -> None:
    """Rejects a response of another provider (RFC 9207)."""
    named = query_text(request, "iss")
    if named and named.rstrip("/") != str(client.metadata()["issuer"]).rstrip("/"):
        raise Denied(REFUSED)


def sign_out_url(request: Request, data: Mapping[str, Any]) -> str:
    """The address at which the browser ends its session at the provider, which sends it back to the sign-in page."""
    uri = f"{request.uow.base}/login/"
    return client_of(request.registry.netinv).sign_out_url(str(data.get("id_token", "")), uri)


def _callback_uri(request: Request) -> str:
    """The absolute URL of :func:`complete`, to be registered at the provider."""
    return f"{request.uow.base}{CALLBACK}"


def _set_cookie(request: Request, response: Response, text: str, max_age: int) -> None:
    secure = sessions.is_secure(request)
    response.set_cookie(COOKIE, text, max_age=max_age, httponly=True, secure=secure, samesite="Lax")


def includeme(config: Any) -> None:
    """Adds the pages."""
    for name, path, view in (("begin", SIGN_IN, begin), ("complete", CALLBACK, complete)):
        config.add_route(f"oidc {name}", path)
        config.add_view(view, route_name=f"oidc {name}", request_method="GET", permission=NO_PERMISSION_REQUIRED)
