"""Custom fields in the constraints of permissions: which lookups and values fit the type of a field."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core import dates
from netinv_extras.custom_fields.models import definitions_of
from netinv_extras.custom_fields.values import BOOLEAN, DATE, INTEGER, JSON, MULTI_SELECT, ValueDefinition

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

COMPARED = ("exact", "in", "gt", "gte", "lt", "lte")


def members(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Callable[..., None]]:
    """Returns the check of each custom field of an endpoint, by slug."""
    fields = definitions_of(uow, endpoint.label)
    return {slug: functools.partial(_check, field) for slug, field in fields.items()}


def _check(field: ValueDefinition, within: Sequence[str], lookup: str, value: Any) -> None:
    """Rejects a lookup and a value that no value of the field fits.

    :raises ValueError: with the reason
    """
    if field.type == JSON:
        return
    if within:
        raise ValueError(f"'{within[0]}' is no lookup, and values of this custom field have no members.")
    if lookup not in COMPARED:
        return
    for item in value if lookup == "in" else [value]:
        if item is not None:
            _check_value(field.type, item)


def _check_value(kind: str, value: Any) -> None:
    if kind == INTEGER:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError("Enter a whole number.")
    elif kind == BOOLEAN:
        if not isinstance(value, bool):
            raise ValueError("Enter true or false.")
    elif kind == MULTI_SELECT:
        if not isinstance(value, str | list):
            raise ValueError("Enter a text, or a list of texts.")
    elif not isinstance(value, str) and not hasattr(value, "hex"):
        raise ValueError("Enter a text.")
    elif kind == DATE:
        _check_date(value)


def _check_date(value: Any) -> None:
    try:
        dates.parse_date(str(value))
    except ValueError:
        raise ValueError("Enter a valid date.") from None
