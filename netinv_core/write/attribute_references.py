"""References by attributes: objects identified by exact values of their own visible members.

A member is named as in the representation; a nested object by its id or by attributes of its own. Lookups, reverse
relations and hidden values do not identify an object. An object that the user may not view counts as missing.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.errors import short
from netinv_core.fields import Reference, Status
from netinv_core.models.columns import column_info
from netinv_core.sql import lookups, relations
from netinv_core.sql.union import Union

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Path = tuple[str, ...]
MAX_ATTRIBUTES = 64
MAX_JOINS = 16
MAX_PARAMETERS = 30_000  # of one statement: SQLite takes 32,766, PostgreSQL 65,535
MAX_PARTS = 40  # of one UNION ALL: SQLite takes 500
TOO_MANY = f"A reference has at most {MAX_ATTRIBUTES} attributes of at most {MAX_JOINS} objects."
NO_VALUE = "Attribute '{}' takes a single value, not a list or an object."
_DISPLAY_ONLY: Any = object()  # marks the value of a member that does not identify


@dataclasses.dataclass
class Attributes:
    """The values that identify an object.

    ``values`` holds them by path: the foreign keys to follow, then the column to compare. Example:
    ``{("site_id", "slug"): "ams"}``. ``sent`` holds them by the names that the client used, for messages.
    """

    sent: dict[str, Any] = dataclasses.field(default_factory=dict)
    values: dict[Path, Any] = dataclasses.field(default_factory=dict)

    @property
    def identifying(self) -> bool:
        """True when any value is not null: too many objects have only nulls in common."""
        return any(value is not None for value in self.values.values())

    @property
    def too_many(self) -> bool:
        """True when the attributes exceed :data:`MAX_ATTRIBUTES` or :data:`MAX_JOINS`."""
        joins = {path[:end] for path in self.values for end in range(1, len(path))}
        return len(self.values) > MAX_ATTRIBUTES or len(joins) > MAX_JOINS


def parse(target: Endpoint, raw: Mapping[str, Any]) -> Attributes:
    """Parses a JSON object that names an object of ``target``.

    A representation can be sent back: next to an id or a URL, members that cannot identify are ignored.

    :raises ValueError: for a member that cannot identify, or a value that it cannot have
    """
    attributes = Attributes()
    _parse_into(attributes, target, raw, (), ())
    if attributes.too_many:
        raise ValueError(TOO_MANY)
    return attributes


def _parse_into(attributes: Attributes, target: Endpoint, raw: Mapping[str, Any], path: Path, names: Path) -> None:
    """Adds the members of ``raw``, an object at ``path`` that the client reached by ``names``."""
    identified = "id" in raw or "url" in raw
    if path and "id" in raw:  # the foreign key alone identifies
        raw = {"id": raw["id"]}
    for name, value in raw.items():
        if len(attributes.values) > MAX_ATTRIBUTES:
            raise ValueError(TOO_MANY)
        endpoint, owner_path, member = _follow(target, path, name)
        if identified and endpoint is target and name not in ("id", "url"):
            value = _written_form(endpoint, name, value)
        if value is not _DISPLAY_ONLY and member != "display" and not (name == "url" and "id" in raw):
            _add(attributes, endpoint, (*owner_path, member), (*names, name), value)
    if not raw.keys() - {"display"} and raw:
        raise ValueError("An object is not identified by its display alone.")


def _follow(target: Endpoint, path: Path, name: str) -> tuple[Endpoint, Path, str]:
    """Follows the foreign keys of a name such as ``parent__slug``; returns the endpoint, its path and the last name."""
    *steps, last = name.split("__")
    for number, step in enumerate(steps):
        next_target = _foreign_key_target(target, step)
        if next_target is None:  # a lookup, a reverse relation or an unknown name
            raise _unknown(target, "__".join([*steps[number:], last]))
        path, target = (*path, f"{step}_id"), next_target
    return target, path, last


def _foreign_key_target(endpoint: Endpoint, name: str) -> Endpoint | None:
    """Returns the endpoint that a visible foreign key refers to."""
    field = endpoint.fields.get(name)
    if not isinstance(field, Reference) or relations.column_of(endpoint, name) != f"{name}_id":
        return None
    return field.target


def _unknown(endpoint: Endpoint, name: str) -> relations.UnknownPath:
    choices = sorted(member for member in endpoint.fields if relations.column_of(endpoint, member) is not None)
    return relations.UnknownPath(
        f"Cannot resolve keyword '{short(name)}' into field. Choices are: {', '.join(choices)}"
    )


def _written_form(endpoint: Endpoint, name: str, value: Any) -> Any:
    """Returns a member of a representation as it identifies; ``_DISPLAY_ONLY`` for one that does not."""
    field = endpoint.fields.get(name)
    if field is None:
        return value
    if name not in endpoint.writable or relations.column_of(endpoint, name) is None or isinstance(value, list):
        return _DISPLAY_ONLY
    if isinstance(value, Mapping) and set(value) != {"value", "label"} and not isinstance(field, Reference):
        return _DISPLAY_ONLY
    return value


def _add(attributes: Attributes, endpoint: Endpoint, path: Path, names: Path, value: Any) -> None:
    """Adds the value of one attribute, or the attributes of a nested object."""
    *owner_path, name = path
    if name == "url":
        name, value = "id", str(_key_in(endpoint, value))
    column = relations.column_of(endpoint, name)
    if column is None:
        raise _unknown(endpoint, name)
    field = endpoint.fields.get(name)
    if isinstance(value, Mapping) and set(value) == {"value", "label"}:
        value = value["value"]
    if isinstance(field, Reference) and field.target is not None:
        if isinstance(field, Status) and isinstance(value, str) and field.target.parse_key(value) is None:
            value = {"slug": value}
        if isinstance(value, Mapping):
            _parse_into(attributes, field.target, value, (*owner_path, column), names)
            return
    if value is not None and not isinstance(value, str | int | float):
        raise ValueError(NO_VALUE.format(short(names[-1])))
    converted = _convert(endpoint, column, value)
    if attributes.values.setdefault((*owner_path, column), converted) != converted:
        raise ValueError(f"Attribute '{short(names[-1])}' is given twice, with different values.")
    attributes.sent["__".join(names)] = value


def _key_in(endpoint: Endpoint, url: Any) -> Any:
    """Returns the id in the URL of an object of ``endpoint``.

    :raises ValueError: for any other URL
    """
    text, path = str(url), endpoint.canonical_path
    before, _, rest = text.rpartition(path)
    key = endpoint.parse_key(rest.rstrip("/")) if before or text.startswith(path) else None
    if key is None:
        raise ValueError("The URL is not one of such an object.")
    return key


def _convert(endpoint: Endpoint, name: str, value: Any) -> Any:
    """Converts a value to the type of a column."""
    column = endpoint.table.c[name]
    if column_info(column).kind == "json":
        raise _unknown(endpoint, name)
    if value is None and not column.nullable:
        raise ValueError(f"Attribute '{name}' is never null.")
    if isinstance(value, float) and lookups.python_type(column) is int and not value.is_integer():
        raise ValueError("Enter a whole number.")
    try:
        converted = lookups.convert(column, value)
        if isinstance(converted, int) and not lookups.fits(column, converted):
            raise ArithmeticError
        return converted.astimezone(datetime.UTC) if isinstance(converted, datetime.datetime) else converted
    except (TypeError, ArithmeticError):
        raise ValueError(f"Attribute '{name}' cannot have this value.") from None


def find(uow: UnitOfWork, target: Endpoint, requests: Sequence[Attributes]) -> list[list[Any]]:
    """Returns the ids of the objects that match each request, two at most; see :func:`find_together`."""
    return find_together(uow, [(target, requests)])[0]


def find_together(uow: UnitOfWork, searches: Sequence[tuple[Endpoint, Sequence[Attributes]]]) -> list[list[list[Any]]]:
    """Returns the ids of the objects that match each request of each search, two at most.

    All requests of a search must have attributes of the same paths. One statement, a UNION ALL of the searches; several
    where it would have more parameters or parts than databases take.
    """
    found: list[list[list[Any]]] = [[] for _ in searches]
    for batch in _batches(searches):
        parts = [_Part(uow, *searches[number], start, end) for number, start, end in batch]
        for (number, _, _), part, ids in zip(batch, parts, _execute(uow, parts), strict=True):
            found[number] += [ids.get(values, []) for values in part.requested]
    return found


def _batches(searches: Sequence[tuple[Endpoint, Sequence[Attributes]]]) -> Iterator[list[tuple[int, int, int]]]:
    """Yields the parts of each statement: the number of a search, with the first and the last of its requests."""
    batch: list[tuple[int, int, int]] = []
    free = MAX_PARAMETERS
    for number, (_, requests) in enumerate(searches):
        width, start = max(1, len(requests[0].values)), 0
        while start < len(requests):
            if free < width or len(batch) == MAX_PARTS:
                yield batch
                batch, free = [], MAX_PARAMETERS
            end = min(len(requests), start + free // width)
            batch.append((number, start, end))
            free -= (end - start) * width
            start = end
    if batch:
        yield batch


class _Part:
    """SELECT of the ids and values of the objects that match the requests of one search, from ``start`` to ``end``."""

    def __init__(self, uow: UnitOfWork, target: Endpoint, requests: Sequence[Attributes], start: int, end: int) -> None:
        self._target, self._paths = target, tuple(requests[0].values)
        self.requested = [_values_of(request, self._paths) for request in requests[start:end]]
        self.searched = {values for values in self.requested if any(value is not None for value in values)}
        self._source, self._columns, limits = _join(uow, target, self._paths)
        own = ({values[number] for values in self.searched} for number in range(len(self._paths)))
        self._conditions = [*map(_in, self._columns, own), *limits]

    def select(self) -> Any:
        """The SELECT for one value alone: the first two objects."""
        columns = [self._target.table.c.id, *self._columns]
        return sa.select(*columns).select_from(self._source).where(*self._conditions).limit(2)

    def ranked(self) -> tuple[list[Any], Any, Any]:
        """The part of a :class:`Union`: the first two objects of each value."""
        key = self._target.table.c.id
        rank = sa.func.row_number().over(partition_by=self._columns, order_by=key).label("place")
        columns = [column.label(f"value{number}") for number, column in enumerate([key, *self._columns])]
        subquery = sa.select(*columns, rank).select_from(self._source).where(*self._conditions).subquery()
        *shown, place = subquery.c
        return shown, subquery, place <= 2


def _execute(uow: UnitOfWork, parts: Sequence[_Part]) -> list[dict[tuple[Any, ...], list[Any]]]:
    """The ids of the objects of each part, by their values; one statement."""
    searching = [part for part in parts if part.searched]
    if len(searching) == 1 and len(searching[0].searched) == 1:
        results: Any = [uow.execute(searching[0].select()).all()]
    elif searching:
        results = Union([part.ranked() for part in searching]).rows(uow, {})
    else:
        results = []
    rows_by_part = dict(zip(map(id, searching), results, strict=True))
    found: list[dict[tuple[Any, ...], list[Any]]] = [{} for _ in parts]
    for part, ids in zip(parts, found, strict=True):
        for key, *values in rows_by_part.get(id(part), ()):
            ids.setdefault(tuple(values), []).append(key)
    return found


def _values_of(attributes: Attributes, paths: Sequence[Path]) -> tuple[Any, ...]:
    return tuple(attributes.values[path] for path in paths)


def _in(column: Any, values: set[Any]) -> Any:
    """The condition that a column has one of the values; null is one of them where it occurs."""
    condition = column.in_(values - {None})
    return sa.or_(condition, column.is_(None)) if None in values else condition


def _join(uow: UnitOfWork, target: Endpoint, paths: Sequence[Path]) -> tuple[Any, list[Any], list[Any]]:
    """Joins the tables along the paths.

    Returns the joined source, the column at the end of each path, and the conditions that the user may view the rows.
    """
    source, columns = target.table, []
    limits = permissions.visible(uow, target, target.table)
    joined: dict[Path, tuple[Endpoint, Any]] = {(): (target, target.table)}
    for path in paths:
        for end in range(1, len(path)):
            if path[:end] in joined:
                continue
            attribute = path[end - 1]
            endpoint, table = joined[path[: end - 1]]
            next_target = endpoint.registry.target(column_info(endpoint.table.c[attribute]).foreign_key)
            assert next_target is not None
            alias = next_target.table.alias()
            source = source.join(alias, alias.c.id == table.c[attribute])
            if not isinstance(endpoint.fields.get(attribute.removesuffix("_id")), Status):  # anyone may name a status
                limits += permissions.visible(uow, next_target, alias)
            joined[path[:end]] = next_target, alias
        columns.append(joined[path[:-1]][1].c[path[-1]])
    return source, columns, limits
