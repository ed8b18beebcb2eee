"""Differences of a change record as markup: sentences by field, long texts by word, JSON by key path."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from netinv_core.types import Registry
from netinv_extras.changelog.web.word_differences import Part, compare
from netinv_undo.differences import FieldDifference, differences
from netinv_web.cells import without_controls

MIN_LONG_TEXT = 60  # characters from which texts are compared by word
MAX_COMPARED_LENGTH = 100_000  # characters of a text that is compared by word
CONTEXT_WORDS = 8  # unchanged words that are shown beside changed ones
MAX_SHORT_TEXT = 300  # characters of a value in a sentence
MAX_PATHS = 200  # key paths of a JSON document that are shown
_Path = tuple[str | int, ...]
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
    return without_controls(text if len(text) <= MAX_SHORT_TEXT else f"{text[:MAX_SHORT_TEXT]}…")


# -- long texts


def _by_word(before: str, after: str) -> Markup:
    """A text with its deleted and inserted words; long unchanged parts are shortened."""
    if max(len(before), len(after)) > MAX_COMPARED_LENGTH:
        return _arrow(before, after)
    parts = compare(_WORDS.findall(before), _WORDS.findall(after))
    if parts is None:
        return _arrow(before, after)
    pieces = [_piece(part, first=number == 0, last=number == len(parts) - 1) for number, part in enumerate(parts)]
    return Markup('<span class="text-diff">{}</span>').format(Markup("").join(pieces))


def _piece(part: Part, *, first: bool, last: bool) -> Markup:
    """The markup of a part: unchanged words, or deleted ones and those in their place."""
    if part.unchanged:
        return escape(without_controls(_shortened(part.unchanged, first=first, last=last)))
    deleted, inserted = (without_controls("".join(words)) for words in (part.deleted, part.inserted))
    markup = Markup("<del>{}</del>").format(deleted) if deleted else Markup()
    return markup + Markup("<ins>{}</ins>").format(inserted) if inserted else markup


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
    paths = [path for path in dict.fromkeys([*old, *new]) if old.get(path) != new.get(path)]
    lines = [
        Markup("<li><code>{}</code> {}</li>").format(
            _short(_path_text(path)), _arrow(_text(old.get(path)), _text(new.get(path)))
        )
        for path in paths[:MAX_PATHS]
    ]
    if len(paths) > MAX_PATHS:
        lines.append(Markup("<li>and {} more</li>").format(len(paths) - MAX_PATHS))
    return Markup("<ul>{}</ul>").format(Markup("").join(lines))


def _paths(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Pairs of a key path and the value there that is no mapping or list, or an empty one.

    A path is a tuple: as texts, those below a long key would each hold it.
    """
    if isinstance(value, Mapping) and value and not ({"display", "url"} <= value.keys()):
        for name, item in value.items():
            yield from _paths(item, (*path, str(name)))
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from _paths(item, (*path, number))
    elif value is not None or path:
        yield path, value


def _path_text(path: _Path) -> str:
    """A path as ``sites[0].name``."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{_short(step)}" for step in path)
    return "".join(steps).removeprefix(".")


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping) and "display" in value:
        return str(value["display"])
    return str(value).lower() if isinstance(value, bool) else str(value)
