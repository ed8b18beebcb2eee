"""OPTIONS: the permitted methods of a resource, and its fields."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from netinv_core.auth import permissions
from netinv_core.errors import Denied
from netinv_core.fields import Status
from netinv_core.http import bulk_writes, versions
from netinv_core.labels import capitalize
from netinv_core.read.ordering import orderings_of
from netinv_core.write import references

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

_ACTIONS = {"POST": "add", "PUT": "change"}


def collection(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Any]:
    """The body of the answer for a list: also the names to order it by and those to match objects by."""

    def names(_: UnitOfWork) -> dict[str, Any]:
        return {"ordering": sorted(orderings_of(endpoint)), "match": bulk_writes.matching_names(endpoint)}

    return resource(uow, endpoint, ("POST", "PUT")) | uow.cached_config(("options of lists", endpoint.label), names)


def resource(uow: UnitOfWork, endpoint: Endpoint, methods: Sequence[str]) -> dict[str, Any]:
    """The body of the answer; ``actions`` has the permitted ones of ``methods``, each with the fields."""
    body: dict[str, Any] = {
        "name": title_case(endpoint.title),
        "description": "",
        "renders": [versions.JSON, versions.HTML],
        "parses": [versions.JSON],
    }
    writes = endpoint.resource.writes
    permitted = [name for name in methods if _ACTIONS[name] in writes and _is_permitted(uow, endpoint, _ACTIONS[name])]
    if permitted:
        body["actions"] = dict.fromkeys(permitted, described_fields(uow, endpoint))
    return body


def described_fields(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Any]:
    """The description of the fields of a resource; cached for the version of the configuration."""
    fields: dict[str, Any] = uow.cached_config(
        ("options", endpoint.label, uow.version), partial(_fields, endpoint=endpoint)
    )
    return fields


def _fields(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Any]:
    """The description of every field of the resource in the requested version that the reference API has."""
    absent = versions.absent(endpoint, uow.version)
    fields = {name: field.options() for name, field in endpoint.fields.items() if not (name in absent or field.own)}
    for name in fields:
        field = endpoint.fields[name]
        if isinstance(field, Status):
            statuses = references.statuses_for(uow, field, endpoint)
            fields[name]["choices"] = [{"value": slug, "display": display} for slug, display in statuses]
    return fields


def _is_permitted(uow: UnitOfWork, endpoint: Endpoint, action: str) -> bool:
    try:
        permissions.check(uow, endpoint, action)
    except Denied:
        return False
    return True


def title_case(text: str) -> str:
    """``rack group`` → ``Rack Group``; abbreviations stay."""
    return " ".join(word if word[:1].isupper() else capitalize(word) for word in text.split())
