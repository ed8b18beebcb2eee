"""Chips of the filters in a list's query: what each filter says, and the links to change and to remove it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from netinv_core.read import filters
from netinv_core.read.filter_words import Names, words_of
from netinv_web.lists.filter_text import SEARCH
from netinv_web.lists.list_query import ListQuery
from netinv_web.lists.named_objects import names_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.uow import UnitOfWork

UNKNOWN = "There is no such filter."


@dataclasses.dataclass(frozen=True)
class Chip:
    """A filter of the query: ``lookup`` is the comparison in words, ``texts`` are the values as people know them.

    ``remove`` and ``edit`` are paths: the list without the filter, and the list with the form for it.
    """

    parameter: str
    label: str
    lookup: str
    texts: Sequence[str]
    remove: str
    edit: str
    error: str = ""


def chips_of(uow: UnitOfWork, endpoint: Endpoint, query: ListQuery, errors: Mapping[str, str]) -> list[Chip]:
    """The chips of a query. ``errors`` are messages by parameter; the names of objects take one statement for all."""
    find = filters.filter_finder(uow, endpoint)
    parameters = [(name, values) for name, values in query.filters if name != SEARCH or name in errors]
    found = {name: find(name) for name, _ in parameters}
    used = [(endpoint, match[0], values) for name, values in parameters if (match := found[name]) is not None]
    names = names_of(uow, used)
    return [_chip(endpoint, query, name, values, found[name], names, errors) for name, values in parameters]


def _chip(
    endpoint: Endpoint,
    query: ListQuery,
    name: str,
    values: Sequence[str],
    match: tuple[Filter, str] | None,
    names: Names,
    errors: Mapping[str, str],
) -> Chip:
    remove = query.without(name).url
    if match is None:
        return Chip(name, name, ":", values, remove, "", errors.get(name, UNKNOWN))
    label, lookup, texts = words_of(endpoint, match, values, names)
    edit = f"{query.base}_filter={name}"
    return Chip(name, label, lookup, texts, remove, edit, errors.get(name, ""))
