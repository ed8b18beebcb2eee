"""Declarative base and abstract base classes of models.

A model is an ordinary SQLAlchemy class. What the service knows of its columns beyond SQL (labels, bounds, choices, the effect of
a deletion) is in each column's ``info``: see :mod:`netinv_core.models.columns`.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from typing import Any

from sqlalchemy import Boolean, Date, Float, ForeignKeyConstraint, Integer, MetaData, Uuid
from sqlalchemy import Table as SATable
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from netinv_core.models.columns import SELF, ColumnInfo, column_info
from netinv_core.models.types import Json, LongText, Timestamp

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


def _new_id() -> uuid.UUID:
    return uuid.uuid4()


def now() -> datetime.datetime:
    """The current instant, UTC."""
    return datetime.datetime.now(datetime.UTC)


class Base(DeclarativeBase):
    """Root of every netinv model."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {
        uuid.UUID: Uuid(),
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


def _self_reference(model: type[Base]) -> None:
    """Makes links to :data:`SELF` lead to the model they stand in."""
    table: Any = model.__table__
    for name, found in table.c.items():
        what = column_info(found)
        if what.foreign_key is not None and what.foreign_key.target == SELF:
            found.info["netinv"] = dataclasses.replace(what, foreign_key=dataclasses.replace(what.foreign_key, target=model))
            table.append_constraint(ForeignKeyConstraint([name], [table.c.id]))


class Model(Base):
    """A row with an id (UUID)."""

    __abstract__ = True

    id: Mapped[uuid.UUID] = mapped_column(Uuid(), primary_key=True, default=_new_id, sort_order=-10, info={"netinv": ColumnInfo(read_only=True)})


class ChangeLogged(Model):
    """A record that knows when it was made and last changed; its changes are recorded."""

    __abstract__ = True

    created: Mapped[datetime.date] = mapped_column(Date(), sort_order=90, info={"netinv": ColumnInfo(read_only=True)}, default=lambda: now().date())
    last_updated: Mapped[datetime.datetime] = mapped_column(Timestamp(), sort_order=91, info={"netinv": ColumnInfo(read_only=True)}, default=now)


class Customizable(Model):
    """A record with room for the values of custom fields."""

    __abstract__ = True

    custom_field_data: Mapped[dict[str, Any]] = mapped_column(Json(), default=dict, sort_order=92, info={"netinv": ColumnInfo(hidden=True)})


class Organizational(ChangeLogged, Customizable):
    """A tracked record that users extend: custom fields, relationships, notes."""

    __abstract__ = True


class Primary(Organizational):
    """An organizational record that also carries tags: the things an inventory is made of."""

    __abstract__ = True


class Tree:
    """Adds a parent of the same model, with order and depth kept in columns (see :mod:`netinv_core.write.trees`).

    A model gives its own ``parent_id``. ``tree_key`` sorts a parent before its children and siblings by name;
    ``tree_names`` holds the names from the root down.
    """

    tree_key: Mapped[str] = mapped_column(LongText(), default="", sort_order=93, info={"netinv": ColumnInfo(hidden=True)})
    tree_names: Mapped[list[Any]] = mapped_column(Json(), default=list, sort_order=94, info={"netinv": ColumnInfo(hidden=True)})
    tree_level: Mapped[int] = mapped_column(Integer(), default=0, sort_order=95, info={"netinv": ColumnInfo(hidden=True)})


def table_of(model: type[Base]) -> SATable:
    """The table of a model."""
    found = model.__table__
    assert isinstance(found, SATable)
    return found
