"""Memberships: the to-many lists of other objects that a deleted object was in.

The association rows go with the object. The other objects get change records, as those do whose foreign keys are set to
null. The record of the deleted object has their ids, which put it into the lists again when it is restored.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import audit
from netinv_core.changelog import guards
from netinv_core.db.expressions import in_parameter
from netinv_core.fields import ToMany
from netinv_core.models.columns import column_info
from netinv_core.read import listing
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.plans import plan_of
from netinv_core.write.system_update import write_changes

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Ids = list[str]


@cached_in_registry
def lists_of(endpoint: Endpoint) -> list[tuple[Endpoint, ToMany]]:
    """The writable to-many fields that list objects of this endpoint, of resources with change records or lines in the
    audit log, each with its owner.
    """
    owners = [owner for owner in endpoint.registry.stored() if owner.resource.recorded or owner.label in audit.KINDS]
    return [
        (owner, field)
        for owner in owners
        for field in owner.writable.values()
        if isinstance(field, ToMany) and field.to == endpoint.label
    ]


def read_memberships(
    uow: UnitOfWork, endpoint: Endpoint, deleting: Mapping[str, Collection[Any]]
) -> dict[Any, dict[str, Ids]]:
    """Returns the memberships of the objects that are to be deleted, by id: one statement, none without such fields.

    They are the ids of the owners by ``label.field``. Owners that are deleted too are left out: their own records have
    the lists.
    """
    lists = lists_of(endpoint)
    if not lists:
        return {}
    memberships: dict[Any, dict[str, Ids]] = {}
    for number, owner_id, target_id in uow.execute(
        _select(endpoint), {"keys": list(deleting[endpoint.label])}
    ).tuples():
        owner, field = lists[number]
        if owner_id not in deleting.get(owner.label, ()):
            memberships.setdefault(target_id, {}).setdefault(f"{owner.label}.{field.name}", []).append(str(owner_id))
    return memberships


def hidden_values(endpoint: Endpoint, row: Mapping[str, Any]) -> dict[str, Ids]:
    """Returns the texts of a row that no representation shows and that are restored with the object, by column."""
    return {name: [row[name]] for name in restored_columns(endpoint) if row[name] is not None}


@cached_in_registry
def restored_columns(endpoint: Endpoint) -> tuple[str, ...]:
    """The names of the hidden columns of texts that are restored with a deleted object."""
    columns = ((name, column_info(column)) for name, column in endpoint.table.c.items())
    return tuple(name for name, info in columns if info.hidden and info.restored)


@cached_in_registry
def _select(endpoint: Endpoint) -> Any:
    """SELECT of the list's position in :func:`lists_of`, the owner's id and the listed object's id: a UNION ALL."""
    selects: list[Any] = []
    for number, (_, field) in enumerate(lists_of(endpoint)):
        pairs = field.pairs
        position: Any = sa.literal_column(str(number), sa.Integer())
        clause = in_parameter(pairs.c.target_id)
        selects.append(sa.select(position.label("list"), pairs.c.owner_id, pairs.c.target_id).where(clause))
    return sa.union_all(*selects)


@dataclasses.dataclass(frozen=True)
class ShrinkingLists:
    """Objects whose lists lose items: their locked rows and representations by id, and the names of the lists."""

    endpoint: Endpoint
    names: Collection[str]
    rows: Mapping[Any, Mapping[str, Any]]
    before: Mapping[Any, dict[str, Any]]


def lock_owners(uow: UnitOfWork, memberships: Iterable[Mapping[Any, dict[str, Ids]]]) -> list[ShrinkingLists]:
    """Locks the owners of lists (:func:`read_memberships`) and reads their representations: a batch for each model."""
    keys: dict[str, set[uuid.UUID]] = {}
    names: dict[str, set[str]] = {}
    for by_id in memberships:
        for owners_by_list in by_id.values():
            for list_name, owner_ids in owners_by_list.items():
                label, _, name = list_name.rpartition(".")
                keys.setdefault(label, set()).update(map(uuid.UUID, owner_ids))
                names.setdefault(label, set()).add(name)
    shrinking = []
    for label in sorted(keys):
        endpoint = uow.registry[label]
        rows = listing.lock(uow, endpoint.table, sorted(keys[label]))
        guards.look(uow, endpoint, list(rows))
        before = dict(plan_of(endpoint).fetch(uow, list(rows)))
        shrinking.append(ShrinkingLists(endpoint, names[label], rows, before))
    return shrinking


def record_owners(uow: UnitOfWork, shrinking: Iterable[ShrinkingLists]) -> None:
    """Records the changes of the owners, once the association rows are deleted."""
    for lists in shrinking:
        present = {key: dict[str, Any]() for key in lists.rows if key in lists.before}
        write_changes(uow, lists.endpoint, lists.rows, present, lists.before, lists.names)
