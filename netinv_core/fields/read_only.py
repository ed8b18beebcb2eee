"""Read-only computed fields: counters, functions of the row or of the page, URLs."""

from __future__ import annotations

import dataclasses
import operator
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from netinv_core.fields.base import Field
from netinv_core.fields.to_many import keys_of
from netinv_core.wrong_results import wrong_result

if TYPE_CHECKING:
    from netinv_core.driver.results import Row
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass(eq=False, kw_only=True)
class Count(Field):
    """A counter of rows of another table: ``source(table)`` returns the scalar subquery for a (possibly aliased)
    table. ``counted`` is the name of what it counts in the plural, unless that follows from the field's name.
    """

    source: Callable[[Any], Any]
    counted: str = ""
    read_only: bool = True
    nested: str = "absent"
    kind: str = "integer"
    openapi: dict[str, Any] = dataclasses.field(default_factory=lambda: {"type": "integer"})

    def sources(self) -> Collection[str]:
        return ()

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        return plan.value(plan.expression(place, self.name, self.source(place.table)))


def identity(value: Any) -> Any:
    """Returns the value as it is: the function of a computed field that shows another value."""
    return value


@dataclasses.dataclass(eq=False, kw_only=True)
class Computed(Field):
    """A function of other values of the object, each given as a dotted path across references."""

    function: Callable[..., Any]
    paths: tuple[str, ...]
    read_only: bool = True

    def sources(self) -> Collection[str]:
        return {path.partition(".")[0] for path in self.paths}

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        function = self.function
        readers = [plan.read(place, path) for path in self.paths]
        if len(readers) == 1:
            (only,) = readers
            if function is identity:
                return only
            return lambda row, page: function(only(row, page))
        positions = [position for reader in readers if (position := plan.position_of(reader)) is not None]
        if len(positions) == len(readers):  # columns, which are picked from the row together
            pick = operator.itemgetter(*positions)
            return lambda row, page: function(*pick(row))
        return lambda row, page: function(*[reader(row, page) for reader in readers])


@dataclasses.dataclass(eq=False, kw_only=True)
class BatchLoaded(Field):
    """A value loaded for all objects of a page at once: ``load(uow, ids)`` returns values by id, ``missing`` is that of
    other ids.
    """

    load: Callable[[UnitOfWork, list[Any]], Mapping[Any, Any]]
    missing: Any = None
    read_only: bool = True

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        key, missing = plan.column(place, "id"), self.missing
        load = self.load

        def of_page(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
            values = load(uow, keys_of(rows, key))
            if not isinstance(values, Mapping):
                raise wrong_result(load, values, "a mapping")
            return dict(values)

        batch = plan.batch(of_page)
        return lambda row, page: page.batches[batch].get(row[key], missing)


@dataclasses.dataclass(eq=False, kw_only=True)
class SubresourceUrl(Field):
    """The absolute URL of the object with a ``suffix``, such as ``notes/``."""

    endpoint: Endpoint
    suffix: str = ""
    read_only: bool = True
    openapi: dict[str, Any] = dataclasses.field(default_factory=lambda: {"type": "string", "format": "uri"})

    def sources(self) -> Collection[str]:
        return ()

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        key, path, suffix = plan.column(place, "id"), self.endpoint.canonical_path, self.suffix
        if self.endpoint.key_type is uuid.UUID:  # whose own conversion to text takes three times as long
            dumps = orjson.dumps
            return lambda row, page: f"{page.base}{path}{dumps(row[key])[1:-1].decode()}/{suffix}"
        return lambda row, page: f"{page.base}{path}{row[key]}/{suffix}"
