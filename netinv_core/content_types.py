"""Content types: the labels of models with the numbers that clients know.

A row remains when its package is removed: references to ``circuits.circuit`` stay readable, and work again once the
package is installed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.db.engine import lock_rows
from netinv_core.models.base import Base, table_of
from netinv_core.models.types import Chars
from netinv_core.records import ContentType

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork


class ContentTypeRow(Base):
    """The label of one model."""

    __tablename__ = "core_content_type"
    __table_args__ = (sa.UniqueConstraint("app_label", "model"),)

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True, autoincrement=True)
    app_label: Mapped[str] = mapped_column(Chars(100))
    model: Mapped[str] = mapped_column(Chars(100))


def labels_in_order(registry: Registry) -> list[str]:
    """The labels of all models, in the order of lists of content types (``Resource.type_order``)."""
    return sorted(registry.endpoints, key=lambda label: f"{registry[label].resource.type_order}{label}")


def lock_model(uow: UnitOfWork, label: str) -> None:
    """Locks the row of a content type until the end of the transaction, to serialize changes of its objects.

    For decisions that depend on objects no row lock covers. Other transactions wait only if they call this too.
    """
    table, (app, _, model) = table_of(ContentTypeRow), label.partition(".")
    uow.execute(lock_rows(sa.select(table.c.id).where(table.c.app_label == app, table.c.model == model)))


def load(uow: UnitOfWork) -> None:
    """Reads the content types into the registry."""
    table = table_of(ContentTypeRow)
    rows = uow.execute(sa.select(table.c.id, table.c.app_label, table.c.model)).all()
    registry: Registry = uow.registry
    registry.content_types = {f"{app}.{model}": ContentType(key, f"{app}.{model}") for key, app, model in rows}
