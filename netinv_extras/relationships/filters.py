"""Query parameters for relationships: ``cr_<slug>__<side>=<id>`` selects objects associated with the object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.read.filters import Condition, Filter
from netinv_core.read.name_lookup import NameQuery, ids_of
from netinv_extras.relationships.sides import RelationshipSide, relation_of, sides_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

PREFIX = "cr_"


def parameters(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Filter]:
    """Returns the query parameters of an endpoint by name, cached per configuration version.

    Sides that are hidden from the endpoint's objects have none.
    """

    def make(uow: UnitOfWork) -> dict[str, Filter]:
        visible = [side for side in sides_of(uow, endpoint.label) if not side.hidden]
        return {name: _parameter(name, side) for side in visible if (name := f"{PREFIX}{side.slug}__{side.name}")}

    cached: dict[str, Filter] = uow.cached_config(("relationship filters", endpoint.label), make)
    return cached


def _parameter(name: str, side: RelationshipSide) -> Filter:
    """Returns the filter by ids of objects at the other end of a relationship."""

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        other_endpoint = uow.registry.get(side.other_type)
        if other_endpoint is None:
            return sa.false()
        (ids,) = ids_of(uow, NameQuery(name, other_endpoint, tuple(values)))
        return relation_of(uow.registry, side).reach(table, ids)

    return Filter(name, apply, listed=("",))
