"""The list of a resource as a page: rows of cells, made by one plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request

from netinv_core.errors import Invalid, error_text
from netinv_core.http import versions
from netinv_core.read import listing, ordering
from netinv_core.read.listing import Slice
from netinv_core.read.parameters import look_up_names, parse_parameters
from netinv_web import frame, marks
from netinv_web.extensions import Export, actions_of, items_for
from netinv_web.lists import editing, facets, filter_text, saved_views, view_pages
from netinv_web.lists.column_choice import PARAMETER as COLUMNS
from netinv_web.lists.column_choice import chosen_columns, may_set_default, offered_columns
from netinv_web.lists.columns import Column, columns_of, presentation_of
from netinv_web.lists.empty import sentence_of
from netinv_web.lists.filter_bar import chips_of
from netinv_web.lists.filter_form import form_of, groups_of, submitted_query
from netinv_web.lists.list_query import ListQuery, query_of
from netinv_web.lists.nesting import MAX_NESTED, arrange, nests
from netinv_web.lists.queues import queues_of
from netinv_web.lists.rows import (
    ListRow,
    nested_rows,
    row_links,
    rows_of,
    uniform_values,
    without_uniform_columns,
)
from netinv_web.lists.selection import LIST, QUERY, selection_actions
from netinv_web.lists.sorting import sorting_of
from netinv_web.menu import may
from netinv_web.pages import fragment, query_text, see_other
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

TEMPLATE = "netinv_web:templates/list.jinja2"
MAX_DIGITS = 9  # of a number in the query; Python refuses to convert thousands of them
PAGE_SIZES = (25, 50, 100, 250, 500, 1000)
PART = "netinv_web:templates/list_part.jinja2"
FACETS = "netinv_web:templates/facets.jinja2"
NEWEST_VERSION = f"api_version={versions.NEWEST}"


@dataclasses.dataclass(frozen=True)
class Pages:
    """The pages of a list: the current one, its size, and how many objects there are in all."""

    number: int
    size: int
    count: int

    @property
    def last(self) -> int:
        """The number of the last page."""
        return max(1, -(-self.count // self.size))

    @property
    def first_row(self) -> int:
        """The number of the first row of the page, from 1; 0 on an empty page."""
        return min((self.number - 1) * self.size + 1, self.count)

    @property
    def last_row(self) -> int:
        """The number of the last row of the page."""
        return min(self.number * self.size, self.count)

    @property
    def numbers(self) -> list[int]:
        """The numbers of pages to link: the first, the last, and those around the current one. 0 marks a gap."""
        near = {1, self.last, *range(self.number - 2, self.number + 3)}
        numbers: list[int] = []
        for number in sorted(item for item in near if 1 <= item <= self.last):
            if numbers and number > numbers[-1] + 1:
                numbers.append(0)
            numbers.append(number)
        return numbers


@dataclasses.dataclass(frozen=True)
class Matches:
    """The objects that a query matches: their ``count``, and the ids of the page.

    ``conditions`` are those of each valid filter, by parameter. ``errors`` are messages by parameter; what has an error
    is left out of the query. ``error`` is a message about the whole, with which there are no objects.
    """

    count: int
    keys: Sequence[Any]
    conditions: Mapping[str, Sequence[Any]]
    errors: Mapping[str, str]
    error: str = ""


def conditions_of(
    uow: UnitOfWork, endpoint: Endpoint, query: ListQuery
) -> tuple[dict[str, Sequence[Any]], dict[str, str]]:
    """The conditions of the filters, and the messages of invalid ones, by parameter.

    Each is parsed by itself, so that an invalid filter spares the others.
    """
    look_up_names(uow, endpoint, query.filters)
    conditions: dict[str, Sequence[Any]] = {}
    errors: dict[str, str] = {}
    for parameter in query.filters:
        try:
            conditions[parameter[0]] = parse_parameters(uow, endpoint, endpoint.table, [parameter], strict=True)
        except Invalid as invalid:
            errors[parameter[0]] = _message(invalid, parameter[0])
    return conditions, errors


def matches_of(
    uow: UnitOfWork, endpoint: Endpoint, query: ListQuery, window: Slice, within: Sequence[Any] = ()
) -> Matches:
    """The objects that a query matches."""
    conditions, errors = conditions_of(uow, endpoint, query)
    limits = [*within, *(condition for group in conditions.values() for condition in group)]
    orders = [(ordering.PARAMETER, names)] if (names := query.values(ordering.PARAMETER)) else []
    while True:
        try:
            count, keys = listing.ids(uow, endpoint, orders, window, within=limits)
            return Matches(count, keys, conditions, errors)
        except Invalid as invalid:
            if not orders or ordering.PARAMETER not in invalid.body:
                return Matches(0, [], conditions, errors, error_text(invalid.body))
            errors[ordering.PARAMETER], orders = _message(invalid, ordering.PARAMETER), []


def _matches(
    uow: UnitOfWork, endpoint: Endpoint, query: ListQuery, window: Slice, within: Sequence[Any], *, nested: bool
) -> tuple[Matches, dict[Any, int]]:
    """The objects of a page, and their depths where rows are below others. Long and sorted lists are flat."""
    if nested and nests(endpoint) and not query.values(ordering.PARAMETER):
        matches = matches_of(uow, endpoint, query, Slice(MAX_NESTED, 0), within)
        if matches.count <= MAX_NESTED:
            conditions = [*within, *(condition for group in matches.conditions.values() for condition in group)]
            part = arrange(uow, endpoint, matches.keys, conditions)[window.offset : window.offset + window.limit]
            return dataclasses.replace(matches, keys=[key for key, _ in part]), dict(part)
    return matches_of(uow, endpoint, query, window, within), {}


def _message(invalid: Invalid, parameter: str) -> str:
    body = invalid.body
    return error_text(body[parameter] if isinstance(body, Mapping) and parameter in body else body)


def show(request: Request) -> Any:
    """The page of a list, or the part that ``_part`` names. What a form of the filter bar has sent leads to the list
    with that filter.
    """
    endpoint: Endpoint = request.context.endpoint
    query = query_of(request)
    following = submitted_query(request, endpoint, query)
    if following is not None:
        return see_other(following.url)
    part = query_text(request, "_part")
    if part == "facets":
        return fragment(request, FACETS, {"facets": facets_at(request, endpoint, query)})
    views = saved_views.views_of(request.uow, endpoint)
    default = saved_views.default_of(views, request.uow.identity.user_id)
    if default and not request.uow.query:
        return see_other(f"{query.path}?{default}")
    values = page_values(request, endpoint, dataclasses.replace(query, has_default_view=bool(default)))
    values["views"] = view_pages.menu_of(request, views, values["query"])
    return fragment(request, PART, values) if part == "list" else values


def facets_at(request: Request, endpoint: Endpoint, query: ListQuery) -> list[facets.Facet]:
    """The facets of a query; none when the database cannot evaluate its filters."""
    conditions, _ = conditions_of(request.uow, endpoint, query)
    try:
        return facets.facets_of(request, endpoint, query, conditions)
    except Invalid:
        return []


def page_values(request: Request, endpoint: Endpoint, query: ListQuery) -> dict[str, Any]:
    """The values of the template of a list's page."""
    uow, writes = request.uow, endpoint.resource.writes
    values = results(request, endpoint, query=query)
    has_facets = facets.has_facets(request, endpoint)
    wanted = bool(has_facets and query.values(facets.PARAMETER) and not values["error"])
    selection = selection_actions(request, endpoint, query)
    return values | {
        "endpoint": endpoint,
        "path": page_path(endpoint),
        "may_add": "add" in writes and may(uow, endpoint, "add"),
        "described": "" if values["rows"] else sentence_of(endpoint),
        "has_facets": has_facets and values["pages"].count > 0,
        "facets": facets.facets_of(request, endpoint, query, values["conditions"]) if wanted else None,
        "queues": queues_of(uow, endpoint, query) if presentation_of(endpoint).queues else (),
        "facets_query": query.with_values(facets.PARAMETER, ["1"]),
        "selection": selection,
        "list_actions": actions_of(request, endpoint, LIST, query),
        "query_actions": actions_of(request, endpoint, QUERY, query),
        "may_share": view_pages.may_share(request),
        "may_set_default": may_set_default(request),
        "facets_unasked": values["pages"].count <= facets.MAX_ROWS,
    }


def results(
    request: Request,
    endpoint: Endpoint,
    within: Sequence[Any] = (),
    query: ListQuery | None = None,
    left_out: Sequence[str] = (),
    tab: bool = False,
) -> dict[str, Any]:
    """The values of the template for a list at the request's path: filters, columns, rows, pages.

    :param within: further conditions on the endpoint's table
    :param query: by default that of the request
    :param left_out: names of columns that are not shown
    :param tab: rows are below others, and columns that tell nothing about single rows are left out unless the URL
        names them
    """
    uow, query = request.uow, query or query_of(request)
    number, size = page_of(request)
    columns = columns_of(uow, endpoint, [name for name in chosen_columns(request, endpoint) if name not in left_out])
    window = Slice(size, (number - 1) * size)
    matches, depths = _matches(uow, endpoint, query, window, within, nested=tab)
    rows, chosen = _rows(request, endpoint, columns, matches.keys, left_out, number), columns
    uniform = list[tuple[str, str]]()
    if tab and rows and not uow.query.get(COLUMNS):
        uniform = uniform_values(columns, rows)
        columns, rows = without_uniform_columns(columns, rows)
    return {
        "listed": endpoint,
        "query": query,
        "conditions": matches.conditions,
        "columns": columns,
        **{"uniform": uniform, "rows": nested_rows(rows, depths), "listed_path": page_path(endpoint), "back": ""},
        "row_links": row_links(uow, endpoint),
        "inline": editing.inline_controls(uow, endpoint, columns),
        "pages": Pages(number, size, matches.count),
        "errors": [matches.errors[ordering.PARAMETER]] if ordering.PARAMETER in matches.errors else [],
        "all_valid": not matches.errors,
        "error": matches.error,
        "sorting": sorting_of(endpoint, query),
        "chips": chips_of(uow, endpoint, query, matches.errors),
        "filter_groups": groups_of(uow, endpoint),
        "filter_form": form_of(request, endpoint, query),
        "filter_text": filter_text.write_text(query.filters),
        "searchable": filter_text.SEARCH in endpoint.filters,
        "search": " ".join(query.values(filter_text.SEARCH)),
        "offered_columns": offered_columns(request, endpoint, query, chosen),
        "exports": exports_of(request, endpoint, query),
        "api_path": api_query(endpoint, query).url,
        "page_sizes": PAGE_SIZES,
    }


def _rows(
    request: Request,
    endpoint: Endpoint,
    columns: Sequence[Column],
    keys: Sequence[Any],
    left_out: Sequence[str],
    number: int,
) -> list[ListRow]:
    """The rows of a page, with their marks where the request has any."""
    rows = rows_of(request.uow, endpoint, columns, keys, left_out)
    if not hasattr(request, marks.ATTRIBUTE):
        return rows
    return marks.marked_rows(request, endpoint, rows, first=number == 1)


def matching_rows(
    request: Request, endpoint: Endpoint, within: Sequence[Any], most: int, left_out: Sequence[str] = ()
) -> list[ListRow]:
    """The first rows of the request's list that meet further conditions, in the columns that the list has."""
    columns = columns_of(
        request.uow, endpoint, [name for name in chosen_columns(request, endpoint) if name not in left_out]
    )
    matches = matches_of(request.uow, endpoint, query_of(request), Slice(most, 0), within)
    return rows_of(request.uow, endpoint, columns, matches.keys, left_out)


def api_query(endpoint: Endpoint, query: ListQuery) -> ListQuery:
    """The list of the API with the filters and the order of a page."""
    kept = dataclasses.replace(query.with_filters(query.filters), path=endpoint.path, has_default_view=False)
    return kept.without(*(name for name, _ in kept.pairs if name.startswith("_") or name == "per_page"))


def exports_of(request: Request, endpoint: Endpoint, query: ListQuery) -> list[tuple[str, str]]:
    """Titles and paths of the list's files with the current filters and order: those of the API, in the version that
    imports read, and those of packages. The path is empty where a package failed.
    """
    base = api_query(endpoint, query).base
    of_packages = items_for(request, "netinv_web_exports", Export, Export, endpoint=endpoint)
    return [
        ("CSV", f"{base}format=csv"),
        ("Excel", f"{base}format=xlsx"),
        ("YAML", f"{base}format=yaml&{NEWEST_VERSION}"),
        ("JSON", f"{base}limit=0&{NEWEST_VERSION}"),
        *((item.title, f"{base}{urlencode(item.parameters)}" if item.parameters else "") for item in of_packages),
    ]


def page_of(request: Request, default_size: int | None = None) -> tuple[int, int]:
    """The number of the page, and its size in rows: by default ``default_size``, or the user's preference."""
    uow = request.uow
    number = _positive(uow.query, "page", 1)
    size = _positive(uow.query, "per_page", default_size or frame.of(request).preferences.per_page)
    return number, min(size, uow.registry.settings["max_page_size"] or size)


def _positive(query: dict[str, list[str]], name: str, default: int) -> int:
    text = query.get(name, [""])[-1]
    is_number = text.isascii() and text.isdecimal() and len(text.lstrip("0")) <= MAX_DIGITS
    return int(text.lstrip("0") or 0) or default if is_number else default
