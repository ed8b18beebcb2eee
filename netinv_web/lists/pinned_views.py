"""Saved views that a user pins: tiles of the home page. Their ids are a preference of the user."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.errors import NotFound
from netinv_core.labels import plural_of
from netinv_core.models.base import table_of
from netinv_web import frame, preferences
from netinv_web.lists.saved_views import SavedView, own_and_shared
from netinv_web.menu import may
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MEMBER = "pinned_views"  # of the preferences
MAX_PINS = 24  # the first of more is forgotten
_views = table_of(SavedView)


@dataclasses.dataclass(frozen=True)
class Tile:
    """A pinned view: its name, the title of its list, and its path."""

    name: str
    title: str
    path: str


def tiles_of(request: Request) -> list[Tile]:
    """The pinned views that still exist, and whose lists the user may view, in the order in which they were pinned."""
    uow, pins = request.uow, frame.of(request).preferences.pinned_views
    rows = {str(row["id"]): row for row in _rows(uow, pins)} if pins else {}
    tiles = []
    for row in (rows[pin] for pin in pins if pin in rows):
        endpoint = uow.registry.get(row["content_type"])
        if endpoint is not None and may(uow, endpoint, "view"):
            path = page_path(endpoint)
            path = f"{path}?{row['query']}" if row["query"] else path
            tiles.append(Tile(row["name"], plural_of(endpoint), path))
    return tiles


def _rows(uow: UnitOfWork, keys: Any) -> list[Any]:
    """The rows of the views with these ids that the user sees; one statement."""
    endpoint = uow.registry.of_model(SavedView)
    parsed = [key for key in map(endpoint.parse_key, keys) if key is not None]
    statement = sa.select(_views).where(_views.c.id.in_(parsed), own_and_shared(uow, _views))
    return list(uow.execute(statement).mappings())


def toggle(request: Request, text: str) -> bool:
    """Pins a view of the list, or takes its pin away; returns whether it is pinned now.

    :raises NotFound: for a view that the user does not see, or of another list
    """
    rows = _rows(request.uow, [text])
    if not rows or rows[0]["content_type"] != request.context.endpoint.label:
        raise NotFound()
    key = str(rows[0]["id"])
    pins = [pin for pin in frame.of(request).preferences.pinned_views if pin != key]
    is_new = len(pins) == len(frame.of(request).preferences.pinned_views)
    preferences.store(request, {MEMBER: [*pins, key][-MAX_PINS:] if is_new else pins})
    return is_new
