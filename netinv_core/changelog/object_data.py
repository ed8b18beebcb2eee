"""Object data: the flat form of an object in its change records (columns, references as ids)."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.fields import Field
from netinv_core.models.columns import column_info
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

_JSON_TYPES = frozenset((str, int, bool, type(None), dict, list))  # which are stored as they are
# Types of columns whose values are stored as they are.
_PLAIN_TYPES = frozenset((str, int, bool, float, uuid.UUID, datetime.date, dict, list))
Conversion = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class ObjectDataLayout:
    """Layout of the flat form of an endpoint's objects.

    ``columns`` are the columns and their names in it; ``conversions`` the functions of those whose values are not
    stored as they are, by name; ``extra`` the fields that are stored elsewhere.
    """

    columns: Sequence[tuple[str, str]]
    conversions: Sequence[tuple[str, Conversion]]
    extra: Sequence[tuple[str, Field]]


@cached_in_registry
def object_data_layout(endpoint: Endpoint) -> ObjectDataLayout:
    """Builds the layout: columns, references as ids, and fields that are stored elsewhere."""
    columns: list[tuple[str, str]] = []
    conversions: list[tuple[str, Conversion]] = []
    for attribute, sql_column in endpoint.table.c.items():
        what = column_info(sql_column)
        held = not what.hidden if what.in_object_data is None else what.in_object_data
        if (
            held
            and not what.write_only
            and (not what.confidential or what.masked is not None)
            and attribute != "id"
            and attribute not in endpoint.resource.omit
        ):
            name = attribute.removesuffix("_id") if what.foreign_key is not None else attribute
            columns.append((attribute, name))
            written = held if callable(held) else _function_of(endpoint.fields.get(attribute))
            if written is not None or not _is_plain(sql_column):
                conversions.append((name, _conversion(written)))
    taken = {name for _, name in columns}
    fields = [
        (name, field)
        for name, field in endpoint.fields.items()
        if name not in taken and not (field.read_only or field.opt_in)
    ]
    extra = [(name, field) for name, field in fields if (field.attribute or name) not in endpoint.table.c]
    return ObjectDataLayout(columns, conversions, extra)


def _function_of(field: Field | None) -> Conversion | None:
    """The function of a field for the flat form; ``None`` without one of its own."""
    return None if field is None or type(field).object_data is Field.object_data else field.object_data


def _is_plain(sql_column: Any) -> bool:
    try:
        return sql_column.type.python_type in _PLAIN_TYPES
    except NotImplementedError:
        return False


def _conversion(written: Conversion | None) -> Conversion:
    """The function from the value of a column to that of the flat form; ``written`` is applied first."""
    return _json_value if written is None else lambda value: _json_value(written(value))


def _json_value(value: Any) -> Any:
    """A decimal number or a time as text; any other value as it is."""
    if type(value) in _JSON_TYPES:
        return value
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, datetime.datetime):
        return f"{value.astimezone(datetime.UTC).isoformat(timespec='milliseconds')[:-6]}Z"  # without +00:00
    return value


def object_data(
    uow: UnitOfWork, endpoint: Endpoint, row: Mapping[str, Any], representation: dict[str, Any]
) -> dict[str, Any]:
    """Converts the row and the representation of an object to its flat form."""
    layout, value_of = object_data_layout(endpoint), row.get
    data: dict[str, Any] = {name: value_of(attribute) for attribute, name in layout.columns}
    for name, convert in layout.conversions:
        data[name] = convert(data[name])
    for name, field in layout.extra:
        if name in representation:
            data[name] = field.extra_object_data(uow, row, representation[name])
    constants = endpoint.resource.record_constants
    return {**constants, **data} if constants else data
