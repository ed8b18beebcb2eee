"""Records when tokens were last used, beside the requests that use them."""

from __future__ import annotations

import datetime
import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth.models import Token
from netinv_core.models.base import now, table_of
from netinv_core.tasks.background import BackgroundWorker

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from netinv_core.registry import Registry

INTERVAL = datetime.timedelta(minutes=1)  # the time of a token's last use is stored at most this often
_tokens = table_of(Token)


class TokenUse(BackgroundWorker):
    """Stores the times of last use of tokens, in a thread of its own: no request waits for it."""

    thread_name = "netinv-token-use"

    def __init__(self, engine: Engine, registry: Registry) -> None:
        super().__init__(engine, registry)
        self._used: dict[uuid.UUID, datetime.datetime] = {}

    def note(self, token_id: uuid.UUID) -> None:
        """Takes a use of a token whose stored time is older than :data:`INTERVAL`. Returns at once."""
        with self._changed:
            if token_id in self._used:
                return
            self._used[token_id] = now()
        self.poll()

    def work(self) -> None:
        """Stores the times that were noted."""
        with self._changed:
            used = sorted(self._used.items())
        if not used:
            return
        statement: Any = (
            sa.update(_tokens).where(_tokens.c.id == sa.bindparam("key")).values(last_used=sa.bindparam("at"))
        )
        try:
            options = self._registry.driver.connection_options(writing=True)
            with self._engine.connect().execution_options(**options) as connection:
                connection.execute(statement, [{"key": key, "at": at} for key, at in used])
                connection.commit()
        finally:
            with self._changed:
                for key, _ in used:
                    self._used.pop(key, None)
