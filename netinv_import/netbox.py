"""Import of a dump of another inventory through the ordinary write path, with rules and change records.

An object's id is derived from its model and key in the dump, so that a second run updates the objects of the first.
Every object of the dump has exactly one outcome; values that cannot be imported are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth.models import User
from netinv_core.errors import RequestError, error_text
from netinv_core.fields import Reference
from netinv_core.importing.dump import Declaration, Dump, Key, Part
from netinv_core.write import save
from netinv_import import dumpdata
from netinv_import.mapping import NO_RESOURCE, Body, DumpMapping, Missing
from netinv_import.matching import Matching
from netinv_import.preparation import UNREADABLE
from netinv_import.report import CREATED, DERIVED, REFUSED, SKIPPED, UNCHANGED, UPDATED, ImportReport

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

BATCH_SIZE = 500
NAMED = "kept as a name in custom fields"
UNUSED = "nothing refers to it, and only its name would be kept"


def import_netbox(uow: UnitOfWork, path: Path, report: ImportReport, *, origin: str = "netbox") -> None:
    """Imports the dump in a file as the user of the unit of work; does not commit.

    ``origin`` names the inventory of the dump: objects with one key from two inventories are different objects.

    :raises ValueError: when the file is not a dump
    """
    import_dump(uow, dumpdata.read(path), declarations(uow.registry), report, origin=origin)


def declarations(registry: Registry, product: str = "netbox") -> dict[str, Declaration]:
    """Returns how the installed packages map the models of a ``netbox`` or ``nautobot``.

    Declarations of plugins replace those of applications: a plugin may have a resource for a model that is else kept
    as a name, or not at all.
    """
    declared: dict[str, Declaration] = {}
    results = list(registry.call_each("netinv_importers", registry=registry, product=product))
    for _, models in sorted(results, key=lambda result: _is_plugin(registry, result[0])):
        declared.update(models)
    return declared


def _is_plugin(registry: Registry, package: str) -> bool:
    """True for a package whose application is a plugin."""
    return package in registry.apps and registry.apps[package].plugin


def import_dump(
    uow: UnitOfWork,
    dump: Dump,
    sources: Mapping[str, Declaration],
    report: ImportReport,
    *,
    origin: str,
    keep_ids: bool = False,
    commit: Callable[[], None] = lambda: None,
) -> None:
    """Imports a dump as the user of the unit of work. ``commit()`` is called after each batch."""
    report.expected = len(dump)
    uow.importing = True
    Import(uow, mapping_of(uow, dump, sources, origin=origin, keep_ids=keep_ids), report, commit).run()


def mapping_of(
    uow: UnitOfWork, dump: Dump, sources: Mapping[str, Declaration], *, origin: str, keep_ids: bool = False
) -> DumpMapping:
    """Returns the mapping of a dump, completed by the packages; nothing is written."""

    def complete(mapping: DumpMapping) -> None:
        uow.registry.hooks.netinv_complete_import(uow=uow, mapping=mapping)

    users = {name: id_ for id_, name in uow.execute(sa.select(User.id, User.username))}
    user_id = uow.identity.user_id
    return DumpMapping(
        uow.registry, dump, sources, user_id=user_id, users=users, origin=origin, keep_ids=keep_ids, complete=complete
    )


class Import:
    """One run over a dump; see :func:`import_dump`."""

    def __init__(
        self, uow: UnitOfWork, mapping: DumpMapping, report: ImportReport, commit: Callable[[], None] = lambda: None
    ) -> None:
        self.uow = uow
        self.commit = commit
        self.mapping = mapping
        self.matching = Matching(uow, mapping)
        self.report = report
        self.ids, self.here = mapping.ids, mapping.here
        report.left_out = mapping.left_out
        report.kept = mapping.kept

    def run(self) -> None:
        """Imports all objects, then sets deferred references."""
        mapping = self.mapping
        for label in mapping.order():
            for keys in mapping.dependency_levels(label):
                for start in range(0, len(keys), BATCH_SIZE):
                    self._import(label, keys[start : start + BATCH_SIZE])
                    self.commit()
        for label, source in mapping.sources.items():
            if source.deferred:
                self._import_deferred(label)
                self.commit()
        for label, objects in mapping.dump.objects.items():
            for key, fields in objects.items():
                self._settle_unmapped((label, key), fields)
        for key, reason in mapping.broken.items():
            self._settle(key, REFUSED, reason)
        for key, reason in mapping.skipped.items():
            self._settle(key, SKIPPED, reason)
        for added in mapping.added:
            self.report.added[added] = self.report.outcomes.pop(added)
            if reason := self.report.reasons.pop(added, ""):
                self.report.incomplete.append((added, reason))

    def _settle_unmapped(self, key: Key, fields: Mapping[str, Any]) -> None:
        """Sets the outcome of an object whose model has no :class:`Source`."""
        mapping, label = self.mapping, key[0]
        if label in mapping.parts:
            self._settle_part(key, mapping.parts[label], fields)
        elif label in mapping.folded:
            self._settle_folded(key, mapping.folded[label].get(key[1], NO_RESOURCE))
        elif label in mapping.named and key in mapping.named_by:
            self._settle(key, DERIVED, NAMED + mapping.named[label].remedy)
        elif label in mapping.named:
            self._settle(key, SKIPPED, UNUSED + mapping.named[label].remedy)
        elif label in mapping.excluded:
            self._settle(key, SKIPPED, mapping.excluded[label])
        elif label in mapping.derived:
            self._settle(key, DERIVED, mapping.derived[label].reason)
        elif label not in mapping.sources:
            self._settle(key, SKIPPED, NO_RESOURCE)

    def _settle(self, key: Key, outcome: str, reason: str = "") -> None:
        self.report.settle(key, outcome, reason)
        self.report.advance(key[0])

    def _import(self, label: str, keys: Sequence[Any]) -> None:
        """Creates and updates objects of a model."""
        bodies: dict[Any, Body] = {}
        for key in keys:
            try:
                bodies[key] = self.mapping.body(label, key)
            except Missing as error:
                self._settle((label, key), *self._outcome_for_missing(label, error))
            except UNREADABLE as error:
                self._settle((label, key), REFUSED, f"its fields cannot be read: {error}")
        self.matching.recognise(label, bodies)
        before = self.matching.representations(label, bodies)
        new = [key for key in bodies if key not in before]
        self._attempt(label, new, lambda batch: self._create(label, {key: bodies[key] for key in batch}))
        changes = {key: self.matching.differences(label, current, bodies[key]) for key, current in before.items()}
        for key, change in changes.items():
            self.here.add((label, key))
            if not change:
                self._settle((label, key), UNCHANGED)
        self._update_batches(label, changes, before)

    def _import_deferred(self, label: str) -> None:
        """Sets the deferred references of objects that exist here."""
        bodies: dict[Any, Body] = {}
        for key in self.mapping.dump.objects[label]:
            if (label, key) in self.here:
                try:
                    bodies[key] = self.mapping.body(label, key, deferred=True)
                except Missing as error:
                    self.report.incomplete.append(((label, key), self._reason(error)))
        before = self.matching.representations(label, bodies)
        changes = {key: self.matching.differences(label, current, bodies[key]) for key, current in before.items()}
        self._update_batches(label, changes, before)

    def _update_batches(self, label: str, changes: Mapping[Any, Body], before: Mapping[Any, Body]) -> None:
        """Updates the objects with changes."""
        changed = [key for key, change in changes.items() if change]
        self._attempt(label, changed, lambda batch: self._update(label, {key: changes[key] for key in batch}, before))

    def _settle_folded(self, key: Key, owner: Key | str) -> None:
        """Sets the outcome of a folded object: that of the object with its values, or a reason why there is none."""
        if isinstance(owner, str):
            self._settle(key, SKIPPED, owner)
        elif owner in self.here:
            self._settle(key, self.report.outcomes.get(owner, UNCHANGED))
        else:
            outcome = self.report.outcomes.get(owner, SKIPPED)
            self._settle(key, outcome, f"what it belongs to, {_name(owner)}, was {outcome}")

    def _settle_part(self, key: Key, part: Part, fields: Mapping[str, Any]) -> None:
        """Sets the outcome of a part: that of its owner."""
        owner = part.owner_of(fields)
        if owner not in self.here:
            outcome = self.report.outcomes.get(owner, SKIPPED)
            self._settle(key, outcome, f"what it belongs to, {_name(owner)}, was {outcome}")
        elif part.field not in self._endpoint(owner[0]).writable and (owner[0], part.field) not in self.mapping.kept:
            self._settle(key, REFUSED, f"{owner[0]} has no {part.field} here")
        else:
            self._settle(key, self.report.outcomes[owner])

    def _endpoint(self, label: str) -> Endpoint:
        return self.mapping.endpoint(label)

    def _outcome_for_missing(self, label: str, error: Missing) -> tuple[str, str]:
        """Returns outcome and reason of an object with a missing reference; without its parent, it is skipped."""
        parent = self._endpoint(label).writable.get(self.mapping.sources[label].parent)
        if isinstance(parent, Reference) and parent.target is self._endpoint(error.key[0]):
            outcome = self.report.outcomes.get(error.key, SKIPPED)
            return SKIPPED, f"the {parent.target.title} they belong to was {outcome}"
        return REFUSED, self._reason(error)

    def _reason(self, error: Missing) -> str:
        in_dump = "part of a circle" if error.key in self.ids else "not in the dump"
        return f"refers to {_name(error.key)}, which was {self.report.outcomes.get(error.key) or in_dump}"

    # -- writing

    def _attempt(self, label: str, keys: Sequence[Any], write: Callable[[Sequence[Any]], Mapping[Any, str]]) -> None:
        """Writes a batch in a savepoint; ``write`` returns the outcomes.

        After an error, the objects without errors are tried again; when the error names no object, each half.
        """
        if not keys:
            return
        try:
            with self.uow.savepoint() as changes:
                outcomes = write(keys)
                changes.write(self.uow)  # not with the commit: an import has too many changes to keep in memory
        except (RequestError, sa.exc.DBAPIError) as error:
            reasons = _reasons(error, keys)
            for key, reason in reasons.items():
                self._refuse((label, key), reason)
            remaining = [key for key in keys if key not in reasons]
            middle = 0 if reasons else len(remaining) // 2
            self._attempt(label, remaining[:middle], write)
            self._attempt(label, remaining[middle:], write)
            return
        for key, outcome in outcomes.items():
            self.here.add((label, key))
            if self.report.outcomes.get((label, key), UNCHANGED) == UNCHANGED:
                self._settle((label, key), outcome)

    def _refuse(self, key: Key, reason: str) -> None:
        """Sets the outcome of a refused object; one that has an outcome already is incomplete instead."""
        if key in self.report.outcomes:
            self.report.incomplete.append((key, reason))
        else:
            self._settle(key, REFUSED, reason)

    def _create(self, label: str, bodies: Mapping[Any, Body]) -> dict[Any, str]:
        ids = [self.ids[label, key] for key in bodies]
        save.create(self.uow, self._endpoint(label), list(bodies.values()), ids=ids, single=len(ids) == 1)
        return dict.fromkeys(bodies, CREATED)

    def _update(self, label: str, changes: Mapping[Any, Body], before: Mapping[Any, Body]) -> dict[Any, str]:
        items = [{**change, "id": str(self.ids[label, key])} for key, change in changes.items()]
        after = save.update(self.uow, self._endpoint(label), items, partial=True, single=len(items) == 1)
        return {
            key: UPDATED if _is_changed(before[key], representation) else UNCHANGED
            for key, representation in zip(changes, after, strict=True)
        }


def _reasons(error: RequestError | sa.exc.DBAPIError, keys: Sequence[Any]) -> dict[Any, str]:
    """Returns the error text of each object of a batch that an error names."""
    body = error.body if isinstance(error, RequestError) else str(error.orig)
    if isinstance(body, list) and len(body) == len(keys):
        return {key: error_text(entry) for key, entry in zip(keys, body, strict=True) if entry}
    return {keys[0]: error_text(body)} if len(keys) == 1 else {}


def _name(key: Key) -> str:
    return f"{key[0]} {key[1]}"


def _is_changed(before: Body, after: Body) -> bool:
    return any(before.get(name) != value for name, value in after.items() if name != "last_updated")
