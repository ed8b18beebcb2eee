"""Search over all resources: objects that the text identifies, such as an address, then objects by name.

Recognisers come from packages (hook ``netinv_search``). They return conditions, and one UNION ALL selects the ids for
all of them. Ids and names are those of :mod:`netinv_search.stages`. If nothing is found so, a submitted
search applies the filter ``q``: to a bounded number of rows of each resource, to all of one with trigram indexes.
Everything is limited to what the user may view.
"""

from __future__ import annotations

import dataclasses
import logging
import re
import uuid
from collections.abc import Callable, Container, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.caches import lru_cache
from netinv_core.errors import Denied, Invalid, RequestError
from netinv_core.http.time_limits import call_in_time
from netinv_core.labels import capitalize
from netinv_core.packages import errors_of
from netinv_core.read import listing, pages, words
from netinv_core.read.recognisers import Match, SearchProvider
from netinv_core.read.shared_selects import OwnedSelect, rows_of_all
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.plan import fetch_together
from netinv_core.sql.plans import plan_of
from netinv_search import parts, stages
from netinv_search.stages import name_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
NOT_INSTALLED = "the recogniser %s of the package %s names %r, which is not installed"
MAX_TEXT_LENGTH = 200
MAX_LIMIT = 50
_IN = re.compile(r"in:(\S+)\s*(.*)", re.S)


@dataclasses.dataclass
class _Query:
    """A match, its endpoint and the name of its recogniser; then the rows ``(id, text)`` that were found.

    No list shows the objects with several ``words`` in different texts; a search within the resource does. The rows are
    ``exact`` when the text identifies them: not by a part of a name, and not as a fallback. The condition
    ``is_indexed`` when trigram indexes tell which rows meet it.
    """

    match: Match
    endpoint: Endpoint
    provider: str
    rows: list[tuple[Any, str | None]] = dataclasses.field(default_factory=list)
    table: Any = None
    exact: bool = False
    is_indexed: bool = False
    words: str = ""
    package: str = ""


@cached_in_registry
def providers_of(registry: Registry) -> list[tuple[str, SearchProvider]]:
    """Returns the recognisers of all packages, by priority, with the packages.

    :raises PackageError: when a package fails
    """
    providers: list[tuple[str, SearchProvider]] = []
    for package, contributed in registry.call_each("netinv_search", registry=registry):
        with errors_of(package):
            for provider in contributed:
                if not isinstance(provider, SearchProvider):
                    raise TypeError(f"netinv_search returns {type(provider).__name__} instead of SearchProvider")
                providers.append((package, provider))
    return sorted(providers, key=lambda item: (item[1].priority, item[1].name))


def run(request: Request, text: str, limit: int = 5, *, other_fields: bool = False) -> dict[str, Any]:
    """Returns groups of at most ``limit`` objects that the text identifies or that it names, most specific first.

    Recognisers of plugins that fail or take too long are left out.

    :param other_fields: if nothing is found so, search by the filter ``q`` of each resource, which is slow
    :raises Invalid: for a blank or too long text, or an unknown resource after ``in:``
    """
    uow, text = request.uow, text.strip()
    if not text or len(text) > MAX_TEXT_LENGTH or "\x00" in text:
        raise Invalid.field("q", f"Enter a text of 1 to {MAX_TEXT_LENGTH} characters.")
    within = _IN.fullmatch(text)
    if within is not None:
        return {"query": text, "groups": _in_resource(uow, within[1], within[2], limit)}
    queries = _with_id(uow, text) or _read_rows(uow, list(_recognise(request, text)), limit)
    queries += _search_names(uow, text, limit, only_beginnings=bool(queries))
    queries += _within(uow, text, limit, {query.endpoint.label for query in queries})
    if not queries and other_fields:
        queries = _by_other_fields(uow, text, limit)
    return {"query": text, "groups": _groups(uow, _without_fallbacks(queries), limit)}


def _recognise(request: Request, text: str) -> Iterator[_Query]:
    uow = request.uow
    for package, provider in providers_of(uow.registry):

        def matches_of(own: Request, provider: SearchProvider = provider) -> list[Match]:
            return list(provider.recognise(own.uow, text))

        try:
            matches = call_in_time(request, package, ("netinv_search", package, provider.name), matches_of)
        except (sa.exc.SQLAlchemyError, RequestError):
            raise
        except Exception as error:
            uow.registry.leave_out(package, error, f"the recogniser {provider.name}", uow)
            continue
        for match in matches:
            endpoint = uow.registry.get(match.label)
            if endpoint is not None:
                yield _Query(match, endpoint, provider.name, exact=not match.fallback, package=package)
            elif uow.registry.is_plugin(package):
                log.warning(NOT_INSTALLED, provider.name, package, match.label)


def _with_id(uow: UnitOfWork, text: str) -> list[_Query]:
    """Returns the object with an id as a query that has run; empty when the text is no UUID."""
    try:
        key = uuid.UUID(text)
    except ValueError:
        return []
    rows_by_label = stages.by_id(uow, key)
    queries = [_finished_query(uow, label, "id", rows, [("id", str(key))]) for label, rows in rows_by_label.items()]
    return [dataclasses.replace(query, exact=True) for query in queries]


def _search_names(uow: UnitOfWork, text: str, limit: int, *, only_beginnings: bool) -> list[_Query]:
    """Returns the objects with the text in their names as queries that have run.

    Names that are the text come first, then those that begin with it. Those that contain it are searched for unless
    there are ``limit`` objects already.
    """
    rows_by_label = stages.names_that_begin(uow, text, limit + 1)
    count = sum(len(rows) for rows in rows_by_label.values())
    if not only_beginnings and count < limit:
        for label, rows in stages.names_that_contain(uow, text, limit + 1).items():
            rows_by_label[label] = list(dict.fromkeys([*rows_by_label.get(label, ()), *rows]))[: limit + 1]
    folded = text.lower()
    queries = []
    for label, rows in rows_by_label.items():
        rows.sort(key=lambda row: _rank(row, folded))
        name = name_of(uow.registry[label])
        queries.append(_finished_query(uow, label, name.column if name else "", rows, text=text))
        queries[-1].words = text if any(folded not in (row[1] or "").lower() for row in rows) else ""
        queries[-1].exact = all(_rank(row, folded) == 0 for row in rows)
    return sorted(queries, key=lambda query: _rank(query.rows[0], folded))


def _within(uow: UnitOfWork, text: str, limit: int, without: Container[str]) -> list[_Query]:
    """Returns the objects with the words of a text in their names and in those of what they belong to, as queries that
    have run: ``router1 eth0``; none for a single word.
    """
    rows_by_label = parts.named_within(uow, text, limit + 1)
    return [
        dataclasses.replace(_finished_query(uow, label, name.column, rows, [("q", text)]), words=text)
        for label, rows in rows_by_label.items()
        if label not in without and (name := name_of(uow.registry[label])) is not None
    ]


def _rank(row: tuple[Any, str | None], folded: str) -> int:
    """0 for a name that is the text, 1 for one that begins with it, 2 for one that contains it."""
    name = (row[1] or "").lower()
    return 0 if name == folded else 1 if name.startswith(folded) else 2


def _finished_query(
    uow: UnitOfWork, label: str, field: str, rows: Any, parameters: Any = None, *, text: str = ""
) -> _Query:
    """A query that has run; the list of its resource shows the same objects by ``parameters`` or by the name."""
    endpoint = uow.registry[label]
    if parameters is None:
        lookups = endpoint.filters[field].lookups if field in endpoint.filters else ()
        parameters = [(f"{field}__ic", text)] if "ic" in lookups else [("q", text)]
    return _Query(
        Match(label, endpoint.plural, field, _always(None), parameters), endpoint, f"{field} of {label}", rows
    )


def _by_other_fields(uow: UnitOfWork, text: str, limit: int) -> list[_Query]:
    """Returns the objects that the filter ``q`` finds as queries that have run, in the order of the resources."""
    rows_by_label, labels = stages.texts_that_contain(uow, text, limit + 1)
    queries = [_finished_query(uow, label, "q", rows, [("q", text)]) for label, rows in rows_by_label.items()]
    queries += _read_rows(uow, list(_scan(uow, text, without=labels)), limit)
    order = {label: number for number, label in enumerate(uow.registry.endpoints)}
    return sorted(queries, key=lambda query: order[query.match.label])


def _scan(uow: UnitOfWork, text: str, without: Container[str]) -> Iterator[_Query]:
    """Yields matches by the filter ``q`` over the first rows of each resource but those ``without``."""
    indexed = stages.indexed_resources(uow, text)
    for endpoint in stages.searchable(uow.registry):
        item = endpoint.filters.get("q")
        if item is None or endpoint.resource.exempt_by_name_only or endpoint.label in without:
            continue
        table = _scanned_rows(endpoint.table, stages.SCANNED_FOR_TEXTS, is_indexed=endpoint in indexed)
        try:
            condition = item.apply(uow, endpoint, table, "", [text])
        except (ValueError, Invalid):
            continue
        match = Match(endpoint.label, endpoint.plural, "q", _always(condition), [("q", text)])
        yield _Query(match, endpoint, f"search of {endpoint.label}", table=table, is_indexed=endpoint in indexed)


@lru_cache("SQL statements", 2000)
def _scanned_rows(table: sa.Table, limit: int, *, is_indexed: bool) -> Any:
    """Alias of a table with an index, subquery of the first rows of another, which are kept: they have all columns."""
    alias = stages.kept_alias(table)
    return alias if is_indexed else sa.select(alias).limit(limit).subquery()


def _always(condition: Any) -> Callable[[Any], Any]:
    return lambda table: condition


def _read_rows(uow: UnitOfWork, queries: Sequence[_Query], limit: int) -> list[_Query]:
    """Returns the queries that have objects, with their rows; one UNION ALL, none without viewable resources."""
    parts: list[OwnedSelect] = []
    for number, query in enumerate(queries):
        table = query.endpoint.table if query.table is None else query.table
        try:
            limits = permissions.limits(uow, query.endpoint, "view", table)
            if limits and query.table is None:
                table = table.alias()  # the constraints may have subqueries on the table itself
                limits = permissions.limits(uow, query.endpoint, "view", table)
        except Denied:
            continue
        try:
            condition = sa.and_(sa.true(), query.match.condition(table))
        except Exception as error:
            uow.registry.leave_out(query.package, error, f"the recogniser {query.provider}", uow)
            continue
        conditions = [condition, *limits]
        value = table.c[query.match.field] if query.match.field in table.c else sa.null()
        rows = sa.select(table.c.id.label("id"), sa.cast(value, sa.Text()).label("value")).where(*conditions)
        order = query.match.order(table)
        if query.is_indexed:
            inner = stages.first_rows(rows, limit + 1).subquery()
        else:
            inner = (rows.order_by(*order) if order else rows).limit(limit + 1).subquery()
        number_of_part: Any = sa.literal_column(str(number)).label("part")
        parts.append((query.package, sa.select(number_of_part, inner.c.id, inner.c.value)))
    with listing.filter_errors_as_400():
        for part, key, value in rows_of_all(uow, parts, "a condition of a recogniser"):
            queries[part].rows.append((key, value))
    return [query for query in queries if query.rows]


def _without_fallbacks(queries: Sequence[_Query]) -> list[_Query]:
    answered = {query.provider for query in queries if not query.match.fallback}
    return [query for query in queries if not (query.match.fallback and query.provider in answered)]


def _groups(uow: UnitOfWork, queries: Sequence[_Query], limit: int) -> list[dict[str, Any]]:
    """Returns the groups with the brief representations, each object in its first group only."""
    labels = list(dict.fromkeys(query.endpoint.label for query in queries))
    keys: dict[str, list[Any]] = {label: [] for label in labels}
    for query in queries:
        keys[query.endpoint.label] += [key for key, _ in query.rows[:limit]]
    requests = [(plan_of(uow.registry[label], "brief"), list(dict.fromkeys(keys[label]))) for label in labels]
    found = {
        (label, key): item
        for label, items in zip(labels, fetch_together(uow, requests), strict=True)
        for key, item in items
    }
    groups, shown = [], set()
    for query in queries:
        label = query.endpoint.label
        rows = [
            (key, value) for key, value in query.rows[:limit] if (label, key) in found and (label, key) not in shown
        ]
        shown |= {(label, key) for key, _ in rows}
        results = [{**found[label, key], "match": {"field": query.match.field, "text": value}} for key, value in rows]
        if results:
            groups.append(_group(uow, query, results, limit))
    return groups


def _group(uow: UnitOfWork, query: _Query, results: list[Any], limit: int) -> dict[str, Any]:
    match, endpoint = query.match, query.endpoint
    path, parameters = f"{uow.base}{endpoint.path}", match.parameters or [("id", item["id"]) for item in results]
    if query.words:
        path, parameters = f"{uow.base}/api/search/", [("q", f"in:{endpoint.resource.name} {query.words}")]
    return {
        "title": capitalize(match.title),
        "resource": endpoint.label,
        "exact": query.exact,
        "url": f"{path}?{urlencode(parameters)}",
        "count_more": len(query.rows) > limit,
        "links": [{"title": title, "url": url} for title, url in match.links(results[0])],
        "results": results,
    }


def _in_resource(uow: UnitOfWork, name: str, text: str, limit: int) -> list[dict[str, Any]]:
    """Returns the group of one resource: the objects with each word in a text that its filter ``q`` compares, or in a
    part of their names in context.

    :raises Invalid: for an unknown resource, or one without search
    """
    folded = name.lower().replace("_", "-")
    endpoint = next((item for item in stages.searchable(uow.registry) if folded in _names_of(item)), None)
    if endpoint is None or "q" not in endpoint.filters or not _may_view(uow, endpoint):
        raise Invalid.field("q", f"There is no resource '{name}' to search in.")
    within = [words.condition(uow, endpoint, endpoint.table, text)] if text else []
    found = pages.page(uow, endpoint, [], listing.Slice(limit, 0, count=pages.NONE), within)
    match = Match(endpoint.label, endpoint.plural, "q", lambda table: None, [("q", text)] if text else [])
    query = _Query(match, endpoint, "in", [(key, None) for key in found.keys])
    query.words = text if len(words.words_of(text)) > 1 else ""
    groups = _groups(uow, [query], limit)
    return [{**group, "count_more": found.following is not None} for group in groups]


def _may_view(uow: UnitOfWork, endpoint: Endpoint) -> bool:
    try:
        permissions.check(uow, endpoint, "view")
    except Denied:
        return False
    return True


def _names_of(endpoint: Endpoint) -> set[str]:
    model = endpoint.label.partition(".")[2]
    return {endpoint.resource.name, endpoint.label, model, endpoint.title.lower().replace(" ", "-")}
