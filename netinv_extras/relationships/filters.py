"""Query parameters for relationships: ``cr_<slug>__<side>`` finds the objects that are associated with one of those named by id."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from netinv_core.endpoint import Endpoint
from netinv_core.read.filters import Condition, Filter
from netinv_core.read.name_lookup import NameQuery, ids_of
from netinv_core.uow import UnitOfWork
from netinv_extras.relationships.field import Side, sides_of, step_of

PREFIX = "cr_"


def parameters(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Filter]:
    """The parameters of an endpoint, found once for a version of the configuration; what is hidden from its objects does not find them."""

    def make(uow: UnitOfWork) -> dict[str, Filter]:
        shown = (side for side in sides_of(uow, endpoint.label) if not side.hidden)
        return {name: _parameter(name, side) for side in shown if (name := f"{PREFIX}{side.slug}__{side.name}")}

    made: dict[str, Filter] = uow.cached_config(("relationship filters", endpoint.label), make)
    return made


def _parameter(name: str, side: Side) -> Filter:
    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        others = uow.registry.get(side.others)
        if others is None:
            return sa.false()
        (ids,) = ids_of(uow, NameQuery(name, others, tuple(values)))
        return step_of(uow.registry, side).reach(table, ids)

    return Filter(name, apply)
