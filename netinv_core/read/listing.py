"""Lists and details: the one place where selects over a resource's objects are built.

A page is taken in two statements: its ids (filter, permission, order, limit on the narrow table), then the plan for
those ids. The count is a statement of its own, left out when the page itself shows it.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.engine import in_parameter, inlined_int, is_bad_filter_error, is_timeout, lock_parents, lock_rows
from netinv_core.errors import Invalid, NotFound
from netinv_core.read import filters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.models.base import Base
    from netinv_core.uow import UnitOfWork

Parameters = Sequence[tuple[str, list[str]]]


@dataclasses.dataclass(frozen=True)
class Slice:
    """Which part of a list: ``limit`` 0 means all."""

    limit: int
    offset: int


@dataclasses.dataclass(frozen=True)
class Listing:
    """A part of a list of representations, and how many objects there are in all."""

    count: int
    results: list[dict[str, Any]]


def conditions_of(uow: UnitOfWork, endpoint: Endpoint, table: Any, parameters: Parameters, action: str) -> list[Any]:
    """What an object must meet: the parameters, and to be within what is permitted for the action.

    :raises Denied: without permission
    :raises Invalid: for an unknown parameter or a bad value
    """
    allowed = permissions.scope(uow, endpoint, action, table)
    strict = uow.registry.settings.get("strict_filtering", True)
    found = filters.parse_parameters(uow, endpoint, table, parameters, strict=strict)
    return found if allowed is None else [*found, allowed]


def ids(
    uow: UnitOfWork, endpoint: Endpoint, parameters: Parameters, window: Slice, action: str = "view", within: Sequence[Any] = ()
) -> tuple[int, list[Any]]:
    """The number of objects that match, and the ids of the page, in order; ``within`` are further conditions on the endpoint's table.

    :raises Denied: without permission
    :raises Invalid: for an unknown parameter or a bad value
    """
    table = endpoint.table
    conditions = [*conditions_of(uow, endpoint, table, parameters, action), *within]
    found = selected(uow, endpoint, conditions, window)
    if (found or not window.offset) and (not window.limit or len(found) < window.limit):
        return window.offset + len(found), found
    count = sa.select(sa.func.count()).select_from(table).where(*conditions)
    with filter_errors_as_400():
        return int(uow.execute(count).scalar() or 0), found


def selected(uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any], window: Slice) -> list[Any]:
    """The ids of the page of what meets the conditions, in order.

    :raises Invalid: for a condition that the database cannot evaluate
    """
    source, order = endpoint.ordering
    statement = sa.select(endpoint.table.c.id).select_from(source).where(*conditions).order_by(*order)
    if window.limit:
        statement = statement.limit(inlined_int("limit", window.limit))
    if window.offset:
        statement = statement.offset(inlined_int("offset", window.offset))
    with filter_errors_as_400():
        return list(uow.execute(statement).scalars())


@contextlib.contextmanager
def filter_errors_as_400() -> Iterator[None]:
    """Around a statement with conditions that clients gave.

    :raises Invalid: when the database cannot evaluate one of them
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
    """A page of representations; ``within`` are further conditions on the endpoint's table."""
    count, found = ids(uow, endpoint, parameters, window, within=within)
    return Listing(count, endpoint.plan(shape, without).represent(uow, found))


def detail(
    uow: UnitOfWork, endpoint: Endpoint, key: Any, parameters: Parameters = (), shape: str = "full", without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """One representation.

    :raises NotFound: when there is no such object for this identity
    """
    table = endpoint.table
    conditions = conditions_of(uow, endpoint, table, parameters, "view")
    if conditions and uow.execute(sa.select(table.c.id).where(table.c.id == key, *conditions)).first() is None:
        raise NotFound()
    found = endpoint.plan(shape, without).represent(uow, [key])
    if not found:
        raise NotFound()
    return found[0]


def rows_for_change(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], action: str) -> dict[Any, dict[str, Any]]:
    """The rows of the objects that may be changed, locked until the transaction ends, by id."""
    return rows(uow, endpoint, keys, action, locked=True)


def rows(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], action: str, *, locked: bool = False) -> dict[Any, dict[str, Any]]:
    """The rows of the objects that are permitted for an action, by id."""
    table = endpoint.table
    allowed = permissions.scope(uow, endpoint, action, table)
    statement = sa.select(table).where(in_parameter(uow.registry.dialect, table.c.id)).order_by(table.c.id)
    if allowed is not None:
        statement = statement.where(allowed)
    found = uow.execute(lock_rows(statement) if locked else statement, {"keys": list(keys)}).mappings()
    return {row["id"]: dict(row) for row in found}


def rows_of(uow: UnitOfWork, model: type[Base], keys: Iterable[Any], *, locked: bool = False) -> dict[Any, Any]:
    """The rows of a model by id, for rules over what a batch refers to: one statement, none for what is known (see :class:`UnitOfWork`).

    ``locked`` holds them until the transaction ends, for a rule that another request could undo by changing them.
    """
    table, wanted = model.__table__, {key for key in keys if key is not None}
    seen, made = uow.row_cache.setdefault(table, {}), uow.new_drafts.get(table, {})
    seen.update({key: made[key].row() for key in (wanted - seen.keys()) & made.keys()})
    missing = list(wanted - made.keys() if locked else wanted - seen.keys())
    if missing:
        statement = sa.select(table).where(in_parameter(uow.registry.dialect, table.c.id))
        statement = lock_parents(statement.order_by(table.c.id)) if locked else statement
        seen.update({row.id: row for row in uow.execute(statement, {"keys": missing})})
    return {key: seen[key] for key in wanted if key in seen}
