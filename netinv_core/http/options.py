"""OPTIONS: what may be done with a resource, and with which fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.auth import permissions
from netinv_core.errors import Denied
from netinv_core.fields import Status
from netinv_core.http import versions
from netinv_core.write import references

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

_ACTIONS = {"POST": "add", "PUT": "change"}


def resource(uow: UnitOfWork, endpoint: Endpoint, methods: Sequence[str]) -> dict[str, Any]:
    """The answer to OPTIONS; ``actions`` holds the methods that are permitted, each with its fields."""
    found: dict[str, Any] = {
        "name": title_case(endpoint.title),
        "description": "",
        "renders": [versions.JSON, versions.HTML],
        "parses": [versions.JSON],
    }
    permitted = [method for method in methods if _ACTIONS[method] in endpoint.resource.writes and _may(uow, endpoint, _ACTIONS[method])]
    if permitted:
        fields = describe(uow, endpoint)
        found["actions"] = dict.fromkeys(permitted, fields)
    return found


def describe(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Any]:
    """Every field of the resource, as this version has them."""
    absent = versions.absent(endpoint, uow.version)
    found = {name: field.options() for name, field in endpoint.fields.items() if name not in absent}
    for name in found:
        field = endpoint.fields[name]
        if isinstance(field, Status):
            found[name]["choices"] = [{"value": slug, "display": shown} for slug, shown in references.statuses_for(uow, field, endpoint)]
    return found


def _may(uow: UnitOfWork, endpoint: Endpoint, action: str) -> bool:
    try:
        permissions.check(uow, endpoint, action)
    except Denied:
        return False
    return True


def title_case(words: str) -> str:
    """``rack group`` → ``Rack Group``; abbreviations stay."""
    return " ".join(word if word[:1].isupper() else word[:1].upper() + word[1:] for word in words.split())
