"""Cells: markup of the values of fields, in lists and details.

A cell is a reader of the plan (:mod:`netinv_core.read.plan`) that returns markup instead of a value. A list is one plan
whose reader joins the cells of a row. Cells are plain functions: rendering each through a template takes four times as
long.
"""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup, escape

from netinv_core import fields, types
from netinv_core.caches import lru_cache
from netinv_core.fields import Field
from netinv_core.http.mount import url_of
from netinv_core.models.columns import column_info
from netinv_core.net.urls import is_link, path_of
from netinv_core.packages import errors_of
from netinv_core.read.plan import Row
from netinv_core.registry_cache import cached_in_registry
from netinv_core.types import Endpoint, IncomingForeignKey, JoinedTable, Reader, Registry, RowSet, UnitOfWork
from netinv_web.extensions import log_failure
from netinv_web.menu import may
from netinv_web.paths import endpoint_at, object_path, page_path, path_of_url

CellReader = Callable[[Row, RowSet], Markup]
# Returns the reader of the cells of a field at a place of a plan.
CellFactory = Callable[[types.Plan, JoinedTable, types.Field], CellReader]
EMPTY = Markup('<span class="none">–</span>')
YES, NO = Markup('<span class="yes">Yes</span>'), Markup('<span class="no">No</span>')
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
    """A link to a path of this service."""
    return _joined('<a href="', escape(url_of(path)), '">', escape(text), "</a>")


def object_link(uow: UnitOfWork, url: str, text: Any, color: str | None = None) -> Markup:
    """A link to the page of an object, by its URL in the API; only its name where the user may view none of its kind.

    Before it is a dot in the object's ``color``, if it has one.
    """
    path = path_of_url(url, uow.base)
    endpoint = endpoint_at(uow.registry, path)
    markup = link(path, text) if endpoint is None or may(uow, endpoint, "view") else escape(text)
    return _joined('<span class="state">', dot(color), " ", markup, "</span>") if color else markup


def _joined(*parts: str) -> Markup:
    """Markup of parts that are escaped already; ``Markup.format`` takes five times as long, which counts in lists."""
    return Markup("".join(parts))


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
        return _of_items([text_markup(item) for item in value[:MAX_ITEMS]], len(value))
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
        text, path = text_markup(value["display"]), path_of(value["url"]).rpartition("/api/")[2].lstrip("/\\")
        return link(f"/{path}", text) if path else text
    if not value:
        return EMPTY
    return Markup("<code>{}</code>").format(text_markup(json.dumps(value, ensure_ascii=False, default=str)))


def _of_items(items: list[Markup], count: int) -> Markup:
    if not items:
        return EMPTY
    more = Markup(' <span class="more">+{}</span>').format(count - MAX_ITEMS) if count > MAX_ITEMS else Markup()
    return Markup(", ").join(items) + more


def time_markup(value: datetime.datetime) -> Markup:
    """A point in time; scripts make it relative to now, with the exact one as title."""
    stamp = value.astimezone(datetime.UTC) if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    exact = stamp.isoformat(timespec="seconds").replace("+00:00", "Z")
    return _joined('<time datetime="', exact, '">', stamp.strftime("%Y-%m-%d %H:%M UTC"), "</time>")


def url_markup(value: str) -> Markup:
    """A link to an address that users entered; plain text unless its scheme is known to be harmless."""
    if not value:
        return EMPTY
    if not isinstance(value, str) or not is_link(value):
        return text_markup(value)
    return Markup('<a href="{}" rel="noopener noreferrer">{}</a>').format(without_controls(value), text_markup(value))


def copyable(value: Any) -> Markup:
    """A value that users often copy: an address, a serial number. Scripts add the button."""
    return EMPTY if value in (None, "") else _joined('<span class="mono" data-copy>', escape(value), "</span>")


# -- cells of kinds of fields


def _value_cell(plan: types.Plan, place: JoinedTable, field: types.Field) -> CellReader:
    assert isinstance(field, fields.Value)
    read = plan.reader_of(place, field)
    return _through(read, _value_markup(field))


def _value_markup(field: fields.Value) -> Callable[[Any], Markup]:
    """The function from a value of a column to markup."""
    kind = field.info.kind
    if kind == "url":
        return url_markup
    if kind == "email":
        return lambda value: Markup('<a href="mailto:{0}">{0}</a>').format(value) if value else EMPTY
    if field.attribute == "color" and field.python_type is str:
        return lambda value: dot(value) + Markup(' <span class="mono">#{}</span>').format(value) if value else EMPTY
    if field.name in COPYABLE_NAMES or kind == "network":
        return copyable
    if field.python_type in (int, float, decimal.Decimal):
        return lambda value: EMPTY if value is None else escape(value)
    return text_markup


COPYABLE_NAMES = frozenset(
    {"serial", "asset_tag", "mac_address", "address", "prefix", "host", "cid", "asn", "rd", "id"}
)


def _through(read: Reader, markup: Callable[[Any], Markup]) -> CellReader:
    return lambda row, page: markup(read(row, page))


def _choice_cell(plan: types.Plan, place: JoinedTable, field: types.Field) -> CellReader:
    assert isinstance(field, fields.Choice)
    index, labels = plan.column(place, field.attribute), field.choices.labels
    cells = {value: escape(label) for value, label in labels.items()}
    return lambda row, page: cells.get(row[index]) or text_markup(row[index])


def _reference_cell(plan: types.Plan, place: JoinedTable, field: types.Field) -> CellReader:
    """A link to the target; with a dot in its colour, if it has one (statuses, roles)."""
    assert isinstance(field, fields.Reference)
    key_index, target = plan.column(place, field.attribute), plan.join(place, field.attribute)
    if target is None:
        return lambda row, page: EMPTY
    display = plan.read(target, "display")
    endpoint = target.endpoint
    color = plan.column(target, "color") if "color" in endpoint.table.c else None
    base = endpoint.canonical_path.removeprefix("/api")

    def read(row: Row, page: RowSet) -> Markup:
        key = row[key_index]
        if key is None:
            return EMPTY
        cells = page.markup.setdefault(key_index, {})
        markup: Markup | None = cells.get(key)
        if markup is None:
            markup = cells[key] = written(row, page, key)
        return markup

    def written(row: Row, page: RowSet, key: Any) -> Markup:
        anchor = escape(display(row, page))
        if may(page.uow, endpoint, "view"):
            anchor = _joined('<a href="', url_of(base), str(key), '/">', anchor, "</a>")
        return anchor if color is None else _joined('<span class="state">', dot(row[color]), " ", anchor, "</span>")

    return read


def _nested_cell(plan: types.Plan, place: JoinedTable, field: types.Field) -> CellReader:
    """A link to the object of a nested representation, or to each of a list."""
    read = plan.reader_of(place, field)

    def markup(row: Row, page: RowSet) -> Markup:
        value = read(row, page)
        if isinstance(value, list):
            return _of_items([_nested(item, page) for item in value[:MAX_ITEMS]], len(value))
        return _nested(value, page)

    return markup


def _nested(value: Any, page: RowSet) -> Markup:
    if isinstance(value, dict) and isinstance(value.get("url"), str):
        text = value.get("display") or value.get("name") or value["url"]
        return object_link(page.uow, value["url"], text, value.get("color"))
    return text_markup(value)


def _count_cell(plan: types.Plan, place: JoinedTable, field: types.Field) -> CellReader:
    """A number that leads to the list of what was counted."""
    read, key = plan.reader_of(place, field), plan.column(place, "id")
    incoming = counted_by(place.endpoint, field)
    if incoming is None:
        return lambda row, page: escape(read(row, page) or 0)
    path, parameter = page_path(incoming.child), list_parameter(incoming)

    def markup(row: Row, page: RowSet) -> Markup:
        count = read(row, page)
        if not count:
            return Markup('<span class="none">0</span>')
        listed = may(page.uow, incoming.child, "view")
        return link(f"{path}?{parameter}={row[key]}", count) if listed else escape(count)

    return markup


def counted_by(endpoint: Endpoint, field: types.Field) -> IncomingForeignKey | None:
    """The foreign key whose rows a counter counts; ``None`` for other counters."""
    for incoming in endpoint.incoming_foreign_keys:
        if list_parameter(incoming) and _count_field(incoming) == field.name:
            return incoming
    return None


def _count_field(incoming: IncomingForeignKey) -> str | None:
    info = column_info(incoming.child.table.c[incoming.attribute]).foreign_key
    return info.count_field if info is not None else None


def list_parameter(incoming: IncomingForeignKey) -> str:
    """The query parameter of the child's list that takes the id of the target; empty without one."""
    for name in (incoming.attribute, incoming.attribute.removesuffix("_id")):
        if name in incoming.child.filters:
            return name
    return ""


def _default_cell(plan: types.Plan, place: JoinedTable, field: types.Field) -> CellReader:
    return _through(plan.reader_of(place, field), text_markup)


FACTORIES: dict[type[Field], CellFactory] = {
    fields.Value: _value_cell,
    fields.Choice: _choice_cell,
    fields.Reference: _reference_cell,
    fields.Coalesce: _nested_cell,
    fields.ThroughOneToOne: _nested_cell,
    fields.GenericForeignKey: _nested_cell,
    fields.ToMany: _nested_cell,
    fields.ReverseForeignKey: _nested_cell,
    fields.Count: _count_cell,
    Field: _default_cell,
}


@cached_in_registry
def factories_of(registry: Registry) -> Mapping[type[Field], CellFactory]:
    """The factories by kind of field, those of packages included; cached for each registry."""
    factories = dict(FACTORIES)
    for package, more in registry.call_each("netinv_web_cells", registry=registry):
        with errors_of(package):
            factories |= {kind: _guarded(factory) for kind, factory in more.items()}
    return factories


def _guarded(factory: CellFactory) -> CellFactory:
    """A factory of a package whose failures are logged, each kind of error once, and shown in the cell."""

    def make(plan: types.Plan, place: JoinedTable, field: types.Field) -> CellReader:
        failures: dict[type, str] = {}

        def failed(error: Exception) -> Markup:
            if type(error) not in failures:
                failures[type(error)] = log_failure("the cell of %s failed", field.name)
            return Markup('<span class="failure">failed: {}</span>').format(failures[type(error)])

        try:
            read = factory(plan, place, field)
        except Exception as error:
            message = failed(error)
            return lambda row, page: message

        def read_guarded(row: Row, page: RowSet) -> Markup:
            try:
                return escape(read(row, page))
            except Exception as error:
                return failed(error)

        return read_guarded

    return make


def cell(plan: types.Plan, place: JoinedTable, field: types.Field) -> CellReader:
    """The reader of the cells of a field, by the nearest class of the field that has a factory."""
    if field.write_only or field.confidential:
        return lambda row, page: EMPTY
    factories = factories_of(plan.registry)
    factory = next(factories[kind] for kind in type(field).__mro__ if kind in factories)
    if isinstance(field, fields.Reference) and field.plain:
        factory = _default_cell
    return factory(plan, place, field)


def name_cell(plan: types.Plan, place: JoinedTable) -> CellReader:
    """The cell with the name of the object, a link to its page."""
    display, key = plan.read(place, "display"), plan.column(place, "id")
    base = object_path(place.endpoint, "")[:-1]

    def read(row: Row, page: RowSet) -> Markup:
        text = without_controls(str(display(row, page) or row[key]))
        return _joined('<a href="', url_of(base), str(row[key]), '/">', escape(text), "</a>")

    return read
