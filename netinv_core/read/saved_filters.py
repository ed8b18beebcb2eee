"""Filters that are kept: query parameters as a JSON object, checked when it is written, made a condition whenever it is used.

Making the condition asks the database nothing (:mod:`netinv_core.read.name_lookup`), however many filters are put together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.errors import Invalid
from netinv_core.read import filters, name_lookup
from netinv_core.read.name_lookup import NameQuery

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

NOT_A_LIST = "Enter a list of values."
NOT_ONE = "Enter a single value."
NOT_A_VALUE = "Enter a valid value."


def condition(uow: UnitOfWork, endpoint: Endpoint, given: Mapping[str, Any]) -> Any:
    """What objects of an endpoint must meet, as a condition on its table; ``None`` when that is nothing.

    :raises Invalid: by parameter, for one that is unknown or has a bad value
    """
    return _read(uow, endpoint, given)[0]


def validation_errors(uow: UnitOfWork, several: Sequence[tuple[Endpoint, Mapping[str, Any]]]) -> list[Invalid | None]:
    """What is wrong with each of these filters, values that name nothing included; the statements do not grow with their number."""
    found: list[Invalid | None] = []
    named: list[tuple[int, NameQuery]] = []
    for place, (endpoint, given) in enumerate(several):
        try:
            named += [(place, item) for item in _read(uow, endpoint, given)[1]]
            found.append(None)
        except Invalid as error:
            found.append(error)
    for (place, _), fault in zip(named, name_lookup.validation_errors(uow, [item for _, item in named]), strict=True):
        found[place] = found[place] or fault
    return found


def _read(uow: UnitOfWork, endpoint: Endpoint, given: Mapping[str, Any]) -> tuple[Any, list[NameQuery]]:
    within = uow.without_lookups()
    find = filters.lookup_of(within, endpoint)
    parameters, wrong = [], {}
    for name, value in given.items():
        found = find(name)
        try:
            if found is None:
                raise ValueError(filters.UNKNOWN)
            parameters.append((name, _texts(*found, value)))
        except ValueError as error:
            wrong[name] = [str(error)]
    if wrong:
        raise Invalid(wrong)
    conditions = filters.parse_parameters(within, endpoint, endpoint.table, parameters, strict=True)
    return (sa.and_(*conditions) if conditions else None), within.deferred_lookups or []


def _texts(parameter: filters.Filter, lookup: str, value: Any) -> list[str]:
    """The values of a parameter as a query has them.

    :raises ValueError: for a list where one value counts, one value where several do, or what is no value
    """
    if value is None:
        return []
    many = parameter.takes_many(lookup)
    if many and not (isinstance(value, list) or (parameter.lone and isinstance(value, str))):
        raise ValueError(NOT_A_LIST)
    values = value if isinstance(value, list) else [value]
    if len(values) > 1 and not many:
        raise ValueError(NOT_ONE)
    return list(map(_text, values))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueError(NOT_A_VALUE)
