"""Object data: the flat form of an object in its change records (columns, references as ids)."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.fields import Field
from netinv_core.models.columns import column_info

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

_JSON_TYPES = frozenset((str, int, bool, type(None), dict, list))  # which are stored as they are


@dataclasses.dataclass(frozen=True)
class ObjectDataLayout:
    """Layout of the flat form of an endpoint's objects.

    ``columns`` are column, name and conversion function; ``extra`` the fields that are stored elsewhere.
    """

    columns: Sequence[tuple[str, str, Callable[[Any], Any] | None]]
    extra: Sequence[tuple[str, Field]]


def object_data_layout(endpoint: Endpoint) -> ObjectDataLayout:
    """Builds the layout: columns, references as ids, and fields that are stored elsewhere."""
    columns: list[tuple[str, str, Callable[[Any], Any] | None]] = []
    for name, sql_column in endpoint.table.c.items():
        what = column_info(sql_column)
        held = not what.hidden if what.in_object_data is None else what.in_object_data
        if (
            held
            and not what.write_only
            and (not what.confidential or what.masked is not None)
            and name != "id"
            and name not in endpoint.resource.omit
        ):
            field = endpoint.fields.get(name)
            field_function = (
                field.object_data if field is not None and type(field).object_data is not Field.object_data else None
            )
            written = held if callable(held) else field_function
            columns.append((name, name.removesuffix("_id") if what.foreign_key is not None else name, written))
    taken = {name for _, name, _ in columns}
    fields = [
        (name, field)
        for name, field in endpoint.fields.items()
        if name not in taken and not (field.read_only or field.opt_in)
    ]
    return ObjectDataLayout(
        columns, [(name, field) for name, field in fields if (field.attribute or name) not in endpoint.table.c]
    )


def _json_value(value: Any) -> Any:
    """A decimal number or a time as text; any other value as it is."""
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value


def object_data(
    uow: UnitOfWork, endpoint: Endpoint, row: dict[str, Any], representation: dict[str, Any]
) -> dict[str, Any]:
    """Converts the row and the representation of an object to its flat form."""
    data: dict[str, Any] = dict(endpoint.resource.record_constants)
    for attribute, name, written in endpoint.object_data_layout.columns:
        value = row.get(attribute)
        if written is not None:
            value = written(value)
        data[name] = value if type(value) in _JSON_TYPES else _json_value(value)
    for name, field in endpoint.object_data_layout.extra:
        if name in representation:
            data[name] = field.extra_object_data(uow, row, representation[name])
    return data
