"""Lists and details: SELECT statements over the objects of a resource, limited by permissions.

A page takes two statements: its ids (filters, permissions, order and LIMIT on the resource's own table), then the plan
for these ids. The count is a statement of its own, omitted when the page itself tells it.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.caches import lru_cache
from netinv_core.db.engine import is_bad_filter_error, is_timeout, lock_parents, lock_rows
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Invalid, NotFound
from netinv_core.read import counts, ordering, ranked
from netinv_core.read.list_selects import part_of, selects_of
from netinv_core.read.parameters import parse_parameters
from netinv_core.records import Parameters as Parameters
from netinv_core.sql.plans import plan_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.models.base import Base
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass(frozen=True)
class Slice:
    """Part of a list; ``limit`` 0 means no limit.

    ``cursor`` is where it begins, blank for the start of the list, ``None`` for a part by ``offset`` alone; ``count``
    is ``exact``, ``bounded``, ``estimate`` or ``none`` (:mod:`netinv_core.read.pages`).
    """

    limit: int
    offset: int
    cursor: str | None = None
    count: str = "exact"


@dataclasses.dataclass(frozen=True)
class Listing:
    """Part of a list of representations, and the ``count`` of the whole list."""

    count: int
    results: list[dict[str, Any]]


def conditions_of(uow: UnitOfWork, endpoint: Endpoint, table: Any, parameters: Parameters, action: str) -> list[Any]:
    """Returns the conditions on ``table`` of the query parameters and of the permissions for the action.

    :raises Denied: without permission
    :raises Invalid: for an unknown parameter or a bad value
    """
    limits = permissions.limits(uow, endpoint, action, table)
    if not parameters:
        return limits
    strict = uow.registry.settings["strict_filtering"]
    conditions = parse_parameters(uow, endpoint, table, parameters, strict=strict)
    return [*conditions, *limits]


def ids(
    uow: UnitOfWork,
    endpoint: Endpoint,
    parameters: Parameters,
    window: Slice,
    action: str = "view",
    within: Sequence[Any] = (),
) -> tuple[int, list[Any]]:
    """Returns the number of matching objects, and the ids of the page in order.

    :param parameters: filters; the parameter ``ordering`` replaces the order of the resource
    :param within: further conditions on the endpoint's table
    :raises Denied: without permission
    :raises Invalid: for an unknown parameter or a bad value
    """
    table = endpoint.table
    names, parameters = ordering.split(endpoint, parameters)
    conditions = [*conditions_of(uow, endpoint, table, parameters, action), *within]
    page = selected(uow, endpoint, conditions, window, names)
    if (page or not window.offset) and (not window.limit or len(page) < window.limit):
        return window.offset + len(page), page
    return count_of(uow, endpoint, conditions), page


def count_of(uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any]) -> int:
    """Returns the number of objects that meet the conditions.

    :raises Invalid: for a condition that the database cannot evaluate
    """
    select = selects_of(endpoint).count
    with filter_errors_as_400():
        cached = counts.cached_count(uow, endpoint, conditions)
        if cached is not None:
            return cached
        count = uow.execute(select, where=conditions).scalar_one()
    if count >= counts.CACHED_FROM:
        counts.remember(uow, endpoint, conditions, count)
    return int(count)


def selected(
    uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any], window: Slice, names: Sequence[str] = ()
) -> list[Any]:
    """Returns the ids of the page of the objects that meet the conditions, in the order of ``names`` or the usual one.

    :raises Invalid: for an unknown name, or a condition that the database cannot evaluate
    """
    if window.limit and not (window.offset or conditions or names):
        return [row[0] for row in uow.execute(selects_of(endpoint).first_page(window.limit)).tuples()]
    filtered, limited, skipping = bool(conditions), bool(window.limit), bool(window.offset)
    values = {"limit": window.limit, "offset": window.offset}
    with filter_errors_as_400():
        if not names:
            statement = selects_of(endpoint).part(filtered=filtered, limited=limited, skipping=skipping)
            return [row[0] for row in uow.execute(statement, values, where=conditions).tuples()]
        if ranked.is_ranked(endpoint, names[0]):
            everything = Slice(ranked.MAX_RANKED + 1, 0)
            keys = ranked.rank(uow, endpoint, names[0], selected(uow, endpoint, conditions, everything, names[1:]))
            return keys[window.offset :][: window.limit or None]
        order = ordering.requested_order(uow, endpoint, names)
        statement = part_of(endpoint.table, order, filtered=filtered, limited=limited, skipping=skipping).where(
            *conditions
        )
        return [row[0] for row in uow.execute(statement, values).tuples()]


@contextlib.contextmanager
def filter_errors_as_400() -> Iterator[None]:
    """Context manager around a statement with conditions from a client.

    :raises Invalid: when the database cannot evaluate one of the conditions, or not in time
    """
    try:
        yield
    except sa.exc.DBAPIError as error:
        if is_timeout(error):
            raise Invalid.whole("The database cannot evaluate these filters in time.") from None
        if is_bad_filter_error(error):
            raise Invalid.whole("The database cannot evaluate one of these filters.") from None
        raise


def list_page(
    uow: UnitOfWork,
    endpoint: Endpoint,
    parameters: Parameters,
    window: Slice,
    shape: str = "full",
    without: frozenset[str] = frozenset(),
    within: Sequence[Any] = (),
) -> Listing:
    """Returns a page of representations; ``within`` are further conditions on the endpoint's table.

    :param shape: ``full`` or ``brief``
    :param without: fields to omit
    """
    count, page = ids(uow, endpoint, parameters, window, within=within)
    return Listing(count, plan_of(endpoint, shape, without).represent(uow, page))


def detail(
    uow: UnitOfWork,
    endpoint: Endpoint,
    key: Any,
    parameters: Parameters = (),
    shape: str = "full",
    without: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Returns one representation.

    :raises NotFound: when no such object exists, or the user may not view it
    """
    table = endpoint.table
    conditions = conditions_of(uow, endpoint, table, parameters, "view")
    if conditions and uow.execute(sa.select(table.c.id).where(table.c.id == key, *conditions)).first() is None:
        raise NotFound()
    representations = plan_of(endpoint, shape, without).represent(uow, [key])
    if not representations:
        raise NotFound()
    return representations[0]


def visible_names(uow: UnitOfWork, endpoint: Endpoint, keys: Iterable[Any]) -> dict[Any, str]:
    """Returns the display names of the objects that the user may view, by id; one statement."""
    limits = permissions.visible(uow, endpoint, endpoint.table)
    return {key: shown["display"] for key, shown in plan_of(endpoint, "nested").fetch(uow, list(keys), limits)}


def rows_for_change(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], action: str) -> dict[Any, dict[str, Any]]:
    """Returns the rows of the objects that the user may change, by id, locked until the transaction ends."""
    return rows(uow, endpoint, keys, action, locked=True)


def rows(
    uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], action: str, *, locked: bool = False
) -> dict[Any, dict[str, Any]]:
    """Returns the rows of the objects that the user has permission for, by id; optionally ``locked`` (FOR UPDATE)."""
    limits = permissions.limits(uow, endpoint, action, endpoint.table)
    return _rows(uow, endpoint.table, keys, limits, locked=locked)


def lock(uow: UnitOfWork, table: Any, keys: Iterable[Any], conditions: Sequence[Any] = ()) -> dict[Any, dict[str, Any]]:
    """Locks rows until the transaction ends, and returns them by id; ``conditions`` are further ones on the table."""
    return _rows(uow, table, keys, conditions, locked=True)


def _rows(
    uow: UnitOfWork, table: Any, keys: Iterable[Any], conditions: Sequence[Any], *, locked: bool
) -> dict[Any, dict[str, Any]]:
    """The rows by id, as dictionaries."""
    values = {"keys": list(keys)}
    found = uow.execute(_by_id(table, locked), values, where=conditions).tuples()
    names = table.c.keys()
    return {row["id"]: row for row in (dict(zip(names, values, strict=True)) for values in found)}


@lru_cache("rows by id", 1000)
def _by_id(table: Any, locked: bool) -> sa.Select[Any]:
    """SELECT of rows by ``keys``, in their order; optionally FOR UPDATE."""
    statement = sa.select(table).where(in_parameter(table.c.id)).order_by(table.c.id)
    return lock_rows(statement) if locked else statement


def rows_of(uow: UnitOfWork, model: type[Base], keys: Iterable[Any], *, locked: bool = False) -> dict[Any, Any]:
    """Returns rows of a model by id, for rules about the objects that a batch refers to.

    Rows come from the cache of the unit of work; missing ones are loaded in one statement. ``locked`` rows are read
    anew and locked until the transaction ends, for a rule that a concurrent change of them could break. Objects of the
    batch that is being validated are as they will be after it.
    """
    table, requested = model.__table__, {key for key in keys if key is not None}
    cache, new_drafts = uow.row_cache.setdefault(table, {}), uow.new_drafts.get(table, {})
    cache.update({key: new_drafts[key].row() for key in (requested - cache.keys()) & new_drafts.keys()})
    missing = list(requested - new_drafts.keys() if locked else requested - cache.keys())
    if missing:
        statement = sa.select(table).where(in_parameter(table.c.id))
        statement = lock_parents(statement.order_by(table.c.id)) if locked else statement
        cache.update({row.id: row for row in uow.execute(statement, {"keys": missing}).all()})
    found = {key: cache[key] for key in requested if key in cache}
    if changing := uow.changing_drafts.get(table):
        found.update({key: changing[key].row() for key in found.keys() & changing.keys()})
    return found
