"""Descriptions of query parameters, as OpenAPI has them."""

from __future__ import annotations

from typing import Any

from netinv_core.read.pages import COUNT, COUNTS, CURSOR

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}


def query(name: str, schema: Schema, description: str) -> dict[str, Any]:
    """Returns a query parameter."""
    return {"name": name, "in": "query", "description": description, "schema": schema}


PAGING = (
    query(
        CURSOR, _TEXT, "The place in the list where the page begins, from `next` or `previous`; blank for its start."
    ),
    query(
        COUNT,
        {"type": "string", "enum": list(COUNTS)},
        "Whether `count` is exact (the default), an estimate, or null (the default with a cursor).",
    ),
)
