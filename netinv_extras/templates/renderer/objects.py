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

Load = Callable[[int, str], "list[Any] | None"]


class Function:
    """Callable for templates that hides the attributes of the wrapped function."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._function(*arguments, **named)

    def __repr__(self) -> str:
        return "<function>"


class Members(dict[str, Any]):
    """JSON object within a representation. Its text is its ``display`` or ``label``, if it has one."""

    __slots__ = ()

    def __str__(self) -> str:
        return str(next((self[name] for name in ("display", "label") if name in self), dict(self)))


class Batches:
    """Cache of the columns of one message's batches; a column holds an attribute of all objects of a batch.

    ``load(batch, name)`` requests a column from the service; it returns ``None`` for an unknown attribute.
    """

    def __init__(self, load: Load) -> None:
        self._load = load
        self._columns: dict[tuple[int, str], list[Any] | None] = {}

    def keep(self, batch: int, name: str, column: list[Any] | None) -> None:
        """Stores a loaded column, or ``None`` for an unknown attribute."""
        self._columns[batch, name] = None if column is None else [self.decode(value) for value in column]

    def value(self, batch: int, place: int, name: str) -> Any:
        """Returns an attribute of an object, loading its column if necessary.

        :raises AttributeError: for an unknown or hidden attribute
        """
        key = (batch, name)
        if key not in self._columns:
            self.keep(batch, name, None if name.startswith("_") else self._load(batch, name))
        column = self._columns[key]
        value = values.HIDDEN if column is None else column[place]
        if value is values.HIDDEN:
            raise AttributeError(name)
        return value

    def decode(self, value: Any) -> Any:
        """Decodes a value (:mod:`netinv_extras.templates.renderer.values`)."""
        if not isinstance(value, list):
            return value
        match value:
            case [values.OBJECT, batch, place]:
                return Object(self, batch, place)
            case [values.OBJECTS, batch, places]:
                return Queryset([Object(self, batch, place) for place in places])
            case [values.LABEL, text]:
                return Function(lambda: text)
            case [values.SHOWN_OBJECT, members]:
                return Members({name: self.decode(member) for name, member in members.items()})
            case [values.SHOWN_LIST, items]:
                return [self.decode(item) for item in items]
            case [values.HIDDEN_VALUE]:
                return values.HIDDEN
        return _SCALARS[value[0]](value[1])


_SCALARS: dict[str, Callable[[Any], Any]] = {
    values.JSON: lambda value: value,
    values.DATETIME: datetime.datetime.fromisoformat,
    values.DATE: datetime.date.fromisoformat,
    values.TIME: datetime.time.fromisoformat,
    values.DECIMAL: decimal.Decimal,
}


class Object:
    """Proxy of an object: fields and relations are attributes and items; its text is its ``display``."""

    __slots__ = ("_batch", "_batches", "_place")

    def __init__(self, batches: Batches, batch: int, place: int) -> None:
        self._batches, self._batch, self._place = batches, batch, place

    def __getattr__(self, name: str) -> Any:
        return self._batches.value(self._batch, self._place, name)

    def __getitem__(self, name: object) -> Any:
        try:
            return self._batches.value(self._batch, self._place, str(name))
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

    def __hash__(self) -> int:
        return hash(self.id)


class Queryset:
    """List of objects with the read-only methods of a Django queryset that templates call."""

    __slots__ = ("_objects",)

    def __init__(self, objects: list[Object]) -> None:
        self._objects = objects

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        return Function(lambda: _METHODS[name](self))

    def __getitem__(self, place: Any) -> Any:
        return self._objects[place]

    def __iter__(self) -> Iterator[Object]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)

    def __str__(self) -> str:
        return ", ".join(map(str, self._objects))

    def __repr__(self) -> str:
        return repr(self._objects)


_METHODS: dict[str, Callable[[Queryset], Any]] = {
    "all": lambda objects: objects,
    "exists": lambda objects: len(objects) > 0,
    "first": lambda objects: objects[0] if len(objects) else None,
    "last": lambda objects: objects[-1] if len(objects) else None,
    "count": len,
}
