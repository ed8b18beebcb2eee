"""Arguments of lists as what they stand for: query parameters of the resource, and which part of each list is wanted."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from netinv_core.errors import Invalid
from netinv_core.read.listing import Parameters

WINDOW = ("limit", "offset")


@dataclasses.dataclass(frozen=True)
class NestedSlice:
    """Which part of each list: ``limit`` objects, or all, from ``offset`` on."""

    limit: int | None
    offset: int


WHOLE = NestedSlice(None, 0)


def slice_of(given: Mapping[str, Any]) -> NestedSlice:
    """The part that arguments ask for.

    :raises Invalid: for a negative number
    """
    for name in WINDOW:
        if given.get(name, 0) < 0:
            raise Invalid.field(name, "Ensure this value is greater than or equal to 0.")
    return NestedSlice(given.get("limit"), given.get("offset", 0))


def parameters_of(given: Mapping[str, Any]) -> Parameters:
    """Arguments as the query parameters that they stand for."""
    found = [(name, _texts(value)) for name, value in given.items() if name not in WINDOW]
    return [(name, texts) for name, texts in found if texts]


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [_text(item) for item in values if item is not None]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
