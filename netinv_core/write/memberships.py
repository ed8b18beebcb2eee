"""Memberships: the to-many lists of other objects that a deleted object was in, kept in its change record.

The association rows go with the object, and the other objects get no change record. So these ids are needed to put a
restored object into the lists again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.engine import in_parameter
from netinv_core.db.row_select import RowSelect
from netinv_core.fields import ToMany
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Ids = list[str]


@cached_in_registry
def lists_of(endpoint: Endpoint) -> list[tuple[Endpoint, ToMany]]:
    """The writable to-many fields of recorded resources that list objects of this endpoint, each with its owner."""
    owners = [owner for owner in endpoint.registry.endpoints.values() if owner.resource.recorded]
    return [
        (owner, field)
        for owner in owners
        for field in owner.writable.values()
        if isinstance(field, ToMany) and field.to == endpoint.label
    ]


def lost(uow: UnitOfWork, endpoint: Endpoint, deleting: Mapping[str, Collection[Any]]) -> dict[Any, dict[str, Ids]]:
    """Returns the memberships of the objects that are to be deleted, by id: one statement, none without such fields.

    They are the ids of the owners by ``label.field``. Owners that are deleted too are left out: their own records have
    the lists.
    """
    lists = lists_of(endpoint) if endpoint.resource.recorded else []
    if not lists:
        return {}
    memberships: dict[Any, dict[str, Ids]] = {}
    for number, owner_id, target_id in uow.rows(_select(endpoint), {"keys": list(deleting[endpoint.label])}):
        owner, field = lists[number]
        if owner_id not in deleting.get(owner.label, ()):
            memberships.setdefault(target_id, {}).setdefault(f"{owner.label}.{field.name}", []).append(str(owner_id))
    return memberships


@cached_in_registry
def _select(endpoint: Endpoint) -> RowSelect:
    """SELECT of the list's position in :func:`lists_of`, the owner's id and the listed object's id: a UNION ALL."""
    selects: list[Any] = []
    for number, (_, field) in enumerate(lists_of(endpoint)):
        pairs = field.pairs
        position: Any = sa.literal_column(str(number), sa.Integer())
        clause = in_parameter(endpoint.registry.dialect, pairs.c.target_id)
        selects.append(sa.select(position.label("list"), pairs.c.owner_id, pairs.c.target_id).where(clause))
    return RowSelect(sa.union_all(*selects))
