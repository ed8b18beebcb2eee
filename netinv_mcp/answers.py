"""Answers of tools within a budget: ``netinv.mcp_answer_size`` characters of JSON. A longer answer is cut, and says so.

Language models read an answer as a whole, about four characters a token.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from netinv_core.http.serialization import dumps

MAX_NOTED = 8
Part = tuple[str | int, ...]


@dataclasses.dataclass(frozen=True)
class _Measured:
    """A list or an object of an answer: the way to it, its size, and its items with theirs."""

    way: Part
    size: int
    value: Any


def within(answer: Any, budget: int, narrow: str) -> str:
    """The JSON text of an answer. One that is longer than the budget is cut: its longest lists are shortened, then the
    largest members of its objects left out. ``cut`` in the answer tells both, and how to ask for less.
    """
    text = dumps(answer).decode()
    if len(text) <= budget:
        return text
    whole, notes = (answer if isinstance(answer, dict) else {"results": answer}), list[dict[str, Any]]()
    while True:
        cut = {"characters": len(text), "most": budget, "parts": notes[:MAX_NOTED], "narrow": narrow}
        shown = dumps({**whole, "cut": cut}).decode()
        if len(shown) <= budget or not whole:
            return shown
        whole = _shorter(whole, len(shown) - budget, notes)


def _shorter(whole: dict[str, Any], surplus: int, notes: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer without a part of its longest list, or without the largest member of an object."""
    parts: list[_Measured] = []
    _measure(whole, (), parts)
    lists = [part for part in parts if isinstance(part.value, list) and len(part.value) > 1]
    if lists:
        longest = max(lists, key=lambda part: part.size)
        count = len(longest.value)
        kept = max(1, min(count - 1, int(count * (longest.size - surplus) / longest.size)))
        _note(notes, longest.way, {"shown": kept}, {"of": count})
        return _replace(whole, longest.way, longest.value[:kept])
    way, name = _largest_member(whole)
    _note(notes, (*way, name), {}, {"left_out": True})
    holder = _at(whole, way)
    return _replace(whole, way, {key: value for key, value in holder.items() if key != name})


def _measure(value: Any, way: Part, parts: list[_Measured]) -> None:
    """Adds the lists of a value, those within others included; the levels of JSON answers are few."""
    if isinstance(value, list):
        parts.append(_Measured(way, len(dumps(value)), value))
    if isinstance(value, dict | list):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            _measure(item, (*way, name), parts)


def _largest_member(whole: dict[str, Any]) -> tuple[Part, str]:
    """The way to the innermost object that makes up most of an answer, and the name of its largest member."""
    way: Part = ()
    holder: Any = whole
    while True:
        sizes = {name: len(dumps(value)) for name, value in holder.items()}
        name = max(sizes, key=lambda key: sizes[key])
        value, inner = holder[name], (*way, name)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            value, inner = value[0], (*inner, 0)
        if not (isinstance(value, dict) and len(value) > 1):
            return way, name
        way, holder = inner, value


def _note(notes: list[dict[str, Any]], way: Part, now: Mapping[str, Any], first: Mapping[str, Any]) -> None:
    """Notes what was cut at a way, once."""
    name = ".".join(map(str, way))
    for note in notes:
        if note["part"] == name:
            note.update(now)
            return
    notes.append({"part": name, **now, **first})


def _at(whole: Any, way: Part) -> Any:
    for step in way:
        whole = whole[step]
    return whole


def _replace(whole: Any, way: Part, value: Any) -> Any:
    """A copy of an answer with another value at a way."""
    if not way:
        return value
    step, rest = way[0], way[1:]
    if isinstance(whole, list):
        return [_replace(item, rest, value) if index == step else item for index, item in enumerate(whole)]
    return {name: _replace(item, rest, value) if name == step else item for name, item in whole.items()}
