"""Checks of the values in dataclasses that plugins make: the annotation of a field says what they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

PAIR = 2


def _are_texts(value: Any) -> bool:
    return (
        isinstance(value, Iterable)
        and not isinstance(value, str | bytes)
        and all(isinstance(part, str) for part in value)
    )


def _are_pairs_of_texts(value: Any) -> bool:
    """True for a list of pairs of texts."""
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(pair, tuple | list) and len(pair) == PAIR and _are_texts(pair) for pair in value)
    )


SCALARS: Mapping[str, type] = {"str": str, "int": int, "bool": bool}
LISTS: Mapping[str, Callable[[Any], bool]] = {
    "Sequence[str]": _are_texts,
    "Sequence[tuple[str, str]]": _are_pairs_of_texts,
}


def mistakes(item: Any) -> Iterator[str]:
    """A sentence for each field of a dataclass whose value is something else than its annotation says, where the
    annotation is one of :data:`SCALARS` or :data:`LISTS`.
    """
    for field in dataclasses.fields(item):
        annotation, value = str(field.type), getattr(item, field.name)
        required = annotation.removesuffix(" | None")
        if value is None and required != annotation:
            continue
        if not isinstance(value, SCALARS.get(required, object)) or (required in LISTS and not LISTS[required](value)):
            yield f"{type(item).__name__} whose {field.name} is {value!r}; expected {annotation}"
