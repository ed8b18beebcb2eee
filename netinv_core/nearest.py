"""Advice for a name that is not known, in messages about it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping

from netinv_core.caches import lru_cache

MAX_SOUGHT = 100  # characters of a text that a choice can be meant by
LIKENESS = 0.6


def nearest(name: str, known: Collection[str], likeness: float = LIKENESS) -> str | None:
    """The known name that is most similar, whatever its case and between its words; ``None`` without such a one."""
    by_letters = {_letters(item): item for item in sorted(known)}
    similar = difflib.get_close_matches(_letters(name), by_letters, 1, likeness)
    return by_letters[similar[0]] if similar else None


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def advice(name: str, known: Collection[str]) -> str:
    """The known name that is most similar, as a question; without such a one, all of them."""
    similar = difflib.get_close_matches(name, known, 1)
    return f"did you mean {similar[0]}?" if similar else f"expected one of {', '.join(known) or 'none'}"


def hint(name: str, known: Collection[str]) -> str:
    """The known name that is most similar, as the end of a sentence; nothing without such a one."""
    found = nearest(name, known)
    return f"; did you mean {found}?" if found else ""


def nearest_names(text: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The names that are like a text, in any case."""
    return _nearest({name.casefold(): name for name in names}, text, most)


def nearest_choices(text: str, choices: tuple[tuple[str, str], ...]) -> list[str]:
    """The choices, pairs of a value and a label, that are like a text by either; a long text is like none."""
    return _nearest_choices(text, choices) if len(text) <= MAX_SOUGHT else []


@lru_cache("nearest choices", 1000)
def _nearest_choices(text: str, choices: tuple[tuple[str, str], ...]) -> list[str]:
    by_label = {label.casefold(): value for value, label in choices}
    return list(dict.fromkeys(_nearest({**by_label, **{value.casefold(): value for value, _ in choices}}, text, 3)))


def _nearest(by_folded: Mapping[str, str], text: str, most: int) -> list[str]:
    return [by_folded[name] for name in difflib.get_close_matches(text.casefold(), by_folded, most, LIKENESS)]


def did_you_mean(names: Collection[str]) -> str:
    """Similar names as a question that follows a sentence; nothing without any."""
    return f" Did you mean {' or '.join(names)}?" if names else ""
