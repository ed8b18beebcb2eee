"""Comparison of a source with the objects here that an import makes of it: what another import would change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.importing.dump import Key
from netinv_import.comparison import ACCOUNT, Comparison, MemberDifference, ModelResult
from netinv_import.mapping import NO_RESOURCE, Body, DumpMapping, Missing
from netinv_import.matching import Matching, plain
from netinv_import.preparation import UNREADABLE, is_account

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

OBJECTS_AT_ONCE = 500
AT_OTHERS = "compared at the objects that it is a part of"


class MappedComparison:
    """One comparison of a mapping with the database; nothing is written."""

    def __init__(self, uow: UnitOfWork, mapping: DumpMapping, advance: Callable[[str], None]) -> None:
        self.uow, self.mapping, self.advance = uow, mapping, advance
        self.matching = Matching(uow, mapping)
        self.result = Comparison(left_out=_left_out(mapping))
        self._added = set(mapping.added)
        self._different: set[Key] = set()

    def run(self) -> Comparison:
        """Compares all objects, then the references that are set last."""
        mapping = self.mapping
        for label in mapping.order():
            self.advance(label)
            table = mapping.endpoint(label).table
            (here,) = self.uow.execute(sa.select(sa.func.count()).select_from(table)).scalars()
            self.result.models[label] = ModelResult(here=here)
            for keys in mapping.dependency_levels(label):
                self._compare(label, keys)
        for label, source in mapping.sources.items():
            if source.deferred:
                self._compare(label, [key for key in mapping.dump.objects[label] if (label, key) in mapping.here], True)
        for label, model in self.result.models.items():
            different = sum(key[0] == label for key in self._different)
            model.equal = model.there - len(model.only_there) - different
        return self.result

    def _compare(self, label: str, keys: list[Any], deferred: bool = False) -> None:
        """Compares objects of a model: the ordinary fields, or those that are ``deferred``."""
        for start in range(0, len(keys), OBJECTS_AT_ONCE):
            bodies = self._bodies(label, keys[start : start + OBJECTS_AT_ONCE], deferred)
            if not deferred:
                self.matching.recognise(label, bodies)
            before = self.matching.representations(label, bodies)
            for key, body in bodies.items():
                if key in before:
                    self.mapping.here.add((label, key))
                    self._note(label, key, before[key], body)
                else:
                    self._note_missing(label, key)
                self.result.models[label].there += not deferred and (label, key) not in self._added

    def _bodies(self, label: str, keys: Iterable[Any], deferred: bool) -> dict[Any, Body]:
        """Returns the bodies of objects; those that refer to an object which is missing here are missing too."""
        bodies: dict[Any, Body] = {}
        for key in keys:
            try:
                bodies[key] = self.mapping.body(label, key, deferred=deferred)
            except (Missing, *UNREADABLE):
                self.result.models[label].there += not deferred
                self._note_missing(label, key)
        return bodies

    def _note_missing(self, label: str, key: Any) -> None:
        if (label, key) not in self._added:
            self.result.models[label].only_there.append(f"{self.mapping.dump.name(label, key)} ({key})")

    def _note(self, label: str, key: Any, representation: Body, body: Body) -> None:
        """Notes the fields of an object that differ."""
        differences = self._without_accounts(label, self.matching.differences(label, representation, body))
        if not differences or (label, key) in self._added:
            return
        self._different.add((label, key))
        title = f"{representation.get('display') or ''} ({representation['id']})"
        for name, value in differences.items():
            for member, there, here in _members(name, value, representation.get(name)):
                self.result.differences.append(MemberDifference(label, title, member, there, here))

    def _without_accounts(self, label: str, differences: Body) -> Body:
        """Returns the differences without references to accounts, which are counted as known."""
        fields = self.mapping.endpoint(label).writable
        accounts = {name for name in differences if is_account(fields[name])}
        if accounts:
            self.result.known[ACCOUNT] = self.result.known.get(ACCOUNT, 0) + len(accounts)
        return {name: value for name, value in differences.items() if name not in accounts}


def _members(name: str, there: Any, here: Any) -> Iterable[tuple[str, Any, Any]]:
    """Yields the member, or those of custom fields that differ, with both values."""
    if not isinstance(there, Mapping) or not isinstance(here, Mapping) or "id" in here or "value" in here:
        yield name, plain(there), plain(here)
        return
    for member, value in there.items():
        if plain(value) != plain(here.get(member)):
            yield f"{name}.{member}", plain(value), plain(here.get(member))


def _left_out(mapping: DumpMapping) -> dict[str, str]:
    """Returns the models of the source that are not compared, with the reasons."""
    reasons: dict[str, str] = {}
    for label, rows in mapping.dump.objects.items():
        if label in mapping.sources or not rows:
            continue
        derived = mapping.derived.get(label)
        at_others = label in mapping.parts or label in mapping.folded or label in mapping.named
        default = AT_OTHERS if at_others else NO_RESOURCE
        reasons[label] = mapping.excluded.get(label) or (derived.reason if derived else default)
    return reasons
