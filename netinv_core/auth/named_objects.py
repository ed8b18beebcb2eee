"""Condition that a user may view the objects that rows name by generic foreign keys.

Such an object may be about another in turn: a change of a note is visible where the note and its object are. The
condition therefore follows the key through the tables of notes, images and so on to an object that is about nothing,
and tests that one. So the limits of each model are in the statement once, however many tables lead to it.
"""

from __future__ import annotations

import dataclasses
import functools
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.caches import lru_cache

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

LimitsOf = Callable[["UnitOfWork", "Endpoint", Any], list[Any] | None]


@lru_cache("SQL statements", 2000)
def _alias(table: Any) -> Any:
    """Returns the alias of a table for subqueries that hold no other one of it: making one copies all columns."""
    alias = table.alias()
    assert "id" in alias.c  # its columns are made now, before threads share it
    return alias


@dataclasses.dataclass
class _Models:
    """Models by the limits of the user: labels of those without, SELECTs of the visible ids of those with, and the
    tables with their limits of those that are about others. Models of which the user may view nothing are left out.
    """

    unlimited: list[str] = dataclasses.field(default_factory=list)
    limited: dict[str, Any] = dataclasses.field(default_factory=dict)
    about_others: list[tuple[Endpoint, Any, list[Any]]] = dataclasses.field(default_factory=list)


def visible(uow: UnitOfWork, pairs: Sequence[tuple[Any, Any]], limits_of: LimitsOf) -> Any:
    """Returns the condition that the user may view each object that a row names.

    A deleted object counts as visible to users who may view every object of its model. A note on a note on a note is
    for superusers.

    :param pairs: columns of the row, the label of a content type and an id
    :param limits_of: returns the conditions on a table that the user may view a row, ``None`` for a model of which it
        may view nothing
    """
    models = _models(uow, limits_of)
    unlimited_pairs = [types.in_(models.unlimited) for types, _ in pairs]
    return sa.or_(sa.and_(*unlimited_pairs), sa.not_(_is_hidden(models, pairs)))


def _models(uow: UnitOfWork, limits_of: LimitsOf) -> _Models:
    """The models by the limits of the user. Those that follow from its permissions alone are kept until one changes."""
    load, identity = functools.partial(_read_limits, limits_of=limits_of), uow.identity
    name = ("limits of named objects", identity.user_id)
    kept = load(uow, fixed=True) if identity.limited else uow.cached_config(name, functools.partial(load, fixed=True))
    others = load(uow, fixed=False)
    return _Models([*kept.unlimited, *others.unlimited], {**kept.limited, **others.limited}, others.about_others)


def _read_limits(uow: UnitOfWork, *, limits_of: LimitsOf, fixed: bool) -> _Models:
    """The limits to the models whose limits are ``fixed`` by permissions, or to the others."""
    models = _Models()
    for endpoint in uow.registry.endpoints.values():
        resource = endpoint.resource
        if fixed == bool(resource.about or resource.narrowing or resource.restriction):
            continue
        table = _alias(endpoint.table)
        limits = limits_of(uow, endpoint, table)
        if limits is None:
            continue
        if resource.about:
            if endpoint.key_type is uuid.UUID:  # no other one is named by generic keys
                models.about_others.append((endpoint, table, limits))
        elif not limits:
            models.unlimited.append(endpoint.label)
        elif endpoint.key_type is uuid.UUID:
            models.limited[endpoint.label] = sa.select(table.c.id).where(*limits).correlate(None)
    return models


def _is_hidden(models: _Models, pairs: Sequence[tuple[Any, Any]]) -> Any:
    """The condition that one of the objects is hidden: EXISTS over a row for each key and each path from it.

    The objects that are about others are LEFT JOINed to the key; what they are about replaces it.
    """
    paths = max([len(endpoint.resource.about) for endpoint, _, _ in models.about_others], default=1)
    numbers: list[sa.Select[Any]] = [
        sa.select(sa.literal_column(str(number)).label("number")) for number in range(len(pairs) * paths)
    ]
    numbered = sa.union_all(*numbers).subquery()
    number = numbered.c.number
    types, keys = (_by_number(number, [pair[place] for pair in pairs], paths) for place in (0, 1))
    joined: Any = numbered
    end_types, end_keys = [], []
    for endpoint, table, limits in models.about_others:
        named = sa.and_(types == endpoint.label, table.c.id == keys, *limits)
        joined = joined.join(table, named, isouter=True)
        about = [endpoint.resource.about[path % len(endpoint.resource.about)] for path in range(paths)]
        repeated = about * len(pairs)
        end_types.append(_by_number(number, [table.c[type_column] for type_column, _ in repeated]))
        end_keys.append(_by_number(number, [table.c[key_column] for _, key_column in repeated]))
    end_type, end_key = _first_of([*end_types, types]), _first_of([*end_keys, keys])
    is_visible = end_type.in_(models.unlimited)
    if models.limited:
        allowed = {label: end_key.in_(ids) for label, ids in models.limited.items()}
        is_visible = sa.or_(is_visible, sa.case(allowed, value=end_type, else_=sa.false()))
    hidden: sa.Select[Any] = (
        sa.select(sa.literal_column("1")).select_from(joined).where(sa.not_(sa.func.coalesce(is_visible, sa.false())))
    )
    return sa.exists(hidden.correlate(*{types.table for types, _ in pairs}))


def _first_of(columns: Sequence[Any]) -> Any:
    """The first column that is not null."""
    return columns[0] if len(columns) == 1 else sa.func.coalesce(*columns, type_=columns[0].type)


def _by_number(number: Any, columns: Sequence[Any], repeated: int = 1) -> Any:
    """The column of a number, of columns that are ``repeated`` each; the column itself where all are the same."""
    if all(column is columns[0] for column in columns):
        return columns[0]
    places = {place * repeated + step: column for place, column in enumerate(columns) for step in range(repeated)}
    return sa.case(places, value=number)
