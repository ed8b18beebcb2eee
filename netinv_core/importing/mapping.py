"""From the objects of a dump to bodies of this system: ids for keys, labels for content types, one name for another."""

from __future__ import annotations

import collections
import graphlib
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from netinv_core.auth.models import User
from netinv_core.endpoint import Endpoint
from netinv_core.fields import ContentTypeList, Field, Reference, Status, ToMany
from netinv_core.importing.dump import Derived, Dump, Fields, Key, Part, Source, content_type
from netinv_core.registry import Registry

NO_RESOURCE = "no such resource yet"
NO_FIELD = "no such field here"
Body = dict[str, Any]

_NAMESPACE = uuid.UUID("6d1a3f0e-5f0c-4c8e-9a59-7f6c52a8f0b4")
_BOOKKEEPING = frozenset({"created", "last_updated"})
_TREE = frozenset({"lft", "rght", "tree_id", "level"})
_NAMES = {"custom_field_data": "custom_fields"}
_NOTHING: tuple[Any, ...] = (None, "", False, [], {})


class Missing(LookupError):
    """An object refers to one (``key``) that is not here."""

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.key = key


class Unavailable(LookupError):
    """A value has no place here, for a reason that concerns all of its kind."""


class DumpMapping:
    """What the objects of a dump are here.

    ``ids`` holds the id of every object that has a resource; ``here`` the keys of those that exist, which is for the
    importer to say; ``added`` those that the dump lacks and a source needs; ``left_out`` counts by model, field and
    reason the values that could not be taken over.
    """

    def __init__(self, registry: Registry, dump: Dump, sources: Mapping[str, Source | Part | Derived], *, user_id: Any, origin: str | None) -> None:
        self.registry = registry
        self.dump = dump
        self.user_id = user_id
        self.here: set[Key] = set()
        self.left_out: collections.Counter[tuple[str, str, str]] = collections.Counter()
        self.parts = {label: found for label, found in sources.items() if isinstance(found, Part)}
        self.derived = {label: found for label, found in sources.items() if isinstance(found, Derived)}
        known = {label: found for label, found in sources.items() if isinstance(found, Source) and found.to in registry.endpoints}
        self.sources = {label: found for label, found in known.items() if label in dump.objects}
        self.added = list(self._add_what_is_needed(known))
        self.labels = {source.to: label for label, source in self.sources.items()}
        self.ids = {(label, key): _id(origin, label, key) for label in self.sources for key in dump.objects[label]}
        self.entries = self._entries()

    def _add_what_is_needed(self, known: Mapping[str, Source]) -> Iterator[Key]:
        for source in list(self.sources.values()):
            for label, objects in source.needed(self.dump).items():
                self.sources[label] = known[label]
                for key, fields in objects.items():
                    self.dump.objects.setdefault(label, {})[key] = fields
                    yield label, key

    def _entries(self) -> dict[Key, dict[str, list[Key]]]:
        """The lists that parts make up: by their owner and field, what the entries refer to."""
        found: dict[Key, dict[str, list[Key]]] = {}
        for label, part in self.parts.items():
            for fields in self.dump.objects.get(label, {}).values():
                found.setdefault(part.owner_of(fields), {}).setdefault(part.field, []).append((part.of, fields[part.value]))
        return found

    def endpoint(self, label: str) -> Endpoint:
        """What a model of the dump is here."""
        return self.registry[self.sources[label].to]

    # -- order

    def order(self) -> list[str]:
        """The models, each after those it refers to.

        :raises ValueError: when references go round in a circle
        """
        first = {label for label, source in self.sources.items() if source.first}
        graph = {label: (self._referred_to(label) | (set() if label in first else first)) & self.sources.keys() - {label} for label in self.sources}
        try:
            return list(graphlib.TopologicalSorter(graph).static_order())
        except graphlib.CycleError as error:
            raise ValueError(f"{' → '.join(error.args[1])} refer to each other: one of the references must be declared `later`") from None

    def _referred_to(self, label: str) -> set[str]:
        source = self.sources[label]
        found = {of for (owner, _), lists in self.entries.items() if owner == label for keys in lists.values() for of, _ in keys}
        for name, field in self.endpoint(label).writable.items():
            if isinstance(field, Reference | ToMany) and field.target is not None and name not in source.deferred:
                found.add(self.labels.get(field.target.label, ""))
        for fields in self.dump.objects[label].values():
            typed = ((name, content_type(value)) for name, value in fields.items() if name.endswith("_type") and _is_told(source, name))
            found |= {kind for name, kind in typed if kind and source.rename.get(name, name) not in source.deferred}
        return found

    def dependency_levels(self, label: str) -> Iterator[list[Any]]:
        """The keys of a model's objects, those first that others of the model refer to; a circle comes last, as it is."""
        source, endpoint, waiting = self.sources[label], self.endpoint(label), dict(self.dump.objects[label])
        names = {name: endpoint.writable.get(source.rename.get(name, name)) for fields in waiting.values() for name in fields}
        own = [n for n, field in names.items() if isinstance(field, Reference) and field.target is endpoint and field.name not in source.deferred]
        while waiting:
            ready = [key for key, fields in waiting.items() if not any(fields.get(name) in waiting for name in own)]
            ready = ready or list(waiting)
            yield ready
            for key in ready:
                del waiting[key]

    # -- bodies

    def body(self, label: str, key: Any, *, later: bool = False) -> Body:
        """What is to be written for an object: its ordinary fields, or those that have to wait.

        :raises Missing: when it refers to an object that is not here
        """
        source, endpoint = self.sources[label], self.endpoint(label)
        fields: Fields = {**source.given, **self.dump.get(label, key)}
        if source.adapt is not None:
            fields = source.adapt(self.dump, fields)
        ignored = {*_BOOKKEEPING, *(_TREE if "tree_id" in fields else ())}
        body: Body = {}
        for there, value in fields.items():
            name = source.rename.get(there, _NAMES.get(there, there))
            if not _is_told(source, there) or there in ignored or (name in source.deferred) is not later:
                continue
            try:
                if there in source.omit:
                    raise Unavailable(source.omit[there])
                field = endpoint.writable.get(name)
                if field is not None and field.merges and not value:
                    continue
                found = self._value(field, there, value, fields)
            except Unavailable as reason:
                if value not in _NOTHING:
                    self.left_out[label, there, str(reason)] += 1
                continue
            if found is not None or endpoint.writable[name].nullable:
                body[name] = found
        if not later:
            entries = self.entries.get((label, key), {})
            body |= {name: [self._id_of(entry) for entry in keys] for name, keys in entries.items() if name in endpoint.writable}
        return body

    def _value(self, field: Field | None, there: str, value: Any, fields: Fields) -> Any:
        """A value in this system's terms.

        :raises Missing: when it refers to an object that is not here
        :raises Unavailable: when there is no place for it
        """
        if field is None:
            raise Unavailable(NO_FIELD)
        if value is None or isinstance(field, Status):
            return value
        if isinstance(field, ContentTypeList):
            return sorted(content_type(item) or str(item) for item in value)
        if isinstance(field, Reference | ToMany):
            return self._reference(field, value)
        if there.endswith("_type") and (kind := content_type(value)):
            return self._target(kind)
        if there.endswith("_id") and (kind := content_type(fields.get(f"{there.removesuffix('_id')}_type"))):
            self._target(kind)
            return self._id_of((kind, value))
        return value

    def _reference(self, field: Reference | ToMany, value: Any) -> Any:
        """Ids for keys. Accounts are not taken over: what is someone's there is the importing user's here."""
        target = field.target
        if target is not None and target.model is User:
            return str(self.user_id)
        label = self.labels.get(target.label) if target is not None else None
        if label is None:
            raise Unavailable(NO_RESOURCE)
        return [self._id_of((label, item)) for item in value] if isinstance(field, ToMany) else self._id_of((label, value))

    def _target(self, kind: str) -> str:
        if kind not in self.sources:
            raise Unavailable(f"{kind}: {NO_RESOURCE}")
        return self.sources[kind].to

    def _id_of(self, key: Key) -> str:
        if key not in self.here:
            raise Missing(key)
        return str(self.ids[key])


def _id(origin: str | None, label: str, key: Any) -> uuid.UUID:
    """The id of an object: always the same for the same one, unless objects are known by what they are called."""
    return uuid.uuid4() if origin is None else uuid.uuid5(_NAMESPACE, f"{origin}/{label}/{key}")


def _is_told(source: Source, name: str) -> bool:
    """Whether a field says something of its own: not what NetBox computes, nor what is told elsewhere."""
    return not name.startswith("_") and name not in source.drop
