"""Order of a list: the links of column headers, and the state that they show."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from netinv_core.labels import capitalize, label_of
from netinv_core.read.ordering import PARAMETER, orderings_of
from netinv_web.lists.columns import naming_field
from netinv_web.lists.list_query import ListQuery

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

DISPLAY = "display"


@dataclasses.dataclass(frozen=True)
class Sorting:
    """The order of a list. ``name_ordering`` orders it by the column with the objects' names, whose header is
    ``name_label``; empty without an order.
    """

    query: ListQuery
    name_ordering: str = ""
    name_label: str = "Name"

    @property
    def first(self) -> str:
        """The name that the list is ordered by first; empty for its own order."""
        return ",".join(self.query.values(PARAMETER)).partition(",")[0].strip()

    def state(self, name: str) -> str:
        """``ascending`` or ``descending`` for the column that the list is ordered by; empty for others."""
        return {name: "ascending", f"-{name}": "descending"}.get(self.first, "")

    def url(self, name: str) -> str:
        """The path of the list in the next order: ascending, then descending, then the list's own."""
        following = {name: [f"-{name}"], f"-{name}": []}.get(self.first, [name])
        return self.query.with_values(PARAMETER, following).url


def sorting_of(endpoint: Endpoint, query: ListQuery) -> Sorting:
    """The order of a resource's list."""
    return Sorting(query, DISPLAY if DISPLAY in orderings_of(endpoint) else "", name_label_of(endpoint))


def name_label_of(endpoint: Endpoint) -> str:
    """The header of the column with the objects' names: the label of the field that it shows, such as *Prefix*; that of
    the model where the name consists of several values and no field is called so.
    """
    if (naming := naming_field(endpoint)) and naming != "name":
        return label_of(endpoint.fields[naming])
    return "Name" if "name" in endpoint.fields else capitalize(endpoint.title)
