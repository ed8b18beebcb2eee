"""Settings: the names of the ini file (``netinv.…``), their types and defaults."""

from __future__ import annotations

import difflib
import ipaddress
import logging
import pathlib
import re
import secrets
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pyramid.settings import asbool, aslist, falsey, truthy

from netinv_core import extra_libraries, setting_variables
from netinv_core.app import DISABLED, feature_mistakes
from netinv_core.net import addresses
from netinv_core.packages import CORE, PackageError, errors_of
from netinv_core.rates import rate
from netinv_core.records import Setting
from netinv_core.records import SettingDefinitions as SettingDefinitions
from netinv_core.telemetry import log_settings

if TYPE_CHECKING:
    from netinv_core.app import App

log = logging.getLogger(__name__)


def flag(text: str) -> bool:
    """A boolean: ``true``, ``yes``, ``on`` or ``1``; ``false``, ``no``, ``off`` or ``0``.

    :raises ValueError: for any other text, which ``asbool`` takes for false
    """
    if text.strip().lower() not in truthy | falsey:
        raise ValueError(text)
    value: bool = asbool(text)
    return value


def count(text: str) -> int:
    """A whole number, 0 or more; ``none`` is 0.

    :raises ValueError: for anything else
    """
    number = 0 if text.strip().lower() in ("", "none") else int(text)
    if number < 0:
        raise ValueError(text)
    return number


def positive(text: str) -> int:
    """A whole number, at least 1."""
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def words(text: str) -> tuple[str, ...]:
    """Words with white space between them."""
    return tuple(aslist(text))


def variable_prefixes(text: str) -> tuple[str, ...]:
    """Beginnings of names of environment variables with white space between them."""
    return words(text)


def networks(text: str) -> tuple[str, ...]:
    """Networks (CIDR) and addresses with white space between them.

    :raises ValueError: for anything else
    """
    return tuple(str(addresses.network(word)) for word in words(text))


def targets(text: str) -> tuple[str, ...]:
    """Networks, addresses and names of hosts with white space between them.

    :raises ValueError: for anything else
    """
    for word in words(text.lower()):
        if not re.fullmatch(r"(?=.*[a-z])[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?", word):
            ipaddress.ip_network(word, strict=False)
    return words(text.lower())


def size(text: str) -> int:
    """Bytes, or a number of KiB, MiB or GiB."""
    number, _, unit = text.strip().partition(" ")
    return int(number) * {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit.strip()]


def seconds(text: str) -> float:
    """Seconds, more than none."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(text)
    return number


def limit(text: str) -> float:
    """Seconds; 0 or ``none`` for no limit."""
    return 0.0 if text.strip().lower() in ("", "0", "none") else seconds(text)


def _compared_values(text: str) -> int:
    """A number of values, at least 1; SQLite takes conditions of no more than 1,000 levels, a value is one of them."""
    if positive(text) > MAX_COMPARED:
        raise ValueError(text)
    return int(text)


def _password_length(text: str) -> int:
    """The least length of new passwords, 0 for any; more than :data:`LONGEST_PASSWORD` could never be met."""
    number = count(text)
    if number > LONGEST_PASSWORD:
        raise ValueError(text)
    return number


def _hosts(text: str) -> tuple[str, ...]:
    """Names of hosts, in lower case; ``.example.net`` is every name below it, ``*`` any."""
    return words(text.lower())


def _base_url(text: str) -> str:
    """The URL of a service, without a closing slash.

    :raises ValueError: for anything else than the scheme http or https, a host, and maybe a path
    """
    address = text.strip().rstrip("/")
    parts = urlsplit(address)
    if address and (parts.scheme not in ("http", "https") or not parts.hostname or "?" in address or "#" in address):
        raise ValueError(text)
    return address


def _token_writers(text: str) -> str:
    """``permitted``, ``superusers`` or ``nobody``: users who may write tokens with the API, if they have permission."""
    return {"permitted": "permitted", "superusers": "superusers", "nobody": "nobody"}[text.strip().lower()]


def _queue(text: str) -> str:
    """The address of the queue, ``redis://…``, ``rediss://…``, ``unix://…`` or ``sqlite:///…``, or empty."""
    if text and (not _QUEUE.match(text) or urlsplit(text).port == 0):  # reading the port fails for a wrong one
        raise ValueError(text)
    return text


def _collector(text: str) -> str:
    """The address of a collector of traces, ``http://…`` or ``https://…``, or empty."""
    if text and not text.startswith(("http://", "https://")):
        raise ValueError(text)
    return text


MAX_COMPARED = 900  # values of a filter
LONGEST_PASSWORD = 128  # characters, the length of the column
_QUEUE = re.compile(r"(?:rediss?|unix|sqlite)://")
HAS_SECRETS = frozenset({"secret", "queue_url"})  # settings whose values no message shows
SHORTEST_SECRET = 32  # characters; of a random text in base 64 that is 192 bits
# name → (reader of the text, default)
OWN: SettingDefinitions = {
    "database_url": (str, "sqlite:///netinv.sqlite"),
    "database_read_urls": (words, ()),
    "database_read_lag": (seconds, 10.0),
    "database_pool": (positive, 10),
    "database_timeout": (positive, 10),
    "statement_timeout": (limit, 30.0),
    "pattern_timeout": (seconds, 1.0),
    "secret": (str, ""),
    "secret_file": (str, ""),
    "queue_url": (_queue, ""),
    "embedded_worker": (flag, False),
    "paginate_count": (positive, 50),
    "max_page_size": (count, 1000),
    "exact_count_limit": (count, 0),
    "max_export_size": (count, 10_000),
    "max_answer_objects": (count, 500_000),
    "max_answer_size": (size, 128 * 2**20),
    "max_yaml_values": (count, 1_000_000),
    "max_compared_values": (_compared_values, 500),
    "strict_filtering": (flag, True),
    "strict_bodies": (flag, False),
    "enforce_global_unique": (flag, False),
    "prefer_ipv4": (flag, False),
    "exempt_view_permissions": (words, ()),
    "token_writers": (_token_writers, "permitted"),
    "sign_in_window": (seconds, 900.0),
    "sign_in_failures_account": (count, 20),
    "sign_in_failures_address": (count, 50),
    "sign_in_failures_pair": (count, 10),
    "password_checks": (positive, 2),
    "otel_endpoint": (_collector, ""),
    "rate_limit_address": (rate, None),
    "rate_limit_token": (rate, None),
    "password_sign_in": (flag, True),
    "password_min_length": (_password_length, 12),
    "password_refuse_common": (flag, True),
    "sign_in_create_users": (flag, True),
    "sign_in_create_groups": (flag, False),
    "sign_in_link_by_username": (words, ()),
    "header_user": (str, ""),
    "header_groups": (str, ""),
    "header_email": (str, ""),
    "header_superuser_group": (str, ""),
    "header_proxies": (networks, ()),
    "header_title": (str, "Single sign-on"),
    "header_sign_out_url": (str, ""),
    "require_if_match": (words, ()),
    "idempotency_retention": (positive, 24),
    "max_stored_answer_size": (size, 4 * 2**20),
    "base_url": (_base_url, ""),
    "changelog_retention": (count, 90),
    "media_root": (str, "var/media"),
    "backup_folder": (str, ""),
    "backup_interval": (positive, 24),
    "backup_keep": (positive, 7),
    "plugins_dir": (str, ""),
    "package_failures": (count, 20),
    "log_level": (log_settings.levels, {}),
    "log_format": (log_settings.log_format, ""),
    DISABLED: (words, ()),
    "max_upload_size": (size, 5 * 2**20),
    "server_timing": (flag, False),
    "allowed_hosts": (_hosts, ()),
    "hsts_seconds": (count, 0),
    "max_request_size": (size, 32 * 2**20),
    "max_anonymous_request_size": (size, 64 * 2**10),
    "max_json_values": (positive, 500_000),
    "max_bulk_objects": (positive, 10_000),
    "max_user_config_size": (size, 64 * 2**10),
}


def setting_definitions(apps: Mapping[str, App]) -> dict[str, Setting]:
    """Every setting, by name: those of the core, and those of applications (by package).

    :raises PackageError: when an application claims a setting that the core or another application has
    """
    definitions = dict(OWN)
    for package, app in apps.items():
        with errors_of(package):
            if taken := definitions.keys() & app.settings.keys():
                raise ValueError(f"it claims settings that exist already: {', '.join(sorted(taken))}")
        definitions |= app.settings
    return definitions


def defaults(definitions: SettingDefinitions) -> dict[str, Any]:
    """The default of each setting, by name."""
    return {name: default for name, (_, default) in definitions.items()}


def before_packages(settings: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """The settings of an ini file with those of the environment that the core knows: what the search for packages
    depends on.
    """
    return setting_variables.merge(settings, OWN, variables).texts


def read(
    settings: Mapping[str, str],
    apps: Mapping[str, App],
    *,
    incomplete: bool = False,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """The ``netinv.`` settings of an ini file and of environment ``variables``, typed, defaults filled in: those of the
    core, and of applications (by package).

    With ``incomplete``, packages are in quarantine: unknown settings may be theirs, and are logged instead of refused.

    :raises ValueError: for a name that is not known, a value that cannot be read, or an address without its driver
    :raises PackageError: when the reader of an application's setting fails otherwise
    """
    values, mistakes = parse(settings, apps, incomplete=incomplete, variables=variables)
    if mistakes:
        raise ValueError(mistakes[0])
    values["secret"] = values["secret"] or _secret_in(values["secret_file"])
    mistake = secret_mistake(values, variables)
    if mistake is not None:
        raise ValueError(mistake)
    for name in ("database_url", "queue_url", "otel_endpoint"):
        extra_libraries.require(setting_variables.place(name, variables), values[name])
    replicas = values["database_read_urls"]
    if replicas and not all(url.startswith("postgresql") for url in (values["database_url"], *replicas)):
        place = setting_variables.place("database_read_urls", variables)
        raise ValueError(f"{place} names replicas of PostgreSQL: postgresql://…")
    return values


def parse(
    settings: Mapping[str, str],
    apps: Mapping[str, App],
    *,
    incomplete: bool = False,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> tuple[dict[str, Any], list[str]]:
    """The typed settings, and a sentence for each unknown name and each value that cannot be read, whose setting has
    its default then. The file with the secret is not read.

    :raises PackageError: when the reader of an application's setting fails otherwise than with a ``ValueError``
    """
    definitions = setting_definitions(apps)
    packages = {name: package for package, app in apps.items() for name in app.settings}
    values = defaults(definitions)
    merged = setting_variables.merge(settings, definitions, variables)
    mistakes = list(merged.mistakes)
    for full, text in merged.texts.items():
        if not full.startswith("netinv."):
            continue
        name = full.removeprefix("netinv.")
        if name not in definitions and incomplete:
            log.warning("the setting %s is not known; it may belong to a package that failed", full)
        elif name not in definitions:
            mistakes.append(f"the setting {full} is not known; {_similar(name, definitions)}")
        else:
            try:
                values[name] = definitions[name][0](text)
            except (ValueError, KeyError):
                shown = "" if name in HAS_SECRETS or full in merged.variables else f": {text!r}"
                place, form = setting_variables.place(name, variables), _expected_form(definitions[name][0])
                mistakes.append(f"{place} has a value that cannot be read{shown}{form}")
            except Exception as error:
                raise PackageError(packages.get(name, CORE)) from error
    if not incomplete:  # a feature that is not known may be one of a package that failed
        mistakes += feature_mistakes(apps.values(), values[DISABLED])
    return values, mistakes


def _expected_form(reader: Callable[[str], Any]) -> str:
    """The first sentence of a reader's docstring, as a half sentence."""
    text = "" if reader in (int, float, str) else (reader.__doc__ or "")
    first = re.split(r"\.\s|\.$|\n\n", text.strip(), maxsplit=1)[0].replace("``", "")
    words = " ".join(first.split())
    return f"; expected: {words[:1].lower()}{words[1:]}" if words else ""


def _similar(name: str, definitions: SettingDefinitions) -> str:
    """The known names that are spelled alike, as a half sentence; all of them, when none is."""
    close = difflib.get_close_matches(name, definitions, n=3)
    if close:
        return "did you mean " + " or ".join(f"netinv.{other}" for other in close) + "?"
    return f"known are {', '.join(sorted(definitions))}"


def secret_mistake(values: Mapping[str, Any], variables: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """A sentence for a secret that is too short; ``None`` for one that will do."""
    if len(values["secret"]) >= SHORTEST_SECRET:
        return None
    place = (
        f"the file {values['secret_file']}" if values["secret_file"] else setting_variables.place("secret", variables)
    )
    return (
        f"{place} must hold a random text of at least {SHORTEST_SECRET} characters, such as {secrets.token_urlsafe(36)}"
    )


def _secret_in(path: str) -> str:
    """Reads the secret from a file. Creates it, readable by its owner only, if it does not exist.

    :raises ValueError: when neither a secret nor a file is set
    """
    if not path:
        raise ValueError("netinv.secret (or netinv.secret_file) must be set: it encrypts what is stored of secrets")
    place = pathlib.Path(path)
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch(mode=0o600)
        place.write_text(secrets.token_urlsafe(48))
    return place.read_text().strip()
