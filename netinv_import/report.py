"""Reports of imports, for all importers: every object has one outcome."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from netinv_core.importing.dump import Key

OUTCOMES = ("created", "updated", "deleted", "unchanged", "derived", "skipped", "refused")
CREATED, UPDATED, DELETED, UNCHANGED, DERIVED, SKIPPED, REFUSED = OUTCOMES


@dataclasses.dataclass
class ImportReport:
    """Outcomes of an import.

    ``outcomes`` and ``reasons`` are by object. ``added`` has the outcomes of objects that this system requires and the
    source lacks. ``left_out`` counts the values that cannot be stored here, by model, field and reason. ``kept`` has
    the custom field and the number of values without a field here, by model and field. ``incomplete`` has objects that
    lack a reference which was refused, with the reason. ``beyond`` has names, by model, of objects that exist here and
    not in the source. ``advance(label)`` is called after each object, of the ``expected`` number. An importer of files
    counts files in place of objects, in ``files``.
    """

    advance: Callable[[str], None] = lambda label: None
    expected: int = 0
    outcomes: dict[Key, str] = dataclasses.field(default_factory=dict)
    reasons: dict[Key, str] = dataclasses.field(default_factory=dict)
    added: dict[Key, str] = dataclasses.field(default_factory=dict)
    left_out: Mapping[tuple[str, str, str], int] = dataclasses.field(default_factory=dict)
    kept: Mapping[tuple[str, str], tuple[str, int]] = dataclasses.field(default_factory=dict)
    incomplete: list[tuple[Key, str]] = dataclasses.field(default_factory=list)
    beyond: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    files: int | None = None

    @property
    def done(self) -> int:
        """The number of objects (or files) done so far."""
        return len(self.outcomes) if self.files is None else self.files

    def settle(self, key: Key, outcome: str, reason: str = "") -> None:
        """Sets the outcome of an object, and the reason for it."""
        self.outcomes[key] = outcome
        if reason:
            self.reasons[key] = reason

    def take(self, other: ImportReport) -> None:
        """Adds another report; outcomes that are set already stay."""
        for key, outcome in other.outcomes.items():
            if key not in self.outcomes:
                self.settle(key, outcome, other.reasons.get(key, ""))
        self.incomplete += other.incomplete
        self.added = {**other.added, **self.added}
        kept = {key: (place, n + self.kept.get(key, ("", 0))[1]) for key, (place, n) in other.kept.items()}
        self.kept = {**self.kept, **kept}
        for label, names in other.beyond.items():
            self.beyond.setdefault(label, []).extend(names)

    def counts(self) -> dict[str, collections.Counter[str]]:
        """Counts the objects of each model by outcome."""
        counts: dict[str, collections.Counter[str]] = {}
        for (label, _), outcome in self.outcomes.items():
            counts.setdefault(label, collections.Counter())[outcome] += 1
        return counts

    def total(self, outcome: str) -> int:
        """Counts the objects of all models with an outcome."""
        return sum(item == outcome for item in self.outcomes.values())

    def as_json(self) -> dict[str, Any]:
        """Returns the report as JSON has it: counts by model and outcome, and every object that is not there whole."""
        problems = {SKIPPED, REFUSED}
        return {
            "models": {label: dict(counts) for label, counts in sorted(self.counts().items())},
            "total": {outcome: self.total(outcome) for outcome in OUTCOMES},
            "objects": [
                {"model": label, "key": key, "outcome": outcome, "reason": self.reasons.get((label, key), "")}
                for (label, key), outcome in self.outcomes.items()
                if outcome in problems
            ],
            "added": [{"model": label, "key": key, "outcome": outcome} for (label, key), outcome in self.added.items()],
            "kept": [
                {"model": label, "field": field, "custom_field": place, "values": n}
                for (label, field), (place, n) in sorted(self.kept.items())
            ],
            "left_out": [
                {"model": label, "field": field, "reason": reason, "values": n}
                for (label, field, reason), n in sorted(self.left_out.items())
            ],
            "incomplete": [{"model": label, "key": key, "reason": reason} for (label, key), reason in self.incomplete],
        }
