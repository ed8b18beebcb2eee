"""Types that the modules of the core name of each other: protocols of the classes, and the records that these exchange.

The classes need each other, so modules name these protocols in annotations, and import only what they run: imports have
no cycle. A protocol has what modules besides its class use.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from netinv_core.app_types import AppOptions
from netinv_core.db.driver.results import Row
from netinv_core.plain_types import (
    ChangeMarks,
    Connected,
    DraftState,
    EndpointNames,
    FieldOptions,
    FilterParameters,
    Named,
    RegistryState,
    RelatedObjects,
    ResourceOptions,
    UnitState,
    VersionForms,
)
from netinv_core.plain_types import ListDifference as ListDifference
from netinv_core.records import ObjectWarning
from netinv_core.records import Order as Order

if TYPE_CHECKING:
    from netinv_core.models.base import Base
    from netinv_core.models.columns import ForeignKeyInfo

Reader = Callable[[Row, "RowSet"], Any]  # from a row of a plan to a member of a representation
Batch = Callable[["UnitOfWork", Sequence[Row]], dict[Any, Any]]
LoadObjects = Callable[["UnitOfWork", str, "Iterable[tuple[Any, Any]]"], dict[Any, Any]]  # by label and id
Rule = Callable[["UnitOfWork", "Sequence[Draft]"], None]
BeforeDelete = Callable[["UnitOfWork", "Sequence[dict[str, Any]]"], None]


class App(AppOptions, Protocol):
    """An application (:class:`netinv_core.app.App`)."""

    @property
    def resources(self) -> Sequence[Resource]: ...


class RelatedFilter(RelatedObjects, Protocol):
    """The filter of a parameter that names objects (:class:`netinv_core.read.filters.RelatedFilter`)."""

    def name_query(self, endpoint: Endpoint, values: Sequence[str]) -> NameQuery | None: ...
    def name_columns(self, target: Endpoint) -> tuple[str, ...]: ...


class Filter(FilterParameters, Protocol):
    """A query parameter (:class:`netinv_core.read.filters.Filter`)."""

    @property
    def apply(self) -> Callable[[UnitOfWork, Endpoint, Any, str, list[str]], Any]: ...
    @property
    def relation(self) -> RelatedFilter | None: ...
    @property
    def sort_by(self) -> Callable[[Any], Any] | None: ...


class FieldFactory(Named, Protocol):
    """A field of a resource that is not a column (:class:`netinv_core.resource.FieldFactory`)."""

    @property
    def make(self) -> Callable[[Registry, Endpoint], Field]: ...


class VersionChange(VersionForms, Protocol):
    """A difference of representations before an API version (:class:`netinv_core.resource.VersionChange`)."""

    @property
    def listing(self) -> Callable[[UnitOfWork, Endpoint, Sequence[Any]], list[dict[str, Any]]] | None: ...


class Resource(ResourceOptions, Protocol):
    """The declaration of how a model is served (:class:`netinv_core.resource.Resource`)."""

    field_factories: tuple[FieldFactory, ...]
    brief_fields: tuple[FieldFactory, ...]
    assigned_fields: tuple[FieldFactory, ...]
    filters: tuple[Filter, ...]
    versions: tuple[VersionChange, ...]
    of: Resource | None
    narrowing: Callable[[UnitOfWork, Any], Any] | None
    restriction: Callable[[UnitOfWork, str], bool] | None
    prepare_functions: tuple[Rule, ...]
    rules: tuple[Rule, ...]
    after_save_functions: tuple[Rule, ...]
    before_delete_functions: tuple[BeforeDelete, ...]


@dataclasses.dataclass(frozen=True)
class Relation:
    """A step of a path, to another model or to plain values (:mod:`netinv_core.read.relations`).

    ``target()`` is the endpoint of the other model, ``None`` when its package is not installed.
    ``reach(table, ids)`` is the condition that a row of ``table`` leads to one of ``ids`` (a list or a SELECT).
    ``exists(table)`` is the condition that it leads to any row.

    ``column`` is the foreign key of a forward step. ``target_key`` is the foreign key of the other model, for a
    reverse step. ``pairs()`` returns a subquery of ``owner_id`` and ``target_id`` for any other step. A ``single`` step
    leads to one object at most. ``values(table, test)``, for a step to plain values, is the condition that a row has a
    value which passes the test.
    """

    target: Callable[[], Endpoint | None]
    reach: Callable[[Any, Any], Any]
    exists: Callable[[Any], Any]
    column: str | None = None
    values: Callable[[Any, Callable[[Any], Any]], Any] | None = None
    target_key: str | None = None
    pairs: Callable[[], Any] | None = None
    single: bool = False


class Registry(RegistryState, Protocol):
    """All resources of all packages, bound to one database (:class:`netinv_core.registry.Registry`)."""

    @property
    def apps(self) -> Mapping[str, App]: ...
    @property
    def endpoints(self) -> Mapping[str, Endpoint]: ...
    @property
    def unserved(self) -> Mapping[str, Endpoint]: ...
    def stored(self) -> Iterable[Endpoint]: ...
    def served_columns(self, endpoint: Endpoint) -> list[tuple[str, Any]]: ...
    @property
    def by_path(self) -> Mapping[tuple[str, str], Endpoint]: ...
    @property
    def by_table(self) -> Mapping[Any, Endpoint]: ...
    def get(self, label: str) -> Endpoint | None: ...
    def target(self, link: ForeignKeyInfo | None) -> Endpoint | None: ...
    def of_model(self, model: type[Base]) -> Endpoint: ...
    def __getitem__(self, label: str) -> Endpoint: ...


class IncomingForeignKey(NamedTuple):
    """A foreign key that refers to an endpoint's model: the column ``attribute`` of ``child``, and its policy."""

    child: Endpoint
    attribute: str
    on_delete: str


class Endpoint(EndpointNames, Protocol):
    """A resource of an application in a registry (:class:`netinv_core.endpoint.Endpoint`)."""

    fields: dict[str, Field]
    brief: list[Field]
    relations: dict[str, Relation]
    filters: dict[str, Filter]
    preparations: list[Rule]
    rules: list[Rule]

    @property
    def registry(self) -> Registry: ...
    @property
    def app(self) -> App: ...
    @property
    def resource(self) -> Resource: ...
    @property
    def brief_fields(self) -> list[Field]: ...
    @property
    def incoming_foreign_keys(self) -> Sequence[IncomingForeignKey]: ...
    @property
    def versioned_fields(self) -> list[Field]: ...
    @property
    def writable(self) -> dict[str, Field]: ...
    @property
    def parent(self) -> str: ...
    @property
    def namings(self) -> dict[str, Field]: ...


@dataclasses.dataclass(frozen=True, eq=False)
class JoinedTable:
    """An aliased table in a plan's joins, its endpoint, and the path of attributes from the root to it."""

    table: Any
    endpoint: Endpoint
    path: tuple[str, ...] = ()


@dataclasses.dataclass(eq=False)
class RowSet:
    """State of representing the rows of one result.

    ``batches`` holds the results of the plan's batched loads. ``nested`` is a cache of nested representations, one
    dictionary by id for each reference of the plan: a page of devices has few sites. ``markup`` is one of cells.
    """

    uow: UnitOfWork
    base: str
    batches: list[dict[Any, Any]]
    nested: list[dict[Any, dict[str, Any]]]
    markup: dict[Any, Any] = dataclasses.field(default_factory=dict)


class ReadPlan(Protocol):
    """SELECT and reader for one resource in one shape (:class:`netinv_core.read.plan.ReadPlan`), while it is built."""

    root: JoinedTable

    @property
    def registry(self) -> Registry: ...
    def column(self, place: JoinedTable, attribute: str) -> int: ...
    def expression(self, place: JoinedTable, name: str, expression: Any) -> int: ...
    def join(self, place: JoinedTable, attribute: str) -> JoinedTable | None: ...
    def join_reverse(self, place: JoinedTable, name: str, target: Endpoint, attribute: str) -> JoinedTable: ...
    def batch(self, load: Batch) -> int: ...
    def load_generic(self, shape: str, label: int, key: int, load_objects: LoadObjects) -> int: ...
    def load_to_many(self, place: JoinedTable, inner: ReadPlan) -> Reader: ...
    def nested(
        self, place: JoinedTable, attribute: str, field_names: Sequence[str] = (), without: Collection[str] = ()
    ) -> Reader: ...
    def reader_of(self, place: JoinedTable, field: Field) -> Reader: ...
    def value(self, position: int) -> Reader: ...
    def position_of(self, reader: Reader) -> int | None: ...
    def read(self, place: JoinedTable, path: str) -> Reader: ...
    @property
    def tables(self) -> int: ...


class IdentifiedObjects(Protocol):
    """The names of objects that identify them (:class:`netinv_core.tabular.identification.IdentifiedObjects`)."""

    def text_of(self, target: Endpoint | None, key: Any) -> str: ...


@dataclasses.dataclass(frozen=True)
class CellColumn:
    """A column of a table.

    ``name`` is its name in the header; ``field`` the field that it belongs to; ``members`` the names that lead to its
    value in the field's object, none for the whole value. ``to_text`` converts a value of the field to the text of a
    cell, ``from_text`` the text to the value of the field or the member in a body.
    """

    name: str
    field: str
    to_text: Callable[[Any, IdentifiedObjects], str]
    from_text: Callable[[str], Any]
    members: tuple[str, ...] = ()


class Field(FieldOptions, Protocol):
    """A member of a representation (:class:`netinv_core.fields.Field`)."""

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader: ...
    def sparse_reader(self, plan: ReadPlan, place: JoinedTable, without: Collection[str]) -> Reader: ...
    def brief_reader(self, plan: ReadPlan, place: JoinedTable) -> Reader: ...
    def path_reader(self, plan: ReadPlan, place: JoinedTable, path: str) -> Reader | None: ...
    def accept(self, draft: Draft, value: Any) -> None: ...
    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None: ...
    def differing(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> set[Any]: ...
    def discard(self, uow: UnitOfWork, rows: Sequence[Mapping[str, Any]]) -> None: ...
    def cell_columns(self, uow: UnitOfWork) -> Sequence[CellColumn]: ...
    def cell_references(self, value: Any) -> Iterable[tuple[Endpoint, Any]]: ...
    def to_cell(self, value: Any, identified: IdentifiedObjects) -> str: ...
    def extra_object_data(self, uow: UnitOfWork, row: Mapping[str, Any], value: Any) -> Any: ...
    def downgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None: ...
    def upgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None: ...


class ListField(Protocol):
    """A field whose list is stored in rows of its own."""

    name: str

    # The stored lists of objects by id; one statement.
    def stored_lists(self, uow: UnitOfWork, keys: Sequence[Any]) -> Mapping[Any, list[Any]]: ...
    # Stores the whole list in a draft, or rejects it.
    def set_list(self, draft: Draft, items: list[Any]) -> None: ...


class ReferringField(Protocol):
    """A field that refers to objects of another resource."""

    name: str
    plain: bool

    @property
    def target(self) -> Endpoint | None: ...


class ReferenceField(ReferringField, Protocol):
    """A field that refers to one object of another resource."""

    attribute: str

    def set_resolved(self, draft: Draft, key: Any) -> None: ...


class ReferenceListField(ReferringField, ListField, Protocol):
    """A field that refers to several objects of another resource."""

    def reject(self, draft: Draft, errors: list[str]) -> None: ...


@dataclasses.dataclass(eq=False)
class SentReferences:
    """References of a to-many field as sent, to be resolved.

    With a ``difference``, they are what it adds, or what it removes (``removed``); without one, the whole list.
    """

    field: ReferenceListField
    values: list[Any]
    difference: ListDifference | None = None
    removed: bool = False


class Draft(DraftState, Protocol):
    """An object of a batch, between body and database (:class:`netinv_core.write.draft.Draft`)."""

    differences: list[tuple[ListField, ListDifference]]
    references: list[tuple[ReferenceField, Any]]
    references_many: list[SentReferences]

    @property
    def endpoint(self) -> Endpoint: ...
    def add_reference(self, field: ReferenceField, value: Any) -> None: ...
    def add_references(self, field: ReferenceListField, values: list[Any]) -> None: ...
    def add_difference(self, field: ReferenceListField, difference: ListDifference) -> None: ...


class Change(ChangeMarks, Protocol):
    """Change of one object (:class:`netinv_core.changelog.change_set.Change`)."""

    key: Any
    action: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    object_data: dict[str, Any]

    @property
    def endpoint(self) -> Endpoint: ...
    @property
    def name(self) -> str: ...
    def is_nothing(self, earlier: Change) -> bool: ...
    def mask(self) -> None: ...


class ChangeSet(Protocol):
    """The changes of a unit of work (:class:`netinv_core.changelog.change_set.ChangeSet`)."""

    warnings: list[ObjectWarning]

    def clear(self) -> None: ...
    @property
    def updated_in_bulk(self) -> dict[Endpoint, int]: ...
    @property
    def pending(self) -> list[Change]: ...
    def add(self, change: Change) -> None: ...
    def keys_of(self, endpoint: Endpoint) -> set[Any]: ...
    def merge(self, later: ChangeSet) -> None: ...
    def check(self, uow: UnitOfWork) -> None: ...
    def write(self, uow: UnitOfWork, *, guarded: bool = True) -> list[Change]: ...


class NameQuery(Protocol):
    """A name in a filter that is looked up later (:class:`netinv_core.read.name_lookup.NameQuery`)."""

    def select(self, uow: UnitOfWork) -> Any: ...


class ReadRoute(Protocol):
    """The way of a request that only reads (:class:`netinv_core.db.replicas.ReadRoute`)."""

    needed: int | None

    def follow(self, uow: UnitOfWork) -> None: ...
    def may_repeat(self, error: BaseException) -> bool: ...


class UnitOfWork(Connected, UnitState, Protocol):
    """State of a request, an import or a command (:class:`netinv_core.uow.UnitOfWork`)."""

    new_drafts: dict[Any, dict[Any, Draft]]
    changing_drafts: dict[Any, Mapping[Any, Draft]]
    deferred_lookups: list[NameQuery] | None
    read_route: ReadRoute | None

    @property
    def registry(self) -> Registry: ...
    @property
    def change_set(self) -> ChangeSet: ...
    @property
    def warnings(self) -> list[ObjectWarning]: ...
    def cached_config(self, name: Any, load: Callable[[UnitOfWork], Any]) -> Any: ...
    def collecting(self) -> contextlib.AbstractContextManager[ChangeSet]: ...
    def savepoint(self) -> contextlib.AbstractContextManager[ChangeSet]: ...
    def rolled_back(self) -> contextlib.AbstractContextManager[ChangeSet]: ...
    def as_system(self) -> Self: ...
    def as_restoration(self) -> Self: ...
    def without_lookups(self) -> Self: ...
