"""Objects of owners: those of the last applied plan of each, so that what left a document is found."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.db.expressions import in_parameter
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Model, table_of
from netinv_core.models.columns import column
from netinv_extras.plans.execution import PlanOutcome

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork


class OwnedObject(Model):
    """An object that the applied plans of an owner had, and that no later one deleted."""

    __tablename__ = "extras_plan_owned_object"
    __table_args__ = (unique_set("owner", "object_type", "object_id"),)

    owner: Mapped[str] = column(length=100)
    object_type: Mapped[str] = column(length=100)
    object_id: Mapped[uuid.UUID] = column(index=True)


_owned = table_of(OwnedObject)


def owned_by(uow: UnitOfWork, owner: str) -> dict[str, list[uuid.UUID]]:
    """Returns the ids of the objects of an owner by label, without those of other owners too; one statement."""
    if not owner:
        return {}
    other = _owned.alias()
    shared = sa.exists().where(
        other.c.object_id == _owned.c.object_id, other.c.object_type == _owned.c.object_type, other.c.owner != owner
    )
    statement = sa.select(_owned.c.object_type, _owned.c.object_id).where(_owned.c.owner == owner, ~shared)
    owned: dict[str, list[uuid.UUID]] = {}
    for label, key in uow.execute(statement.order_by(_owned.c.object_type, _owned.c.object_id)):
        owned.setdefault(label, []).append(key)
    return owned


def update(uow: UnitOfWork, owner: str, outcome: PlanOutcome) -> None:
    """Adds the objects of an applied document to those of its owner, and removes deleted ones; three statements."""
    gone = [key for keys in outcome.deleted.values() for key in keys]
    if gone:
        uow.execute(sa.delete(_owned).where(in_parameter(_owned.c.object_id)), {"keys": gone})
    if not owner:
        return
    known = set(
        uow.execute(sa.select(_owned.c.object_type, _owned.c.object_id).where(_owned.c.owner == owner)).tuples()
    )
    rows = [
        {"id": uuid.uuid4(), "owner": owner, "object_type": label, "object_id": key}
        for label, key in _pairs(outcome.present)
        if (label, key) not in known
    ]
    if rows:
        uow.execute(sa.insert(_owned), rows)


def _pairs(keys: Mapping[str, Sequence[uuid.UUID]]) -> list[tuple[str, uuid.UUID]]:
    return [(label, key) for label, some in keys.items() for key in some]
