"""Sign-in with user name and password, and the accounts of users whom identity providers prove."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netinv_core.app import App
from netinv_core.auth.providers import IdentityProvider
from netinv_core.hookspecs import hookimpl
from netinv_signin import trusted_header

if TYPE_CHECKING:
    from netinv_core.registry import Registry

app = App("signin", "Sign-in", includes=["netinv_signin.basic"], rooted=False, distribution="netinv-signin")


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app


@hookimpl
def netinv_identity_providers(registry: Registry) -> Iterable[IdentityProvider]:
    """The header of a trusted proxy, where the settings name it."""
    provider = trusted_header.provider_of(registry)
    return [provider] if provider is not None else []
