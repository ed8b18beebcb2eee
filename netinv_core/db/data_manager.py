"""Sessions in the transactions of requests, by zope.sqlalchemy.

It is imported without PyMySQL, which it would load for any database, and with it ``cryptography``: 8 MiB of a process.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from sqlalchemy import event
from sqlalchemy.orm import Session, sessionmaker

from netinv_core.imports import without

with without("pymysql"):
    from zope.sqlalchemy import datamanager

_TRANSACTION = "netinv: transaction"
_TRANSACTION_EVENTS = (
    "after_begin",
    "after_attach",
    "after_flush",
    "after_bulk_update",
    "after_bulk_delete",
    "before_commit",
    "do_orm_execute",
)
DEADLOCK = 1213  # MySQL's ER_LOCK_DEADLOCK


def listen(factory: sessionmaker[Session]) -> None:
    """Makes sessions of a factory tell the transaction that they have joined."""
    for name in _TRANSACTION_EVENTS:
        event.listen(factory, name, functools.partial(_tell_transaction, name))


def join_transaction(session: Session, manager: Any) -> None:
    """Makes a session of a factory with :func:`listen` commit and abort with the transaction manager of the request.

    ``zope.sqlalchemy.register`` for each session takes 0.1 ms.
    """
    session.info[_TRANSACTION] = datamanager.ZopeTransactionEvents(transaction_manager=manager)


def _tell_transaction(name: str, subject: Any, *details: Any) -> None:
    """Passes an event to the transaction that the session has joined, if any."""
    session = subject if isinstance(subject, Session) else subject.session
    events = session.info.get(_TRANSACTION)
    if events is not None:
        getattr(events, name)(subject, *details)


def mark_changed(session: Session) -> None:
    """Marks a session as one that has written, so that its transaction is committed."""
    datamanager.mark_changed(session)


def retry_deadlocks_of_mysql() -> None:
    """Has deadlocks of MySQL retried, as zope.sqlalchemy does where it finds the driver."""
    error = importlib.import_module("pymysql").err.OperationalError
    if all(known is not error for known, _ in datamanager._retryable_errors):
        datamanager._retryable_errors.append((error, lambda raised: raised.args[0] == DEADLOCK))
