"""Markup of JSON: keys, strings, numbers and constants in spans with classes, URLs as links, everything escaped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from markupsafe import Markup, escape

from netinv_core.http.mount import url_of

_STEP = "  "
_SPAN = Markup('<span class="{}">{}</span>')
_LINK = Markup('<a href="{}" rel="noreferrer">{}</a>')


def markup_of(value: Any, base: str) -> Markup:
    """The markup of a value as JSON with indentation. URLs below ``base``, the service's own address, become paths."""
    return Markup("").join(_pieces(value, base, "\n"))


def _pieces(value: Any, base: str, line: str) -> Iterator[Markup]:
    """Yields the pieces of a value; ``line`` is a line break with the indentation of the value."""
    if isinstance(value, dict) and value:
        yield from _nested("{}", ((_key(name), item) for name, item in value.items()), base, line)
    elif isinstance(value, list) and value:
        yield from _nested("[]", ((Markup(""), item) for item in value), base, line)
    elif isinstance(value, str):
        yield _SPAN.format("json-string", _string(value, base))
    elif isinstance(value, bool) or value is None:
        yield _SPAN.format("json-constant", json.dumps(value))
    else:
        yield (
            escape(json.dumps(value))
            if isinstance(value, dict | list)
            else _SPAN.format("json-number", json.dumps(value))
        )


def _nested(brackets: str, items: Iterator[tuple[Markup, Any]], base: str, line: str) -> Iterator[Markup]:
    inner = line + _STEP
    separator = Markup(brackets[0] + inner)
    for start, item in items:
        yield separator + start
        yield from _pieces(item, base, inner)
        separator = Markup("," + inner)
    yield Markup(line + brackets[1])


def _key(name: str) -> Markup:
    return _SPAN.format("json-key", json.dumps(name, ensure_ascii=False)) + Markup(": ")


def _string(value: str, base: str) -> Markup:
    quoted = json.dumps(value, ensure_ascii=False)
    if not value.startswith(("http://", "https://")):
        return escape(quoted)
    path = value.removeprefix(base) if value.startswith(f"{base}/") else value
    return Markup('"{}"').format(_LINK.format(url_of(path), quoted[1:-1]))
