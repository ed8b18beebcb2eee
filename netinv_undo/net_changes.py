"""Net changes: what a set of change records did to each object, from the state before the first to that after the last.

The set is one change, a deletion with what went along, or every change of a request.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.changelog.differences import is_equal, members
from netinv_core.changelog.models import CREATE, DELETE, UPDATE, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.errors import Conflict, Denied, NotFound
from netinv_core.fields import Reference, Status, ToMany, generic_pairs
from netinv_core.models.base import table_of
from netinv_core.models.columns import CASCADE, column_info
from netinv_core.read.names import recorded_name
from netinv_core.write.delete import generic_cascades

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

MAX_CHANGES = 30_000  # records that one revert takes
TOO_MANY = f"The request made more than {MAX_CHANGES} changes: they cannot be undone together."
HIDDEN = "The request also changed objects whose changes you may not view."
EMPTY: tuple[Any, ...] = (None, "", [])

Identity = tuple[str, str]  # label and id of an object; a status is also known by label and slug
_change = table_of(ObjectChange)


@dataclasses.dataclass(eq=False)
class NetChange:
    """The change of one object: its representations before and after, with the records from the oldest to the newest.

    ``names`` are the members to undo; ``None`` stands for all of them.
    """

    endpoint: Endpoint
    key: uuid.UUID
    records: list[Any]
    names: Collection[str] | None = None

    @property
    def before(self) -> Mapping[str, Any] | None:
        """The representation before the first record; ``None`` for an object that was created."""
        before: Mapping[str, Any] | None = self.records[0].before
        return before

    @property
    def after(self) -> Mapping[str, Any] | None:
        """The representation after the last record; ``None`` for an object that was deleted."""
        after: Mapping[str, Any] | None = self.records[-1].after
        return after

    @property
    def memberships(self) -> Mapping[str, Sequence[str]]:
        """The lists that the deleted object was in (:mod:`netinv_core.write.memberships`)."""
        return self.records[-1].memberships or {}

    @property
    def action(self) -> str:
        """The action on the object."""
        if self.before is None:
            return CREATE
        return DELETE if self.after is None else UPDATE

    @property
    def identity(self) -> Identity:
        """The label and the id of the object."""
        return self.endpoint.label, str(self.key)

    @property
    def time(self) -> datetime.datetime:
        """The time of the first record."""
        time: datetime.datetime = self.records[0].time
        return time

    @property
    def name(self) -> str:
        """The name of the object in the change log."""
        return str(self.records[-1].object_repr)

    @property
    def name_in_context(self) -> str:
        """The name of the object on pages that do not show what it belongs to."""
        return recorded_name(self.endpoint, self.before, self.after, self.name)

    def changed_names(self) -> list[str]:
        """The members of the representation that the change changed and that are to be undone."""
        old, new = members(self.endpoint, self.before), members(self.endpoint, self.after)
        changed = [name for name in {**old, **new} if not is_equal(self.endpoint, name, old.get(name), new.get(name))]
        return [name for name in changed if self.names is None or name in self.names]


def load(uow: UnitOfWork, change_id: uuid.UUID, *, whole_request: bool) -> list[NetChange]:
    """Returns the net changes to undo with a change, in the order in which they were made.

    :param whole_request: all changes with the same request id; else, with a deletion, what went along
    :raises NotFound: for a change that does not exist or that the user may not view
    :raises Denied: when the user may not view another one of the changes
    :raises Conflict: when there are too many, or the package of an object is not installed
    """
    endpoint = uow.registry.of_model(ObjectChange)
    permitted = sa.and_(sa.true(), *permissions.limits(uow, endpoint, "view", _change))
    columns = record_columns()
    root = uow.execute(sa.select(*columns).where(_change.c.id == change_id, permitted)).first()
    if root is None:
        raise NotFound()
    rows = [root]
    if whole_request or root.action == DELETE:
        statement = sa.select(*columns, permitted.label("permitted")).where(_change.c.request_id == root.request_id)
        ordered = statement.order_by(_change.c.time, _change.c.position).limit(MAX_CHANGES + 1)
        rows = list(uow.execute(ordered).all())
        if len(rows) > MAX_CHANGES:
            raise Conflict(TOO_MANY)
    changes = _combine(uow.registry, rows)
    if not whole_request:
        changes = _with_what_went_along(uow.registry, changes, root) if root.action == DELETE else changes
    if not all(getattr(record, "permitted", True) for change in changes for record in change.records):
        raise Denied(HIDDEN)
    return changes


def _combine(registry: Registry, rows: Sequence[Any]) -> list[NetChange]:
    """Combines the records of each object; one that was created and deleted is left out.

    :raises Conflict: for an object whose package is not installed
    """
    changes: dict[tuple[str, uuid.UUID], NetChange] = {}
    for row in rows:
        endpoint = registry.get(row.changed_object_type)
        if endpoint is None:
            raise Conflict(f"The package of {row.changed_object_type} is not installed.")
        change = changes.setdefault(
            (endpoint.label, row.changed_object_id), NetChange(endpoint, row.changed_object_id, [])
        )
        change.records.append(row)
    return [change for change in changes.values() if not (change.before is None and change.after is None)]


def _with_what_went_along(registry: Registry, changes: Sequence[NetChange], root: Any) -> list[NetChange]:
    """Returns the deletion ``root`` with those that cascaded from it and the updates that cleared references to
    them.
    """
    deletions = [change for change in changes if change.action == DELETE]
    restored = {change.identity: change for change in deletions if any(row.id == root.id for row in change.records)}
    while True:
        cascaded = [c for c in deletions if c.identity not in restored and _hangs_on(registry, c, restored)]
        if not cascaded:
            break
        restored |= {change.identity: change for change in cascaded}
    gone = {change.identity for change in deletions} - restored.keys()
    cleared = []
    for change in changes:
        if change.action == UPDATE and (names := _cleared_names(change, restored, gone)):
            cleared.append(dataclasses.replace(change, names=names))
    return [*restored.values(), *cleared]


def _hangs_on(registry: Registry, change: NetChange, restored: Collection[Identity]) -> bool:
    """True for an object that was deleted with one of these: its foreign key cascades, or a generic foreign key."""
    before, endpoint = change.before or {}, change.endpoint
    for field in endpoint.fields.values():
        if not isinstance(field, Reference) or field.attribute not in endpoint.table.c or not before.get(field.name):
            continue
        link = column_info(endpoint.table.c[field.attribute]).foreign_key
        if link is not None and link.on_delete == CASCADE and identity_of(field, before[field.name]) in restored:
            return True
    cascades = [cascade for cascade in generic_cascades(registry) if cascade.label == endpoint.label]
    return any((before.get(item.type_column), before.get(item.id_column)) in restored for item in cascades)


def _cleared_names(change: NetChange, restored: Collection[Identity], gone: Collection[Identity]) -> frozenset[str]:
    """The members that an update cleared because of the restored objects; empty for an update without such references.

    References to other objects that are ``gone`` stay as they are.
    """
    before, after, endpoint = change.before or {}, change.after or {}, change.endpoint
    names = {name for name in change.changed_names() if members(endpoint, after).get(name) in EMPTY}
    targets = {
        name: identity_of(field, before[name])
        for name in names
        if isinstance(field := endpoint.writable.get(name), Reference)
    }
    if not any(target in restored for target in targets.values()):
        return frozenset()
    return frozenset(name for name in names if targets.get(name) not in gone)


def identity_of(field: Reference | ToMany, value: Any) -> Identity:
    """Returns the identity of the object that a reference, or an item of a to-many field, names."""
    target = field.to if isinstance(field, ToMany) else field.target.label if field.target is not None else ""
    if isinstance(value, dict):
        return target, str(value["value"] if isinstance(field, Status) else value["id"])
    return target, str(value)


@dataclasses.dataclass(frozen=True)
class Link:
    """A reference of an object to another one: the member, its target, and whether it may be written later."""

    name: str
    target: Identity
    deferrable: bool


def links_of(endpoint: Endpoint, representation: Mapping[str, Any]) -> Iterator[Link]:
    """Yields the references of a representation: foreign keys, items of to-many fields, generic foreign keys."""
    for name, field in endpoint.writable.items():
        value = representation.get(name)
        if value in EMPTY:
            continue
        if isinstance(field, Reference):
            yield Link(name, identity_of(field, value), field.nullable and not field.required)
        elif isinstance(field, ToMany):
            for item in field.items_of(value):
                yield Link(name, identity_of(field, item), True)
    for type_name, id_name in generic_pairs(endpoint):
        if representation.get(id_name):
            yield Link(id_name, (str(representation.get(type_name)), str(representation[id_name])), False)
