"""Change requests matched again with the review rules after these changed, by the worker, each in its own transaction.

What a change request needs is then known to its page and to *To review* before it is changed, submitted or approved. A
merge asks the rules themselves, so it waits for none of this.
"""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core import content_types
from netinv_core.auth.account import Identity
from netinv_core.db.engine import session_factory
from netinv_core.driver.sessions import commit
from netinv_core.http.versions import NEWEST
from netinv_core.read import listing
from netinv_core.uow import UnitOfWork
from netinv_extras.change_requests import lifecycle, proposals, review
from netinv_extras.change_requests.models import APPROVED, SUBMITTED, request_table

if TYPE_CHECKING:
    from netinv_core.registry import Registry

IN_REVIEW = (SUBMITTED, APPROVED)
log = logging.getLogger(__name__)


def match_again(engine: Engine, registry: Registry) -> int:
    """Matches the change requests that are in review; returns their number."""
    table = request_table
    waiting = sa.select(table.c.id).where(table.c.state.in_(IN_REVIEW)).order_by(table.c.created, table.c.id)
    reading = registry.driver.connection_options(writing=False)
    with engine.connect().execution_options(**reading) as connection, connection.begin():
        keys = list(connection.execute(waiting).scalars())
    for key in keys:
        try:
            _match(engine, registry, key)
        except sa.exc.OperationalError as error:
            log.warning("the change request %s was not matched with the review rules: %s", key, error)
    return len(keys)


def _match(engine: Engine, registry: Registry, key: uuid.UUID) -> None:
    """Stores which rules a change request meets now, and the state that follows."""
    with session_factory(engine)() as session:
        base = registry.settings["base_url"]
        uow = UnitOfWork(registry, session, Identity(superuser=True), base, NEWEST, writing=True)
        content_types.load(uow)
        row = listing.lock(uow, request_table, [key]).get(key)
        if row is not None and row["state"] in IN_REVIEW:
            review.settle(uow, row, lifecycle.required_rules(uow, key, proposals.load(uow, key)))
        commit(session)
