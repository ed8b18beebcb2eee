"""Facets beside a list: values of choices and references with counts, each a link that adds or removes the filter."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.labels import label_with_unit
from netinv_core.presentation import NAME_IN_CONTEXT
from netinv_core.read.filters import NULL
from netinv_core.read.listing import filter_errors_as_400
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.lookups import convert
from netinv_core.sql.plan import ReadPlan, Row, fetch_together
from netinv_web.extensions import call_of_extension, extensions_of
from netinv_web.failures import log_failure
from netinv_web.lists import facet_counts
from netinv_web.lists.columns import default_columns, presentation_of
from netinv_web.lists.list_query import ListQuery

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, RowSet
    from netinv_core.uow import UnitOfWork

PARAMETER = "_facets"  # ``1`` shows the facets, the name of one shows more of its values
MAX_FACETS = 6
MAX_ROWS = 50_000  # of a list whose facets are counted unasked
TOP, MORE = 10, 100  # values


@dataclasses.dataclass(frozen=True)
class FacetValue:
    """A value of a facet. ``path`` is the list with or without the filter; empty for a value that has no filter."""

    label: str
    count: int
    path: str
    selected: bool


@dataclasses.dataclass(frozen=True)
class Facet:
    """A field with its most frequent values; ``more`` is the path of the list with more of them, if there are."""

    label: str
    values: Sequence[FacetValue]
    more: str = ""


@cached_in_registry
def facet_names(endpoint: Endpoint) -> tuple[str, ...]:
    """The fields of a resource's facets: those of its presentation, or choices and references among its columns."""
    stated = [name for name in presentation_of(endpoint).facets if facet_counts.is_facet(endpoint, name)]
    if stated:
        return tuple(stated[:MAX_FACETS])
    derived = [name for name in default_columns(endpoint) if facet_counts.is_facet(endpoint, name)]
    derived.sort(key=lambda name: not isinstance(endpoint.fields[name], fields.Status | fields.Choice))
    return tuple(derived[:MAX_FACETS])


def facets_of(
    request: Request,
    endpoint: Endpoint,
    query: ListQuery,
    conditions: facet_counts.Conditions,
    within: Sequence[Any] = (),
) -> list[Facet]:
    """The facets of a list: those of its fields take one statement for the counts, and one for the names of references;
    those of packages follow.
    """
    uow = request.uow
    expanded = query.values(PARAMETER)
    limits = {name: (MORE if name in expanded else TOP) + 1 for name in facet_names(endpoint)}
    counts = facet_counts.counts(uow, endpoint, limits, conditions, within)
    kept = {name: pairs[: limits[name] - 1] for name, pairs in counts.items()}
    targets = _targets(uow, endpoint, kept)
    shown = []
    for name, pairs in kept.items():
        values = [_value(endpoint, query, name, value, count, targets) for value, count in pairs]
        has_more = len(counts[name]) == limits[name] and name not in expanded
        more = query.with_values(PARAMETER, [name]).url if has_more else ""
        if len(values) > 1 or any(value.selected for value in values):
            shown.append(Facet(label_with_unit(endpoint.fields[name]), values, more))
    return shown + _of_packages(request, endpoint, query, conditions, within)


def has_facets(request: Request, endpoint: Endpoint) -> bool:
    """True for a list with facets."""
    return bool(facet_names(endpoint)) or any(_facets_of_list(request, endpoint))


def _facets_of_list(request: Request, endpoint: Endpoint) -> Iterator[facet_counts.ListFacet]:
    """The facets of packages that the list has."""
    for facet in extensions_of(endpoint.registry.hooks.netinv_web_facets, endpoint, registry=endpoint.registry):
        try:
            if call_of_extension(request, facet, "applies", functools.partial(_applies, facet, endpoint)):
                yield facet
        except Exception:
            log_failure(request.registry.netinv, "the facet %r failed on %s", facet.name, request.path)


def _applies(facet: facet_counts.ListFacet, endpoint: Endpoint, request: Request) -> bool:
    return facet.applies(request, endpoint)


def _of_packages(
    request: Request,
    endpoint: Endpoint,
    query: ListQuery,
    conditions: facet_counts.Conditions,
    within: Sequence[Any],
) -> list[Facet]:
    """The facets of packages that have values. One that fails is left out, which is logged."""
    shown = []
    for facet in _facets_of_list(request, endpoint):
        counted = facet_counts.counted_conditions(request.uow, endpoint, facet.name, conditions, within)
        try:
            with filter_errors_as_400():
                pairs = call_of_extension(
                    request, facet, "counts", functools.partial(_counts, facet, endpoint, counted)
                )
        except Invalid:  # a condition of the list that the database cannot evaluate
            raise
        except Exception:
            log_failure(request.registry.netinv, "the facet %r failed on %s", facet.name, request.path)
            continue
        current = query.values(facet.name)
        values = [_package_value(query, facet.name, value, count, current) for value, count in pairs]
        if values:
            shown.append(Facet(facet.label, values))
    return shown


def _counts(
    facet: facet_counts.ListFacet, endpoint: Endpoint, conditions: Sequence[Any], request: Request
) -> list[tuple[str, int]]:
    """The values of a facet of a package with their numbers.

    :raises TypeError: for anything else
    """
    return [(str(value), int(count)) for value, count in facet.counts(request, endpoint, conditions)]


def _package_value(query: ListQuery, name: str, value: str, count: int, current: Sequence[str]) -> FacetValue:
    """A value of a facet of a package, which the list takes away or adds."""
    values = [other for other in current if other != value] if value in current else [*current, value]
    return FacetValue(value, count, query.with_values(name, values).url, value in current)


@cached_in_registry
def _plan(endpoint: Endpoint, natural: str, name: str) -> ReadPlan:
    """The plan that reads the name of objects, and their value in queries."""

    def build(plan: ReadPlan, place: JoinedTable) -> Any:
        display, value = plan.read(place, name), plan.column(place, natural)

        def read(row: Row, page: RowSet) -> tuple[str, str]:
            return str(display(row, page) or row[value]), str(row[value])

        return read

    return ReadPlan(endpoint.registry, endpoint).finish_with(build)


def _targets(
    uow: UnitOfWork, endpoint: Endpoint, counts: Mapping[str, facet_counts.Counts]
) -> dict[tuple[str, str], tuple[str, str]]:
    """Name and value in queries of the objects that references lead to, by field and id.

    As in cells, they are shown to everybody who may view the list's objects; the names in context to those who may view
    all objects of the target.
    """
    requests: list[tuple[ReadPlan, list[Any]]] = []
    names: list[str] = []
    for name, pairs in counts.items():
        field = endpoint.fields[name]
        target = field.target if isinstance(field, fields.Reference) else None
        if target is not None:
            keys = [convert(target.table.c.id, value) for value, _ in pairs if value is not None]
            shown = "display" if permissions.visible(uow, target, target.table) else NAME_IN_CONTEXT
            requests.append((_plan(target, _query_column(endpoint, name, target), shown), keys))
            names.append(name)
    results = fetch_together(uow, requests) if requests else []
    pairs_of: Any = zip(names, results, strict=True)
    return {(name, str(key)): pair for name, rows in pairs_of for key, pair in rows}


def _query_column(endpoint: Endpoint, name: str, target: Endpoint) -> str:
    """The column of the target by which queries name it: a unique name such as the slug, or the id."""
    relation = endpoint.filters[name].relation
    assert relation is not None  # as is_facet says
    unique = [column for column in relation.name_columns(target) if target.table.c[column].unique or not relation.ids]
    return unique[0] if unique else "id"


def _value(
    endpoint: Endpoint,
    query: ListQuery,
    name: str,
    value: str | None,
    count: int,
    targets: Mapping[tuple[str, str], tuple[str, str]],
) -> FacetValue:
    item, current = endpoint.filters[name], query.values(name)
    if item.choices is not None:
        labels = {str(choice): label for choice, label in item.choices.items}
        label, term = (labels.get(value, value), value) if value else ("Empty", "")
    elif value is None:
        label, term = "Empty", NULL
    else:
        label, term = targets.get((name, value), (value, value))
    same = {term, value} - {None, ""}
    selected = any(other in same for other in current)
    if selected:
        path = query.with_values(name, [other for other in current if other not in same]).url
    elif term:
        path = query.with_values(name, [term] if item.is_single("") else [*current, term]).url
    else:
        path = ""
    return FacetValue(label, count, path, selected)
