"""Statuses: the states that objects of a content type may be in, kept as rows so that users can add their own."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, MappedColumn

from netinv_core.context import Context
from netinv_core.model import PROTECT, Organizational, color, labels_of, required_text, slug, table_of, text, to
from netinv_core.registry import Registry
from netinv_core.resource import Resource, labels
from netinv_extras.initial_statuses import INITIAL


class Status(Organizational):
    """A state, such as ``active``, and the content types it may be given to."""

    __tablename__ = "extras_status"

    name: Mapped[str] = required_text(50, unique=True)
    slug: Mapped[str] = slug(length=50)
    color: Mapped[str] = color()
    description: Mapped[str] = text(200, hidden=True, flat=True)


status_types = labels_of("extras_status_type", "extras_status")

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
    fields=[labels("content_types", status_types, required=True, allowed=_has_status)],
    configuration=True,
)


def status() -> MappedColumn[uuid.UUID]:
    """The column of a model that has a status: ``status_id: Mapped[Ref] = status()``."""
    return to(Status, on_delete=PROTECT, kind="status")


def seed(context: Context) -> None:
    """Adds the initial statuses to a database that has none."""
    table = table_of(Status)
    if context.execute(sa.select(table.c.id)).first() is not None:
        return
    rows, types = [], []
    for name, shade, description, labels_ in INITIAL:
        key = uuid.uuid4()
        rows.append({"id": key, "name": name, "slug": name.lower(), "color": shade, "description": description})
        types += [{"owner_id": key, "label": label} for label in labels_]
    context.write(sa.insert(table), rows)
    context.write(sa.insert(status_types), types)
