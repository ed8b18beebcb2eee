"""Feature ``statuses``: states of objects, which other packages need."""

from __future__ import annotations

from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuSection
from netinv_core.types import UnitOfWork
from netinv_extras import statuses

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
