"""Filters of lists: query parameters turned into SQL conditions.

A filter takes the values of one parameter and one lookup and returns a condition. Values of one parameter combine
with OR, parameters with AND. Names and paths in a parameter reach only objects that the user may view.
:mod:`netinv_core.read.derived_filters` builds the filters that follow from a resource's columns.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.declaration_checks import check_call
from netinv_core.models.columns import Choices
from netinv_core.read import indexed_texts
from netinv_core.read.name_lookup import NameQuery, ids_of, invalid_choice
from netinv_core.sql import lookups, relations
from netinv_core.sql.lookups import SUFFIXES
from netinv_core.wrong_results import wrong_result

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Condition = Any
Apply = Callable[["UnitOfWork", "Endpoint", Any, str, "list[str]"], Condition]
UNKNOWN = "Unknown filter field"
NOT_ONE = "Enter a single value."
NULL = "null"
SEARCH_WEIGHT = 10  # values of a lookup that take the time of one text in one column of a search


@dataclasses.dataclass(frozen=True)
class Filter:
    """A query parameter; ``apply(uow, endpoint, table, lookup, values)`` returns the condition on ``table``.

    ``lookups`` are the suffixes that the parameter has. Several values combine with OR, except where two are an error
    (:meth:`is_single`). With ``multiple``, saved filters and arguments of GraphQL have a list of values, otherwise one
    value, as in version 1.6; ``kind`` is the JSON type of a value.
    """

    name: str
    apply: Apply
    lookups: tuple[str, ...] = ()
    multiple: bool = True
    kind: str = "string"
    help: str = ""
    blank: bool = False  # an empty value is a value; otherwise it is ignored
    single_without_lookup: bool = False  # several values are an error where no lookup is named, as of a Boolean
    accepts_single: bool = False  # a saved filter may hold a single value in place of a list
    # ``sort_by(table)`` returns the SQL expression that ``ordering`` of this name uses.
    sort_by: Callable[[Any], Any] | None = None
    relation: RelatedFilter | None = None  # the path to the objects that values name
    choices: Choices | None = None  # the values that it takes
    searched: tuple[str, ...] = ()  # the paths of columns in which it searches for a text (:func:`search`)
    paths: tuple[str, ...] = ()  # the paths that it compares, of filters that are made of paths
    listed: tuple[str, ...] = ()  # the lookups whose values are compared as one list (IN); others have a term for each

    def terms(self, lookup: str, values: Sequence[Any]) -> int:
        """The number of values that are compared one by one, in each of the columns of a search."""
        weight = max(len(self.searched) * SEARCH_WEIGHT, 1)
        return 0 if lookup in self.listed else lookups.terms(lookup, values) * weight

    def counted_terms(self, lookup: str, values: Sequence[Any]) -> int:
        """The number of those values that counts toward ``netinv.max_compared_values``: one value alone does not, as
        there are no more of these than filters.
        """
        terms = self.terms(lookup, values)
        return terms if len(values) > 1 or terms > max(len(self.searched) * SEARCH_WEIGHT, 1) else 0

    def is_single(self, lookup: str) -> bool:
        """True when two different values are an error with this lookup."""
        return self.kind == "boolean" or (self.single_without_lookup and not lookup)


def compare(
    uow: UnitOfWork, endpoint: Endpoint, table: Any, steps: Sequence[str], test: Callable[[Any], Condition]
) -> Condition:
    """Returns a condition on the column at the end of a path, through rows that the user may view."""
    condition = relations.compare(endpoint, table, steps, test, permissions.visible_for(uow))
    if endpoint.model.text_indexed_with is None:
        return condition
    return indexed_texts.by_index(endpoint, table, steps, condition)


def value(
    name: str,
    path: str | None = None,
    *,
    lookup_names: Sequence[str] = lookups.TEXT,
    multiple: bool = True,
    lookup: str = "exact",
    kind: str = "string",
    parse: Callable[[str], Any] | None = None,
) -> Filter:
    """Filter that compares the column at a dotted path; ``lookup`` is the lookup of the parameter without a suffix.

    ``parse`` converts values for an exact comparison.
    """
    steps = (path or name).split(".")

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        suffix_lookup, negate = SUFFIXES[suffix]
        used, driver = lookup if suffix == "" else suffix_lookup, endpoint.registry.driver
        cleaned = [parse(item) if parse and used == "exact" else item for item in values]
        test = functools.partial(lookups.meets, used, driver, cleaned)
        if len(cleaned) > 1 and used == "exact":
            test = functools.partial(lookups.is_one_of, cleaned)
        return lookups.negated_if(negate, compare(uow, endpoint, table, steps, test))

    is_text, suffixes = kind == "string", tuple(lookup_names)
    listed = tuple(suffix for suffix in ("", *suffixes) if (lookup if not suffix else SUFFIXES[suffix][0]) == "exact")
    return Filter(name, apply, suffixes, multiple, kind, accepts_single=is_text, paths=(path or name,), listed=listed)


def number(name: str, path: str | None = None, **options: Any) -> Filter:
    """Filter that compares a number; ``options`` are those of :func:`value`."""
    return value(name, path, lookup_names=options.pop("lookup_names", lookups.NUMBER), kind="number", **options)


def date_time(name: str, path: str | None = None) -> Filter:
    """Filter that compares a date or a time with one value: equal, not equal, from (``gte``) and until (``lte``)."""
    return value(name, path, lookup_names=("n", "gte", "lte"), multiple=False)


def flag(name: str, path: str | None = None) -> Filter:
    """Filter that compares a boolean column."""
    steps = (path or name).split(".")

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        expected = lookups.convert_flag(values[-1])
        condition = compare(uow, endpoint, table, steps, lambda column: column == expected)
        return lookups.negated_if(suffix == "n", condition)

    return Filter(name, apply, ("n",), False, "boolean", paths=(path or name,))


def one_of(name: str, choices: Choices, path: str | None = None, *, multiple: bool = True) -> Filter:
    """Filter that compares a column with choices; a value that is not one of them is an error."""
    steps = (path or name).split(".")
    by_text = {str(item): item for item, _ in choices.items}

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        for item in values:
            if item not in by_text:
                raise invalid_choice(name, item)
        expected = [by_text[item] for item in values]
        condition = compare(uow, endpoint, table, steps, lambda column: column.in_(expected))
        return lookups.negated_if(suffix == "n", condition)

    paths, n = (path or name,), ("n",)
    return Filter(name, apply, n, multiple, blank=multiple, choices=choices, paths=paths, listed=("", *n))


def has(name: str, path: str) -> Filter:
    """Boolean filter: a dotted path leads to at least one object that the user may view."""
    steps = path.split(".")

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        condition = relations.exists(endpoint, table, steps, permissions.visible_for(uow))
        return lookups.negated_if(lookups.convert_flag(values[-1]) is (suffix == "n"), condition)

    return Filter(name, apply, ("n",), False, "boolean", paths=(path,))


def target_of(endpoint: Endpoint, steps: Sequence[str]) -> Endpoint | None:
    """The endpoint at the end of a path of relations; ``None`` when a package on the way is not installed."""
    target: Endpoint | None = endpoint
    for step in steps:
        target = relations.relation(target, step).target() if target is not None else None
    return target


@dataclasses.dataclass(frozen=True)
class RelatedFilter:
    """Conditions of the filter that :func:`related` returns; the fields are its parameters."""

    name: str
    steps: tuple[str, ...]
    by: tuple[str, ...] | None
    ids: bool
    tree: bool
    all_of: bool
    multiple: bool
    allowed: Callable[[Any], Condition] | None
    public: bool

    def apply(self, uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        """The condition on ``table``."""
        negate = suffix == "n"
        target = target_of(endpoint, self.steps)
        if target is None:
            return self._without_target(values, negate)
        all_of = self.all_of and not negate
        conditions = self._named_objects(uow, endpoint, table, target, values, each=all_of)
        if NULL in values:
            visible = permissions.visible_for(uow)
            conditions.append(relations.path_is_null(endpoint, table, self.steps, visible))
        return lookups.negated_if(negate, sa.and_(*conditions) if all_of else lookups.any_of(conditions))

    def _without_target(self, values: Sequence[str], negate: bool) -> Condition:
        """The condition when the target's package is not installed: every reference is null."""
        if set(values) != {NULL}:
            raise invalid_choice(self.name, values[0])
        return sa.false() if negate else sa.true()

    def _named_objects(
        self, uow: UnitOfWork, endpoint: Endpoint, table: Any, target: Endpoint, values: Sequence[str], *, each: bool
    ) -> list[Condition]:
        """The conditions that the path leads to a named object: one for ``each`` value, or one for all together."""
        query = self.name_query(endpoint, values)
        if query is None:
            return []
        named, visible = ids_of(uow, query, each=each), permissions.visible_for(uow)
        return [relations.leads_to_any(endpoint, table, self.steps, ids, visible) for ids in named]

    def name_query(self, endpoint: Endpoint, values: Sequence[str]) -> NameQuery | None:
        """The lookup of the objects that values name; ``None`` when they name none."""
        target, names = target_of(endpoint, self.steps), tuple(item for item in values if item != NULL)
        if target is None or not names:
            return None
        columns = self.name_columns(target)
        return NameQuery(
            self.name, target, names, columns, self.ids, self.multiple, self.allowed, self.public, self.tree
        )

    def name_columns(self, target: Endpoint) -> tuple[str, ...]:
        """The columns by which an object can be named."""
        if self.by is not None:
            return self.by
        return (target.natural_sort,) if target.natural_sort in target.table.c else ()


def related(
    name: str,
    path: str | None = None,
    *,
    by: str | Sequence[str] | None = None,
    ids: bool = True,
    tree: bool = False,
    all_of: bool = False,
    multiple: bool = True,
    allowed: Callable[[Any], Condition] | None = None,
    public: bool = False,
) -> Filter:
    """Filter by the objects at the end of a dotted path, named by id or by the column ``by``.

    The value ``null`` matches rows whose path leads to no object.

    :param by: the columns of names, by default the natural key; ``()`` takes ids only
    :param ids: ``False`` takes names only
    :param tree: the descendants of a named object match too
    :param all_of: several values combine with AND
    :param multiple: ``False``: the last value counts
    :param allowed: condition on the target's table that a row may be named
    :param public: users who may not view the objects may name them too
    """
    columns = (by,) if isinstance(by, str) else None if by is None else tuple(by)
    steps = tuple((path or name).split("."))
    condition = RelatedFilter(name, steps, columns, ids, tree, all_of, multiple, allowed, public)
    return Filter(name, condition.apply, ("n",), multiple, relation=condition, listed=("n",) if all_of else ("", "n"))


def tree(name: str, path: str | None = None) -> Filter:
    """Filter by nodes of a tree, named by id or slug; matches their descendants too."""
    return related(name, path, tree=True)


def tree_pair(name: str, path: str | None = None) -> list[Filter]:
    """Returns the filters ``name`` and ``name_id`` by nodes of a tree."""
    return [tree(name, path or name), tree(f"{name}_id", path or name)]


def custom(
    name: str,
    function: Callable[..., Condition],
    *,
    multiple: bool = True,
    kind: str = "string",
    suffixes: Sequence[str] = (),
    help: str = "",
    negatable: bool = False,
    sort_by: Callable[[Any], Any] | None = None,
    listed: bool = False,
) -> Filter:
    """Filter by a function: ``function(uow, table, values)`` returns the condition.

    With ``suffixes`` it has these lookups, which the function gets as its last argument; a boolean or ``negatable`` one
    has ``n``, which negates the condition. ``sort_by`` orders lists by it. A ``listed`` one compares a list of values.
    Unless it is ``listed`` or ``multiple``, the function is called for each value.

    :raises DeclarationError: for a function that takes other parameters
    """
    check_call(f"the function of the filter {name}", function, 4 if suffixes else 3)
    negatable = not suffixes and (negatable or kind == "boolean")

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        conditions: list[Any] = []
        uow.note_sql_of(function)
        for together in [values] if multiple or listed else [[item] for item in values]:
            condition = function(uow, table, together, suffix) if suffixes else function(uow, table, together)
            if not isinstance(condition, sa.ClauseElement | bool):
                raise wrong_result(function, condition, "a condition")
            conditions.append(condition)
        if suffixes and SUFFIXES.get(suffix, ("", False))[1]:  # the function negates
            return sa.and_(*conditions) if len(conditions) > 1 else conditions[0]
        return lookups.negated_if(negatable and suffix == "n", lookups.any_of(conditions))

    names = ("n",) if negatable else tuple(suffixes)
    return Filter(name, apply, names, multiple, kind, help, sort_by=sort_by, listed=("", *names) if listed else ())


def content_type(name: str, apply_labels: Callable[[Endpoint, Any, list[str]], Condition]) -> Filter:
    """Filter by content types (``app.model``); ``apply_labels(endpoint, table, labels)`` returns the condition."""

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        for item in values:
            if endpoint.registry.content_type(item) is None:
                raise invalid_choice(name, item)
        return lookups.negated_if(suffix == "n", apply_labels(endpoint, table, values))

    return Filter(name, apply, ("n",))


def find_filter(table: Mapping[str, Filter], parameter: str) -> tuple[Filter, str] | None:
    """Returns the filter and the lookup suffix of a parameter name such as ``name__ic``."""
    if parameter in table:
        return table[parameter], ""
    name, _, suffix = parameter.rpartition("__")
    item = table.get(name)
    return (item, suffix) if item is not None and suffix in item.lookups else None


def dynamic_filters(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Filter]:
    """Returns the filters of the hook ``netinv_dynamic_filters``: they depend on the configuration (custom fields)."""
    if endpoint.resource.of is not None:
        return {}
    tables = uow.registry.parts("netinv_dynamic_filters", _table_of_filters, uow=uow, endpoint=endpoint)
    return {name: item for table in tables for name, item in table.items()}


def _table_of_filters(result: Any) -> dict[str, Filter]:
    """The filters that a hook returns, by name.

    :raises TypeError: when it returns anything else
    """
    table = dict(result)
    for name, item in table.items():
        if not (isinstance(name, str) and isinstance(item, Filter)):
            raise TypeError(
                f"netinv_dynamic_filters returns {name!r}: {item!r} instead of the name of a filter and a Filter"
            )
    return table


def filter_finder(uow: UnitOfWork, endpoint: Endpoint) -> Callable[[str], tuple[Filter, str] | None]:
    """Returns a function from parameter name to filter and suffix; it loads dynamic filters once, when needed."""
    dynamic: list[dict[str, Filter]] = []

    def find(parameter: str) -> tuple[Filter, str] | None:
        static = find_filter(endpoint.filters, parameter)
        if static is not None:
            return static
        if not dynamic:
            dynamic.append(dynamic_filters(uow, endpoint))
        return find_filter(dynamic[0], parameter)

    return find
