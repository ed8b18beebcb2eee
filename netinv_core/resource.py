"""Resource: the declaration of how a model is served, and constructors for the fields that are not columns.

A :class:`Resource` is built at import and frozen when its application is added to a registry. Functions are registered
on it before: rules, filters, and functions that run after a write or before a deletion.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields as kinds
from netinv_core.models.base import Base
from netinv_core.models.columns import Choices

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

Rule = Callable[["UnitOfWork", "Sequence[Draft]"], None]
BeforeDelete = Callable[["UnitOfWork", "Sequence[dict[str, Any]]"], None]
Downgrade = Callable[[dict[str, Any]], dict[str, Any]]
Upgrade = Callable[[dict[str, Any]], dict[str, Any]]
Listing = Callable[["UnitOfWork", "Endpoint", "Sequence[Any]"], "list[dict[str, Any]]"]
WRITES = frozenset({"add", "change", "delete"})
NEW_OBJECT = "(a new object)"  # in ``example``: a reference that samples do not share


class FrozenResourceError(AttributeError):
    """Raised when a resource that a registry holds is changed."""


@dataclasses.dataclass(frozen=True)
class FieldFactory:
    """A field of a resource that is not a column.

    ``make(registry, endpoint)`` builds it while the registry is completed.
    """

    name: str
    make: Callable[[Registry, Endpoint], kinds.Field]


@dataclasses.dataclass(frozen=True)
class VersionChange:
    """A difference of representations before API version ``since``.

    ``downgrade`` takes a copy of the newest representation to the older form; ``upgrade`` takes a body of the older
    form to the newest; ``absent`` names the fields that older versions do not know, ``former`` those that only they
    show, and every version takes for a new object. ``schema`` takes the OpenAPI schema of the object, read or written,
    to the older one: needed where a field is there in both with another form. ``listing(context, endpoint, ids)`` gives
    the objects of a page as older versions list them, where lists and details of an object were not alike.
    """

    since: str
    downgrade: Downgrade = dict
    upgrade: Upgrade = dict
    schema: Callable[[dict[str, Any]], dict[str, Any]] = dict
    absent: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    listing: Listing | None = None


def computed(name: str, function: Callable[..., Any], *paths: str, **options: Any) -> FieldFactory:
    """A field that is ``function`` of the values at ``paths`` (dotted, across references)."""
    return FieldFactory(name, lambda registry, endpoint: kinds.Computed(name=name, function=function, paths=paths, **options))


def batch_loaded(name: str, load: Callable[[UnitOfWork, list[Any]], Mapping[Any, Any]], *, missing: Any = None, **options: Any) -> FieldFactory:
    """A read-only field loaded for a whole page at once: ``load(uow, ids)`` returns values by id, ``missing`` is that
    of other ids.
    """
    return FieldFactory(name, lambda registry, endpoint: kinds.BatchLoaded(name=name, load=load, missing=missing, **options))


def coalesce(name: str, attributes: Sequence[str], *, prefer: Mapping[str, str] | None = None) -> FieldFactory:
    """The first of several references that is set, nested; a setting in ``prefer`` that is on puts its reference first."""

    def make(registry: Registry, endpoint: Endpoint) -> kinds.Field:
        first = [attribute for setting, attribute in (prefer or {}).items() if registry.settings.get(setting)]
        return kinds.Coalesce(name=name, references=tuple(dict.fromkeys([*first, *attributes])))

    return FieldFactory(name, make)


def computed_choice(name: str, choices: Choices, path: str) -> FieldFactory:
    """A read-only choice computed from a column: ``{value, label}``, its value alone in the brief shape."""

    def make(registry: Registry, endpoint: Endpoint) -> kinds.Field:
        return kinds.Choice(name=name, attribute=path, read_only=True, choices=choices, kind="choice", python_type=int)

    return FieldFactory(name, make)


def to_many(name: str, table: sa.Table, target: str, **options: Any) -> FieldFactory:
    """Objects of ``target`` (a label) in an association table, nested and written as a list."""
    return FieldFactory(name, lambda registry, endpoint: kinds.ToMany(name=name, table=table, to=target, registry=registry, **options))


def content_type_list(name: str, table: sa.Table, **options: Any) -> FieldFactory:
    """Content types in an association table, as ``app.model`` strings."""
    return FieldFactory(name, lambda registry, endpoint: kinds.ContentTypeList(name=name, table=table, registry=registry, **options))


def reverse_fk(name: str, target: str, attribute: str) -> FieldFactory:
    """The objects of ``target`` whose foreign key ``attribute`` refers to the object, nested."""
    return FieldFactory(name, lambda registry, endpoint: kinds.ReverseForeignKey(name=name, to=target, attribute_there=attribute, registry=registry))


def through_one_to_one(name: str, target: str, held: str, holder: str, by: str) -> FieldFactory:
    """The object that is reached through a one-to-one reference of ``target``: see
    :class:`netinv_core.fields.ThroughOneToOne`.
    """

    def make(registry: Registry, endpoint: Endpoint) -> kinds.Field:
        return kinds.ThroughOneToOne(name=name, to=target, held=held, holder=holder, by=by, registry=registry)

    return FieldFactory(name, make)


def generic_fk(name: str, type_attribute: str, id_attribute: str, shape: str = "nested") -> FieldFactory:
    """A generic foreign key: the object that a pair of type and id columns refers to."""

    def make(registry: Registry, endpoint: Endpoint) -> kinds.Field:
        return kinds.GenericForeignKey(name=name, type_attribute=type_attribute, id_attribute=id_attribute, shape=shape)

    return FieldFactory(name, make)


def count_of(name: str, source: Callable[[Registry, Any], Any], **options: Any) -> FieldFactory:
    """A counter: ``source(registry, table)`` returns the scalar subquery for a (possibly aliased) table, or ``None``
    for zero.
    """

    def make(registry: Registry, endpoint: Endpoint) -> kinds.Field:
        def expression(table: Any) -> Any:
            subquery = source(registry, table)
            return sa.literal(0) if subquery is None else subquery

        return kinds.Count(name=name, source=expression, **options)

    return FieldFactory(name, make)


def counter(child: Any, attribute: str) -> Callable[[Any, Any], Any]:
    """A ``source`` of :func:`count_of` that counts the rows of ``child`` by their foreign key ``attribute``."""

    def source(registry: Registry, table: Any) -> Any:
        child_table = child.alias()
        return sa.select(sa.func.count()).select_from(child_table).where(child_table.c[attribute] == table.c.id).scalar_subquery()

    return source


class Resource:
    """A model and how it is served at ``/api/<app>/<name>/``.

    ``display`` is a path, or ``(function, *paths)``; ``called`` the column that names an object in messages and in the
    change log, when that is not its display; ``brief`` the fields of the nested form after ``display, id, url``,
    ``assigned_fields`` what that form has besides where an object is assigned to another by type and id (the shape
    ``assigned`` of :func:`generic_fk`); ``order`` the columns the list is sorted by (``-`` for descending, a dotted
    path across references); ``search`` the paths ``q`` looks in; ``natural`` the column by which others may name an
    object; ``of`` makes it a further list of the objects of another resource of the same model, which cannot be written
    here: it has the filters it names and no others. ``members`` are the only members of a representation, when not all
    are shown. ``writes`` are those of ``add``, ``change`` and ``delete`` that are offered; ``writable=False`` stands
    for none. ``about`` names pairs of columns, a content type's label and an id: who may not view the object that one
    names does not get to see what is about it (notes, images, the change log). ``configuration`` marks what processes
    cache; ``recorded`` says whether changes leave a row in the change log; ``basic`` lets a password stand for a token;
    ``example`` holds values for documentation and tests where a field's type does not suggest one; :data:`NEW_OBJECT` for a reference
    that each sample needs an object of its own for.
    ``exempt_by_name_only`` keeps ``*`` in the setting ``netinv.exempt_view_permissions`` from opening the resource to
    anyone: for accounts, credentials, logs and whatever else is nobody's business by default. Resources with
    confidential columns are so anyway. ``record_constants`` are members of the change log's ``object_data`` that the
    API has and the model has no columns for.
    """

    narrowing: Callable[[UnitOfWork, Any], Any] | None = None
    restriction: Callable[[UnitOfWork, str], bool] | None = None
    prepare_functions: tuple[Rule, ...] = ()
    rules: tuple[Rule, ...] = ()
    after_save_functions: tuple[Rule, ...] = ()
    before_delete_functions: tuple[BeforeDelete, ...] = ()
    _frozen = False

    def __init__(
        self,
        model: type[Base],
        name: str,
        *,
        label: str | None = None,
        title: str | None = None,
        plural: str | None = None,
        display: Any = "name",
        called: str | None = None,
        brief: Sequence[str] = ("name",),
        order: Sequence[str] = ("name",),
        search: Sequence[str] = (),
        natural: str | None = None,
        fields: Sequence[FieldFactory] = (),
        omit: Sequence[str] = (),
        filters: Sequence[Filter] = (),
        versions: Sequence[VersionChange] = (),
        writable: bool = True,
        writes: Collection[str] = WRITES,
        configuration: bool = False,
        recorded: bool = True,
        basic: bool = False,
        exempt_by_name_only: bool = False,
        example: Mapping[str, Any] | None = None,
        brief_fields: Sequence[FieldFactory] = (),
        assigned_fields: Sequence[FieldFactory] = (),
        of: Resource | None = None,
        members: Sequence[str] = (),
        about: Sequence[tuple[str, str]] = (),
        record_constants: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.name, self.label = model, name, label
        self.title, self.plural = title, plural
        self.display = (lambda value: value, display) if isinstance(display, str) else display
        self.name_attribute, self.natural = called, natural
        self.brief, self.order, self.search = tuple(brief), tuple(order), tuple(search)
        self.brief_fields, self.assigned_fields = tuple(brief_fields), tuple(assigned_fields)
        self.specs, self.omit = tuple(fields), frozenset(omit)
        self.filters, self.versions = tuple(filters), tuple(versions)
        self.of, self.only_fields, self.about = of, tuple(members), tuple(about)
        self.record_constants = types.MappingProxyType(dict(record_constants or {}))
        self.writes = frozenset(writes) if writable and of is None else frozenset()
        self.configuration, self.recorded = configuration, recorded
        self.allow_basic_auth, self.exempt_by_name_only = basic, exempt_by_name_only
        self.example = types.MappingProxyType(dict(example or {}))

    @property
    def writable(self) -> bool:
        """True when objects can be created, changed and deleted."""
        return self.writes == WRITES

    def freeze(self) -> None:
        """Makes the resource immutable. A registry freezes the resources that are added to it."""
        object.__setattr__(self, "_frozen", True)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._frozen:
            raise FrozenResourceError(f"{self!r} is in a registry: {name} cannot be changed any more")
        super().__setattr__(name, value)

    def prepare(self, function: Rule) -> Rule:
        """Registers a function that completes drafts (derived columns, defaults) before the rules see them."""
        self.prepare_functions = (*self.prepare_functions, function)
        return function

    def base_filter(self, function: Any) -> Any:
        """Registers a condition of every SELECT of the resource: ``function(uow, table)`` returns it."""
        self.narrowing = function
        return function

    def permission_check(self, function: Any) -> Any:
        """Registers a check besides permissions, also for superusers: ``function(uow, action)`` returns whether the
        action is allowed.
        """
        self.restriction = function
        return function

    def rule(self, function: Rule) -> Rule:
        """Registers a rule over a whole batch: it calls ``draft.reject(field, message)`` for what is wrong.

        Rules run in the order they are registered; a draft that one has rejected is not shown to the next.
        """
        self.rules = (*self.rules, function)
        return function

    def after_save(self, function: Rule) -> Rule:
        """Registers a function for further changes of a write.

        It is called with the batch of drafts after they are written.
        """
        self.after_save_functions = (*self.after_save_functions, function)
        return function

    def before_delete(self, function: Any) -> Any:
        """Registers a function for further changes of a deletion, or that refuses it
        (:func:`netinv_core.write.delete.in_use`).

        It is called with the rows, as dictionaries of columns, before they are deleted.
        """
        self.before_delete_functions = (*self.before_delete_functions, function)
        return function

    def filter(self, name: str, **options: Any) -> Callable[[Any], Any]:
        """Registers a query parameter: ``function(uow, table, values)`` returns a condition.

        See :func:`netinv_core.read.filters.custom` for the ``options``.
        """
        from netinv_core.read.filters import custom

        def register(function: Any) -> Any:
            self.filters = (*self.filters, custom(name, function, **options))
            return function

        return register

    def __repr__(self) -> str:
        return f"<Resource {self.model.__name__} at {self.name}>"
