"""Checks of ``netinv check`` that several features share: allowed addresses, folders that settings name, conditions."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session

from netinv_core.auth.account import ANONYMOUS
from netinv_core.findings import OK, PROBLEM, WARNING, Finding
from netinv_core.uow import UnitOfWork
from netinv_extras.change_judging import ChangeJudge

if TYPE_CHECKING:
    from netinv_core.registry import Registry


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


def conditions(engine: Engine, registry: Registry, judge: ChangeJudge) -> Iterable[Finding]:
    """Webhooks or job hooks whose conditions their content types do not know any more, or one finding for all."""
    check, faults, count = f"conditions of {judge.kind}s", [], 0
    with Session(engine) as session:
        uow = UnitOfWork(registry, session, ANONYMOUS).as_system()
        for label, hook in judge.all_hooks(uow):
            count += 1
            if hook.fault:
                message = f"the {judge.kind} “{hook.name}” is told of no change of {label}: {hook.fault}"
                faults.append(Finding(check, WARNING, message, "correct its conditions, or delete it"))
    return faults or [Finding(check, OK, f"{count} can be judged")]
