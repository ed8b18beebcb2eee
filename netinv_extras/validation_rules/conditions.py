"""Conditions of rules and hooks: filters of a list, and field lookups as in the constraints of permissions.

A name that the list takes is a filter, ``{"name__re": "^[a-z]{3}-"}``; another one is a lookup along references,
``{"site__region__slug": "emea", "asset_tag__isnull": false}``. All names must hold, and one of the values of a name.
An empty value stands for none, which lists ignore: ``{"cf_owner__n": ""}`` holds for objects that have an owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.sql import visitors

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import NON_FIELD, Invalid
from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.read import filters
from netinv_core.sql import lookups, relations
from netinv_extras import saved_filters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

NOT_AN_OBJECT = 'An object of filters is required, such as {"name__isw": "core"}.'
NO_EMPTY_VALUE = "Enter a value: this filter has none for objects without one."
NOT_A_RULE = "A condition cannot refer to rules."
VIOLATES = "violates"  # filter of the lists of content types that have rules
COLUMN = "custom_field_data"


def condition(uow: UnitOfWork, endpoint: Endpoint, given: Mapping[str, Any] | None) -> Any:
    """The condition on the table of the endpoint, through related objects that the user may view; true without filters.
    No statement.

    :raises Invalid: by name, for one that is unknown or has a bad value
    """
    if not isinstance(given or {}, Mapping):
        raise Invalid.field(NON_FIELD, NOT_AN_OBJECT)
    acting = uow.without_lookups()
    find = filters.filter_finder(acting, endpoint)
    saved: dict[str, list[Any]] = {}
    conditions, errors = [], {}
    for name, value in (given or {}).items():
        match = find(name)
        try:
            if name.partition("__")[0] == VIOLATES:
                raise ValueError(NOT_A_RULE)
            if match is None:
                conditions.append(_lookup(acting, endpoint, name, value))
            elif value in ("", [""]) and not match[0].blank:
                conditions.append(_has_none(endpoint, *match))
            else:
                saved[name] = value if isinstance(value, list) else [value]
        except (ValueError, TypeError) as error:
            errors[name] = [str(error)]
    try:
        found = saved_filters.condition(acting, endpoint, saved)
    except Invalid as error:
        raise Invalid(errors | error.body) from None
    if errors:
        raise Invalid(errors)
    return sa.and_(sa.true(), *([] if found is None else [found]), *conditions)


def _lookup(uow: UnitOfWork, endpoint: Endpoint, name: str, value: Any) -> Any:
    """The condition of a field lookup, as in the constraints of permissions.

    :raises ValueError: for an unknown name, or a bad value
    """
    if (fault := permissions.constraint_error(uow.as_system(), endpoint, {name: value})) is not None:
        raise ValueError(fault.removeprefix(f"{name}: "))
    visible = permissions.visible_for(uow)
    return relations.keyword_condition(endpoint, endpoint.table, name, value, visible)


def _has_none(endpoint: Endpoint, item: Filter, lookup: str) -> Any:
    """The condition that objects have no value of a filter, or with the lookup ``n`` that they have one."""
    column = endpoint.table.c.get(item.name)
    if column is None and item.name.startswith(CUSTOM_FIELD_PREFIX) and item.sort_by is not None:
        column = item.sort_by(endpoint.table)
    if column is None or lookup not in ("", "n"):
        raise ValueError(NO_EMPTY_VALUE)
    is_text = lookups.python_type(column) is str
    return lookups.negated_if(lookup == "n", sa.or_(column.is_(None), column == "") if is_text else column.is_(None))


def select_flags(endpoint: Endpoint, conditions: Sequence[Any]) -> Any:
    """SELECT of the ids of objects of the parameter ``keys``, each with a flag for each of the conditions."""
    flags = [sa.case((item, 1), else_=0).label(f"flag_{number}") for number, item in enumerate(conditions)]
    is_meant = in_parameter(endpoint.table.c.id)
    return sa.select(endpoint.table.c.id, *flags).where(is_meant)


def validation_errors(uow: UnitOfWork, given: Sequence[tuple[Endpoint, Mapping[str, Any]]]) -> list[Invalid | None]:
    """The error of each condition, or ``None``; values of filters that name no object are errors. The number of
    statements does not depend on the number of conditions.
    """
    errors: list[Invalid | None] = []
    for endpoint, filters_given in given:
        try:
            condition(uow, endpoint, filters_given)
            errors.append(None)
        except Invalid as error:
            errors.append(error)
    named = saved_filters.validation_errors(
        uow, [(endpoint, _list_filters(uow, endpoint, item)) for endpoint, item in given]
    )
    return [error or other for error, other in zip(errors, named, strict=True)]


def _list_filters(uow: UnitOfWork, endpoint: Endpoint, given: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The filters of the list among the names of a condition, with their values."""
    find = filters.filter_finder(uow, endpoint)
    values = {name: value if isinstance(value, list) else [value] for name, value in given.items() if find(name)}
    return {name: some for name, some in values.items() if some != [""]}


def terms(uow: UnitOfWork, endpoint: Endpoint, given: Mapping[str, Any] | None) -> int:
    """The values that a condition compares one by one; 0 for one that is not valid."""
    listed = {name: value if isinstance(value, list) else [value] for name, value in (given or {}).items()}
    return saved_filters.terms_of(uow, endpoint, listed) + len(listed)


def fields_read(uow: UnitOfWork, endpoint: Endpoint, given: Mapping[str, Any] | None) -> frozenset[str] | None:
    """The fields of the object that a valid condition reads; ``None`` when it may be any of them."""
    find = filters.filter_finder(uow.without_lookups(), endpoint)
    names: set[str] = set()
    for name, value in (given or {}).items():
        match = find(name)
        field = name.partition("__")[0] if match is None else _field_of(match[0])
        own = field in endpoint.fields or field in endpoint.table.c or f"{field}_id" in endpoint.table.c
        if own or field.startswith(CUSTOM_FIELD_PREFIX):
            names.add(field)
        elif (columns := _columns_read(endpoint, condition(uow, endpoint, {name: value}))) is not None:
            names |= columns
        else:
            return None
    return frozenset(names)


def _columns_read(endpoint: Endpoint, clause: Any) -> set[str] | None:
    """The columns that a condition compares, if it is about those of the object alone; ``None`` for another."""
    found = {item for item in visitors.iterate(clause) if isinstance(item, sa.Column)}
    own = {column.name for column in found if column.table is endpoint.table}
    subqueries = any(isinstance(item, sa.sql.Select) for item in visitors.iterate(clause))
    return own if own and len(own) == len(found) and not subqueries else None


def _field_of(item: Filter) -> str:
    steps = getattr(item.relation, "steps", ())
    return str(steps[0]) if steps else item.paths[0].partition(".")[0] if item.paths else item.name


def touches(draft: Draft, names: frozenset[str] | None) -> bool:
    """True for a draft that is new or changes one of the fields, after its rows are written."""
    if draft.new or draft.rechecked:
        return True
    changed = {name for name in draft.values if name != "last_updated"} | draft.many.keys() | draft.extra.keys()
    if names is None:
        return bool(changed)
    return any(_is_changed(draft, name, changed) for name in names)


def _is_changed(draft: Draft, name: str, changed: set[str]) -> bool:
    if not name.startswith(CUSTOM_FIELD_PREFIX):
        return not changed.isdisjoint((name, f"{name}_id", name.removesuffix("_id")))
    if COLUMN not in changed:
        return False
    before, after, slug = draft.before.get(COLUMN) or {}, draft[COLUMN] or {}, name.removeprefix(CUSTOM_FIELD_PREFIX)
    return slug not in {**before, **after} or before.get(slug) != after.get(slug)
