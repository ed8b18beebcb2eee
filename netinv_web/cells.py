"""Cells: markup of the values of fields, in lists and details.

A cell is a reader of the plan (:mod:`netinv_core.sql.plan`) that returns markup instead of a value. Cells are plain
functions that fill values into constant markup: rendering each through a template takes four times as long. Plugins
may import the functions of :mod:`netinv_web.markup` that they use most from here.
"""

from __future__ import annotations

import decimal
import functools
import re
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from netinv_core import fields
from netinv_core.fields import Field
from netinv_core.models.columns import column_info
from netinv_core.packages import as_exception, errors_of
from netinv_core.read.names import object_links, read_link
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.plan import JoinedTable, ReadPlan, Row, RowSet
from netinv_core.units import amount_text
from netinv_web import shares
from netinv_web.failures import log_failure
from netinv_web.lists.columns import COPYABLE_NAMES
from netinv_web.markup import EMPTY as EMPTY
from netinv_web.markup import MAX_ITEMS, STATE, copyable, items_markup, member_markup, shortened_id, types_markup
from netinv_web.markup import dot as dot
from netinv_web.markup import link as link
from netinv_web.markup import object_link as object_link
from netinv_web.markup import text_markup as text_markup
from netinv_web.markup import time_markup as time_markup
from netinv_web.markup import url_markup as url_markup
from netinv_web.markup import without_controls as without_controls
from netinv_web.menu import may
from netinv_web.names import target_name
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint, IncomingForeignKey
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import Reader

CellReader = Callable[[Row, RowSet], Markup]
# Returns the reader of the cells of a field at a place of a plan.
CellFactory = Callable[[ReadPlan, JoinedTable, Field], CellReader]
# A kind of fields, or a single one by the label of its model and its name.
CellKey = type[Field] | tuple[str, str]
_TYPES_NAME = re.compile(r"(?:\w+_)?(?:content|object|obj|source|destination)_types?")

# -- cells of kinds of fields


def _value_cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    assert isinstance(field, fields.Value)
    read = plan.reader_of(place, field)
    if holds_types(place.endpoint, field):
        return _types_cell(plan, place, field)
    type_name = f"{field.name.removesuffix('_id')}_type"
    if field.name.endswith("_id") and type_name in place.endpoint.fields and type_name in place.table.c:
        return _named_cell(plan, place, type_name, field.attribute)
    if labels := labels_of(field):
        return lambda row, page: _label_choices(read(row, page), labels)
    return _through(read, _value_markup(field))


def labels_of(field: Field) -> Mapping[Any, str]:
    """The labels of the values that a column takes; empty for choices, which are represented with their labels."""
    if not isinstance(field, fields.Value) or isinstance(field, fields.Choice):
        return {}
    return {entry["value"]: str(entry["display"]) for entry in field.options().get("choices", ())}


def _label_choices(value: Any, labels: Mapping[Any, str]) -> Markup:
    """The label of a choice, or of each of a list."""
    return text_markup(
        [labels.get(item, item) for item in value] if isinstance(value, list) else labels.get(value, value)
    )


def holds_types(endpoint: Endpoint, field: Field) -> bool:
    """True for a field with the label of a content type, or several.

    It is the type of a generic foreign key (``cable_peer_type``), or has a name of such fields (``object_types``).
    """
    if getattr(field, "python_type", None) is bool:
        return False
    generic = (item.type_attribute for item in endpoint.fields.values() if isinstance(item, fields.GenericForeignKey))
    return _TYPES_NAME.fullmatch(field.name) is not None or getattr(field, "attribute", None) in set(generic)


def _value_markup(field: fields.Value) -> Callable[[Any], Markup]:
    """The function from a value of a column to markup."""
    kind = field.info.kind
    if kind == "url":
        return url_markup
    if kind == "email":
        return lambda value: Markup('<a href="mailto:{0}">{0}</a>').format(value) if value else EMPTY
    if field.attribute == "color" and field.python_type is str:
        return lambda value: dot(value) + Markup(' <span class="mono">#{}</span>').format(value) if value else EMPTY
    if field.python_type is uuid.UUID:
        return shortened_id
    if field.name in COPYABLE_NAMES or kind == "network":
        return copyable
    if field.python_type in (int, float, decimal.Decimal):
        unit = field.info.unit
        return lambda value: EMPTY if value is None else escape(amount_text(value, unit) if unit else value)
    return text_markup


def _through(read: Reader, markup: Callable[[Any], Markup]) -> CellReader:
    return lambda row, page: markup(read(row, page))


def _choice_cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    assert isinstance(field, fields.Choice)
    index, labels = plan.column(place, field.attribute), field.choices.labels
    cells = {value: escape(label) for value, label in labels.items()}
    return lambda row, page: cells.get(row[index]) or text_markup(row[index])


def _reference_cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """A link to the target, by its name in context; with a dot in its colour, if it has one (statuses, roles)."""
    assert isinstance(field, fields.Reference)
    key_index, target = plan.column(place, field.attribute), plan.join(place, field.attribute)
    if target is None:
        return lambda row, page: EMPTY
    name, endpoint = target_name(plan, place, target, field.attribute), target.endpoint
    color = plan.column(target, "color") if "color" in endpoint.table.c else None
    base = endpoint.canonical_path.removeprefix("/api")

    def read(row: Row, page: RowSet) -> Markup:
        key = row[key_index]
        if key is None:
            return EMPTY
        cells, bare = page.markup.setdefault(key_index, {}), name.is_bare(row, page)
        markup: Markup | None = cells.get((key, bare))
        if markup is None:
            markup = cells[key, bare] = written(row, page, key)
        return markup

    def written(row: Row, page: RowSet, key: Any) -> Markup:
        text = name.read(row, page)
        anchor = link(f"{base}{key}/" if name.is_viewable(row, page) else "", text)
        return STATE % (dot(row[color]), anchor) if color is not None and row[color] else anchor

    return read


def _list_cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """Links to the objects of a list, by their names in context."""
    assert isinstance(field, fields.ToMany | fields.ReverseForeignKey)
    inner = field.items_plan(plan.registry)
    if inner is None or getattr(field, "by", None) is not None:
        return _default_cell(plan, place, field)
    read = plan.load_to_many(place, inner.finish_with(read_link))

    def markup(row: Row, page: RowSet) -> Markup:
        items = read(row, page)
        return items_markup([object_link(page.uow, *item) for item in items[:MAX_ITEMS]], len(items))

    return markup


def _coalesce_cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """The cell of the first reference that is set."""
    assert isinstance(field, fields.Coalesce)
    references = [place.endpoint.fields[name] for name in field.references]
    cells = [
        (plan.column(place, item.attribute), _reference_cell(plan, place, item))
        for item in references
        if isinstance(item, fields.Reference)
    ]
    return lambda row, page: next((read(row, page) for index, read in cells if row[index] is not None), EMPTY)


def _through_cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """A link to the object that refers to this one through another."""
    assert isinstance(field, fields.ThroughOneToOne)
    through = field.join(plan, place)
    target = None if through is None else plan.join(through, field.holder)
    if through is None or target is None:
        return lambda row, page: EMPTY
    key, read = plan.column(through, field.holder), read_link(plan, target)
    return lambda row, page: EMPTY if row[key] is None else object_link(page.uow, *read(row, page))


def _count_cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """A number that leads to the list of what was counted."""
    read, key = plan.reader_of(place, field), plan.column(place, "id")
    incoming = counted_by(place.endpoint, field)
    if incoming is None:
        return lambda row, page: escape(f"{read(row, page) or 0:,}")
    path, parameter = page_path(incoming.child), list_parameter(incoming)

    def markup(row: Row, page: RowSet) -> Markup:
        count = read(row, page)
        if not count:
            return Markup('<span class="none">0</span>')
        listed, text = may(page.uow, incoming.child, "view"), f"{count:,}"
        return link(f"{path}?{parameter}={row[key]}", text) if listed else escape(text)

    return markup


def counted_by(endpoint: Endpoint, field: Field) -> IncomingForeignKey | None:
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


def _default_cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    read = plan.reader_of(place, field)
    return lambda row, page: member_markup(page.uow, read(row, page))


def _generic_cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """A link to the object of a generic foreign key, by its name in context."""
    assert isinstance(field, fields.GenericForeignKey)
    return _named_cell(plan, place, field.type_attribute, field.id_attribute)


def _named_cell(plan: ReadPlan, place: JoinedTable, type_attribute: str, id_attribute: str) -> CellReader:
    """A link to the object that a content type and an id name, by its name in context."""
    label, key = plan.column(place, type_attribute), plan.column(place, id_attribute)
    batch = plan.load_generic("link", label, key, object_links)

    def markup(row: Row, page: RowSet) -> Markup:
        found = page.batches[batch].get((row[label], row[key]))
        return EMPTY if found is None else object_link(page.uow, *found)

    return markup


def _types_cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """The names of models, of a list of content types."""
    return _through(plan.reader_of(place, field), functools.partial(types_markup, plan.registry))


FACTORIES: dict[type[Field], CellFactory] = {
    fields.Value: _value_cell,
    fields.Choice: _choice_cell,
    fields.Reference: _reference_cell,
    fields.Coalesce: _coalesce_cell,
    fields.ThroughOneToOne: _through_cell,
    fields.GenericForeignKey: _generic_cell,
    fields.ToMany: _list_cell,
    fields.ToOne: _list_cell,
    fields.ContentTypeList: _types_cell,
    fields.ReverseForeignKey: _list_cell,
    fields.Count: _count_cell,
    fields.Utilization: shares.cell,
    Field: _default_cell,
}


@cached_in_registry
def factories_of(registry: Registry) -> Mapping[CellKey, CellFactory]:
    """The factories by kind of field or single field, those of packages included; cached for each registry."""
    factories: dict[CellKey, CellFactory] = dict(FACTORIES.items())
    for package, more in registry.call_each("netinv_web_cells", registry=registry):
        with errors_of(package):
            factories |= {kind: _guard_factory(factory) for kind, factory in more.items()}
    return factories


def _guard_factory(factory: CellFactory) -> CellFactory:
    """A factory of a package whose failures are shown in the cells."""
    return lambda plan, place, field: guarded(plan.registry, field.name, lambda: factory(plan, place, field))


def guarded(registry: Registry, name: str, make: Callable[[], CellReader]) -> CellReader:
    """The reader of cells of a package. Its failures are logged, each kind of error once, and shown in the cell."""
    failures: dict[type, str] = {}

    def failed(error: Exception) -> Markup:
        if type(error) not in failures:
            failures[type(error)] = log_failure(registry, "the cell of %s failed", name)
        return Markup('<span class="failure">failed: {}</span>').format(failures[type(error)])

    try:
        read = make()
    except BaseException as error:
        message = failed(error if isinstance(error, Exception) else as_exception(error))
        return lambda row, page: message

    def read_guarded(row: Row, page: RowSet) -> Markup:
        try:
            markup = read(row, page)
            return markup if type(markup) is Markup else escape(markup)
        except BaseException as error:
            return failed(error if isinstance(error, Exception) else as_exception(error))

    return read_guarded


def cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """The reader of the cells of a field: by the field itself, or the nearest of its classes that has a factory."""
    if field.write_only or field.confidential:
        return lambda row, page: EMPTY
    factories = factories_of(plan.registry)
    keys: tuple[CellKey, ...] = ((place.endpoint.label, field.name), *type(field).__mro__)
    factory = next(factories[key] for key in keys if key in factories)
    return factory(plan, place, field)
