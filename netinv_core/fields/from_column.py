"""Construction of fields from the columns of models."""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import TYPE_CHECKING, Any

from netinv_core.fields.base import Field
from netinv_core.fields.encrypted import EncryptedText
from netinv_core.fields.images import Image
from netinv_core.fields.openapi_types import JSON_TYPES
from netinv_core.fields.references import Reference, Status
from netinv_core.fields.values import Choice, Value
from netinv_core.models.columns import ColumnInfo
from netinv_core.write import schema

if TYPE_CHECKING:
    from netinv_core.registry import Registry


_OPTION_KINDS: dict[type, str] = {
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


def from_column(registry: Registry, attribute: str, column: Any, known: ColumnInfo) -> Field | None:
    """Builds the field of a column; ``None`` for a hidden one."""
    if known.hidden:
        return None
    has_default = column.default is not None
    required = known.required if known.required is not None else not (column.nullable or has_default or known.blank or known.read_only)
    common: dict[str, Any] = {
        "label": known.label,
        "help": known.help,
        "read_only": known.read_only,
        "write_only": known.write_only,
        "confidential": known.confidential,
        "required": required,
        "nullable": bool(column.nullable),
        "attribute": attribute,
    }
    if known.foreign_key is not None:
        kind = Status if known.kind == "status" else Reference
        common |= {"link": known.foreign_key, "plain": known.plain, "nested_fields": known.nested_fields}
        return kind(name=attribute.removesuffix("_id"), registry=registry, **common)
    if known.kind == "image":
        return Image(name=attribute, folder=known.folder, size=known.size, registry=registry, **common)
    try:
        python_type = column.type.python_type
    except NotImplementedError:
        python_type = object
    length = known.max_length or (getattr(column.type, "length", None) if python_type is str else None)
    digits = (column.type.precision, column.type.scale) if python_type is decimal.Decimal else None
    openapi = dict(JSON_TYPES.get(python_type, {})) if known.kind != "json" else {}
    if length:
        openapi["maxLength"] = length
    if known.kind in _FORMATS and not known.blank:
        openapi["format"] = _FORMATS[known.kind]
    if python_type is int and (known.maximum or 0) > 2**31 - 1:
        openapi["format"] = "int64"
    openapi |= {k: v for k, v in {"minimum": known.minimum, "maximum": known.maximum}.items() if v is not None}
    common |= {
        "name": attribute,
        "kind": _SHOWN_KINDS.get(known.kind) or _OPTION_KINDS.get(python_type, "field"),
        "python_type": python_type,
        "known": known,
        "node": schema.node(attribute, python_type, known, length=length, digits=digits),
        "length": length,
        "openapi": openapi,
    }
    if known.choices is not None:
        return Choice(choices=known.choices, plain=known.plain, **common)
    if known.kind == "secret":
        return EncryptedText(registry=registry, **common)
    return Value(**common)
