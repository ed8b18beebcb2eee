"""Order of rows that refer to new rows beside them, by name and wherever these stand: imports and plans.

A new row gets its id before it is written, and takes the place of its name in the rows that refer to it. These are
written in a later step, so the number of steps is that of the levels, whatever the number of rows.
"""

from __future__ import annotations

import collections
import dataclasses
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.fields import Reference, Status, ToMany, ToOne, generic_pairs
from netinv_core.fields.list_differences import is_difference
from netinv_core.models.columns import column_info
from netinv_core.write.slugs import slugify

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

ID = "id"
MAX_LEVELS = 100
CIRCLE = "These rows refer to each other in a circle: {}."
SEVERAL = "Several rows are meant by this: {}."
TOO_DEEP = f"The rows that this refers to are nested in more than {MAX_LEVELS} levels."
Body = Mapping[str, Any]
Path = tuple[str, ...]
Scopes = Callable[["Endpoint"], Mapping[str, Collection[str]]]


@dataclasses.dataclass(frozen=True)
class OrderedRow:
    """A row about an object of ``endpoint``: its body, with an id if the object exists, and its name in messages."""

    endpoint: Endpoint
    body: dict[str, Any]
    name: str


@dataclasses.dataclass
class RowOrder:
    """The steps in which rows are written, as lists of their places; ``ids`` are those of new rows, by place.

    ``named`` has for each row the places that it refers to, with the name of the field that does. ``slots`` are the
    members of bodies, as (container, key), that hold the id of a new row. ``errors`` are those of rows, by name of the
    field.
    """

    steps: list[list[int]]
    ids: dict[int, uuid.UUID] = dataclasses.field(default_factory=dict)
    named: dict[int, dict[int, str]] = dataclasses.field(default_factory=dict)
    slots: dict[int, list[tuple[Any, Any]]] = dataclasses.field(default_factory=dict)
    errors: dict[int, dict[str, list[str]]] = dataclasses.field(default_factory=dict)

    def assign(self, place: int, key: uuid.UUID) -> None:
        """Sets the id of a row that exists after all, in the rows that refer to it too."""
        self.ids[place] = key
        for container, member in self.slots.get(place, ()):
            container[member] = str(key)


def order(rows: Sequence[OrderedRow], scopes: Scopes) -> RowOrder:
    """Orders rows, and replaces in their bodies the names of new rows by ids.

    :param scopes: names of the fields, by field of an endpoint, that have to agree with those of the row referred to
    """
    result = RowOrder([list(range(len(rows)))])
    named = _NewRows(rows, scopes)
    if not named:
        return result
    fields = {row.endpoint: _references(row.endpoint) for row in rows}
    pairs = {endpoint: generic_pairs(endpoint) for endpoint in fields}
    for place, row in enumerate(rows):
        resolver = _Resolver(result, named, rows, place)
        for field in fields[row.endpoint]:
            if row.body.get(field.name) is not None:
                resolver.resolve(field)
        for type_name, id_name in pairs[row.endpoint]:
            if isinstance(row.body.get(id_name), Mapping):
                target = row.endpoint.registry.get(str(row.body.get(type_name)))
                resolver.resolve_member(row.body, id_name, target, id_name)
    result.steps = _steps(result, rows)
    return result


def _references(endpoint: Endpoint) -> list[Reference | ToMany]:
    """Returns the fields of an endpoint whose values name objects, except statuses."""
    return [
        field
        for field in endpoint.writable.values()
        if isinstance(field, Reference | ToMany) and not isinstance(field, Status) and field.target is not None
    ]


@dataclasses.dataclass
class _Resolver:
    """Resolution of the references of one row to new rows."""

    result: RowOrder
    named: _NewRows
    rows: Sequence[OrderedRow]
    place: int

    def resolve(self, field: Reference | ToMany) -> None:
        """Replaces the values of a field that name new rows."""
        body = self.rows[self.place].body
        if not isinstance(field, ToMany) or isinstance(field, ToOne):
            self.resolve_member(body, field.name, field.target, field.name)
            return
        if is_difference(body[field.name]):
            body[field.name] = dict(body[field.name])
            lists = [(body[field.name], name) for name in body[field.name]]
        else:
            lists = [(body, field.name)]
        for container, name in lists:
            if isinstance(container[name], list):
                items = container[name] = list(container[name])
                for position in range(len(items)):
                    self.resolve_member(items, position, field.target, field.name, field.by)

    def resolve_member(
        self,
        container: Any,
        member: Any,
        target: Endpoint | None,
        name: str,
        by: str | None = None,
        *,
        nested: bool = False,
    ) -> None:
        """Replaces one value of the field ``name``; where it does not name a new row, the attributes that do.

        A value that names an object ``by`` a column stays, and only orders the rows.
        """
        value = container[member]
        if target is None:
            return
        places = self.named.find(self.place, "" if nested else name, target, value, by)
        if len(places) == 1:
            self.result.named.setdefault(self.place, {})[places[0]] = name
            if by is None:
                container[member] = str(self.result.ids.setdefault(places[0], uuid.uuid4()))
                self.result.slots.setdefault(places[0], []).append((container, member))
        elif places:
            self.result.errors.setdefault(self.place, {})[name] = [SEVERAL.format(_list_places(places, self.rows))]
        elif isinstance(value, Mapping) and ID not in value:
            attributes = container[member] = dict(value)
            for field in _references(target):
                if isinstance(field, Reference) and isinstance(attributes.get(field.name), str | Mapping):
                    self.resolve_member(attributes, field.name, field.target, name, nested=True)


def _list_places(places: Sequence[int], rows: Sequence[OrderedRow]) -> str:
    shown = ", ".join(rows[place].name for place in places[:10])
    return shown if len(places) <= 10 else f"{shown} …"


class _NewRows:
    """The rows that create objects, by endpoint and the values that can name them."""

    def __init__(self, rows: Sequence[OrderedRow], scopes: Scopes) -> None:
        self._rows = rows
        self._scopes = {endpoint: scopes(endpoint) for endpoint in dict.fromkeys(row.endpoint for row in rows)}
        self._own = [dict(_flat(row.body)) for row in rows]
        self._values: dict[Endpoint, dict[int, dict[Path, str]]] = {}
        for place, row in enumerate(rows):
            if ID not in row.body and row.endpoint.key_type is uuid.UUID:
                values = dict(_flat(_with_slug(row.endpoint, row.body)))
                self._values.setdefault(row.endpoint, {})[place] = values
        self._places: dict[tuple[Endpoint, tuple[Path, ...]], dict[tuple[str, ...], list[int]]] = {}

    def __bool__(self) -> bool:
        return bool(self._values)

    def find(self, place: int, name: str, target: Endpoint, value: Any, by: str | None) -> Sequence[int]:
        """The places of the rows that a value of the field ``name`` of a row means. Rows of another device, site … are
        not meant.
        """
        if target not in self._values:
            return []
        attributes = _attributes(target, value, by or target.natural_attribute)
        if not attributes:
            return []
        paths = tuple(sorted(attributes))
        if (target, paths) not in self._places:
            self._places[target, paths] = self._index(target, paths)
        found = self._places[target, paths].get(tuple(attributes[path] for path in paths), [])
        scope = self._scopes[self._rows[place].endpoint].get(name, ())
        return [other for other in found if not any(self._differ(place, other, name) for name in scope)]

    def _index(self, target: Endpoint, paths: tuple[Path, ...]) -> dict[tuple[str, ...], list[int]]:
        places: dict[tuple[str, ...], list[int]] = {}
        for place, values in self._values[target].items():
            if all(path in values for path in paths):
                places.setdefault(tuple(values[path] for path in paths), []).append(place)
        return places

    def _differ(self, place: int, other: int, name: str) -> bool:
        """True for two rows that have different values of a field."""
        values, others = (
            {path: value for path, value in self._own[at].items() if path[0] == name} for at in (place, other)
        )
        return any(others[path] != value for path, value in values.items() if path in others)


def _attributes(target: Endpoint, value: Any, by: str | None) -> dict[Path, str]:
    """The values that name an object; none for an id, which names an object that exists."""
    if isinstance(value, str) and by is not None and target.parse_key(value) is None:
        value = {by: value}
    if not isinstance(value, Mapping) or ID in value or "url" in value:
        return {}
    return dict(_flat(value))


def _with_slug(endpoint: Endpoint, body: Body) -> Body:
    """A body with the slug that is computed from its name."""
    for attribute, column in endpoint.table.c.items():
        source = column_info(column).slug_of
        if source and not body.get(attribute) and isinstance(body.get(source), str):
            return {**body, attribute: slugify(body[source], column_info(column).slug_joint)}
    return body


def _flat(value: Mapping[Any, Any], start: Path = ()) -> Iterator[tuple[Path, str]]:
    """The scalar members of nested objects, by path; those that are null or lists are left out."""
    for name, item in value.items():
        path = (*start, *str(name).split("__"))
        if isinstance(item, Mapping):
            if set(item) == {"value", "label"}:
                yield path, str(item["value"])
            else:
                yield from _flat(item, path)
        elif isinstance(item, str | int | float):
            yield path, str(item).strip()


def _steps(result: RowOrder, rows: Sequence[OrderedRow]) -> list[list[int]]:
    """The places by level: those of a step refer to rows of earlier ones only. Adds errors of rows in circles."""
    waiting = {place: set(others) for place, others in result.named.items()}
    referring = _reverse(result.named)
    level = [place for place in range(len(rows)) if place not in waiting]
    steps: list[list[int]] = []
    while level:
        steps.append(level)
        following: list[int] = []
        for other in level:
            for place in referring.get(other, ()):
                waiting[place].discard(other)
                if not waiting[place]:
                    del waiting[place]
                    following.append(place)
        level = sorted(following)
    for place in (place for step in steps[MAX_LEVELS:] for place in step):
        result.errors.setdefault(place, {}).update({name: [TOO_DEEP] for name in result.named[place].values()})
    if waiting:
        _reject_circles(result, waiting, rows)
        steps.append(sorted(waiting))
    return steps


def _reverse(named: Mapping[int, Mapping[int, str]]) -> dict[int, list[int]]:
    referring: dict[int, list[int]] = {}
    for place, others in named.items():
        for other in others:
            referring.setdefault(other, []).append(place)
    return referring


def _reject_circles(result: RowOrder, waiting: Mapping[int, set[int]], rows: Sequence[OrderedRow]) -> None:
    """Rejects the rows of circles: those that only refer to one are left out."""
    counts = collections.Counter(other for others in waiting.values() for other in others)
    remaining, ends = set(waiting), [place for place in waiting if not counts[place]]
    while ends:
        place = ends.pop()
        remaining.discard(place)
        for other in waiting[place]:
            counts[other] -= 1
            if not counts[other]:
                ends.append(other)
    message = CIRCLE.format(_list_places(sorted(remaining), rows))
    for place in remaining:
        errors = result.errors.setdefault(place, {})
        errors |= {result.named[place][other]: [message] for other in waiting[place] & remaining}
