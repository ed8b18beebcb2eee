"""Checks of ``netinv check`` that several features share: allowed addresses, and folders that settings name."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from pathlib import Path

from netinv_core.findings import OK, PROBLEM, WARNING, Finding
from netinv_core.types import Registry


def guard(registry: Registry, setting: str, check: str) -> Finding:
    """Networks that users who write webhooks or Git repositories can have requests sent to."""
    allowed = registry.settings[setting]
    wide = [word for word in allowed if _is_dangerous(word)]
    if wide:
        message = f"netinv.{setting} allows {', '.join(wide)}: this machine, cloud metadata, or every address"
        return Finding(check, WARNING, message, "allow only the networks of the receivers")
    return Finding(check, OK, f"besides public addresses, {len(allowed)} networks and hosts are allowed")


def _is_dangerous(word: str) -> bool:
    """True for a network with this machine or link-local addresses."""
    try:
        network = ipaddress.ip_network(word, strict=False)
    except ValueError:
        return word == "localhost"
    return network.prefixlen == 0 or network.is_loopback or network.is_link_local


def missing_folders(named: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """Folders that settings name and that do not exist, from pairs of a setting and a path."""
    for setting, path in named:
        if not Path(path).is_dir():
            message = f"netinv.{setting}: there is no folder {path}"
            yield Finding("folders", PROBLEM, message, "create it, or correct the setting")
