"""Pausing of webhooks whose receivers answer 410 Gone."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Engine

from netinv_core.auth.account import Identity
from netinv_core.db.engine import session_factory
from netinv_core.driver.sessions import commit
from netinv_core.errors import RequestError
from netinv_core.uow import UnitOfWork
from netinv_core.write import save

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
LABEL = "extras.webhook"
REASON = "The receiver answered 410 Gone at {:%Y-%m-%d %H:%M:%S} UTC."


def pause_gone(engine: Engine, registry: Registry, times: Mapping[Any, datetime.datetime]) -> None:
    """Pauses webhooks, by the time at which their receiver answered 410 Gone: a change by the service, with a change
    record. One that cannot be changed is logged; its next message does it again.
    """
    for key, time in times.items():
        body = {"id": str(key), "paused": True, "pause_reason": REASON.format(time)}
        with session_factory(engine)() as session:
            uow = UnitOfWork(registry, session, Identity(superuser=True), writing=True)
            try:
                save.update(uow, registry[LABEL], [body], partial=True, single=True)
                commit(session)
            except RequestError as error:
                log.warning("webhook %s cannot be paused, though its receiver answered 410 Gone: %s", key, error)
            else:
                log.warning("webhook %s is paused: %s", key, body["pause_reason"])
