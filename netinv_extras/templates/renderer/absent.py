"""Absent values of templates: null relations, values that the user may not view, and names that do not exist.

A null prints nothing, and so does an attribute of it that the model of the relation has. A name that does not exist
is an error wherever it is used, except in the tests ``defined`` and ``undefined`` and the filter ``default``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jinja2 import Undefined, UndefinedError
from jinja2.utils import Namespace, missing

Attribute = Callable[[str], Any]
_NAME, _ATTRIBUTE, _EMPTY = range(3)
_LENIENT = (Mapping, Namespace, type(None))  # a name that they lack is undefined, as in Jinja2


class Null:
    """Null whose attributes are empty too: those for which ``attribute(name)`` does not raise ``AttributeError``."""

    __slots__ = ("_attribute",)

    def __init__(self, attribute: Attribute | None = None) -> None:
        self._attribute = attribute

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return NULL if self._attribute is None else self._attribute(name)

    def __call__(self, *arguments: Any, **named: Any) -> Null:
        return NULL

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __str__(self) -> str:
        return ""

    def __repr__(self) -> str:
        return "None"

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Null)

    def __hash__(self) -> int:
        return hash(None)

    def __lt__(self, other: object) -> bool:
        return not isinstance(other, Null)

    def __gt__(self, other: object) -> bool:
        return False


NULL = Null()


def only(names: Iterable[str], thing: str = "a null") -> Null:
    """Returns the null of a value that has these attributes."""
    known = frozenset(names)

    def attribute(name: str) -> Null:
        if name not in known:
            raise AttributeError(lacks(thing, name, nearest(name, known)))
        return NULL

    return Null(attribute)


def nearest(name: str, names: Iterable[str]) -> str:
    """Returns the most similar of the names, or an empty text."""
    return next(iter(difflib.get_close_matches(name, list(names), 1)), "")


def lacks(thing: str, name: str, near: str) -> str:
    """Returns the message for an attribute that something does not have."""
    return f"{thing} has no attribute {name!r}." + (f" Did you mean {near!r}?" if near else "")


class Absent(Undefined):
    """Undefined value. A name that nothing defines, and an attribute that an object lacks, cannot be printed or
    iterated over; the latter has no truth either. Members of mappings, places of lists, and results of filters are
    empty.

    ``explain(obj, name)`` returns the message for an object's attribute.
    """

    __slots__ = ("_kind", "_text")
    explain: Callable[[Any, str], str] = staticmethod(lambda obj, name: lacks(type(obj).__name__, name, ""))

    def __init__(self, hint: str | None = None, obj: Any = missing, name: Any = None, **options: Any) -> None:
        indexed = obj is not missing and not isinstance(name, str)
        self._kind = _NAME if obj is missing else _ATTRIBUTE
        if hint is not None or indexed or isinstance(obj, _LENIENT):
            self._kind = _EMPTY
        elif obj is not missing:
            hint = type(self).explain(obj, name)
        self._text = hint or f"{name!r} is undefined"
        super().__init__(hint, obj, name, **options)

    def _refuse(self) -> None:
        """Raises ``UndefinedError`` unless the value is empty."""
        if self._kind != _EMPTY:
            raise UndefinedError(self._text)

    def __str__(self) -> str:
        self._refuse()
        return ""

    def __iter__(self) -> Iterator[Any]:
        self._refuse()
        return iter(())

    def __len__(self) -> int:
        self._refuse()
        return 0

    def __bool__(self) -> bool:
        if self._kind == _ATTRIBUTE:
            self._refuse()
        return False

    def __eq__(self, other: object) -> bool:
        return bool(self) or type(self) is type(other)

    __hash__ = Undefined.__hash__


def is_none(value: Any) -> bool:
    """Test ``none``: true for nulls of relations too."""
    return value is None or isinstance(value, Null)
