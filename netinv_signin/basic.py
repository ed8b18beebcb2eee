"""HTTP Basic authentication, of resources that accept passwords (``Resource.allow_basic_auth``)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.auth.account import Identity
from netinv_core.auth.identity import by_account, refusal
from netinv_core.errors import Denied
from netinv_signin import passwords

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork


def from_basic_header(request: Request) -> Identity | None:
    """The identity of a header ``Authorization: Basic …``, where the resource accepts passwords.

    :raises Denied: for wrong credentials
    """
    header = request.headers.get("Authorization", "")
    endpoint = getattr(request.context, "endpoint", None) if header else None
    if endpoint is None or not endpoint.resource.allow_basic_auth:
        return None
    return by_password(request.uow, header, request.remote_addr or "")


def by_password(uow: UnitOfWork, header: str, address: str) -> Identity | None:
    """The identity of an ``Authorization: Basic …`` header from a client's ``address``; ``None`` for another scheme.

    :raises Denied: for a malformed header; as :func:`netinv_signin.passwords.sign_in`
    :raises TooManyRequests: as :func:`netinv_signin.passwords.sign_in`
    """
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        username, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:  # not ASCII, not base64, not UTF-8
        raise refusal("malformed", "Invalid basic header. Credentials not correctly base64 encoded.") from None
    identity = by_account(uow, passwords.sign_in(uow, username, password, address))
    if identity is None:
        raise Denied(passwords.WRONG)
    return identity


def includeme(config: Any) -> None:
    """Adds the source of identities."""
    config.add_identity_source(from_basic_header, first=True)
