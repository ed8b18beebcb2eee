"""Query parameters for relationships: ``cr_<slug>__<side>`` finds the objects that are associated with one of those named by id."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from netinv_core.context import Context
from netinv_core.read.filters import Condition, Filter
from netinv_core.read.names import Names, ids_of
from netinv_core.registry import Endpoint
from netinv_extras.relationship_members import Side, sides_of, step_of

PREFIX = "cr_"


def parameters(context: Context, endpoint: Endpoint) -> dict[str, Filter]:
    """The parameters of an endpoint, found once for a version of the configuration; what is hidden from its objects does not find them."""

    def make(context: Context) -> dict[str, Filter]:
        shown = (side for side in sides_of(context, endpoint.label) if not side.hidden)
        return {name: _parameter(name, side) for side in shown if (name := f"{PREFIX}{side.slug}__{side.name}")}

    made: dict[str, Filter] = context.configured(("relationship filters", endpoint.label), make)
    return made


def _parameter(name: str, side: Side) -> Filter:
    def apply(context: Context, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        others = context.registry.get(side.others)
        if others is None:
            return sa.false()
        (ids,) = ids_of(context, Names(name, others, tuple(values)))
        return step_of(context.registry, side).reach(table, ids)

    return Filter(name, apply)
