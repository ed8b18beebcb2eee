"""Stages of the search that look into every resource: ids and names, each a cached UNION ALL with bound parameters.

Building a SELECT for each of ninety resources takes SQLAlchemy 100 ms and more. So the statement for the resources that
a user may view without constraints is kept by the registry; only those with constraints are built for the request, and
those with trigram indexes: PostgreSQL uses these only where it sees the text.
"""

from __future__ import annotations

import dataclasses
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db import text_indexes
from netinv_core.db.engine import inlined_int, lower
from netinv_core.errors import Denied
from netinv_core.models.columns import column_info
from netinv_core.models.types import Chars, LongText
from netinv_core.read import lookups
from netinv_core.read.lookups import LOOKUPS
from netinv_core.read.union import Union

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

SCANNED_ROWS = 4000  # of each resource, for names that contain the text
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


def name_of(endpoint: Endpoint) -> SearchedName | None:
    """The column by which objects are displayed, else ``name``; ``None`` without one, and for objects about others."""
    columns = endpoint.table.c
    name = endpoint.resource.display_path or "name"
    name = name if name in columns else "name"
    if (
        endpoint.resource.about
        or name not in columns
        or not isinstance(columns[name].type, Chars | LongText | sa.String)
    ):
        return None
    if column_info(columns[name]).confidential:
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
    resources = [endpoint for endpoint, name in _named(uow.registry) if name.indexed]
    columns = {endpoint.label: name.column for endpoint, name in _named(uow.registry)}
    parameters: dict[str, Any] = {"search_limit": limit}
    for number, spelling in enumerate(_spellings(text)):
        parameters |= {f"low{number}": spelling, f"high{number}": spelling + lookups.LAST_CHARACTER}

    def select(endpoint: Endpoint, table: Any) -> Any:
        column = table.c[columns[endpoint.label]]
        ranges = [
            column.between(sa.bindparam(f"low{number}"), sa.bindparam(f"high{number}")) for number in range(SPELLINGS)
        ]
        return _limited(sa.select(table.c.id, column.label("value")).where(sa.or_(*ranges)))

    return _union(uow, "search names that begin", resources, select, parameters)


def names_that_contain(uow: UnitOfWork, text: str, limit: int) -> dict[str, Rows]:
    """Returns the objects whose names contain a text: among all of a resource with a trigram index of its names, among
    the first :data:`SCANNED_ROWS` of any other.
    """
    dialect = uow.registry.dialect
    columns = {endpoint.label: name.column for endpoint, name in _named(uow.registry)}
    parameters = {
        "search_limit": limit,
        "pattern_lower": f"%{lookups.escaped(text.lower())}%",
        "pattern_upper": f"%{lookups.escaped(text.upper())}%",
    }

    def select(endpoint: Endpoint, table: Any) -> Any:
        column = table.c[columns[endpoint.label]]
        rows = sa.select(table.c.id, column.label("value")).limit(sa.literal_column(str(SCANNED_ROWS)))
        scanned = rows.subquery()
        return _limited(sa.select(scanned.c.id, scanned.c.value).where(_contains(dialect, scanned.c.value)))

    def select_indexed(endpoint: Endpoint, table: Any) -> Any:
        column = table.c[columns[endpoint.label]]
        rows = sa.select(table.c.id, column.label("value")).where(LOOKUPS["icontains"](dialect, column, text))
        return first_rows(rows, inlined_int("search_limit", limit))

    resources = [endpoint for endpoint, _ in _named(uow.registry)]
    indexed = [item for item in indexed_resources(uow, text) if columns.get(item.label) in item.model.text_indexes]
    others = [endpoint for endpoint in resources if endpoint not in indexed]
    found = _union(uow, "search names that contain", others, select, parameters)
    return found | _union(uow, "", indexed, select_indexed, {})


def indexed_resources(uow: UnitOfWork, text: str) -> list[Endpoint]:
    """The resources of which trigram indexes tell which of all objects have a text; which the database has is read once
    per configuration version.
    """
    if uow.registry.dialect != "postgresql" or _TRIGRAM.search(text) is None:
        return []
    absent: list[str] = uow.cached_config("absent text indexes", _absent_indexes)
    indexes = text_indexes.wanted(uow.registry)
    lacking = {index.column.table for name, index in indexes.items() if name in absent}
    tables = {index.column.table for index in indexes.values()} - lacking
    return [endpoint for endpoint in searchable(uow.registry) if endpoint.table in tables]


def _absent_indexes(uow: UnitOfWork) -> list[str]:
    return text_indexes.missing(uow.connection, uow.registry)


def first_rows(select: Any, limit: Any) -> Any:
    """The first rows of a SELECT on a table with trigram indexes, planned as if all its rows were read.

    PostgreSQL expects the rows that a LIMIT asks for to be spread evenly over the table. For a text that few rows have,
    or none, it would read the table instead of the index: 1 s for 1,000,000 rows.
    """
    found = select.cte().prefix_with("MATERIALIZED")
    return sa.select(found).limit(limit)


def _spellings(text: str) -> Sequence[str]:
    return (text, text.lower(), text.upper(), text.capitalize())


def _contains(dialect: str, column: Any) -> Any:
    """Condition: the column contains the text, whatever its case.

    On SQLite, its own LIKE ignores the case of ASCII; ``lower`` is a function in Python there, which takes 2 ms for
    4,000 rows.
    """
    if dialect == "sqlite":
        patterns: list[Any] = [sa.bindparam(name) for name in ("pattern_lower", "pattern_upper")]
        return sa.or_(*[column.like(pattern, escape="/") for pattern in patterns])
    return lower(dialect, column).like(lower(dialect, sa.bindparam("pattern_lower")), escape="/")


def _limited(select: Any) -> Any:
    return select.limit(sa.bindparam("search_limit", type_=sa.Integer))


def _named(registry: Registry) -> list[tuple[Endpoint, SearchedName]]:
    pairs = [(endpoint, endpoint.searched_name) for endpoint in searchable(registry)]
    return [(endpoint, name) for endpoint, name in pairs if name is not None]


def _union(
    uow: UnitOfWork, stage: str, resources: Iterable[Endpoint], select: SelectOf, parameters: Mapping[str, Any]
) -> dict[str, Rows]:
    """Runs a SELECT of ids and texts for each resource, limited to what the user may view: one statement for those
    without constraints, which is kept by the name of the ``stage`` if it has one, and another one if there are some
    with.
    """
    free: list[Endpoint] = []
    limited: list[Endpoint] = []
    for endpoint in resources:
        try:
            allowed = permissions.scope(uow, endpoint, "view", endpoint.table)
        except Denied:
            continue
        (free if allowed is None else limited).append(endpoint)
    rows: dict[str, Rows] = {}
    if free:
        key = (stage, SCANNED_ROWS, tuple(endpoint.label for endpoint in free))

        def parts() -> list[Any]:
            return [_part(select(item, item.table.alias())) for item in free]

        union = uow.registry.union(key, parts) if stage else Union(uow.registry.dialect, parts())
        rows |= zip((item.label for item in free), _pairs(union, uow, parameters), strict=True)
    if limited:
        union = Union(uow.registry.dialect, list(_limited_parts(uow, limited, select)))
        rows |= zip((item.label for item in limited), _pairs(union, uow, parameters), strict=True)
    return {label: found for label, found in rows.items() if found}


def _limited_parts(uow: UnitOfWork, resources: Iterable[Endpoint], select: SelectOf) -> Iterator[Any]:
    for endpoint in resources:
        table = endpoint.table.alias()
        allowed = permissions.scope(uow, endpoint, "view", table)
        visible = sa.select(table).where(allowed).subquery()
        yield _part(select(endpoint, visible))


def _part(select: Any) -> Any:
    rows = select.subquery()
    return (rows.c.id, rows.c.value), rows, sa.true()


def _pairs(union: Union, uow: UnitOfWork, parameters: Mapping[str, Any]) -> Iterator[Rows]:
    for rows in union.rows(uow, dict(parameters)):
        yield [(key, value) for key, value in rows]
