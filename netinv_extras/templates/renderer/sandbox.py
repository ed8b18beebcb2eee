"""Jinja2 sandbox of the renderer, with allowlists of attributes and callables.

The first barrier is the process: it limits time and memory (:mod:`netinv_extras.templates.renderer.limits`) and
holds no secrets. The sandbox is the second one.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import re
import sys
from collections.abc import Callable, Mapping
from types import BuiltinMethodType, MethodType, ModuleType
from typing import Any, NoReturn

from jinja2 import Template, Undefined
from jinja2.exceptions import SecurityError
from jinja2.ext import do, loopcontrols
from jinja2.filters import FILTERS, _GroupTuple
from jinja2.runtime import BlockReference, LoopContext, Macro
from jinja2.sandbox import SandboxedEnvironment
from jinja2.tests import TESTS
from jinja2.utils import Cycler, Joiner, Namespace
from markupsafe import Markup

from netinv_extras.templates.renderer import networks, querysets
from netinv_extras.templates.renderer.absent import Absent, Null, is_none, lacks, nearest
from netinv_extras.templates.renderer.data import Function, Percentage
from netinv_extras.templates.renderer.filters import FILTERS as OWN_FILTERS
from netinv_extras.templates.renderer.filters import to_json
from netinv_extras.templates.renderer.objects import Object, explain
from netinv_extras.templates.renderer.querysets import Queryset

_CACHED = 1 << 20  # total characters of the sources in the cache of compiled templates
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DATE = _words("year month day weekday isoweekday isoformat isocalendar strftime toordinal ctime replace")
_TIME = _words("hour minute second microsecond isoformat strftime replace utcoffset tzname")
ATTRIBUTES: dict[type, frozenset[str]] = {
    str: frozenset(name for name in dir(str) if not name.startswith("_")) - {"format", "format_map", "maketrans"},
    bytes: _words("decode hex"),
    int: _words("bit_length bit_count"),
    float: _words("is_integer"),
    decimal.Decimal: _words("quantize normalize to_integral_value is_zero is_signed"),
    list: _words("index count copy"),
    tuple: _words("index count"),
    dict: _words("get items keys values copy"),
    range: _words("index count start stop step"),
    datetime.date: _DATE,
    datetime.datetime: _DATE | _TIME | _words("date time timestamp"),
    datetime.time: _TIME,
    datetime.timedelta: _words("days seconds microseconds total_seconds"),
    _GroupTuple: _words("grouper list"),
    LoopContext: _words(
        "index index0 revindex revindex0 first last length previtem nextitem depth depth0 cycle changed"
    ),
    Macro: _words("name arguments catch_kwargs catch_varargs caller"),
    BlockReference: _words("super"),
    Cycler: _words("current next reset"),
    Percentage: _words("numerator denominator"),
    Queryset: frozenset(querysets.METHODS),
    **networks.ATTRIBUTES,
}
# methods that change a value: allowed for those that a template made, which have exactly this type
CHANGES: dict[type, frozenset[str]] = {
    list: _words("append extend insert pop remove clear sort reverse"),
    dict: _words("update setdefault pop popitem clear"),
}
_THINGS = {str: "a text", int: "a number", networks.AddressText: "an address", networks.IPNetwork: "a network"}
_METHODS = (LoopContext.cycle, LoopContext.changed, Cycler.next, Cycler.reset, *networks.METHODS)
_ANY_ATTRIBUTE = (Object, Namespace, Null)  # they refuse those that begin with an underscore


def _may_read(kind: type, name: str) -> bool:
    return name in CHANGES.get(kind, ()) or any(name in ATTRIBUTES.get(base, ()) for base in kind.__mro__)


def _explain(obj: Any, name: str) -> str:
    """Returns the message for an attribute that a value does not have, with the nearest name."""
    if isinstance(obj, Object | Null):
        return explain(obj, name)
    if isinstance(obj, Queryset):
        return querysets.explain(name)
    names = {each for base in type(obj).__mro__ for each in ATTRIBUTES.get(base, ())}
    return lacks(_THINGS.get(type(obj), f"a {type(obj).__name__}"), name, nearest(name, names))


class Sandbox(SandboxedEnvironment):
    """Jinja2 environment for plain data: attributes and calls cannot reach types, internals of functions or modules."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return not attr.startswith("_") and (type(obj) in _ANY_ATTRIBUTE or _may_read(type(obj), attr))

    def is_safe_callable(self, obj: Any) -> bool:
        if isinstance(obj, BuiltinMethodType | MethodType):
            owner = obj.__self__
            if isinstance(obj, MethodType) and not isinstance(owner, Markup):
                return obj.__func__ in _METHODS
            return not isinstance(owner, type | ModuleType) and _may_read(type(owner), obj.__name__)
        return type(obj) in (Function, Null, Macro, BlockReference, LoopContext, Joiner) or isinstance(obj, Undefined)

    def handle_exception(self, source: str | None = None) -> NoReturn:
        """Raises the current exception unchanged. Jinja2 would rewrite its traceback, which needs imports and files."""
        error = sys.exc_info()[1]
        assert error is not None
        raise error

    def wrap_str_format(self, value: Any) -> Any:
        wrapped = super().wrap_str_format(value)
        return None if wrapped is None else Function(wrapped)


def _one_line(value: Any) -> Any:
    """Refuses control characters in values of expressions in headers (header injection)."""
    if isinstance(value, str) and _CONTROL.search(value):
        raise SecurityError("a value holds a line break or another control character, which no header may")
    return _write_value(value)


def _write_value(value: Any) -> Any:
    """The text of a null is empty."""
    return "" if value is None else value


class _Undefined(Absent):
    """Undefined value that explains what an object lacks."""

    __slots__ = ()
    explain = staticmethod(_explain)


def _environment(finalize: Callable[[Any], Any], filters: Mapping[str, Any]) -> Sandbox:
    environment = Sandbox(
        autoescape=False,
        keep_trailing_newline=True,
        cache_size=0,
        undefined=_Undefined,
        finalize=finalize,
        extensions=[do, loopcontrols],
    )
    environment.filters = {**FILTERS, **OWN_FILTERS, **filters}
    environment.tests = {**TESTS, "none": is_none}
    environment.policies["json.dumps_function"] = to_json
    functions = {"range": range, "dict": dict, "cycler": Cycler, "joiner": Joiner, "namespace": Namespace}
    environment.globals = {name: Function(function) for name, function in functions.items()}
    return environment


class Templates:
    """LRU cache of compiled templates by source."""

    def __init__(self, filters: Mapping[str, Any] | None = None) -> None:
        self._environments = {
            False: _environment(_write_value, filters or {}),
            True: _environment(_one_line, filters or {}),
        }
        self._compiled: collections.OrderedDict[tuple[str, bool], Template] = collections.OrderedDict()
        self._length = 0

    def compile(self, source: str, *, lines: bool) -> Template:
        """Returns a compiled template. ``lines`` is for headers, whose expressions may not contain line breaks.

        :raises jinja2.TemplateSyntaxError: for an invalid source
        """
        key = (source, lines)
        if key in self._compiled:
            self._compiled.move_to_end(key)
            return self._compiled[key]
        template = self._environments[lines].from_string(source)
        self._compiled[key] = template
        self._length += len(source)
        while self._length > _CACHED:
            (evicted, _), _ = self._compiled.popitem(last=False)
            self._length -= len(evicted)
        return template
