"""Stages of the search that look into every resource: ids and names, each a cached UNION ALL with bound parameters.

Building a SELECT for each of ninety resources takes SQLAlchemy 100 ms and more. So the statement for the resources that
a user may view without constraints is kept by the registry; only those with constraints are built for the request, and
those with trigram indexes: PostgreSQL uses these only where it sees the text.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.caches import lru_cache
from netinv_core.db import folding, text_indexes
from netinv_core.db.engine import inlined_int
from netinv_core.db.expressions import contains
from netinv_core.driver import Driver
from netinv_core.errors import Denied
from netinv_core.read import indexed_texts, words
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql import lookups, relations
from netinv_core.sql.union import Union, kept_union

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

SCANNED_ROWS = 4000  # of each resource, for names that contain the text
SCANNED_FOR_TEXTS = 1000  # of each resource without trigram indexes, for texts of other columns
_TRIGRAM = re.compile(r"[^\W_]{3}")
SPELLINGS = 4  # of upper and lower case
Rows = list[tuple[Any, str | None]]
SelectOf = Callable[["Endpoint", Any], Any]


def searchable(registry: Registry) -> list[Endpoint]:
    """The resources whose rows fit into one UNION: those with UUIDs."""
    return [endpoint for endpoint in registry.endpoints.values() if endpoint.key_type is uuid.UUID]


@dataclasses.dataclass(frozen=True)
class SearchedName:
    """The column with the names of a resource's objects; ``indexed`` when an index begins with it."""

    column: str
    indexed: bool


@cached_in_registry
def name_of(endpoint: Endpoint) -> SearchedName | None:
    """The column by which objects are displayed, else ``name`` or ``label``; ``None`` without one, and for objects that
    are about others.
    """
    columns = endpoint.table.c
    names = [name for name in (endpoint.resource.display_path or "", "name", "label") if name in columns]
    name = names[0] if names else ""
    if endpoint.resource.about or not name or not words.is_text(columns[name]):
        return None
    unique = [item for item in endpoint.table.constraints if isinstance(item, sa.UniqueConstraint)]
    leading = {next(iter(item.columns)).name for item in (*endpoint.table.indexes, *unique)}
    return SearchedName(name, name in leading)


def by_id(uow: UnitOfWork, key: uuid.UUID) -> dict[str, Rows]:
    """Returns the object with an id, by the label of its resource."""

    def select(endpoint: Endpoint, table: Any) -> Any:
        return sa.select(table.c.id, sa.cast(sa.null(), sa.Text()).label("value")).where(
            table.c.id == sa.bindparam("search_key", type_=table.c.id.type)
        )

    return _union(uow, "search by id", searchable(uow.registry), select, {"search_key": key})


def names_that_begin(uow: UnitOfWork, text: str, limit: int) -> dict[str, Rows]:
    """Returns the objects whose names begin with a text, in the usual spellings, by the labels of their resources.

    Names without an index of their own are left to :func:`names_that_contain`, which finds them among the first rows.
    """
    resources = [endpoint for endpoint, name in searched_names(uow.registry) if name.indexed]
    columns = {endpoint.label: name.column for endpoint, name in searched_names(uow.registry)}
    parameters: dict[str, Any] = {"search_limit": limit}
    for number, spelling in enumerate(_spellings(text)):
        parameters |= {f"low{number}": spelling, f"high{number}": spelling + lookups.LAST_CHARACTER}

    def select(endpoint: Endpoint, table: Any) -> Any:
        column = table.c[columns[endpoint.label]]
        ranges = [
            column.between(sa.bindparam(f"low{number}"), sa.bindparam(f"high{number}")) for number in range(SPELLINGS)
        ]
        return _limit(sa.select(table.c.id, column.label("value")).where(sa.or_(*ranges)))

    return _union(uow, "search names that begin", resources, select, parameters)


def names_that_contain(uow: UnitOfWork, text: str, limit: int) -> dict[str, Rows]:
    """Returns the objects whose names contain the words of a text in any order, whatever their case and accents: among
    the first :data:`SCANNED_ROWS` of each resource; and the text as it is, among all of one with a trigram index.
    """
    driver = uow.registry.driver
    columns = {endpoint.label: name.column for endpoint, name in searched_names(uow.registry)}
    patterns = pattern_parameters(driver, text)

    def select(endpoint: Endpoint, table: Any) -> Any:
        column = table.c[columns[endpoint.label]]
        rows = sa.select(table.c.id, column.label("value")).limit(sa.literal_column(str(SCANNED_ROWS)))
        scanned = rows.subquery()
        conditions = [folding.contains(scanned.c.value, sa.bindparam(name)) for name in patterns]
        return _limit(sa.select(scanned.c.id, scanned.c.value).where(*conditions))

    def select_indexed(endpoint: Endpoint, table: Any) -> Any:
        column = table.c[columns[endpoint.label]]
        rows = sa.select(table.c.id, column.label("value")).where(lookups.compare("icontains", driver, column, text))
        return first_rows(rows, inlined_int("search_limit", limit))

    resources = [endpoint for endpoint, _ in searched_names(uow.registry)]
    indexed = [item for item in indexed_resources(uow, text) if columns.get(item.label) in item.model.text_indexes]
    parameters = {"search_limit": limit, **patterns}
    found = _union(uow, ("search names that contain", len(patterns)), resources, select, parameters)
    for label, rows in _union(uow, "", indexed, select_indexed, {}).items():
        found[label] = list(dict.fromkeys([*rows, *found.get(label, ())]))[:limit]
    return found


def pattern_parameters(driver: Driver, text: str) -> dict[str, str]:
    """The patterns of the words of a text, by the names of their parameters."""
    return {f"word{number}": folding.pattern(driver, word) for number, word in enumerate(words.words_of(text))}


def texts_that_contain(uow: UnitOfWork, text: str, limit: int) -> tuple[dict[str, Rows], set[str]]:
    """Returns the objects of which a column that the filter ``q`` compares contains a text, among the first
    :data:`SCANNED_FOR_TEXTS` of each resource, by the labels of their resources; and the labels of those resources in
    which that was looked for. In others, what ``q`` compares depends on the text, or on indexes and permissions.
    """
    is_ascii = text.isascii()
    indexed = indexed_resources(uow, text)
    resources = [item for item in searchable(uow.registry) if item not in indexed and _compares_texts(uow, item, text)]

    def select(endpoint: Endpoint, table: Any) -> Any:
        rows = sa.select(table).limit(sa.literal_column(str(SCANNED_FOR_TEXTS))).subquery()

        def test(column: Any) -> Any:
            return contains(lookups.as_text(column), _pattern(), is_ascii=is_ascii)

        paths = _text_paths(endpoint, endpoint.filters["q"].searched)
        condition = lookups.any_of([relations.compare(endpoint, rows, path, test) for path in paths])
        return _limit(sa.select(rows.c.id, sa.cast(sa.null(), sa.Text()).label("value")).where(condition))

    stage = ("search texts that contain", SCANNED_FOR_TEXTS, is_ascii)
    found = _union(uow, stage, resources, select, _pattern_parameters(text, limit))
    return found, {endpoint.label for endpoint in resources}


def _compares_texts(uow: UnitOfWork, endpoint: Endpoint, text: str) -> bool:
    """True where the filter ``q`` of a resource only looks for parts of texts, in columns that the user may view."""
    item = endpoint.filters.get("q")
    if item is None or not item.searched or endpoint.resource.exempt_by_name_only:
        return False
    if any(_accepts(endpoint, path, text) for path in item.searched if ":" in path):
        return False
    targets = [target for reached in _text_paths(endpoint, item.searched).values() for target in reached]
    return not any(
        indexed_texts.is_indexed(target) or permissions.visible(uow, target, target.table) for target in targets
    )


def _accepts(endpoint: Endpoint, path: str, text: str) -> bool:
    """True where a text can be a value of a column ``name:lookup``; for dotted paths, that is not known."""
    name, _, lookup = path.partition(":")
    if name not in endpoint.table.c:
        return True
    try:
        lookups.compare(lookup, endpoint.registry.driver, endpoint.table.c[name], text)
    except ValueError:
        return False
    return True


@lru_cache("search paths", 2000)
def _text_paths(endpoint: Endpoint, paths: Sequence[str]) -> Mapping[tuple[str, ...], Sequence[Endpoint]]:
    """The valid paths among those to columns in which a text is looked for, with the resources they lead through."""
    found: dict[tuple[str, ...], Sequence[Endpoint]] = {}
    for path in paths:
        targets: list[Endpoint] = []

        def note(target: Endpoint, table: Any, targets: list[Endpoint] = targets) -> Sequence[Any]:
            targets.append(target)
            return ()

        steps = tuple(path.split("."))
        if ":" not in path:
            with contextlib.suppress(ValueError):
                relations.compare(endpoint, endpoint.table, steps, lambda _: sa.true(), note)
                found[steps] = targets
    return found


def indexed_resources(uow: UnitOfWork, text: str) -> list[Endpoint]:
    """The resources of which trigram indexes tell which of all objects have a text; which the database has is read once
    per configuration version.
    """
    if not uow.registry.driver.has_text_indexes or _TRIGRAM.search(text) is None:
        return []
    absent: list[str] = uow.cached_config("absent text indexes", _absent_indexes)
    indexes = text_indexes.declared_indexes(uow.registry)
    lacking = {index.column.table for name, index in indexes.items() if name in absent}
    tables = {index.column.table for index in indexes.values()} - lacking
    return [endpoint for endpoint in searchable(uow.registry) if endpoint.table in tables]


def _absent_indexes(uow: UnitOfWork) -> list[str]:
    return text_indexes.missing_indexes(uow.connection, uow.registry)


def first_rows(select: Any, limit: Any) -> Any:
    """The first rows of a SELECT on a table with trigram indexes, planned as if all its rows were read.

    PostgreSQL expects the rows that a LIMIT asks for to be spread evenly over the table. For a text that few rows have,
    or none, it would read the table instead of the index: 1 s for 1,000,000 rows.
    """
    found = select.cte().prefix_with("MATERIALIZED")
    return sa.select(found).limit(limit)


def _spellings(text: str) -> Sequence[str]:
    return (text, text.lower(), text.upper(), text.capitalize())


def _pattern() -> Any:
    return sa.bindparam("search_pattern", type_=sa.Text())


def _pattern_parameters(text: str, limit: int) -> dict[str, Any]:
    return {"search_limit": limit, "search_pattern": f"%{lookups.escaped(text.lower())}%"}


def _limit(select: Any) -> Any:
    return select.limit(sa.bindparam("search_limit", type_=sa.Integer))


def searched_names(registry: Registry) -> list[tuple[Endpoint, SearchedName]]:
    """The resources whose objects are searched by name, each with the column."""
    pairs = [(endpoint, name_of(endpoint)) for endpoint in searchable(registry)]
    return [(endpoint, name) for endpoint, name in pairs if name is not None]


def _union(
    uow: UnitOfWork, stage: Hashable, resources: Iterable[Endpoint], select: SelectOf, parameters: Mapping[str, Any]
) -> dict[str, Rows]:
    """Runs a SELECT of ids and texts for each resource, limited to what the user may view: one statement for those
    without constraints, which is kept by the name of the ``stage`` if it has one, and another one if there are some
    with.
    """
    free: list[Endpoint] = []
    limited: list[Endpoint] = []
    for endpoint in resources:
        try:
            limits = permissions.limits(uow, endpoint, "view", endpoint.table)
        except Denied:
            continue
        (limited if limits else free).append(endpoint)
    rows: dict[str, Rows] = {}
    if free:
        key = (stage, SCANNED_ROWS, tuple(endpoint.label for endpoint in free))

        def parts() -> list[Any]:
            return [_part(select(item, kept_alias(item.table))) for item in free]

        union = kept_union(uow.registry, key, parts) if stage else Union(parts())
        rows |= zip((item.label for item in free), _pairs(union, uow, parameters), strict=True)
    if limited:
        union = Union(list(_limited_parts(uow, limited, select)))
        rows |= zip((item.label for item in limited), _pairs(union, uow, parameters), strict=True)
    return {label: found for label, found in rows.items() if found}


@lru_cache("SQL statements", 2000)
def kept_alias(table: sa.Table) -> Any:
    """Alias of a table, kept for further statements, since it has all columns of its table."""
    return table.alias()


def _limited_parts(uow: UnitOfWork, resources: Iterable[Endpoint], select: SelectOf) -> Iterator[Any]:
    for endpoint in resources:
        table = endpoint.table.alias()
        visible = sa.select(table).where(*permissions.limits(uow, endpoint, "view", table)).subquery()
        yield _part(select(endpoint, visible))


def _part(select: Any) -> Any:
    rows = select.subquery()
    return (rows.c.id, rows.c.value), rows, sa.true()


def _pairs(union: Union, uow: UnitOfWork, parameters: Mapping[str, Any]) -> Iterator[Rows]:
    for rows in union.rows(uow, dict(parameters)):
        yield [(key, value) for key, value in rows]
