"""Settings: the names of the ini file (``netinv.…``), their types and defaults."""

from __future__ import annotations

import ipaddress
import pathlib
import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _flag(text: str) -> bool:
    return _WORDS[text.strip().lower()]


def _count(text: str) -> int:
    return 0 if text.strip().lower() in ("", "none") else int(text)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _size(text: str) -> int:
    """Bytes, or a number of KiB, MiB or GiB."""
    number, _, unit = text.strip().partition(" ")
    return int(number) * {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit.strip()]


def _seconds(text: str) -> float:
    """Seconds, more than none."""
    found = float(text)
    if not 0 < found < float("inf"):
        raise ValueError(text)
    return found


def _targets(text: str) -> tuple[str, ...]:
    """Networks (an address alone is one) and host names."""
    for word in text.split():
        if not re.fullmatch(r"(?=.*[a-z])[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?", word.lower()):
            ipaddress.ip_network(word, strict=False)
    return tuple(word.lower() for word in text.split())


# name → (reader of the text, default)
KNOWN: dict[str, tuple[Callable[[str], Any], Any]] = {
    "database_url": (str, "sqlite:///netinv.sqlite"),
    "database_pool": (int, 10),
    "secret": (str, ""),
    "secret_file": (str, ""),
    "queue_url": (str, ""),
    "embedded_worker": (_flag, False),
    "paginate_count": (int, 50),
    "max_page_size": (_count, 1000),
    "strict_filtering": (_flag, True),
    "enforce_global_unique": (_flag, False),
    "prefer_ipv4": (_flag, False),
    "exempt_view_permissions": (_words, ()),
    "base_url": (str, ""),
    "changelog_retention": (int, 90),
    "feed_waiters": (int, 2),
    "webhook_allow": (_targets, ()),
    "webhook_connect_timeout": (_seconds, 3.0),
    "webhook_read_timeout": (_seconds, 10.0),
    "webhook_total_timeout": (_seconds, 30.0),
    "webhook_threads": (int, 32),
    "media_root": (str, "var/media"),
    "max_upload_size": (_size, 5 * 2**20),
}


def read(settings: Mapping[str, str]) -> dict[str, Any]:
    """The ``netinv.`` settings of an ini file, typed, defaults filled in.

    :raises ValueError: for a name that is not known, or a value that cannot be read
    """
    found: dict[str, Any] = {name: default for name, (_, default) in KNOWN.items()}
    for full, text in settings.items():
        if not full.startswith("netinv."):
            continue
        name = full.removeprefix("netinv.")
        if name not in KNOWN:
            raise ValueError(f"the setting {full} is not known; known are {', '.join(sorted(KNOWN))}")
        try:
            found[name] = KNOWN[name][0](text)
        except (ValueError, KeyError):
            raise ValueError(f"the setting {full} has a value that cannot be read: {text!r}") from None
    found["secret"] = found["secret"] or _secret_in(found["secret_file"])
    return found


def _secret_in(path: str) -> str:
    """The secret kept in a file, which is made when it is not there; readable by its owner only.

    :raises ValueError: when neither a secret nor a file is set
    """
    if not path:
        raise ValueError("netinv.secret (or netinv.secret_file) must be set: it protects the token keys")
    place = pathlib.Path(path)
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch(mode=0o600)
        place.write_text(secrets.token_urlsafe(48))
    return place.read_text().strip()
