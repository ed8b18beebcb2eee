"""Lists of objects with the methods of a Django queryset that only read.

Conditions are parameters of the API's list, which the service evaluates for a whole batch, or paths of attributes with
a lookup of Django (``site__name__startswith``), which are evaluated here with the loaded attributes.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from netinv_extras.templates.renderer import values
from netinv_extras.templates.renderer.absent import NULL, Null, lacks, nearest
from netinv_extras.templates.renderer.data import Function
from netinv_extras.templates.renderer.networks import plain

Row = Any
_UNCHANGED = ("all", "select_related", "prefetch_related", "only", "defer", "iterator", "using", "restrict")
_NAMES = ("id", "slug", "name", "display")


class Queryset:
    """List of objects."""

    __slots__ = ("_objects",)

    def __init__(self, objects: list[Any]) -> None:
        self._objects = objects

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(name)
        return Function(functools.partial(METHODS[name], self))

    def __getitem__(self, place: Any) -> Any:
        found = self._objects[place]
        return self._with(found) if isinstance(place, slice) else found

    def __iter__(self) -> Iterator[Any]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)

    def __str__(self) -> str:
        return ", ".join(map(str, self._objects))

    def __repr__(self) -> str:
        return repr(self._objects)

    def _with(self, objects: Iterable[Any]) -> Queryset:
        """Returns a list of the same kind of other objects."""
        return Queryset(list(objects))


class ValueRows(Queryset):
    """List of values of objects: mappings, tuples or, of one attribute, the values themselves."""

    __slots__ = ("_make", "_unique")

    def __init__(self, objects: list[Any], make: Callable[[Any], Row], *, unique: bool = False) -> None:
        super().__init__(objects)
        self._make, self._unique = make, unique

    def _rows(self) -> list[Row]:
        rows = [self._make(each) for each in self._objects]
        return list({repr(row): row for row in reversed(rows)}.values())[::-1] if self._unique else rows

    def __getitem__(self, place: Any) -> Any:
        return self._rows()[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows())

    def __len__(self) -> int:
        return len(self._rows())

    def __str__(self) -> str:
        return str(self._rows())

    def __repr__(self) -> str:
        return repr(self._rows())

    def _with(self, objects: Iterable[Any]) -> Queryset:
        return ValueRows(list(objects), self._make, unique=self._unique)


# -- paths and lookups


def _values(value: Any, steps: list[str]) -> list[Any]:
    """Returns the values at the end of a path; a null on the way ends it.

    :raises AttributeError: for an attribute that a model does not have
    """
    if isinstance(value, Queryset | list):
        return [last for item in value for last in _values(item, steps)]
    if value is None or isinstance(value, Null):
        return [None]
    if not steps:
        return [value]
    name, *rest = steps
    following = value.get(name) if isinstance(value, dict) else getattr(value, "id" if name == "pk" else name)
    return _values(following, rest)


def _same(value: Any, wanted: Any) -> bool:
    """True for equal values; text names an object by its id, slug, name or display."""
    if wanted is None or isinstance(wanted, Null) or value is None:
        return value is None and (wanted is None or isinstance(wanted, Null))
    if hasattr(value, "_place"):
        if hasattr(wanted, "_place"):
            return bool(value == wanted)
        return any(str(getattr(value, name, "")) == str(wanted) for name in _NAMES)
    return bool(value == wanted) or str(plain(value)) == str(plain(wanted))


def _order_comparison(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(value: Any, wanted: Any) -> bool:
        if value is None:
            return False
        number = isinstance(value, int | float) and isinstance(wanted, str)
        return compare(value, float(wanted) if number else wanted)

    return test


def _textual(compare: Callable[[str, str], bool], *, fold: bool) -> Callable[[Any, Any], bool]:
    def test(value: Any, wanted: Any) -> bool:
        if value is None:
            return False
        texts = str(plain(value)), str(plain(wanted))
        return compare(*(text.lower() for text in texts)) if fold else compare(*texts)

    return test


LOOKUPS: dict[str, Callable[[Any, Any], bool]] = {
    "exact": _same,
    "iexact": _textual(str.__eq__, fold=True),
    "in": lambda value, wanted: any(_same(value, item) for item in wanted),
    "isnull": lambda value, wanted: (value is None) == bool(wanted),
    "gt": _order_comparison(lambda value, wanted: value > wanted),
    "gte": _order_comparison(lambda value, wanted: value >= wanted),
    "lt": _order_comparison(lambda value, wanted: value < wanted),
    "lte": _order_comparison(lambda value, wanted: value <= wanted),
    "range": _order_comparison(lambda value, wanted: wanted[0] <= value <= wanted[1]),
    "contains": _textual(str.__contains__, fold=False),
    "icontains": _textual(str.__contains__, fold=True),
    "startswith": _textual(str.startswith, fold=False),
    "istartswith": _textual(str.startswith, fold=True),
    "endswith": _textual(str.endswith, fold=False),
    "iendswith": _textual(str.endswith, fold=True),
    "regex": _textual(lambda value, wanted: bool(re.search(wanted, value)), fold=False),
    "iregex": _textual(lambda value, wanted: bool(re.search(wanted, value, re.IGNORECASE)), fold=False),
}


def _by_path(item: Any, path: str, wanted: Any) -> bool:
    steps = path.split("__")
    lookup = steps.pop() if len(steps) > 1 and steps[-1] in LOOKUPS else "exact"
    found = _values(item, steps) or [None]
    return any(LOOKUPS[lookup](value, wanted) for value in found)


def _by_api(item: Any, name: str, wanted: Any) -> bool:
    """Evaluates a parameter of the API's list.

    :raises AttributeError: when there is no such parameter
    """
    given = list(wanted) if isinstance(wanted, list | tuple | Queryset) else [wanted]
    if any(each is None or hasattr(each, "_place") or isinstance(each, Null | dict) for each in given):
        raise AttributeError(name)
    request = json.dumps({"name": name, "values": [str(plain(each)) for each in given]})
    return bool(item._batches.value(item._batch, item._place, f"{values.WHERE}{request}"))


def _matches(item: Any, conditions: dict[str, Any]) -> bool:
    for name, wanted in conditions.items():
        try:
            found = _by_api(item, name, wanted)
        except AttributeError:
            found = _by_path(item, name, wanted)
        if not found:
            return False
    return True


# -- methods


def _filter(objects: Queryset, **conditions: Any) -> Queryset:
    return objects._with(each for each in objects._objects if _matches(each, conditions))


def _exclude(objects: Queryset, **conditions: Any) -> Queryset:
    return objects._with(each for each in objects._objects if not (conditions and _matches(each, conditions)))


def _get(objects: Queryset, **conditions: Any) -> Any:
    found = list(_filter(objects, **conditions))
    if len(found) != 1:
        raise LookupError(f"get() returned {len(found)} objects, not one")
    return found[0]


def _first(objects: Queryset) -> Any:
    return next(iter(objects), None)


def _last(objects: Queryset) -> Any:
    return next(iter(list(objects)[::-1]), None)


def _order_by(objects: Queryset, *paths: str) -> Queryset:
    ordered = list(objects._objects)
    for path in reversed(paths):
        steps = path.lstrip("-").split("__")

        def key(item: Any, steps: list[str] = steps) -> tuple[bool, Any]:
            value = next(iter(_values(item, steps)), None)
            return value is None, 0 if value is None else value

        ordered.sort(key=key, reverse=path.startswith("-"))
    return objects._with(ordered)


def _cell(item: Any, path: str) -> Any:
    value: Any = next(iter(_values(item, path.split("__"))), None)
    if value is None:
        return NULL
    return value.id if hasattr(value, "_place") else value


def _value_rows(objects: Queryset, *paths: str) -> ValueRows:
    _refuse_names(paths)
    return ValueRows(objects._objects, lambda item: {path: _cell(item, path) for path in paths})


def _values_list(objects: Queryset, *paths: str, flat: bool = False) -> ValueRows:
    _refuse_names(paths)
    if flat:
        return ValueRows(objects._objects, lambda item: _cell(item, paths[0]))
    return ValueRows(objects._objects, lambda item: tuple(_cell(item, path) for path in paths))


def _refuse_names(paths: tuple[str, ...]) -> None:
    if not paths:
        raise TypeError("name the attributes")


def _distinct(objects: Queryset, *paths: str) -> Queryset:
    if isinstance(objects, ValueRows):
        return ValueRows(objects._objects, objects._make, unique=True)
    seen = {tuple(str(_cell(item, path)) for path in paths or ["id"]): item for item in reversed(objects._objects)}
    kept = {id(item) for item in seen.values()}
    return Queryset([item for item in objects._objects if id(item) in kept])


METHODS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(_UNCHANGED, lambda objects, *names, **options: objects),
    "filter": _filter,
    "exclude": _exclude,
    "get": _get,
    "order_by": _order_by,
    "reverse": lambda objects: objects._with(objects._objects[::-1]),
    "distinct": _distinct,
    "values": _value_rows,
    "values_list": _values_list,
    "exists": lambda objects: len(objects) > 0,
    "first": _first,
    "last": _last,
    "count": len,
    "none": lambda objects: objects._with([]),
    "names": lambda objects: _values_list(objects, "name", flat=True),
    "slugs": lambda objects: _values_list(objects, "slug", flat=True),
}


def explain(name: str) -> str:
    """Returns the message for a method that lists do not have."""
    return lacks("a list of objects", name, nearest(name, METHODS))
