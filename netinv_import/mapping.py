"""Mapping of a dump's objects to request bodies: ids for keys, labels for content types, renamed fields."""

from __future__ import annotations

import collections
import graphlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.auth.models import User
from netinv_core.fields import ContentTypeList, Reference, Status, ToMany, is_slug
from netinv_core.importing.dump import (
    Declaration,
    Derived,
    Dump,
    Excluded,
    Fields,
    Key,
    NamedModel,
    Part,
    Source,
    content_type,
)
from netinv_import.preparation import (
    Values,
    adapt_objects,
    count_replaced,
    fold,
    move_parts,
    unplaced_values,
    username,
)

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry

NO_RESOURCE = "no such resource yet"
NO_FIELD = "no such field here"
Body = dict[str, Any]

_NAMESPACE = uuid.UUID("6d1a3f0e-5f0c-4c8e-9a59-7f6c52a8f0b4")
_EMPTY: tuple[Any, ...] = (None, "", False, [], {})


class Missing(LookupError):
    """Error of an object that refers to one (``key``) which does not exist here."""

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.key = key


class UnavailableValue(LookupError):
    """Error of a value that cannot be stored here; the reason holds for all values of its kind."""


class DumpMapping:
    """Mapping of a dump's objects to objects of this system.

    ``ids`` holds the id of every object whose model has a resource. ``here`` holds the keys of objects that exist; the
    importer adds to it. ``added`` are the keys of objects that a source needs and the dump lacks. ``left_out`` counts
    the values that cannot be stored, by model, field and reason. ``unplaced`` has the values without a field here, by
    model and field, then by key; ``complete(mapping)`` may keep them elsewhere (:meth:`keep`). With ``new_ids`` no id
    follows from the keys, as where two files of one name describe different objects.
    """

    def __init__(
        self,
        registry: Registry,
        dump: Dump,
        sources: Mapping[str, Declaration],
        *,
        user_id: Any,
        origin: str | None,
        keep_ids: bool = False,
        new_ids: bool = False,
        users: Mapping[str, Any] | None = None,
        complete: Callable[[DumpMapping], None] | None = None,
    ) -> None:
        self.registry = registry
        self.dump = dump
        self.user_id = user_id
        self.users = users or {}
        self.origin = origin
        self.here: set[Key] = set()
        self.left_out: collections.Counter[tuple[str, str, str]] = collections.Counter()
        self.kept: dict[tuple[str, str], tuple[str, int]] = {}
        self.parts = {label: item for label, item in sources.items() if isinstance(item, Part)}
        self.derived = {label: item for label, item in sources.items() if isinstance(item, Derived)}
        self.excluded = {label: item.reason for label, item in sources.items() if isinstance(item, Excluded)}
        self.named = {label: item for label, item in sources.items() if isinstance(item, NamedModel)}
        self.folded = fold(dump, sources)
        self.installed = {
            label: item for label, item in sources.items() if isinstance(item, Source) and item.to in registry.endpoints
        }
        self.sources = {label: source for label, source in self.installed.items() if label in dump.objects}
        rewritten, self.broken = adapt_objects(dump, self.sources, registry.endpoints)
        for label, rows in rewritten.items():
            dump.replace(label, rows)
        self.skipped = self._skip()
        self.unplaced: Values = {}
        self.named_by: dict[Key, Key] = {}
        self._needed: dict[str, set[str]] = {}
        self.added: list[Key] = []
        self._complete(complete)
        self.labels = {source.to: label for label, source in self.sources.items()}
        self.labels.update({label: label for label, source in self.sources.items() if source.to == label})
        self.ids = {
            (label, key): _id(None if new_ids else origin, label, key, keep_ids)
            for label in self.sources
            for key in dump.objects[label]
        }
        self.entries = self._entries()

    def _complete(self, complete: Callable[[DumpMapping], None] | None) -> None:
        """Collects the values without a field here, and adds the objects that the others need."""
        if complete is not None:
            move_parts(self)
            self.unplaced, self.named_by = unplaced_values(self)
            complete(self)
            count_replaced(self)
        for source in list(self.sources.values()):
            for label, objects in source.needed(self.dump).items():
                for key, fields in objects.items():
                    self.add((label, key), fields)

    def _skip(self) -> dict[Key, str]:
        """Removes the objects without a place here from the dump; returns the reasons."""
        skipped = {
            (label, key): reason
            for label, source in self.sources.items()
            for key, fields in self.dump.objects[label].items()
            if (reason := source.skip(self.dump, fields))
        }
        for label, key in skipped:
            del self.dump.objects[label][key]
        return skipped

    def add(self, key: Key, fields: Fields) -> None:
        """Adds an object to the dump that the others need here."""
        label, number = key
        source = self.sources[label] = self.installed[label]
        fields = {**source.fixed_values, **fields}
        adapt = source.adapt
        self.dump.rows(label)[number] = adapt(self.dump, fields) if adapt else fields
        self.added.append(key)

    def keep(self, label: str, field: str, place: str, model: str) -> None:
        """Records that the values of a field without a field here are kept in ``place``, an object of ``model``."""
        self.kept[label, field] = place, len(self.unplaced[label, field])
        self._needed.setdefault(label, set()).add(model)

    def _entries(self) -> dict[Key, dict[str, list[Key]]]:
        """Returns the lists that parts become: keys of the entries, by owner and field."""
        entries: dict[Key, dict[str, list[Key]]] = {}
        for label, part in self.parts.items():
            for fields in self.dump.objects.get(label, {}).values():
                entry = part.of, fields[part.value]
                entries.setdefault(part.owner_of(fields), {}).setdefault(part.field, []).append(entry)
        return entries

    def endpoint(self, label: str) -> Endpoint:
        """Returns the endpoint of a model of the dump."""
        return self.registry[self.sources[label].to]

    # -- order

    def order(self) -> list[str]:
        """Returns the models in topological order: each after the models it refers to.

        :raises ValueError: for circular references
        """
        first = {label for label, source in self.sources.items() if source.first}
        others = {label for label, source in self.sources.items() if not source.last}
        graph: dict[str, set[str]] = {}
        for label in self.sources:
            predecessors = self._referenced_models(label) | (set() if label in first else first)
            predecessors |= others if self.sources[label].last else set()
            predecessors |= self._needed.get(label, set())
            graph[label] = predecessors & self.sources.keys() - {label}
        try:
            return list(graphlib.TopologicalSorter(graph).static_order())
        except graphlib.CycleError as error:
            cycle = " → ".join(error.args[1])
            message = f"{cycle} refer to each other: one of the references must be declared `deferred`"
            raise ValueError(message) from None

    def _referenced_models(self, label: str) -> set[str]:
        """Returns the dump's models that objects of a model refer to, without deferred references."""
        source = self.sources[label]
        return self._entry_models(label) | self._field_models(label, source) | self._generic_models(label, source)

    def _entry_models(self, label: str) -> set[str]:
        """The models of the entries of lists (:class:`Part`)."""
        fields = [lists for (owner, _), lists in self.entries.items() if owner == label]
        return {model for lists in fields for keys in lists.values() for model, _ in keys}

    def _field_models(self, label: str, source: Source) -> set[str]:
        """The models that foreign keys and to-many fields refer to."""
        targets = [
            field.target
            for name, field in self.endpoint(label).writable.items()
            if isinstance(field, Reference | ToMany) and name not in source.deferred
        ]
        return {self.labels.get(target.label, "") for target in targets if target is not None}

    def _generic_models(self, label: str, source: Source) -> set[str]:
        """The models that generic foreign keys (pairs ``…_type``, ``…_id``) of the dump refer to."""
        models: set[str] = set()
        for fields in self.dump.objects[label].values():
            for name, value in fields.items():
                if not name.endswith("_type") or not source.imports(name, fields):
                    continue
                model = content_type(value)
                if model and source.name_of(name) not in source.deferred:
                    models.add(model)
        return models

    def dependency_levels(self, label: str) -> Iterator[list[Any]]:
        """Yields the keys of a model's objects in levels, each after those that its objects refer to.

        Objects that refer to each other in a circle come last, together.
        """
        waiting: dict[Any, list[Any]] = {}
        for key, fields in self.dump.objects[label].items():
            waiting[key] = [fields[name] for name in fields if self._is_self_reference(label, name)]
        while waiting:
            blocked = {key for key, targets in waiting.items() if any(target in waiting for target in targets)}
            ready = [key for key in waiting if key not in blocked] or list(waiting)
            yield ready
            for key in ready:
                del waiting[key]

    def _is_self_reference(self, label: str, name: str) -> bool:
        source, endpoint = self.sources[label], self.endpoint(label)
        field = endpoint.writable.get(source.name_of(name))
        return isinstance(field, Reference) and field.target is endpoint and field.name not in source.deferred

    # -- bodies

    def body(self, label: str, key: Any, *, deferred: bool = False) -> Body:
        """Returns the request body of an object: its ordinary fields, or those that are ``deferred``.

        :raises Missing: when it refers to an object that does not exist here
        """
        source, endpoint = self.sources[label], self.endpoint(label)
        fields = self.dump.get(label, key)
        body: Body = {}
        for dump_name in fields:
            if not source.imports(dump_name, fields):
                continue
            name = source.name_of(dump_name)
            if (name in source.deferred) is deferred:
                self._add_value(body, label, name, dump_name, fields)
        if not deferred:
            entries = self.entries.get((label, key), {})
            for name, keys in entries.items():
                if name in endpoint.writable:
                    body[name] = [self._id_of(entry) for entry in keys]
        return body

    def _add_value(self, body: Body, label: str, name: str, dump_name: str, fields: Fields) -> None:
        """Adds a field of the dump to a body, or counts its value as left out."""
        source, field, value = self.sources[label], self.endpoint(label).writable.get(name), fields[dump_name]
        try:
            if dump_name in source.omit:
                raise UnavailableValue(source.omit[dump_name])
            if field is None:
                if (label, dump_name) in self.kept:
                    return
                raise UnavailableValue(NO_FIELD)
            if not value and (field.merges or is_slug(field)):  # a blank slug is made from the name
                return
            translated = self._value(field, dump_name, value, fields)
        except UnavailableValue as reason:
            if value not in _EMPTY:
                self.left_out[label, dump_name, str(reason)] += 1
            return
        if translated is not None or field.nullable:
            body[name] = translated

    def _value(self, field: Field, dump_name: str, value: Any, fields: Fields) -> Any:
        """Translates a value of the dump; ``fields`` are all fields of its object.

        :raises Missing: when it refers to an object that does not exist here
        :raises Unavailable: when it cannot be stored
        """
        if value is None or (value == "" and field.nullable):
            return None
        if isinstance(field, Status):
            return value
        if isinstance(field, ContentTypeList):
            return sorted(content_type(item) or str(item) for item in value)
        if isinstance(field, Reference | ToMany):
            return self._reference(field, value)
        if dump_name.endswith("_type") and (model := content_type(value)):
            return self._target(model)
        if dump_name.endswith("_id") and (model := content_type(fields.get(f"{dump_name.removesuffix('_id')}_type"))):
            self._target(model)
            return self._id_of((model, value))
        return value

    def _reference(self, field: Reference | ToMany, value: Any) -> Any:
        """Translates keys to ids. Accounts are not imported: a user is the account here of the same name, or the
        importing one.
        """
        target = field.target
        if target is not None and target.model is User:
            return str(self.users.get(username(self.dump, value), self.user_id))
        label = self.labels.get(target.label) if target is not None else None
        if label is None:
            raise UnavailableValue(NO_RESOURCE)
        if isinstance(field, ToMany):
            if field.by:
                return self._find_attributes(label, field.by, value)
            return field.of_items([self._id_of((label, item)) for item in field.items_of(value)])
        return self._id_of((label, value))

    def _find_attributes(self, label: str, by: str, values: Iterable[Any]) -> list[Any]:
        """Returns the attributes ``by`` of objects that are given by their keys, or by this attribute already."""
        keys = {fields.get(by): key for key, fields in self.dump.objects[label].items()}
        found = [keys.get(value, value) for value in values]
        for key in found:
            self._id_of((label, key))
        return [self.dump.get(label, key)[by] for key in found]

    def _target(self, model: str) -> str:
        """Returns the label here of a model of the dump."""
        if model not in self.sources:
            raise UnavailableValue(f"{model}: {NO_RESOURCE}")
        return self.sources[model].to

    def _id_of(self, key: Key) -> str:
        if key not in self.here:
            raise Missing(key)
        return str(self.ids[key])


def _id(origin: str | None, label: str, key: Any, keep: bool = False) -> uuid.UUID:
    """Returns the id of an object: a UUID derived from its origin, model and key; random without an origin.

    With ``keep`` a key that is a UUID is the id.
    """
    if keep:
        try:
            return uuid.UUID(str(key))
        except ValueError:
            pass
    return uuid.uuid4() if origin is None else uuid.uuid5(_NAMESPACE, f"{origin}/{label}/{key}")
