"""Findings of the self-check ``netinv check``."""

from __future__ import annotations

import dataclasses

OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclasses.dataclass(frozen=True)
class Finding:
    """One finding: ``check`` is the name of what was checked, ``level`` one of :data:`OK`, :data:`WARNING` and
    :data:`PROBLEM`, ``message`` a sentence, ``remedy`` what to do about it.
    """

    check: str
    level: str
    message: str
    remedy: str = ""
