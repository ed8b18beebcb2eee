"""What every operation of the core works in: who asks, on which session, at which API version."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import uuid
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa
import zope.sqlalchemy
from sqlalchemy.orm import Session

from netinv_core.changes import Journal
from netinv_core.database import options_for
from netinv_core.model import now

if TYPE_CHECKING:
    from netinv_core.auth.identity import Identity
    from netinv_core.registry import Registry


@dataclasses.dataclass(eq=False)
class Context:
    """One unit of work: a request, an import or a command.

    ``base`` is the absolute URL of the service without a trailing slash; ``managed`` says that a transaction manager
    commits the session; ``seen`` keeps what rules looked up (:func:`netinv_core.read.pages.rows_of`) until the next write;
    ``copying`` that what is written is known as a whole elsewhere (an import), so that nothing is made along with it.
    """

    registry: Registry
    session: Session
    identity: Identity
    base: str = ""
    version: str = ""
    request_id: uuid.UUID = dataclasses.field(default_factory=uuid.uuid4)
    writing: bool = False
    managed: bool = False
    copying: bool = False
    now: datetime.datetime = dataclasses.field(default_factory=now)
    journal: Journal = dataclasses.field(default_factory=Journal)
    seen: dict[Any, Any] = dataclasses.field(default_factory=dict)
    _connection: sa.Connection | None = None

    @property
    def connection(self) -> sa.Connection:
        """The session's connection."""
        if self._connection is None:
            options = options_for(self.registry.dialect, writing=self.writing)
            self._connection = self.session.connection(execution_options=options)
        return self._connection

    def on_behalf(self) -> Self:
        """The same unit of work for what the service itself does because of the user: all is permitted, and recorded as the user's."""
        found = copy.copy(self)
        found.identity = dataclasses.replace(self.identity, superuser=True)
        return found

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        """Runs a SELECT."""
        return self.connection.execute(statement, parameters)

    def write(self, statement: Any, parameters: Any = None) -> Any:
        """Runs a statement that changes rows; a session that follows a transaction manager will then commit."""
        self.seen.clear()
        if self.managed:
            zope.sqlalchemy.mark_changed(self.session)
        return self.connection.execute(statement, parameters)
