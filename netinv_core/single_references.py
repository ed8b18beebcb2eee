"""Factories of fields that hold one object without a column of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields as kinds
from netinv_core.resource import FieldFactory

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry


def to_one(name: str, table: sa.Table, target: str, **options: Any) -> FieldFactory:
    """An object of ``target`` (a label) in an association table, nested and written as a reference: for a resource
    whose table is that of another package. The column ``owner_id`` is to be unique.
    """
    return FieldFactory(
        name, lambda registry, endpoint: kinds.ToOne(name=name, table=table, to=target, registry=registry, **options)
    )


def through_one_to_one(name: str, target: str, held: str, holder: str, by: str) -> FieldFactory:
    """The object that is reached through a one-to-one reference of ``target``: see
    :class:`netinv_core.fields.ThroughOneToOne`.
    """

    def make(registry: Registry, endpoint: Endpoint) -> Field:
        return kinds.ThroughOneToOne(name=name, to=target, held=held, holder=holder, by=by, registry=registry)

    return FieldFactory(name, make)
