"""Icons of the set Heroicons. A page holds each icon once, as a symbol at its end that all uses refer to."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from heroicons import IconDoesNotExist
from heroicons.jinja import heroicon_micro
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

if TYPE_CHECKING:
    from netinv_web.frame import Frame

FALLBACK = "square-2-stack"
_USE = Markup('<svg class="icon" aria-hidden="true" focusable="false"><use href="#icon-{}"></use></svg>')


@functools.cache
def symbol(name: str) -> Markup:
    """The ``<symbol>`` of an icon, 16 by 16. A name that the set does not have gives another icon, so that a slip of a
    plugin does not break a page.
    """
    try:
        drawing = heroicon_micro(name, size=None)
    except IconDoesNotExist:
        drawing = heroicon_micro(FALLBACK, size=None)
    paths = drawing[drawing.index(">") + 1 : drawing.rindex("</svg>")]
    lines = "".join(line.strip() for line in paths.splitlines())
    return Markup('<symbol id="icon-{}" viewBox="0 0 16 16">{}</symbol>').format(name, Markup(lines))


@functools.cache
def _use(name: str) -> Markup:
    return _USE.format(name)


@pass_context
def icon(context: Context, name: str) -> Markup:
    """Template function: an icon. It is decoration: text beside it, or a title, says what it means.

    Templates that are imported need it ``with context``.
    """
    frame: Frame = context["frame"]
    frame.icons.add(name)
    return _use(name)


def symbols(names: set[str]) -> Markup:
    """The hidden element with the symbols of a page."""
    inner: Any = Markup("").join(symbol(name) for name in sorted(names))
    return Markup('<svg class="symbols" width="0" height="0" aria-hidden="true">{}</svg>').format(inner)
