"""The sentence of an empty list: what its objects are, or how they come about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.labels import description_of
from netinv_web.lists.columns import presentation_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

ARTICLES = ("A ", "An ", "The ", "One ")
_SPOKEN_WITH_VOWEL = "AEFHILMNORSX"  # letters of abbreviations: an RIR, a VLAN


def sentence_of(endpoint: Endpoint) -> str:
    """The sentence that the presentation states, or one of the first sentence of the model's docstring:
    ``A rack is a frame in which devices are mounted, counted in rack units.``
    """
    if stated := presentation_of(endpoint).empty:
        return stated
    text = description_of(endpoint).partition(". ")[0].removesuffix(".")
    if not text.startswith(ARTICLES):
        return f"{text}." if text else ""
    return f"{with_article(endpoint.title)} is {text[:1].lower()}{text[1:]}."


def with_article(title: str) -> str:
    """A name of a model after its article, as a sentence begins: ``An interface``, ``A VLAN``."""
    word = title.partition(" ")[0]
    vowels = _SPOKEN_WITH_VOWEL if len(word) > 1 and word.isupper() else "aeioAEIO"
    return f"{'An' if word.startswith(tuple(vowels)) else 'A'} {title}"
