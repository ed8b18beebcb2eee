"""Preconditions of writes: the revisions that objects must have (``If-Match``) or must not have (``If-None-Match``).

They are checked under the row locks of the write, so of several writes with the same condition one succeeds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.engine import lock_rows
from netinv_core.errors import NotFound, PreconditionFailed, PreconditionRequired
from netinv_core.read import entity_tags
from netinv_core.read.entity_tags import TagList
from netinv_core.sql.plans import plan_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass(frozen=True)
class Precondition:
    """Condition on the revision of an object: one of ``match``, and none of ``none_match``."""

    match: TagList | None = None
    none_match: TagList | None = None

    def holds(self, revision: str) -> bool:
        """True for an object of this revision."""
        matches = self.match is None or self.match.names_revision(revision)
        return matches and not (self.none_match is not None and self.none_match.names_revision(revision))


Preconditions = Sequence[Precondition | None]
REQUIRED = "Name the ETag of the object in the header If-Match, or that of each item of a list as its _etag."


def check(
    endpoint: Endpoint,
    keys: Iterable[Any],
    preconditions: Preconditions,
    representations: Mapping[Any, dict[str, Any]],
) -> None:
    """Checks the preconditions of locked objects, by their full representations of the newest version.

    An object without a representation does not exist, and meets no condition.

    :raises PreconditionFailed: with the representations of those for which it does not hold
    """
    items = list(keys)
    failed = [
        condition is not None
        and (key not in representations or not condition.holds(entity_tags.revision_of(endpoint, representations[key])))
        for key, condition in zip(items, preconditions, strict=True)
    ]
    if not any(failed):
        return
    error = PreconditionFailed(
        {
            key: representations[key]
            for key, has_failed in zip(items, failed, strict=True)
            if has_failed and key in representations
        }
    )
    if len(items) > 1:
        error.object_errors = [error.body if has_failed else {} for has_failed in failed]
    raise error


def missing_precondition(items: Sequence[bool]) -> PreconditionRequired:
    """The error of a list some of whose items, those that are True, need a precondition."""
    error = PreconditionRequired(REQUIRED)
    error.object_errors = [error.body if is_missing else {} for is_missing in items]
    return error


def check_locked(uow: UnitOfWork, endpoint: Endpoint, key: Any, precondition: Precondition) -> None:
    """Locks an object that the user may view, and checks the precondition; one statement.

    Objects whose revision needs other rows than their own take those of a full representation besides.

    :raises NotFound: for an object that the user may not view
    :raises PreconditionFailed: if it does not hold
    """
    table = endpoint.table
    visible = permissions.visible(uow, endpoint, table)
    plan = entity_tags.row_plan(endpoint)
    if plan is not None:
        row = next((own for _, own in plan.fetch(uow, [key], visible, locked=True)), None)
    else:
        statement = lock_rows(sa.select(table.c.id).where(table.c.id == key, *visible))
        row = uow.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    if plan is not None and precondition.holds(entity_tags.revision_of(endpoint, row)):
        return
    check(endpoint, [key], [precondition], dict(plan_of(endpoint).fetch(uow, [key])))
