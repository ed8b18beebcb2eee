"""References by attributes: objects found by exact values of their own visible members.

A member is named as the representation names it; of a nested object, by its id or by such attributes of its own. Nothing else is a reference:
no lookups, no ways back, no values that nobody is shown. What a user may not view is not found.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.fields import Reference, Status
from netinv_core.models.columns import column_info
from netinv_core.read import lookups, relations

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Path = tuple[str, ...]
MOST, MOST_JOINS, LONGEST = 64, 16, 500
TOO_MANY = f"A reference has at most {MOST} attributes of at most {MOST_JOINS} objects."
NO_VALUE = "Attribute '{}' takes a single value, not a list or an object."
_SHOWN: Any = object()


@dataclasses.dataclass
class Attributes:
    """The values that identify an object, by the column each is compared with, which is a path of foreign keys and a column.

    ``sent`` holds the same for messages, by the names that the client used.
    """

    sent: dict[str, Any] = dataclasses.field(default_factory=dict)
    values: dict[Path, Any] = dataclasses.field(default_factory=dict)

    @property
    def identifying(self) -> bool:
        """True when there is any value but null: objects that merely lack something are too many to look at."""
        return any(value is not None for value in self.values.values())


def read(target: Endpoint, raw: Mapping[str, Any]) -> Attributes:
    """The attributes in a JSON object that names one of the target's.

    What was read can be written back: next to an id (or a URL), members that are only shown say nothing.

    :raises ValueError: for a member that cannot identify, or a value that it cannot have
    """
    found = Attributes()
    _read_into(found, target, raw, (), ())
    if len(found.values) > MOST or len({path[:end] for path in found.values for end in range(1, len(path))}) > MOST_JOINS:
        raise ValueError(TOO_MANY)
    return found


def _read_into(found: Attributes, target: Endpoint, raw: Mapping[str, Any], path: Path, names: Path) -> None:
    identified = "id" in raw or "url" in raw
    if path and "id" in raw:  # the foreign key says it all
        raw = {"id": raw["id"]}
    for name, value in raw.items():
        if len(found.values) > MOST:
            raise ValueError(TOO_MANY)
        endpoint, place, last = _followed(target, path, name)
        if identified and endpoint is target and name not in ("id", "url"):
            value = _as_written(endpoint, name, value)
        if value is not _SHOWN and last != "display" and not (name == "url" and "id" in raw):
            _take(found, endpoint, (*place, last), (*names, name), value)
    if not raw.keys() - {"display"} and raw:
        raise ValueError("An object is not identified by its display alone.")


def _followed(target: Endpoint, path: Path, name: str) -> tuple[Endpoint, Path, str]:
    """Where a name such as ``parent__slug`` leads along foreign keys: the endpoint, the path to it and the last name."""
    *steps, last = name.split("__")
    for number, step in enumerate(steps):
        following = _forward(target, step)
        if following is None:  # a lookup, a way back, or nothing at all
            raise _unknown(target, "__".join([*steps[number:], last]))
        path, target = (*path, f"{step}_id"), following
    return target, path, last


def _forward(endpoint: Endpoint, name: str) -> Endpoint | None:
    """The endpoint that a visible foreign key leads to."""
    field = endpoint.fields.get(name)
    visible = isinstance(field, Reference) and relations.column_of(endpoint, name) == f"{name}_id"
    return field.target if visible and isinstance(field, Reference) else None


def _unknown(endpoint: Endpoint, name: str) -> relations.UnknownPath:
    choices = sorted(member for member in endpoint.fields if relations.column_of(endpoint, member) is not None)
    return relations.UnknownPath(f"Cannot resolve keyword '{short(name)}' into field. Choices are: {', '.join(choices)}")


def _as_written(endpoint: Endpoint, name: str, value: Any) -> Any:
    """A member that was read, in the form in which it identifies; ``_SHOWN`` for what is only shown."""
    field = endpoint.fields.get(name)
    if field is None:
        return value
    if name not in endpoint.writable or relations.column_of(endpoint, name) is None or isinstance(value, list):
        return _SHOWN
    if isinstance(value, Mapping) and set(value) != {"value", "label"} and not isinstance(field, Reference):
        return _SHOWN
    return value


def _take(found: Attributes, endpoint: Endpoint, path: Path, names: Path, value: Any) -> None:
    """Adds the value of one attribute, or those of a nested object."""
    *place, name = path
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
            _read_into(found, field.target, value, (*place, column), names)
            return
    if value is not None and not isinstance(value, str | int | float):
        raise ValueError(NO_VALUE.format(short(names[-1])))
    converted = _converted(endpoint, column, value)
    if found.values.setdefault((*place, column), converted) != converted:
        raise ValueError(f"Attribute '{short(names[-1])}' is given twice, with different values.")
    found.sent["__".join(names)] = value


def _key_in(endpoint: Endpoint, url: Any) -> Any:
    """The id in an object's URL; an id that nothing has, for one of something else."""
    home, _, rest = str(url).rpartition(endpoint.canonical_path)
    key = endpoint.parse_key(rest.rstrip("/")) if home or str(url).startswith(endpoint.canonical_path) else None
    if key is None:
        raise ValueError("The URL is not one of such an object.")
    return key


def _converted(endpoint: Endpoint, column: str, value: Any) -> Any:
    place = endpoint.table.c[column]
    if column_info(place).kind == "json":
        raise _unknown(endpoint, column)
    if value is None and not place.nullable:
        raise ValueError(f"Attribute '{column}' is never null.")
    if isinstance(value, float) and lookups.python_type(place) is int and not value.is_integer():
        raise ValueError("Enter a whole number.")
    try:
        converted = lookups.convert(place, value)
        return converted.astimezone(datetime.UTC) if isinstance(converted, datetime.datetime) else converted
    except (TypeError, ArithmeticError):
        raise ValueError(f"Attribute '{column}' cannot have this value.") from None


def short(text: str) -> str:
    """A text as messages repeat it: no longer than they need it."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def find(uow: UnitOfWork, target: Endpoint, wanted: Sequence[Attributes]) -> list[list[Any]]:
    """The ids of the objects with each of these attributes, which are of the same columns: at most two for each, in one statement."""
    columns = tuple(wanted[0].values)
    sought = dict.fromkeys(tuple(item.values[path] for path in columns) for item in wanted if item.identifying)
    if not sought:
        return [[] for _ in wanted]
    source, selected, limits = _joined(uow, target, columns)
    conditions = [_among(column, {values[place] for values in sought}) for place, column in enumerate(selected)]
    statement = sa.select(target.table.c.id, *selected).select_from(source).where(*conditions, *limits)
    if len(sought) == 1:
        statement = statement.limit(2)
    else:
        place = sa.func.row_number().over(partition_by=selected, order_by=target.table.c.id).label("place")
        ranked = statement.add_columns(place).subquery()
        statement = sa.select(*list(ranked.c)[:-1]).where(ranked.c.place <= 2)
    ids: dict[tuple[Any, ...], list[Any]] = {}
    for key, *values in uow.execute(statement):
        ids.setdefault(tuple(values), []).append(key)
    return [ids.get(tuple(item.values[path] for path in columns), []) for item in wanted]


def _among(column: Any, values: set[Any]) -> Any:
    given = column.in_(values - {None})
    return sa.or_(given, column.is_(None)) if None in values else given


def _joined(uow: UnitOfWork, target: Endpoint, columns: Sequence[Path]) -> tuple[Any, list[Any], list[Any]]:
    """The joined source, the columns at the ends of the paths, and the conditions that the user may view every joined row."""
    source, selected = target.table, []
    limits = permissions.visible(uow, target, target.table)
    joined: dict[Path, tuple[Endpoint, Any]] = {(): (target, target.table)}
    for path in columns:
        for end in range(1, len(path)):
            if path[:end] in joined:
                continue
            endpoint, table = joined[path[: end - 1]]
            following = endpoint.registry.target(column_info(endpoint.table.c[path[end - 1]]).foreign_key)
            assert following is not None
            there = following.table.alias()
            source = source.join(there, there.c.id == table.c[path[end - 1]])
            if not isinstance(endpoint.fields.get(path[end - 1].removesuffix("_id")), Status):  # a choice, which anyone may name
                limits += permissions.visible(uow, following, there)
            joined[path[:end]] = following, there
        selected.append(joined[path[:-1]][1].c[path[-1]])
    return source, selected, limits
