"""Functions that were called with parameters which they do not take: the traceback ends where they are called, so the
function is looked for among what the caller had at hand.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import traceback
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

MAX_SEARCHED = 20_000  # values
DEPTH = 3  # attributes and members, from a variable of the caller to the function
_MISMATCH = re.compile(
    r"(?P<name>[\w.<>]+)\(\) (?:takes|missing|got an unexpected|got multiple|got some|needs an argument)"
)


def modules(error: BaseException) -> Iterator[str]:
    """The module of the function whose name is in the message of an error about the parameters of a call, if it is
    found.
    """
    found = _MISMATCH.match(str(error)) if isinstance(error, TypeError) else None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)] if found else []
    if found is None or not frames:
        return
    names = (found["name"], found["name"].removesuffix(".__init__"))
    for value in _reachable(frames[-1].f_locals):
        if getattr(function_of(value), "__qualname__", None) in names:
            yield module_of(value)
            return


def module_of(value: Any) -> str:
    """The name of the module of the function that a value calls; empty where it is unknown."""
    return str(getattr(function_of(value), "__module__", None) or "")


def function_of(value: Any) -> Any:
    """The function that a value calls: that of a ``functools.partial``, or ``__call__`` of an object."""
    while isinstance(value, functools.partial):
        value = value.func
    if callable(value) and not hasattr(value, "__qualname__"):
        return inspect.getattr_static(type(value), "__call__", value)
    return value


def _reachable(variables: Mapping[str, Any]) -> Iterator[Any]:
    """The values of variables, their attributes and members, the nearest first."""
    pending = deque((value, 0) for value in variables.values())
    seen: set[int] = set()
    while pending and len(seen) < MAX_SEARCHED:
        value, depth = pending.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if depth < DEPTH:
            pending.extend((member, depth + 1) for member in _members(value))


def _members(value: Any) -> Iterator[Any]:
    """The attributes of an object, the members of a container, the variables of a function."""
    if isinstance(value, Mapping):
        yield from list(value.values()) if type(value) is dict else ()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
    elif not isinstance(value, type | str | bytes | int | float):
        attributes = getattr(value, "__dict__", None)
        yield from list(attributes.values()) if type(attributes) is dict else ()
        for cell in getattr(value, "__closure__", None) or ():
            with contextlib.suppress(ValueError):  # not filled yet
                yield cell.cell_contents
