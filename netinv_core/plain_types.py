"""Protocols of the core that name no other class of it but values; those of :mod:`netinv_core.types` extend them."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    import pluggy
    import sqlalchemy as sa
    from sqlalchemy.orm import Session

    from netinv_core.aside import Aside
    from netinv_core.auth.account import Identity
    from netinv_core.caches import CacheCounts
    from netinv_core.db.driver.read_connection import ReadConnection
    from netinv_core.errors import FieldErrors
    from netinv_core.models.base import Base
    from netinv_core.models.columns import Choices
    from netinv_core.patterns import Budget
    from netinv_core.presentation import Presentation
    from netinv_core.records import ContentType, FailedPackage, Order
    from netinv_core.storage.files import Files


class ListDifference(Protocol):
    """Items to add to a list and to remove from it (:class:`netinv_core.write.list_differences.ListDifference`)."""

    add: list[Any]
    remove: list[Any]
    applied: bool

    def applied_to(self, stored: Sequence[Any]) -> list[Any]: ...


class KeyedRequest(Protocol):
    """The key of a request (:class:`netinv_core.stored_answers.KeyedRequest`)."""

    key_digest: str
    looked_up: bool
    row: Any

    def found(self, row: Any) -> None: ...


class Configuration(Protocol):
    """The cache of a version of the configuration (:class:`netinv_core.uow.Configuration`)."""

    cached: dict[Any, Any] | None
    number: int | None


class Named(Protocol):
    """A value with a name."""

    @property
    def name(self) -> str: ...


class RelatedObjects(Named, Protocol):
    """The objects that the values of a query parameter name."""

    @property
    def steps(self) -> tuple[str, ...]: ...
    @property
    def ids(self) -> bool: ...
    @property
    def public(self) -> bool: ...


class FilterParameters(Named, Protocol):
    """The options of a query parameter."""

    @property
    def lookups(self) -> tuple[str, ...]: ...
    @property
    def multiple(self) -> bool: ...
    @property
    def kind(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def blank(self) -> bool: ...
    @property
    def accepts_single(self) -> bool: ...
    @property
    def choices(self) -> Choices | None: ...
    @property
    def searched(self) -> tuple[str, ...]: ...
    @property
    def paths(self) -> tuple[str, ...]: ...
    def terms(self, lookup: str, values: Sequence[Any]) -> int: ...
    def counted_terms(self, lookup: str, values: Sequence[Any]) -> int: ...
    def is_single(self, lookup: str) -> bool: ...


class VersionForms(Protocol):
    """The forms of representations and bodies before an API version."""

    @property
    def since(self) -> str: ...
    @property
    def downgrade(self) -> Callable[[dict[str, Any]], dict[str, Any]]: ...
    @property
    def upgrade(self) -> Callable[[dict[str, Any]], dict[str, Any]]: ...
    @property
    def schema(self) -> Callable[[dict[str, Any]], dict[str, Any]]: ...
    @property
    def absent(self) -> tuple[str, ...]: ...
    @property
    def former(self) -> tuple[str, ...]: ...
    @property
    def changed(self) -> tuple[str, ...]: ...


class ResourceOptions(Protocol):
    """The options of a resource."""

    model: type[Base]
    name: str
    label: str | None
    title: str | None
    plural: str | None
    display: Any
    name_attribute: str | None
    natural: str | None
    natural_within: tuple[str, ...]
    brief: tuple[str, ...]
    order: tuple[str, ...]
    search: tuple[str, ...]
    nested_order: tuple[str, ...]
    orderings: Mapping[str, Sequence[str]]
    omit: frozenset[str]
    only_fields: tuple[str, ...]
    about: tuple[tuple[str, str], ...]
    record_constants: Mapping[str, Any]
    writes: frozenset[str]
    configuration: bool
    recorded: bool
    allow_basic_auth: bool
    exempt_by_name_only: bool
    example: Mapping[str, Any]
    presentation: Presentation
    actions: tuple[str, ...]
    type_order: str

    @property
    def display_path(self) -> str | None: ...
    @property
    def writable(self) -> bool: ...


class Failures(Protocol):
    """Failures of packages that are found together (:class:`netinv_core.packages.GatheredFailures`)."""

    def of(self, package: str) -> contextlib.AbstractContextManager[None]: ...
    def check(self) -> None: ...


class FaultCounts(Protocol):
    """Failures of plugins while the service runs (:class:`netinv_core.package_faults.Faults`)."""

    def note(self, registry: Any, package: str, error: BaseException) -> None: ...


class RegistryState(Protocol):
    """The packages, settings and caches of a service."""

    dialect: str
    settings: dict[str, Any]
    packages: dict[str, str]
    services: dict[str, Any]
    content_types: dict[str, ContentType]
    permitted_actions: set[str]
    disabled: frozenset[str]
    manager: pluggy.PluginManager
    broken: list[FailedPackage]
    derived: dict[Any, Any]
    derived_counts: CacheCounts
    configuration_counts: CacheCounts

    @property
    def failures(self) -> Failures: ...
    @property
    def faults(self) -> FaultCounts: ...
    @property
    def hooks(self) -> Any: ...
    def cached(self, version: int) -> dict[Any, Any]: ...
    def call_each(self, hook: str, **arguments: Any) -> Iterator[tuple[str, Any]]: ...
    def parts(self, hook: str, read: Callable[[Any], Any], **arguments: Any) -> Iterator[Any]: ...
    def results(self, hook: str, read: Callable[[Any], Any], **arguments: Any) -> Iterator[Any]: ...
    def callers(self, hook: str) -> list[tuple[str, pluggy.HookCaller]]: ...
    def conflict(self, first: str, second: str, claimed: str) -> Exception: ...
    def is_plugin(self, package: str) -> bool: ...
    def leave_out(self, package: str, error: BaseException, what: str, uow: Any) -> None: ...
    def package_of(self, plugin_name: str) -> str: ...
    def content_type(self, label: Any) -> ContentType | None: ...


class EndpointNames(Protocol):
    """The names, columns and kinds of fields of an endpoint."""

    model: type[Base]
    table: Any
    path: str
    label: str
    reverse_relations: set[str]
    givers: dict[tuple[str, str], str]

    @property
    def package(self) -> str: ...
    def claim(self, kind: str, name: str, package: str, present: Collection[str]) -> None: ...

    @property
    def canonical_path(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def plural(self) -> str: ...
    @property
    def model_name(self) -> str: ...
    @property
    def schema_name(self) -> str: ...
    @property
    def natural_sort(self) -> str: ...
    @property
    def natural_attribute(self) -> str | None: ...
    @property
    def key_type(self) -> type: ...
    @property
    def exempt_by_name_only(self) -> bool: ...
    @property
    def confidential(self) -> frozenset[str]: ...
    @property
    def row_type(self) -> Any: ...
    @property
    def ordering(self) -> Order: ...

    @property
    def nested_ordering(self) -> Order: ...
    @property
    def masked_columns(self) -> dict[str, Callable[[Any], Any]]: ...
    @property
    def defaults(self) -> list[tuple[str, Callable[[Any], Any] | None, Any]]: ...
    @property
    def costly(self) -> frozenset[str]: ...
    @property
    def opt_in(self) -> frozenset[str]: ...
    @property
    def derived(self) -> frozenset[str]: ...
    def named_in_cell(self, text: str) -> Any: ...
    def parse_key(self, text: str) -> Any: ...
    def resource_column(self, name: str, table: Any) -> Any: ...
    def fields_depending_on(self, columns: Collection[str]) -> set[str]: ...
    def __hash__(self) -> int: ...


class FieldOptions(Protocol):
    """The options of a field, and its conversions of values. Fields are dataclasses."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    name: str
    label: str | None
    help: str
    kind: str
    read_only: bool
    write_only: bool
    required: bool
    nullable: bool
    costly: bool
    opt_in: bool
    derived: bool
    own: bool
    merges: bool
    confidential: bool
    nested: str
    default: Any
    openapi: dict[str, Any]

    @property
    def attribute(self) -> str | None: ...
    def sources(self) -> Collection[str] | None: ...
    def from_form(self, values: Sequence[Any]) -> Any: ...
    def to_body(self, value: Any) -> Any: ...
    def compared(self, before: Any, after: Any) -> tuple[Any, Any]: ...
    def restored(self, value: Any, current: Any) -> Any: ...
    def text(self, value: Any) -> str: ...
    def from_cell(self, text: str) -> Any: ...
    def object_data(self, value: Any) -> Any: ...
    def options(self) -> dict[str, Any]: ...
    def schema(self) -> dict[str, Any]: ...
    def written_schema(self) -> dict[str, Any]: ...
    def patched_schema(self) -> dict[str, Any]: ...
    def form_schema(self) -> dict[str, Any]: ...
    def brief_schema(self) -> dict[str, Any]: ...


class Connected(Protocol):
    """An object that runs SQL statements (:class:`netinv_core.uow.UnitOfWork`)."""

    session: Session
    read_connection: ReadConnection | None

    @property
    def connection(self) -> sa.Connection: ...
    def execute(self, statement: Any, values: Any = None, *, where: Sequence[Any] = ()) -> Any: ...

    def note_sql_of(self, function: Callable[..., Any]) -> None: ...


class UnitState(Protocol):
    """The state of a unit of work."""

    identity: Identity
    author: Identity | None
    guard_state: dict[Any, Any]
    base: str
    version: str
    request_id: uuid.UUID
    writing: bool
    managed: bool
    importing: bool
    restoring: bool
    is_system: bool
    aside: Aside | None
    executed: list[tuple[Any, Any, Sequence[Any]]] | None
    deleting: Mapping[str, Collection[Any]]
    now: datetime.datetime
    row_cache: dict[Any, Any]
    revealed: dict[Any, str]
    keyed_request: KeyedRequest | None

    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def configuration(self) -> Configuration: ...
    @property
    def files(self) -> Files: ...
    @property
    def pattern_budget(self) -> Budget: ...
    def after_commit(self, function: Callable[[], None], name: Any = None) -> None: ...
    def expire_all(self) -> None: ...
    def release(self) -> None: ...
    def release_new_drafts(self, table: Any, keys: Iterable[Any]) -> None: ...
    def read_from(self, session: Session, connection: sa.Connection) -> None: ...
    def read_from_primary(self) -> None: ...
    def note_write_of(self, account: uuid.UUID | None) -> None: ...


class ChangeMarks(Protocol):
    """Members of a change besides the object."""

    record: uuid.UUID | None
    memberships: Mapping[str, list[str]] | None
    bypassed: str | None
    checked: bool


class DraftState(Protocol):
    """The values and errors of a draft."""

    body: Mapping[str, Any]
    before: dict[str, Any]
    values: dict[str, Any]
    many: dict[str, list[Any]]
    extra: dict[str, Any]
    errors: FieldErrors
    replaces: bool
    rechecked: bool
    noted: tuple[Any, ...]
    id: Any

    @property
    def new(self) -> bool: ...
    def changed(self, *attributes: str) -> bool: ...
    def reject(self, field: str, *messages: str) -> None: ...
    def row(self) -> Any: ...
    def __getitem__(self, attribute: str) -> Any: ...
    def __setitem__(self, attribute: str, value: Any) -> None: ...
