"""Queues of a list: the parts of it that people work through, as links above it with their numbers of objects."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.read.parameters import parse_parameters
from netinv_web.lists.columns import presentation_of
from netinv_web.lists.list_query import ListQuery
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass(frozen=True)
class Queue:
    """A part of a list: its title, path and number of objects."""

    title: str
    path: str
    count: int
    is_current: bool


def queues_of(uow: UnitOfWork, endpoint: Endpoint, query: ListQuery) -> Sequence[Queue]:
    """The queues of a list; one statement counts what the user may view of all of them, none without queues."""
    stated = presentation_of(endpoint).queues
    table = endpoint.table
    selects: list[Any] = []
    for number, (_, parameters) in enumerate(stated):
        pairs = [(name, [value]) for name, value in parameters.items()]
        conditions = parse_parameters(uow, endpoint, table, pairs, strict=True)
        position: Any = sa.literal_column(str(number))
        limits = permissions.visible(uow, endpoint, table)
        selects.append(sa.select(position, sa.func.count()).select_from(table).where(*conditions, *limits))
    counts = dict(uow.execute(sa.union_all(*selects)).tuples().all()) if selects else {}
    chosen = {name: values[-1] for name, values in query.filters}
    return [
        Queue(title, f"{page_path(endpoint)}?{urlencode(parameters)}", counts[number], chosen == dict(parameters))
        for number, (title, parameters) in enumerate(stated)
    ]
