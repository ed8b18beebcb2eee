"""Pages of a list: limits and cursors from the query, links to the neighbours."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from pyramid.request import Request

from netinv_core.errors import Invalid
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import Query, single_value
from netinv_core.read.listing import Slice
from netinv_core.read.pages import BOUNDED, COUNT, COUNTS, CURSOR, EXACT, NONE, ListPage

PARAMETERS = frozenset({CURSOR, COUNT})  # of pages, in lists without filters of these names
OFFSET_WITH_CURSOR = "A page that begins at a cursor has no offset."
MAX_NUMBER = 2**63 - 1  # the largest LIMIT and OFFSET that every database takes


def window(query: Query, settings: Mapping[str, Any]) -> Slice:
    """The requested slice: ``paginate_count`` objects by default, ``max_page_size`` at most; limit 0 means all objects.

    :raises Invalid: naming ``limit`` or ``offset``, for anything but a number from 0 to :data:`MAX_NUMBER`
    """
    max_size = settings["max_page_size"]
    numbers: dict[str, int | None] = {}
    errors: dict[str, list[str]] = {}
    for name in ("limit", "offset"):
        try:
            numbers[name] = _whole(single_value(query, name).strip())
        except ValueError as error:
            errors[name] = [str(error)]
        except Invalid as error:
            errors |= error.body
    if errors:
        raise Invalid(errors)
    limit = numbers["limit"]
    if limit is None:
        limit = settings["paginate_count"]
        limit = min(limit, max_size) if max_size else limit
    elif max_size and (limit == 0 or limit > max_size):
        limit = max_size
    return Slice(limit, numbers["offset"] or 0)


def page_window(query: Query, settings: Mapping[str, Any], filters: Collection[str] = ()) -> Slice:
    """The requested slice of a list with cursors, which ``filters`` of the same names take precedence over.

    An offset is counted from the start of the list, so it may go with a blank cursor, but not with another one.

    :raises Invalid: as :func:`window`; naming ``count``, for another word than one of :data:`COUNTS`
    """
    part = window(query, settings)
    given = {name: single_value(query, name).strip() for name in PARAMETERS if name in query and name not in filters}
    cursor = given.get(CURSOR)
    unasked = BOUNDED if settings["exact_count_limit"] else EXACT
    count = given.get(COUNT)
    if count and count not in COUNTS:
        raise Invalid.field(COUNT, f"Select a valid choice. '{count}' is not one of: {', '.join(COUNTS)}")
    if cursor and part.offset:
        raise Invalid.field("offset", OFFSET_WITH_CURSOR)
    return dataclasses.replace(part, cursor=cursor, count=count or (unasked if cursor is None else NONE))


def body(request: Request, page: ListPage, results: Sequence[Any]) -> dict[str, Any]:
    """The answer with a page: count, links to its neighbours, and the representations of its objects.

    Those of a POST are the members of its body that lead there.
    """
    link = _members if request.method == "POST" else functools.partial(_link, request)
    following, preceding = (None if part is None else link(part) for part in (page.following, page.preceding))
    return {"count": page.count, "next": following, "previous": preceding, "results": results}


def _link(request: Request, part: Slice) -> str:
    uow: RequestUnitOfWork = request.uow
    url = f"{uow.base}{request.path}"
    if part.cursor is None:
        return _url(url, uow.query, part.limit, part.offset)
    return _url(url, {**uow.query, CURSOR: [part.cursor]}, part.limit, 0)


def _members(part: Slice) -> dict[str, Any]:
    return {"offset": part.offset} if part.cursor is None else {CURSOR: part.cursor, "offset": None}


def _whole(text: str) -> int | None:
    """A number from 0 to :data:`MAX_NUMBER`; ``None`` for blank text.

    :raises ValueError: for any other text
    """
    if not text:
        return None
    if not re.fullmatch("[+-]?[0-9]+", text):
        raise ValueError("A valid integer is required.")
    if text.startswith("-") and text.strip("-0"):
        raise ValueError("Ensure this value is greater than or equal to 0.")
    if len(text.lstrip("+-0")) > len(str(MAX_NUMBER)) or int(text) > MAX_NUMBER:
        raise ValueError(f"Ensure this value is less than or equal to {MAX_NUMBER}.")
    return int(text)


def links(url: str, query: Query, part: Slice, count: int) -> tuple[str | None, str | None]:
    """The URLs of the next and the previous page; ``None`` where there is none."""
    next_url = previous_url = None
    if part.limit and part.offset + part.limit < count:
        next_url = _url(url, query, part.limit, part.offset + part.limit)
    if part.limit and part.offset > 0:
        previous_url = _url(url, query, part.limit, part.offset - part.limit)
    return next_url, previous_url


def _url(url: str, query: Query, limit: int, offset: int) -> str:
    parameters: dict[str, Any] = {**query, "limit": limit, "offset": offset}
    if offset <= 0:
        del parameters["offset"]
    return f"{url}?{urlencode(sorted(parameters.items()), doseq=True)}"
