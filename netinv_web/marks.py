"""Marks of objects that a page shows otherwise than they are, and their state as it is: ``request.netinv_marks``.

A view deriver sets them. It reads what they show before it runs the view, so that rows take no statements of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from markupsafe import Markup
from pyramid.request import Request

from netinv_web.lists.rows import ListRow

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

ATTRIBUTE = "netinv_marks"


class LiveState(NamedTuple):
    """An object as it is: its representation, and the cells of its fields by name."""

    representation: Mapping[str, Any]
    cells: Mapping[str, Markup]


class Marks(Protocol):
    """The objects that a request shows otherwise than they are."""

    def mark(self, endpoint: Endpoint, key: str) -> str:
        """The mark of an object: ``new``, ``changed``, or blank."""

    def deleted_rows(self, endpoint: Endpoint) -> Sequence[ListRow]:
        """The rows of the page's list that are there as it is, but not as it is shown."""

    def live(self, endpoint: Endpoint, key: str) -> LiveState | None:
        """The object of the page as it is, where it is shown with changes."""


def of(request: Request) -> Marks | None:
    """The marks of a request; ``None`` for one that shows what is."""
    marks: Marks | None = getattr(request, ATTRIBUTE, None)
    return marks


def mark_of(request: Request, endpoint: Endpoint, key: Any) -> str:
    """The mark of an object; blank without one."""
    marks = of(request)
    return "" if marks is None else marks.mark(endpoint, str(key))


def live_of(request: Request, endpoint: Endpoint, key: Any) -> LiveState | None:
    """The object of a page as it is, where the page shows it with changes."""
    marks = of(request)
    return None if marks is None else marks.live(endpoint, str(key))


def marked_rows(request: Request, endpoint: Endpoint, rows: Sequence[ListRow], *, first: bool) -> list[ListRow]:
    """The rows of a list with their marks; below those of the first page, the rows of deleted objects."""
    marks = of(request)
    if marks is None:
        return list(rows)
    marked = [row._replace(mark=mark) if (mark := marks.mark(endpoint, row.key)) else row for row in rows]
    return [*marked, *marks.deleted_rows(endpoint)] if first else marked
