"""Records: plain values that the classes of the core exchange."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from netinv_core.write.identification import IdentifiedObjects

Setting = tuple[Callable[[str], Any], Any]
SettingDefinitions = Mapping[str, Setting]
Parameters = Sequence[tuple[str, list[str]]]  # of a query: names and values


class SortKey(NamedTuple):
    """An SQL expression to order by, and its direction."""

    expression: Any
    nullable: bool
    descending: bool = False
    nulls_first: bool = False


class Order(NamedTuple):
    """Order of a list: FROM clause, ORDER BY expressions, and the sort keys that these are made of, the id last.

    ``whole_source`` is the FROM clause of the list without conditions.
    """

    source: Any
    expressions: list[Any]
    keys: list[SortKey]
    whole_source: Any

    def source_for(self, *, filtered: bool) -> Any:
        """The FROM clause of a list, with conditions if it is ``filtered``."""
        return self.source if filtered else self.whole_source


@dataclasses.dataclass(frozen=True)
class ObjectWarning:
    """Warning about a written object, which does not refuse the write: a message about a field, or about the whole
    object (``__all__``). ``label`` and ``key`` are those of the object.
    """

    label: str
    key: Any
    field: str
    message: str


@dataclasses.dataclass(frozen=True)
class ContentType:
    """Content type: a model's name among all packages, and its number.

    ``label`` is ``app.model``, such as ``dcim.site``.
    """

    id: int
    label: str

    @property
    def app(self) -> str:
        """The first half of the label."""
        return self.label.partition(".")[0]

    @property
    def model(self) -> str:
        """The second half of the label."""
        return self.label.partition(".")[2]


@dataclasses.dataclass(frozen=True)
class FailedPackage:
    """A package that is quarantined: it is reported, its paths answer 503, and the service starts without it."""

    name: str
    distribution: str
    reason: str
    lacks_migrations: bool = False


@dataclasses.dataclass(frozen=True)
class CellColumn:
    """A column of a table.

    ``name`` is its name in the header; ``field`` the field that it belongs to; ``members`` the names that lead to its
    value in the field's object, none for the whole value. ``to_text`` converts a value of the field to the text of a
    cell, ``from_text`` the text to the value of the field or the member in a body.
    """

    name: str
    field: str
    to_text: Callable[[Any, IdentifiedObjects], str]
    from_text: Callable[[str], Any]
    members: tuple[str, ...] = ()
