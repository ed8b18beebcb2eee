"""What became of what was imported: every object has one outcome, and there is one report for every importer."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Mapping

from netinv_core.importing.dump import Key

CREATED, UPDATED, UNCHANGED, DERIVED, SKIPPED, REFUSED = OUTCOMES = ("created", "updated", "unchanged", "derived", "skipped", "refused")


@dataclasses.dataclass
class Report:
    """What became of what was imported.

    ``outcomes`` and ``reasons`` are by object, ``added`` holds the outcomes of objects that the dump lacks and this
    system needs, ``left_out`` counts values that have no place here by model, field and reason, ``incomplete`` names
    objects that are here without a reference which was refused, ``beyond`` names by model what is here and not where it was
    looked for. ``advance(label)`` is called when an object is done with, of the ``expected`` number; who imports files counts
    those instead, in ``files``.
    """

    advance: Callable[[str], None] = lambda label: None
    expected: int = 0
    outcomes: dict[Key, str] = dataclasses.field(default_factory=dict)
    reasons: dict[Key, str] = dataclasses.field(default_factory=dict)
    added: dict[Key, str] = dataclasses.field(default_factory=dict)
    left_out: Mapping[tuple[str, str, str], int] = dataclasses.field(default_factory=dict)
    incomplete: list[tuple[Key, str]] = dataclasses.field(default_factory=list)
    beyond: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    files: int | None = None

    @property
    def done(self) -> int:
        """How many of the expected number are done with."""
        return len(self.outcomes) if self.files is None else self.files

    def settle(self, key: Key, outcome: str, reason: str = "") -> None:
        """Says what became of an object, and why."""
        self.outcomes[key] = outcome
        if reason:
            self.reasons[key] = reason

    def take(self, other: Report) -> None:
        """Adds what became of more objects; what was said of an object stays."""
        for key, outcome in other.outcomes.items():
            if key not in self.outcomes:
                self.settle(key, outcome, other.reasons.get(key, ""))
        self.incomplete += other.incomplete
        for label, names in other.beyond.items():
            self.beyond.setdefault(label, []).extend(names)

    def counts(self) -> dict[str, collections.Counter[str]]:
        """How many objects of each model had each outcome."""
        found: dict[str, collections.Counter[str]] = {}
        for (label, _), outcome in self.outcomes.items():
            found.setdefault(label, collections.Counter())[outcome] += 1
        return found

    def total(self, outcome: str) -> int:
        """How many objects of all models had an outcome."""
        return sum(found == outcome for found in self.outcomes.values())
