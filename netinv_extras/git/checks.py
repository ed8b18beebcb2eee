"""Checks of ``netinv check``: addresses that Git may reach, its folder, and the command ``git``."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import TYPE_CHECKING

from netinv_core.findings import OK, WARNING, Finding, folder
from netinv_extras.checks import guard

if TYPE_CHECKING:
    from netinv_core.registry import Registry


def findings(registry: Registry) -> Iterable[Finding]:
    """All findings about Git."""
    yield guard(registry, "git_allow", "Git guard")
    yield from folder("Git folder", "netinv.git_root", registry.settings["git_root"])
    yield _command()


def _command() -> Finding:
    if shutil.which("git") is None:
        message = "the command git is not installed: Git repositories cannot be synchronised"
        return Finding("git", WARNING, message, "install git 2.37 or newer")
    return Finding("git", OK, "the command git is installed")
