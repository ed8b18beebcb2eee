"""States of schedules and job hooks on pages: when a schedule runs next, and why something cannot run."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from markupsafe import Markup, escape
from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_core.sql.plan import Row
from netinv_extras.jobs import hooks, schedules
from netinv_web.cells import CellReader
from netinv_web.lists.columns import ListColumn
from netinv_web.markup import EMPTY, time_markup

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet

CANNOT_RUN = "Cannot run: {}"
WAITS, OVER = "Waits for approval", "Over"


def schedule_state(obstacle: str | None, next_run: datetime.datetime | None, *, waits: bool) -> Markup:
    """The state of a schedule: its obstacle, that it waits, or the time of its next run.

    :param obstacle: as :func:`netinv_extras.jobs.schedules.obstacle` has it
    """
    if obstacle is not None:
        return escape(CANNOT_RUN.format(obstacle))
    if waits:
        return escape(WAITS)
    return escape(OVER) if next_run is None else time_markup(next_run)


def _schedule_cell(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of the cells with the state of a schedule."""
    reason = plan.expression(place, "obstacle", schedules.obstacle(place.table))
    waits = plan.expression(place, "waits", schedules.waits_for_approval(place.table))
    next_run = plan.column(place, "next_run")

    def read(row: Row, page: RowSet) -> Markup:
        return schedule_state(row[reason], row[next_run], waits=bool(row[waits]))

    return read


def _hook_cell(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of the cells with what keeps a job hook from starting its job."""
    reason = plan.expression(place, "obstacle", hooks.obstacle(place.table))

    def read(row: Row, page: RowSet) -> Markup:
        return EMPTY if row[reason] is None else escape(CANNOT_RUN.format(row[reason]))

    return read


def hook_panel(request: Request, endpoint: Endpoint, hook: Mapping[str, Any]) -> dict[str, str] | None:
    """The reason why a job hook cannot start its job; no panel where there is none."""
    table = endpoint.table
    reason = request.uow.execute(sa.select(hooks.obstacle(table)).where(table.c.id == hook["id"])).scalar()
    return None if reason is None else {"text": CANNOT_RUN.format(reason)}


COLUMNS = {
    schedules.LABEL: (ListColumn("state", "State", _schedule_cell, wraps=True),),
    hooks.HOOK_LABEL: (ListColumn("state", "State", _hook_cell, wraps=True),),
}


@hookimpl
def netinv_web_columns(endpoint: Endpoint) -> Sequence[ListColumn]:
    """The state of schedules and of job hooks."""
    return COLUMNS.get(endpoint.label, ())
