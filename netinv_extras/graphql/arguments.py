"""Arguments of GraphQL lists, split into query parameters of the resource and ``limit`` and ``offset``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from netinv_core.errors import Invalid
from netinv_core.read.listing import Parameters

SLICE_ARGUMENTS = ("limit", "offset")


@dataclasses.dataclass(frozen=True)
class NestedSlice:
    """Slice of each list: at most ``limit`` objects (``None``: all), starting at ``offset``."""

    limit: int | None
    offset: int


WHOLE = NestedSlice(None, 0)


def slice_of(arguments: Mapping[str, Any]) -> NestedSlice:
    """Returns the slice that arguments ask for.

    :raises Invalid: for a negative number
    """
    for name in SLICE_ARGUMENTS:
        if arguments.get(name, 0) < 0:
            raise Invalid.field(name, "Ensure this value is greater than or equal to 0.")
    return NestedSlice(arguments.get("limit"), arguments.get("offset", 0))


def parameters_of(arguments: Mapping[str, Any]) -> Parameters:
    """Returns the arguments as query parameters: ``{"name": ["a"], "limit": 5}`` becomes ``[("name", ["a"])]``."""
    parameters = [(name, _texts(value)) for name, value in arguments.items() if name not in SLICE_ARGUMENTS]
    return [(name, texts) for name, texts in parameters if texts]


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [_text(item) for item in values if item is not None]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
