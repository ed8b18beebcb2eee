"""Saved filters: query parameters stored as a JSON object, validated when written, turned into a condition when used.

Building the condition executes no statement (:mod:`netinv_core.read.name_lookup`), however many filters are combined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.errors import Invalid
from netinv_core.read import filters, name_lookup
from netinv_core.read.name_lookup import NameQuery
from netinv_core.read.parameters import parse_parameters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.uow import UnitOfWork

NOT_A_LIST = "Enter a list of values."
NOT_A_VALUE = "Enter a valid value."


def condition(uow: UnitOfWork, endpoint: Endpoint, saved: Mapping[str, Any]) -> Any:
    """Returns the condition on the endpoint's table; ``None`` for a filter without values.

    :raises Invalid: by parameter, for one that is unknown or has a bad value
    """
    return _parse(uow, endpoint, saved)[0]


def terms_of(uow: UnitOfWork, endpoint: Endpoint, saved: Mapping[str, Any]) -> int:
    """The values that a filter compares one by one; 0 for a filter that is not valid, and so is never evaluated."""
    find = filters.filter_finder(uow.without_lookups(), endpoint)
    terms = 0
    for name, value in saved.items():
        match = find(name)
        if match is not None:
            terms += match[0].counted_terms(match[1], value if isinstance(value, list) else [value])
    return terms


def validation_errors(uow: UnitOfWork, saved: Sequence[tuple[Endpoint, Mapping[str, Any]]]) -> list[Invalid | None]:
    """Returns the error of each filter or ``None``; values that name no object are errors.

    The number of statements does not depend on the number of filters.
    """
    errors: list[Invalid | None] = []
    queries: list[tuple[int, NameQuery]] = []
    for number, (endpoint, parameters) in enumerate(saved):
        try:
            queries += [(number, query) for query in _parse(uow, endpoint, parameters)[1]]
            errors.append(None)
        except Invalid as error:
            errors.append(error)
    lookup_errors = name_lookup.validation_errors(uow, [query for _, query in queries])
    for (number, _), lookup_error in zip(queries, lookup_errors, strict=True):
        errors[number] = errors[number] or lookup_error
    return errors


def _parse(uow: UnitOfWork, endpoint: Endpoint, saved: Mapping[str, Any]) -> tuple[Any, list[NameQuery]]:
    """Returns the condition, or ``None``, and the lookups that it defers."""
    deferring = uow.without_lookups()
    find = filters.filter_finder(deferring, endpoint)
    parameters, errors = [], {}
    for name, value in saved.items():
        match = find(name)
        try:
            if match is None:
                raise ValueError(filters.UNKNOWN)
            parameters.append((name, _texts(*match, value)))
        except ValueError as error:
            errors[name] = [str(error)]
    if errors:
        raise Invalid(errors)
    conditions = parse_parameters(deferring, endpoint, endpoint.table, parameters, strict=True)
    queries = [query for query in deferring.deferred_lookups or () if isinstance(query, NameQuery)]
    return (sa.and_(*conditions) if conditions else None), queries


def _texts(parameter: Filter, lookup: str, value: Any) -> list[str]:
    """Returns the values of a parameter as a query string has them.

    :raises ValueError: for a list where one value counts, a single value where a list is needed, or a bad type
    """
    if value is None:
        return []
    is_single = parameter.is_single(lookup)
    needs_list = parameter.multiple and not is_single
    if needs_list and not (isinstance(value, list) or (parameter.accepts_single and isinstance(value, str))):
        raise ValueError(NOT_A_LIST)
    values = value if isinstance(value, list) else [value]
    if len(values) > 1 and is_single:
        raise ValueError(filters.NOT_ONE)
    return list(map(value_text, values))


def value_text(value: Any) -> str:
    """Returns a value of a saved filter as a query string has it.

    :raises ValueError: for a value that is no text, number or Boolean
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueError(NOT_A_VALUE)
