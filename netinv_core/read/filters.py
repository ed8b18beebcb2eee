"""Query parameters: each resource's table of filters, most of them derived from its columns.

A filter takes the values given for one parameter and one lookup and gives a condition. Values of one parameter combine
with OR, parameters with AND. A parameter sees what its user may view and nothing else: neither names nor paths lead to other objects.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.models.columns import Choices
from netinv_core.read import lookups, relations
from netinv_core.read.lookups import LOOKUPS, SUFFIXES
from netinv_core.read.name_lookup import NameQuery, ids_of, invalid_choice

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Condition = Any
Apply = Callable[["UnitOfWork", "Endpoint", Any, str, "list[str]"], Condition]
UNKNOWN = "Unknown filter field"
NULL = "null"


@dataclasses.dataclass(frozen=True)
class Filter:
    """A query parameter: ``apply(context, endpoint, table, lookup, values)`` gives the condition.

    ``multiple`` says whether repeating it means OR; otherwise the last value counts. ``kind`` is its JSON type; ``blank``
    says that an empty value is one, where for others it means that nothing was asked for; ``bare`` that of several values the last
    counts where no lookup is named; ``lone`` that a kept filter may hold a single value in place of a list.
    """

    name: str
    apply: Apply
    lookups: tuple[str, ...] = ()
    multiple: bool = True
    kind: str = "string"
    help: str = ""
    blank: bool = False
    bare: bool = False
    lone: bool = False

    def takes_many(self, lookup: str) -> bool:
        """Whether all of several values count."""
        return self.multiple and (bool(lookup) or not self.bare)


def _tested(compare: lookups.Compare, dialect: str, value: Any, column: Any) -> Condition:
    return compare(dialect, column, value)


def _compare(uow: UnitOfWork, endpoint: Endpoint, table: Any, steps: Sequence[str], test: Callable[[Any], Condition]) -> Condition:
    """A condition on the column at the end of a path, as far as the user may view what lies between."""
    return relations.compare(endpoint, table, steps, test, permissions.visible_for(uow))


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
    """Compares the column at a dotted path, with the lookups named."""
    steps = (path or name).split(".")

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        named, negate = SUFFIXES[suffix]
        used = lookup if suffix == "" else named
        dialect = endpoint.registry.dialect
        cleaned = [parse(item) if parse and used == "exact" else item for item in values]
        if used == "exact" and len(steps) == 1 and len(cleaned) > 1 and steps[0] in table.c:
            column = table.c[steps[0]]
            found = column.in_([lookups.convert(column, item) for item in cleaned])
        else:
            tests = [functools.partial(_tested, LOOKUPS[used], dialect, item) for item in cleaned]
            found = lookups.any_of([_compare(uow, endpoint, table, steps, test) for test in tests])
        return lookups.negated(found) if negate else found

    return Filter(name, apply, tuple(lookup_names), multiple, kind, lone=kind == "string")


def number(name: str, path: str | None = None, **options: Any) -> Filter:
    """Compares a number."""
    return value(name, path, lookup_names=options.pop("lookup_names", lookups.NUMBER), kind="number", **options)


def date_time(name: str, path: str | None = None) -> Filter:
    """Compares a date or an instant, one value: the same, not, from and until."""
    return value(name, path, lookup_names=("n", "gte", "lte"), multiple=False)


def flag(name: str, path: str | None = None) -> Filter:
    """Compares a boolean column."""
    steps = (path or name).split(".")

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        wanted = lookups.convert_flag(values[-1])
        found = _compare(uow, endpoint, table, steps, lambda column: column == wanted)
        return lookups.negated(found) if suffix == "n" else found

    return Filter(name, apply, ("n",), False, "boolean")


def one_of(name: str, choices: Choices, path: str | None = None, *, multiple: bool = True) -> Filter:
    """Compares a choice; unknown values are refused."""
    steps = (path or name).split(".")
    by_text = {str(item): item for item, _ in choices.items}

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        for item in values:
            if item not in by_text:
                raise invalid_choice(name, item)
        found = _compare(uow, endpoint, table, steps, lambda column: column.in_([by_text[item] for item in values]))
        return lookups.negated(found) if suffix == "n" else found

    return Filter(name, apply, ("n",), multiple, blank=multiple)


def has(name: str, path: str) -> Filter:
    """Whether following a dotted path leads anywhere."""
    steps = path.split(".")

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        found = relations.exists(endpoint, table, steps, permissions.visible_for(uow))
        return found if lookups.convert_flag(values[-1]) is (suffix != "n") else lookups.negated(found)

    return Filter(name, apply, ("n",), False, "boolean")


def target_of(endpoint: Endpoint, steps: Sequence[str]) -> Endpoint | None:
    """The endpoint at the end of a path of relations."""
    found: Endpoint | None = endpoint
    for step in steps:
        found = relations.relation(found, step).target() if found is not None else None
    return found


def related(
    name: str,
    path: str | None = None,
    *,
    by: str | Sequence[str] | None = None,
    ids: bool = True,
    within: Callable[[UnitOfWork, Endpoint, Any], Any] | None = None,
    all_of: bool = False,
    multiple: bool = True,
    only: Callable[[Any], Condition] | None = None,
    public: bool = False,
) -> Filter:
    """Objects at the end of a dotted path, given by id or by the column ``by`` (their natural key when not given).

    ``by=()`` takes ids only, ``ids=False`` names only; ``null`` means none. ``all_of`` makes repetition mean AND; without ``multiple``
    the last value counts. ``only(table)`` holds for those of them that may be named; ``public`` ones by users who may not view them, too.
    """
    steps = (path or name).split(".")

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        target = target_of(endpoint, steps)
        if target is None:
            if set(values) != {NULL}:
                raise invalid_choice(name, values[0])
            return sa.false() if suffix == "n" else sa.true()
        natural = (target.natural_sort,) if target.natural_sort in target.table.c else ()
        names = natural if by is None else (by,) if isinstance(by, str) else tuple(by)
        wanted = [item for item in values if item != NULL]
        named = NameQuery(name, target, tuple(wanted), names, ids, multiple, only, public)
        conditions, visible = [], permissions.visible_for(uow)
        for found in ids_of(uow, named, apart=all_of and suffix != "n") if wanted else ():
            reached = within(uow, target, found) if within else found
            conditions.append(relations.leads_to_any(endpoint, table, steps, reached, visible))
        if NULL in values:
            conditions.append(relations.path_is_null(endpoint, table, steps, visible))
        condition = sa.and_(*conditions) if all_of and suffix != "n" else lookups.any_of(conditions)
        return lookups.negated(condition) if suffix == "n" else condition

    return Filter(name, apply, ("n",), multiple)


def descendants(uow: UnitOfWork, target: Endpoint, ids: Any) -> Any:
    """A select of the ids, a list or a select of them, and of everything below them in a tree."""
    table = target.table
    down = sa.select(table.c.id).where(table.c.id.in_(ids)).cte(recursive=True)
    child = table.alias()
    down = down.union(sa.select(child.c.id).where(child.c.parent_id == down.c.id))
    return sa.select(down.c.id)


def tree(name: str, path: str | None = None) -> Filter:
    """Objects of a tree, given by id or slug; what lies below them is included."""
    return related(name, path, within=descendants)


def tree_pair(name: str, path: str | None = None) -> list[Filter]:
    """The parameters ``name`` and ``name_id`` for an object of a tree."""
    return [tree(name, path or name), tree(f"{name}_id", path or name)]


def search(name: str, columns: Sequence[str]) -> Filter:
    """The words of ``q`` somewhere in the columns (dotted paths), without regard to case.

    A path may end in ``:lookup`` to compare otherwise, such as ``asn:exact`` (skipped when the text does not fit).
    """

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        text = values[-1].strip()
        if not text:
            return sa.true()
        conditions = []
        for path in columns:
            path, _, lookup = path.partition(":")
            compare = LOOKUPS[lookup or "icontains"]
            try:
                test = functools.partial(_tested, compare, endpoint.registry.dialect, text)
                conditions.append(_compare(uow, endpoint, table, path.split("."), test))
            except ValueError:
                continue
        return lookups.any_of(conditions)

    return Filter(name, apply, (), False)


def custom(
    name: str,
    function: Callable[..., Condition],
    *,
    multiple: bool = True,
    kind: str = "string",
    suffixes: Sequence[str] = (),
    help: str = "",
    negatable: bool = False,
) -> Filter:
    """A filter of its own making: ``function(context, table, values)``; with ``suffixes`` it also gets the lookup.

    A boolean, or what is ``negatable``, has the lookup ``n``: the objects for which the condition does not hold.
    """
    negatable = not suffixes and (negatable or kind == "boolean")

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        found = function(uow, table, values, suffix) if suffixes else function(uow, table, values)
        return lookups.negated(found) if negatable and suffix == "n" else found

    return Filter(name, apply, ("n",) if negatable else tuple(suffixes), multiple, kind, help)


def content_type(name: str, apply_labels: Callable[[Endpoint, Any, list[str]], Condition]) -> Filter:
    """Content types, given as ``app.model``."""

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        for item in values:
            if endpoint.registry.content_type(item) is None:
                raise invalid_choice(name, item)
        found = apply_labels(endpoint, table, values)
        return lookups.negated(found) if suffix == "n" else found

    return Filter(name, apply, ("n",))


def _named(table: Mapping[str, Filter], name: str) -> tuple[Filter, str] | None:
    """The filter and the lookup that a parameter names."""
    if name in table:
        return table[name], ""
    base, _, suffix = name.rpartition("__")
    found = table.get(base)
    return (found, suffix) if found is not None and suffix in found.lookups else None


def configured(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Filter]:
    """The parameters that depend on the configuration."""
    found: dict[str, Filter] = {}
    for some in uow.registry.hooks.netinv_dynamic_filters(uow=uow, endpoint=endpoint) if endpoint.resource.of is None else ():
        found.update(some)
    return found


def lookup_of(uow: UnitOfWork, endpoint: Endpoint) -> Callable[[str], tuple[Filter, str] | None]:
    """Finds the filter and the lookup that a parameter of an endpoint names; those that depend on the configuration are asked for once."""
    dependent: list[dict[str, Filter]] = []

    def find(name: str) -> tuple[Filter, str] | None:
        named = _named(endpoint.filters, name)
        if named is not None:
            return named
        if not dependent:
            dependent.append(configured(uow, endpoint))
        return _named(dependent[0], name)

    return find


def parse_parameters(uow: UnitOfWork, endpoint: Endpoint, table: Any, parameters: Sequence[tuple[str, list[str]]], *, strict: bool) -> list[Condition]:
    """The conditions that query parameters ask for.

    :raises Invalid: naming every unknown parameter, or the first with a bad value
    """
    known: list[tuple[str, Filter, str, list[str]]] = []
    unknown: dict[str, list[str]] = {}
    find = lookup_of(uow, endpoint)
    for name, values in parameters:
        named = find(name)
        if named is None:
            unknown[name] = [UNKNOWN]
            continue
        found, suffix = named
        given = [item for item in values if item != "" or found.blank]
        if given:
            known.append((name, found, suffix, given if found.takes_many(suffix) else given[-1:]))
    if unknown and strict:
        raise Invalid(unknown)
    conditions = []
    for name, found, suffix, given in known:
        if any("\x00" in item for item in given):
            raise Invalid.field(name, "Null characters are not allowed.")
        try:
            conditions.append(found.apply(uow, endpoint, table, suffix, given))
        except ValueError as error:
            raise Invalid.field(name, str(error)) from None
        except Invalid as error:
            raise Invalid({name: next(iter(error.body.values()))}) from None
    return conditions


def derived(endpoint: Endpoint) -> dict[str, Filter]:
    """The filters that the columns and relations of an endpoint give."""
    from netinv_core import fields

    found: dict[str, Filter] = {}

    def add(item: Filter) -> None:
        found[item.name] = item

    for name, field in endpoint.fields.items():
        if isinstance(field, fields.Status):
            add(related(name, by="slug", ids=False, public=True))
        elif isinstance(field, fields.Reference):
            add(related(name, name))
            add(related(f"{name}_id", name, by=()))
        elif isinstance(field, fields.Choice):
            add(one_of(name, field.choices, field.attribute))
        elif isinstance(field, fields.ContentTypeList):
            add(content_type(name, _labelled(field)))
        elif isinstance(field, fields.ToMany):
            add(related(name, name))
        elif isinstance(field, fields.Value) and not (field.write_only or field.confidential) and field.known.kind != "json":
            add(_for_type(name, field.attribute, field.python_type))
    for name in endpoint.reverse_relations:
        add(related(name, name))
        add(has(f"has_{name}", name))
    for name, step in endpoint.relations.items():
        if name not in endpoint.reverse_relations and step.column is None and step.values is None and name in endpoint.fields:
            add(has(f"has_{name}", name))
    if endpoint.resource.search:
        add(search("q", endpoint.resource.search))
    return found


def _labelled(field: Any) -> Callable[[Any, Any, list[str]], Condition]:
    """The objects that have every one of these content types: of a field with many values, repetition means AND."""
    table = field.table
    return lambda endpoint, here, labels: sa.and_(sa.true(), *[here.c.id.in_(sa.select(table.c.owner_id).where(table.c.label == label)) for label in labels])


def _for_type(name: str, attribute: str, python_type: type) -> Filter:
    import datetime
    import decimal

    if python_type is bool:
        return flag(name, attribute)
    if python_type in (int, float, decimal.Decimal):
        return number(name, attribute)
    if python_type in (datetime.date, datetime.datetime):
        return date_time(name, attribute)
    return value(name, attribute)
