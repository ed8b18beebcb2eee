"""Feature ``statuses``: states of objects, which other packages need."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlalchemy.engine import Engine

from netinv_core.app import Feature
from netinv_core.findings import Finding
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuSection
from netinv_extras import statuses

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

feature = Feature(
    "statuses",
    "Statuses",
    [statuses.statuses],
    menu=[MenuSection("Customization", ["statuses"], icon="adjustments-horizontal", position=710)],
)


@hookimpl
def netinv_seed(uow: UnitOfWork) -> None:
    """Writes initial statuses."""
    statuses.seed(uow)


@hookimpl
def netinv_checks(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """Checks the statuses that models and packages need."""
    with engine.connect() as connection:
        return list(statuses.findings(connection, registry))
