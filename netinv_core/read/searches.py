"""Filters for full-text search."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.engine import inlined_int
from netinv_core.driver import Driver
from netinv_core.read import filters, indexed_texts
from netinv_core.read.filters import Condition
from netinv_core.sql import lookups, relations

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_IDS = 500  # looked up for a search along a reference


def search(name: str, columns: Sequence[str]) -> filters.Filter:
    """Filter for full-text search: one of the columns (dotted paths) contains the text, ignoring case.

    A path may end in ``:lookup`` for another comparison, such as ``asn:exact``. It is skipped when the text cannot be a
    value of the column.
    """

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        conditions = []
        for text in map(str.strip, values):
            if not text:
                return sa.true()
            for path in columns:
                path, _, lookup = path.partition(":")
                try:
                    test = functools.partial(search_test, lookup, endpoint.registry.driver, text)
                    conditions.append(searched_at(uow, endpoint, table, path.split("."), test))
                except ValueError:
                    continue
        return lookups.any_of(conditions)

    return filters.Filter(name, apply, (), False, searched=tuple(columns))


def search_test(lookup: str, driver: Driver, text: str, column: Any) -> Condition:
    """The condition on a column; without the text's being a value of it, an error that has the column skipped.

    :raises ValueError: for a text that cannot be a value of the column
    """
    if lookup == "exact" and not lookups.fits(column, text):
        raise ValueError(text)
    return lookups.compare(lookup or "icontains", driver, column, text)


def searched_at(
    uow: UnitOfWork, endpoint: Endpoint, table: Any, steps: Sequence[str], test: Callable[[Any], Condition]
) -> Condition:
    """Returns a condition as ``filters.compare``, for an OR with conditions that trigram indexes serve: PostgreSQL uses
    them only if it has an index for each, which a subquery has not. So the few ids along a reference are looked up,
    as are the few texts of a column.
    """
    if not indexed_texts.is_indexed(endpoint) or uow.deferred_lookups is not None:
        return filters.compare(uow, endpoint, table, steps, test)
    if len(steps) == 1:
        of_texts = indexed_texts.by_texts(uow, endpoint, table, steps[0], test)
        return filters.compare(uow, endpoint, table, steps, test) if of_texts is None else of_texts
    step = relations.relation(endpoint, steps[0])
    ids = relations.first_ids(endpoint, steps, test, permissions.visible_for(uow)) if step.column else None
    if ids is None:
        return filters.compare(uow, endpoint, table, steps, test)
    found = uow.execute(ids.limit(inlined_int("limit", MAX_IDS + 1))).scalars().all()
    return step.reach(table, found if len(found) <= MAX_IDS else ids)
