"""Sessions of units of work: who began a transaction ends it, and no function that is called on the way."""

from __future__ import annotations

from typing import Any, Never

from sqlalchemy.engine import Connection
from sqlalchemy.orm import Session


class OwnedSession(Session):
    """A session that is ended by the functions of this module, or by its ``with`` block.

    Rules, hooks, jobs and commands have it as ``uow.session``: what others have written in the transaction would be
    lost, or be committed though the rest of it fails.
    """

    def commit(self) -> None:
        """Refuses.

        :raises RuntimeError: always
        """
        _refuse("committed", "what is written is committed at the end of the unit of work")

    def rollback(self) -> None:
        """Refuses.

        :raises RuntimeError: always
        """
        _refuse("rolled back", "raise an error, or use uow.savepoint()")

    def close(self) -> None:
        """Refuses.

        :raises RuntimeError: always
        """
        _refuse("closed", "the unit of work closes it at its end")

    def reset(self) -> None:
        """Refuses.

        :raises RuntimeError: always
        """
        _refuse("reset", "the unit of work closes it at its end")

    def invalidate(self) -> None:
        """Refuses.

        :raises RuntimeError: always
        """
        _refuse("invalidated", "the unit of work closes it at its end")

    def __exit__(self, *exception: Any) -> None:
        close(self)


def _refuse(ended: str, instead: str) -> Never:
    raise RuntimeError(f"the session of a unit of work is not {ended} by hand: {instead}")


# What the connection of a unit of work has in place of its methods that end its transaction. ``close`` and
# ``invalidate`` are not among them: SQLAlchemy calls them.
REFUSALS = {
    "commit": lambda: _refuse("committed", "what is written is committed at the end of the unit of work"),
    "rollback": lambda: _refuse("rolled back", "raise an error, or use uow.savepoint()"),
    "detach": lambda: _refuse("detached", "the unit of work returns its connection"),
}


def commit(session: Session) -> None:
    """Commits the transaction of a session, with the change records of its units of work."""
    Session.commit(session)


def commit_connection(connection: Connection) -> None:
    """Commits the transaction of a unit of work's connection, after that of the unit of work."""
    Connection.commit(connection)


def rollback(session: Session) -> None:
    """Rolls the transaction of a session back."""
    Session.rollback(session)


def close(session: Session) -> None:
    """Closes a session, whose transaction is rolled back, and returns its connection to the pool."""
    Session.close(session)
