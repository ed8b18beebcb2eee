"""Markup of JSON: keys, strings, numbers and constants in spans with classes, URLs as links, everything escaped.

A value takes about 5 µs. So :data:`MAX_MARKED` of an answer are marked, and what follows is text.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import orjson
from markupsafe import Markup, escape

from netinv_core.http.mount import url_of
from netinv_web.pages import local_path

MAX_MARKED = 20_000  # values of an answer with markup
_STEP = "  "
_SPAN = Markup('<span class="{}">{}</span>')
_LINK = Markup('<a href="{}" rel="noreferrer">{}</a>')


def markup_of(value: Any, base: str) -> Markup:
    """The markup of a value as JSON with indentation. URLs below ``base``, the service's own address, become paths."""
    return Markup("").join(_pieces(value, base, "\n", itertools.count()))


def _pieces(value: Any, base: str, line: str, marked: Iterator[int]) -> Iterator[Markup]:
    """Yields the pieces of a value; ``line`` is a line break with the indentation of the value, ``marked`` counts."""
    if isinstance(value, dict | list) and value:
        yield from _nested_markup(value, base, line, marked)
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


def _nested_markup(value: Any, base: str, line: str, marked: Iterator[int]) -> Iterator[Markup]:
    inner, is_object = line + _STEP, isinstance(value, dict)
    separator = "{" if is_object else "["
    for place, item in enumerate(value):
        if next(marked) >= MAX_MARKED:
            rest = list(itertools.islice(value.items() if is_object else value, place, None))
            text = orjson.dumps(dict(rest) if is_object else rest, option=orjson.OPT_INDENT_2).decode()
            yield escape(separator + text[1:-2].replace("\n", line))
            break
        yield escape(separator + inner) + (_key(item) if is_object else "")
        yield from _pieces(value[item] if is_object else item, base, inner, marked)
        separator = ","
    yield escape(line + ("}" if is_object else "]"))


def _key(name: str) -> Markup:
    return _SPAN.format("json-key", json.dumps(name, ensure_ascii=False)) + Markup(": ")


def _string(value: str, base: str) -> Markup:
    quoted = json.dumps(value, ensure_ascii=False)
    if not value.startswith(("http://", "https://")):
        return escape(quoted)
    path = value.removeprefix(base)
    own = path != value and path == local_path(path)
    return Markup('"{}"').format(_LINK.format(url_of(path) if own else value, quoted[1:-1]))
