"""Paths from one model to another, such as ``site.region.name``, as conditions on the first model's table.

Every step is a :class:`Relation`. Conditions are semi-joins (``IN (SELECT …)``), so that a path never multiplies rows.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.caches import lru_cache
from netinv_core.db.json_sql import JsonDocument
from netinv_core.models.columns import ForeignKeyInfo, column_info
from netinv_core.sql import documents, lookups
from netinv_core.sql.lookups import LOOKUPS, any_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry


@dataclasses.dataclass(frozen=True)
class Relation:
    """A step of a path, to another model or to plain values (:mod:`netinv_core.sql.relations`).

    ``target()`` is the endpoint of the other model, ``None`` when its package is not installed.
    ``reach(table, ids)`` is the condition that a row of ``table`` leads to one of ``ids`` (a list or a SELECT).
    ``exists(table)`` is the condition that it leads to any row.

    ``column`` is the foreign key of a forward step. ``target_key`` is the foreign key of the other model, for a
    reverse step. ``pairs()`` returns a subquery of ``owner_id`` and ``target_id`` for any other step. A ``single`` step
    leads to one object at most. ``values(table, test)``, for a step to plain values, is the condition that a row has a
    value which passes the test.
    """

    target: Callable[[], Endpoint | None]
    reach: Callable[[Any, Any], Any]
    exists: Callable[[Any], Any]
    column: str | None = None
    values: Callable[[Any, Callable[[Any], Any]], Any] | None = None
    target_key: str | None = None
    pairs: Callable[[], Any] | None = None
    single: bool = False


@lru_cache("SQL statements", 5000)
def inner_table(table: Any) -> Any:
    """The alias of a table in subqueries that have ``correlate(None)``, so that these may be nested in one another.

    It is kept, as the columns of an alias take 0.1 to 0.4 ms.
    """
    alias = table.alias()
    alias.c.keys()  # makes the columns, before threads share them
    return alias


def forward(registry: Registry, attribute: str, link: ForeignKeyInfo) -> Relation:
    """Relation along a foreign key."""
    return Relation(
        lambda: registry.target(link),
        lambda table, ids: table.c[attribute].in_(ids),
        lambda table: table.c[attribute].is_not(None),
        attribute,
        single=True,
    )


def backward(registry: Registry, label: str, attribute: str) -> Relation:
    """Relation against the foreign key ``attribute`` of the model ``label``; ``single`` when the key is unique."""

    def owners(*conditions: Any) -> Any:
        owner = inner_table(registry[label].table).c[attribute]
        return sa.select(owner).where(*conditions, owner.is_not(None)).correlate(None)

    def reach(table: Any, ids: Any) -> Any:
        return table.c.id.in_(owners(inner_table(registry[label].table).c.id.in_(ids)))

    def exists(table: Any) -> Any:
        return table.c.id.in_(owners())

    child = registry.get(label)
    single = child is not None and bool(child.table.c[attribute].unique)
    return Relation(lambda: registry.get(label), reach, exists, target_key=attribute, single=single)


def across(
    registry: Registry,
    label: str,
    association: Any,
    owner: str = "owner_id",
    target: str = "target_id",
    *,
    single: bool = False,
) -> Relation:
    """Relation across an association table with the columns ``owner`` and ``target``; ``single`` where an owner has one
    row at most.
    """
    owner_id, target_id = association.c[owner], association.c[target]
    return Relation(
        lambda: registry.get(label),
        lambda table, ids: table.c.id.in_(sa.select(owner_id).where(target_id.in_(ids))),
        lambda table: table.c.id.in_(sa.select(owner_id)),
        pairs=lambda: sa.select(owner_id.label("owner_id"), target_id.label("target_id")).subquery(),
        single=single,
    )


def to_type(registry: Registry, label: str, place: Any, type_attribute: str, id_attribute: str) -> Relation:
    """Relation along a generic foreign key, to objects of the model ``label``; ``place`` is the table of the key."""

    def pairs() -> Any:
        statement = sa.select(place.c.id.label("owner_id"), place.c[id_attribute].label("target_id"))
        return statement.where(place.c[type_attribute] == label).subquery()

    return Relation(
        lambda: registry.get(label),
        lambda table, ids: sa.and_(table.c[type_attribute] == label, table.c[id_attribute].in_(ids)),
        lambda table: sa.func.coalesce(table.c[type_attribute] == label, sa.false()),
        pairs=pairs,
        single=True,
    )


def from_type(registry: Registry, label: str, to: str, type_attribute: str, id_attribute: str) -> Relation:
    """Relation against a generic foreign key of the model ``to``, from objects of the model ``label``."""

    def owners(ids: Any = None) -> Any:
        table = inner_table(registry[to].table)
        statement = sa.select(table.c[id_attribute]).where(table.c[type_attribute] == label).correlate(None)
        return statement if ids is None else statement.where(table.c.id.in_(ids))

    def pairs() -> Any:
        table = registry[to].table.alias()
        statement = sa.select(table.c[id_attribute].label("owner_id"), table.c.id.label("target_id"))
        return statement.where(table.c[type_attribute] == label).subquery()

    return Relation(
        lambda: registry.get(to),
        lambda table, ids: table.c.id.in_(owners(ids)),
        lambda table: table.c.id.in_(owners()),
        pairs=pairs,
    )


def to_labels(association: Any) -> Relation:
    """Relation to plain values: the labels of an association table."""

    def values(table: Any, test: Callable[[Any], Any]) -> Any:
        return table.c.id.in_(sa.select(association.c.owner_id).where(test(association.c.label)))

    return Relation(
        lambda: None,
        lambda table, labels: values(table, lambda label: label.in_(labels)),
        lambda table: table.c.id.in_(sa.select(association.c.owner_id)),
        values=values,
    )


KEYS = ("id", "pk")
NO_LOOKUP = "Cannot resolve keyword '{0}__{1}': '{0}' is a value, and '{1}' is no lookup of it. Lookups are: {2}"


class UnknownPath(ValueError):
    """Error of a path with a name that its model does not have."""


def relation(endpoint: Endpoint, name: str) -> Relation:
    """Returns the relation of an endpoint with this name.

    :raises UnknownPath: when there is none
    """
    step = endpoint.relations.get(name)
    if step is None:
        comparable = (member for member in endpoint.fields if column_of(endpoint, member) is not None)
        choices = sorted({*endpoint.relations, *comparable})
        raise UnknownPath(f"Cannot resolve keyword '{name}' into field. Choices are: {', '.join(choices)}")
    return step


Visible = Callable[["Endpoint", Any], Sequence[Any]]


def everything(endpoint: Endpoint, table: Any) -> Sequence[Any]:
    """:data:`Visible` without limits, for paths of the service itself and for the constraints of permissions."""
    return ()


def _ids_of(target: Endpoint, visible: Visible, condition: Callable[[Any], Any]) -> Any:
    """SELECT of the ids of the ``visible`` rows of ``target`` for which the condition on their table holds."""
    table = inner_table(target.table)
    return sa.select(table.c.id).where(condition(table), *visible(target, table)).correlate(None)


def _leads_to_visible(step: Relation, target: Endpoint, table: Any, visible: Visible) -> Any:
    """The condition on ``table`` that a step leads to a visible row.

    A forward foreign key needs no limits: its value is part of the row itself.
    """
    inner = inner_table(target.table)
    limits = visible(target, inner) if step.column is None else ()
    return step.reach(table, sa.select(inner.c.id).where(*limits).correlate(None)) if limits else step.exists(table)


def leads_to_any(endpoint: Endpoint, table: Any, steps: Sequence[str], ids: Any, visible: Visible = everything) -> Any:
    """The condition on ``table`` that the path ``steps``, through ``visible`` rows, leads to one of ``ids``."""
    step = relation(endpoint, steps[0])
    if len(steps) == 1:
        return step.reach(table, ids)
    target = step.target()
    if target is None:
        return sa.false()
    rest = _ids_of(target, visible, lambda inner: leads_to_any(target, inner, steps[1:], ids, visible))
    return step.reach(table, rest)


def exists(endpoint: Endpoint, table: Any, steps: Sequence[str], visible: Visible = everything) -> Any:
    """The condition on ``table`` that the path ``steps``, through ``visible`` rows, leads to any row."""
    step = relation(endpoint, steps[0])
    target = step.target()
    if target is None:
        return sa.false()
    if len(steps) == 1:
        return _leads_to_visible(step, target, table, visible)
    return step.reach(table, _ids_of(target, visible, lambda inner: exists(target, inner, steps[1:], visible)))


def path_is_null(endpoint: Endpoint, table: Any, steps: Sequence[str], visible: Visible = everything) -> Any:
    """The condition on ``table`` that some branch of the path ``steps`` ends early.

    Example: a circuit has two sides, and one of them has no site.
    """
    step = relation(endpoint, steps[0])
    target = step.target()
    if target is None:
        return sa.true()
    ends = sa.not_(sa.func.coalesce(_leads_to_visible(step, target, table, visible), sa.false()))
    if len(steps) == 1:
        return ends
    rest = _ids_of(target, visible, lambda inner: path_is_null(target, inner, steps[1:], visible))
    return sa.or_(ends, step.reach(table, rest))


def compare(
    endpoint: Endpoint,
    table: Any,
    steps: Sequence[str],
    test: Callable[[Any], Any],
    visible: Visible = everything,
) -> Any:
    """The condition on ``table`` that ``test`` holds for the column at the end of the path, through ``visible`` rows.

    :raises UnknownPath: for an unknown or confidential name
    """
    head, rest = steps[0], steps[1:]
    if head in endpoint.confidential:
        raise UnknownPath(f"Cannot resolve keyword '{head}' into field.")
    if not rest:
        return _compare_last(endpoint, table, head, test, visible)
    step = relation(endpoint, head)
    if rest[0] in KEYS and len(rest) == 1 and step.column is not None:
        return test(table.c[step.column])
    ids = first_ids(endpoint, steps, test, visible)
    return sa.false() if ids is None else step.reach(table, ids)


def first_ids(
    endpoint: Endpoint, steps: Sequence[str], test: Callable[[Any], Any], visible: Visible = everything
) -> Any:
    """SELECT of the ids of the objects that the first step of a path may lead to for :func:`compare` to hold; ``None``
    when the package of their model is not installed.
    """
    target = relation(endpoint, steps[0]).target()
    if target is None:
        return None
    return _ids_of(target, visible, lambda inner: compare(target, inner, steps[1:], test, visible))


def _compare_last(endpoint: Endpoint, table: Any, name: str, test: Callable[[Any], Any], visible: Visible) -> Any:
    """The condition that ``test`` holds for the last name of a path: a column, plain values, or ids of related rows."""
    if name in KEYS:
        return test(table.c.id)
    if name in table.c:
        return test(table.c[name])
    step = endpoint.relations.get(name)
    if step is not None and step.column is not None:
        return test(table.c[step.column])
    if step is not None and step.values is not None:
        return step.values(table, test)
    column = endpoint.resource_column(name, table)
    if column is not None:
        return test(column)
    step = relation(endpoint, name)
    target = step.target()
    return sa.false() if target is None else step.reach(table, _ids_of(target, visible, lambda inner: test(inner.c.id)))


def column_of(endpoint: Endpoint, name: str) -> str | None:
    """Returns the column behind a member of the representation that clients may compare by; ``None`` when they may not.

    Write-only, confidential and internal columns are excluded: their values could be guessed letter by letter.
    """
    if name in KEYS:
        return "id"
    field = endpoint.fields.get(name) or endpoint.fields.get(name.removesuffix("_id"))
    if field is None or name not in (field.name, field.attribute):
        return None
    if field.attribute is None or field.attribute not in endpoint.table.c:
        return None
    hidden = field.write_only or field.confidential or column_info(endpoint.table.c[field.attribute]).confidential
    return None if hidden else field.attribute


def check_visible(endpoint: Endpoint, steps: Sequence[str]) -> None:
    """Rejects a path from a client whose last name is not a visible member.

    :raises UnknownPath: as for a name that does not exist
    """
    current: Endpoint | None = endpoint
    for step, following in itertools.pairwise(steps):
        if current is not None and step not in current.relations and column_of(current, step) is not None:
            raise UnknownPath(NO_LOOKUP.format(step, following, ", ".join(LOOKUPS)))
        current = relation(current, step).target() if current is not None else None
    if current is not None and column_of(current, steps[-1]) is None:
        relation(current, steps[-1])


def keyword_condition(endpoint: Endpoint, table: Any, name: str, value: Any, visible: Visible = everything) -> Any:
    """Returns the condition of a keyword such as ``site__region__name__startswith`` with its value, through ``visible``
    rows.

    :raises UnknownPath: for an unknown path
    :raises ValueError: for a bad value
    """
    member, driver = documents.parse(endpoint, name), endpoint.registry.driver
    if member is not None:
        path = [*member.steps, member.column]
        return compare(
            endpoint, table, path, lambda column: member.condition(JsonDocument(driver, column), value), visible
        )
    steps = name.split("__")
    lookup = "exact"
    if len(steps) > 1 and steps[-1] in LOOKUPS:
        lookup = steps.pop()
    check_visible(endpoint, steps)
    return compare(endpoint, table, steps, lambda column: lookups.compare(lookup, driver, column, value), visible)


def constraint_condition(
    endpoint: Endpoint, table: Any, keywords: Mapping[str, Any] | Sequence[Mapping[str, Any]]
) -> Any:
    """Returns the condition of a mapping of keywords, combined with AND, or of a list of mappings, combined with OR.

    :raises ValueError: as :func:`keyword_condition`
    """
    if isinstance(keywords, Mapping):
        conditions = [keyword_condition(endpoint, table, name, value) for name, value in keywords.items()]
        return sa.and_(sa.true(), *conditions)
    return any_of([constraint_condition(endpoint, table, item) for item in keywords])


def keyword(endpoint: Endpoint, table: Any, dialect: str, name: str, value: Any, visible: Visible = everything) -> Any:
    """Returns :func:`keyword_condition`, as plugins call it; ``dialect`` is not used."""
    return keyword_condition(endpoint, table, name, value, visible)


def constraint(
    endpoint: Endpoint, table: Any, dialect: str, keywords: Mapping[str, Any] | Sequence[Mapping[str, Any]]
) -> Any:
    """Returns :func:`constraint_condition`, as plugins call it; ``dialect`` is not used."""
    return constraint_condition(endpoint, table, keywords)
