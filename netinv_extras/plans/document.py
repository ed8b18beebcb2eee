"""Documents of plans: the objects of several models as they should be, each named by a natural key.

A document maps content types to lists of bodies, as for POST. A reference is a name, an id or attributes. An object
with ``absent: true`` is to be deleted.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa

from netinv_core.errors import MAX_FAULTY, NON_FIELD, Invalid
from netinv_core.fields import Reference, Status, ToMany, ToOne, generic_pairs
from netinv_core.fields.list_differences import is_difference
from netinv_core.models.columns import column_info
from netinv_core.sql import relations
from netinv_core.write.identification import natural_key

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

ABSENT, ID, OBJECTS, MATCH, WHOLE = "absent", "id", "objects", "match", "__all__"
NO_MODEL = "There is no model {} whose objects can be planned."
NO_KEY = "None of the unique fields is given: name by `match` the fields that identify objects of this model."
NO_FIELD = "There is no such field, or it cannot be written."
REPEATED = "It is the object that {} describes already."
Key = tuple[str, ...]


@dataclasses.dataclass(eq=False)
class PlannedObject:
    """An object of a document: ``key`` are the fields that identify it, ``id`` that of the object that exists."""

    endpoint: Endpoint
    index: int
    body: dict[str, Any]
    absent: bool
    key: Key
    id: uuid.UUID | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """The values of the key; a field of the key that the body leaves out is null."""
        return {name: self.body.get(name) for name in self.key}

    @property
    def place(self) -> str:
        """The place in the document: ``dcim.site[3]``."""
        return f"{self.endpoint.label}[{self.index}]"


class DocumentErrors:
    """Errors of a document by content type, index and field."""

    def __init__(self) -> None:
        self._by_label: dict[str, Any] = {}
        self._count = 0

    def add(self, label: str, index: int, errors: Mapping[str, Any]) -> None:
        """Adds the errors of an object; only the number is kept beyond the first :data:`MAX_FAULTY` objects."""
        self._count += 1
        if self._count <= MAX_FAULTY:
            self._by_label.setdefault(label, {}).setdefault(str(index), {}).update(errors)

    def add_whole(self, label: str, message: str) -> None:
        """Adds an error of the objects of a content type."""
        self._count += 1
        self._by_label[label] = [message]

    def raise_any(self) -> None:
        """Rejects the document when there are errors.

        :raises Invalid: with the errors below ``objects``
        """
        if not self._by_label:
            return
        if self._count > MAX_FAULTY:
            self._by_label[NON_FIELD] = [f"{self._count - MAX_FAULTY} more objects have errors."]
        raise Invalid({OBJECTS: self._by_label})


def parse(registry: Registry, objects: Any, match: Any) -> list[PlannedObject]:
    """Parses a document; the order is that of the document.

    :raises Invalid: naming content type, index and field
    """
    keys = _match_of(registry, match)
    if not isinstance(objects, Mapping):
        raise Invalid.field(OBJECTS, "An object with a list for each content type is expected.")
    errors, planned = DocumentErrors(), list[PlannedObject]()
    for label, items in objects.items():
        endpoint = registry.get(str(label))
        if endpoint is None or not is_plannable(endpoint):
            errors.add_whole(str(label), NO_MODEL.format(str(label)[:100]))
        elif not isinstance(items, list):
            errors.add_whole(endpoint.label, "A list of objects is expected.")
        else:
            planned += _objects_of(endpoint, items, keys.get(endpoint.label), errors)
    most = registry.settings["max_bulk_objects"]
    if len(planned) > most:
        raise Invalid.field(OBJECTS, f"The document has more than {most} objects (netinv.max_bulk_objects).")
    _reject_repeated(planned, errors)
    errors.raise_any()
    return planned


def is_plannable(endpoint: Endpoint) -> bool:
    """True for models whose objects have UUIDs and change records, and can be created, changed and deleted."""
    return endpoint.resource.writable and endpoint.resource.recorded and endpoint.key_type is uuid.UUID


def _match_of(registry: Registry, match: Any) -> dict[str, Key]:
    """Parses the fields that identify objects, by content type.

    :raises Invalid: for fields that the model does not have
    """
    if match is None:
        return {}
    if not isinstance(match, Mapping):
        raise Invalid.field(MATCH, "An object with a list of fields for each content type is expected.")
    keys: dict[str, Key] = {}
    for label, names in match.items():
        endpoint = registry.get(str(label))
        is_list = isinstance(names, list) and bool(names) and all(isinstance(name, str) for name in names)
        if endpoint is None or not is_list or not endpoint.writable.keys() >= set(names):
            raise Invalid.field(MATCH, f"{str(label)[:100]}: a list of fields of a model is expected.")
        keys[endpoint.label] = tuple(names)
    return keys


def _objects_of(
    endpoint: Endpoint, items: Sequence[Any], stated: Key | None, errors: DocumentErrors
) -> list[PlannedObject]:
    """Parses the objects of one model."""
    planned = []
    keys: dict[frozenset[str], Key | None] = {}
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            errors.add(endpoint.label, index, {WHOLE: ["An object is expected."]})
            continue
        body = {name: value for name, value in item.items() if name != ABSENT}
        found = {name: [NO_FIELD] for name in body if name != ID and name not in endpoint.writable}
        if not isinstance(item.get(ABSENT, False), bool):
            found[ABSENT] = ["Must be true or false."]
        given = frozenset(name for name, value in body.items() if value is not None)
        if given not in keys:
            keys[given] = (ID,) if ID in given else stated or key_of(endpoint, given)
        key = keys[given]
        if key is None:
            found[WHOLE] = [NO_KEY]
        if found:
            errors.add(endpoint.label, index, found)
        elif key is not None:
            named = with_named_references(endpoint, body)
            planned.append(PlannedObject(endpoint, index, named, item.get(ABSENT) is True, key))
    return planned


def key_of(endpoint: Endpoint, given: frozenset[str]) -> Key | None:
    """Returns the fields among ``given`` that identify an object of a model.

    The natural attribute is preferred, with those of its unique set that are given; then unique fields and sets, then
    the natural attribute with the references that it is within, given or not.
    """
    fields = {column: name for name in endpoint.writable if (column := relations.column_of(endpoint, name)) is not None}
    columns = endpoint.table.c
    natural = endpoint.natural_attribute
    if natural in given and columns[natural].unique:
        return (natural,)
    constraints = [item for item in endpoint.table.constraints if isinstance(item, sa.UniqueConstraint)]
    sets = [list(item.columns) for item in constraints if all(column.key in fields for column in item.columns)]
    around = [
        tuple(fields[column.key] for column in some if fields[column.key] in given)
        for some in sets
        if natural in given
        and any(column.key == natural for column in some)
        and all(column.nullable or fields[column.key] in given for column in some)
    ]
    unique = [
        (fields[column.key],)
        for column in columns
        if column.unique and fields.get(column.key) in given and column_info(column).foreign_key is None
    ]
    whole = [names for some in sets if set(names := tuple(fields[column.key] for column in some)) <= given]
    candidates = [*sorted(around, key=len, reverse=True), *unique, *sorted(whole)]
    if natural is not None and natural in given:
        candidates.append(natural_key(endpoint))
    return candidates[0] if candidates else None


def with_named_references(endpoint: Endpoint, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a body in which names stand as attributes: ``site: lisbon`` becomes ``site: {slug: lisbon}``."""
    named = {name: _name_value(endpoint.writable.get(name), value) for name, value in body.items()}
    for type_name, id_name in generic_pairs(endpoint):
        target = endpoint.registry.get(str(body.get(type_name)))
        if target is not None and isinstance(body.get(id_name), Mapping):
            named[id_name] = _attributes(target, body[id_name])
    return named


def _name_value(field: Any, value: Any) -> Any:
    if not isinstance(field, Reference | ToMany) or isinstance(field, Status) or field.target is None:
        return value
    if not isinstance(field, ToMany) or isinstance(field, ToOne):
        return _attributes(field.target, value)
    if field.by is not None:
        return value
    if is_difference(value):
        return {name: _name_value(field, items) for name, items in value.items()}
    return [_attributes(field.target, item) for item in value] if isinstance(value, list) else value


def _attributes(target: Endpoint, value: Any) -> Any:
    if isinstance(value, str):
        return target.named_in_cell(value)
    if not isinstance(value, Mapping) or ID in value:
        return value
    return {name: _name_value(target.fields.get(name), item) for name, item in value.items()}


def _reject_repeated(planned: Sequence[PlannedObject], errors: DocumentErrors) -> None:
    """Adds errors for objects with the key of an earlier one."""
    places: dict[Any, str] = {}
    for item in planned:
        name = item.endpoint, orjson.dumps(item.identity, str, orjson.OPT_SORT_KEYS)
        if places.setdefault(name, item.place) != item.place:
            errors.add(item.endpoint.label, item.index, {item.key[0]: [REPEATED.format(places[name])]})
