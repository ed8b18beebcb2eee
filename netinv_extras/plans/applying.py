"""The route ``apply/`` below a plan: its document is executed if it still does what the plan says."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.db.engine import lock_rows
from netinv_core.db.locks import lock_for
from netinv_core.errors import Conflict, Invalid, NotFound, RequestError
from netinv_core.http import views
from netinv_core.http.actions import documented
from netinv_core.sql.plans import plan_of
from netinv_core.write import dry_run
from netinv_extras.plans import document, ownership
from netinv_extras.plans.differences import Entry, compare, planned_changes
from netinv_extras.plans.execution import execute
from netinv_extras.plans.models import APPLIED, CHANGE_SCHEMA, LABEL, document_of, plan_table

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

OUTDATED = "The inventory has changed since the plan was made: make a new one."
UNREADABLE = "The document cannot be decrypted: netinv.secret is another one. Make a new plan."
_ENTRY = {**CHANGE_SCHEMA, "nullable": True}
_CHANGED = {
    "type": "object",
    "properties": {
        "field": {"type": "string"},
        "before": {"nullable": True},
        "after": {"nullable": True},
        "user_name": {"type": "string"},
        "time": {"type": "string", "format": "date-time"},
    },
}


class PlanOutdated(Conflict):
    """409: what the plan touches has changed since it was made."""

    body_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "detail": {"type": "string"},
            "errors": {"type": "object", "description": "Errors of the document, which is no longer valid."},
            "count": {"type": "integer", "description": "The number of differences, listed or not."},
            "differences": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "planned": _ENTRY,
                        "now": _ENTRY,
                        "changed": {"type": "array", "items": _CHANGED},
                    },
                },
            },
        },
        "required": ["detail"],
    }

    def __init__(self, differences: Sequence[Entry], count: int, errors: Any = None) -> None:
        body = {"detail": OUTDATED, "count": count, "differences": list(differences)}
        RequestError.__init__(self, body if errors is None else {**body, "errors": errors})


def apply(uow: UnitOfWork, key: uuid.UUID) -> None:
    """Applies a plan in the transaction of the unit of work; one that was applied already is left as it is.

    :raises NotFound: for a plan that does not exist or that the user may not view
    :raises PlanOutdated: when it would do something else than it says
    :raises RequestError: as :func:`netinv_extras.plans.execution.execute`
    """
    endpoint = uow.registry[LABEL]
    row = _lock_plan(uow, endpoint, key)
    if row["state"] == APPLIED:
        return
    try:
        objects = document_of(uow, row)
    except ValueError:
        raise Conflict(UNREADABLE) from None
    planned = document.parse(uow.registry, objects, row["match"])
    lock_for(uow, "plans", ["apply"])  # keys need not be unique constraints: of two plans, the second sees the first
    try:
        with uow.collecting() as change_set:
            outcome = execute(uow, planned, ownership.owned_by(uow, row["owner"]))
    except Invalid as error:
        raise PlanOutdated([], 0, error.body) from None
    changes = change_set.pending
    made = planned_changes(uow, changes, planned)
    _check(uow, row, made, changes)
    uow.change_set.merge(change_set)
    ownership.update(uow, row["owner"], outcome)
    values = {"state": APPLIED, "applied": uow.now, "request_id": uow.request_id}
    uow.execute(sa.update(plan_table).where(plan_table.c.id == key).values(values))


def _lock_plan(uow: UnitOfWork, endpoint: Endpoint, key: uuid.UUID) -> Mapping[str, Any]:
    """Locks and returns the row of a plan."""
    conditions = [plan_table.c.id == key, *permissions.limits(uow, endpoint, "view", plan_table)]
    row = uow.execute(lock_rows(sa.select(plan_table).where(*conditions))).mappings().first()
    if row is None:
        raise NotFound()
    return dict(row)


def _check(uow: UnitOfWork, row: Mapping[str, Any], made: Sequence[Any], changes: Sequence[Any]) -> None:
    """Compares an execution with the plan; the differences are those of objects that the user may view.

    :raises PlanOutdated: when there are any
    """
    found = compare(uow, row["digests"], row["changes"], made)
    if found:
        visible = dry_run.visible_changes(uow, changes)
        hidden = {
            id(item.entry) for change, item in zip(changes, made, strict=True) if dry_run.name_of(change) not in visible
        }
        shown = [item for item in found if id(item["now"]) not in hidden and (item["planned"] or item["now"])]
        raise PlanOutdated(shown, len(found))


@documented(LABEL, status=200, errors=(PlanOutdated,))
def apply_plan(request: Request) -> dict[str, Any]:
    """Carries a plan out in one transaction; 409 with the differences if it would do something else by now."""
    uow, endpoint, key = request.uow, request.context.endpoint, views.key_of(request)
    apply(uow, key)
    (plan,) = plan_of(endpoint).represent(uow, [key])
    return plan


def includeme(config: Any) -> None:
    """Adds the route."""
    config.add_netinv_action("extras/plans", "apply", post=apply_plan, permission="view")
