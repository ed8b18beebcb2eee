"""The feed: the change log in the order of commits, nothing left out, for those who keep a copy of the inventory up to date.

Who has no news waits here, without a connection to the database; what was hidden from a reader counts as read.
"""

from __future__ import annotations

import base64
import dataclasses
import logging
import re
import threading
import time
from typing import Any, Self

import sqlalchemy as sa
from pyramid.request import Request
from sqlalchemy.engine import Engine

from netinv_core.auth import permissions
from netinv_core.changelog import sequence
from netinv_core.changelog.models import ObjectChange
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Denied, Gone, Invalid, Unavailable
from netinv_core.http import openapi_parameters, pagination, views
from netinv_core.http.actions import documented
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import Query
from netinv_core.models.base import table_of
from netinv_extras.webhooks.payload import EVENTS

log = logging.getLogger(__name__)
LONGEST_WAIT, PAUSE = 60, 0.5  # seconds: a request's patience, and how often it looks
MOST = 1000  # changes, where the setting for pages names no maximum
NOW, _VERSION = "now", "1"
_PRUNED = "Changes after this cursor are no longer kept: read everything anew, then go on from a cursor of that time."
_AHEAD = "There is no such change: the log is older than this cursor. Read everything anew, then go on from a cursor of that time."

_change = table_of(ObjectChange)
_names = ("id", "time", "action", "changed_object_type", "changed_object_id", "object_repr", "user_name", "request_id", "before", "after", "number")


class LongPollSlots:
    """How many requests of this process wait for changes: each holds one of the server's threads."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def enter(self, most: int) -> bool:
        """Takes a place, unless ``most`` are taken."""
        with self._lock:
            if self.count >= most:
                return False
            self.count += 1
            return True

    def leave(self) -> None:
        """Gives the place back."""
        with self._lock:
            self.count -= 1


@dataclasses.dataclass(frozen=True)
class Page:
    """What a look found: the changes that may be seen, the number of the last one looked at, and whether there are others behind it."""

    results: list[dict[str, Any]]
    last: int
    more: bool


def cursor_of(number: int) -> str:
    """The place behind a change, as clients keep it."""
    return base64.urlsafe_b64encode(f"{_VERSION}:{number}".encode()).decode().rstrip("=")


def number_of(cursor: str) -> int:
    """The number of the change that a cursor is behind.

    :raises Invalid: for what is no cursor
    """
    try:
        version, number = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii").split(":")
    except ValueError:
        version = number = ""
    if version != _VERSION or not re.fullmatch(r"[0-9]{1,18}", number):
        raise Invalid.field("after", "This is no cursor of this feed.")
    return int(number)


_CHANGE_SCHEMA = {
    "type": "object",
    "properties": {
        "cursor": {"type": "string", "description": "The place behind this change."},
        "id": {"type": "string", "format": "uuid"},
        "time": {"type": "string", "format": "date-time"},
        "event": {"type": "string", "enum": list(EVENTS.values())},
        "changed_object_type": {"type": "string"},
        "changed_object_id": {"type": "string", "format": "uuid"},
        "object_repr": {"type": "string"},
        "user_name": {"type": "string"},
        "request_id": {"type": "string", "format": "uuid"},
        "before": {"type": "object", "nullable": True, "description": "The object's representation before the change; null for a new one."},
        "after": {"type": "object", "nullable": True, "description": "The object's representation after the change; null for a deleted one."},
    },
}
_PAGE_SCHEMA = {
    "type": "object",
    "properties": {
        "results": {"type": "array", "items": _CHANGE_SCHEMA},
        "cursor": {"type": "string", "description": "What to send as `after` next: the place behind the last change looked at."},
        "more": {"type": "boolean", "description": "Whether there is more to read at once."},
    },
    "required": ["results", "cursor", "more"],
}
_QUERY = (
    openapi_parameters.query("after", {"type": "string"}, "A cursor: the changes behind it. `now`: those to come. Not given: from the first one kept."),
    openapi_parameters.query("limit", {"type": "integer", "minimum": 0}, "How many changes to look at; 0 for as many as a page may hold."),
    openapi_parameters.query("wait", {"type": "integer", "minimum": 0, "maximum": LONGEST_WAIT}, "Seconds to wait for a change when there is none."),
)


@documented(_PAGE_SCHEMA, query=_QUERY)
def feed(request: Request) -> dict[str, Any]:
    """The changes committed after a cursor, in the order of their commits; waits for one when asked to."""
    uow, endpoint = request.uow, request.context.endpoint
    limit = pagination.window(uow.query, uow.registry.settings).limit or MOST
    with Deadline(uow, request.registry.netinv_waiters, _wait(uow.query)) as patience:
        reader = Reader(uow, endpoint, request.registry.netinv_engine, limit)
        found = reader.look(reader.start(uow.query.get("after", [""])[-1]))
        while not found.results and patience.left and (found.more or patience.pause()):
            found = reader.look(found.last)
    request.response.headers["Cache-Control"] = "no-store"
    return {"results": found.results, "cursor": cursor_of(found.last), "more": found.more}


def _wait(query: Query) -> int:
    text = query.get("wait", ["0"])[-1]
    if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) > LONGEST_WAIT:
        raise Invalid.field("wait", f"A whole number of seconds is required, {LONGEST_WAIT} at most.")
    return int(text)


class Deadline:
    """How long a request goes on looking; one that finds no place among those who wait does not wait."""

    def __init__(self, uow: RequestUnitOfWork, waiters: LongPollSlots, seconds: int) -> None:
        self._context, self._waiters, self._deadline = uow, waiters, time.monotonic() + seconds
        self._waiting = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._waiting:
            self._waiters.leave()

    @property
    def left(self) -> float:
        """Seconds; 0 when there are none."""
        return max(0.0, self._deadline - time.monotonic())

    def pause(self) -> bool:
        """Waits until it is time for another look, without a connection; says whether to take one."""
        self._waiting = self._waiting or self._waiters.enter(self._context.registry.settings["feed_waiters"])
        if self._waiting:
            self._context.release()
            time.sleep(min(PAUSE, self.left))
        return self._waiting


class Reader:
    """Looks at changes on behalf of who asks, up to ``limit`` at a time."""

    def __init__(self, uow: RequestUnitOfWork, endpoint: Endpoint, engine: Engine, limit: int) -> None:
        self._context, self._engine, self._limit = uow, engine, limit
        allowed = permissions.scope(uow, endpoint, "view", _change)
        permitted = sa.true() if allowed is None else allowed
        self._next = sa.select(*[_change.c[name] for name in _names], permitted.label("permitted")).order_by(_change.c.number).limit(limit + 1)
        self._types: dict[str, bool] = {}

    def start(self, after: str) -> int:
        """The number to begin behind.

        :raises Unavailable: when not all changes that there are can get their numbers, so that nobody knows where the new ones begin
        """
        if after not in ("", NOW):
            return number_of(after)
        known = self._numbers()
        if not after:
            return known.pruned
        while known.waiting:
            known, before = self._numbers(), known
            if known == before:
                raise Unavailable("Changes are waiting for their numbers; try again in a moment.")
        return known.given

    def look(self, last: int) -> Page:
        """What comes behind a number.

        :raises Gone: when something was there that is not kept any longer
        """
        known = self._numbers()
        if last > known.given:
            raise Gone(_AHEAD)
        if last == known.given:
            return Page([], last, False)
        rows = self._context.execute(self._next.where(_change.c.number > last)).all()
        if last < sequence.numbers(self._context.connection).pruned:  # asked after reading: what was missing then is said by now
            raise Gone(_PRUNED)
        seen = rows[: self._limit]
        shown = [self._shown(row) for row in seen if row.permitted and self._may_view(row.changed_object_type)]
        return Page(shown, seen[-1].number if seen else last, len(rows) > len(seen))

    def _numbers(self) -> sequence.Numbers:
        """How far the numbers are, once what is committed has them; on a snapshot of its own."""
        self._context.release()
        found = sequence.numbers(self._context.connection)
        if found.waiting:
            self._context.release()
            try:
                sequence.number_some(self._engine)
            except sa.exc.OperationalError as error:  # a deadlock, a lock that does not come: the next look tries again
                log.info("changes get their numbers later: %s", error)
            found = sequence.numbers(self._context.connection)
        return found

    def _may_view(self, label: str) -> bool:
        """Whether every object of a type may be viewed: a change is not measured by constraints, which are about what objects are now."""
        if label not in self._types:
            endpoint = self._context.registry.get(label)
            try:
                found = self._context.identity.superuser if endpoint is None else permissions.scope(self._context, endpoint, "view", endpoint.table) is None
            except Denied:
                found = False
            self._types[label] = found
        return self._types[label]

    def _shown(self, row: Any) -> dict[str, Any]:
        endpoint = self._context.registry.get(row.changed_object_type)

        def as_asked(shown: Any) -> Any:
            return views.downgrade_representation(self._context, endpoint, [shown])[0] if endpoint is not None and shown is not None else shown

        return {
            "cursor": cursor_of(row.number),
            "id": row.id,
            "time": row.time,
            "event": EVENTS[row.action],
            "changed_object_type": row.changed_object_type,
            "changed_object_id": row.changed_object_id,
            "object_repr": row.object_repr,
            "user_name": row.user_name,
            "request_id": row.request_id,
            "before": as_asked(row.before),
            "after": as_asked(row.after),
        }


def includeme(config: Any) -> None:
    """Adds the route."""
    config.registry.netinv_waiters = LongPollSlots()
    config.add_netinv_action("extras/object-changes", "feed", on_list=True, get=feed, permission="view")
