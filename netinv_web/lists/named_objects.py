"""Names of the objects that filters name, by id or by a natural key such as a slug; one statement for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.auth import permissions
from netinv_core.presentation import NAME_IN_CONTEXT
from netinv_core.read import filters
from netinv_core.read.filter_words import Names
from netinv_core.read.filters import NULL
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.lookups import convert
from netinv_core.sql.plan import ReadPlan, Row, fetch_together

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter, RelatedFilter
    from netinv_core.sql.plan import JoinedTable, RowSet
    from netinv_core.uow import UnitOfWork


@cached_in_registry
def _plan(endpoint: Endpoint, attribute: str) -> ReadPlan:
    """The plan that reads the names of objects by a column."""

    def build(plan: ReadPlan, place: JoinedTable) -> Any:
        name, key = plan.read(place, NAME_IN_CONTEXT), plan.column(place, "id")

        def read(row: Row, page: RowSet) -> str:
            return str(name(row, page) or row[key])

        return read

    return ReadPlan(endpoint.registry, endpoint, key=endpoint.table.c[attribute]).finish_with(build)


def target_of(endpoint: Endpoint, item: Filter) -> Endpoint | None:
    """The endpoint of the objects that a filter's values name; ``None`` for other filters."""
    return filters.target_of(endpoint, item.relation.steps) if item.relation is not None else None


def names_of(uow: UnitOfWork, used: Sequence[tuple[Endpoint, Filter, Sequence[str]]]) -> Names:
    """The names by label of the model and value, for filters of lists and their values; one statement for all.

    Values of objects that the user may not view have none.
    """
    sought: dict[tuple[Endpoint, str], dict[Any, set[str]]] = {}  # texts by key of each column, a part of a UNION ALL
    public: set[str] = set()
    for endpoint, item, values in used:
        target = endpoint if item.name == "id" else target_of(endpoint, item)
        if target is None:
            continue
        public |= {target.label} if item.relation is not None and item.relation.public else set()
        for attribute in _attributes(item.relation, target):
            for key, text in _keys(target, attribute, values).items():
                sought.setdefault((target, attribute), {}).setdefault(key, set()).add(text)

    def visible(target: Endpoint, table: Any) -> Sequence[Any]:
        return () if target.label in public else permissions.visible(uow, target, table)

    requests = [(_plan(target, attribute), list(keys)) for (target, attribute), keys in sought.items()]
    results = fetch_together(uow, requests, visible) if requests else []
    return {
        (target.label, text): str(name)
        for ((target, _), texts), rows in zip(sought.items(), results, strict=True)
        for key, name in rows
        for text in texts.get(key, ())
    }


def _attributes(relation: RelatedFilter | None, target: Endpoint) -> list[str]:
    if relation is None:
        return ["id"]
    return [*(["id"] if relation.ids else []), *relation.name_columns(target)]


def _keys(target: Endpoint, attribute: str, values: Sequence[str]) -> dict[Any, str]:
    """The values as those of a column, each with its text; those that the column cannot have are left out."""
    keys: dict[Any, str] = {}
    for value in values:
        if value == NULL or "\x00" in value:
            continue
        try:
            keys[convert(target.table.c[attribute], value)] = value
        except ValueError:
            continue
    return keys
