"""The version of the configuration: a number in the database, which every write of configuration increments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from netinv_core.auth.models import ConfigurationVersion
from netinv_core.db.engine import lock_rows
from netinv_core.models.base import table_of

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

CONFIGURATION_VERSION = (
    sa.select(table_of(ConfigurationVersion).c.number).where(table_of(ConfigurationVersion).c.id == 1).scalar_subquery()
)


def lock_configuration(uow: UnitOfWork) -> None:
    """Locks the row of the configuration version until the transaction ends, for rules over the whole configuration."""
    table = table_of(ConfigurationVersion)
    uow.execute(lock_rows(sa.select(table.c.number).where(table.c.id == 1)))


def configuration_changed(uow: UnitOfWork) -> None:
    """Increments the configuration version: other processes drop their cache at the next authentication, this unit at
    once.
    """
    table = table_of(ConfigurationVersion)
    uow.execute(sa.update(table).where(table.c.id == 1).values(number=table.c.number + 1))
    uow.configuration.cached = None
