"""Keyset pagination: pages that continue after, or end before, a row of which the sort keys are known.

Rows that lie before it are not read, so a page costs the same at any depth, and rows that are inserted or deleted there
move nothing. SQL has no comparison of rows with mixed directions and nulls, so it is expanded key by key.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from netinv_core.db.engine import inlined_int
from netinv_core.read.ordering import Order, SortKey, order_by
from netinv_core.sql import lookups

if TYPE_CHECKING:
    from netinv_core.driver import Driver
    from netinv_core.uow import UnitOfWork

MAX_TEXT = 255  # characters of a text without a limit that are compared; MariaDB sorts by the first 1024 bytes anyway


class Position(NamedTuple):
    """A place between two rows: after the row with these sort keys, or before it, for pages that are read backward."""

    values: tuple[Any, ...] = ()
    backward: bool = False


class KeyRows(NamedTuple):
    """Rows of sort keys, in the order of the list; ``more`` rows lie beyond them in the direction of reading."""

    values: list[tuple[Any, ...]]
    more: bool


def rows(
    uow: UnitOfWork, order: Order, conditions: Sequence[Any], position: Position, limit: int, offset: int = 0
) -> KeyRows:
    """Returns at most ``limit`` rows (0: all) beyond a position; the last value of each is the id.

    It takes one statement, or two where the first sort key may be null: one for its values, then one for its nulls.
    """
    keys = [_reverse(key) for key in _keys(order)] if position.backward else _keys(order)
    statement = (
        sa.select(*(key.expression for key in keys))
        .select_from(order.source_for(filtered=bool(conditions)))
        .where(*conditions)
    )
    found: list[tuple[Any, ...]] = []
    for condition, expressions in _parts(uow.registry.driver, keys, position.values):
        part = statement.where(*condition).order_by(*expressions)
        if limit:
            part = part.limit(inlined_int("limit", limit + 1 - len(found)))
        if offset:
            part = part.offset(inlined_int("offset", offset))
        found += map(tuple, uow.execute(part).tuples())
        if limit and len(found) > limit:
            break
    values = found[:limit] if limit else found
    return KeyRows(values[::-1] if position.backward else values, len(found) > len(values))


def _keys(order: Order) -> list[SortKey]:
    """The sort keys as they are selected and compared, up to the id."""
    key_id = order.keys[-1].expression
    last = next(number for number, key in enumerate(order.keys) if key.expression is key_id)
    return [key._replace(expression=_comparable(key.expression)) for key in order.keys[: last + 1]]


def _reverse(key: SortKey) -> SortKey:
    return key._replace(descending=not key.descending, nulls_first=not key.nulls_first)


def _comparable(expression: Any) -> Any:
    """The expression in a form that can be sent back as a parameter: texts bounded, floats in double precision."""
    if isinstance(expression.type, sa.Float):
        return sa.cast(expression, sa.Double())
    length = getattr(expression.type, "length", None)
    if lookups.python_type(expression) is str and (length is None or length > MAX_TEXT):
        return sa.func.substr(expression, 1, MAX_TEXT, type_=expression.type)
    return expression


def _parts(
    driver: Driver, keys: Sequence[SortKey], values: Sequence[Any]
) -> Iterator[tuple[tuple[Any, ...], list[Any]]]:
    """Yields the conditions and the ORDER BY of each part of the rows after ``values``, part by part in their order.

    An index serves the comparison and the order of the first key only where neither mentions nulls.
    """
    if not values:
        yield (), order_by(driver, keys)
        return
    first, *rest = keys
    if not first.nullable:
        yield (_after(driver, keys, values),), order_by(driver, keys)
        return
    is_set = [first._replace(nullable=False), *rest]
    if values[0] is not None:
        yield (_after(driver, is_set, values),), order_by(driver, is_set)
    else:
        yield (first.expression.is_(None), _after(driver, rest, values[1:])), order_by(driver, rest)
    if first.nulls_first is (values[0] is None):
        there = first.expression.is_not(None) if first.nulls_first else first.expression.is_(None)
        yield (there,), order_by(driver, is_set if first.nulls_first else rest)


def _after(driver: Driver, keys: Sequence[SortKey], values: Sequence[Any]) -> Any:
    """The condition that a row comes after one with these values."""
    uniform = _uniform(keys)
    if driver.compares_rows and uniform > 1:
        row = sa.tuple_(*(key.expression for key in keys[:uniform]))
        last = sa.tuple_(*map(_parameter, keys[:uniform], values))
        beyond = row < last if keys[0].descending else row > last
        if uniform == len(keys):
            return beyond
        from_last = row <= last if keys[0].descending else row >= last
        return sa.and_(from_last, sa.or_(beyond, _after(driver, keys[uniform:], values[uniform:])))
    (key, *rest), (value, *others) = keys, values
    strictly = _beyond(key, value)
    if not rest:
        return strictly
    if key.nullable:
        equal = key.expression.is_(None) if value is None else key.expression == _parameter(key, value)
        return sa.or_(strictly, sa.and_(equal, _after(driver, rest, others)))
    parameter = _parameter(key, value)
    from_value = key.expression <= parameter if key.descending else key.expression >= parameter
    # MariaDB reads one range of an index for each key only where the equality is written, though it follows.
    equal = key.expression == parameter
    return sa.and_(from_value, sa.or_(strictly, sa.and_(equal, _after(driver, rest, others))))


def _uniform(keys: Sequence[SortKey]) -> int:
    """The number of first keys that SQL compares as rows: not null, in one direction, and of one table, whose index may
    serve the comparison.
    """
    first = keys[0]
    alike = (
        not key.nullable and key.descending is first.descending and _table_of(key) is _table_of(first) for key in keys
    )
    return next((number for number, is_alike in enumerate(alike) if not is_alike), len(keys))


def _table_of(key: SortKey) -> Any:
    """The table of the column to sort by; ``None`` for another expression."""
    return getattr(key.expression, "table", None)


def _beyond(key: SortKey, value: Any) -> Any:
    """The condition that a sort key alone comes after the value."""
    if value is None:
        return key.expression.is_not(None) if key.nulls_first else sa.false()
    parameter = _parameter(key, value)
    greater = key.expression < parameter if key.descending else key.expression > parameter
    return sa.or_(greater, key.expression.is_(None)) if key.nullable and not key.nulls_first else greater


def _parameter(key: SortKey, value: Any) -> Any:
    kind = key.expression.type
    return sa.literal(value) if isinstance(kind, sa.types.NullType) else sa.literal(value, kind)


# -- positions as text

_ENCODERS: Mapping[type, tuple[str, Callable[[Any], str]]] = {
    decimal.Decimal: ("n", str),
    uuid.UUID: ("u", str),
    datetime.datetime: ("t", datetime.datetime.isoformat),
    datetime.date: ("d", datetime.date.isoformat),
    bytes: ("b", lambda value: base64.b64encode(value).decode()),
}
_DECODERS: Mapping[str, Callable[[str], Any]] = {
    "n": decimal.Decimal,
    "u": uuid.UUID,
    "t": datetime.datetime.fromisoformat,
    "d": datetime.date.fromisoformat,
    "b": base64.b64decode,
}


def dumps(position: Position) -> str:
    """Converts a position to text; :func:`loads` restores it."""
    return json.dumps([position.backward, *map(_encode, position.values)], separators=(",", ":"), ensure_ascii=False)


def loads(text: str) -> Position:
    """Restores a position from the text of :func:`dumps`."""
    backward, *values = json.loads(text)
    return Position(tuple(_DECODERS[item[0]](item[1]) if isinstance(item, list) else item for item in values), backward)


def _encode(value: Any) -> Any:
    kind, encode = _ENCODERS.get(type(value), ("", None))
    return value if encode is None else [kind, encode(value)]


def signature(order: Order) -> Iterable[str]:
    """Yields what the values of a position depend on: the type and the direction of each sort key."""
    for key in _keys(order):
        yield f"{key.expression.type!r} {key.nullable:d}{key.descending:d}{key.nulls_first:d}"
