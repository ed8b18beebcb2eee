"""Models of the change log."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.auth.models import User
from netinv_core.models.base import Base, Model, now
from netinv_core.models.columns import SET_NULL, Choices, Ref, choice, column, foreign_key
from netinv_core.models.types import Binary, Json

CREATE, UPDATE, DELETE = "create", "update", "delete"
NOT_CREATED = f"action IN ('{UPDATE}', '{DELETE}')"
MAX_BYPASSED = 200  # characters
ACTIONS = Choices.of((CREATE, "Created"), (UPDATE, "Updated"), (DELETE, "Deleted"))


class ObjectChange(Model):
    """One change of one object.

    ``object_data`` is the flat form (columns, references as ids) that clients of the API read; ``before`` and ``after``
    are representations; ``memberships`` holds the ids of the objects whose lists a deletion removed the object from, by
    label and field, and hidden values of the object by column (:mod:`netinv_core.write.memberships`); ``position``
    orders the changes of one unit of work.
    ``number`` is the place in the order of commits, assigned after the commit (:mod:`netinv_core.changelog.sequence`).
    ``time`` is when the row was written, while the object was locked: of two changes of one object, the later one has
    the later time. ``bypassed`` says which checks of packages the user had the right to leave out, and did
    (:mod:`netinv_core.changelog.guards`).
    """

    __tablename__ = "core_object_change"
    text_indexes = ("object_repr",)
    text_indexed_with = "number"  # by the worker: requests do not wait for it, which doubles the time of an INSERT
    few_texts = ("user_name",)
    __table_args__ = (
        sa.Index(None, "changed_object_type", "time"),
        # Objects that were created outnumber those that left their place, which allocations ask for each time.
        sa.Index(
            None,
            "changed_object_type",
            "action",
            "number",
            postgresql_where=sa.text(NOT_CREATED),
            sqlite_where=sa.text(NOT_CREATED),
        ),
    )

    time: Mapped[datetime.datetime] = column(default=now, read_only=True, index=True)
    user_id: Mapped[Ref | None] = foreign_key(
        User, on_delete=SET_NULL, read_only=True, when_cleared="They keep the name of the account."
    )
    user_name: Mapped[str] = column(length=150, read_only=True, index=True)
    request_id: Mapped[uuid.UUID] = column(read_only=True, index=True)
    action: Mapped[str] = choice(ACTIONS, default=None, read_only=True)
    changed_object_type: Mapped[str] = column(length=100, read_only=True)
    changed_object_id: Mapped[uuid.UUID] = column(read_only=True, index=True)
    object_repr: Mapped[str] = column(length=200, hidden=True)
    bypassed: Mapped[str | None] = column(length=MAX_BYPASSED, read_only=True, default=None)
    object_data: Mapped[dict[str, Any] | None] = column(Json(), kind="json", read_only=True, default=None)
    before: Mapped[dict[str, Any] | None] = column(Json(), hidden=True, default=None)
    after: Mapped[dict[str, Any] | None] = column(Json(), hidden=True, default=None)
    memberships: Mapped[dict[str, list[str]] | None] = column(Json(), hidden=True, default=None)
    position: Mapped[int] = column(hidden=True, default=0)
    number: Mapped[int | None] = column(sa.BigInteger(), hidden=True, default=None, unique=True, index=True)
    # The three documents, packed (netinv_core.changelog.packing); null in records of older releases, which have columns
    # of their own for them. netinv_core.changelog.states reads both.
    states: Mapped[bytes | None] = column(Binary(), hidden=True, default=None)


class ChangeNumbering(Base):
    """The single row (id 1) with the state of the numbering: the last number ``given``, the highest one of a deleted
    change, and the one up to which changes may not be packed (:mod:`netinv_core.changelog.older_records`).
    """

    __tablename__ = "core_change_numbering"

    id: Mapped[int] = mapped_column(sa.Integer(), primary_key=True, autoincrement=False)
    given: Mapped[int] = mapped_column(sa.BigInteger())
    pruned: Mapped[int] = mapped_column(sa.BigInteger())
    unpacked: Mapped[int] = mapped_column(sa.BigInteger(), server_default="0")
