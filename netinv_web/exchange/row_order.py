"""Order of the rows of an import that refer to new rows of the same file, by name and wherever these stand.

A new row gets its id before it is written, and takes the place of its name in the rows that refer to it. These are
written in a later step, so the number of steps is that of the levels, whatever the number of rows.
"""

from __future__ import annotations

import collections
import dataclasses
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netinv_core.endpoint import Endpoint
from netinv_core.fields import Reference, Status, ToMany
from netinv_core.models.columns import column_info
from netinv_core.tabular import rows
from netinv_core.write.slugs import slugify
from netinv_web.lists.columns import presentation_of

MAX_LEVELS = 100
CIRCLE = "These rows refer to each other in a circle: {}."
SEVERAL = "Several rows are meant by this: {}."
TOO_DEEP = f"The rows that this refers to are nested in more than {MAX_LEVELS} levels."
Body = Mapping[str, Any]
Path = tuple[str, ...]


@dataclasses.dataclass
class RowOrder:
    """The steps in which rows are written, as lists of their places; ``ids`` are those of new rows, by place.

    ``named`` has for each row the places that it refers to, with the name of the field that does. ``errors`` are those
    of rows, by name of the field.
    """

    steps: list[list[int]]
    ids: dict[int, uuid.UUID] = dataclasses.field(default_factory=dict)
    named: dict[int, dict[int, str]] = dataclasses.field(default_factory=dict)
    errors: dict[int, dict[str, list[str]]] = dataclasses.field(default_factory=dict)


def order(endpoint: Endpoint, bodies: Sequence[dict[str, Any]], numbers: Sequence[int]) -> RowOrder:
    """Orders rows, and replaces in their bodies the names of new rows by ids.

    :param numbers: the numbers of the rows in the file, for messages
    """
    fields = [field for field in endpoint.writable.values() if _refers_to_itself(endpoint, field)]
    result = RowOrder([list(range(len(bodies)))])
    if not fields or endpoint.key_type is not uuid.UUID:
        return result
    named = _NewRows(endpoint, bodies)
    for place, body in enumerate(bodies):
        for field in fields:
            if body.get(field.name) is not None:
                _resolve(result, named, place, body, field, numbers)
    result.steps = _steps(result, len(bodies), numbers)
    return result


def _refers_to_itself(endpoint: Endpoint, field: Any) -> bool:
    return isinstance(field, Reference | ToMany) and not isinstance(field, Status) and field.target is endpoint


def _resolve(
    result: RowOrder, named: _NewRows, place: int, body: dict[str, Any], field: Any, numbers: Sequence[int]
) -> None:
    """Replaces the values of a field that name new rows."""
    values = body[field.name] if isinstance(field, ToMany) else [body[field.name]]
    if not isinstance(values, list):
        return
    resolved = list(values)
    for position, value in enumerate(values):
        places = named.find(place, field, value)
        if len(places) == 1:
            result.named.setdefault(place, {})[places[0]] = field.name
            resolved[position] = str(result.ids.setdefault(places[0], uuid.uuid4()))
        elif places:
            result.errors.setdefault(place, {})[field.name] = [SEVERAL.format(_listed(places, numbers))]
    body[field.name] = resolved if isinstance(field, ToMany) else resolved[0]


def _listed(places: Sequence[int], numbers: Sequence[int]) -> str:
    shown = ", ".join(str(numbers[place]) for place in places[:10])
    return shown if len(places) <= 10 else f"{shown} …"


class _NewRows:
    """The rows that create objects, by the values that can name them."""

    def __init__(self, endpoint: Endpoint, bodies: Sequence[Body]) -> None:
        self._endpoint = endpoint
        self._depends_on = presentation_of(endpoint).depends_on
        self._values = {
            place: dict(_flat(_with_slug(endpoint, body))) for place, body in enumerate(bodies) if rows.ID not in body
        }
        self._own = [dict(_flat(body)) for body in bodies]
        self._places: dict[tuple[Path, ...], dict[tuple[str, ...], list[int]]] = {}

    def find(self, place: int, field: Any, value: Any) -> Sequence[int]:
        """The places of the rows that a value of a row names. Rows of another device, site … are not meant."""
        attributes = self._attributes(field, value)
        if not attributes:
            return []
        paths = tuple(sorted(attributes))
        if paths not in self._places:
            self._places[paths] = self._indexed(paths)
        found = self._places[paths].get(tuple(attributes[path] for path in paths), [])
        scope = self._depends_on.get(field.name, {})
        return [other for other in found if not any(self._differ(place, other, name) for name in scope)]

    def _attributes(self, field: Any, value: Any) -> dict[Path, str]:
        """The values that name an object; none for an id, which names an object that exists."""
        if isinstance(value, str) and self._endpoint.parse_key(value) is None:
            by = field.by if isinstance(field, ToMany) else self._endpoint.natural_attribute
            value = {by: value} if by is not None else {}
        if not isinstance(value, Mapping) or rows.ID in value or "url" in value:
            return {}
        return dict(_flat(value))

    def _indexed(self, paths: tuple[Path, ...]) -> dict[tuple[str, ...], list[int]]:
        places: dict[tuple[str, ...], list[int]] = {}
        for place, values in self._values.items():
            if all(path in values for path in paths):
                places.setdefault(tuple(values[path] for path in paths), []).append(place)
        return places

    def _differ(self, place: int, other: int, name: str) -> bool:
        """True for two rows that have different values of a field."""
        values, others = (
            {path: value for path, value in self._own[at].items() if path[0] == name} for at in (place, other)
        )
        return any(others[path] != value for path, value in values.items() if path in others)


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


def _steps(result: RowOrder, count: int, numbers: Sequence[int]) -> list[list[int]]:
    """The places by level: those of a step refer to rows of earlier ones only. Adds errors of rows in circles."""
    waiting = {place: set(others) for place, others in result.named.items()}
    referring = _reversed(result.named)
    level = [place for place in range(count) if place not in waiting]
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
        _reject_circles(result, waiting, numbers)
        steps.append(sorted(waiting))
    return steps


def _reversed(named: Mapping[int, Mapping[int, str]]) -> dict[int, list[int]]:
    referring: dict[int, list[int]] = {}
    for place, others in named.items():
        for other in others:
            referring.setdefault(other, []).append(place)
    return referring


def _reject_circles(result: RowOrder, waiting: Mapping[int, set[int]], numbers: Sequence[int]) -> None:
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
    message = CIRCLE.format(_listed(sorted(remaining), numbers))
    for place in remaining:
        errors = result.errors.setdefault(place, {})
        errors |= {result.named[place][other]: [message] for other in waiting[place] & remaining}
