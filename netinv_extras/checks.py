"""Checks of ``netinv check``: addresses that webhooks and Git may reach, folders, the command ``git``, and config
contexts that apply to nothing.
"""

from __future__ import annotations

import ipaddress
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from sqlalchemy.engine import Engine

from netinv_core.findings import OK, PROBLEM, WARNING, Finding, folder
from netinv_core.registry import Registry
from netinv_extras.config_contexts import limits

MAX_LISTED = 10


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


def git(registry: Registry) -> Finding:
    """Checks that the command ``git`` is installed."""
    if shutil.which("git") is None:
        message = "the command git is not installed: Git repositories cannot be synchronised"
        return Finding("git", WARNING, message, "install git 2.37 or newer")
    return Finding("git", OK, "the command git is installed")


def config_contexts(engine: Engine) -> Finding:
    """Config contexts that apply to nothing, as the last object of one of their scopes was deleted."""
    with engine.connect() as connection:
        found = limits.contexts_without_objects(connection)
    if not found:
        return Finding("config contexts", OK, "no scope of a config context has lost its objects")
    listed = "; ".join(f"{name} ({', '.join(scopes)})" for name, scopes in found[:MAX_LISTED])
    more = f"; and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
    message = f"config contexts apply to nothing, as their scopes have lost the last object: {listed}{more}"
    return Finding("config contexts", WARNING, message, "list objects there, write an empty list, or delete them")


def findings(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """All findings of this package."""
    settings = registry.settings
    named = [
        *(("secrets_file_folders", path) for path in settings["secrets_file_folders"]),
        *(("jobs_root", path) for path in [settings["jobs_root"]] if path),
    ]
    git_folder = folder("Git folder", "netinv.git_root", settings["git_root"])
    git_guard = guard(registry, "git_allow", "Git guard")
    return [git_guard, *git_folder, *missing_folders(named), git(registry), config_contexts(engine)]
