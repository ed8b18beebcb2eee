"""Recreation of deleted objects with their former ids: in the order of their references, in batches.

A batch holds the objects of one model that refer to nothing that is still missing. Where references form a circle,
those that may be empty are written afterwards.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied, RequestError
from netinv_core.fields import ToMany
from netinv_core.models.columns import column_info
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_core.write import save
from netinv_undo.net_changes import Identity, Link, links_of
from netinv_undo.obstacles import Restoration
from netinv_undo.refusals import Refusals, refusal_of
from netinv_undo.restorable import body_of, hidden_columns, preserved_columns

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

CIRCLE = "It belongs to a circle of objects that need each other."
Values = dict[str, Any]


class Recreation:
    """The creation of deleted objects; ``deferred`` holds the members to write afterwards, by label and id.

    ``advanced`` is called with the number of objects after each part of at most ``most``.
    """

    def __init__(
        self, uow: UnitOfWork, restorations: Sequence[Restoration], most: int, advanced: Callable[[int], None]
    ) -> None:
        self._uow = uow
        self._most, self._advanced = most, advanced
        self._missing: dict[Identity, Restoration] = {}
        self._aliases: dict[Identity, Identity] = {}
        for item in restorations:
            identity = item.change.identity
            self._missing[identity] = item
            natural = (item.change.before or {}).get(item.change.endpoint.natural_sort)
            if isinstance(natural, str):
                self._aliases[identity[0], natural] = identity
        self._links: dict[Identity, list[Link]] = {
            identity: [
                link
                for link in links_of(item.change.endpoint, item.change.before or {})
                if self._target(link) not in (None, identity)
            ]
            for identity, item in self._missing.items()
        }
        self._deferred: dict[Endpoint, dict[uuid.UUID, Values]] = {}

    def _target(self, link: Link) -> Identity | None:
        """The missing object that a link leads to, by id or by natural key."""
        target = self._aliases.get(link.target, link.target)
        return target if target in self._missing else None

    def run(self) -> None:
        """Creates all objects, then writes what was deferred.

        :raises RevertRefused: with the errors of the objects
        """
        while self._missing:
            for batch in self._next_batches():
                for start in range(0, len(batch), self._most):
                    part = batch[start : start + self._most]
                    self._create(part)
                    self._advanced(len(part))
        for endpoint, values_by_id in self._deferred.items():
            update(self._uow, endpoint, values_by_id, [])

    def _next_batches(self) -> list[list[Restoration]]:
        """The objects that can be created now, by model.

        :raises RevertRefused: when every object needs one that is missing
        """
        ready = [identity for identity in self._missing if not self._needs(identity, deferrable=True)]
        if not ready:
            possible = [identity for identity in self._missing if not self._needs(identity, deferrable=False)]
            ready = [identity for identity in possible if identity[0] == possible[0][0]]
        if not ready:
            refusals = Refusals()
            for identity, item in self._missing.items():
                refusals.add(item.change, self._needs(identity, deferrable=False)[0].name, CIRCLE)
            refusals.raise_any()
        batches: dict[str, list[Restoration]] = {}
        for identity in ready:
            batches.setdefault(identity[0], []).append(self._missing[identity])
        return list(batches.values())

    def _needs(self, identity: Identity, *, deferrable: bool) -> list[Link]:
        """The links of an object to missing ones; with ``deferrable``, those too that can be written later."""
        links = [link for link in self._links[identity] if self._target(link) is not None]
        return [link for link in links if deferrable or not link.deferrable]

    def _create(self, batch: Sequence[Restoration]) -> None:
        """Creates objects of one model."""
        endpoint, changes = batch[0].change.endpoint, [item.change for item in batch]
        bodies = []
        for item in batch:
            later = {link.name for link in self._needs(item.change.identity, deferrable=True)}
            values = {name: value for name, value in item.values.items() if name not in later}
            if later:
                deferred = {name: item.values[name] for name in later}
                self._deferred.setdefault(endpoint, {})[item.change.key] = deferred
            bodies.append(body_of(endpoint, values))
        preserved = [
            preserved_columns(endpoint, change.before or {}) | hidden_columns(endpoint, change.memberships)
            for change in changes
        ]
        _clear_missing_targets(self._uow, endpoint, preserved)
        try:
            save.create(
                self._uow.as_restoration(),
                endpoint,
                bodies,
                ids=[change.key for change in changes],
                preserved=preserved,
            )
        except RequestError as error:
            if isinstance(error, Denied):
                raise
            raise refusal_of(error, changes) from error
        for change in changes:
            del self._missing[change.identity]


def _clear_missing_targets(uow: UnitOfWork, endpoint: Endpoint, preserved: Sequence[Values]) -> None:
    """Sets preserved foreign keys to null whose target was deleted since: one statement for each such column."""
    for name in preserved[0]:
        target = uow.registry.target(column_info(endpoint.table.c[name]).foreign_key)
        keys = {columns[name] for columns in preserved if columns.get(name) is not None}
        if target is None or not keys:
            continue
        statement = sa.select(target.table.c.id).where(in_parameter(target.table.c.id))
        existing = set(uow.execute(statement, {"keys": list(keys)}).scalars())
        for columns in preserved:
            columns[name] = columns[name] if columns.get(name) in existing else None


def update(
    uow: UnitOfWork, endpoint: Endpoint, values_by_id: Mapping[uuid.UUID, Values], changes: Sequence[Any]
) -> None:
    """Writes values of objects by member, as the user; ``changes`` are the net changes that errors name.

    :raises RevertRefused: with the errors of the objects
    """
    bodies = [{**body_of(endpoint, values), "id": str(key)} for key, values in values_by_id.items()]
    try:
        save.update(uow, endpoint, bodies, partial=True, listed=bool(changes))
    except RequestError as error:
        if isinstance(error, Denied):
            raise
        raise refusal_of(error, changes) from error


def restore_memberships(uow: UnitOfWork, restorations: Sequence[Restoration]) -> None:
    """Puts restored objects into the lists of other objects that they were in; owners that were deleted are left out.

    :raises Denied: when the user may not change one of the owners
    :raises RevertRefused: with the errors of the owners
    """
    added: dict[tuple[str, str], dict[str, list[Restoration]]] = {}
    for item in restorations:
        for name, owner_ids in item.change.memberships.items():
            label, _, field_name = name.rpartition(".")
            for owner_id in owner_ids:
                added.setdefault((label, field_name), {}).setdefault(owner_id, []).append(item)
    for (label, field_name), items_by_owner in added.items():
        owner = uow.registry.get(label)
        field = None if owner is None else owner.writable.get(field_name)
        if owner is not None and isinstance(field, ToMany):
            _add_to_lists(uow, owner, field, items_by_owner)


def _add_to_lists(
    uow: UnitOfWork, owner: Endpoint, field: ToMany, items_by_owner: Mapping[str, Sequence[Restoration]]
) -> None:
    """Adds restored objects to one to-many field of their owners."""
    keys = [uuid.UUID(key) for key in items_by_owner]
    current = dict(plan_of(owner).fetch(uow, keys))
    if not current:
        return
    permitted = listing.rows_for_change(uow, owner, list(current), "change")
    if current.keys() - permitted.keys():
        raise Denied()
    values: dict[uuid.UUID, Values] = {}
    for key, representation in current.items():
        listed = field.items_of(field.to_body(representation[field.name]))
        restored = [_item(field, item) for item in items_by_owner[str(key)]]
        items = [*listed, *(one for one in restored if one not in map(str, listed))]
        values[key] = {field.name: field.of_items(items)}
    update(uow, owner, values, [])


def _item(field: ToMany, restoration: Restoration) -> str:
    """The item of a to-many field for a restored object: its id, or the column that stands for it."""
    change = restoration.change
    return str(change.key) if field.by is None else str((change.before or {})[field.by])
