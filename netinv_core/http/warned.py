"""The header ``API-Warnings`` of the answer to a write: warnings about the written objects, as JSON in ASCII.

``{"count": 2, "warnings": [{"object_type": …, "object_id": …, "field": …, "message": …}, …]}``; the list has as many
warnings as the header has room for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.records import ObjectWarning

HEADER = "API-Warnings"
MAX_LENGTH = 4096  # characters of the header; proxies refuse answers with long ones
View = Callable[[Any, Request], Response]


def warned_view(view: View, info: Any) -> View:
    """Deriver that adds the header to answers."""
    if info.exception_only or info.options.get("read_only", False):
        return view

    def wrapper(context: Any, request: Request) -> Response:
        response = view(context, request)
        if "uow" in vars(request) and request.uow.warnings:
            response.headers[HEADER] = header_of(request.uow.warnings)
        return response

    return wrapper


def header_of(warnings: Sequence[ObjectWarning]) -> str:
    """The value of the header."""
    listed: list[dict[str, str]] = []
    for warning in map(member_of, warnings):
        if len(_text(len(warnings), [*listed, warning])) > MAX_LENGTH:
            break
        listed.append(warning)
    return _text(len(warnings), listed)


def member_of(warning: ObjectWarning) -> dict[str, str]:
    """The JSON object of a warning."""
    return {
        "object_type": warning.label,
        "object_id": str(warning.key),
        "field": warning.field,
        "message": warning.message,
    }


def _text(count: int, listed: Sequence[dict[str, str]]) -> str:
    return json.dumps({"count": count, "warnings": listed})
