"""Rows that the service needs in tables of the core and that no request writes: state of a single row, rows to be
locked, content types. Migrations add them; a start adds those that are gone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core import content_types
from netinv_core.auth.account import ANONYMOUS
from netinv_core.auth.models import ConfigurationVersion
from netinv_core.changelog.models import ChangeNumbering
from netinv_core.changelog.sequence import state_of_changes
from netinv_core.content_types import ContentTypeRow, labels_in_order
from netinv_core.db.engine import session_factory
from netinv_core.db.locks import STRIPES, LockStripe
from netinv_core.driver.sessions import commit, rollback
from netinv_core.models.base import table_of
from netinv_core.uow import UnitOfWork as SessionUnitOfWork
from netinv_core.upkeep import ROW, Upkeep

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
SHOWN = 5  # content types in a message
Execute = Callable[..., Any]
Rows = list[dict[str, Any]]


def _version(execute: Execute) -> dict[str, Any]:
    """A version that no process has cached: configuration is not written a thousand times a second."""
    return {"id": 1, "number": int(time.time() * 1000)}


# The ids that tables of the core must have, and the values of a row that is missing.
_BY_ID: dict[Any, tuple[range, Callable[[Execute], dict[str, Any]]]] = {
    table_of(ConfigurationVersion): (range(1, 2), _version),
    table_of(ChangeNumbering): (range(1, 2), state_of_changes),
    table_of(Upkeep): (range(ROW, ROW + 1), lambda execute: {"id": ROW}),
}


def find_missing(execute: Execute, registry: Registry) -> dict[Any, Rows]:
    """Returns the missing rows by table; empty when all are there. Two statements."""
    stripes, types = table_of(LockStripe), table_of(ContentTypeRow)
    parts = [sa.select(sa.literal(table.name), table.c.id) for table in (*_BY_ID, stripes)]
    present = set(execute(sa.union_all(*parts)).tuples())
    found = {
        table: [make(execute) for key in keys if (table.name, key) not in present]
        for table, (keys, make) in _BY_ID.items()
    }
    found[stripes] = [{"id": key} for key in range(STRIPES) if (stripes.name, key) not in present]
    known = set(execute(sa.select(types.c.app_label, types.c.model)).tuples())
    names = (tuple(label.split(".", 1)) for label in labels_in_order(registry))
    found[types] = [{"app_label": name[0], "model": name[1]} for name in names if name not in known]
    return {table: rows for table, rows in found.items() if rows}


def messages(lacking: dict[Any, Rows]) -> list[str]:
    """Messages, one for each table that lacks rows."""
    texts = []
    for table, rows in lacking.items():
        labels = [f"{row['app_label']}.{row['model']}" for row in rows if "model" in row]
        more = f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else ""
        of_types = f": {', '.join(labels[:SHOWN])}{more}" if labels else ""
        texts.append(f"{table.name} lacks {len(rows)} {'row' if len(rows) == 1 else 'rows'}{of_types}")
    return texts


def insert(uow: UnitOfWork) -> None:
    """Inserts the missing rows, content types in the order of lists, and reads the content types."""
    for table, rows in find_missing(uow.execute, uow.registry).items():
        uow.execute(sa.insert(table), rows)
    content_types.load(uow)


def _note(lacking: dict[Any, Rows]) -> None:
    """Logs which rows are inserted. Content types alone are no warning: those of new models were never there."""
    if lacking.keys() == {table_of(ContentTypeRow)}:
        log.info("content types that the database does not have are added: %s", "; ".join(messages(lacking)))
    else:
        log.warning("rows that the service needs were gone, and are restored: %s", "; ".join(messages(lacking)))


def restore(engine: Engine, registry: Registry) -> None:
    """Inserts the missing rows in a transaction of its own; of several processes at once one does so."""
    with engine.connect() as connection:
        lacking = find_missing(connection.execute, registry)
    if not lacking:
        return
    _note(lacking)
    with session_factory(engine)() as session:
        uow = SessionUnitOfWork(registry, session, ANONYMOUS, writing=True)
        try:
            insert(uow)
            commit(session)
        except sa.exc.IntegrityError:  # another process has inserted them
            rollback(session)
            content_types.load(uow)
