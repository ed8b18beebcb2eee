"""Arguments of GraphQL lists, split into query parameters of the resource and ``limit`` and ``offset``; the number of
their values in a query.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError

from netinv_core.errors import Invalid
from netinv_core.read.listing import Parameters
from netinv_core.sql.lookups import max_terms
from netinv_extras import saved_filters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

SLICE_ARGUMENTS = ("limit", "offset")
MAX_VALUES = 100_000  # 60,000 names take 0.6 s, and 90 fields with them took 19 s
TOO_MANY_VALUES = f"The filters of this query have more than {MAX_VALUES} values, those of each field counted."
TOO_MANY_TERMS = (
    "The filters of this query compare more than {most} values one by one (netinv.max_compared_values), those of each "
    "field counted. Whole values, without a lookup, may be more."
)


@dataclasses.dataclass(frozen=True)
class NestedSlice:
    """Slice of each list: at most ``limit`` objects (``None``: all), starting at ``offset``."""

    limit: int | None
    offset: int


WHOLE = NestedSlice(None, 0)


class FilterCounts:
    """Numbers of values in the filters of a query, those of each field counted: fields may share one variable."""

    def __init__(self, uow: UnitOfWork) -> None:
        self._uow = uow
        self._values = self._terms = 0

    def add_values(self, parameters: Parameters) -> None:
        """Counts the values of a field's filters, before they are read.

        :raises GraphQLError: above the limit
        """
        self._values += sum(len(values) for _, values in parameters)
        if self._values > MAX_VALUES:
            raise GraphQLError(TOO_MANY_VALUES)

    def add_terms(self, endpoint: Endpoint, parameters: Parameters) -> None:
        """Counts those values of a field's filters that are compared one by one. It follows the conditions of that
        field, which are an error of the field when it is above the limit by itself.

        :raises GraphQLError: above the limit
        """
        self._terms += saved_filters.terms_of(self._uow, endpoint, dict(parameters))
        if self._terms > (most := max_terms(self._uow.settings)):
            raise GraphQLError(TOO_MANY_TERMS.format(most=most))


ALIASES = {"_type": "type"}  # of version 1.6, which has no argument `type`


def slice_of(arguments: Mapping[str, Any]) -> NestedSlice:
    """Returns the slice that arguments ask for.

    :raises Invalid: for a negative number
    """
    for name in SLICE_ARGUMENTS:
        if arguments.get(name, 0) < 0:
            raise Invalid.field(name, "Ensure this value is greater than or equal to 0.")
    return NestedSlice(arguments.get("limit"), arguments.get("offset", 0))


def parameters_of(arguments: Mapping[str, Any]) -> Parameters:
    """Returns the arguments as query parameters: ``{"name": ["a"], "limit": 5}`` becomes ``[("name", ["a"])]``.

    :raises Invalid: for a parameter under both of its names
    """
    for alias, name in ALIASES.items():
        if alias in arguments and name in arguments:
            raise Invalid.field(alias, f"Give {alias} or {name}, not both.")
    parameters = [
        (ALIASES.get(name, name), _texts(value)) for name, value in arguments.items() if name not in SLICE_ARGUMENTS
    ]
    return [(name, texts) for name, texts in parameters if texts]


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [_text(item) for item in values if item is not None]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
