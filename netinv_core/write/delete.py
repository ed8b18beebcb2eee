"""Deleting: the foreign keys' own policies (protect, cascade, set null), walked level by level in batches.

Every object that goes along is recorded, except of models that nobody writes; what protects is named, and then nothing is deleted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.auth.identity import configuration_changed
from netinv_core.changelog.change_set import Change
from netinv_core.changelog.models import DELETE
from netinv_core.changelog.object_data import object_data
from netinv_core.db.engine import in_parameter, lock_rows
from netinv_core.errors import Conflict
from netinv_core.fields import ToMany
from netinv_core.models.columns import APP_HANDLED, CASCADE, PROTECT, SET_NULL, column_info
from netinv_core.read import listing
from netinv_core.write import save
from netinv_core.write.system_update import system_update

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass(frozen=True)
class GenericCascade:
    """Objects bound to an object of any model by a pair of type and id columns; they go with it.

    ``label`` is their own endpoint's; without one, they are mere rows of ``table``. ``applies`` says to which
    endpoints they can be bound.
    """

    table: Any
    type_column: str
    id_column: str
    label: str | None = None
    applies: Callable[[Endpoint], bool] = lambda endpoint: True


@dataclasses.dataclass(eq=False)
class _Walk:
    """What a deletion takes along: rows by endpoint in the order met, references to clear, what protects."""

    going: dict[str, dict[Any, dict[str, Any]]]
    clearing: list[tuple[Endpoint, str, dict[Any, dict[str, Any]]]]
    protecting: dict[tuple[str, Any], Endpoint]


def delete(uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Any], *, single: bool = False) -> None:
    """Deletes objects, each item with its ``id``, and what depends on them.

    :raises NotFound: for a single object that is not there
    :raises Invalid: for an id that is missing, unknown or given twice
    :raises Conflict: naming the objects that protect them
    """
    permissions.check(uow, endpoint, "delete")
    keys = save.keys_of(endpoint, bodies)
    if not keys:
        return
    rows = listing.rows_for_change(uow, endpoint, keys, "delete")
    save.missing_error(rows, keys, single=single)
    walk = _Walk({endpoint.label: rows}, [], {})
    _follow(uow, endpoint, rows, walk)
    _raise_protected(uow, walk)
    shown = {label: dict(uow.registry[label].plan().fetch(uow, list(rows))) for label, rows in walk.going.items()}
    uow.deleting = walk.going
    for label, leaving in walk.going.items():
        for departure in uow.registry[label].resource.before_delete_functions:
            departure(uow, list(leaving.values()))
    _clear(uow, walk)
    _remove(uow, walk, shown)
    uow.deleting = {}


def _follow(uow: UnitOfWork, endpoint: Endpoint, rows: Mapping[Any, dict[str, Any]], walk: _Walk) -> None:
    """Meets everything that refers to the rows, and goes on from what goes along."""
    for child, attribute, policy in endpoint.incoming_foreign_keys:
        if policy == APP_HANDLED or (policy == CASCADE and _unseen(child)):
            continue
        found = _referring(uow, child, attribute, list(rows))
        taken = walk.going.get(child.label, {})
        found = {key: row for key, row in found.items() if key not in taken}
        if not found:
            continue
        if policy == PROTECT:
            walk.protecting.update({(child.label, key): child for key in found})
        elif policy == SET_NULL:
            walk.clearing.append((child, attribute, found))
        elif policy == CASCADE:
            walk.going.setdefault(child.label, {}).update(found)
            _follow(uow, child, found, walk)
    for dependents in _dependents(uow.registry):
        if dependents.label is None or not dependents.applies(endpoint):
            continue
        child = uow.registry[dependents.label]
        found = _bound(uow, child, dependents, endpoint, list(rows))
        found = {key: row for key, row in found.items() if key not in walk.going.get(child.label, {})}
        if found:
            walk.going.setdefault(child.label, {}).update(found)
            _follow(uow, child, found, walk)


def _unseen(endpoint: Endpoint) -> bool:
    """Whether rows of a model go with what they belong to without being looked at: nobody writes them, no change of theirs is recorded.

    What refers to such rows in turn, the database takes along (``ON DELETE CASCADE``).
    """
    return not (endpoint.resource.writes or endpoint.resource.recorded)


def _dependents(registry: Registry) -> list[GenericCascade]:
    return [item for items in registry.hooks.netinv_generic_cascades(registry=registry) for item in items]


def _referring(uow: UnitOfWork, child: Endpoint, attribute: str, keys: list[Any]) -> dict[Any, dict[str, Any]]:
    table = child.table
    statement = sa.select(table).where(in_parameter(uow.registry.dialect, table.c[attribute]))
    return {row["id"]: dict(row) for row in uow.execute(lock_rows(statement), {"keys": keys}).mappings()}


def _bound(uow: UnitOfWork, child: Endpoint, dependents: GenericCascade, endpoint: Endpoint, keys: list[Any]) -> dict[Any, dict[str, Any]]:
    table = dependents.table
    clause = in_parameter(uow.registry.dialect, table.c[dependents.id_column])
    statement = sa.select(child.table).where(table.c[dependents.type_column] == endpoint.label, clause)
    return {row["id"]: dict(row) for row in uow.execute(statement, {"keys": keys}).mappings()}


def _raise_protected(uow: UnitOfWork, walk: _Walk) -> None:
    """Refuses the deletion while something protects it that does not go along.

    :raises Conflict: naming each object with its id
    """
    kept: dict[Endpoint, list[Any]] = {}
    for (label, key), child in walk.protecting.items():
        if key not in walk.going.get(label, {}):
            kept.setdefault(child, []).append(key)
    if not kept:
        return
    named = [item for child, keys in kept.items() for item in _names(uow, child, keys).items()]
    raise in_use(named, sum(map(len, kept.values())))


def in_use(named: Sequence[tuple[Any, Any]], count: int) -> Conflict:
    """The refusal to delete what ``count`` other objects need; those that the user may view are named, with their ids. For departures that refuse, too."""
    listed = ", ".join(f"{name} ({key})" for key, name in named)
    message = f"Unable to delete object. {count} dependent objects were found"
    if len(named) < count:
        listed = f"{listed} and {count - len(named)} that you may not view" if named else "you may not view them"
    return Conflict(f"{message}: {listed}")


def _names(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> dict[Any, Any]:
    """The names of those objects that the user may view, by id."""
    table = endpoint.table
    limits = permissions.visible(uow, endpoint, table)
    if endpoint.resource.name_attribute is None:
        return {key: shown["display"] for key, shown in endpoint.plan("nested").fetch(uow, keys, limits)}
    statement = sa.select(table.c.id, table.c[endpoint.resource.name_attribute]).where(in_parameter(uow.registry.dialect, table.c.id), *limits)
    return dict(uow.execute(statement, {"keys": list(keys)}).tuples().all())


def _clear(uow: UnitOfWork, walk: _Walk) -> None:
    """Sets to null what refers to the rows that go, and records it."""
    for child, attribute, rows in walk.clearing:
        system_update(uow, child, {key: {attribute: None} for key in rows if key not in walk.going.get(child.label, {})})


def _remove(uow: UnitOfWork, walk: _Walk, shown: Mapping[str, Mapping[Any, dict[str, Any]]]) -> None:
    """Deletes what goes, children before parents, and records it as it was ``shown`` before anything changed."""
    registry = uow.registry
    order = _children_first(registry, list(walk.going))
    for label in order:
        endpoint, rows = registry[label], walk.going[label]
        keys = list(rows)
        for dependents in _dependents(registry):
            if dependents.label is None and dependents.applies(endpoint):
                clause = in_parameter(registry.dialect, dependents.table.c[dependents.id_column])
                of_type = dependents.table.c[dependents.type_column] == label
                uow.write(sa.delete(dependents.table).where(of_type, clause), {"keys": keys})
        for field in endpoint.fields.values():
            field.discard(uow, list(rows.values()))
        for child, attribute, policy in endpoint.incoming_foreign_keys:
            if policy == CASCADE and _unseen(child):
                uow.write(sa.delete(child.table).where(in_parameter(registry.dialect, child.table.c[attribute])), {"keys": keys})
        _unlink_self(uow, endpoint, keys)
        _leave_lists(uow, endpoint, keys)
        uow.write(sa.delete(endpoint.table).where(in_parameter(registry.dialect, endpoint.table.c.id)), {"keys": keys})
        for key, row in rows.items():
            old = shown[label][key]
            uow.change_set.add(Change(endpoint, key, DELETE, old, None, object_data(uow, endpoint, row, old)))
        if endpoint.resource.configuration:
            configuration_changed(uow)


def _children_first(registry: Registry, labels: list[str]) -> list[str]:
    """The labels in an order in which no row is deleted while a row of another label refers to it."""
    found: list[str] = []

    def visit(label: str, above: frozenset[str]) -> None:
        if label in found or label in above:
            return
        for child, _, _ in registry[label].incoming_foreign_keys:
            if child.label in labels and child.label != label:
                visit(child.label, above | {label})
        found.append(label)

    for label in labels:
        visit(label, frozenset())
    return found


def _unlink_self(uow: UnitOfWork, endpoint: Endpoint, keys: list[Any]) -> None:
    """Loosens rows of one table from each other, so that they can go in one statement."""
    own = [name for name, column in endpoint.table.c.items() if column.nullable and uow.registry.target(column_info(column).foreign_key) is endpoint]
    if own and uow.registry.dialect == "mysql":
        clause = in_parameter(uow.registry.dialect, endpoint.table.c.id)
        uow.write(sa.update(endpoint.table).where(clause).values(dict.fromkeys(own)), {"keys": keys})


def _leave_lists(uow: UnitOfWork, endpoint: Endpoint, keys: list[Any]) -> None:
    """Takes rows out of the lists of models that know them by label only (a late association has no constraint to do it)."""
    for other in uow.registry.endpoints.values():
        for field in other.fields.values():
            if not isinstance(field, ToMany) or field.to != endpoint.label:
                continue
            target = field.table.c.get("target_id")
            if target is not None and not target.foreign_keys:
                clause = in_parameter(uow.registry.dialect, target)
                removed = uow.write(sa.delete(field.table).where(clause), {"keys": keys}).rowcount
                if removed and other.resource.configuration:
                    configuration_changed(uow)
