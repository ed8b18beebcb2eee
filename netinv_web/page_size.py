"""Size of pages: a template's output is counted while it is written (the setting ``max_answer_size``)."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from netinv_core import answer_size

if TYPE_CHECKING:
    from netinv_core.registry import Registry

PIECES = 512  # of a template's output, that are counted together
# Characters that any page may have: an error page must be shown, however small the limit.
LEAST = 2**18


def bound_templates(environment: Any, registry: Registry) -> None:
    """Makes the templates of an environment stop beyond the limit."""
    environment.concat = functools.partial(_join_output, registry)


def _join_output(registry: Registry, pieces: Iterable[str]) -> str:
    """Joins the output of a template; that of a macro is part of it, and comes as a list.

    :raises AnswerTooLarge: for more characters than ``netinv.max_answer_size``
    """
    if isinstance(pieces, list):
        return "".join(pieces)
    limit, texts, size, rest = registry.settings["max_answer_size"], [], 0, iter(pieces)
    while text := "".join(itertools.islice(rest, PIECES)):
        texts.append(text)
        size += len(text)
        if limit and size > max(limit, LEAST):
            answer_size.check(registry, 0, size)
    return "".join(texts)
