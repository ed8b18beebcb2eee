"""Sorts differences into documented and new ones, and prints them."""

from __future__ import annotations

import collections
import dataclasses
import fnmatch
import tomllib
from collections.abc import Sequence
from pathlib import Path

from compare.pair import Difference

ALLOWED = Path(__file__).parent / "allowed.toml"


@dataclasses.dataclass(frozen=True)
class Allowed:
    """A documented difference: patterns (``*`` for any text) of the part, model, request, member and both values, and
    the reason.
    """

    reason: str
    part: str = "*"
    model: str = "*"
    request: str = "*"
    member: str = "*"
    first: str = "*"
    second: str = "*"

    def covers(self, difference: Difference) -> bool:
        """True when the difference is this one."""
        pairs = (
            (difference.part, self.part),
            (difference.model, self.model),
            (difference.request, self.request),
            (difference.member, self.member),
            (repr(difference.first), self.first),
            (repr(difference.second), self.second),
        )
        return all(fnmatch.fnmatchcase(value, pattern.replace("[", "[[]")) for value, pattern in pairs)


def read_allowed(path: Path) -> list[Allowed]:
    """The documented differences in a TOML file."""
    return [Allowed(**entry) for entry in tomllib.loads(path.read_text()).get("difference", [])]


def reason_for(difference: Difference, allowed: Sequence[Allowed]) -> str | None:
    """The reason of the first entry that covers a difference."""
    return next((entry.reason for entry in allowed if entry.covers(difference)), None)


def sort(differences: Sequence[Difference], allowed: Sequence[Allowed]) -> tuple[list[Difference], dict[str, int]]:
    """The differences that nothing allows, and how many each reason covers."""
    new: list[Difference] = []
    known: collections.Counter[str] = collections.Counter()
    for difference in differences:
        reason = reason_for(difference, allowed)
        if reason is None:
            new.append(difference)
        else:
            known[reason] += 1
    return new, known


def text(compared: int, new: Sequence[Difference], known: dict[str, int], *, show_all: bool) -> str:
    """The differences by part, model and title, and how many answers agree."""
    lines: list[str] = []
    groups: dict[tuple[str, str, str], list[Difference]] = {}
    for difference in new:
        groups.setdefault((difference.part, difference.model, difference.title), []).append(difference)
    for (part, model, title), some in groups.items():
        lines.append(f"== {part} {model}: {title}")
        lines.extend(f"  {difference}" for difference in some)
    if show_all:
        lines.append("== documented")
        lines.extend(f"  {count:6} {reason}" for reason, count in known.items())
    requests = len({(difference.part, difference.model, difference.title, difference.request) for difference in new})
    rate = 100 * (compared - requests) / compared if compared else 100.0
    lines.append(
        f"{compared} answers compared, {requests} differ ({rate:.2f} % agree), "
        f"{sum(known.values())} documented differences"
    )
    return "\n".join(lines)
