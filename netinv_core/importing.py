"""Importing a dump of another inventory through the ordinary write path, so that rules and the change record apply.

An object's id is made from its model and key in the dump, so a second run finds what the first one made. Every object
of the dump ends in exactly one outcome; what of an object could not be taken over is counted too.
"""

from __future__ import annotations

import collections
import dataclasses
import graphlib
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from netinv_core.auth.models import User
from netinv_core.changes import Journal
from netinv_core.context import Context
from netinv_core.dumps import Dump, Key, Part, Source, content_type
from netinv_core.errors import Refused
from netinv_core.fields import Field, Labels, Many, Reference, Status
from netinv_core.registry import Endpoint
from netinv_core.write import save
from netinv_core.write.draft import Draft

CREATED, UPDATED, UNCHANGED, SKIPPED, REFUSED = OUTCOMES = ("created", "updated", "unchanged", "skipped", "refused")
NO_RESOURCE = "no such resource yet"
BATCH = 500
_NAMESPACE = uuid.UUID("6d1a3f0e-5f0c-4c8e-9a59-7f6c52a8f0b4")
_BOOKKEEPING = frozenset({"created", "last_updated"})
_TREE = frozenset({"lft", "rght", "tree_id", "level"})

Body = dict[str, Any]


class Missing(LookupError):
    """An object refers to one that the dump has, but that was not taken."""


class Unavailable(LookupError):
    """A value that has no place here, for a reason that concerns all of its kind."""


@dataclasses.dataclass
class Report:
    """What became of a dump: the outcome of every object, the reasons, and the values that were left out.

    ``advance(label, n)`` is called as objects are done with, of the ``expected`` number, for a display of progress.
    """

    advance: Callable[[str, int], None] = lambda label, n: None
    expected: int = 0
    outcomes: dict[Key, str] = dataclasses.field(default_factory=dict)
    reasons: dict[Key, str] = dataclasses.field(default_factory=dict)
    left_out: dict[tuple[str, str, str], int] = dataclasses.field(default_factory=collections.Counter)
    incomplete: list[tuple[Key, str]] = dataclasses.field(default_factory=list)

    def settle(self, key: Key, outcome: str, reason: str = "") -> None:
        """Says what became of an object."""
        self.outcomes[key] = outcome
        if reason:
            self.reasons[key] = reason
        self.advance(key[0], 1)

    def counts(self) -> dict[str, collections.Counter[str]]:
        """How many objects of each model had each outcome."""
        found: dict[str, collections.Counter[str]] = {}
        for (label, _), outcome in self.outcomes.items():
            found.setdefault(label, collections.Counter())[outcome] += 1
        return found

    def total(self, outcome: str) -> int:
        """How many objects of all models had an outcome."""
        return sum(1 for found in self.outcomes.values() if found == outcome)


def import_netbox(context: Context, path: Path, report: Report, *, origin: str = "netbox") -> None:
    """Imports the dump in a file, for the context's user; nothing is committed.

    ``origin`` names the inventory the dump comes from: objects of two of them with the same keys are different objects.

    :raises ValueError: when the file is not a dump
    """
    sources: dict[str, Source | Part] = {}
    for found in context.registry.hooks.netinv_importers(registry=context.registry):
        sources.update(found)
    Import(context, Dump.read(path), sources, report, origin).run()


class Import:
    """One run over a dump; see :func:`import_netbox`."""

    def __init__(self, context: Context, dump: Dump, sources: Mapping[str, Source | Part], report: Report, origin: str) -> None:
        self.context = context
        self.dump = dump
        self.report = report
        self.sources: dict[str, Source] = {}
        self.parts: dict[str, Part] = {}
        for label, found in sources.items():
            if isinstance(found, Part):
                self.parts[label] = found
            elif label in dump.objects and found.to in context.registry.endpoints:
                self.sources[label] = found
        self._add_what_is_needed(sources)
        self.labels = {source.to: label for label, source in self.sources.items()}
        self.ids: dict[Key, uuid.UUID] = {
            (label, key): uuid.uuid5(_NAMESPACE, f"{origin}/{label}/{key}") for label in self.sources for key in dump.objects[label]
        }
        self.here: set[Key] = set()
        self.entries = self._collect_parts()

    def _add_what_is_needed(self, sources: Mapping[str, Source | Part]) -> None:
        for source in list(self.sources.values()):
            for label, objects in source.needs.items():
                found = sources[label]
                assert isinstance(found, Source)
                self.sources[label] = found
                for key, fields in objects.items():
                    self.dump.add(label, key, fields)

    def _collect_parts(self) -> dict[Key, dict[str, list[Key]]]:
        """The lists that parts make up, by their owner: field to what the entries refer to."""
        found: dict[Key, dict[str, list[Key]]] = {}
        for label, part in self.parts.items():
            for fields in self.dump.objects.get(label, {}).values():
                found.setdefault(_owner(part, fields), {}).setdefault(part.field, []).append((part.of, fields[part.value]))
        return found

    # -- the run

    def run(self) -> None:
        """Imports everything."""
        self.report.expected = len(self.dump)
        for label in self._order():
            for wave in self._waves(label):
                for start in range(0, len(wave), BATCH):
                    self._import(label, wave[start : start + BATCH])
        for label, source in self.sources.items():
            if source.later:
                self._import_later(label, source)
        for label, part in self.parts.items():
            for key, fields in self.dump.objects.get(label, {}).items():
                self._settle_part((label, key), part, fields)
        for label, objects in self.dump.objects.items():
            if label not in self.sources and label not in self.parts:
                for key in objects:
                    self.report.settle((label, key), SKIPPED, NO_RESOURCE)

    def _order(self) -> list[str]:
        """The models, each after those it refers to.

        :raises ValueError: when references go round in a circle
        """
        graph = {label: self._referred_to(label) & self.sources.keys() - {label} for label in self.sources}
        try:
            return list(graphlib.TopologicalSorter(graph).static_order())
        except graphlib.CycleError as error:
            raise ValueError(f"{' → '.join(error.args[1])} refer to each other: one of the references must be declared `later`") from None

    def _referred_to(self, label: str) -> set[str]:
        source = self.sources[label]
        found = {of for (owner, _), lists in self.entries.items() if owner == label for keys in lists.values() for of, _ in keys}
        for name, field in self._endpoint(label).writable.items():
            if isinstance(field, Reference | Many) and field.target is not None and name not in source.later:
                found.add(self.labels.get(field.target.label, ""))
        for fields in self.dump.objects[label].values():
            found |= {kind for name, value in fields.items() if name.endswith("_type") and (kind := content_type(value))}
        return found

    def _waves(self, label: str) -> Iterator[list[Any]]:
        """The keys of a model's objects, those first that others of the model refer to."""
        source, endpoint, waiting = self.sources[label], self._endpoint(label), dict(self.dump.objects[label])
        there = {name: source.rename.get(name, name) for fields in list(waiting.values())[:1] for name in fields}
        own = [n for n, here in there.items() if here not in source.later and _leads_to(endpoint.writable.get(here), endpoint)]
        while waiting:
            ready = [key for key, fields in waiting.items() if not any(fields.get(name) in waiting for name in own)]
            yield ready or list(waiting)
            waiting = {key: fields for key, fields in waiting.items() if ready and key not in set(ready)}

    def _import(self, label: str, keys: Sequence[Any]) -> None:
        endpoint, bodies = self._endpoint(label), {}
        for key in keys:
            try:
                bodies[key] = self._body(label, key)
            except Missing as error:
                self.report.settle((label, key), REFUSED, str(error))
        self._recognise(label, bodies)
        before = dict(endpoint.plan().fetch(self.context, [self.ids[label, key] for key in bodies]))
        new = [key for key in bodies if self.ids[label, key] not in before]
        self._attempt(label, new, lambda some: self._create(label, {key: bodies[key] for key in some}))
        changes = {key: _differing(before[self.ids[label, key]], bodies[key]) for key in bodies if key not in new}
        for key, change in changes.items():
            self.here.add((label, key))
            if not change:
                self.report.settle((label, key), UNCHANGED)
        changing = [key for key, change in changes.items() if change]
        self._attempt(label, changing, lambda some: self._update(label, {key: changes[key] for key in some}, before))

    def _import_later(self, label: str, source: Source) -> None:
        """Sets the references that had to wait."""
        bodies: dict[Any, Body] = {}
        for key in self.dump.objects[label]:
            if (label, key) not in self.here:
                continue
            try:
                bodies[key] = self._body(label, key, later=True)
            except Missing as error:
                self.report.incomplete.append(((label, key), str(error)))
        before = dict(self._endpoint(label).plan().fetch(self.context, [self.ids[label, key] for key in bodies]))
        changes = {key: change for key, body in bodies.items() if (change := _differing(before[self.ids[label, key]], body))}

        def update(some: Sequence[Any]) -> None:
            self._update(label, {key: changes[key] for key in some}, before, done=True)

        self._attempt(label, list(changes), update, done=True)

    def _settle_part(self, key: Key, part: Part, fields: Mapping[str, Any]) -> None:
        """A part has the outcome of what it is part of."""
        owner = _owner(part, fields)
        outcome = self.report.outcomes.get(owner, SKIPPED)
        if owner in self.here and part.field not in self._endpoint(owner[0]).writable:
            self.report.settle(key, REFUSED, f"{owner[0]} has no {part.field} here")
        else:
            reason = "" if owner in self.here else f"what it belongs to ({_name(owner)}) was {outcome}"
            self.report.settle(key, outcome, reason)

    # -- from the dump to bodies

    def _endpoint(self, label: str) -> Endpoint:
        return self.context.registry[self.sources[label].to]

    def _body(self, label: str, key: Any, *, later: bool = False) -> Body:
        """What is to be written for an object: its ordinary fields, or those that had to wait.

        :raises Missing: when it refers to an object that was not taken
        """
        source, endpoint = self.sources[label], self._endpoint(label)
        fields: Mapping[str, Any] = {**source.given, **self.dump.get(label, key)}
        if source.adapt is not None:
            fields = source.adapt(self.dump, fields)
        ignored = {*source.drop, *_BOOKKEEPING, *(_TREE if "tree_id" in fields else ())}
        body: Body = {}
        for there, value in fields.items():
            name = source.rename.get(there, there)
            if there.startswith("_") or there in ignored or (name in source.later) is not later:
                continue
            try:
                found = self._value(endpoint.writable.get(name), there, value, fields)
            except Unavailable as reason:
                if value not in (None, "", False, [], {}):
                    self.report.left_out[label, there, str(reason)] += 1
                continue
            if found is not None or endpoint.writable[name].nullable:
                body[name] = found
        for name, keys in self.entries.get((label, key), {}).items():
            if name in endpoint.writable and not later:
                body[name] = [self._id_of(entry) for entry in keys]
        return body

    def _value(self, field: Field | None, there: str, value: Any, fields: Mapping[str, Any]) -> Any:
        """A value of the dump in this system's terms; accounts are not taken over, so what is someone's becomes the importing user's.

        :raises Missing: when it refers to an object that was not taken
        :raises Unavailable: when there is no place for it
        """
        if field is None:
            raise Unavailable("no such field here")
        if value is None or isinstance(field, Status):
            return value
        if isinstance(field, Labels):
            return sorted(content_type(item) or str(item) for item in value)
        if isinstance(field, Reference | Many):
            if field.target is not None and field.target.model is User:
                return str(self.context.identity.user_id)
            label = self.labels.get(field.target.label) if field.target is not None else None
            if label is None:
                raise Unavailable(NO_RESOURCE)
            return [self._id_of((label, item)) for item in value] if isinstance(field, Many) else self._id_of((label, value))
        if there.endswith("_type") and (kind := content_type(value)):
            return self._target(kind)
        if there.endswith("_id") and (kind := content_type(fields.get(f"{there.removesuffix('_id')}_type"))):
            self._target(kind)
            return self._id_of((kind, value))
        return value

    def _target(self, kind: str) -> str:
        if kind not in self.sources:
            raise Unavailable(f"{kind}: {NO_RESOURCE}")
        return self.sources[kind].to

    def _id_of(self, key: Key) -> str:
        if key not in self.here:
            fate = self.report.outcomes.get(key) or ("not done: they refer to each other" if key in self.ids else "not in the dump")
            raise Missing(f"refers to {_name(key)}, which was {fate}")
        return str(self.ids[key])

    def _recognise(self, label: str, bodies: Mapping[Any, Body]) -> None:
        """Takes objects that are already here, under ids of their own, for those of the dump that they equal."""
        source, endpoint = self.sources[label], self._endpoint(label)
        table = endpoint.table
        names = source.by or ((endpoint.natural,) if endpoint.natural in table.c and table.c[endpoint.natural].unique else ())
        if not names or not bodies:
            return
        wanted: dict[tuple[Any, ...], Any] = {}
        for key, body in bodies.items():
            values = _columns(endpoint, body)
            if values.get(names[-1]) not in (None, ""):
                wanted.setdefault(tuple(values.get(name) for name in names), key)
        columns = [table.c[name] for name in names]
        rows = self.context.execute(sa.select(table.c.id, *columns).where(columns[-1].in_({values[-1] for values in wanted})))
        found: dict[tuple[Any, ...], list[Any]] = {}
        for here, *values in rows:
            found.setdefault(tuple(values), []).append(here)
        taken = {self.ids[label, key] for key in self.dump.objects[label]}
        for values, ids in found.items():
            if values in wanted and len(ids) == 1 and ids[0] not in taken:
                self.ids[label, wanted[values]] = ids[0]

    # -- writing

    def _attempt(self, label: str, keys: Sequence[Any], write: Callable[[Sequence[Any]], None], *, done: bool = False) -> None:
        """Writes a batch; when it is refused, its halves, down to the objects that are at fault.

        ``done`` says that the objects have their outcome already, and only lack what is refused now.
        """
        if not keys:
            return
        try:
            with self.context.session.begin_nested():
                self.context.journal = Journal()
                write(keys)
                self.context.journal.write(self.context)
        except (Refused, sa.exc.DBAPIError) as error:
            self.context.journal = Journal()
            if len(keys) > 1:
                middle = len(keys) // 2
                self._attempt(label, keys[:middle], write, done=done)
                self._attempt(label, keys[middle:], write, done=done)
                return
            reason = words(error.body) if isinstance(error, Refused) else str(error.orig)
            if done:
                self.report.incomplete.append(((label, keys[0]), reason))
            else:
                self.here.discard((label, keys[0]))
                self.report.settle((label, keys[0]), REFUSED, reason)

    def _create(self, label: str, bodies: Mapping[Any, Body]) -> None:
        ids = [self.ids[label, key] for key in bodies]
        save.create(self.context, self._endpoint(label), list(bodies.values()), ids=ids, single=len(ids) == 1)
        for key in bodies:
            self.here.add((label, key))
            self.report.settle((label, key), CREATED)

    def _update(self, label: str, changes: Mapping[Any, Body], before: Mapping[Any, Body], *, done: bool = False) -> None:
        items = [{**change, "id": str(self.ids[label, key])} for key, change in changes.items()]
        after = save.update(self.context, self._endpoint(label), items, partial=True, single=len(items) == 1)
        for key, shown in zip(changes, after, strict=True):
            outcome = UPDATED if _changed(before[self.ids[label, key]], shown) else UNCHANGED
            if not done:
                self.report.settle((label, key), outcome)
            elif outcome == UPDATED and self.report.outcomes[label, key] == UNCHANGED:
                self.report.outcomes[label, key] = UPDATED


def _owner(part: Part, fields: Mapping[str, Any]) -> Key:
    return content_type(fields[part.owner[0]]) or "", fields[part.owner[1]]


def _name(key: Key) -> str:
    return f"{key[0]} {key[1]}"


def _leads_to(field: Field | None, endpoint: Endpoint) -> bool:
    return isinstance(field, Reference) and field.target is endpoint


def _columns(endpoint: Endpoint, body: Body) -> dict[str, Any]:
    """The columns a body sets, references as ids."""
    draft = Draft(endpoint, body)
    draft.parse(partial=True)
    return {**draft.values, **{field.attribute: uuid.UUID(raw) for field, raw in draft.references if not isinstance(field, Status)}}


def _differing(shown: Body, body: Body) -> Body:
    """What of a body differs from a representation."""
    return {name: value for name, value in body.items() if _plain(shown.get(name)) != _plain(value)}


def _plain(value: Any) -> Any:
    """A value as read or as written, in one form: choices and references by what identifies them, lists without order."""
    if isinstance(value, dict):
        return _plain(value["id"]) if "id" in value else value.get("value", value)
    if isinstance(value, list):
        return sorted((_plain(item) for item in value), key=str)
    return value if value is None or isinstance(value, bool) else str(value)


def _changed(before: Body, after: Body) -> bool:
    return any(before.get(name) != value for name, value in after.items() if name != "last_updated")


def words(body: Any) -> str:
    """The messages of an error's body in one line."""
    if isinstance(body, dict):
        parts = ((name, words(value)) for name, value in body.items())
        return "; ".join(text if name in ("detail", "__all__", "non_field_errors") else f"{name}: {text}" for name, text in parts)
    return " ".join(words(item) for item in body) if isinstance(body, list) else str(body)
