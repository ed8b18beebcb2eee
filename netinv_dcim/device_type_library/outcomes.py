"""Outcomes of an import of the device type library by file: a type with its components, and notes on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from netinv_dcim.device_types import DeviceType
from netinv_import.report import CREATED, DELETED, REFUSED, SKIPPED, UNCHANGED, UPDATED, ImportReport

if TYPE_CHECKING:
    from netinv_core.registry import Registry

MAX_NAMES = 5  # of components that a note lists
_CHANGES = (CREATED, UPDATED, DELETED)


class FileOutcomes:
    """Outcomes of the files of an import, by their names in the library."""

    def __init__(self, registry: Registry, report: ImportReport) -> None:
        self.registry, self.report = registry, report
        self.types = registry.of_model(DeviceType).label
        outcomes = report.outcomes.items()
        self._changed = {str(key).partition(": ")[0] for (_, key), outcome in outcomes if outcome in _CHANGES}

    def outcome(self, name: str) -> str:
        """The outcome of a file: that of its type, which is updated with its components."""
        outcome = self.report.outcomes.get((self.types, name), SKIPPED)
        return UPDATED if outcome == UNCHANGED and name in self._changed else outcome

    def reason(self, name: str) -> str:
        """The reason for the outcome of a file, or nothing."""
        return self.report.reasons.get((self.types, name), "")

    def notes(self) -> Mapping[str, list[str]]:
        """Notes on the parts that each file lacks: its refused components, and its pictures."""
        notes: dict[str, list[str]] = {}
        for (label, key), outcome in self.report.outcomes.items():
            name, _, part = str(key).partition(": ")
            if outcome == REFUSED and label != self.types and part:
                reason = self.report.reasons.get((label, key), "")
                notes.setdefault(name, []).append(f"{self.title(label)} {part}: {reason}")
        for (_, key), reason in self.report.incomplete:
            name, _, part = str(key).partition(": ")
            notes.setdefault(name, []).append(f"{part}: {reason}" if part else reason)
        return notes

    def beyond(self) -> Mapping[str, str]:
        """A note on the components that the type of a file has and the file has not, by file: they stay, or are
        deleted.
        """
        deleted = [key for (_, key), outcome in self.report.outcomes.items() if outcome == DELETED]
        stay = [key for keys in self.report.beyond.values() for key in keys]
        parts: dict[str, list[str]] = {}
        for key in deleted or stay:
            name, _, part = str(key).partition(": ")
            parts.setdefault(name, []).append(part)
        return {name: _note_on(found, "is deleted" if deleted else "stays") for name, found in parts.items()}

    def general_notes(self) -> list[str]:
        """Notes on the values of all files that have no field here."""
        kept = [
            f"{self.title(label)}: {field} of {n}, in the custom field {place}"
            for (label, field), (place, n) in sorted(self.report.kept.items())
        ]
        return kept + [
            f"{self.title(label)}: {field} of {n} is left out: {reason}"
            for (label, field, reason), n in sorted(self.report.left_out.items())
        ]

    def title(self, label: str) -> str:
        """The title of a model."""
        endpoint = self.registry.get(label)
        return endpoint.title if endpoint is not None else label


def _note_on(parts: Sequence[str], becomes: str) -> str:
    more = f" and {len(parts) - MAX_NAMES} more" if len(parts) > MAX_NAMES else ""
    return f"{', '.join(parts[:MAX_NAMES])}{more}: not in the file, and {becomes}"
