"""The change record: one row for every object that a unit of work created, updated or deleted.

It holds the representation before and after, and is written in the same transaction as the change itself. Several
changes of one object in one unit of work become one.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.auth.models import User
from netinv_core.changelog.masking import mask_change
from netinv_core.changelog.recorder import record
from netinv_core.fields import Field
from netinv_core.models.base import SET_NULL, Base, Choices, Model, Ref, choice, column, column_info, foreign_key, now, table_of
from netinv_core.models.types import Json

if TYPE_CHECKING:
    from netinv_core.registry import Endpoint
    from netinv_core.uow import UnitOfWork

CREATE, UPDATE, DELETE = "create", "update", "delete"
ACTIONS = Choices.of((CREATE, "Created"), (UPDATE, "Updated"), (DELETE, "Deleted"))


class ObjectChange(Model):
    """One change of one object.

    ``object_data`` is the flat form (columns, references as ids) that clients of the API read; ``before`` and
    ``after`` are representations; ``position`` orders the changes of one unit of work. ``number`` is the place in the order of
    commits, given afterwards (:mod:`netinv_core.changelog.sequence`). ``time`` is when the row was written, while the object was held: of two
    changes of one object, the later one has the later time.
    """

    __tablename__ = "core_object_change"

    time: Mapped[datetime.datetime] = column(default=now, read_only=True, index=True)
    user_id: Mapped[Ref | None] = foreign_key(User, on_delete=SET_NULL, read_only=True)
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
    number: Mapped[int | None] = column(sa.BigInteger(), hidden=True, default=None, unique=True, index=True)


class ChangeNumbering(Base):
    """The one row (id 1) of what is known of the numbers of changes: the last one ``given``, and the highest of a change that is deleted."""

    __tablename__ = "core_change_numbering"

    id: Mapped[int] = mapped_column(sa.Integer(), primary_key=True, autoincrement=False)
    given: Mapped[int] = mapped_column(sa.BigInteger())
    pruned: Mapped[int] = mapped_column(sa.BigInteger())


@dataclasses.dataclass
class Change:
    """What happened to one object; see :class:`ObjectChange`. ``record`` is the id of its row, once there is one."""

    endpoint: Endpoint
    key: Any
    action: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    object_data: dict[str, Any]
    record: uuid.UUID | None = None

    @property
    def name(self) -> str:
        """What the object is called in the change log."""
        shown = self.after or self.before or {}
        return str(shown.get(self.endpoint.resource.name_attribute or "display", ""))[:200]

    def is_nothing(self, earlier: Change) -> bool:
        """Tells that nothing is left of this change and an earlier one of the object, of which it has the ``before``."""
        if self.action == DELETE:
            return earlier.action == CREATE
        return self.before is not None and self.after is not None and same(self.before, self.after)

    def mask(self) -> None:
        """Takes out what the change log does not keep, and keeps it visible that it changed."""
        for name, mask in self.endpoint.masked_columns.items():
            if not any(name in shown for shown in (self.before, self.after) if shown is not None):
                continue
            old, new = (self.before or {}).get(name), (self.after or {}).get(name)
            masked_old, masked_new = mask(old), mask(new)
            if self.before is not None:
                self.before = {**self.before, name: masked_old}
            if self.after is not None:
                masked_new = mask_change(old, new, masked_old, masked_new) if self.before is not None else masked_new
                self.after = {**self.after, name: masked_new}
            self.object_data = {**self.object_data, name: (self.after or self.before or {}).get(name)}


def same(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Tells that an update changed nothing but the time of the last one."""
    return all(before.get(name) == value for name, value in after.items() if name != "last_updated")


def with_masked(endpoint: Endpoint, shown: dict[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A representation with the stored values of what the change log masks, by which it sees that one of them changed."""
    hidden = {name: row.get(name) for name in endpoint.masked_columns}
    return {**shown, **hidden} if hidden else shown


class ChangeSet:
    """The changes of a unit of work, until they are written."""

    def __init__(self) -> None:
        self._changes: dict[tuple[str, Any], Change] = {}

    def add(self, change: Change) -> None:
        """Takes a change; with an earlier one of the same object it becomes their net effect, which may be none."""
        name = (change.endpoint.label, change.key)
        earlier = self._changes.pop(name, None) if change.action == DELETE else self._changes.get(name)
        if earlier is not None:
            change.before = earlier.before
            if change.action != DELETE:
                change.action = CREATE if earlier.action == CREATE else UPDATE
            if change.is_nothing(earlier):
                self._changes.pop(name, None)
                return
        self._changes[name] = change

    def clear(self) -> None:
        """Forgets all changes."""
        self._changes.clear()

    def merge(self, later: ChangeSet) -> None:
        """Takes what another journal holds, after its own."""
        for change in later._changes.values():
            self.add(change)

    def write(self, uow: UnitOfWork) -> list[Change]:
        """Writes the rows, what follows them in the same statement where that is possible, and forgets them; gives what was written."""
        found, self._changes = list(self._changes.values()), {}
        recorded = [change for change in found if change.endpoint.resource.recorded and isinstance(change.key, uuid.UUID)]
        if recorded:
            for change in recorded:
                change.mask()
                change.record = uuid.uuid4()
            hooks = uow.registry.hooks
            followers = [follower for some in hooks.netinv_change_inserts(uow=uow, changes=recorded) for follower in some]
            record(uow, table_of(ObjectChange), [_row(uow, change, position) for position, change in enumerate(recorded)], followers)
            hooks.netinv_changes_recorded(uow=uow, changes=recorded)
        return found


def _row(uow: UnitOfWork, change: Change, position: int) -> dict[str, Any]:
    return {
        "id": change.record,
        "user_id": uow.identity.user_id,
        "user_name": uow.identity.username,
        "request_id": uow.request_id,
        "action": change.action,
        "changed_object_type": change.endpoint.label,
        "changed_object_id": change.key,
        "object_repr": change.name,
        "object_data": change.object_data,
        "before": change.before,
        "after": change.after,
        "position": position,
    }


@dataclasses.dataclass(frozen=True)
class ObjectDataLayout:
    """How the flat form of an endpoint's objects is made: of which columns, under which names and in what form, and of which fields beside them."""

    columns: Sequence[tuple[str, str, Callable[[Any], Any] | None]]
    extra: Sequence[tuple[str, Field]]


def object_data_layout(endpoint: Endpoint) -> ObjectDataLayout:
    """What the flat form of an endpoint's objects holds: their columns, references as ids, and what is kept beside the row."""
    columns: list[tuple[str, str, Callable[[Any], Any] | None]] = []
    for name, sql_column in endpoint.table.c.items():
        what = column_info(sql_column)
        held = not what.hidden if what.in_object_data is None else what.in_object_data
        if held and not what.write_only and (not what.confidential or what.masked is not None) and name != "id" and name not in endpoint.resource.omit:
            field = endpoint.fields.get(name)
            own = field.object_data if field is not None and type(field).object_data is not Field.object_data else None
            written = held if callable(held) else own
            columns.append((name, name.removesuffix("_id") if what.foreign_key is not None else name, written))
    taken = {name for _, name, _ in columns}
    fields = [(name, field) for name, field in endpoint.fields.items() if name not in taken and not (field.read_only or field.opt_in)]
    return ObjectDataLayout(columns, [(name, field) for name, field in fields if (field.attribute or name) not in endpoint.table.c])


def object_data(uow: UnitOfWork, endpoint: Endpoint, row: dict[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
    """The flat form of an object, given its row and its representation."""
    found: dict[str, Any] = dict(endpoint.resource.record_constants)
    for attribute, name, written in endpoint.object_data_layout.columns:
        value = row.get(attribute)
        if written is not None:
            value = written(value)
        if isinstance(value, decimal.Decimal):
            value = str(value)
        elif isinstance(value, datetime.datetime):
            value = value.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        found[name] = value
    for name, field in endpoint.object_data_layout.extra:
        if name in shown:
            found[name] = field.extra_object_data(uow, row, shown[name])
    return found
