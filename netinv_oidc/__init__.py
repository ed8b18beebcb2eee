"""Sign-in by OpenID Connect: the identity provider ``oidc`` (docs/accounts.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netinv_core.app import App
from netinv_core.auth.providers import IdentityProvider
from netinv_core.hookspecs import hookimpl
from netinv_core.settings import SettingDefinitions, seconds, words

if TYPE_CHECKING:
    from netinv_core.registry import Registry

NAME = "oidc"
SIGN_IN = "/login/oidc/"

settings: SettingDefinitions = {
    "oidc_issuer": (str, ""),
    "oidc_client_id": (str, ""),
    "oidc_client_secret": (str, ""),
    "oidc_title": (str, "Single sign-on"),
    "oidc_scopes": (words, ("openid", "profile", "email")),
    "oidc_username_claim": (str, "preferred_username"),
    "oidc_groups_claim": (str, ""),
    "oidc_group_prefix": (str, ""),
    "oidc_superuser_group": (str, ""),
    "oidc_allow": (words, ()),
    "oidc_timeout": (seconds, 10.0),
}
app = App(
    NAME,
    "OpenID Connect",
    settings=settings,
    distribution="netinv-oidc",
    description="Sign-in by OpenID Connect",
)


@hookimpl
def netinv_app() -> App:
    """Returns the application, which has settings only."""
    return app


@hookimpl
def netinv_identity_providers(registry: Registry) -> Iterable[IdentityProvider]:
    """The provider, where the settings name the issuer and the client."""
    if not is_configured(registry):
        return []
    from netinv_oidc import sign_in

    title = registry.settings["oidc_title"]
    return [IdentityProvider(NAME, title, SIGN_IN, sign_out_url=sign_in.sign_out_url)]


@hookimpl
def netinv_web_includes(registry: Registry) -> Iterable[str]:
    """The pages that begin and complete the sign-in."""
    return ["netinv_oidc.sign_in"] if is_configured(registry) else []


def is_configured(registry: Registry) -> bool:
    """True where the settings name the issuer and the client; the libraries are imported only then."""
    return bool(registry.settings["oidc_issuer"] and registry.settings["oidc_client_id"])
