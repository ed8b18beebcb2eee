"""Searches for several words in any order: each of them in a text of an object, or in a name that its name in context
shows, such as that of its device.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.db import folding
from netinv_core.driver import Driver
from netinv_core.models.columns import column_info
from netinv_core.models.types import Chars, LongText
from netinv_core.presentation import NAME_IN_CONTEXT, NAME_WITHIN
from netinv_core.read import indexed_texts
from netinv_core.read.searches import search_test, searched_at
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.lookups import any_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_WORDS = 6  # of a text; the others are part of the last
TEXT = (Chars, LongText, sa.String)  # types of columns
MAX_DEPTH = 4  # references that a path of a name follows


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    return text.split(maxsplit=MAX_WORDS - 1)


@cached_in_registry
def name_paths(endpoint: Endpoint) -> tuple[str, ...]:
    """The paths of the texts that the names in context of a resource are made of: ``name``, ``device.name``."""
    return tuple(dict.fromkeys(_paths(endpoint, NAME_IN_CONTEXT, MAX_DEPTH)))


def _paths(endpoint: Endpoint, path: str, depth: int) -> Iterator[str]:
    head, _, rest = path.partition(".")
    if path in (NAME_IN_CONTEXT, NAME_WITHIN, "display"):
        naming = None if path == "display" else endpoint.namings[NAME_IN_CONTEXT]
        inner = naming.paths if isinstance(naming, fields.Computed) else endpoint.resource.display[1:]
        for part in inner if depth else ():
            yield from _paths(endpoint, part, depth - (part == "display"))
    elif rest:
        field = endpoint.fields.get(head)
        if depth and isinstance(field, fields.Reference) and field.target is not None:
            yield from (f"{head}.{part}" for part in _paths(field.target, rest, depth - 1))
    elif head in endpoint.table.c and is_text(endpoint.table.c[head]):
        yield head


def is_text(column: Any) -> bool:
    """True for a column with texts that requests may compare."""
    return isinstance(column.type, TEXT) and not column_info(column).confidential


def condition(uow: UnitOfWork, endpoint: Endpoint, table: Any, text: str) -> Any:
    """The condition on ``table`` that each word of a text is in a text of the object that the filter ``q`` searches, or
    in a part of its name in context, whatever the case and accents. Of other objects only visible ones count.
    """
    searched: Sequence[str] = endpoint.filters["q"].searched if "q" in endpoint.filters else ()
    paths = list(dict.fromkeys([*name_paths(endpoint), *searched]))
    return sa.and_(
        sa.true(), *[any_of(list(_conditions(uow, endpoint, table, paths, word))) for word in words_of(text)]
    )


def _conditions(uow: UnitOfWork, endpoint: Endpoint, table: Any, paths: Sequence[str], word: str) -> Iterator[Any]:
    for path in paths:
        name, _, lookup = path.partition(":")
        is_indexed = "." not in name and indexed_texts.is_indexed(endpoint)
        # Trigram indexes know the letters as they are.
        test = functools.partial(_test, endpoint.registry.driver, word, lookup, folds=not lookup and not is_indexed)
        with contextlib.suppress(ValueError):  # a number, of a text that is none
            yield searched_at(uow, endpoint, table, name.split("."), test)


def _test(driver: Driver, word: str, lookup: str, column: Any, *, folds: bool) -> Any:
    """The condition that a word is in a column: whatever the accents in a text that ``folds``, else by a lookup, as the
    filter ``q`` compares it.
    """
    if folds and isinstance(column.type, TEXT):
        return folding.contains(column, folding.pattern(driver, word))
    return search_test(lookup, driver, word, column)
