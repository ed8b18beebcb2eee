"""Pages of a list: limits from the query, links to the neighbours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from netinv_core.errors import Invalid
from netinv_core.http.serialization import Query
from netinv_core.read.listing import Slice

LARGEST = 2**63 - 1  # the largest LIMIT and OFFSET that every database takes


def window(query: Query, settings: Mapping[str, Any]) -> Slice:
    """The part asked for: ``PAGINATE_COUNT`` when none is given, ``MAX_PAGE_SIZE`` at most; 0 is all there is.

    :raises Invalid: naming ``limit`` or ``offset``, for what is not a number from 0 on
    """
    most = settings.get("max_page_size") or 0
    numbers: dict[str, int | None] = {}
    errors: dict[str, list[str]] = {}
    for name in ("limit", "offset"):
        try:
            numbers[name] = _whole(query.get(name, [""])[-1].strip())
        except ValueError as error:
            errors[name] = [str(error)]
    if errors:
        raise Invalid(errors)
    limit = numbers["limit"]
    if limit is None:
        limit = settings.get("paginate_count", 50)
        limit = min(limit, most) if most else limit
    elif most and (limit == 0 or limit > most):
        limit = most
    return Slice(limit, numbers["offset"] or 0)


def _whole(text: str) -> int | None:
    """A number from 0 to the largest of the databases; ``None`` for blank text.

    :raises ValueError: for any other text
    """
    if not text:
        return None
    if not re.fullmatch("[+-]?[0-9]+", text):
        raise ValueError("A valid integer is required.")
    if text.startswith("-") and text.strip("-0"):
        raise ValueError("Ensure this value is greater than or equal to 0.")
    if len(text.lstrip("+-0")) > len(str(LARGEST)) or int(text) > LARGEST:
        raise ValueError(f"Ensure this value is less than or equal to {LARGEST}.")
    return int(text)


def links(url: str, query: Query, part: Slice, count: int) -> tuple[str | None, str | None]:
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
