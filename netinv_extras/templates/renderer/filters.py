"""Filters of templates besides those of Jinja2: those of Nautobot 1.x, and the catalogue of netutils."""

from __future__ import annotations

import datetime
import functools
import html
import ipaddress
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from types import GeneratorType
from typing import Any

import yaml
from jinja2 import Undefined
from jinja2.exceptions import SecurityError
from markdown_it import MarkdownIt
from netutils.utils import jinja2_convenience_function

from netinv_extras.templates.renderer import values
from netinv_extras.templates.renderer.absent import Null
from netinv_extras.templates.renderer.networks import AddressText, IPNetwork, plain
from netinv_extras.templates.renderer.querysets import Queryset

# of netutils: those that need the network or files
_WITHOUT = ("tcp_ping", "fqdn_to_ip", "is_fqdn_resolvable", "config_compliance", "paloalto_panos_brace_to_set")
_FEET = 3.28084  # in a metre
_DASH = '<span class="text-muted">&mdash;</span>'
_SPEEDS = ((10**9, "Tbps"), (10**6, "Gbps"), (10**3, "Mbps"))
_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def _is_null(value: Any) -> bool:
    return value is None or isinstance(value, Null)


# -- data


def _json_value(value: Any) -> Any:
    """Returns a value that is no JSON as one.

    :raises TypeError: for an object
    """
    if isinstance(value, Null):
        return None
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Queryset | Iterator | range):
        return list(value)
    if isinstance(value, Undefined):
        str(value)  # raises for a name that does not exist
        return None
    raise TypeError(f"{value} is an object, which is no JSON: write its attributes")


def to_json(value: Any, **options: Any) -> str:
    """Returns a value as JSON."""
    return json.dumps(value, default=_json_value, **options)


def render_json(value: Any) -> str:
    """A value as indented JSON."""
    return to_json(value, indent=4, sort_keys=True, ensure_ascii=False)


def render_yaml(value: Any) -> str:
    """A value as YAML."""
    text: str = yaml.safe_dump(json.loads(to_json(value)), allow_unicode=True)
    return text


def render_markdown(value: Any) -> str:
    """Markdown as HTML; HTML in it stays text, and pictures become links."""
    return "" if _is_null(value) else str(_markdown.render(str(plain(value))))


# -- numbers


def humanize_speed(speed: Any) -> str:
    """A speed in kbit/s with a unit: ``1544`` → ``1.544 Mbps``."""
    if _is_null(speed) or speed == "":
        return ""
    speed = int(speed)
    for factor, unit in _SPEEDS:
        if speed >= factor and (speed % factor == 0 or factor == 10**3):
            return f"{speed / factor:g} {unit}" if speed % factor else f"{speed // factor} {unit}"
    return f"{speed} Kbps"


def divide(x: Any, y: Any) -> int | None:
    """A quotient, rounded; nothing for a null."""
    return None if _is_null(x) or _is_null(y) else round(x / y)


def percentage(x: Any, y: Any) -> int | None:
    """A part in percent, rounded; nothing for a null."""
    return None if _is_null(x) or _is_null(y) else round(x / y * 100)


def as_range(value: Any) -> range:
    """As many numbers as a number says, or as a list has items."""
    return range(len(value)) if hasattr(value, "__len__") and not isinstance(value, str) else range(int(value))


def meters_to_feet(value: Any) -> float:
    """A length in feet."""
    return float(value) * _FEET


# -- texts


def split(value: Any, separator: str = ",") -> list[str]:
    """The parts of a text."""
    return str(plain(value)).split(separator)


def slugify(value: Any) -> str:
    """A text in small ASCII letters, digits, underscores and hyphens."""
    text = unicodedata.normalize("NFKD", str(plain(value))).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text.lower())).strip("-_")


def bettertitle(value: Any) -> str:
    """A text whose words begin with a capital; other letters stay as they are."""
    return " ".join(word[:1].upper() + word[1:] for word in str(value).split())


def placeholder(value: Any) -> Any:
    """A value, or a dash in HTML for an empty one."""
    return value if value else _DASH


def render_boolean(value: Any) -> str:
    """A mark in HTML for true, false and null."""
    if _is_null(value):
        return _DASH
    kind, icon, title = ("success", "check-bold", "Yes") if value else ("danger", "close-thick", "No")
    return f'<span class="text-{kind}"><i class="mdi mdi-{icon}" title="{title}"></i></span>'


def fgcolor(value: str) -> str:
    """The colour, black or white, of text on a background such as ``ff0000``."""
    red, green, blue = (int(value.lower().strip("#")[at : at + 2], 16) for at in (0, 2, 4))
    return "#000000" if red * 0.299 + green * 0.587 + blue * 0.114 > 186 else "#ffffff"


def get_item(value: Any, name: Any) -> Any:
    """The member of a mapping."""
    return value.get(name)


# -- dates


def tzoffset(value: datetime.datetime) -> str:
    """The difference of a time to UTC: ``+0200``."""
    return value.strftime("%z")


def annotated_date(value: Any) -> Any:
    """A date or time in HTML, with the whole of it as a hint."""
    if not isinstance(value, datetime.date):
        return "" if _is_null(value) else value
    timed = isinstance(value, datetime.datetime)
    long = value.strftime("%B %d, %Y %H:%M" if timed else "%B %d, %Y")
    return f'<span title="{long}">{value.strftime("%Y-%m-%d %H:%M" if timed else "%Y-%m-%d")}</span>'


# -- objects


def meta(item: Any, name: str) -> Any:
    """A property of an object's model: ``verbose_name``, ``verbose_name_plural``, ``app_label``, ``model_name``,
    ``label``.
    """
    return _meta(item).get(name, "")


def _meta(item: Any) -> Any:
    if isinstance(item, Queryset) and len(item):
        item = item[0]
    if not hasattr(item, "_place"):
        raise TypeError(f"{item} is no object")
    return item._batches.value(item._batch, item._place, values.META)


def viewname(item: Any, action: str) -> str:
    """The name of a page of an object's model: ``dcim:device_edit``."""
    known = _meta(item)
    return f"{known['namespace']}:{known['model_name']}_{action}"


def validated_viewname(item: Any, action: str) -> str | None:
    """The name of a page, if the model has pages."""
    return viewname(item, action) if _meta(item)["has_pages"] else None


def hyperlinked_object(item: Any, name: str = "display") -> str:
    """A link in HTML to an object; a dash without one."""
    if _is_null(item):
        return _DASH
    if not hasattr(item, "_place"):
        return html.escape(str(item))
    text, path = html.escape(str(getattr(item, name))), html.escape(str(item.get_absolute_url()))
    return f'<a href="{path}">{text}</a>'


# -- filters from elsewhere


def with_plain_values(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a filter that gets plain values, and whose result is plain data.

    The names of attributes among its arguments cannot begin with an underscore.
    """

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        given = [*arguments[1:], *named.values()]
        if name.startswith("ipaddress_") and any(str(each).startswith("_") for each in given):
            raise SecurityError(f"the filter {name} reads no attributes that begin with an underscore")
        return plain_data(
            function(*map(_plain_value, arguments), **{key: _plain_value(each) for key, each in named.items()})
        )

    return call


def _plain_value(value: Any) -> Any:
    if isinstance(value, Null):
        return None
    if isinstance(value, Undefined):
        return str(value)
    return list(value) if isinstance(value, Queryset) else plain(value)


def plain_data(value: Any) -> Any:
    """Returns the result of a filter as a value that templates can have.

    :raises SecurityError: for anything else
    """
    if value is None or isinstance(value, str | int | float | datetime.date | datetime.time | datetime.timedelta):
        return value
    if isinstance(
        value, ipaddress.IPv4Network | ipaddress.IPv6Network | ipaddress.IPv4Interface | ipaddress.IPv6Interface
    ):
        return IPNetwork(value)
    if isinstance(value, ipaddress.IPv4Address | ipaddress.IPv6Address):
        return AddressText(value)
    if isinstance(value, dict):
        return {plain_data(key): plain_data(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(map(plain_data, value))
    if isinstance(value, list | set | frozenset | GeneratorType | map | filter | zip):
        return _list(value)
    raise SecurityError(f"a filter returned a {type(value).__name__}, which templates cannot use")


def _list(values: Iterable[Any]) -> list[Any]:
    return [plain_data(each) for each in values]


FILTERS: dict[str, Callable[..., Any]] = {
    **{
        name: with_plain_values(name, function)
        for name, function in jinja2_convenience_function().items()
        if name not in _WITHOUT
    },
    **{
        function.__name__: function
        for function in (
            render_json,
            render_yaml,
            render_markdown,
            humanize_speed,
            divide,
            percentage,
            as_range,
            meters_to_feet,
            split,
            slugify,
            bettertitle,
            placeholder,
            render_boolean,
            fgcolor,
            get_item,
            tzoffset,
            annotated_date,
            meta,
            viewname,
            validated_viewname,
            hyperlinked_object,
        )
    },
}
