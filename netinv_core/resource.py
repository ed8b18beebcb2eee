"""Resource: the declaration of how a model is served, and constructors for the fields that are not columns.

A :class:`Resource` is built at import and frozen when its application is added to a registry. Functions are registered
on it before: rules, filters, and functions that run after a write or before a deletion.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import sqlalchemy as sa

from netinv_core import fields as kinds
from netinv_core.fields.read_only import identity
from netinv_core.models.base import Base
from netinv_core.models.columns import Choices
from netinv_core.presentation import Presentation
from netinv_core.read.filters import custom
from netinv_core.write.reading_rules import Reading, ReadingRule

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

#: A function that checks the drafts of a batch, or completes them: it rejects what is wrong (``draft.reject``).
Rule = Callable[["UnitOfWork", "Sequence[Draft]"], None]
CounterOfCreated = Callable[["UnitOfWork", "Sequence[Draft]"], Mapping[str, int]]
BeforeDelete = Callable[["UnitOfWork", "Sequence[dict[str, Any]]"], None]
Downgrade = Callable[[dict[str, Any]], dict[str, Any]]
Upgrade = Callable[[dict[str, Any]], dict[str, Any]]
Listing = Callable[["UnitOfWork", "Endpoint", "Sequence[Any]"], "list[dict[str, Any]]"]
WRITES = frozenset({"add", "change", "delete"})
NEW_OBJECT = "(a new object)"  # in ``example``: a reference that samples do not share


def _natural_key(natural: str | Sequence[str] | None) -> tuple[str | None, tuple[str, ...]]:
    """The natural column, and the references that it is within."""
    if natural is None or isinstance(natural, str):
        return natural, ()
    column, *within = natural
    return column, tuple(within)


class FrozenResourceError(AttributeError):
    """Raised when a resource that a registry holds is changed."""


@dataclasses.dataclass(frozen=True)
class FieldFactory:
    """A field of a resource that is not a column.

    ``make(registry, endpoint)`` builds it while the registry is completed.
    """

    name: str
    make: Callable[[Registry, Endpoint], Field]


@dataclasses.dataclass(frozen=True)
class VersionChange:
    """A difference of representations before API version ``since``.

    ``downgrade`` takes a copy of the newest representation to the older form; ``upgrade`` takes a body of the older
    form to the newest; ``absent`` names the fields that older versions do not know, ``former`` those that only they
    show, and every version takes for a new object. ``schema`` takes the OpenAPI schema of the object, read or written,
    to the older one: needed where a field is there in both with another form. ``listing(uow, endpoint, ids)`` gives
    the objects of a page as older versions list them, where lists and details of an object were not alike. ``changed``
    names the fields that ``downgrade`` reads and replaces: it is not called without them, and without such names the
    whole object is read for every representation.
    """

    since: str
    downgrade: Downgrade = dict
    upgrade: Upgrade = dict
    schema: Callable[[dict[str, Any]], dict[str, Any]] = dict
    absent: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    listing: Listing | None = None
    changed: tuple[str, ...] = ()


def computed(name: str, function: Callable[..., Any], *paths: str, **options: Any) -> FieldFactory:
    """A field that is ``function`` of the values at ``paths`` (dotted, across references)."""
    return FieldFactory(
        name, lambda registry, endpoint: kinds.Computed(name=name, function=function, paths=paths, **options)
    )


def batch_loaded(
    name: str, load: Callable[[UnitOfWork, list[Any]], Mapping[Any, Any]], *, missing: Any = None, **options: Any
) -> FieldFactory:
    """A read-only field loaded for a whole page at once: ``load(uow, ids)`` returns values by id, ``missing`` is that
    of other ids.
    """
    return FieldFactory(
        name, lambda registry, endpoint: kinds.BatchLoaded(name=name, load=load, missing=missing, **options)
    )


def utilization(load: Callable[[UnitOfWork, list[Any]], Mapping[Any, kinds.Shares]]) -> FieldFactory:
    """The field ``utilization``; ``load(uow, ids)`` returns the shares of objects by id."""
    return FieldFactory("utilization", lambda registry, endpoint: kinds.Utilization(name="utilization", load=load))


def coalesce(name: str, attributes: Sequence[str], *, prefer: Mapping[str, str] | None = None) -> FieldFactory:
    """The first of several references that is set, nested; a setting in ``prefer`` that is on puts its reference
    first.
    """

    def make(registry: Registry, endpoint: Endpoint) -> Field:
        first = [attribute for setting, attribute in (prefer or {}).items() if registry.settings[setting]]
        return kinds.Coalesce(name=name, references=tuple(dict.fromkeys([*first, *attributes])))

    return FieldFactory(name, make)


def computed_choice(name: str, choices: Choices, path: str) -> FieldFactory:
    """A read-only choice computed from a column: ``{value, label}``, its value alone in the brief shape."""

    def make(registry: Registry, endpoint: Endpoint) -> Field:
        return kinds.Choice(name=name, attribute=path, read_only=True, choices=choices, kind="choice", python_type=int)

    return FieldFactory(name, make)


def to_many(name: str, table: sa.Table, target: str, **options: Any) -> FieldFactory:
    """Objects of ``target`` (a label) in an association table, nested and written as a list."""
    return FieldFactory(
        name, lambda registry, endpoint: kinds.ToMany(name=name, table=table, to=target, registry=registry, **options)
    )


def content_type_list(name: str, table: sa.Table, **options: Any) -> FieldFactory:
    """Content types in an association table, as ``app.model`` strings."""
    return FieldFactory(
        name, lambda registry, endpoint: kinds.ContentTypeList(name=name, table=table, registry=registry, **options)
    )


def reverse_fk(name: str, target: str, attribute: str) -> FieldFactory:
    """The objects of ``target`` whose foreign key ``attribute`` refers to the object, nested."""
    return FieldFactory(
        name,
        lambda registry, endpoint: kinds.ReverseForeignKey(
            name=name, to=target, attribute_there=attribute, registry=registry
        ),
    )


def generic_fk(name: str, type_attribute: str, id_attribute: str, shape: str = "nested") -> FieldFactory:
    """A generic foreign key: the object that a pair of type and id columns refers to."""

    def make(registry: Registry, endpoint: Endpoint) -> Field:
        return kinds.GenericForeignKey(name=name, type_attribute=type_attribute, id_attribute=id_attribute, shape=shape)

    return FieldFactory(name, make)


def count_of(name: str, source: Callable[[Registry, Any], Any], **options: Any) -> FieldFactory:
    """A counter: ``source(registry, table)`` returns the scalar subquery for a (possibly aliased) table, or ``None``
    for zero.
    """

    def make(registry: Registry, endpoint: Endpoint) -> Field:
        def expression(table: Any) -> Any:
            subquery = source(registry, table)
            return sa.literal(0) if subquery is None else subquery

        return kinds.Count(name=name, source=expression, **options)

    return FieldFactory(name, make)


def counter(child: Any, attribute: str) -> Callable[[Any, Any], Any]:
    """A ``source`` of :func:`count_of` that counts the rows of ``child`` by their foreign key ``attribute``."""

    def source(registry: Registry, table: Any) -> Any:
        child_table = child.alias()
        return (
            sa.select(sa.func.count())
            .select_from(child_table)
            .where(child_table.c[attribute] == table.c.id)
            .scalar_subquery()
        )

    return source


def _read_only(values: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """A read-only copy of a mapping."""
    return MappingProxyType(dict(values or {}))


class Resource:
    """Declaration of a REST resource: a model and how it is served at ``/api/<app>/<name>/``.

    :param display: path of the display name, or ``(function, *paths)``
    :param name_attribute: column that names an object in messages and in the change log, unless that is its display
    :param brief: fields of the nested form after ``display, id, url``
    :param order: columns by which the list is sorted; ``-`` for descending, a dotted path across references
    :param nested_order: such columns for lists within other objects, where these differ
    :param orderings: such columns by names that the query parameter ``ordering`` may contain besides the columns' own
    :param search: paths in which ``q`` searches
    :param natural: column that can identify an object in references, besides its id; in a list with the references
        within which it identifies one, where no unique set says so
    :param omit: names of fields that the columns would give and the resource does not have
    :param writes: those of ``add``, ``change`` and ``delete`` that are offered; ``writable=False`` stands for none
    :param configuration: the rows are configuration, which processes cache
    :param recorded: changes leave a row in the change log
    :param allow_basic_auth: name and password are accepted in place of a token
    :param exempt_by_name_only: ``*`` in the setting ``netinv.exempt_view_permissions`` does not apply, as for accounts,
        credentials and logs; resources with confidential columns are always so
    :param example: values for documentation and tests where the type of a field suggests none; :data:`NEW_OBJECT` for
        a reference of which each sample needs an object of its own
    :param brief_fields: fields that only the nested form has
    :param assigned_fields: further fields of the nested form where an object is assigned to another by type and id
        (the shape ``assigned`` of :func:`generic_fk`)
    :param of: another resource of the same model, of which this one is a further list; it is read-only, and has the
        filters it names and no others
    :param only_fields: the only fields of a representation; by default all
    :param about: pairs of columns, a content type's label and an id: the row is hidden (notes, images, the change log)
        from users who may not view the object that they identify
    :param record_constants: members of the change log's ``object_data`` that have no columns
    :param presentation: arrangement of the fields on pages for people
    :param actions: actions of permissions besides those of views, which the service asks for elsewhere
    :param type_order: text before the label by which lists of content types sort the model: ``"~1 "`` is after all
        labels. Built-in models keep the order that clients of 1.x know
    """

    narrowing: Callable[[UnitOfWork, Any], Any] | None = None
    restriction: Callable[[UnitOfWork, str], bool] | None = None
    prepare_functions: tuple[Rule, ...] = ()
    rules: tuple[Rule, ...] = ()
    after_save_functions: tuple[Rule, ...] = ()
    counters_of_created: tuple[CounterOfCreated, ...] = ()
    before_delete_functions: tuple[BeforeDelete, ...] = ()
    of: Resource | None
    orderings: Mapping[str, Sequence[str]]
    record_constants: Mapping[str, Any]
    example: Mapping[str, Any]
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
        name_attribute: str | None = None,
        brief: Sequence[str] = ("name",),
        order: Sequence[str] = ("name",),
        nested_order: Sequence[str] = (),
        orderings: Mapping[str, Sequence[str]] | None = None,
        search: Sequence[str] = (),
        natural: str | Sequence[str] | None = None,
        fields: Sequence[FieldFactory] = (),
        omit: Sequence[str] = (),
        filters: Sequence[Filter] = (),
        versions: Sequence[VersionChange] = (),
        writable: bool = True,
        writes: Collection[str] = WRITES,
        configuration: bool = False,
        recorded: bool = True,
        allow_basic_auth: bool = False,
        exempt_by_name_only: bool = False,
        example: Mapping[str, Any] | None = None,
        brief_fields: Sequence[FieldFactory] = (),
        assigned_fields: Sequence[FieldFactory] = (),
        of: Resource | None = None,
        only_fields: Sequence[str] = (),
        about: Sequence[tuple[str, str]] = (),
        record_constants: Mapping[str, Any] | None = None,
        presentation: Presentation | None = None,
        actions: Sequence[str] = (),
        type_order: str = "",
    ) -> None:
        self.presentation, self.actions, self.type_order = presentation or Presentation(), tuple(actions), type_order
        self.model, self.name, self.label, self.title, self.plural = model, name, label, title, plural
        self.display = (identity, display) if isinstance(display, str) else display
        self.name_attribute, (self.natural, self.natural_within) = name_attribute, _natural_key(natural)
        self.brief, self.search, self.orderings = tuple(brief), tuple(search), _read_only(orderings)
        self.order, self.nested_order = tuple(order), tuple(nested_order or order)
        self.brief_fields, self.assigned_fields = tuple(brief_fields), tuple(assigned_fields)
        self.field_factories, self.omit, self.configuration = tuple(fields), frozenset(omit), configuration
        self.filters, self.versions = tuple(filters), tuple(versions)
        self.of, self.only_fields, self.about = of, tuple(only_fields), tuple(about)
        self.record_constants, self.example = _read_only(record_constants), _read_only(example)
        self.writes = frozenset(writes if writable and of is None else ())
        self.allow_basic_auth, self.exempt_by_name_only, self.recorded = allow_basic_auth, exempt_by_name_only, recorded

    @property
    def display_path(self) -> str | None:
        """The path of the display name; ``None`` when a function computes it from several."""
        function, *paths = self.display
        return str(paths[0]) if function is identity else None

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

    @overload
    def rule(self, function: Rule, *, changing: Sequence[str] = ()) -> Rule: ...

    @overload
    def rule(self, *, reads: Sequence[Reading] = (), changing: Sequence[str] = ()) -> Callable[[Rule], Rule]: ...

    def rule(
        self, function: Rule | None = None, *, reads: Sequence[Reading] = (), changing: Sequence[str] = ()
    ) -> Rule | Callable[[Rule], Rule]:
        """Registers a rule over a whole batch: it calls ``draft.reject(field, message)`` for what is wrong.

        Rules run in the order they are registered; a draft that one has rejected is not shown to the next.

        :param reads: columns of other objects that the rule reads: a change of them runs it for the objects that refer
            (:mod:`netinv_core.write.referring_rules`)
        :param changing: own columns that the rule is about: it is called with the drafts that change one of them; by
            default with all drafts
        """

        def register(rule: Rule) -> Rule:
            declared = ReadingRule(rule, tuple(reads), tuple(changing)) if reads or changing else rule
            self.rules = (*self.rules, declared)
            return rule

        return register if function is None else register(function)

    def after_save(self, function: Rule, *, counts: CounterOfCreated | None = None) -> Rule:
        """Registers a function for further changes of a write.

        It is called with the batch of drafts after they are written.

        :param counts: for a function that creates many objects along with new ones: returns how many of each resource
            it would create for drafts (:mod:`netinv_core.write.created_along`)
        """
        self.after_save_functions = (*self.after_save_functions, function)
        if counts is not None:
            self.counters_of_created = (*self.counters_of_created, counts)
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

        def register(function: Any) -> Any:
            self.filters = (*self.filters, custom(name, function, **options))
            return function

        return register

    def __repr__(self) -> str:
        return f"<Resource {self.model.__name__} at {self.name}>"
