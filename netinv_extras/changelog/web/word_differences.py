"""Comparison of two sequences of words, in a bounded number of steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_EDITS = 200  # words that are deleted or inserted between the first and the last difference
MAX_STEPS = 100_000  # comparisons of words


class DifferencePart(NamedTuple):
    """Words that both texts have, or those that one has in place of the other's."""

    unchanged: Sequence[str] = ()
    deleted: Sequence[str] = ()
    inserted: Sequence[str] = ()


def compare(old: Sequence[str], new: Sequence[str]) -> list[DifferencePart] | None:
    """Returns the parts of two texts in order; ``None`` when they differ too much.

    The shortest list of edits, as Myers finds it: An O(ND) Difference Algorithm and Its Variations (1986), between the
    words that both begin and end with.
    """
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle = _middle(old[start : len(old) - end], new[start : len(new) - end])
    if middle is None:
        return None
    first, last = DifferencePart(unchanged=old[:start]), DifferencePart(unchanged=old[len(old) - end :])
    return [part for part in (first, *middle, last) if any(part)]


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of words that both begin with."""
    return next(
        (place for place, (one, other) in enumerate(zip(old, new, strict=False)) if one != other),
        min(len(old), len(new)),
    )


def _middle(old: Sequence[str], new: Sequence[str]) -> list[DifferencePart] | None:
    if not old or not new:
        return [DifferencePart(deleted=old, inserted=new)]
    reached = _reach_end(old, new)
    return None if reached is None else list(_parts(old, new, _matches(reached, len(old), len(new))))


def _reach_end(old: Sequence[str], new: Sequence[str]) -> list[dict[int, int]] | None:
    """For each number of edits, the place in ``old`` that each diagonal gets to: place in ``old`` less that in ``new``.

    ``None`` beyond :data:`MAX_EDITS` or :data:`MAX_STEPS`.
    """
    reached: list[dict[int, int]] = []
    furthest, steps = {1: 0}, 0
    for edits in range(MAX_EDITS + 1):
        for diagonal in range(-edits, edits + 1, 2):
            place = _first_place(furthest, diagonal, edits)
            while place < len(old) and place - diagonal < len(new) and old[place] == new[place - diagonal]:
                place, steps = place + 1, steps + 1
            furthest[diagonal] = place
            if place >= len(old) and place - diagonal >= len(new):
                return [*reached, dict(furthest)]
        reached.append(dict(furthest))
        if steps > MAX_STEPS:
            return None
    return None


def _first_place(furthest: dict[int, int], diagonal: int, edits: int) -> int:
    """The place on a diagonal after one further edit: an insertion, or a deletion."""
    inserts = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
    return furthest[diagonal + 1] if inserts else furthest[diagonal - 1] + 1


def _matches(reached: list[dict[int, int]], place: int, other: int) -> list[tuple[int, int, int]]:
    """The equal words as triples of their places in both texts and their number, in order."""
    matches: list[tuple[int, int, int]] = []
    for edits in range(len(reached) - 1, -1, -1):
        furthest = reached[edits - 1] if edits else {1: 0}
        diagonal = place - other
        first = _first_place(furthest, diagonal, edits)
        if place > first:
            matches.append((first, first - diagonal, place - first))
        inserts = furthest.get(diagonal + 1) == first
        place = first if inserts else first - 1
        other = place - (diagonal + 1 if inserts else diagonal - 1)
    return matches[::-1]


def _parts(old: Sequence[str], new: Sequence[str], matches: list[tuple[int, int, int]]) -> Iterator[DifferencePart]:
    place = other = 0
    for start, other_start, count in [*matches, (len(old), len(new), 0)]:
        if start > place or other_start > other:
            yield DifferencePart(deleted=old[place:start], inserted=new[other:other_start])
        if count:
            yield DifferencePart(unchanged=old[start : start + count])
        place, other = start + count, other_start + count
