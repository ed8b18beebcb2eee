"""Differences of a change record as markup: sentences by field, long texts by word, JSON by key path."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from netinv_core.changelog.differences import FieldDifference, differences
from netinv_core.fields import GenericForeignKey, Reference
from netinv_core.labels import label_of, label_of_name, label_with_unit, title_of_type
from netinv_core.read.names import represented_name
from netinv_extras.changelog.web.word_differences import DifferencePart, compare
from netinv_web.cells import holds_types, labels_of
from netinv_web.markup import types_text, without_controls

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry

MIN_LONG_TEXT = 60  # characters from which texts are compared by word
MAX_COMPARED_LENGTH = 100_000  # characters of a text that is compared by word
CONTEXT_WORDS = 8  # unchanged words that are shown beside changed ones
MAX_SHORT_TEXT = 300  # characters of a value in a sentence
MAX_PATHS = 200  # key paths of a JSON document that are shown
_Path = tuple[str | int, ...]
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # of a UUID, also in names such as those of cables
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_EMPTY = Markup('<span class="none">nothing</span>')


@dataclasses.dataclass(frozen=True)
class Sentence:
    """A changed field: its label, the markup of the change, and the name of the field (:class:`FieldDifference`)."""

    label: str
    markup: Markup
    field: str


def sentences_of(registry: Registry, label: str, before: Any, after: Any) -> list[Sentence]:
    """The changed fields of an object, in the order of its resource. A content type and an id are one reference."""
    endpoint, sentences = registry.get(label), []
    references = _generic_references(endpoint) if endpoint is not None else {}
    shown: set[str] = set()
    for item in differences(registry, label, before, after):
        pair = references.get(item.field)
        if endpoint is None or pair is None:
            field = None if endpoint is None else endpoint.fields.get(item.field)
            text = _of_field(registry, endpoint, field, item)
            name = item.label if field is None else label_with_unit(field)
            sentences.append(Sentence(name, text, item.field))
        elif pair.name not in shown:
            shown.add(pair.name)
            old, new = (_object_text(registry, pair, state) for state in (before, after))
            if old or new:
                sentences.append(Sentence(pair.label, _arrow(old, new), item.field))
    return sentences


@dataclasses.dataclass(frozen=True)
class _Reference:
    """A reference to objects of several types: the names of the member with the object, of its type and its id."""

    name: str
    type_name: str
    id_name: str
    label: str


def _generic_references(endpoint: Endpoint) -> dict[str, _Reference]:
    """The references to objects of several types, by the names of both of their fields."""
    generic = [item for item in endpoint.fields.values() if isinstance(item, GenericForeignKey)]
    found = [_Reference(item.name, item.type_attribute, item.id_attribute, label_of(item)) for item in generic]
    taken = {item.id_name for item in found}
    for name in endpoint.fields:
        stem = name.removesuffix("_id")
        if name != stem and name not in taken and f"{stem}_type" in endpoint.fields:
            found.append(_Reference(stem, f"{stem}_type", name, label_of_name(stem)))
    return {name: item for item in found for name in (item.type_name, item.id_name)}


def _object_text(registry: Registry, pair: _Reference, state: Mapping[str, Any] | None) -> str:
    """The name of the object that a state refers to, with the name of its model alone where the state has no name."""
    if state is None or not state.get(pair.id_name):
        return ""
    label, nested = str(state.get(pair.type_name)), state.get(pair.name)
    target = registry.get(label)
    if isinstance(nested, Mapping) and nested and target is not None:
        return represented_name(target, nested)
    return title_of_type(registry, label)


def _label(value: Any, labels: Mapping[Any, str]) -> str:
    items = value if isinstance(value, list) else [value]
    return ", ".join(str(labels.get(item, item)) for item in items if item is not None)


def _of_field(registry: Registry, endpoint: Endpoint | None, field: Field | None, item: FieldDifference) -> Markup:
    """The markup of a change; models are named, and ids that name an object are shortened."""
    if endpoint is not None and field is not None and holds_types(endpoint, field):
        return _arrow(types_text(registry, item.before), types_text(registry, item.after))
    labels = labels_of(field) if field is not None else {}
    if labels:
        return _arrow(*(_label(value, labels) for value in (item.before, item.after)))
    if isinstance(field, Reference):
        return _arrow(
            *(_ID.sub(lambda match: f"{match[0][:8]}…", text) for text in (item.before_text, item.after_text))
        )
    return _markup(item)


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


def _piece(part: DifferencePart, *, first: bool, last: bool) -> Markup:
    """The markup of a part: unchanged words, or deleted ones and those in their place."""
    if part.unchanged:
        return escape(without_controls(_shorten(part.unchanged, first=first, last=last)))
    deleted, inserted = (without_controls("".join(words)) for words in (part.deleted, part.inserted))
    markup = Markup("<del>{}</del>").format(deleted) if deleted else Markup()
    return markup + Markup("<ins>{}</ins>").format(inserted) if inserted else markup


def _shorten(words: Sequence[str], *, first: bool, last: bool) -> str:
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
