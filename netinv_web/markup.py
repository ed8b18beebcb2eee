"""Markup of values: links to objects, texts, times, addresses; in cells and elsewhere on pages."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from netinv_core.auth import permissions
from netinv_core.caches import lru_cache
from netinv_core.http.mount import url_of
from netinv_core.labels import title_of_type
from netinv_core.models.associations import EVERY_TYPE
from netinv_core.read.names import represented_name
from netinv_outgoing.urls import is_link
from netinv_web.paths import endpoint_at, path_of_url

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

EMPTY = Markup('<span class="none">–</span>')
YES, NO = Markup('<span class="yes">Yes</span>'), Markup('<span class="no">No</span>')
# The operator ``%`` takes half the time of ``Markup.format``, which counts in lists.
_LINK = Markup('<a href="%s">%s</a>')
STATE = Markup('<span class="state">%s %s</span>')
_COPYABLE = Markup('<span class="mono" data-copy>%s</span>')
_SHORTENED = Markup('<data class="mono" value="%s" data-copy>%s…</data>')
_TIME = Markup('<time datetime="%s">%s</time>')
MAX_ITEMS = 5  # of a list within a cell
MAX_TEXT = 300  # characters of a cell
# Control characters and noncharacters, which the HTML standard makes a parse error.
_NONCHARACTERS = (*range(0xFDD0, 0xFDF0), *(plane << 16 | last for plane in range(17) for last in (0xFFFE, 0xFFFF)))
# Embeddings, overrides and isolates (UAX 9): text in another order than it is stored, such as a name that looks like
# another one. The marks of single characters (U+200E, U+200F) and joiners, which scripts need, stay.
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_REPLACED = (*range(32), *range(127, 160), *_NONCHARACTERS, *_DIRECTIONS)
_CONTROLS = {code: "\ufffd" for code in _REPLACED if chr(code) not in "\t\n\r"}


def link(path: str, text: Any) -> Markup:
    """A link to a path of this service; the text alone without a path, such as that of an object that the user may not
    view.
    """
    return _LINK % (url_of(path), text) if path else escape(text)


def object_link(uow: UnitOfWork, url: str, text: Any, color: str | None = None, viewable: bool | None = None) -> Markup:
    """A link to the page of an object, by its URL in the API, where the user may view it; else only its name.

    Before it is a dot in the object's ``color``, if it has one. A caller that does not know whether the object is
    ``viewable`` gets a link where the user may view all of its kind. A URL that is none of a resource of this service
    is no link: documents that users write may have the members of an object, too.
    """
    path = path_of_url(url, uow.base)
    endpoint = endpoint_at(uow.registry, path)
    if endpoint is None:
        viewable = False
    elif viewable is None:
        viewable = not permissions.visible(uow, endpoint, endpoint.table)
    markup = link(path if viewable else "", text)
    return STATE % (dot(color), markup) if color else markup


@lru_cache("colours", 1024)
def dot(color: str) -> Markup:
    """A dot in a colour that users chose, as SVG: the Content-Security-Policy allows no inline styles."""
    return Markup(
        '<svg class="dot" viewBox="0 0 8 8" aria-hidden="true"><circle cx="4" cy="4" r="4" fill="#{}"/></svg>'
    ).format(color)


def text_markup(value: Any) -> Markup:
    """Markup of a value by its type: text, numbers, times, JSON."""
    if value is None or value == "":
        return EMPTY
    if isinstance(value, Markup):
        return value
    if isinstance(value, bool):
        return YES if value else NO
    if isinstance(value, datetime.datetime):
        return time_markup(value)
    if isinstance(value, dict):
        return _of_mapping(value)
    if isinstance(value, list):
        return items_markup([text_markup(item) for item in value[:MAX_ITEMS]], len(value))
    text = str(value)
    return escape(without_controls(text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"))


def without_controls(text: str) -> str:
    """The text with U+FFFD for control characters and noncharacters, which HTML does not allow, and for those that
    change the direction of text.
    """
    return text if text.isprintable() else text.translate(_CONTROLS)


def _of_mapping(value: Mapping[str, Any]) -> Markup:
    if "label" in value and "value" in value:
        return text_markup(value["label"])
    if "display" in value and isinstance(value.get("url"), str):
        return text_markup(value["display"])  # whether the user may view it is not known here
    if not value:
        return EMPTY
    return Markup("<code>{}</code>").format(text_markup(json.dumps(value, ensure_ascii=False, default=str)))


def items_markup(items: list[Markup], count: int) -> Markup:
    """The first of ``count`` items, and how many more there are."""
    if not items:
        return EMPTY
    more = Markup(' <span class="more">+{}</span>').format(f"{count - MAX_ITEMS:,}") if count > MAX_ITEMS else Markup()
    return Markup(", ").join(items) + more


def time_markup(value: datetime.datetime) -> Markup:
    """A point in time; scripts make it relative to now, with the exact one as title."""
    stamp = value.astimezone(datetime.UTC) if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    exact = stamp.isoformat(timespec="seconds").replace("+00:00", "Z")
    return _TIME % (exact, stamp.strftime("%Y-%m-%d %H:%M UTC"))


def url_markup(value: str) -> Markup:
    """A link to an address that users entered; plain text unless its scheme is known to be harmless."""
    if not value:
        return EMPTY
    if not isinstance(value, str) or not is_link(value):
        return text_markup(value)
    return Markup('<a href="{}" rel="noopener noreferrer">{}</a>').format(without_controls(value), text_markup(value))


def shortened_id(value: Any) -> Markup:
    """The beginning of an id that names no object of a page, such as that of a request; scripts copy the whole one."""
    return EMPTY if value is None else _SHORTENED % (value, str(value)[:8])


def copyable(value: Any) -> Markup:
    """A value that users often copy: an address, a serial number. Scripts add the button."""
    return EMPTY if value in (None, "") else _COPYABLE % value


def nested_link(uow: UnitOfWork, value: Mapping[str, Any], viewable: bool | None = None) -> Markup:
    """A link to the object of a nested representation, by its name in context as far as the representation has it;
    ``viewable`` as for :func:`object_link`.
    """
    endpoint = endpoint_at(uow.registry, path_of_url(value["url"], uow.base))
    if endpoint is None:
        return text_markup(value.get("display") or value["url"])
    color = value.get("color")
    color = color if isinstance(color, str) else None
    return object_link(uow, value["url"], represented_name(endpoint, value), color, viewable)


def member_markup(uow: UnitOfWork, value: Any) -> Markup:
    """The markup of a member of a representation: that of cells, with a dot in the colour of a nested object."""
    if isinstance(value, Mapping) and "display" in value and isinstance(value.get("url"), str):
        return nested_link(uow, value)
    return text_markup(value)


def types_text(registry: Registry, labels: Any) -> str:
    """The names of the models with these labels: of one, or of each of a list; blank without one."""
    named = labels if isinstance(labels, list) else [labels] if labels else []
    return ", ".join("All" if label == EVERY_TYPE else title_of_type(registry, str(label)) for label in named)


def types_markup(registry: Registry, labels: Any) -> Markup:
    """The names of the models with these labels."""
    if not labels:
        return EMPTY
    items = labels if isinstance(labels, list) else [labels]
    return items_markup([escape(types_text(registry, label)) for label in items[:MAX_ITEMS]], len(items))
