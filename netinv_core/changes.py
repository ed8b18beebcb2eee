"""The change record: one row for every object that a unit of work created, updated or deleted.

It holds the representation before and after, and is written in the same transaction as the change itself. Several
changes of one object in one unit of work become one.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth.models import User
from netinv_core.columns import Json
from netinv_core.model import SET_NULL, Choices, Record, Ref, choice, column, known, now, table_of, to

if TYPE_CHECKING:
    from netinv_core.context import Context
    from netinv_core.registry import Endpoint

CREATE, UPDATE, DELETE = "create", "update", "delete"
ACTIONS = Choices.of((CREATE, "Created"), (UPDATE, "Updated"), (DELETE, "Deleted"))


class ObjectChange(Record):
    """One change of one object.

    ``object_data`` is the flat form (columns, references as ids) that clients of the API read; ``before`` and
    ``after`` are representations; ``position`` orders the changes of one unit of work.
    """

    __tablename__ = "core_object_change"

    time: Mapped[datetime.datetime] = column(default=now, read_only=True, index=True)
    user_id: Mapped[Ref | None] = to(User, on_delete=SET_NULL, read_only=True)
    user_name: Mapped[str] = column(length=150, read_only=True, index=True)
    request_id: Mapped[uuid.UUID] = column(read_only=True, index=True)
    action: Mapped[str] = choice(ACTIONS, default=None, read_only=True)
    changed_object_type: Mapped[str] = column(length=100, read_only=True, index=True)
    changed_object_id: Mapped[uuid.UUID] = column(read_only=True, index=True)
    object_repr: Mapped[str] = column(length=200, hidden=True)
    object_data: Mapped[dict[str, Any]] = column(Json(), kind="json", read_only=True)
    before: Mapped[dict[str, Any] | None] = column(Json(), hidden=True)
    after: Mapped[dict[str, Any] | None] = column(Json(), hidden=True)
    position: Mapped[int] = column(hidden=True, default=0)


@dataclasses.dataclass
class Change:
    """What happened to one object; see :class:`ObjectChange`."""

    endpoint: Endpoint
    key: Any
    action: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    flat: dict[str, Any]


class Journal:
    """The changes of a unit of work, until they are written."""

    def __init__(self) -> None:
        self._changes: dict[tuple[str, Any], Change] = {}

    def add(self, change: Change) -> None:
        """Takes a change; an earlier one of the same object becomes part of it."""
        name = (change.endpoint.label, change.key)
        earlier = self._changes.get(name)
        if earlier is not None:
            if change.action == DELETE:
                del self._changes[name]
                if earlier.action == CREATE:
                    return
            change.before = earlier.before
            if earlier.action == CREATE:
                change.action = CREATE
        self._changes[name] = change

    def follow(self, later: Journal) -> None:
        """Takes what another journal holds, after its own."""
        for change in later._changes.values():
            self.add(change)

    def write(self, context: Context) -> list[Change]:
        """Writes the rows, in one statement, and forgets them; gives what was written."""
        found, self._changes = list(self._changes.values()), {}
        recorded = [change for change in found if change.endpoint.resource.recorded and isinstance(change.key, uuid.UUID)]
        if recorded:
            rows = [_row(context, change, position) for position, change in enumerate(recorded)]
            context.write(sa.insert(table_of(ObjectChange)), rows)
        return found


def _row(context: Context, change: Change, position: int) -> dict[str, Any]:
    shown = change.after or change.before or {}
    return {
        "id": uuid.uuid4(),
        "time": context.now,
        "user_id": context.identity.user_id,
        "user_name": context.identity.username,
        "request_id": context.request_id,
        "action": change.action,
        "changed_object_type": change.endpoint.label,
        "changed_object_id": change.key,
        "object_repr": str(shown.get(change.endpoint.resource.called or "display", ""))[:200],
        "object_data": change.flat,
        "before": change.before,
        "after": change.after,
        "position": position,
    }


def flat(endpoint: Endpoint, row: dict[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
    """The flat form of an object: its columns, references as ids, and what is kept beside its row."""
    found: dict[str, Any] = {}
    for name, sql_column in endpoint.table.c.items():
        what = known(sql_column)
        held = not what.hidden if what.flat is None else what.flat
        if not held or what.write_only or name == "id" or name in endpoint.resource.omit:
            continue
        value = row.get(name)
        if callable(held):
            value = held(value)
        elif name in endpoint.fields:
            value = endpoint.fields[name].flat(value)
        if isinstance(value, decimal.Decimal):
            value = str(value)
        elif isinstance(value, datetime.datetime):
            value = value.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        found[name.removesuffix("_id") if what.link is not None else name] = value
    for name, field in endpoint.fields.items():
        beside = name not in found and (field.attribute or name) not in endpoint.table.c
        if beside and name in shown and not (field.read_only or field.opt_in):
            found[name] = field.flat(shown[name])
    return found
