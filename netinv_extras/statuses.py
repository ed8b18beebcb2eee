"""Statuses: states of objects, stored as rows so that users can add further ones."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, MappedColumn

from netinv_core.models.associations import content_type_table
from netinv_core.models.base import Organizational, table_of
from netinv_core.models.columns import PROTECT, color, foreign_key, required_text, slug, text
from netinv_core.registry import Registry
from netinv_core.resource import Resource, content_type_list
from netinv_core.uow import UnitOfWork
from netinv_extras.initial_statuses import INITIAL


class Status(Organizational):
    """State such as ``active``, and the content types whose objects may have it."""

    __tablename__ = "extras_status"

    name: Mapped[str] = required_text(50, unique=True)
    slug: Mapped[str] = slug(length=50)
    color: Mapped[str] = color()
    description: Mapped[str] = text(200, hidden=True, in_object_data=True)


status_types = content_type_table("extras_status_type", "extras_status")


def _has_status(registry: Registry, label: str) -> bool:
    """True for models with a status, and for models of packages that are not installed."""
    endpoint = registry.get(label)
    return endpoint is None or "status_id" in endpoint.table.c


statuses = Resource(
    Status,
    "statuses",
    plural="statuses",
    brief=["name", "slug"],
    search=["name", "slug", "content_types"],
    fields=[content_type_list("content_types", status_types, required=True, allowed=_has_status)],
    configuration=True,
)


def status() -> MappedColumn[uuid.UUID]:
    """Column of a model with a status: ``status_id: Mapped[Ref] = status()``."""
    return foreign_key(Status, on_delete=PROTECT, kind="status")


def seed(uow: UnitOfWork) -> None:
    """Adds the initial statuses to a database without any status."""
    table = table_of(Status)
    if uow.execute(sa.select(table.c.id)).first() is not None:
        return
    rows, types = [], []
    for name, color_code, description, labels in INITIAL:
        key = uuid.uuid4()
        rows.append({"id": key, "name": name, "slug": name.lower(), "color": color_code, "description": description})
        types += [{"owner_id": key, "label": label} for label in labels]
    uow.write(sa.insert(table), rows)
    uow.write(sa.insert(status_types), types)
