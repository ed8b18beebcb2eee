"""Replay: the proposals of a change request, carried out in the transaction of a unit of work.

A proposal is carried out as the undo of its inverse (:mod:`netinv_undo`): a proposed object is created as one whose
deletion is undone, with its id, and a proposed deletion undoes a creation. So the rules, the order of references and
the search for changes made meanwhile are the same.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import sqlalchemy as sa

from netinv_core.changelog.models import DELETE
from netinv_core.errors import Conflict, RequestError
from netinv_undo.net_changes import NetChange
from netinv_undo.refusals import RevertRefused
from netinv_undo.reverting import write

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_extras.change_requests.proposals import Proposal

CONFLICTS = "The change request conflicts with the inventory as it is now: see its conflicts/."
LAST_UPDATED = "last_updated"


class RequestConflicts(Conflict):
    """409: the changes of a change request cannot be made, with the reasons by object and field.

    ``count`` is the number of the objects, with those that are not listed.
    """

    body_schema: ClassVar[Mapping[str, Any] | None] = {
        **RevertRefused.body_schema,
        "properties": {**RevertRefused.body_schema["properties"], "count": {"type": "integer"}},
    }

    def __init__(self, objects: Sequence[Mapping[str, Any]], count: int | None = None) -> None:
        listed = list(objects)
        body = {"detail": CONFLICTS, "count": len(listed) if count is None else count, "objects": listed}
        RequestError.__init__(self, body)


def replay(uow: UnitOfWork, proposals: Sequence[Proposal]) -> None:
    """Carries proposals out with the permissions of the unit of work.

    :raises Denied: without permission for one of the objects
    :raises RequestConflicts: with the reasons by object and field, when later changes, references or rules stand
        against it
    """
    if not proposals:
        return
    first = min(proposal.time for proposal in proposals)
    changes = [_inverse(proposal, first) for proposal in proposals]
    try:
        write(uow, changes)
    except RevertRefused as error:
        raise RequestConflicts(error.body["objects"]) from error


def _inverse(proposal: Proposal, first: datetime.datetime) -> NetChange:
    """The net change whose undo carries a proposal out. The order of time is reversed with the direction."""
    record = SimpleNamespace(
        id=proposal.id,
        before=proposal.after,
        after=proposal.before,
        memberships=None,
        object_repr=proposal.object_repr,
        time=first,
        position=-proposal.position,
    )
    return NetChange(proposal.endpoint, proposal.key, [record])


def keep_versions(uow: UnitOfWork, proposals: Sequence[Proposal]) -> None:
    """Gives replayed objects the times of their last change within the change request, so that their entity tags stay
    the same from one request to the next; one statement for each model.
    """
    by_model: dict[Endpoint, dict[uuid.UUID, str]] = {}
    for proposal in proposals:
        version = (proposal.after or {}).get(LAST_UPDATED)
        if proposal.action != DELETE and version is not None and LAST_UPDATED in proposal.endpoint.table.c:
            by_model.setdefault(proposal.endpoint, {})[proposal.key] = version
    for endpoint, versions in by_model.items():
        table = endpoint.table
        statement = (
            sa.update(table)
            .where(table.c.id == sa.bindparam("key", type_=table.c.id.type))
            .values({LAST_UPDATED: sa.bindparam("version", type_=table.c.last_updated.type)})
        )
        rows = [{"key": key, "version": datetime.datetime.fromisoformat(version)} for key, version in versions.items()]
        uow.execute(statement, rows)
