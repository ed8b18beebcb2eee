"""Differences of a change record as markup: sentences by field, long texts by word, JSON by key path."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from netinv_core.changelog.differences import FieldDifference, differences
from netinv_core.registry import Registry

MIN_LONG_TEXT = 60  # characters from which texts are compared by word
MAX_COMPARED_WORDS = 4000  # words of a text that are compared; SequenceMatcher takes quadratic time
CONTEXT_WORDS = 8  # unchanged words that are shown beside changed ones
MAX_SHORT_TEXT = 300  # characters of a value in a sentence
MAX_PATHS = 200  # key paths of a JSON document that are shown
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_EMPTY = Markup('<span class="none">nothing</span>')


@dataclasses.dataclass(frozen=True)
class Sentence:
    """A changed field: its label and the markup of the change."""

    label: str
    markup: Markup


def sentences_of(registry: Registry, label: str, before: Any, after: Any) -> list[Sentence]:
    """The changed fields of an object, in the order of its resource."""
    return [Sentence(item.label, _markup(item)) for item in differences(registry, label, before, after)]


def _markup(item: FieldDifference) -> Markup:
    before, after = item.before, item.after
    if _is_document(before) or _is_document(after):
        return _by_path(before, after)
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) >= MIN_LONG_TEXT:
        return _by_word(before, after)
    return _arrow(item.before_text, item.after_text)


def _arrow(before: str, after: str) -> Markup:
    """The value before and after; only the one there is for a created or deleted object."""
    if not before:
        return Markup("<ins>{}</ins>").format(_short(after))
    return Markup("<del>{}</del> → <ins>{}</ins>").format(_short(before), _short(after) if after else _EMPTY)


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHORT_TEXT else f"{text[:MAX_SHORT_TEXT]}…"


# -- long texts


def _by_word(before: str, after: str) -> Markup:
    """A text with its deleted and inserted words; long unchanged parts are shortened."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > MAX_COMPARED_WORDS:
        return _arrow(before, after)
    parts: list[Markup] = []
    opcodes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for number, (operation, start, end, new_start, new_end) in enumerate(opcodes):
        if operation == "equal":
            parts.append(escape(_shortened(old[start:end], first=number == 0, last=number == len(opcodes) - 1)))
            continue
        if end > start:
            parts.append(Markup("<del>{}</del>").format("".join(old[start:end])))
        if new_end > new_start:
            parts.append(Markup("<ins>{}</ins>").format("".join(new[new_start:new_end])))
    return Markup('<span class="text-diff">{}</span>').format(Markup("").join(parts))


def _shortened(words: Sequence[str], *, first: bool, last: bool) -> str:
    """The unchanged words beside changed ones, with an ellipsis in place of the others."""
    if len(words) <= 2 * CONTEXT_WORDS:
        return "".join(words)
    start = "" if first else "".join(words[:CONTEXT_WORDS])
    return f"{start} … {'' if last else ''.join(words[-CONTEXT_WORDS:])}"


# -- JSON


def _is_document(value: Any) -> bool:
    """True for JSON that is neither a nested object nor a choice."""
    if isinstance(value, Mapping):
        return not ({"display", "url"} <= value.keys() or {"value", "label"} == set(value))
    return isinstance(value, list) and any(_is_document(item) for item in value)


def _by_path(before: Any, after: Any) -> Markup:
    """The key paths whose values differ, each with its value before and after."""
    old, new = dict(_paths(before)), dict(_paths(after))
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    lines = [
        Markup("<li><code>{}</code> {}</li>").format(name, _arrow(_text(old.get(name)), _text(new.get(name))))
        for name in names[:MAX_PATHS]
    ]
    if len(names) > MAX_PATHS:
        lines.append(Markup("<li>and {} more</li>").format(len(names) - MAX_PATHS))
    return Markup("<ul>{}</ul>").format(Markup("").join(lines))


def _paths(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Pairs of a key path and the value there that is no mapping or list, or an empty one."""
    if isinstance(value, Mapping) and value and not ({"display", "url"} <= value.keys()):
        for name, item in value.items():
            yield from _paths(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from _paths(item, f"{path}[{number}]")
    elif value is not None or path:
        yield path, value


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping) and "display" in value:
        return str(value["display"])
    return str(value).lower() if isinstance(value, bool) else str(value)
