"""Conditions on texts for trigram indexes of PostgreSQL (:mod:`netinv_core.db.text_indexes`). In an OR, PostgreSQL uses
indexes only if it has one for each condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.caches import lru_cache
from netinv_core.db.engine import inlined_int
from netinv_core.sql.lookups import planned

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_TEXTS = 500  # different ones of a column that are read for a search


def is_indexed(endpoint: Endpoint) -> bool:
    """True for a resource with trigram indexes."""
    return bool(endpoint.model.text_indexes) and endpoint.registry.driver.has_text_indexes


def by_index(endpoint: Endpoint, table: Any, steps: Sequence[str], condition: Any) -> Any:
    """Returns the condition on the column at the end of a path, so that a partial trigram index serves it: one part for
    the rows in the index, one for those that are not in it yet.
    """
    name = endpoint.model.text_indexed_with
    if name is None or not is_indexed(endpoint) or len(steps) > 1 or steps[0] not in endpoint.model.text_indexes:
        return condition
    given = table.c[name]
    return sa.or_(sa.and_(condition, given.is_not(None)), sa.and_(condition, given.is_(None)))


def by_texts(uow: UnitOfWork, endpoint: Endpoint, table: Any, name: str, test: Callable[[Any], Any]) -> Any:
    """Returns the condition that a column with few different texts has one of those that pass a test; ``None`` for a
    column that may have many, or has more than :data:`MAX_TEXTS`. One statement, which reads an index entry a text.
    """
    if name not in endpoint.model.few_texts or not is_indexed(endpoint):
        return None
    texts = _texts(endpoint.table.c[name])
    rows = uow.execute(sa.select(texts.c.value, test(texts.c.value))).tuples()
    if len(rows) > MAX_TEXTS:
        return None
    # Literals, so that the planner knows how many rows have them.
    found = [planned(endpoint.registry.driver, text) for text, passes in rows if passes]
    return table.c[name].in_(found) if found else sa.false()


@lru_cache("SQL statements", 2000)
def _texts(column: sa.Column[Any]) -> Any:
    """Subquery of the different texts of a column with an index, one more than are read: each the next after the last
    (recursive CTE).
    """
    first = sa.select(column.label("value")).order_by(column).limit(inlined_int("one", 1)).subquery()
    texts = sa.select(first.c.value).cte("texts", recursive=True)
    following = sa.select(column).where(column > texts.c.value).order_by(column).limit(inlined_int("one", 1))
    texts = texts.union_all(sa.select(following.scalar_subquery()).where(texts.c.value.is_not(None)))
    most = sa.select(texts.c.value).where(texts.c.value.is_not(None))
    return most.limit(inlined_int("most", MAX_TEXTS + 1)).subquery()
