"""Objects before a write and as it leaves them, and a second look at the statuses that they take.

Statuses are found in the cache of the configuration, which takes no statement and no lock. Until the row that takes one
is written, another transaction may have removed the content type from it: the foreign key makes the INSERT wait for
that transaction, not fail. So the statement that reads the objects back reads the version of the configuration too. If
it is another one than at the beginning, one more statement reads which statuses are allowed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.auth.configuration_version import CONFIGURATION_VERSION
from netinv_core.errors import Invalid, NotFound
from netinv_core.fields import Status
from netinv_core.read import listing
from netinv_core.sql.beside import Beside
from netinv_core.sql.plan import fetch_together
from netinv_core.sql.plans import plan_of
from netinv_core.write import references
from netinv_core.write.draft import Draft
from netinv_core.write.reference_messages import no_such_status

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Written = tuple["Endpoint", Sequence[Draft], Sequence[Any]]  # resource, drafts, and the ids to read


@dataclasses.dataclass(frozen=True)
class StoredObjects:
    """Objects as they are before a change, locked until the transaction ends: rows and representations by id."""

    rows: Mapping[Any, dict[str, Any]]
    representations: Mapping[Any, dict[str, Any]]


def read_for_change(
    uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], *, single: bool = False, permission: str = "change"
) -> StoredObjects:
    """Locks the objects that the user may change, and reads them. Those of a tree are locked by the caller first.

    :param permission: the permission that the user needs
    :raises NotFound: for a single object that does not exist
    :raises Invalid: for an unknown id
    """
    rows = listing.rows_for_change(uow, endpoint, keys, permission)
    missing_error(rows, keys, single=single)
    return StoredObjects(rows, dict(plan_of(endpoint).fetch(uow, keys)))


def missing_error(rows: Mapping[Any, Any], keys: Sequence[Any], *, single: bool) -> None:
    """Rejects ids of objects that do not exist, or that the user may not view.

    :raises NotFound: for a single object
    :raises Invalid: with one entry for each item of a bulk request
    """
    if all(key in rows for key in keys):
        return
    if single:
        raise NotFound()
    message = "Object not found using the provided ID: {}"
    raise Invalid.batch([{} if key in rows else {"id": [message.format(key)]} for key in keys])


def read_back(uow: UnitOfWork, batches: Sequence[Written]) -> list[dict[Any, dict[str, Any]]]:
    """Returns the representations of each batch by id; rejects drafts that took a status which is not allowed any more.

    One statement, and one for each status field where the configuration has changed meanwhile.
    """
    requests = [(plan_of(endpoint), keys) for endpoint, _, keys in batches]
    taken = [
        (endpoint, field, takers)
        for endpoint, drafts, _ in batches
        for field in endpoint.writable.values()
        if isinstance(field, Status) and (takers := [draft for draft in drafts if _takes(draft, field)])
    ]
    version = Beside("version", CONFIGURATION_VERSION) if taken and uow.configuration.number is not None else None
    results = [dict(result) for result in fetch_together(uow, requests, beside=version)]
    if version is not None and version.value != uow.configuration.number:
        for endpoint, field, takers in taken:
            _check(uow, endpoint, field, takers)
    return results


def _takes(draft: Draft, field: Status) -> bool:
    """True for a draft that gets another status."""
    return draft.values.get(field.attribute) not in (None, draft.before.get(field.attribute))


def _check(uow: UnitOfWork, endpoint: Endpoint, field: Status, drafts: Sequence[Draft]) -> None:
    """Rejects the drafts whose statuses objects of the resource may not have, as the database has it now."""
    target = field.target
    assert target is not None
    statuses = references.statuses_of(uow, target, endpoint.label).values()
    ids = {row.id for row in statuses}
    for draft in drafts:
        if draft.values[field.attribute] not in ids:
            slug = draft.body.get(field.name) if isinstance(draft.body, dict) else None
            draft.reject(field.name, no_such_status(target, endpoint, slug, statuses))
