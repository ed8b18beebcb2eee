"""Plans as a resource: a new plan is an execution of its document that is rolled back."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import crypto, fields
from netinv_core.auth.models import User
from netinv_core.changelog.models import CREATE, DELETE, UPDATE
from netinv_core.errors import Invalid
from netinv_core.fields import schema
from netinv_core.models.base import Model, now, table_of
from netinv_core.models.columns import (
    SET_NULL,
    Choices,
    ColumnInfo,
    Ref,
    choice,
    column,
    foreign_key,
    integer,
    json_document,
    text,
)
from netinv_core.presentation import Presentation
from netinv_core.resource import FieldFactory, Resource
from netinv_core.tasks.retention import Retention, older_than
from netinv_core.write import dry_run
from netinv_extras.plans import document, ownership
from netinv_extras.plans.differences import PlannedChange, planned_changes
from netinv_extras.plans.execution import execute

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

LABEL = "extras.plan"
PENDING, APPLIED = "pending", "applied"
STATES = Choices.of((PENDING, "Pending"), (APPLIED, "Applied"))
COUNTED = {CREATE: "creates", UPDATE: "updates", DELETE: "deletes"}


class Plan(Model):
    """A document of objects as they should be, and the differences from the inventory when the plan was made.

    ``objects`` holds the document encrypted; ``digests`` those of the changes, by identity. ``request_id`` is that of
    the changes once the plan is applied.
    """

    __tablename__ = "extras_plan"

    owner: Mapped[str] = text(100, "Name of what the objects belong to, such as a repository", index=True)
    objects: Mapped[Any] = json_document(
        "Objects by content type", write_only=True, confidential=True, encrypted=True, required=True, default=dict
    )
    match: Mapped[Any | None] = json_document("Fields that identify objects, by content type")
    state: Mapped[str] = choice(STATES, 16, default=PENDING, read_only=True)
    creates: Mapped[int] = integer(default=0, read_only=True)
    updates: Mapped[int] = integer(default=0, read_only=True)
    deletes: Mapped[int] = integer(default=0, read_only=True)
    unchanged: Mapped[int] = integer(default=0, read_only=True)
    user_id: Mapped[Ref | None] = foreign_key(User, on_delete=SET_NULL, read_only=True)
    created: Mapped[datetime.datetime] = column(default=now, read_only=True, index=True)
    applied: Mapped[datetime.datetime | None] = column(default=None, read_only=True)
    request_id: Mapped[uuid.UUID | None] = column(default=None, read_only=True)
    changes: Mapped[list[Any]] = json_document(hidden=True, default=list)
    digests: Mapped[dict[str, Any]] = json_document(hidden=True, default=dict)


_TEXT = {"type": "string"}
_ANY = {"nullable": True, "description": "Choices by value, nested objects by display."}
CHANGE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": list(COUNTED)},
        "object_type": _TEXT,
        "object_id": {"type": "string", "format": "uuid", "nullable": True, "description": "Null for a new object."},
        "display": _TEXT,
        "place": {"type": "string", "nullable": True, "description": "`dcim.site[3]`; null for what goes along."},
        "version": {"type": "string", "nullable": True, "description": "`last_updated` of the object."},
        "fields": {
            "type": "array",
            "items": {"type": "object", "properties": {"field": _TEXT, "before": _ANY, "after": _ANY}},
        },
    },
}


def _changes(registry: Registry, endpoint: Endpoint) -> Field:
    """Returns the field ``changes``, which lists leave out."""
    info = ColumnInfo(kind="json")
    return fields.Value(
        name="changes",
        attribute="changes",
        read_only=True,
        opt_in=True,
        info=info,
        node=schema.node("changes", list, info, length=None, digits=None),
        python_type=list,
        openapi={"type": "array", "items": CHANGE_SCHEMA},
    )


def _display(owner: str, created: datetime.datetime) -> str:
    """Returns the name of a plan: its owner and time."""
    return f"{owner or 'Plan'} {created:%Y-%m-%d %H:%M:%S}"


plans = Resource(
    Plan,
    "plans",
    display=(_display, "owner", "created"),
    brief=["owner", "state", "created"],
    order=["-created"],
    search=["owner"],
    fields=[FieldFactory("changes", _changes)],
    writes=["add", "delete"],
    recorded=False,
    exempt_by_name_only=True,
    example={"objects": {}, "match": None},
    presentation=Presentation(
        columns=["owner", "state", "creates", "updates", "deletes", "unchanged", "user", "created"],
        facets=["state"],
        summary=["state", "user", "created", "applied"],
        leading=["changes"],
    ),
)


@plans.base_filter
def own_plans(uow: UnitOfWork, table: Any) -> Any:
    """A plan shows objects as its author sees them: it is for the author and for superusers."""
    return sa.true() if uow.identity.superuser else table.c.user_id == uow.identity.user_id


@plans.prepare
def compute_changes(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Executes each document and rolls it back; the draft gets the changes, or the errors of the document."""
    for draft in drafts:
        draft["user_id"] = uow.identity.user_id
        try:
            _compute(uow, draft)
        except Invalid as error:
            draft.errors.update(error.body)


def _compute(uow: UnitOfWork, draft: Draft) -> None:
    planned = document.parse(uow.registry, draft["objects"], draft["match"])
    sealed = orjson.dumps(draft["objects"]).decode()
    draft["objects"] = crypto.encrypt(uow.registry.settings["secret"], sealed)
    owned = ownership.owned_by(uow, draft["owner"] or "")
    if not planned and not owned:
        return
    with uow.rolled_back() as change_set:
        execute(uow, planned, owned)
        changes = change_set.pending
        created = dry_run.visible_changes(uow, [change for change in changes if change.action == CREATE])
        made = planned_changes(uow, changes, planned)
    visible = created | dry_run.visible_changes(uow, [change for change in changes if change.action != CREATE])
    draft["changes"] = [
        item.entry for change, item in zip(changes, made, strict=True) if dry_run.name_of(change) in visible
    ]
    draft["digests"] = {item.identity: item.digest for item in made}
    for action, name in COUNTED.items():
        draft[name] = sum(change.action == action for change in changes)
    draft["unchanged"] = len(planned) - touched_count(made)


def touched_count(made: Sequence[PlannedChange]) -> int:
    """Returns the number of objects of the document that change."""
    return sum(item.entry["place"] is not None for item in made)


def document_of(uow: UnitOfWork, row: Any) -> Any:
    """Returns the document of a plan.

    :raises ValueError: when it was encrypted with another ``netinv.secret``
    """
    return orjson.loads(crypto.decrypt(uow.registry.settings["secret"], row["objects"]))


plan_table = table_of(Plan)


retention = Retention(plan_table, older_than("plan_retention", plan_table.c.created))
