"""Identity provider ``header``: a reverse proxy in front of the service authenticates users, and names them in headers.

The headers count only in requests from the addresses of the setting ``netinv.header_proxies``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.auth.providers import ExternalUser, IdentityProvider
from netinv_core.net import addresses

if TYPE_CHECKING:
    from pyramid.request import Request

    from netinv_core.registry import Registry

NAME = "header"
SEPARATORS = ",;|"  # of the names of groups


def provider_of(registry: Registry) -> IdentityProvider | None:
    """Returns the provider; ``None`` unless the settings name the header of the user and the proxies."""
    settings = registry.settings
    if not (settings["header_user"] and settings["header_proxies"]):
        return None
    url = settings["header_sign_out_url"]
    return IdentityProvider(
        NAME,
        settings["header_title"],
        "/login/?next=/",
        from_request=user_of,
        sign_out_url=(lambda request, data: url) if url else None,
    )


def user_of(request: Request) -> ExternalUser | None:
    """Returns the user that a trusted proxy names; ``None`` for other requests."""
    settings = request.registry.netinv.settings
    if not addresses.is_in(request.remote_addr or "", settings["header_proxies"]):
        return None
    username = _text(request, settings["header_user"]).strip()
    if not username:
        return None
    groups, superuser = None, None
    if settings["header_groups"]:
        text = _text(request, settings["header_groups"])
        for separator in SEPARATORS[1:]:
            text = text.replace(separator, SEPARATORS[0])
        groups = list(dict.fromkeys(filter(None, (name.strip() for name in text.split(SEPARATORS[0])))))
        if settings["header_superuser_group"]:
            superuser = settings["header_superuser_group"] in groups
    email = _text(request, settings["header_email"]) if settings["header_email"] else ""
    return ExternalUser(NAME, username, username, email, groups=groups, superuser=superuser)


def _text(request: Request, name: str) -> str:
    """The text of a header: UTF-8, which WSGI (PEP 3333) passes as Latin-1."""
    text: str = request.headers.get(name, "")
    try:
        return text.encode("latin-1").decode()
    except ValueError:
        return text
