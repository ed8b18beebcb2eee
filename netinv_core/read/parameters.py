"""Query parameters of lists, as conditions. Objects that several parameters name are looked up in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Invalid
from netinv_core.read.filters import NOT_ONE, UNKNOWN, filter_finder
from netinv_core.read.name_lookup import NameQuery, look_up_together
from netinv_core.sql.lookups import max_terms

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.records import Parameters
    from netinv_core.uow import UnitOfWork

TOO_MANY = (
    "A filter may compare at most {most} values one by one (netinv.max_compared_values), all of its parameters "
    "together. Whole values, without a lookup, may be more."
)
Accepted = tuple[str, "Filter", str, list[str]]  # parameter, its filter, the lookup's suffix, values


def _accept(uow: UnitOfWork, endpoint: Endpoint, parameters: Parameters) -> tuple[list[Accepted], dict[str, list[str]]]:
    """The parameters that have a filter and values, and the errors of unknown ones."""
    accepted: list[Accepted] = []
    unknown: dict[str, list[str]] = {}
    find = filter_finder(uow, endpoint)
    for name, values in parameters:
        match = find(name)
        if match is None:
            unknown[name] = [UNKNOWN]
            continue
        item, suffix = match
        used = [value for value in values if value != "" or item.blank]
        if used:
            accepted.append((name, item, suffix, used))
    return accepted, unknown


def look_up_names(uow: UnitOfWork, endpoint: Endpoint, parameters: Parameters) -> None:
    """Looks up the objects that several parameters name in one statement, for :func:`parse_parameters` to find them."""
    _look_up_names(uow, endpoint, _accept(uow, endpoint, parameters)[0])


def _look_up_names(uow: UnitOfWork, endpoint: Endpoint, accepted: Sequence[Accepted]) -> None:
    naming = [(item.relation, values) for _, item, _, values in accepted if item.relation is not None]
    if len(naming) < 2 or uow.deferred_lookups is not None:
        return
    queries = [
        relation.name_query(endpoint, values)
        for relation, values in naming
        if not any("\x00" in value for value in values)
    ]
    look_up_together(uow, [query for query in queries if isinstance(query, NameQuery)])


def parse_parameters(
    uow: UnitOfWork, endpoint: Endpoint, table: Any, parameters: Parameters, *, strict: bool
) -> list[Any]:
    """Returns the conditions of query parameters; unless ``strict``, unknown parameters are ignored.

    :raises Invalid: naming every unknown parameter, or the first one with a bad value or too many
    """
    accepted, unknown = _accept(uow, endpoint, parameters)
    if unknown and strict:
        raise Invalid(unknown)
    if len(accepted) > 1:
        _look_up_names(uow, endpoint, accepted)
    conditions, terms, most = [], 0, max_terms(uow.settings)
    for name, item, suffix, values in accepted:
        terms += item.counted_terms(suffix, values)
        if terms > most:
            raise Invalid.field(name, TOO_MANY.format(most=most))
        if any("\x00" in value for value in values):
            raise Invalid.field(name, "Null characters are not allowed.")
        if item.is_single(suffix) and len(values) > 1 and (item.kind != "boolean" or len(set(values)) > 1):
            raise Invalid.field(name, NOT_ONE)
        try:
            conditions.append(item.apply(uow, endpoint, table, suffix, values))
        except ValueError as error:
            raise Invalid.field(name, str(error)) from None
        except Invalid as error:
            raise Invalid({name: next(iter(error.body.values()))}) from None
    return conditions
