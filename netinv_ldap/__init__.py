"""Sign-in by an LDAP directory or Active Directory: the identity provider ``ldap`` (docs/accounts.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netinv_core.app import App
from netinv_core.auth.providers import IdentityProvider
from netinv_core.hookspecs import hookimpl
from netinv_core.settings import SettingDefinitions, flag, seconds

if TYPE_CHECKING:
    from netinv_core.registry import Registry

NAME = "ldap"
NESTED = ("no", "search", "chain")


def nested_groups(text: str) -> str:
    """``no``; ``search`` asks for the groups of groups; ``chain`` lets Active Directory find them.

    :raises KeyError: for another text
    """
    return dict(zip(NESTED, NESTED, strict=True))[text.strip().lower()]


def user_filter(text: str) -> str:
    """A filter (RFC 4515) with ``{username}`` in the place of the user name.

    :raises ValueError: for a text without it
    """
    if "{username}" not in text:
        raise ValueError(text)
    return text.strip()


settings: SettingDefinitions = {
    "ldap_url": (str, ""),
    "ldap_start_tls": (flag, True),
    "ldap_ca_file": (str, ""),
    "ldap_bind_dn": (str, ""),
    "ldap_bind_password": (str, ""),
    "ldap_user_base": (str, ""),
    "ldap_user_filter": (user_filter, "(uid={username})"),
    "ldap_username_attribute": (str, "uid"),
    "ldap_subject_attribute": (str, "entryUUID"),
    "ldap_group_base": (str, ""),
    "ldap_group_filter": (str, "(objectClass=groupOfNames)"),
    "ldap_member_attribute": (str, "member"),
    "ldap_nested_groups": (nested_groups, "no"),
    "ldap_group_prefix": (str, ""),
    "ldap_superuser_group": (str, ""),
    "ldap_timeout": (seconds, 5.0),
}
app = App(
    NAME,
    "LDAP",
    settings=settings,
    distribution="netinv-ldap",
    description="Sign-in by an LDAP directory or Active Directory",
)


@hookimpl
def netinv_app() -> App:
    """Returns the application, which has settings only."""
    return app


@hookimpl
def netinv_identity_providers(registry: Registry) -> Iterable[IdentityProvider]:
    """The provider, where the settings name the directory; python-ldap is imported only then."""
    if not registry.settings["ldap_url"]:
        return []
    from netinv_ldap import directory

    return [IdentityProvider(NAME, check_password=directory.check_password, resolve=directory.resolve)]
