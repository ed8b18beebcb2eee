"""Variables of templates in the renderer: plain data, and proxies of objects that load attributes on demand.

An attribute is loaded for all objects of a batch at once. The state of a proxy is in slots whose names begin with an
underscore, which the sandbox refuses (:mod:`netinv_extras.templates.renderer.sandbox`).
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterator
from typing import Any

from netinv_extras.templates.renderer import values
from netinv_extras.templates.renderer.absent import NULL, Null, lacks, only
from netinv_extras.templates.renderer.data import Function, Members, Percentage, SharedList, read_only
from netinv_extras.templates.renderer.networks import ATTRIBUTES, AddressText, IPNetwork
from netinv_extras.templates.renderer.querysets import Queryset

Load = Callable[[int, str], "dict[str, Any]"]


class Batches:
    """Cache of the columns of one message's batches; a column holds an attribute of all objects of a batch.

    ``load(batch, name)`` requests a column from the service: ``{"values", "null"}``, or for an unknown attribute
    ``{"model", "nearest"}``.
    """

    def __init__(self, load: Load) -> None:
        self._load = load
        self._columns: dict[tuple[int, str], tuple[list[Any], Any] | str] = {}

    def keep(self, batch: int, name: str, answer: dict[str, Any]) -> None:
        """Stores a loaded column, or the message for an unknown attribute."""
        if "values" in answer:
            null = _SCALAR if answer["null"] is None else self.decode(answer["null"])
            column = [null if value is None else self.decode(value) for value in answer["values"]]
            self._columns[batch, name] = column, null
        else:
            self._columns[batch, name] = lacks(answer["model"], name, answer["nearest"])

    def _column(self, batch: int, name: str) -> tuple[list[Any], Any]:
        """Returns the values of an attribute, and its null.

        :raises AttributeError: for an unknown attribute, with its message
        """
        key = (batch, name)
        if key not in self._columns:
            self.keep(batch, name, self._load(batch, name))
        column = self._columns[key]
        if isinstance(column, str):
            raise AttributeError(column)
        return column

    def value(self, batch: int, place: int, name: str) -> Any:
        """Returns an attribute of an object, loading its column if necessary.

        :raises AttributeError: for an unknown attribute
        """
        return self._column(batch, name)[0][place]

    def null(self, batch: int) -> Null:
        """Returns the null of references to the objects of a batch."""

        def attribute(name: str) -> Any:
            return self._column(batch, name)[1]

        return Null(attribute)

    def decode(self, value: Any) -> Any:
        """Decodes a value (:mod:`netinv_extras.templates.renderer.values`)."""
        if not isinstance(value, list):
            return value
        match value:
            case [values.OBJECT, batch, place]:
                return Object(self, batch, place)
            case [values.OBJECTS, batch, places]:
                return Queryset([Object(self, batch, place) for place in places])
            case [values.RESULT, inner]:
                result = self.decode(inner)
                return Function(lambda: result)
            case [values.SHOWN_OBJECT, members]:
                return Members({name: self.decode(member) for name, member in members.items()})
            case [values.SHOWN_LIST, items]:
                return SharedList([self.decode(item) for item in items])
            case [values.NULL_OBJECT, batch]:
                return self.null(batch)
            case [tag] if tag in _NULLS:
                return _NULLS[tag]
        return _SCALARS[value[0]](value[1])


_SCALAR = only(())
_NULLS = {
    values.HIDDEN_VALUE: NULL,
    values.NULL_ADDRESS: only(ATTRIBUTES[AddressText], "an address"),
    values.NULL_NETWORK: only(ATTRIBUTES[IPNetwork], "a network"),
}
_SCALARS: dict[str, Callable[[Any], Any]] = {
    values.JSON: read_only,
    values.DATETIME: datetime.datetime.fromisoformat,
    values.DATE: datetime.date.fromisoformat,
    values.TIME: datetime.time.fromisoformat,
    values.DECIMAL: decimal.Decimal,
    values.ADDRESS: AddressText,
    values.NETWORK: IPNetwork,
    values.SHARE: Percentage.of,
}


class Object:
    """Proxy of an object: fields and relations are attributes and items; its text is its ``display``."""

    __slots__ = ("_batch", "_batches", "_place")

    def __init__(self, batches: Batches, batch: int, place: int) -> None:
        self._batches, self._batch, self._place = batches, batch, place

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", values.REQUEST)):
            raise AttributeError(lacks("an object", name, ""))
        return self._batches.value(self._batch, self._place, name)

    def __getitem__(self, name: object) -> Any:
        try:
            return self.__getattr__(str(name))
        except AttributeError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("an object cannot be iterated over")

    def __str__(self) -> str:
        return str(self.display)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Object):
            return False
        return (self._batch, self._place) == (other._batch, other._place) or self.id == other.id

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Object):
            return NotImplemented
        return (str(self), str(self.id)) < (str(other), str(other.id))

    def __hash__(self) -> int:
        return hash(self.id)


def explain(item: Object | Null, name: str) -> str:
    """Returns the message for an attribute that an object, or a null, does not have."""
    try:
        getattr(item, name)
    except AttributeError as error:
        return str(error)
    return lacks("an object", name, "")
