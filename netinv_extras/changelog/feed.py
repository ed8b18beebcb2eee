"""Feed of the change log in the order of commits, without gaps, for clients that mirror the inventory.

Supports long polling: a waiting request holds no database connection. The cursor also passes changes that the user may
not view.
"""

from __future__ import annotations

import base64
import dataclasses
import logging
import re
import threading
import time
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa
from pyramid.request import Request
from sqlalchemy.engine import Engine

from netinv_core.auth import permissions
from netinv_core.changelog import sequence
from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.errors import Denied, Gone, Invalid, Unavailable
from netinv_core.http import pagination, query_parameters, views
from netinv_core.http.actions import documented
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import Query, single_value
from netinv_core.models.base import table_of
from netinv_extras.webhooks.payload import EVENTS

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

log = logging.getLogger(__name__)
MAX_WAIT_SECONDS, POLL_INTERVAL = 60, 0.5
DEFAULT_LIMIT = 1000  # changes of a page, where the setting for pages has no maximum
NOW, _VERSION = "now", "1"
_PRUNED = "Changes after this cursor are no longer kept: read everything anew, then go on from a cursor of that time."
_AHEAD = (
    "There is no such change: the log is older than this cursor. "
    "Read everything anew, then go on from a cursor of that time."
)

_change = table_of(ObjectChange)
_names = (
    "id",
    "time",
    "action",
    "changed_object_type",
    "changed_object_id",
    "object_repr",
    "user_name",
    "request_id",
    "bypassed",
    "before",
    "after",
    "number",
)


class LongPollSlots:
    """Counter of the long-polling requests of this process, each of which occupies a thread of the server."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def enter(self, limit: int) -> bool:
        """Takes a slot; returns false when ``limit`` slots are taken."""
        with self._lock:
            if self.count >= limit:
                return False
            self.count += 1
            return True

    def leave(self) -> None:
        """Releases a slot."""
        with self._lock:
            self.count -= 1


@dataclasses.dataclass(frozen=True)
class FeedPage:
    """Result of one query: the visible changes, the number of the last one read, and whether more follow."""

    results: list[dict[str, Any]]
    last: int
    more: bool


def cursor_of(number: int) -> str:
    """Returns the opaque cursor after the change with a number."""
    return base64.urlsafe_b64encode(f"{_VERSION}:{number}".encode()).decode().rstrip("=")


def number_of(cursor: str) -> int:
    """Returns the number of the change that a cursor follows.

    :raises Invalid: for an invalid cursor
    """
    try:
        version, number = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii").split(":")
    except ValueError:
        version = number = ""
    known = version == _VERSION and re.fullmatch(r"[0-9]{1,18}", number)
    if not known or cursor_of(int(number)) != cursor.rstrip("="):  # decoding skips what is no digit of Base64
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
        "bypassed": {"type": "string", "nullable": True, "description": "The review rules that were left out."},
        "before": {
            "type": "object",
            "nullable": True,
            "description": "The object's representation before the change; null for a new one.",
        },
        "after": {
            "type": "object",
            "nullable": True,
            "description": "The object's representation after the change; null for a deleted one.",
        },
    },
}
_PAGE_SCHEMA = {
    "type": "object",
    "properties": {
        "results": {"type": "array", "items": _CHANGE_SCHEMA},
        "cursor": {
            "type": "string",
            "description": "What to send as `after` next: the place behind the last change looked at.",
        },
        "more": {"type": "boolean", "description": "Whether there is more to read at once."},
    },
    "required": ["results", "cursor", "more"],
}
_QUERY = (
    query_parameters.query(
        "after",
        {"type": "string"},
        "A cursor: the changes behind it. `now`: those to come. Not given: from the first one kept.",
    ),
    query_parameters.query(
        "limit",
        {"type": "integer", "minimum": 0},
        "How many changes to look at; 0 for as many as a page may hold.",
    ),
    query_parameters.query(
        "wait",
        {"type": "integer", "minimum": 0, "maximum": MAX_WAIT_SECONDS},
        "Seconds to wait for a change when there is none.",
    ),
)


@documented(_PAGE_SCHEMA, query=_QUERY)
def feed(request: Request) -> dict[str, Any]:
    """The changes committed after a cursor, in the order of their commits; waits for one when asked to."""
    uow, endpoint = request.uow, request.context.endpoint
    uow.read_from_primary()  # changes get their numbers after their commits, in transactions of nobody's
    limit = pagination.window(uow.query, uow.registry.settings).limit or DEFAULT_LIMIT
    with Deadline(uow, request.registry.netinv_waiters, _wait(uow.query)) as deadline:
        reader = FeedReader(uow, endpoint, request.registry.netinv_engine, limit)
        page = reader.look(reader.start(single_value(uow.query, "after")))
        while not page.results and deadline.left and (page.more or deadline.pause()):
            page = reader.look(page.last)
    request.response.headers["Cache-Control"] = "no-store"
    return {"results": page.results, "cursor": cursor_of(page.last), "more": page.more}


def _wait(query: Query) -> int:
    text = single_value(query, "wait") if "wait" in query else "0"
    if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) > MAX_WAIT_SECONDS:
        raise Invalid.field("wait", f"A whole number of seconds is required, {MAX_WAIT_SECONDS} at most.")
    return int(text)


class Deadline:
    """Time limit of a long-polling request. Without a free slot the request does not wait."""

    def __init__(self, uow: RequestUnitOfWork, waiters: LongPollSlots, seconds: int) -> None:
        self._uow, self._waiters, self._deadline = uow, waiters, time.monotonic() + seconds
        self._waiting = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._waiting:
            self._waiters.leave()

    @property
    def left(self) -> float:
        """Remaining seconds, at least 0."""
        return max(0.0, self._deadline - time.monotonic())

    def pause(self) -> bool:
        """Releases the connection and sleeps until the next query. Returns false when no slot is free."""
        self._waiting = self._waiting or self._waiters.enter(self._uow.registry.settings["feed_waiters"])
        if self._waiting:
            self._uow.release()
            time.sleep(min(POLL_INTERVAL, self.left))
        return self._waiting


class FeedReader:
    """Reads changes with the permissions of the user, at most ``limit`` at a time."""

    def __init__(self, uow: RequestUnitOfWork, endpoint: Endpoint, engine: Engine, limit: int) -> None:
        self._uow, self._engine, self._limit = uow, engine, limit
        permitted = sa.and_(sa.true(), *permissions.limits(uow, endpoint, "view", _change))
        statement = sa.select(*record_columns(_names), permitted.label("permitted"))
        self._next = statement.order_by(_change.c.number).limit(limit + 1)
        self._types: dict[str, bool] = {}

    def start(self, after: str) -> int:
        """Returns the number after which to start.

        :raises Unavailable: for ``now``, when committed changes cannot be numbered, so that the end is unknown
        """
        if after not in ("", NOW):
            return number_of(after)
        numbers = self._numbers()
        if not after:
            return numbers.pruned
        while numbers.waiting:
            numbers, before = self._numbers(), numbers
            if numbers == before:
                raise Unavailable("Changes are waiting for their numbers; try again in a moment.")
        return numbers.last

    def look(self, last: int) -> FeedPage:
        """Reads the changes after a number.

        :raises Gone: when changes after it were pruned, or the number is unknown
        """
        numbers = self._numbers()
        if last > numbers.last:
            raise Gone(_AHEAD)
        if last == numbers.last:
            return FeedPage([], last, False)
        rows = self._uow.execute(self._next.where(_change.c.number > last)).all()
        # after the SELECT: rows that were pruned before it are known now
        if last < sequence.numbers(self._uow.connection).pruned:
            raise Gone(_PRUNED)
        page = rows[: self._limit]
        results = [self._result(row) for row in page if row.permitted and self._may_view(row.changed_object_type)]
        return FeedPage(results, page[-1].number if page else last, len(rows) > len(page))

    def _numbers(self) -> sequence.Numbers:
        """Numbers the committed changes, and returns the state of the numbering; in a new snapshot."""
        self._uow.release()
        numbers = sequence.numbers(self._uow.connection)
        if numbers.waiting:
            self._uow.release()
            try:
                sequence.number_some(self._engine)
            except sa.exc.OperationalError as error:  # deadlock or lock timeout: the next query tries again
                log.info("numbering of changes postponed: %s", error)
            numbers = sequence.numbers(self._uow.connection)
        return numbers

    def _may_view(self, label: str) -> bool:
        """True if the user may view all objects of a type. Constraints apply to current objects, not past changes."""
        if label not in self._types:
            endpoint = self._uow.registry.get(label)
            self._types[label] = self._uow.identity.superuser if endpoint is None else self._is_unrestricted(endpoint)
        return self._types[label]

    def _is_unrestricted(self, endpoint: Endpoint) -> bool:
        try:
            return not permissions.limits(self._uow, endpoint, "view", endpoint.table)
        except Denied:
            return False

    def _result(self, row: Any) -> dict[str, Any]:
        """Represents a change, with the object's representations in the API version of the request."""
        endpoint = self._uow.registry.get(row.changed_object_type)

        def downgraded(representation: Any) -> Any:
            if endpoint is None or representation is None:
                return representation
            return views.downgrade_representation(self._uow, endpoint, [representation])[0]

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
            "bypassed": row.bypassed,
            "before": downgraded(row.before),
            "after": downgraded(row.after),
        }


def includeme(config: Any) -> None:
    """Adds the route."""
    config.registry.netinv_waiters = LongPollSlots()
    config.add_netinv_action("extras/object-changes", "feed", on_list=True, get=feed, permission="view")
