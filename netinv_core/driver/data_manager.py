"""Sessions in the transactions of requests, by zope.sqlalchemy.

It is imported without PyMySQL, which it would load for any database, and with it ``cryptography``: 8 MiB of a process.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from sqlalchemy import event
from sqlalchemy.orm import Session, sessionmaker

from netinv_core.driver.sessions import OwnedSession, close
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


class JoinedSession(OwnedSession):
    """A session that commits and aborts with the transaction of a request. Only these listen to events of sessions."""

    def close(self) -> None:
        """Closes the session, as the transaction that is over does.

        :raises RuntimeError: while the transaction goes on
        """
        if self in datamanager._SESSION_STATE:
            super().close()
        else:
            close(self)


def joined_session(factory: sessionmaker[Session], manager: Any) -> Session:
    """Returns a session with the options of a factory, which follows a transaction manager.

    ``zope.sqlalchemy.register`` for each session takes 0.1 ms.
    """
    session = JoinedSession(**factory.kw)
    session.info[_TRANSACTION] = datamanager.ZopeTransactionEvents(transaction_manager=manager)
    return session


def _tell_transaction(name: str, subject: Any, *details: Any) -> None:
    """Passes an event to the transaction that the session has joined."""
    session = subject if isinstance(subject, Session) else subject.session
    getattr(session.info[_TRANSACTION], name)(subject, *details)


for _name in _TRANSACTION_EVENTS:
    event.listen(JoinedSession, _name, functools.partial(_tell_transaction, _name))


def mark_changed(session: Session) -> None:
    """Marks a session as one that has written, so that its transaction is committed."""
    datamanager.mark_changed(session)


def retry_deadlocks_of_mysql() -> None:
    """Has deadlocks of MySQL retried, as zope.sqlalchemy does where it finds the driver."""
    error = importlib.import_module("pymysql").err.OperationalError
    if all(known is not error for known, _ in datamanager._retryable_errors):
        datamanager._retryable_errors.append((error, lambda raised: raised.args[0] == DEADLOCK))
