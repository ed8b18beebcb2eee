"""Revert of a change, or of all changes of a request, in the transaction of a unit of work.

Deleted objects are created again, then updates are undone, then created objects are deleted. Everything is written
with the permissions and the rules that apply to clients, and recorded as changes of the unit of work.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.models import CREATE, DELETE, UPDATE
from netinv_core.db.engine import in_parameter
from netinv_core.errors import Denied, RequestError
from netinv_core.fields import Reference
from netinv_core.models.columns import CASCADE, column_info
from netinv_core.read.plans import plan_of
from netinv_core.write.delete import children_first, delete
from netinv_undo.net_changes import NetChange, identity_of, load
from netinv_undo.obstacles import Restoration, by_endpoint, examine
from netinv_undo.recreation import Recreation, restore_memberships, update
from netinv_undo.refusals import refusal_of

if TYPE_CHECKING:
    from netinv_core.types import Endpoint, UnitOfWork

# What the undo of an action does to the object.
DONE = {CREATE: DELETE, UPDATE: UPDATE, DELETE: CREATE}


@dataclasses.dataclass(frozen=True)
class RevertedObject:
    """An object that a revert wrote: the action, its representation now, and the members that were not restored.

    ``changes`` are the ids of the records that were undone, ``not_restored`` the reasons by member.
    """

    endpoint: Endpoint
    key: uuid.UUID
    action: str
    name: str
    changes: Sequence[uuid.UUID]
    representation: dict[str, Any] | None
    not_restored: Mapping[str, str]


def revert(uow: UnitOfWork, change_id: uuid.UUID, *, whole_request: bool = False) -> list[RevertedObject]:
    """Undoes a change, with ``whole_request`` all changes of its request; returns the objects that were written.

    The number of statements depends on the number of models and on the depth of references, not on that of objects.

    :raises NotFound: for a change that does not exist or that the user may not view
    :raises Denied: without permission to create, change or delete one of the objects
    :raises RevertRefused: with the reasons by object and field, when later changes, references or rules stand against
        it
    """
    restorations = examine(uow, load(uow, change_id, whole_request=whole_request))
    by_action: dict[str, list[Restoration]] = {CREATE: [], UPDATE: [], DELETE: []}
    for item in restorations:
        by_action[item.change.action].append(item)
    Recreation(uow, by_action[DELETE]).run()
    _undo_updates(uow, by_action[UPDATE])
    restore_memberships(uow, by_action[DELETE])
    _delete(uow, [item.change for item in by_action[CREATE]])
    written = _representations(uow, [item.change for item in restorations])
    return [
        RevertedObject(
            item.change.endpoint,
            item.change.key,
            DONE[item.change.action],
            item.change.name,
            [record.id for record in item.change.records],
            written.get(item.change),
            item.not_restored,
        )
        for item in restorations
    ]


def _undo_updates(uow: UnitOfWork, restorations: Sequence[Restoration]) -> None:
    """Writes the former values: the last changed model first."""
    restoration_of = {item.change: item for item in restorations}
    for endpoint, changes in by_endpoint(reversed(list(restoration_of))).items():
        update(uow, endpoint, {change.key: dict(restoration_of[change].values) for change in changes}, changes)


def _delete(uow: UnitOfWork, changes: Sequence[NetChange]) -> None:
    """Deletes created objects, children before parents; those that the deletion of another one includes go with it."""
    created = {change.identity for change in changes}
    groups = by_endpoint(change for change in changes if not _goes_with_another(change, created))
    endpoints = {endpoint.label: endpoint for endpoint in groups}
    for label in children_first(uow.registry, endpoints):
        endpoint, group = endpoints[label], groups[endpoints[label]]
        clause = in_parameter(uow.registry.dialect, endpoint.table.c.id)
        statement = sa.select(endpoint.table.c.id).where(clause)
        keys = set(uow.execute(statement, {"keys": [change.key for change in group]}).scalars())
        remaining = [change for change in group if change.key in keys]
        try:
            delete(uow, endpoint, [{"id": str(change.key)} for change in remaining])
        except RequestError as error:
            if isinstance(error, Denied):
                raise
            raise refusal_of(error, remaining) from error


def _goes_with_another(change: NetChange, created: set[tuple[str, str]]) -> bool:
    """True for an object whose foreign key cascades to another one of the created objects."""
    endpoint, after = change.endpoint, change.after or {}
    for name, field in endpoint.writable.items():
        if isinstance(field, Reference) and after.get(name):
            link = column_info(endpoint.table.c[field.attribute]).foreign_key
            target = identity_of(field, after[name])
            if link is not None and link.on_delete == CASCADE and target in created and target != change.identity:
                return True
    return False


def _representations(uow: UnitOfWork, changes: Sequence[NetChange]) -> dict[NetChange, dict[str, Any]]:
    """Returns the representations of the objects that exist now."""
    representations: dict[NetChange, dict[str, Any]] = {}
    for endpoint, group in by_endpoint(change for change in changes if change.action != CREATE).items():
        by_id = dict(plan_of(endpoint).fetch(uow, [change.key for change in group]))
        representations |= {change: by_id[change.key] for change in group if change.key in by_id}
    return representations
