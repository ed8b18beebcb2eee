"""Construction of fields from the columns of models."""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import TYPE_CHECKING, Any

from netinv_core.fields import schema
from netinv_core.fields.encrypted import EncryptedText
from netinv_core.fields.images import Image
from netinv_core.fields.openapi_types import JSON_TYPES
from netinv_core.fields.references import Reference, Status
from netinv_core.fields.values import Choice, Value
from netinv_core.models.columns import ColumnInfo

if TYPE_CHECKING:
    from netinv_core.fields.base import Field
    from netinv_core.registry import Registry


OPTION_KINDS: dict[type, str] = {
    str: "string",
    int: "integer",
    bool: "boolean",
    float: "float",
    decimal.Decimal: "decimal",
    uuid.UUID: "string",
    datetime.date: "date",
    datetime.datetime: "datetime",
}
_FORMATS = {"email": "email", "url": "uri"}
_SHOWN_KINDS = {"choice": "choice", "slug": "slug", "email": "email", "url": "url", "json": "field", "opaque": "field"}


def from_column(registry: Registry, attribute: str, column: Any, info: ColumnInfo) -> Field | None:
    """Builds the field of a column; ``None`` for a hidden one."""
    if info.hidden:
        return None
    common: dict[str, Any] = {
        "label": info.label,
        "help": info.help,
        "read_only": info.read_only,
        "write_only": info.write_only,
        "confidential": info.confidential,
        "required": _is_required(column, info),
        "nullable": bool(column.nullable),
        "attribute": attribute,
    }
    if info.foreign_key is not None:
        kind = Status if info.kind == "status" else Reference
        common |= {"link": info.foreign_key, "plain": info.plain, "nested_fields": info.nested_fields}
        return kind(name=attribute.removesuffix("_id"), registry=registry, **common)
    if info.kind == "image":
        return Image(name=attribute, folder=info.folder, size=info.size, registry=registry, **common)
    try:
        python_type = column.type.python_type
    except NotImplementedError:
        python_type = object
    length = info.max_length or (getattr(column.type, "length", None) if python_type is str else None)
    digits = (column.type.precision, column.type.scale) if python_type is decimal.Decimal else None
    common |= {
        "name": attribute,
        "kind": _SHOWN_KINDS.get(info.kind) or OPTION_KINDS.get(python_type, "field"),
        "python_type": python_type,
        "info": info,
        "node": schema.node(attribute, python_type, info, length=length, digits=digits),
        "length": length,
        "openapi": _openapi(python_type, info, length),
    }
    if info.choices is not None:
        return Choice(choices=info.choices, plain=info.plain, **common)
    if info.kind == "secret":
        return EncryptedText(registry=registry, **common)
    return Value(**common)


def _is_required(column: Any, info: ColumnInfo) -> bool:
    if info.required is not None:
        return info.required
    return not (column.nullable or column.default is not None or info.blank or info.read_only)


def _openapi(python_type: type, info: ColumnInfo, length: int | None) -> dict[str, Any]:
    """The OpenAPI schema of a value."""
    openapi = dict(JSON_TYPES.get(python_type, {})) if info.kind != "json" else {}
    if length:
        openapi["maxLength"] = length
    if info.kind in _FORMATS and not info.blank:
        openapi["format"] = _FORMATS[info.kind]
    if python_type is int and (info.maximum or 0) > 2**31 - 1:
        openapi["format"] = "int64"
    return openapi | {k: v for k, v in {"minimum": info.minimum, "maximum": info.maximum}.items() if v is not None}
