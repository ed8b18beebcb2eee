"""The sandbox that templates run in, within the renderer: Jinja2's, with lists of the attributes that may be read and the callables that may be called.

The process bounds time and memory (:mod:`netinv_extras.templates.renderer.limits`) and holds nothing worth reading; the sandbox is a second barrier.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import re
import sys
from types import BuiltinMethodType, MethodType, ModuleType
from typing import Any, NoReturn

from jinja2 import Template, Undefined
from jinja2.exceptions import SecurityError
from jinja2.filters import _GroupTuple
from jinja2.runtime import BlockReference, LoopContext, Macro
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import Cycler, Joiner, Namespace
from markupsafe import Markup

from netinv_extras.templates.renderer.objects import Function, Object, Queryset

_CACHED = 1 << 20  # characters of the sources whose compiled templates are kept
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
    LoopContext: _words("index index0 revindex revindex0 first last length previtem nextitem depth depth0 cycle changed"),
    Macro: _words("name arguments catch_kwargs catch_varargs caller"),
    BlockReference: _words("super"),
    Cycler: _words("current next reset"),
    Queryset: _words("all exists first last count"),
}
_METHODS = (LoopContext.cycle, LoopContext.changed, Cycler.next, Cycler.reset)


def _may_read(kind: type, name: str) -> bool:
    return any(name in ATTRIBUTES.get(base, ()) for base in kind.__mro__)


class Sandbox(SandboxedEnvironment):
    """Jinja2 with plain data only: no attribute and no call leads to a type, a function's insides or a module."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return not attr.startswith("_") and (type(obj) in (Object, Namespace) or _may_read(type(obj), attr))

    def is_safe_callable(self, obj: Any) -> bool:
        if isinstance(obj, BuiltinMethodType | MethodType):
            owner = obj.__self__
            if isinstance(obj, MethodType) and not isinstance(owner, Markup):
                return obj.__func__ in _METHODS
            return not isinstance(owner, type | ModuleType) and _may_read(type(owner), obj.__name__)
        return type(obj) in (Function, Macro, BlockReference, LoopContext, Joiner) or isinstance(obj, Undefined)

    def handle_exception(self, source: str | None = None) -> NoReturn:
        """Raises the current exception as it is: nobody reads its traceback, and rewriting that would need modules and files."""
        error = sys.exc_info()[1]
        assert error is not None
        raise error

    def wrap_str_format(self, value: Any) -> Any:
        wrapped = super().wrap_str_format(value)
        return None if wrapped is None else Function(wrapped)


def _one_line(value: Any) -> Any:
    """Refuses line breaks in what an expression puts into a header."""
    if isinstance(value, str) and _CONTROL.search(value):
        raise SecurityError("a value holds a line break or another control character, which no header may")
    return value


def _environment(**options: Any) -> Sandbox:
    environment = Sandbox(autoescape=False, keep_trailing_newline=True, cache_size=0, **options)
    functions = {"range": range, "dict": dict, "cycler": Cycler, "joiner": Joiner, "namespace": Namespace}
    environment.globals = {name: Function(function) for name, function in functions.items()}
    return environment


class Templates:
    """Compiled templates by their sources, the least recently used forgotten first."""

    def __init__(self) -> None:
        self._environments = {False: _environment(), True: _environment(finalize=_one_line)}
        self._compiled: collections.OrderedDict[tuple[str, bool], Template] = collections.OrderedDict()
        self._length = 0

    def compiled(self, source: str, *, lines: bool) -> Template:
        """A template; ``lines`` for headers, where no expression may bring a line break.

        :raises jinja2.TemplateSyntaxError: for a source that is no template
        """
        key = (source, lines)
        if key in self._compiled:
            self._compiled.move_to_end(key)
            return self._compiled[key]
        template = self._environments[lines].from_string(source)
        self._compiled[key] = template
        self._length += len(source)
        while self._length > _CACHED:
            (forgotten, _), _ = self._compiled.popitem(last=False)
            self._length -= len(forgotten)
        return template
