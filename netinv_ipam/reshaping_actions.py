"""Split, merge and move of a prefix: what each takes, and the actions ``split``, ``merge`` and ``move`` of the API.

Their pages (:mod:`netinv_ipam.web.reshape_pages`) take the same values and make the same plans.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import Denied, Invalid, NotFound, error_text
from netinv_core.fields import schema
from netinv_core.http import allocating
from netinv_core.http.actions import documented
from netinv_core.http.views import downgrade_representation
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_ipam import merging, moving, splitting
from netinv_ipam.prefix_locks import locked
from netinv_ipam.reshaping import Item, ReshapingPlan

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

VRF = "ipam.vrf"
Lengths = Callable[[Item], Sequence[int]]


@dataclasses.dataclass(frozen=True)
class Reshaping:
    """A change of the structure: the permission on prefixes that it takes, the member of its body, and its plan.

    ``read`` turns the member into the value that ``plan`` takes, or raises :class:`Invalid`. ``member`` is its OpenAPI
    schema.
    """

    name: str
    permission: str
    parameter: str
    member: Mapping[str, Any]
    read: Callable[[UnitOfWork, Item, Any], Any]
    plan: Callable[[UnitOfWork, Endpoint, Item, Any], ReshapingPlan]


def _reader(lengths: Lengths) -> Callable[[UnitOfWork, Item, Any], int]:
    """The function that reads a prefix length, one of ``lengths``."""

    def read(uow: UnitOfWork, item: Item, value: Any) -> int:
        allowed = sorted(lengths(item))
        if isinstance(value, int) and not isinstance(value, bool) and value in allowed:
            return value
        choices = f"Choose a length from {allowed[0]} to {allowed[-1]}." if allowed else "No length is possible."
        raise Invalid.field("length", choices)

    return read


def _read_vrf(uow: UnitOfWork, item: Item, value: Any) -> Any:
    """The id of a VRF that the user may view, another one than that of the prefix; ``None`` is the global table."""
    if isinstance(value, Mapping) and value.keys() == {"id"}:
        value = value["id"]
    endpoint, key = uow.registry[VRF], None
    if value is not None:
        key = endpoint.parse_key(value) if isinstance(value, str) else None
        if key is None or key not in permissions.visible_ids(uow, endpoint, [key]):
            raise Invalid.field("vrf", "Give the id of a VRF that you may view, or null for the global table.")
    if str(key or "") == str((item["vrf"] or {}).get("id") or ""):
        raise Invalid.field("vrf", "The prefix is there already.")
    return key


def _length(words: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": 128, "description": words}


_VRF_MEMBER = {
    "nullable": True,
    "description": "The id of the VRF; null for the global table.",
    "oneOf": [
        {"type": "string", "format": "uuid"},
        {"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}, "required": ["id"]},
    ],
}
SPLIT = Reshaping(
    "split",
    "add",
    "length",
    _length("Length of the new prefixes in bits, at most 8 more than that of the prefix."),
    _reader(splitting.lengths),
    splitting.plan,
)
MERGE = Reshaping(
    "merge",
    "delete",
    "length",
    _length("Length of the common prefix in bits, at most 8 less than that of the prefix."),
    _reader(merging.lengths),
    merging.plan,
)
MOVE = Reshaping("move", "change", "vrf", _VRF_MEMBER, _read_vrf, moving.plan)

_COUNT = {"type": "integer"}
_LINE = {
    "type": "object",
    "properties": {
        "prefix": {"type": "string"},
        "state": {"type": "string", "description": "What becomes of it."},
        "id": {"type": "string", "format": "uuid", "nullable": True, "description": "Null for a new prefix."},
        "prefixes": {**_COUNT, "description": "The number of prefixes within it."},
        "addresses": {**_COUNT, "description": "The number of addresses within it."},
    },
}
_ANSWER = {
    "type": "object",
    "properties": {
        "summary": {"type": "string"},
        "prefix": {"$ref": "#/components/schemas/Prefix"},
        "parts": {"type": "array", "items": _LINE},
        "notes": {"type": "array", "items": {"type": "string"}},
    },
}


def reshape(request: Request, reshaping: Reshaping) -> dict[str, Any]:
    """Carries out a change of the structure, and returns its plan and the prefix that it leads to.

    :raises Invalid: for a wrong value, or with the reasons why the plan is refused; both name the member
    :raises NotFound: when the user may not view such a prefix, or lacks the permission for it
    """
    uow, endpoint, key = request.uow, request.context.endpoint, request.context.key
    if key is None or not _lock(uow, endpoint, key, reshaping.permission):
        raise NotFound()
    items, is_single = allocating.requested(request)
    if not is_single:
        raise Invalid.whole("Give one object.")
    if reshaping.parameter not in items[0]:
        raise Invalid.field(reshaping.parameter, schema.REQUIRED)
    (item,) = plan_of(endpoint).represent(uow, [key])
    value = reshaping.read(uow, item, items[0][reshaping.parameter])
    plan = reshaping.plan(uow, endpoint, item, value)
    if plan.problems:
        raise Invalid.field(reshaping.parameter, *plan.problems)
    try:
        summary, lead = plan.apply(uow)
    except Invalid as error:  # of the prefixes and addresses that are written, which the body does not name
        raise Invalid.field(reshaping.parameter, error_text(error.body)) from error
    (prefix,) = downgrade_representation(uow, endpoint, plan_of(endpoint).represent(uow, [lead]))
    parts = [
        {
            "prefix": line.network,
            "state": line.state,
            "id": line.key,
            "prefixes": line.prefixes,
            "addresses": line.addresses,
        }
        for line in plan.lines
    ]
    return {"summary": summary, "prefix": prefix, "parts": parts, "notes": plan.notes}


def _lock(uow: UnitOfWork, endpoint: Endpoint, key: Any, action: str) -> bool:
    """Locks a prefix; false if the user may not view it, or not take an action on it."""
    try:
        found = locked(uow, endpoint, key) is not None
        is_free = not permissions.limits(uow, endpoint, action, endpoint.table)
    except Denied:  # the user may view no prefix at all
        return False
    return found and (is_free or key in listing.rows(uow, endpoint, [key], action))


def _view(reshaping: Reshaping) -> Callable[[Request], Any]:
    """The view of an action, with the schemas of its bodies."""
    body = {
        "type": "object",
        "properties": {reshaping.parameter: dict(reshaping.member)},
        "required": [reshaping.parameter],
    }
    return documented(_ANSWER, request_body=body, status=200)(functools.partial(reshape, reshaping=reshaping))


def includeme(config: Any) -> None:
    """Adds the three actions below prefixes."""
    for reshaping in (SPLIT, MERGE, MOVE):
        config.add_netinv_action(
            "ipam/prefixes", reshaping.name, post=_view(reshaping), permission=reshaping.permission
        )
