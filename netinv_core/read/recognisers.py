"""Declarations of the search over all resources (``netinv_search``): what a text identifies, and who recognises it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

Links = Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]]


def _no_links(first: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return ()


@dataclasses.dataclass(frozen=True)
class Match:
    """Objects of the resource ``label`` that a text identifies: those for which ``condition(table)`` holds.

    ``field`` is the column that matches. ``parameters`` are the filters with which the resource's list shows the same
    objects; without them it shows those of the answer, by id. ``order(table)`` returns ORDER BY expressions. A
    ``fallback`` is shown only if no earlier match of its recogniser has objects. ``links(first)`` returns titles and
    URLs of what to do next, for the first object.
    """

    label: str
    title: str
    field: str
    condition: Callable[[Any], Any]
    parameters: Sequence[tuple[str, str]] = ()
    order: Callable[[Any], Sequence[Any]] = lambda table: ()
    fallback: bool = False
    links: Links = _no_links


@dataclasses.dataclass(frozen=True)
class SearchProvider:
    """A recogniser of texts: ``recognise(uow, text)`` returns the matches. Lower priorities come first."""

    name: str
    priority: int
    recognise: Callable[[UnitOfWork, str], Iterable[Match]]
