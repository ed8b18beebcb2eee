"""Facets of a list: how many objects have each value of a choice or a reference, counted in one UNION ALL statement.

The counts of a facet respect permissions and all filters but those of the facet itself, so that they tell what choosing
another of its values would give.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.db.engine import inlined_int
from netinv_core.read.listing import filter_errors_as_400
from netinv_core.sql.lookups import as_text

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Conditions = Mapping[str, Sequence[Any]]
# Pairs of a value, as in JSON (the id of a reference's target, or ``None``), and a number of objects.
Counts = list[tuple[str | None, int]]
MAX_TEXT = 255  # characters of a value


@dataclasses.dataclass(frozen=True)
class ListFacet:
    """A facet whose values are not those of a field: ``name`` is the parameter by which the list takes one of them.

    ``counts(request, endpoint, conditions)`` returns values, as the parameter has them, with the numbers of the objects
    that meet the conditions: those of the user's permissions and of all parameters of the list but this one.
    ``applies(request, endpoint)`` tells whether the list has the facet.
    """

    name: str
    label: str
    counts: Callable[[Any, Endpoint, Sequence[Any]], Sequence[tuple[str, int]]]
    applies: Callable[[Any, Endpoint], bool] = lambda request, endpoint: True
    position: int = 500


def is_facet(endpoint: Endpoint, name: str) -> bool:
    """True for a field whose values can be counted: a choice or a reference with a filter of its name."""
    field, item = endpoint.fields.get(name), endpoint.filters.get(name)
    if field is None or item is None or field.confidential or field.attribute is None:
        return False
    if field.attribute not in endpoint.table.c:
        return False
    if isinstance(field, fields.Reference):
        return item.relation is not None and item.relation.steps == (name,)
    return isinstance(field, fields.Choice) and item.choices is not None


def counts(
    uow: UnitOfWork,
    endpoint: Endpoint,
    limits: Mapping[str, int],
    conditions: Conditions,
    within: Sequence[Any] = (),
) -> dict[str, Counts]:
    """Returns the most frequent values of fields with their numbers of objects.

    :param limits: how many values at most, by field (:func:`is_facet`)
    :param conditions: the conditions of each query parameter
    :param within: further conditions on the endpoint's table
    :raises Denied: without permission
    :raises Invalid: for a condition that the database cannot evaluate
    """
    if not limits:
        return {}
    parts = [
        _part(endpoint, number, name, counted_conditions(uow, endpoint, name, conditions, within), limit)
        for number, (name, limit) in enumerate(limits.items())
    ]
    found: dict[str, Counts] = {name: [] for name in limits}
    names = list(limits)
    with filter_errors_as_400():
        rows = uow.execute(sa.union_all(*[sa.select(part.subquery()) for part in parts])).all()
    for number, value, count in rows:
        found[names[number]].append((value, count))
    for values in found.values():
        values.sort(key=lambda pair: (-pair[1], pair[0] or ""))
    return found


def counted_conditions(
    uow: UnitOfWork, endpoint: Endpoint, name: str, conditions: Conditions, within: Sequence[Any] = ()
) -> list[Any]:
    """The conditions of the objects that a facet counts: all but those of the parameters that filter by it.

    :raises Denied: without permission
    """
    own = (name, f"{name}_id")
    return [*within, *permissions.limits(uow, endpoint, "view", endpoint.table)] + [
        condition
        for parameter, group in conditions.items()
        if parameter.partition("__")[0] not in own
        for condition in group
    ]


def _part(endpoint: Endpoint, number: int, name: str, conditions: Sequence[Any], limit: int) -> Any:
    """SELECT of the number of the facet, its values as text, and their counts."""
    table = endpoint.table
    column = table.c[endpoint.fields[name].attribute]
    text = sa.cast(as_text(column), sa.String(MAX_TEXT))
    value = sa.func.nullif(text, "").label("value")  # a blank choice is read as null
    count = sa.func.count().label("count")
    place: Any = sa.literal_column(str(number)).label("facet")
    statement = sa.select(place, value, count).select_from(table).where(*conditions).group_by(column)
    return statement.order_by(count.desc(), column).limit(inlined_int(f"most{number}", limit))
