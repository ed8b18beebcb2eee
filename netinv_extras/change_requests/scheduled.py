"""Merges at a time: the worker merges each change request that is due, as the user who asked for it.

A merge is one transaction that locks the change request: several workers merge it once, and one that dies leaves it
due. What stands against it is told by an event, and ends the schedule. The event is for all readers of the change
request: the words of packages are in the log only.
"""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core import content_types
from netinv_core.auth import identity
from netinv_core.auth.account import Identity
from netinv_core.db.engine import session_factory
from netinv_core.driver.sessions import commit
from netinv_core.errors import Conflict, Denied, NotFound, RequestError, error_text
from netinv_core.http.versions import NEWEST
from netinv_core.models.base import now
from netinv_core.read import listing
from netinv_core.uow import UnitOfWork
from netinv_extras.change_requests import lifecycle, review
from netinv_extras.change_requests.models import FAIL, OPEN_STATES, request_table

if TYPE_CHECKING:
    from netinv_core.registry import Registry

ATTEMPTS = 3  # when the database breaks a transaction off
MAX_DUE = 100  # change requests that are looked for at once
REFUSED = "The changes were refused. Merge it by hand to see why."  # the words may name objects that are not for all
NOBODY = "Who asked for the merge has no active account any more."
log = logging.getLogger(__name__)


def merge_due(engine: Engine, registry: Registry) -> int:
    """Merges what is due; returns the number of change requests that were looked at."""
    keys = _due(engine, registry)
    for key in keys:
        _merge(engine, registry, key)
    return len(keys)


def _due(engine: Engine, registry: Registry) -> list[uuid.UUID]:
    """The ids of the change requests that are due, the earliest first."""
    table = request_table
    due = sa.select(table.c.id).where(table.c.merge_at <= now(), table.c.state.in_(OPEN_STATES))
    reading = registry.driver.connection_options(writing=False)
    with engine.connect().execution_options(**reading) as connection, connection.begin():
        return list(connection.execute(due.order_by(table.c.merge_at, table.c.id).limit(MAX_DUE)).scalars())


def _merge(engine: Engine, registry: Registry, key: uuid.UUID) -> None:
    """Merges a change request in a transaction of its own, with retries."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with session_factory(engine)() as session:
                base = registry.settings["base_url"]
                uow = UnitOfWork(registry, session, Identity(superuser=True), base, NEWEST, writing=True)
                content_types.load(uow)
                _try(uow, key)
                commit(session)
                return
        except sa.exc.OperationalError as error:
            log.warning("the merge of the change request %s was broken off: %s", key, error)
            if attempt == ATTEMPTS:
                raise


def _try(uow: UnitOfWork, key: uuid.UUID) -> None:
    """Merges a change request if it is still due, or tells why not."""
    row = listing.lock(uow, request_table, [key]).get(key)
    if row is None or row["merge_at"] is None or row["merge_at"] > uow.now or row["state"] not in OPEN_STATES:
        return
    try:
        uow.identity = identity.by_id(uow, row["merger_id"])
    except (LookupError, Denied):
        log.warning("the change request %s was not merged: %s", key, NOBODY)
        _tell(uow, key, NOBODY)
        return
    is_written = False
    try:
        with uow.savepoint() as changes:
            lifecycle.merge(uow, key)
            is_written = True
            changes.write(uow)  # here, where what packages refuse is caught
    except RequestError as error:
        body = error.body
        reason = error_text(body.get("detail", body) if isinstance(body, dict) else body)
        is_own = not is_written and (isinstance(error, Conflict) or reason in (Denied.detail, NotFound.detail))
        log.warning("the change request %s was not merged: %s", key, reason)
        _tell(uow, key, reason if is_own else REFUSED)


def _tell(uow: UnitOfWork, key: uuid.UUID, reason: str) -> None:
    """Ends the schedule of a change request, with the reason, which all of its readers see."""
    row = listing.lock(uow, request_table, [key])[key]
    review.record(uow, row, FAIL, reason[: review.MAX_TEXT], **review.UNSCHEDULED)
