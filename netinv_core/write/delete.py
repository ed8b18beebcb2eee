"""DELETE with the policies of foreign keys (protect, cascade, set null), followed level by level in batches.

Every deleted object gets a change record, except those of models without writes and records. Objects that protect the
deletion are named in the error, and nothing is deleted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.auth.configuration_version import configuration_changed
from netinv_core.changelog import guards
from netinv_core.changelog.change_set import Change
from netinv_core.changelog.models import DELETE
from netinv_core.changelog.object_data import object_data
from netinv_core.db.engine import lock_rows
from netinv_core.db.expressions import in_parameter
from netinv_core.driver.results import Row
from netinv_core.errors import Conflict
from netinv_core.fields import ToMany
from netinv_core.models.columns import APP_HANDLED, CASCADE, PROTECT, SET_NULL
from netinv_core.read import listing
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.plans import plan_of
from netinv_core.write import (
    cleared_references,
    memberships,
    offered,
    read_back,
    save,
    strict_bodies,
    trees,
    written_rules,
)
from netinv_core.write import preconditions as conditions
from netinv_core.write.bulk_delete import bulk_delete
from netinv_core.write.system_update import system_update

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

Rows = dict[Any, dict[str, Any]]  # by id


@dataclasses.dataclass(frozen=True)
class GenericCascade:
    """A cascade along a generic foreign key: a pair of columns with the content type and the id of the parent.

    ``label`` is the endpoint of the dependent rows; without one, they are rows of ``table`` without an endpoint.
    ``applies(endpoint)`` is true for the endpoints whose objects can be parents.
    """

    table: Any
    type_column: str
    id_column: str
    label: str | None = None
    applies: Callable[[Endpoint], bool] = lambda endpoint: True


@dataclasses.dataclass(eq=False)
class _DeletionWalk:
    """State of one deletion.

    ``deleting`` holds the rows to delete, by label in the order of discovery; ``clearing`` the foreign keys to set to
    null, as (endpoint, column, rows), and ``clearing_in_bulk`` those of rows that are not read, as (endpoint,
    column, ids of parents); ``protecting`` the endpoints of the objects that protect, by label and id.
    ``parents`` has the label and the ids of the rows because of which a row was found, by label and id.
    """

    deleting: dict[str, Rows]
    clearing: list[tuple[Endpoint, str, Rows]]
    protecting: dict[tuple[str, Any], Endpoint]
    clearing_in_bulk: list[tuple[Endpoint, str, list[Any]]] = dataclasses.field(default_factory=list)
    parents: dict[tuple[str, Any], list[tuple[str, Any]]] = dataclasses.field(default_factory=dict)

    def note_parents(self, child: Endpoint, children: Rows, attribute: str, parent: Endpoint) -> None:
        """Notes the parents of rows, which ``attribute`` names."""
        for key, row in children.items():
            if attribute in row:
                self.parents.setdefault((child.label, key), []).append((parent.label, row[attribute]))

    def roots(self, name: tuple[str, Any]) -> set[tuple[str, Any]]:
        """The first rows of the walk because of which a row was found."""
        roots: set[tuple[str, Any]] = set()
        names, seen = [name], {name}
        while names:
            parents = self.parents.get(current := names.pop(), [])
            new = [parent for parent in parents if parent not in seen]
            seen.update(new)
            names += new
            if not parents:
                roots.add(current)
        return roots

    def without_deleting(self, endpoint: Endpoint, rows: Rows) -> Rows:
        """The rows of an endpoint that are not yet to be deleted."""
        deleting = self.deleting.get(endpoint.label, {})
        return {key: row for key, row in rows.items() if key not in deleting}


def delete(
    uow: UnitOfWork,
    endpoint: Endpoint,
    bodies: Sequence[Any],
    *,
    single: bool = False,
    preconditions: conditions.Preconditions = (),
) -> None:
    """Deletes objects, each body with its ``id``, and the objects that depend on them.

    :param preconditions: one for each body, or none at all
    :raises PreconditionFailed: if an object does not meet its precondition
    :raises Denied: without permission, and where the resource does not offer it
    :raises NotFound: for a single object that does not exist
    :raises Invalid: for an id that is missing, unknown or listed twice, or a member that nothing reads
    :raises Conflict: naming the objects that protect them, or that would break a rule without them
    """
    permissions.check(uow, endpoint, "delete")
    offered.check(uow, endpoint, "delete")
    keys = save.keys_of(endpoint, bodies)
    strict_bodies.check_items(endpoint, bodies)
    if not keys:
        return
    trees.lock_whole(uow, [endpoint])
    rows = listing.rows_for_change(uow, endpoint, keys, "delete")
    read_back.missing_error(rows, keys, single=single)
    walk = _DeletionWalk({endpoint.label: rows}, [], {})
    _follow(uow, endpoint, rows, walk)
    _raise_protected(uow, walk, [] if single else [(endpoint.label, key) for key in keys])
    before = {label: dict(plan_of(uow.registry[label]).fetch(uow, list(rows))) for label, rows in walk.deleting.items()}
    if preconditions:
        conditions.check(endpoint, keys, preconditions, before[endpoint.label])
    for label, deleting in walk.deleting.items():
        guards.look(uow, uow.registry[label], list(deleting))
    lists = {label: memberships.read_memberships(uow, uow.registry[label], walk.deleting) for label in walk.deleting}
    shrinking = memberships.lock_owners(uow, lists.values())
    with uow.collecting() as changes:
        with uow.deletion_of(walk.deleting):
            for label, deleting in walk.deleting.items():
                for before_delete in uow.registry[label].resource.before_delete_functions:
                    before_delete(uow, list(deleting.values()))
            cleared = _clear(uow, walk)
            _remove(uow, walk, before, lists)
        cleared_references.check(uow, cleared)
        memberships.record_owners(uow, shrinking)
    written_rules.check_deletion(uow, changes.pending)
    uow.change_set.merge(changes)


def _follow(uow: UnitOfWork, endpoint: Endpoint, rows: Rows, walk: _DeletionWalk) -> None:
    """Adds everything that refers to the rows to the walk; recursive along cascades."""
    keys = list(rows)
    for child, attribute, policy in endpoint.incoming_foreign_keys:
        if policy == APP_HANDLED or (policy == CASCADE and _follows_in_bulk(child)):
            continue
        if policy == SET_NULL and _follows_in_bulk(child):
            walk.clearing_in_bulk.append((child, attribute, keys))
            continue
        children = walk.without_deleting(child, _lock_referring(uow, child, attribute, keys))
        if not children:
            continue
        walk.note_parents(child, children, attribute, endpoint)
        if policy == PROTECT:
            walk.protecting.update({(child.label, key): child for key in children})
        elif policy == SET_NULL:
            walk.clearing.append((child, attribute, children))
        elif policy == CASCADE:
            _delete_along(uow, child, children, walk)
    for cascade in generic_cascades(uow.registry):
        if cascade.label is None or not cascade.applies(endpoint):
            continue
        child = uow.registry[cascade.label]
        children = walk.without_deleting(child, _lock_bound(uow, child, cascade, endpoint, keys))
        if children:
            walk.note_parents(child, children, cascade.id_column, endpoint)
            _delete_along(uow, child, children, walk)


def _delete_along(uow: UnitOfWork, child: Endpoint, children: Rows, walk: _DeletionWalk) -> None:
    """Adds dependent rows to those to delete, and whatever refers to them."""
    walk.deleting.setdefault(child.label, {}).update(children)
    _follow(uow, child, children, walk)


def _follows_in_bulk(endpoint: Endpoint) -> bool:
    """True for models without writes and change records, such as change records themselves. When what their rows refer
    to is deleted, one DELETE or UPDATE follows; the rows are not read.

    Rows that refer to deleted ones in turn are deleted by the database (``ON DELETE CASCADE``).
    """
    return not (endpoint.resource.writes or endpoint.resource.recorded)


@cached_in_registry
def generic_cascades(registry: Registry) -> list[GenericCascade]:
    """The cascades of all packages along generic foreign keys."""
    return [cascade for cascades in registry.hooks.netinv_generic_cascades(registry=registry) for cascade in cascades]


def _lock_referring(uow: UnitOfWork, child: Endpoint, attribute: str, keys: list[Any]) -> Rows:
    """Locks and returns the rows of ``child`` whose foreign key has one of these values."""
    return _rows_by_id(child, uow.execute(_select_referring(child, attribute), {"keys": keys}).tuples())


def _lock_bound(uow: UnitOfWork, child: Endpoint, cascade: GenericCascade, endpoint: Endpoint, keys: list[Any]) -> Rows:
    """Returns the rows of ``child`` whose generic foreign key names one of these objects of ``endpoint``."""
    select = _select_bound(child, cascade.table, cascade.type_column, cascade.id_column)
    return _rows_by_id(child, uow.execute(select, {"label": endpoint.label, "keys": keys}).tuples())


def _rows_by_id(endpoint: Endpoint, rows: Sequence[Row]) -> Rows:
    """Rows of all columns of an endpoint's table, as dictionaries."""
    names = endpoint.table.c.keys()
    return {row["id"]: row for row in (dict(zip(names, values, strict=True)) for values in rows)}


@cached_in_registry
def _select_referring(child: Endpoint, attribute: str) -> sa.Select[Any]:
    """SELECT of the rows of ``child`` by the ``keys`` of a foreign key, FOR UPDATE."""
    table = child.table
    statement = sa.select(table).where(in_parameter(table.c[attribute]))
    return lock_rows(statement.order_by(table.c.id))


@cached_in_registry
def _select_bound(child: Endpoint, table: Any, type_column: str, id_column: str) -> sa.Select[Any]:
    """SELECT of the rows of ``child`` by the ``label`` and the ``keys`` of a generic foreign key."""
    of_type = table.c[type_column] == sa.bindparam("label", type_=table.c[type_column].type)
    clause = in_parameter(table.c[id_column])
    return sa.select(child.table).where(of_type, clause)


def _raise_protected(uow: UnitOfWork, walk: _DeletionWalk, items: Sequence[tuple[str, Any]]) -> None:
    """Rejects the deletion when an object protects it that is not itself to be deleted.

    :param items: the objects of a list that was sent, by label and id
    :raises Conflict: naming each such object with its id
    """
    protecting: dict[Endpoint, list[Any]] = {}
    for (label, key), child in walk.protecting.items():
        if key not in walk.deleting.get(label, {}):
            protecting.setdefault(child, []).append(key)
    if not protecting:
        return
    named = {child: _names(uow, child, keys) for child, keys in protecting.items()}
    error = in_use([item for names in named.values() for item in names.items()], sum(map(len, protecting.values())))
    error.objects = [
        (child.label, key, str(name or key)) for child, names in named.items() for key, name in names.items()
    ]
    names = {(child.label, key) for child, keys in protecting.items() for key in keys}
    roots = set().union(*map(walk.roots, names))
    error.object_errors = [error.body if item in roots else {} for item in items]
    raise error


def in_use(visible_names: Sequence[tuple[Any, Any]], count: int) -> Conflict:
    """Error for a deletion that ``count`` other objects protect; also for ``before_delete`` functions that reject one.

    ``visible_names`` are pairs of id and name, of the objects that the user may view. The others are only counted.
    """
    listed = ", ".join(f"{name} ({key})" for key, name in visible_names)
    message = f"Unable to delete object. {count} dependent objects were found"
    hidden = count - len(visible_names)
    if hidden > 0:
        listed = f"{listed} and {hidden} that you may not view" if visible_names else "you may not view them"
    return Conflict(f"{message}: {listed}")


def _names(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> dict[Any, Any]:
    """Returns the names of the objects that the user may view, by id; display names where they have no other."""
    name_attribute = endpoint.resource.name_attribute
    if name_attribute is None:
        return listing.visible_names(uow, endpoint, keys)
    table = endpoint.table
    limits = permissions.visible(uow, endpoint, table)
    clause = in_parameter(table.c.id)
    statement = sa.select(table.c.id, table.c[name_attribute]).where(clause, *limits)
    return dict(uow.execute(statement, {"keys": list(keys)}).tuples().all())


def _clear(uow: UnitOfWork, walk: _DeletionWalk) -> dict[Endpoint, dict[Any, dict[str, Any]]]:
    """Sets the foreign keys to null whose policy is SET_NULL, with change records; returns the former values."""
    former: dict[Endpoint, dict[Any, dict[str, Any]]] = {}
    for child, attribute, rows in walk.clearing:
        remaining = walk.without_deleting(child, rows)
        system_update(uow, child, {key: {attribute: None} for key in remaining})
        for key, row in remaining.items():
            former.setdefault(child, {}).setdefault(key, {})[attribute] = row[attribute]
    for child, attribute, keys in walk.clearing_in_bulk:
        count = uow.execute(_clear_in_bulk(child, attribute), {"keys": keys}).rowcount
        uow.change_set.updated_in_bulk[child] = uow.change_set.updated_in_bulk.get(child, 0) + count
    return former


@cached_in_registry
def _clear_in_bulk(child: Endpoint, attribute: str) -> sa.Update:
    """UPDATE that sets a foreign key with one of the values ``keys`` to null."""
    clause = in_parameter(child.table.c[attribute])
    return sa.update(child.table).where(clause).values({attribute: None})


def _remove(
    uow: UnitOfWork,
    walk: _DeletionWalk,
    before: Mapping[str, Mapping[Any, dict[str, Any]]],
    lists: Mapping[str, Mapping[Any, dict[str, list[str]]]],
) -> None:
    """Deletes the rows of the walk, children before parents.

    ``before`` has the representations for the change records, ``lists`` the memberships, by label and id.
    """
    registry = uow.registry
    for label in children_first(registry, walk.deleting):
        endpoint, rows = registry[label], walk.deleting[label]
        _delete_unrecorded(uow, endpoint, rows)
        keys = list(rows)
        _unlink_self(uow, endpoint, keys)
        _leave_lists(uow, endpoint, keys)
        bulk_delete(uow, endpoint.table, "id", keys)
        for key, row in rows.items():
            old = before[label][key]
            data = object_data(uow, endpoint, row, old)
            kept = {**lists[label].get(key, {}), **memberships.hidden_values(endpoint, row)}
            uow.change_set.add(Change(endpoint, key, DELETE, old, None, data, memberships=kept or None))
        if endpoint.resource.configuration:
            configuration_changed(uow)


def _delete_unrecorded(uow: UnitOfWork, endpoint: Endpoint, rows: Rows) -> None:
    """Deletes dependents that get no change record: generic ones without an endpoint, stored files, unrecorded rows."""
    keys = list(rows)
    for cascade in generic_cascades(uow.registry):
        if cascade.label is None and cascade.applies(endpoint):
            bulk_delete(uow, cascade.table, cascade.id_column, keys, (cascade.type_column, endpoint.label))
    for field in endpoint.fields.values():
        field.discard(uow, list(rows.values()))
    for child, attribute, policy in endpoint.incoming_foreign_keys:
        if policy == CASCADE and _follows_in_bulk(child):
            bulk_delete(uow, child.table, attribute, keys)


def children_first(registry: Registry, labels: Collection[str]) -> list[str]:
    """The labels in topological order: a model comes before the models it refers to, as far as cycles permit."""
    ordered: list[str] = []
    for label in labels:
        _visit(registry, labels, ordered, label, frozenset())
    return ordered


def _visit(
    registry: Registry, labels: Collection[str], ordered: list[str], label: str, ancestors: frozenset[str]
) -> None:
    """Appends those of the labels that come before ``label``, then itself."""
    if label in ordered or label in ancestors:
        return
    for child, _, _ in registry[label].incoming_foreign_keys:
        if child.label in labels and child.label != label:
            _visit(registry, labels, ordered, child.label, ancestors | {label})
    ordered.append(label)


def _unlink_self(uow: UnitOfWork, endpoint: Endpoint, keys: list[Any]) -> None:
    """Sets foreign keys to the same table to null on MySQL, which checks them after each row of a DELETE."""
    self_references = [
        attribute
        for child, attribute, _ in endpoint.incoming_foreign_keys
        if child is endpoint and endpoint.table.c[attribute].nullable
    ]
    if self_references and uow.registry.driver.checks_each_row:
        clause = in_parameter(endpoint.table.c.id)
        uow.execute(sa.update(endpoint.table).where(clause).values(dict.fromkeys(self_references)), {"keys": keys})


def _leave_lists(uow: UnitOfWork, endpoint: Endpoint, keys: list[Any]) -> None:
    """Deletes rows from association tables whose target is named by label only, and so has no database constraint."""
    for table, is_configuration in _unconstrained_lists(endpoint):
        if bulk_delete(uow, table, "target_id", keys) and is_configuration:
            configuration_changed(uow)


@cached_in_registry
def _unconstrained_lists(endpoint: Endpoint) -> list[tuple[Any, bool]]:
    """The association tables of :func:`_leave_lists`, each with True if its owners are configuration."""
    return [
        (field.table, other.resource.configuration)
        for other in endpoint.registry.stored()
        for field in other.fields.values()
        if isinstance(field, ToMany) and field.to == endpoint.label
        if "target_id" in field.table.c and not field.table.c.target_id.foreign_keys
    ]
