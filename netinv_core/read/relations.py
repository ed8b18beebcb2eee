"""Paths from one model to another: ``site.region.name`` as a condition on a device's table.

Every step is a :class:`Relation`. Conditions are semi-joins (``IN (SELECT …)``), so a path never multiplies rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.models.columns import ForeignKeyInfo, column_info
from netinv_core.read.lookups import LOOKUPS, any_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry


@dataclasses.dataclass(frozen=True)
class Relation:
    """A step to another model. ``reach(table, ids)`` holds for rows that lead to one of ``ids`` (a list or a select);
    ``exists(table)`` for rows that lead anywhere.

    ``column`` is the foreign key stepped along, ``far`` the one of the other model that is stepped against; ``pairs()`` gives, for any
    other step, what holds the ids of both as ``owner_id`` and ``target_id``. A ``single`` step leads to one object at most.
    ``values(table, test)``, for a step to plain values, holds for rows with a value that passes the test.
    """

    target: Callable[[], Endpoint | None]
    reach: Callable[[Any, Any], Any]
    exists: Callable[[Any], Any]
    column: str | None = None
    values: Callable[[Any, Callable[[Any], Any]], Any] | None = None
    target_key: str | None = None
    pairs: Callable[[], Any] | None = None
    single: bool = False


def forward(registry: Registry, attribute: str, link: ForeignKeyInfo) -> Relation:
    """Along a foreign key."""
    return Relation(
        lambda: registry.target(link),
        lambda table, ids: table.c[attribute].in_(ids),
        lambda table: table.c[attribute].is_not(None),
        attribute,
        single=True,
    )


def backward(registry: Registry, label: str, attribute: str) -> Relation:
    """Against a foreign key ``attribute`` of the model ``label``; to one object at most when the key is unique."""

    def there() -> Any:
        return registry[label].table.alias()

    def reach(table: Any, ids: Any) -> Any:
        child = there()
        return table.c.id.in_(sa.select(child.c[attribute]).where(child.c.id.in_(ids), child.c[attribute].is_not(None)))

    def exists(table: Any) -> Any:
        child = there()
        return table.c.id.in_(sa.select(child.c[attribute]).where(child.c[attribute].is_not(None)))

    found = registry.get(label)
    return Relation(lambda: registry.get(label), reach, exists, target_key=attribute, single=found is not None and bool(found.table.c[attribute].unique))


def across(registry: Registry, label: str, association: Any, here: str = "owner_id", there: str = "target_id") -> Relation:
    """Across an association table."""
    return Relation(
        lambda: registry.get(label),
        lambda table, ids: table.c.id.in_(sa.select(association.c[here]).where(association.c[there].in_(ids))),
        lambda table: table.c.id.in_(sa.select(association.c[here])),
        pairs=lambda: sa.select(association.c[here].label("owner_id"), association.c[there].label("target_id")).subquery(),
    )


def to_type(registry: Registry, label: str, place: Any, type_attribute: str, id_attribute: str) -> Relation:
    """Along a pair of columns that name an object of any type, where that is of the model ``label``; ``place`` is the table of the pair."""
    return Relation(
        lambda: registry.get(label),
        lambda table, ids: sa.and_(table.c[type_attribute] == label, table.c[id_attribute].in_(ids)),
        lambda table: sa.func.coalesce(table.c[type_attribute] == label, sa.false()),
        pairs=lambda: sa.select(place.c.id.label("owner_id"), place.c[id_attribute].label("target_id")).where(place.c[type_attribute] == label).subquery(),
        single=True,
    )


def from_type(registry: Registry, label: str, to: str, type_attribute: str, id_attribute: str) -> Relation:
    """Against a pair of columns of the model ``to`` by which its objects name one of the model ``label``."""

    def there() -> Any:
        return registry[to].table.alias()

    def owners(ids: Any = None) -> Any:
        table = there()
        found = sa.select(table.c[id_attribute]).where(table.c[type_attribute] == label)
        return found if ids is None else found.where(table.c.id.in_(ids))

    def pairs() -> Any:
        table = there()
        return sa.select(table.c[id_attribute].label("owner_id"), table.c.id.label("target_id")).where(table.c[type_attribute] == label).subquery()

    return Relation(
        lambda: registry.get(to),
        lambda table, ids: table.c.id.in_(owners(ids)),
        lambda table: table.c.id.in_(owners()),
        pairs=pairs,
    )


def to_labels(association: Any) -> Relation:
    """To the labels of an association table."""

    def values(table: Any, test: Callable[[Any], Any]) -> Any:
        return table.c.id.in_(sa.select(association.c.owner_id).where(test(association.c.label)))

    return Relation(
        lambda: None,
        lambda table, labels: values(table, lambda label: label.in_(labels)),
        lambda table: table.c.id.in_(sa.select(association.c.owner_id)),
        values=values,
    )


KEYS = ("id", "pk")


class UnknownPath(ValueError):
    """A path names something the model does not have."""


def relation(endpoint: Endpoint, name: str) -> Relation:
    """The step called ``name``.

    :raises UnknownPath: when there is none
    """
    found = endpoint.relations.get(name)
    if found is None:
        choices = sorted({*endpoint.relations, *(member for member in endpoint.fields if column_of(endpoint, member) is not None)})
        raise UnknownPath(f"Cannot resolve keyword '{name}' into field. Choices are: {', '.join(choices)}")
    return found


Visible = Callable[["Endpoint", Any], Sequence[Any]]


def everything(endpoint: Endpoint, table: Any) -> Sequence[Any]:
    """No limits: paths written by this service, or by those who decide what others may see."""
    return ()


def _ids_of(target: Endpoint, visible: Visible, condition: Callable[[Any], Any]) -> Any:
    """A select of the ids of a step's target, of the ``visible`` rows for which the condition on their table holds."""
    table = target.table.alias()
    return sa.select(table.c.id).where(condition(table), *visible(target, table))


def _leads(step: Relation, target: Endpoint, table: Any, visible: Visible) -> Any:
    """A condition on ``table``: the step leads to a visible row. A foreign key is a value of the row itself, which shows it."""
    probe = target.table.alias()
    limits = visible(target, probe) if step.column is None else ()
    return step.reach(table, sa.select(probe.c.id).where(*limits)) if limits else step.exists(table)


def leads_to_any(endpoint: Endpoint, table: Any, steps: Sequence[str], ids: Any, visible: Visible = everything) -> Any:
    """A condition on ``table``: following ``steps``, by ``visible`` rows, leads to one of ``ids``."""
    step = relation(endpoint, steps[0])
    if len(steps) == 1:
        return step.reach(table, ids)
    target = step.target()
    if target is None:
        return sa.false()
    return step.reach(table, _ids_of(target, visible, lambda there: leads_to_any(target, there, steps[1:], ids, visible)))


def exists(endpoint: Endpoint, table: Any, steps: Sequence[str], visible: Visible = everything) -> Any:
    """A condition on ``table``: following ``steps``, by ``visible`` rows, leads somewhere."""
    step = relation(endpoint, steps[0])
    target = step.target()
    if target is None:
        return sa.false()
    if len(steps) == 1:
        return _leads(step, target, table, visible)
    return step.reach(table, _ids_of(target, visible, lambda there: exists(target, there, steps[1:], visible)))


def path_is_null(endpoint: Endpoint, table: Any, steps: Sequence[str], visible: Visible = everything) -> Any:
    """A condition on ``table``: some way along ``steps`` stops before the end (of a circuit's two sides, one has no site)."""
    step = relation(endpoint, steps[0])
    target = step.target()
    if target is None:
        return sa.true()
    stops = sa.not_(sa.func.coalesce(_leads(step, target, table, visible), sa.false()))
    if len(steps) == 1:
        return stops
    return sa.or_(stops, step.reach(table, _ids_of(target, visible, lambda there: path_is_null(target, there, steps[1:], visible))))


def compare(endpoint: Endpoint, table: Any, steps: Sequence[str], test: Callable[[Any], Any], visible: Visible = everything) -> Any:
    """A condition on ``table``: ``test`` holds for the column at the end of ``steps``, by ``visible`` rows."""
    head, rest = steps[0], steps[1:]
    if head in endpoint.confidential:
        raise UnknownPath(f"Cannot resolve keyword '{head}' into field.")
    if not rest:
        return _compare_own(endpoint, table, head, test, visible)
    step = relation(endpoint, head)
    if rest[0] in KEYS and len(rest) == 1 and step.column is not None:
        return test(table.c[step.column])
    target = step.target()
    if target is None:
        return sa.false()
    return step.reach(table, _ids_of(target, visible, lambda there: compare(target, there, rest, test, visible)))


def _compare_own(endpoint: Endpoint, table: Any, name: str, test: Callable[[Any], Any], visible: Visible) -> Any:
    """A condition on ``table``: ``test`` holds for its column, for one of the labels or for the id of a row that ``name`` leads to."""
    if name in KEYS:
        return test(table.c.id)
    if name in table.c:
        return test(table.c[name])
    step = endpoint.relations.get(name)
    if step is not None and step.column is not None:
        return test(table.c[step.column])
    if step is not None and step.values is not None:
        return step.values(table, test)
    derived = endpoint.resource_column(name, table)
    if derived is not None:
        return test(derived)
    step = relation(endpoint, name)
    target = step.target()
    return sa.false() if target is None else step.reach(table, _ids_of(target, visible, lambda there: test(there.c.id)))


def column_of(endpoint: Endpoint, name: str) -> str | None:
    """The column behind a member of the representation that clients may compare by paths of their own, or ``None``.

    What nobody is shown (a password's hash, another confidential value, the service's own columns) could be guessed letter by letter.
    """
    if name in KEYS:
        return "id"
    field = endpoint.fields.get(name) or endpoint.fields.get(name.removesuffix("_id"))
    if field is None or field.attribute is None or field.attribute not in endpoint.table.c or name not in (field.name, field.attribute):
        return None
    hidden = field.write_only or field.confidential or column_info(endpoint.table.c[field.attribute]).confidential
    return None if hidden else field.attribute


def check_visible(endpoint: Endpoint, steps: Sequence[str]) -> None:
    """Refuses a path that a client wrote and that ends in something else than a visible member.

    :raises UnknownPath: as if there were nothing of that name
    """
    current: Endpoint | None = endpoint
    for step in steps[:-1]:
        current = relation(current, step).target() if current is not None else None
    if current is not None and column_of(current, steps[-1]) is None:
        relation(current, steps[-1])


def keyword(endpoint: Endpoint, table: Any, dialect: str, name: str, value: Any) -> Any:
    """A condition from a keyword such as ``site__region__name__startswith``.

    :raises UnknownPath: when the path leads nowhere
    :raises ValueError: when the value does not fit
    """
    steps = name.split("__")
    lookup = "exact"
    if len(steps) > 1 and steps[-1] in LOOKUPS:
        lookup = steps.pop()
    check_visible(endpoint, steps)
    return compare(endpoint, table, steps, lambda column: LOOKUPS[lookup](dialect, column, value))


def constraint(endpoint: Endpoint, table: Any, dialect: str, wanted: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Any:
    """A condition from one mapping of keywords (all hold) or a list of them (one of them holds)."""
    if isinstance(wanted, Mapping):
        return sa.and_(sa.true(), *[keyword(endpoint, table, dialect, name, value) for name, value in wanted.items()])
    return any_of([constraint(endpoint, table, dialect, item) for item in wanted])
