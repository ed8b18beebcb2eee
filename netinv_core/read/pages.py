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

from netinv_core.auth import permits
from netinv_core.database import among, is_timeout, is_undecidable, literal, lock_parents, lock_rows
from netinv_core.errors import Invalid, NotFound
from netinv_core.read import filters

if TYPE_CHECKING:
    from netinv_core.context import Context
    from netinv_core.model import Base
    from netinv_core.registry import Endpoint

Parameters = Sequence[tuple[str, list[str]]]


@dataclasses.dataclass(frozen=True)
class Window:
    """Which part of a list: ``limit`` 0 means all."""

    limit: int
    offset: int


@dataclasses.dataclass(frozen=True)
class Listing:
    """A part of a list of representations, and how many objects there are in all."""

    count: int
    results: list[dict[str, Any]]


def conditions_of(context: Context, endpoint: Endpoint, table: Any, parameters: Parameters, action: str) -> list[Any]:
    """What an object must meet: the parameters, and to be within what is permitted for the action.

    :raises Denied: without permission
    :raises Invalid: for an unknown parameter or a bad value
    """
    allowed = permits.scope(context, endpoint, action, table)
    strict = context.registry.settings.get("strict_filtering", True)
    found = filters.parse_parameters(context, endpoint, table, parameters, strict=strict)
    return found if allowed is None else [*found, allowed]


def ids(
    context: Context, endpoint: Endpoint, parameters: Parameters, window: Window, action: str = "view", within: Sequence[Any] = ()
) -> tuple[int, list[Any]]:
    """The number of objects that match, and the ids of the page, in order; ``within`` are further conditions on the endpoint's table.

    :raises Denied: without permission
    :raises Invalid: for an unknown parameter or a bad value
    """
    table = endpoint.table
    conditions = [*conditions_of(context, endpoint, table, parameters, action), *within]
    found = selected(context, endpoint, conditions, window)
    if (found or not window.offset) and (not window.limit or len(found) < window.limit):
        return window.offset + len(found), found
    count = sa.select(sa.func.count()).select_from(table).where(*conditions)
    with decidable():
        return int(context.execute(count).scalar() or 0), found


def selected(context: Context, endpoint: Endpoint, conditions: Sequence[Any], window: Window) -> list[Any]:
    """The ids of the page of what meets the conditions, in order.

    :raises Invalid: for a condition that the database cannot evaluate
    """
    source, order = endpoint.ordering
    statement = sa.select(endpoint.table.c.id).select_from(source).where(*conditions).order_by(*order)
    if window.limit:
        statement = statement.limit(literal("limit", window.limit))
    if window.offset:
        statement = statement.offset(literal("offset", window.offset))
    with decidable():
        return list(context.execute(statement).scalars())


@contextlib.contextmanager
def decidable() -> Iterator[None]:
    """Around a statement with conditions that clients gave.

    :raises Invalid: when the database cannot evaluate one of them
    """
    try:
        yield
    except sa.exc.DBAPIError as error:
        if is_timeout(error):
            raise Invalid.whole("The database cannot evaluate these filters in time.") from None
        if is_undecidable(error):
            raise Invalid.whole("The database cannot evaluate one of these filters.") from None
        raise


def listing(
    context: Context,
    endpoint: Endpoint,
    parameters: Parameters,
    window: Window,
    shape: str = "full",
    without: frozenset[str] = frozenset(),
    within: Sequence[Any] = (),
) -> Listing:
    """A page of representations; ``within`` are further conditions on the endpoint's table."""
    count, found = ids(context, endpoint, parameters, window, within=within)
    return Listing(count, endpoint.plan(shape, without).represent(context, found))


def detail(
    context: Context, endpoint: Endpoint, key: Any, parameters: Parameters = (), shape: str = "full", without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """One representation.

    :raises NotFound: when there is no such object for this identity
    """
    table = endpoint.table
    conditions = conditions_of(context, endpoint, table, parameters, "view")
    if conditions and context.execute(sa.select(table.c.id).where(table.c.id == key, *conditions)).first() is None:
        raise NotFound()
    found = endpoint.plan(shape, without).represent(context, [key])
    if not found:
        raise NotFound()
    return found[0]


def rows_for_change(context: Context, endpoint: Endpoint, keys: Sequence[Any], action: str) -> dict[Any, dict[str, Any]]:
    """The rows of the objects that may be changed, locked until the transaction ends, by id."""
    return rows(context, endpoint, keys, action, locked=True)


def rows(context: Context, endpoint: Endpoint, keys: Sequence[Any], action: str, *, locked: bool = False) -> dict[Any, dict[str, Any]]:
    """The rows of the objects that are permitted for an action, by id."""
    table = endpoint.table
    allowed = permits.scope(context, endpoint, action, table)
    statement = sa.select(table).where(among(context.registry.dialect, table.c.id)).order_by(table.c.id)
    if allowed is not None:
        statement = statement.where(allowed)
    found = context.execute(lock_rows(statement) if locked else statement, {"keys": list(keys)}).mappings()
    return {row["id"]: dict(row) for row in found}


def rows_of(context: Context, model: type[Base], keys: Iterable[Any], *, locked: bool = False) -> dict[Any, Any]:
    """The rows of a model by id, for rules over what a batch refers to: one statement, none for what is known (see :class:`Context`).

    ``locked`` holds them until the transaction ends, for a rule that another request could undo by changing them.
    """
    table, wanted = model.__table__, {key for key in keys if key is not None}
    seen, made = context.seen.setdefault(table, {}), context.made.get(table, {})
    seen.update({key: made[key].row() for key in (wanted - seen.keys()) & made.keys()})
    missing = list(wanted - made.keys() if locked else wanted - seen.keys())
    if missing:
        statement = sa.select(table).where(among(context.registry.dialect, table.c.id))
        statement = lock_parents(statement.order_by(table.c.id)) if locked else statement
        seen.update({row.id: row for row in context.execute(statement, {"keys": missing})})
    return {key: seen[key] for key in wanted if key in seen}
