"""Templates that users write (Jinja2), in a sandbox that is also bounded: in what they reach, in time, and in what they make.

The sandbox of Jinja2 keeps a template away from Python's internals; here every loop and call is watched by a clock, and what could make
a text or a number without measure is measured first.
"""

from __future__ import annotations

import functools
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinMethodType
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer
from sqlalchemy.exc import SQLAlchemyError

from netinv_core.context import Context
from netinv_core.resource import Rule
from netinv_core.write.draft import Draft

LONGEST = 1 << 20  # characters of what a template, or an expression of it, makes
MOST_STEPS = 10_000  # of one range()
SECONDS = 2.0
_GROWING = frozenset({"replace", "join", "format", "format_map", "translate", "expandtabs"})
_WIDE = re.compile(r"\d{5}|\*")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Unrendered(ValueError):
    """A template that could not be rendered, and why."""


class _Clock(threading.local):
    """When the rendering that this thread is at has to be done."""

    end = float("inf")
    seconds = SECONDS

    def start(self, seconds: float) -> None:
        """Sets the time; within that of a template which asks for what this one makes."""
        end = time.monotonic() + seconds
        if end < self.end:
            self.seconds, self.end = seconds, end

    def check(self) -> None:
        if time.monotonic() > self.end:
            raise SecurityError(f"it takes longer than {self.seconds:g} s")


_clock = _Clock()


def _measure(*values: Any, times: int = 1) -> None:
    """Refuses to put together, or to repeat, what would be longer than :data:`LONGEST`."""
    if sum(len(value) for value in values if isinstance(value, str | bytes | list | tuple | dict)) * times > LONGEST:
        raise SecurityError("it makes too much text")


def _check_growth(name: str, values: Sequence[Any]) -> None:
    """Refuses lengths without measure, and texts that multiply one another; ``values`` are a method's object, or what is filtered, and its arguments."""
    _clock.check()
    if any(isinstance(value, int | float) and abs(value) > LONGEST for value in values[1:]):
        raise SecurityError("a number is too large")
    if name in _GROWING:
        *_, second, first = [1, 1, *sorted(len(value) for value in values if isinstance(value, str | bytes | list | tuple))]
        if second * first > LONGEST * 16:
            raise SecurityError("it makes too much text")
    if "format" in name and any(isinstance(value, str) and _WIDE.search(value) for value in values):
        raise SecurityError("a width is too large")


def _watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter whose arguments and result are measured; some get the environment before the value."""
    first = 1 if hasattr(function, "jinja_pass_arg") else 0

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        _check_growth(name, [*arguments[first:], *named.values()])
        found = function(*arguments, **named)
        _measure(found)
        return found

    return call


def _range(*arguments: int) -> range:
    found = range(*arguments)
    if len(found) > MOST_STEPS:
        raise SecurityError(f"range() gives at most {MOST_STEPS} numbers")
    return found


@pass_context
def _ticking(context: Any, values: Any) -> Any:
    """The values of a loop, each against the clock."""
    for value in values:
        _clock.check()
        yield value


@pass_context
def _joined(context: Any, values: list[Any]) -> str:
    texts = [str(value) for value in values]
    _measure(*texts)
    return "".join(texts)


class _Bounding(NodeTransformer):
    """Puts loops and concatenations under watch."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        if not node.recursive:
            node.iter = nodes.Filter(node.iter, "netinv_ticking", [], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return nodes.Filter(nodes.List(node.nodes, lineno=node.lineno), "netinv_joined", [], [], None, None, lineno=node.lineno)


class _Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def call(_self, _context: Any, _function: Any, *arguments: Any, **named: Any) -> Any:
        method = getattr(_function, "__wrapped__", _function)  # the sandbox wraps str.format
        if isinstance(method, BuiltinMethodType):
            _check_growth(method.__name__, [method.__self__, *arguments, *named.values()])
        _clock.check()
        found = super().call(_context, _function, *arguments, **named)
        _measure(found)
        return found

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        _clock.check()
        if operator == "**" and not (isinstance(right, int | float) and abs(right) <= 64):
            raise SecurityError("a number is too large")
        if operator == "%" and isinstance(left, str) and _WIDE.search(left):
            raise SecurityError("a width is too large")
        if operator == "*":
            for value, other in ((left, right), (right, left)):
                if isinstance(other, int):
                    _measure(value, times=max(other, 0))
        if operator == "+":
            _measure(left, right)
        found = super().call_binop(context, operator, left, right)
        if isinstance(found, int) and found.bit_length() > 4096:
            raise SecurityError("a number is too large")
        return found


def _single_line(value: Any) -> Any:
    """What an expression puts into a header: never more than the line it stands in."""
    if isinstance(value, str) and _CONTROL.search(value):
        raise SecurityError("a value holds a line break or another control character, which no header may")
    return value


def _environment(**options: Any) -> _Sandbox:
    made = _Sandbox(autoescape=False, keep_trailing_newline=True, **options)
    made.globals = {name: value for name, value in made.globals.items() if name not in ("lipsum", "range")} | {"range": _range}
    made.filters = {name: _watched(name, function) for name, function in made.filters.items()}
    made.filters |= {"netinv_ticking": _ticking, "netinv_joined": _joined}
    return made


_bodies, _headers = _environment(), _environment(finalize=_single_line)


@functools.lru_cache(maxsize=256)
def compiled(source: str, *, lines: bool = False) -> Template:
    """A template; ``lines`` for headers, where no expression may bring a line break.

    :raises jinja2.TemplateSyntaxError: when it is none
    """
    environment = _headers if lines else _bodies
    tree = _Bounding().visit(environment.parse(source))
    return environment.from_string(tree)


def fault(source: str, *, lines: bool = False) -> str | None:
    """Why a text is no template; ``None`` when it is one."""
    try:
        compiled(source, lines=lines)
    except TemplateSyntaxError as error:
        return f"This template does not compile. Line {error.lineno}: {error.message}"
    except RecursionError:
        return "This template does not compile: it is nested too deeply."
    return None


def rule(*names: str) -> Rule:
    """A rule for a resource: what is written in these columns are templates that can be read."""

    def templates_compile(context: Context, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            for name in names:
                if draft.changed(name) and (reason := fault(draft[name])):
                    draft.reject(name, reason)

    return templates_compile


def rendered(source: str, context: Mapping[str, Any], *, lines: bool = False, seconds: float = SECONDS, longest: int = LONGEST) -> str:
    """What a template makes of a context, within ``seconds`` and no longer than ``longest`` characters.

    :raises Unrendered: with the reason, when it is faulty, goes on for too long or makes too much
    """
    outer = _clock.end, _clock.seconds
    _clock.start(seconds)
    parts, length = [], 0
    try:
        for part in compiled(source, lines=lines).generate(context):
            _clock.check()
            parts.append(part)
            length += len(part)
            if length > longest:
                raise SecurityError("it makes too much text")
    except RecursionError:
        raise Unrendered("it calls itself without end") from None
    except TemplateError as error:
        raise Unrendered(error.message or type(error).__name__) from None
    except SQLAlchemyError:  # what a template asks for could not be read: no fault of its own
        raise
    except Exception as error:  # whatever a filter or an operator makes of the values it is given
        raise Unrendered(f"{type(error).__name__}: {error}") from None
    finally:
        _clock.end, _clock.seconds = outer
    return "".join(parts)
