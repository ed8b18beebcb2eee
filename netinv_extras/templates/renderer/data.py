"""Plain data and functions that templates get from the service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Function:
    """Callable for templates that hides the attributes of the wrapped function."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._function(*arguments, **named)

    def __repr__(self) -> str:
        return "<function>"


class SharedDict(dict[Any, Any]):
    """JSON object of the service. Templates share it, so they cannot change it; copies are their own."""

    __slots__ = ()


class SharedList(list[Any]):
    """List of the service. Templates share it, so they cannot change it; copies are their own."""

    __slots__ = ()


class Members(SharedDict):
    """JSON object within a representation. Its text is its ``display`` or ``label``, if it has one."""

    __slots__ = ()

    def __str__(self) -> str:
        return str(next((self[name] for name in ("display", "label") if name in self), dict(self)))


def read_only(value: Any) -> Any:
    """Returns JSON data as objects and lists that templates cannot change."""
    if isinstance(value, dict):
        return SharedDict({name: read_only(member) for name, member in value.items()})
    return SharedList(map(read_only, value)) if isinstance(value, list) else value


class Percentage(int):
    """A part of a whole in percent, rounded down. The attributes ``numerator`` and ``denominator`` are both numbers."""

    _numbers: tuple[int, int]

    @classmethod
    def of(cls, numbers: list[int]) -> Percentage:
        """Returns the percentage of a pair of numbers; that of nothing is 0."""
        part, whole = numbers
        share = cls(part * 100 // whole if whole else 0)
        share._numbers = part, whole
        return share

    def __getattribute__(self, name: str) -> Any:
        if name in _NUMBERS:
            return self._numbers[_NUMBERS.index(name)]
        return super().__getattribute__(name)


_NUMBERS = ("numerator", "denominator")
