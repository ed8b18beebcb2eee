"""Declarative base and abstract base classes of models.

A model is an ordinary SQLAlchemy class. What the service knows of its columns beyond SQL (labels, bounds, choices, the
effect of a deletion) is in each column's ``info``: see :mod:`netinv_core.models.columns`.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import uuid
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

from sqlalchemy import Boolean, Column, Date, Float, ForeignKeyConstraint, Integer, MetaData, event
from sqlalchemy import Table as SATable
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from netinv_core.models.columns import SELF, ColumnInfo, column_info
from netinv_core.models.types import Json, Key, LongText, Timestamp

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


_declared: weakref.WeakSet[SATable] = weakref.WeakSet()  # tables that have all of their columns
CUSTOM_FIELD_PREFIX = "cf_"  # of the names of filters and columns of custom fields
TRANSIENT = "netinv_transient"  # in the `info` of tables whose rows mean nothing elsewhere: backups leave them out


def _new_id() -> uuid.UUID:
    return uuid.uuid4()


#: Returns the current instant, UTC.
now: Callable[[], datetime.datetime] = functools.partial(datetime.datetime.now, datetime.UTC)


class Base(DeclarativeBase):
    """Root of every netinv model.

    ``text_indexes`` names columns with long or many different texts, in which searches look for a part
    (:mod:`netinv_core.db.text_indexes`). ``text_indexed_with`` names a column: rows get into these indexes with a value
    of it. ``few_texts`` names columns with an index and few different texts, which searches read instead of rows.
    """

    text_indexes: ClassVar[tuple[str, ...]] = ()
    text_indexed_with: ClassVar[str | None] = None
    few_texts: ClassVar[tuple[str, ...]] = ()

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {
        uuid.UUID: Key(),
        str: LongText(),
        int: Integer(),
        bool: Boolean(),
        float: Float(),
        datetime.date: Date(),
        datetime.datetime: Timestamp(),
        dict[str, Any]: Json(),
        list[Any]: Json(),
        Any: Json(),
    }

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__table__" in cls.__dict__:
            _self_reference(cls)


@event.listens_for(SATable, "after_parent_attach")
def _note_declared(table: Any, parent: Any) -> None:
    """Notes that a table of a model has all of its columns. Copies of it, as Alembic makes them, are of other
    metadata.
    """
    if parent is Base.metadata:
        _declared.add(table)


@event.listens_for(Column, "before_parent_attach")
def _refuse_column(sql_column: Any, table: Any) -> None:
    """Refuses further columns of a declared table: its migrations and statements know none.

    :raises TypeError: naming the column
    """
    if isinstance(table, SATable) and table in _declared:
        raise TypeError(f"{table.name} is declared already; a package cannot add the column {sql_column.name!r} to it")


def _self_reference(model: type[Base]) -> None:
    """Replaces the target :data:`SELF` of foreign keys by the model, and adds their constraints."""
    table: Any = model.__table__
    for name, sql_column in table.c.items():
        what = column_info(sql_column)
        if what.foreign_key is not None and what.foreign_key.target == SELF:
            sql_column.info["netinv"] = dataclasses.replace(
                what, foreign_key=dataclasses.replace(what.foreign_key, target=model)
            )
            table.append_constraint(ForeignKeyConstraint([name], [table.c.id]))


class Model(Base):
    """A row with an id (UUID)."""

    __abstract__ = True

    id: Mapped[uuid.UUID] = mapped_column(
        Key(), primary_key=True, default=_new_id, sort_order=-10, info={"netinv": ColumnInfo(read_only=True)}
    )


class ChangeLogged(Model):
    """A row with times of creation and last update, whose changes are recorded."""

    __abstract__ = True

    created: Mapped[datetime.date] = mapped_column(
        Date(), sort_order=90, info={"netinv": ColumnInfo(read_only=True, restored=True)}, default=lambda: now().date()
    )
    last_updated: Mapped[datetime.datetime] = mapped_column(
        Timestamp(), sort_order=91, info={"netinv": ColumnInfo(read_only=True)}, default=now
    )


class Customizable(Model):
    """A row with values of custom fields."""

    __abstract__ = True

    custom_field_data: Mapped[dict[str, Any]] = mapped_column(
        Json(),
        default=dict,
        sort_order=92,
        info={"netinv": ColumnInfo(hidden=True, member_names=("_custom_field_data", CUSTOM_FIELD_PREFIX))},
    )


class Organizational(ChangeLogged, Customizable):
    """A change-logged row with custom fields, relationships and notes."""

    __abstract__ = True


class Primary(Organizational):
    """An organizational row with tags."""

    __abstract__ = True


class Tree:
    """Mixin for a tree of objects of one model (see :mod:`netinv_core.write.trees`). The model declares ``parent_id``.

    ``tree_key`` is a sort key: parents before children, siblings by name. ``tree_names`` holds the names from the root
    down, ``tree_level`` the depth from 0.
    """

    tree_key: Mapped[str] = mapped_column(
        LongText(), default="", sort_order=93, info={"netinv": ColumnInfo(hidden=True)}
    )
    tree_names: Mapped[list[Any]] = mapped_column(
        Json(), default=list, sort_order=94, info={"netinv": ColumnInfo(hidden=True)}
    )
    tree_level: Mapped[int] = mapped_column(
        Integer(), default=0, sort_order=95, info={"netinv": ColumnInfo(hidden=True)}
    )


def table_of(model: type[Base]) -> SATable:
    """The table of a model."""
    table = model.__table__
    assert isinstance(table, SATable)
    return table
