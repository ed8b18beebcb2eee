"""Tools that propose: what they write are change requests, which a person reviews and merges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netinv_mcp import vocabulary
from netinv_mcp.api_calls import ApiCaller, ToolRefusal
from netinv_mcp.offered import Offered, Schema
from netinv_mcp.tools import TEXT, agent_tool

LABEL = "extras.changerequest"
MAX_OBJECTS = 1000  # of a document; larger ones are for plans in files
ID: Schema = {"type": "string", "maxLength": 100, "description": "The id of a change request."}
OBJECT_ID: Schema = {"type": "string", "maxLength": 100, "description": "The id of a changed object."}
OBJECTS: Schema = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 100,
    "additionalProperties": {"type": "array", "items": {"type": "object"}, "maxItems": MAX_OBJECTS},
    "description": (
        "Lists of objects by model, as they should be; fields that are left out stay as they are. References are "
        "names, ids or attributes, and may name objects of the same document in any order: "
        '{"dcim.site": [{"name": "Lisbon", "slug": "lisbon", "status": "active"}], "dcim.rack": [{"site": "lisbon", '
        '"name": "R1", "status": "active"}], "ipam.ipaddress": [{"address": "192.0.2.1/24", "status": "active", '
        '"assigned_object_type": "dcim.interface", "assigned_object_id": {"device": {"name": "lis-r1"}, "name": '
        '"eth0"}}]}. An object that exists is found by its id or natural key; `"absent": true` deletes it.'
    ),
}
MATCH: Schema = {
    "type": "object",
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
    "description": "The fields that identify the objects of a model, where the natural key is not the right one.",
}
Arguments = Mapping[str, Any]


def _has_change_requests(offered: Offered) -> bool:
    return LABEL in offered.registry.endpoints


def _path(caller: ApiCaller, arguments: Arguments, below: str = "") -> str:
    return vocabulary.path_of(caller.registry[LABEL], arguments, below, "change_request")


@agent_tool(
    "Propose changes",
    "Proposes new, changed and deleted objects in a change request: a new one with a title, or an open one. Nothing "
    "changes in the inventory until a person has reviewed and merged it. A document that is refused proposes nothing. "
    "Read describe_model first; look at the result with `change_request` in the tools that read.",
    {
        "objects": OBJECTS,
        "match": MATCH,
        "change_request": ID,
        "title": {"type": "string", "maxLength": 200, "description": "What is to change, in a line."},
        "description": {"type": "string", "maxLength": 20000, "description": "Why, and what to look at."},
    },
    needed=["objects"],
    narrow="Read the change request with `get_object`, and its objects one by one.",
    offered=_has_change_requests,
    writes=True,
)
def propose_changes(caller: ApiCaller, arguments: Arguments) -> Any:
    """The change request with what it proposes now."""
    made = caller.post(f"{caller.registry[LABEL].path}propose/", arguments)
    return {
        "change_request": {name: made[name] for name in ("id", "title", "creates", "updates", "deletes")},
        "state": made["state"]["value"],
        "page": made["url"].replace("/api/", "/", 1),
        **_changes(caller, made["id"]),
    }


def _changes(caller: ApiCaller, key: str) -> dict[str, Any]:
    """The proposed changes, each in a line."""
    shown = caller.get(_path(caller, {"change_request": key}, "changes/"))["changes"]
    return {
        "changes": [{name: item[name] for name in ("action", "object_type", "object_id", "display")} for item in shown]
    }


@agent_tool(
    "Validate a change request",
    "Whether a change request could be merged now: its conflicts with the inventory, the approvals that it has and "
    "needs, and the merge as a dry run.",
    {"change_request": ID},
    needed=["change_request"],
    narrow="Read conflicts first: a change request with fewer objects has a shorter answer.",
    offered=_has_change_requests,
)
def validate_change_request(caller: ApiCaller, arguments: Arguments) -> Any:
    """The conflicts, the review and the merge as a dry run."""
    conflicts = caller.get(_path(caller, arguments, "conflicts/"))
    review = caller.get(_path(caller, arguments, "review/"))
    answer = {"conflicts": conflicts, "review": {name: review[name] for name in ("approvals", "needed")}}
    try:
        merged = caller.post(_path(caller, arguments, "merge/"), {}, [("dry_run", "true")])
    except ToolRefusal as refusal:
        return {**answer, "merge": refusal.body}
    return {**answer, "merge": {"count": merged["count"]}}


@agent_tool(
    "Comment on a change request",
    "Adds a comment to a change request, for the people who review it: on the whole, on a changed object, or on a "
    "field of it.",
    {
        "change_request": ID,
        "text": {**TEXT, "minLength": 1, "maxLength": 20000},
        "object_type": {**TEXT, "description": "Of the changed object, such as dcim.site; without one: the whole."},
        "object_id": OBJECT_ID,
        "field": {**TEXT, "description": "A field that the change request changes; without one: the object."},
    },
    needed=["change_request", "text"],
    narrow="The answer has every comment: read the change request on its page.",
    offered=_has_change_requests,
    writes=True,
)
def comment(caller: ApiCaller, arguments: Arguments) -> Any:
    """The comments, with the new one."""
    body = {name: arguments[name] for name in ("text", "object_type", "object_id", "field") if name in arguments}
    events = caller.post(_path(caller, arguments, "comment/"), body)["events"]
    return {"events": events[-10:]}


@agent_tool(
    "Submit a change request",
    "Submits a change request for review by people. Validate it first.",
    {"change_request": ID, "text": {**TEXT, "description": "What reviewers should know."}},
    needed=["change_request"],
    offered=_has_change_requests,
    writes=True,
)
def submit_change_request(caller: ApiCaller, arguments: Arguments) -> Any:
    """The state of the change request."""
    made = caller.post(_path(caller, arguments, "submit/"), {"text": arguments.get("text", "")})
    return {"id": made["id"], "title": made["title"], "state": made["state"]["value"]}
