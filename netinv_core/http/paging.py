"""Pages of a list: limits from the query, links to the neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from netinv_core.http.answers import Query
from netinv_core.read.pages import Window


def window(query: Query, settings: Mapping[str, Any]) -> Window:
    """The part asked for: ``PAGINATE_COUNT`` when nothing usable is given, ``MAX_PAGE_SIZE`` at most; 0 is all there is."""
    most = settings.get("max_page_size") or 0
    limit = _whole(query.get("limit"))
    if limit is None:
        limit = settings.get("paginate_count", 50)
        limit = min(limit, most) if most else limit
    elif most and (limit == 0 or limit > most):
        limit = most
    return Window(limit, _whole(query.get("offset")) or 0)


def _whole(values: list[str] | None) -> int | None:
    text = values[-1] if values else ""
    return int(text) if text.isdecimal() and len(text) < 16 else None


def links(url: str, query: Query, part: Window, count: int) -> tuple[str | None, str | None]:
    """The URLs of the next and the previous page; ``None`` where there is none."""
    following = previous = None
    if part.limit and part.offset + part.limit < count:
        following = _url(url, query, part.limit, part.offset + part.limit)
    if part.limit and part.offset > 0:
        previous = _url(url, query, part.limit, part.offset - part.limit)
    return following, previous


def _url(url: str, query: Query, limit: int, offset: int) -> str:
    changed: dict[str, Any] = {**query, "limit": limit, "offset": offset}
    if offset <= 0:
        del changed["offset"]
    return f"{url}?{urlencode(sorted(changed.items()), doseq=True)}"
