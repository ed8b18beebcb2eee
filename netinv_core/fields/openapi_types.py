"""The OpenAPI schemas of Python's types."""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import Any

JSON_TYPES: dict[type, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": "number", "format": "double"},
    decimal.Decimal: {"type": "string", "format": "decimal"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.datetime: {"type": "string", "format": "date-time"},
}
