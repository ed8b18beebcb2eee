"""Query of a list's URL: filters, order, columns and page, from which every link of the list is made."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from pyramid.request import Request

from netinv_core.caches import lru_cache
from netinv_core.errors import Invalid

# Parameters of the page itself; all others are filters. Further ones begin with an underscore.
OWN_PARAMETERS = frozenset({"page", "per_page", "ordering", "limit", "offset"})
BACK = "_back"  # the page that rows were selected on, where it is no list of its own
# Parameters of one request, which links do not carry on.
MOMENTARY = frozenset({"_part", "_filter", "_lookup", "_value", "_replaces", "_text", "_view"})
# Each chip, column and facet of a page has a link with the whole query.
MAX_FILTERS = 100
MAX_LENGTH = 30_000  # characters of names and values
TOO_MANY = f"A list takes at most {MAX_FILTERS} filters."
TOO_LONG = f"The filters of a list have at most {MAX_LENGTH:,} characters."
MAX_KEPT_LENGTH = 200  # characters of a parameter that is encoded once
WITHOUT_VIEW = "_view=all"  # in place of an empty query: a bare URL leads to the user's default view


def is_filter(name: str) -> bool:
    """True for a parameter that is a filter."""
    return name not in OWN_PARAMETERS and not name.startswith("_")


def _encode(pair: tuple[str, str]) -> str:
    """A parameter as in a query string. The links of a page repeat those of its own query dozens of times."""
    return _encode_kept(pair) if len(pair[0]) + len(pair[1]) <= MAX_KEPT_LENGTH else urlencode((pair,))


@lru_cache("query parameters", 4096)
def _encode_kept(pair: tuple[str, str]) -> str:
    return urlencode((pair,))


@dataclasses.dataclass(frozen=True)
class ListQuery:
    """The parameters of a list's URL as pairs of name and value, in order; ``path`` is the list's path.

    With ``has_default_view``, links without any parameter say so explicitly.
    """

    path: str
    pairs: tuple[tuple[str, str], ...]
    has_default_view: bool = False

    @property
    def text(self) -> str:
        """The query string."""
        return "&".join([_encode(pair) for pair in self.pairs])

    @property
    def url(self) -> str:
        """The path with the query."""
        if self.pairs:
            return f"{self.path}?{self.text}"
        return f"{self.path}?{WITHOUT_VIEW}" if self.has_default_view else self.path

    @property
    def base(self) -> str:
        """The path with the query, to which a link appends parameters."""
        return f"{self.path}?{self.text}&" if self.pairs else f"{self.path}?"

    def without(self, *names: str) -> ListQuery:
        """The query without these parameters, and without the page, which other rows would be on."""
        pairs = tuple(pair for pair in self.pairs if pair[0] not in names and pair[0] != "page")
        return dataclasses.replace(self, pairs=pairs)

    def with_values(self, name: str, values: Iterable[str]) -> ListQuery:
        """The query with these values of a parameter, in its place or at the end."""
        added = [(name, value) for value in values]
        place = next((number for number, pair in enumerate(self.pairs) if pair[0] == name), len(self.pairs))
        kept = self.without(name).pairs
        before = sum(1 for pair in self.pairs[:place] if pair[0] != "page")
        return dataclasses.replace(self, pairs=(*kept[:before], *added, *kept[before:]))

    def values(self, name: str) -> list[str]:
        """The values of a parameter."""
        return [value for other, value in self.pairs if other == name]

    @property
    def filters(self) -> list[tuple[str, list[str]]]:
        """The filters with their values."""
        grouped: dict[str, list[str]] = {}
        for name, value in self.pairs:
            if is_filter(name):
                grouped.setdefault(name, []).append(value)
        return list(grouped.items())

    def only_filters(self) -> ListQuery:
        """The query without order, columns and page."""
        return dataclasses.replace(self, pairs=tuple(pair for pair in self.pairs if is_filter(pair[0])))

    def with_filters(self, filters: Sequence[tuple[str, Sequence[str]]]) -> ListQuery:
        """The query with other filters in place of its own."""
        others = [pair for pair in self.without().pairs if not is_filter(pair[0])]
        pairs = [(name, value) for name, values in filters for value in values]
        return dataclasses.replace(self, pairs=(*pairs, *others))


def query_of(request: Request) -> ListQuery:
    """The query of a request; without blank values, which forms send, and parameters of one request.

    :raises Invalid: for more than :data:`MAX_FILTERS` filters, or more characters than :data:`MAX_LENGTH`
    """
    pairs = [(name, value) for name, values in request.uow.query.items() for value in values]
    query = ListQuery(request.path, tuple(pair for pair in pairs if pair[1] != "" and pair[0] not in MOMENTARY))
    if len(query.filters) > MAX_FILTERS:
        raise Invalid.whole(TOO_MANY)
    if sum(map(len, itertools.chain.from_iterable(query.pairs))) > MAX_LENGTH:
        raise Invalid.whole(TOO_LONG)
    return query
