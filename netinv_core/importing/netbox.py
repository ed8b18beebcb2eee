"""Importing a dump of another inventory through the ordinary write path, so that rules and the change record apply.

An object's id is made from its model and key in the dump, so a second run finds what the first one made. Every object
of the dump ends in exactly one outcome; what of an object could not be taken over is counted too.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from netinv_core.endpoint import Endpoint
from netinv_core.errors import RequestError, error_text
from netinv_core.fields import Reference, Status
from netinv_core.fields.images import MEDIA
from netinv_core.importing.dump import Derived, Dump, Key, Part, Source
from netinv_core.importing.mapping import NO_RESOURCE, Body, DumpMapping, Missing
from netinv_core.importing.report import CREATED, DERIVED, REFUSED, SKIPPED, UNCHANGED, UPDATED, Report
from netinv_core.storage.files import Upload
from netinv_core.uow import UnitOfWork
from netinv_core.write import save
from netinv_core.write.draft import Draft

BATCH = 500


def import_netbox(uow: UnitOfWork, path: Path, report: Report, *, origin: str = "netbox") -> None:
    """Imports the dump in a file, for the context's user; nothing is committed.

    ``origin`` names the inventory the dump comes from: objects of two of them with the same keys are different objects.

    :raises ValueError: when the file is not a dump
    """
    dump = Dump.read(path)
    sources: dict[str, Source | Part | Derived] = {}
    for found in uow.registry.hooks.netinv_importers(registry=uow.registry):
        sources.update(found)
    report.expected = len(dump)
    uow.importing = True
    translation = DumpMapping(uow.registry, dump, sources, user_id=uow.identity.user_id, origin=origin)
    Import(uow, translation, report).run()


class Import:
    """One run over a dump; see :func:`import_netbox`."""

    def __init__(self, uow: UnitOfWork, translation: DumpMapping, report: Report) -> None:
        self.uow = uow
        self.translation = translation
        self.report = report
        self.ids, self.here = translation.ids, translation.here
        report.left_out = translation.left_out

    def run(self) -> None:
        """Imports everything."""
        translation = self.translation
        for label in translation.order():
            for wave in translation.dependency_levels(label):
                for start in range(0, len(wave), BATCH):
                    self._import(label, wave[start : start + BATCH])
        for label, source in translation.sources.items():
            if source.deferred:
                self._import_deferred(label)
        for label, objects in translation.dump.objects.items():
            for key, fields in objects.items():
                if label in translation.parts:
                    self._settle_part((label, key), translation.parts[label], fields)
                elif label in translation.derived:
                    self._settle((label, key), DERIVED, translation.derived[label].reason)
                elif label not in translation.sources:
                    self._settle((label, key), SKIPPED, NO_RESOURCE)
        for added in translation.added:
            self.report.added[added] = self.report.outcomes.pop(added)

    def _settle(self, key: Key, outcome: str, reason: str = "") -> None:
        self.report.settle(key, outcome, reason)
        self.report.advance(key[0])

    def _import(self, label: str, keys: Sequence[Any]) -> None:
        """Creates and updates some objects of a model."""
        bodies: dict[Any, Body] = {}
        for key in keys:
            try:
                bodies[key] = self.translation.body(label, key)
            except Missing as error:
                self._settle((label, key), *self._outcome_for_missing(label, error))
        self._recognise(label, bodies)
        before = self._shown(label, bodies)
        new = [key for key in bodies if key not in before]
        self._attempt(label, new, lambda some: self._create(label, {key: bodies[key] for key in some}))
        changes = {key: self._differing(label, shown, bodies[key]) for key, shown in before.items()}
        for key, change in changes.items():
            self.here.add((label, key))
            if not change:
                self._settle((label, key), UNCHANGED)
        changing = [key for key, change in changes.items() if change]
        self._attempt(label, changing, lambda some: self._update(label, {key: changes[key] for key in some}, before))

    def _import_deferred(self, label: str) -> None:
        """Sets the references that had to wait, on the objects that are here."""
        bodies: dict[Any, Body] = {}
        for key in self.translation.dump.objects[label]:
            if (label, key) in self.here:
                try:
                    bodies[key] = self.translation.body(label, key, later=True)
                except Missing as error:
                    self.report.incomplete.append(((label, key), self._why(error)))
        before = self._shown(label, bodies)
        changes = {key: change for key, shown in before.items() if (change := self._differing(label, shown, bodies[key]))}
        self._attempt(label, list(changes), lambda some: self._update(label, {key: changes[key] for key in some}, before))

    def _settle_part(self, key: Key, part: Part, fields: Mapping[str, Any]) -> None:
        """A part has the outcome of what it is part of."""
        owner = part.owner_of(fields)
        if owner not in self.here:
            fate = self.report.outcomes.get(owner, SKIPPED)
            self._settle(key, fate, f"what it belongs to, {_name(owner)}, was {fate}")
        elif part.field not in self._endpoint(owner[0]).writable:
            self._settle(key, REFUSED, f"{owner[0]} has no {part.field} here")
        else:
            self._settle(key, self.report.outcomes[owner])

    def _endpoint(self, label: str) -> Endpoint:
        return self.translation.endpoint(label)

    def _outcome_for_missing(self, label: str, error: Missing) -> tuple[str, str]:
        """What becomes of an object that refers to one which is not here: a part goes the way of the whole."""
        whole = self._endpoint(label).writable.get(self.translation.sources[label].parent)
        if isinstance(whole, Reference) and whole.target is self._endpoint(error.key[0]):
            return SKIPPED, f"the {whole.target.title} they belong to was {self.report.outcomes.get(error.key, SKIPPED)}"
        return REFUSED, self._why(error)

    def _why(self, error: Missing) -> str:
        fate = self.report.outcomes.get(error.key) or ("part of a circle" if error.key in self.ids else "not in the dump")
        return f"refers to {_name(error.key)}, which was {fate}"

    def _shown(self, label: str, keys: Mapping[Any, Any]) -> dict[Any, Body]:
        """The representations of those that exist."""
        by_id = {self.ids[label, key]: key for key in keys}
        return {by_id[found]: shown for found, shown in self._endpoint(label).plan().fetch(self.uow, list(by_id))}

    def _recognise(self, label: str, bodies: Mapping[Any, Body]) -> None:
        """Takes objects that are already here, under ids of their own, for those of the dump that they equal."""
        source, endpoint = self.translation.sources[label], self._endpoint(label)
        table, natural = endpoint.table, endpoint.natural_sort
        names = source.by or ((natural,) if natural in table.c and table.c[natural].unique else ())
        wanted: dict[tuple[Any, ...], Any] = {}
        for key, body in bodies.items() if names else ():
            values = _columns(endpoint, body)
            if values.get(names[-1]) not in (None, ""):
                wanted.setdefault(tuple(values.get(name) for name in names), key)
        if not wanted:
            return
        columns = [table.c[name] for name in names]
        near = [_holds(column, {values[place] for values in wanted}) for place, column in enumerate(columns)]
        rows = self.uow.execute(sa.select(table.c.id, *columns).where(*near))
        found: dict[tuple[Any, ...], list[Any]] = {}
        for here, *those in rows:
            found.setdefault(tuple(those), []).append(here)
        taken = {self.ids[label, key] for key in self.translation.dump.objects[label]}
        for equal, ids in found.items():
            if equal in wanted and len(ids) == 1 and ids[0] not in taken:
                self.ids[label, wanted[equal]] = ids[0]

    def _differing(self, label: str, shown: Body, body: Body) -> Body:
        """What of a body differs from a representation; where a field merges what is sent, only its members count."""
        fields, found = self._endpoint(label).writable, {}
        for name, value in body.items():
            there = shown.get(name)
            if fields[name].merges and isinstance(there, dict) and isinstance(value, dict):
                there = {member: there.get(member) for member in value}
            if not self._is_shown(there, value):
                found[name] = value
        return found

    def _is_shown(self, shown: Any, value: Any) -> bool:
        """Whether a value is the one that is there; a file is, when one with the same content is kept."""
        if not isinstance(value, Upload):
            return bool(_plain(shown) == _plain(value))
        try:
            with self.uow.files.open(str(shown).partition(MEDIA)[2]) as kept:
                return kept.read() == value.content
        except FileNotFoundError:
            return False

    # -- writing

    def _attempt(self, label: str, keys: Sequence[Any], write: Callable[[Sequence[Any]], Mapping[Any, str]]) -> None:
        """Writes a batch, which gives outcomes; when it is refused, what is not at fault, or its halves when that is not said."""
        if not keys:
            return
        try:
            with self.uow.session.begin_nested():
                with self.uow.collecting() as changes:
                    outcomes = write(keys)
                changes.write(self.uow)  # now, not with the commit: an import is too large to be kept until then
        except (RequestError, sa.exc.DBAPIError) as error:
            self.uow.expire_all()
            faults = _faults(error, keys)
            for key, reason in faults.items():
                self._refuse((label, key), reason)
            sound = [key for key in keys if key not in faults]
            middle = 0 if faults else len(sound) // 2
            self._attempt(label, sound[:middle], write)
            self._attempt(label, sound[middle:], write)
            return
        for key, outcome in outcomes.items():
            self.here.add((label, key))
            if self.report.outcomes.get((label, key), UNCHANGED) == UNCHANGED:
                self._settle((label, key), outcome)

    def _refuse(self, key: Key, reason: str) -> None:
        """An object that has its outcome already only lacks what is refused now."""
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
        return {key: UPDATED if _changed(before[key], shown) else UNCHANGED for key, shown in zip(changes, after, strict=True)}


def _faults(error: RequestError | sa.exc.DBAPIError, keys: Sequence[Any]) -> dict[Any, str]:
    """What is wrong with which object of a batch, as far as an error says it."""
    body = error.body if isinstance(error, RequestError) else str(error.orig)
    if isinstance(body, list) and len(body) == len(keys):
        return {key: error_text(entry) for key, entry in zip(keys, body, strict=True) if entry}
    return {keys[0]: error_text(body)} if len(keys) == 1 else {}


def _holds(column: Any, values: set[Any]) -> Any:
    """Whether a column holds one of these values, null among them."""
    found = column.in_(values - {None})
    return sa.or_(found, column.is_(None)) if None in values else found


def _name(key: Key) -> str:
    return f"{key[0]} {key[1]}"


def _columns(endpoint: Endpoint, body: Body) -> dict[str, Any]:
    """The columns a body sets, references as ids."""
    draft = Draft(endpoint, body)
    draft.parse(partial=True)
    return {**draft.values, **{field.attribute: uuid.UUID(raw) for field, raw in draft.references if not isinstance(field, Status)}}


def _plain(value: Any) -> Any:
    """A value as read or as written, in one form: choices and references by what identifies them, lists without order."""
    if isinstance(value, dict):
        return _plain(value["id"]) if "id" in value else value.get("value", value)
    if isinstance(value, list):
        return sorted((_plain(item) for item in value), key=str)
    return value if value is None or isinstance(value, bool) else str(value)


def _changed(before: Body, after: Body) -> bool:
    return any(before.get(name) != value for name, value in after.items() if name != "last_updated")
