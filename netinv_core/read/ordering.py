"""Order of lists: ORDER BY expressions, and the joins of the references that they sort by.

A resource has an order of its own (``Resource.order``). The query parameter ``ordering`` replaces it. Every order ends
in the id, so it is total.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.models.columns import column_info
from netinv_core.models.types import Json
from netinv_core.read import filters
from netinv_core.records import Order as Order
from netinv_core.records import Parameters
from netinv_core.records import SortKey as SortKey
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.records import nested_fields
from netinv_core.sql.relations import Visible, everything

if TYPE_CHECKING:
    from netinv_core.driver import Driver
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.read.filters import Filter
    from netinv_core.uow import UnitOfWork

PARAMETER = "ordering"
MAX_NAMES = 8  # each may join several tables, and databases limit joins to about 60
MAX_STEPS = 4  # of a dotted name
_SORTABLE_TYPES = (str, int, bool, float, decimal.Decimal, uuid.UUID, datetime.date, datetime.datetime)


@dataclasses.dataclass(frozen=True)
class Ordering:
    """Sort keys of a name that clients may order a list by. A display that is no column sorts by ``Resource.order``.

    ``paths`` lead to columns, as those of ``Resource.order``. ``references`` are references of which the first one that
    is set counts. ``expression(table)`` returns an SQL expression. ``public`` orderings may pass through objects that
    the user may not view.
    """

    paths: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    expression: Callable[[Any], Any] | None = None
    public: bool = False


class _Place(NamedTuple):
    """A table in the joins, its endpoint, and what identifies its join; ``optional`` where it may have no row."""

    endpoint: Endpoint
    table: Any
    key: tuple[Any, ...] = ()
    optional: bool = False


@cached_in_registry
def own_order(endpoint: Endpoint, *, nested: bool = False) -> Order:
    """Returns the order of ``Resource.order``; of ``Resource.nested_order`` for lists within other objects.

    Null sorts last, on every database; a path that ends in ``?`` sorts it first.
    """
    joins = _Joins(endpoint, everything)
    paths = endpoint.resource.nested_order if nested else endpoint.resource.order
    return _order(joins, [joins.sort_key(joins.root, path) for path in paths])


def check(endpoint: Endpoint) -> None:
    """Builds every order that a resource declares.

    :raises KeyError: for a path with a name that is not there
    """
    joins = _Joins(endpoint, everything)
    own_order(endpoint)
    own_order(endpoint, nested=True)
    for item in orderings_of(endpoint).values():
        list(joins.sort_keys(item, ()))


def split(endpoint: Endpoint, parameters: Parameters) -> tuple[list[str], Parameters]:
    """Returns the names of the query parameter ``ordering``, and the other parameters.

    A filter of this name takes precedence.
    """
    if PARAMETER in endpoint.filters:
        return [], parameters
    texts = [text for parameter, values in parameters if parameter == PARAMETER for text in values]
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    return names, [item for item in parameters if item[0] != PARAMETER] if texts else parameters


def requested_order(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str]) -> Order:
    """Returns the order by names such as ``-site.name``.

    Null sorts last, descending too. What the user may not view sorts like null.

    :raises Invalid: for a name that the list cannot be ordered by
    """
    if len(names) > MAX_NAMES:
        raise Invalid.field(PARAMETER, f"Ensure this list has at most {MAX_NAMES} names.")
    joins = _Joins(endpoint, permissions.visible_for(uow))
    keys: list[SortKey] = []
    for name in names:
        for key in _requested_keys(uow, joins, name.removeprefix("-")):
            descending = key.descending is not name.startswith("-")
            keys.append(key._replace(descending=descending, nulls_first=False))
    return _order(joins, keys)


@cached_in_registry
def orderings_of(endpoint: Endpoint) -> dict[str, Ordering]:
    """Returns the names that a list can be ordered by, without custom fields and dotted names."""
    orderings: dict[str, Ordering] = {}
    for name, field in endpoint.fields.items():
        if not (field.write_only or name in endpoint.confidential):
            orderings.update({name: ordering} if (ordering := _of_field(endpoint, field)) is not None else {})
    orderings |= {name: Ordering(paths=tuple(paths)) for name, paths in endpoint.resource.orderings.items()}
    if "display" in endpoint.fields:
        own_order = Ordering(paths=endpoint.resource.order or ("id",), public=True)
        orderings["display"] = orderings.get(endpoint.resource.display_path or "", own_order)
    return orderings | _of_filters(endpoint.filters)


def _of_filters(items: Mapping[str, Filter]) -> dict[str, Ordering]:
    return {name: Ordering(expression=item.sort_by) for name, item in items.items() if item.sort_by is not None}


def _of_field(endpoint: Endpoint, field: Field) -> Ordering | None:
    if isinstance(field, fields.Count):
        return Ordering(expression=field.source)
    if isinstance(field, fields.Coalesce):
        return Ordering(references=field.references)
    if isinstance(field, fields.Reference):
        return Ordering(references=(field.name,))
    if not isinstance(field, fields.Value) or field.attribute not in endpoint.table.c:
        return None
    return _of_column(endpoint, field)


def _of_column(endpoint: Endpoint, field: fields.Value) -> Ordering | None:
    column = endpoint.table.c[field.attribute]
    if field.python_type not in _SORTABLE_TYPES or isinstance(column.type, Json):
        return None
    if isinstance(field, fields.Choice) and field.python_type is str and not field.plain:
        return Ordering(expression=lambda table: _blank_as_null(table.c[field.attribute]))
    return Ordering(paths=(_sort_columns(endpoint).get(field.attribute, field.attribute),))


def _blank_as_null(column: Any) -> Any:
    return sa.func.nullif(column, "", type_=column.type)


def _sort_columns(endpoint: Endpoint) -> dict[str, str]:
    """The columns with natural sort keys, by the columns that they are of."""
    keys = {name: column_info(column).sort_key_of for name, column in endpoint.table.c.items()}
    return {source: name for name, source in keys.items() if source}


def _requested_keys(uow: UnitOfWork, joins: _Joins, name: str) -> Iterator[SortKey]:
    *steps, last = name.split(".")
    endpoint: Endpoint | None = joins.root.endpoint
    if len(steps) >= MAX_STEPS:
        raise Invalid.field(PARAMETER, f"'{name}' has more than {MAX_STEPS} parts.")
    for number, step in enumerate(steps):
        if endpoint is None:  # its package is not installed: every reference is null
            return
        field = endpoint.fields.get(step)
        if not isinstance(field, fields.Reference) or step in endpoint.confidential:
            choices = [name for name, field in endpoint.fields.items() if isinstance(field, fields.Reference)]
            raise _not_a_choice(name, steps[:number], choices)
        endpoint = field.target
    if endpoint is None:
        return
    ordering = orderings_of(endpoint).get(last)
    if ordering is None:
        dynamic = _of_filters(filters.dynamic_filters(uow, endpoint))
        if last not in dynamic:
            raise _not_a_choice(name, steps, orderings_of(endpoint), dynamic)
        ordering = dynamic[last]
    if ordering.expression is not None:
        uow.note_sql_of(ordering.expression)
    yield from joins.sort_keys(ordering, steps)


def _not_a_choice(name: str, steps: Sequence[str], choices: Iterable[str], dynamic: Iterable[str] = ()) -> Invalid:
    """Names the choices; ``dynamic`` ones, of which there may be hundreds, come last, where long texts are cut."""
    listed = ", ".join(".".join([*steps, choice]) for choice in (*sorted(choices), *sorted(dynamic)))
    return Invalid.field(PARAMETER, f"Select a valid choice. '{name}' is not one of: {listed}")


class _Joins:
    """Joins of the references that a list is ordered by, onto the table of ``endpoint``.

    They are LEFT JOINs. In the ``whole_source``, for lists without conditions, those of references that are always set
    are INNER JOINs: the database reads the referenced table in the order of its index until the page is full. With
    conditions that few rows meet, it would read all of it.

    ``visible`` limits the joined rows, except those of a reference of the list itself where the sort key is a member
    of its nested representation: that one is shown to everybody who may view the list's object.
    """

    def __init__(self, endpoint: Endpoint, visible: Visible) -> None:
        self.root = _Place(endpoint, endpoint.table)
        self.source = self.whole_source = endpoint.table
        self._visible = visible
        self._places: dict[tuple[Any, ...], _Place] = {}

    def sort_keys(self, ordering: Ordering, steps: Sequence[str]) -> Iterator[SortKey]:
        """Yields the sort keys of an ordering of the object that the references ``steps`` lead to."""
        visible = everything if ordering.public and not steps else self._visible
        yield from self._keys_of([_prefix(".".join(steps), path) for path in ordering.paths], visible)
        if ordering.references:
            yield from self._first_of([[*steps, reference] for reference in ordering.references])
        if ordering.expression is not None:
            place = self._reach(steps, visible)
            if place is not None:
                yield SortKey(ordering.expression(place.table), nullable=True)

    def sort_key(self, place: _Place, path: str, visible: Visible = everything) -> SortKey:
        """Returns the sort key at the end of a path of columns."""
        *steps, last = path.lstrip("-").rstrip("?").split(".")
        for step in steps:
            joined = self._join(place, f"{step}_id", visible)
            if joined is None:  # the package of its target is not installed
                return SortKey(place.table.c[f"{step}_id"], True, path.startswith("-"), path.endswith("?"))
            place = joined
        column = place.table.c[last]
        return SortKey(column, column.nullable or place.optional, path.startswith("-"), path.endswith("?"))

    def _keys_of(self, paths: Sequence[str], visible: Visible) -> Iterator[SortKey]:
        """Yields the sort keys of paths from the list's object. Those of one reference are of one join: a part of a
        sort key, such as the IP version of an address, tells nothing of an object that the rest may not tell of.
        """
        columns = [path.lstrip("-").rstrip("?").rpartition(".")[::2] for path in paths]
        for path, (reference, _) in zip(paths, columns, strict=True):
            own = {column for at, column in columns if at == reference}
            shown = bool(reference) and "." not in reference and own <= _shown_columns(self.root.endpoint, reference)
            yield self.sort_key(self.root, path, everything if shown else visible)

    def _first_of(self, references: Sequence[Sequence[str]]) -> Iterator[SortKey]:
        """Yields the sort keys of the objects that references lead to, by their display; CASE for several."""
        alternatives = []
        for *steps, reference in references:
            place = self._reach(steps, self._visible)
            field = None if place is None else place.endpoint.fields[reference]
            if place is None or not isinstance(field, fields.Reference) or (target := field.target) is None:
                continue
            prefix = ".".join([*steps, reference])
            paths = display.paths if (display := orderings_of(target).get("display")) is not None else ("id",)
            keys = list(self._keys_of([_prefix(prefix, path) for path in paths], self._visible))
            alternatives.append((place.table.c[f"{reference}_id"].is_not(None), keys))
        for number, key in enumerate(alternatives[0][1] if alternatives else ()):
            if len(alternatives) == 1:
                yield key
            else:
                cases = [(is_set, keys[number].expression) for is_set, keys in alternatives if number < len(keys)]
                yield key._replace(expression=sa.case(*cases), nullable=True)

    def _reach(self, steps: Sequence[str], visible: Visible) -> _Place | None:
        """Joins the tables that references lead to; returns the last one, ``None`` if its package is not installed."""
        place: _Place | None = self.root
        for step in steps:
            place = None if place is None else self._join(place, f"{step}_id", visible)
        return place

    def _join(self, place: _Place, attribute: str, visible: Visible) -> _Place | None:
        key = (*place.key, attribute, visible is everything)
        if key not in self._places:
            target = place.endpoint.registry.target(column_info(place.endpoint.table.c[attribute]).foreign_key)
            if target is None:
                return None
            table = target.table.alias()
            limits = visible(target, table)
            is_optional = place.optional or place.table.c[attribute].nullable or bool(limits)
            condition = sa.and_(table.c.id == place.table.c[attribute], *limits)
            self.source = self.source.outerjoin(table, condition)
            self.whole_source = self.whole_source.join(table, condition, isouter=is_optional)
            self._places[key] = _Place(target, table, key, is_optional)
        return self._places[key]


def _prefix(prefix: str, path: str) -> str:
    sign = "-" if path.startswith("-") else ""
    return sign + f"{prefix}.{path.removeprefix('-')}".lstrip(".")


def _shown_columns(endpoint: Endpoint, reference: str) -> set[str]:
    """The columns, and natural sort keys of columns, of the target that the nested representation shows."""
    field = endpoint.fields.get(reference)
    target = field.target if isinstance(field, fields.Reference) else None
    if not isinstance(field, fields.Reference) or target is None or field.plain:
        return set()
    if isinstance(field, fields.Status):
        return {"slug", "name"}
    shown = {item.attribute for item in nested_fields(target, field.nested_fields) if item.attribute is not None}
    return shown | {key for source, key in _sort_columns(target).items() if source in shown}


def _order(joins: _Joins, keys: Sequence[SortKey]) -> Order:
    every = [*keys, SortKey(joins.root.table.c.id, nullable=False)]
    expressions = order_by(joins.root.endpoint.registry.driver, every)
    return Order(joins.source, expressions, every, joins.whole_source)


def order_by(driver: Driver, keys: Iterable[SortKey]) -> list[Any]:
    """Returns the ORDER BY expressions of sort keys, with nulls first or last on every database."""
    return [expression for key in keys for expression in _order_by(driver, key)]


def _order_by(driver: Driver, key: SortKey) -> list[Any]:
    ordered = key.expression.desc() if key.descending else key.expression.asc()
    if not key.nullable:
        return [ordered]
    if not driver.sorts_nulls:
        return [key.expression.is_not(None) if key.nulls_first else key.expression.is_(None), ordered]
    return [ordered.nulls_first() if key.nulls_first else ordered.nulls_last()]
