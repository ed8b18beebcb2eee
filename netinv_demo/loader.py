"""Writer of the demo inventory: batches of new and changed objects through the write path of the API."""

from __future__ import annotations

import collections
import dataclasses
import random
import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.write import save

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

Body = dict[str, Any]
BATCH = 500  # objects of one INSERT, and of the rules that precede it


@dataclasses.dataclass
class DemoLoader:
    """Writes objects in batches.

    All writes are made in the transaction of ``uow``, which the caller commits.

    :ivar random: the only source of chance, so that a seed always gives the same inventory
    :ivar counts: number of created objects by label
    """

    uow: UnitOfWork
    random: random.Random
    counts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def create(self, label: str, bodies: Iterable[Body], *, batch: int = BATCH) -> list[str]:
        """Creates objects of a model; returns their ids in order."""
        endpoint, rows, ids = self.uow.registry[label], list(bodies), []
        for start in range(0, len(rows), batch):
            created = save.create(self.uow, endpoint, rows[start : start + batch])
            ids += [str(item["id"]) for item in created]
        self.counts[label] += len(ids)
        return ids

    def create_named(self, label: str, bodies: Sequence[Body], *, key: str = "name") -> dict[str, str]:
        """Creates the objects that do not exist yet; returns the ids of all of them by the unique field ``key``."""
        ids = self.find_existing(label, key, [body[key] for body in bodies])
        missing = [body for body in bodies if body[key] not in ids]
        return ids | dict(zip((body[key] for body in missing), self.create(label, missing), strict=True))

    def update(self, label: str, bodies: Iterable[Body], *, batch: int = BATCH) -> None:
        """Changes objects of a model; each body has an ``id`` and the fields to set."""
        endpoint, rows = self.uow.registry[label], list(bodies)
        for start in range(0, len(rows), batch):
            save.update(self.uow, endpoint, rows[start : start + batch], partial=True)

    def find_existing(self, label: str, key: str, values: list[str]) -> dict[str, str]:
        """Returns the ids of the objects with these values in the column ``key``, by value."""
        table = self.uow.registry[label].table
        statement = sa.select(table.c[key], table.c.id).where(table.c[key].in_(values))
        return {value: str(object_id) for value, object_id in self.uow.execute(statement)}

    def components(self, label: str, devices: Iterable[str]) -> dict[tuple[str, str], str]:
        """Returns the ids of the components of one kind that devices have, by device and name."""
        table = self.uow.registry[label].table
        statement = sa.select(table.c.device_id, table.c.name, table.c.id).where(in_parameter(table.c.device_id))
        rows = self.uow.execute(statement, {"keys": [uuid.UUID(key) for key in devices]})
        return {(str(device), name): str(key) for device, name, key in rows}
