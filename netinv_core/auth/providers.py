"""Identity providers: ways to sign in besides the passwords that netinv stores, contributed by packages.

A provider proves who somebody is, as an :class:`ExternalUser`; :mod:`netinv_signin.external_users` finds or creates
the account.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.packages import errors_of
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from pyramid.request import Request

    from netinv_core.registry import Registry


@dataclasses.dataclass(frozen=True)
class ExternalUser:
    """A user whose identity a provider has proven.

    * ``provider``: name of the provider; ``subject``: what identifies the user there, for ever;
    * ``groups``: names of the groups that the account has from now on; ``None`` leaves its groups;
    * ``superuser``: whether the account is a superuser from now on; ``None`` leaves it.
    """

    provider: str
    subject: str
    username: str
    email: str = ""
    first_name: str = ""
    last_name: str = ""
    groups: Sequence[str] | None = None
    superuser: bool | None = None


@dataclasses.dataclass(frozen=True)
class IdentityProvider:
    """A way to sign in. Each of the functions is optional.

    * ``title`` and ``path``: text of a button on the sign-in page, and where it leads; the view there ends in
      :func:`netinv_web.auth.external.sign_in`;
    * ``check_password(registry, username, password)``: the user with this name and password, or ``None``; called for
      the sign-in form and for HTTP Basic authentication when the password is not that of an account. Raises
      :class:`netinv_core.errors.Unavailable` when it cannot tell;
    * ``resolve(registry, username)``: what identifies the user of this name there, the same for every spelling that is
      accepted, or ``None``; failed attempts are counted by it. Without it they are counted by the prepared name
      (:mod:`netinv_signin.user_names`). Raises :class:`netinv_core.errors.Unavailable`, too;
    * ``from_request(request)``: the user that the request itself proves, such as by a header; called by the sign-in
      page. A session that began so ends when the request no longer proves the same subject;
    * ``sign_out_url(request, data)``: where the browser goes after the sign-out, with the data that the sign-in stored.
    """

    name: str
    title: str = ""
    path: str = ""
    check_password: Callable[[Registry, str, str], ExternalUser | None] | None = None
    resolve: Callable[[Registry, str], str | None] | None = None
    from_request: Callable[[Request], ExternalUser | None] | None = None
    sign_out_url: Callable[[Request, Mapping[str, Any]], str] | None = None


@cached_in_registry
def providers_of(registry: Registry) -> dict[str, IdentityProvider]:
    """Returns the providers of all packages by name.

    :raises PackageError: when a package returns anything else, or a name that another one has
    """
    providers: dict[str, IdentityProvider] = {}
    for package, found in registry.call_each("netinv_identity_providers", registry=registry):
        with errors_of(package):
            for provider in found:
                if not isinstance(provider, IdentityProvider):
                    kind = type(provider).__name__
                    raise TypeError(f"netinv_identity_providers returns {kind} instead of IdentityProvider")
                if provider.name in providers:
                    raise ValueError(f"two identity providers have the name {provider.name!r}")
                providers[provider.name] = provider
    return providers
