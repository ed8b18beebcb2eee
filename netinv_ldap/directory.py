"""Check of passwords by a directory: search of the entry, bind with its password, search of its groups (RFC 4511).

Connections are encrypted by ``ldaps`` or StartTLS, and the server's certificate is verified. User names and names of
entries are escaped in filters (RFC 4515).
"""

from __future__ import annotations

import contextlib
import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ldap
from ldap.dn import escape_dn_chars
from ldap.filter import escape_filter_chars

from netinv_core.auth.providers import ExternalUser
from netinv_core.errors import Unavailable

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
NAME = "ldap"
IN_CHAIN = "1.2.840.113556.1.4.1941"  # LDAP_MATCHING_RULE_IN_CHAIN of Active Directory: members of members too
MAX_DEPTH = 20  # of groups in groups
MAX_GROUPS = 1000  # of a user
BATCH = 50  # entries named in one filter
DOWN = "The directory cannot be reached. Try again later."
Entry = tuple[str, Mapping[str, list[bytes]]]


def check_password(registry: Registry, username: str, password: str) -> ExternalUser | None:
    """Returns the user with this name and password; ``None`` for others.

    :raises Unavailable: when the directory cannot be asked
    """
    settings = registry.settings
    if not password:  # a bind without password succeeds for any name (RFC 4513, section 5.1.2)
        return None
    with _log_errors(), _connection(settings) as service:
        service.simple_bind_s(settings["ldap_bind_dn"], settings["ldap_bind_password"])
        entry = _entry_of(service, settings, username)
        # An unknown name takes a bind too, so that the time does not tell which names exist.
        dn = entry[0] if entry else f"cn={escape_dn_chars(secrets.token_hex(8))},{settings['ldap_user_base']}"
        accepted = _accepts(settings, dn, password)
        return _user(service, settings, entry) if entry and accepted else None


def resolve(registry: Registry, username: str) -> str | None:
    """Returns the name (DN) of the entry that the directory finds for a user name, by its own rules of comparison;
    ``None`` for a name without one.

    :raises Unavailable: when the directory cannot be asked
    """
    settings = registry.settings
    with _log_errors(), _connection(settings) as service:
        service.simple_bind_s(settings["ldap_bind_dn"], settings["ldap_bind_password"])
        entry = _entry_of(service, settings, username)
        return entry[0].casefold() if entry else None


@contextlib.contextmanager
def _log_errors() -> Iterator[None]:
    """Logs errors of the directory.

    :raises Unavailable: for each of them
    """
    try:
        yield
    except ldap.LDAPError as error:
        log.error("the directory cannot be used: %s: %s", type(error).__name__, _text_of(error))
        raise Unavailable(DOWN) from None


def _text_of(error: Any) -> str:
    details = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    return "; ".join(str(details[name]) for name in ("desc", "info") if name in details)


@contextlib.contextmanager
def _connection(settings: Mapping[str, Any]) -> Iterator[Any]:
    """Context manager of an encrypted connection."""
    connection = ldap.initialize(settings["ldap_url"])
    connection.protocol_version = ldap.VERSION3
    for option in (ldap.OPT_NETWORK_TIMEOUT, ldap.OPT_TIMEOUT):
        connection.set_option(option, settings["ldap_timeout"])
    connection.set_option(ldap.OPT_REFERRALS, 0)
    connection.set_option(ldap.OPT_X_TLS_REQUIRE_CERT, ldap.OPT_X_TLS_DEMAND)
    if settings["ldap_ca_file"]:
        connection.set_option(ldap.OPT_X_TLS_CACERTFILE, settings["ldap_ca_file"])
    connection.set_option(ldap.OPT_X_TLS_NEWCTX, 0)  # applies the options of TLS
    try:
        if settings["ldap_start_tls"] and not settings["ldap_url"].lower().startswith(("ldaps:", "ldapi:")):
            connection.start_tls_s()
        yield connection
    finally:
        with contextlib.suppress(ldap.LDAPError):
            connection.unbind_s()


def _accepts(settings: Mapping[str, Any], dn: str, password: str) -> bool:
    """True if the directory accepts the password of an entry."""
    with _connection(settings) as connection:
        try:
            connection.simple_bind_s(dn, password)
        except (ldap.INVALID_CREDENTIALS, ldap.NO_SUCH_OBJECT, ldap.UNWILLING_TO_PERFORM, ldap.INAPPROPRIATE_AUTH):
            return False
        return True


def _search(connection: Any, base: str, condition: str, attributes: Sequence[str]) -> list[Entry]:
    """The entries below a base that a filter finds, without references to other servers."""
    found = connection.search_s(base, ldap.SCOPE_SUBTREE, condition, list(attributes))
    return [(dn, entry) for dn, entry in found if dn is not None]


def _entry_of(connection: Any, settings: Mapping[str, Any], username: str) -> Entry | None:
    """The one entry of a user name; ``None`` if there is none, or several."""
    condition = settings["ldap_user_filter"].replace("{username}", escape_filter_chars(username))
    attributes = [settings["ldap_username_attribute"], settings["ldap_subject_attribute"], "mail", "givenName", "sn"]
    entries = _search(connection, settings["ldap_user_base"], condition, attributes)
    if len(entries) > 1:
        log.error("ldap_user_filter finds %s entries for one user name", len(entries))
    return entries[0] if len(entries) == 1 else None


def _user(connection: Any, settings: Mapping[str, Any], entry: Entry) -> ExternalUser:
    """The user of an entry, with the groups that the directory names.

    :raises Unavailable: for an entry without the attribute that identifies it
    """
    dn, attributes = entry
    subject = _value(attributes, settings["ldap_subject_attribute"])
    username = _text(attributes, settings["ldap_username_attribute"])
    if not (subject and username):
        log.error("entries lack ldap_subject_attribute or ldap_username_attribute")
        raise Unavailable(DOWN)
    groups, superuser = None, None
    if settings["ldap_group_base"]:
        names, prefix = _group_names(connection, settings, dn), settings["ldap_group_prefix"]
        groups = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
        if settings["ldap_superuser_group"]:
            superuser = settings["ldap_superuser_group"] in names
    return ExternalUser(
        NAME,
        _identifier(subject),
        username,
        _text(attributes, "mail"),
        _text(attributes, "givenName"),
        _text(attributes, "sn"),
        groups=groups,
        superuser=superuser,
    )


def _group_names(connection: Any, settings: Mapping[str, Any], dn: str) -> list[str]:
    """The names of the groups that an entry is a member of, in groups of groups too by the setting."""
    nested, member = settings["ldap_nested_groups"], settings["ldap_member_attribute"]
    rule = f"{member}:{IN_CHAIN}:" if nested == "chain" else member
    names: dict[str, str] = {}
    members = [dn]
    for _ in range(MAX_DEPTH if nested == "search" else 1):
        found: dict[str, str] = {}
        for start in range(0, len(members), BATCH):
            tests = "".join(f"({rule}={escape_filter_chars(name)})" for name in members[start : start + BATCH])
            condition = f"(&{settings['ldap_group_filter']}(|{tests}))"
            entries = _search(connection, settings["ldap_group_base"], condition, ["cn"])
            found |= {group: _text(attributes, "cn") for group, attributes in entries}
        members = [group for group in found if group not in names]
        names |= found
        if not members or len(names) > MAX_GROUPS:
            break
    return sorted(set(filter(None, names.values())))


def _value(attributes: Mapping[str, list[bytes]], name: str) -> bytes:
    """The first value of an attribute, whose name has no case."""
    values = next((values for key, values in attributes.items() if key.lower() == name.lower()), [])
    return values[0] if values else b""


def _text(attributes: Mapping[str, list[bytes]], name: str) -> str:
    return _value(attributes, name).decode("utf-8", "replace")


def _identifier(value: bytes) -> str:
    """The text of an identifier; binary ones, such as ``objectGUID``, as hexadecimal digits."""
    try:
        text = value.decode("ascii")
    except ValueError:
        return value.hex()
    return text if text.isprintable() else value.hex()
