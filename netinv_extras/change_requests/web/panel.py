"""Panels of a change request: what waits, its changes by object, the conversation, and the checks of its merge."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_core.labels import plural_of, title_of
from netinv_core.read.names import recorded_name
from netinv_extras.change_requests import lifecycle, pictures, proposals, requirements, review, waiting
from netinv_extras.change_requests.models import (
    APPROVED,
    CLOSED,
    COUNTED,
    DRAFT,
    LABEL,
    MERGED,
    OPEN_STATES,
    REJECTED,
    REVERTED,
    SUBMITTED,
    request_table,
)
from netinv_extras.change_requests.proposals import Proposal
from netinv_extras.change_requests.web.entered import entered_id
from netinv_extras.change_requests.web.field_comments import ReviewedChanges
from netinv_extras.changelog.web.differences import sentences_of
from netinv_web.extensions import CountedAttention, Panel
from netinv_web.markup import time_markup
from netinv_web.menu import may
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

FOLDER = "netinv_extras:change_requests/web/templates/"
PATH = "/extras/change-requests/{}/"
MAX_SHOWN = 500  # changes
MAX_OPEN = 20  # fields of an object that are shown at once
ACTIONS = {"create": "new", "update": "changed", "delete": "deleted"}
WORDS = {
    DRAFT: "A draft: its authors work on it.",
    SUBMITTED: "Submitted: it waits for review.",
    APPROVED: "Approved: it can be merged.",
    REJECTED: "Rejected: its authors change it, or submit it again.",
    MERGED: "Merged: its changes are made.",
    REVERTED: "Reverted: its changes were made, and taken back.",
    CLOSED: "Closed without a merge.",
}


def next_steps(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any]:
    """Panel of the state in words, with the buttons of the next steps of the user."""
    uow, key, state = request.uow, uuid.UUID(str(representation["id"])), representation["state"]["value"]
    row = lifecycle.row_of(uow, key, "view")
    count, needed = sum(row[name] for name in COUNTED.values()), review.needed_approvals(uow)
    may_change, is_open = may(uow, endpoint, "change"), state in OPEN_STATES
    rules = requirements.progress(uow, key, requirements.stored_rules(uow, key)) if is_open else []
    missing = needed > row["approvals"] or (needed > 0 and state != APPROVED) or any(item.missing for item in rules)
    reviewed = state in (SUBMITTED, APPROVED)
    return {
        "words": WORDS[state],
        "approvals": f"{row['approvals']} of {needed} approvals" if needed and is_open else "",
        "rules": rules,
        "description": row["description"],
        "may_submit": may_change and count > 0 and state in (DRAFT, REJECTED),
        "may_merge": may_change and count > 0 and is_open and state != REJECTED and not missing,
        "submit_first": needed > 0 or bool(rules) or state == REJECTED,
        "may_decide": reviewed and may(uow, endpoint, "approve") and not review.is_author(uow, row),
        "has_approved": bool(row["approvals"]) and review.has_approved(uow, key),
        "own": reviewed and may(uow, endpoint, "approve") and review.is_author(uow, row),
        "last_updated": row["last_updated"].isoformat(),
        "may_enter": is_open and entered_id(request) != key,
        "may_close": may_change and is_open,
        "may_schedule": may_change and count > 0 and is_open,
        "merge_at": time_markup(row["merge_at"]) if row["merge_at"] is not None else "",
        "is_stuck": row["merge_at"] is not None and waiting.cannot_merge(uow, key),
        "merger": (representation["merger"] or {}).get("display", ""),
        "may_revert": may_change and state == MERGED,
        "may_reopen": may_change and state in (CLOSED, REVERTED),
        "path": PATH.format(key),
        "log_path": f"/extras/changelog/?request_id={representation['request_id']}"
        if state in (MERGED, REVERTED)
        else "",
    }


def changes(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any]:
    """The proposed changes that the user may view, by model and object."""
    key = uuid.UUID(str(representation["id"]))
    reviewed = ReviewedChanges.of(request, key)
    seen = reviewed.seen[:MAX_SHOWN]
    by_model: dict[Endpoint, list[dict[str, Any]]] = {}
    for item in seen:
        by_model.setdefault(item.endpoint, []).append(_line(item, reviewed))
    groups = [(title_of(model) if len(lines) == 1 else plural_of(model), lines) for model, lines in by_model.items()]
    values = {"groups": groups, "hidden": len(reviewed.proposed) - len(seen), "most": MAX_OPEN}
    return {**values, "path": PATH.format(key), "most_text": review.MAX_TEXT}


def _line(item: Proposal, reviewed: ReviewedChanges) -> dict[str, Any]:
    """A proposal with its fields as sentences, and the comments on them; fields of a deleted object are left out."""
    endpoint, action = item.endpoint, item.action
    found = [] if item.after is None else sentences_of(endpoint.registry, endpoint.label, item.before, item.after)
    places = reviewed.at_fields(item, found)
    return {
        "place": reviewed.at_object(item, found),
        "fields": list(zip(found, places, strict=True)),
        "is_used": any(place.is_used for place in places),
        "name": recorded_name(endpoint, item.before, item.after, item.object_repr),
        "path": "" if item.before is None else object_path(endpoint, item.key),
        "action": ACTIONS[action],
        "is_new": item.before is None,
        "user_name": item.user_name,
        "time": time_markup(item.time),
    }


def drawings(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """Pictures of an open change request: as it is, and as it would be."""
    uow, key = request.uow, uuid.UUID(str(representation["id"]))
    if representation["state"]["value"] not in OPEN_STATES:
        return None
    if not uow.writing:
        uow.write_in_savepoints()
    reviewed = ReviewedChanges.of(request, key)
    pairs, possible = pictures.pairs_of(uow, key, reviewed.proposed, reviewed.seen)
    return {"kinds": pictures.by_kind(pairs), "possible": possible} if pairs else None


def conversation(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any]:
    """The steps of the review and the comments."""
    key = uuid.UUID(str(representation["id"]))
    return {"events": ReviewedChanges.of(request, key).events, "path": PATH.format(key), "most": review.MAX_TEXT}


def checks(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The conflicts with the inventory as it is now, with the buttons that decide them."""
    uow, key = request.uow, uuid.UUID(str(representation["id"]))
    if representation["state"]["value"] not in OPEN_STATES:
        return None
    if not uow.writing:
        uow.write_in_savepoints()
    proposed = proposals.load(uow, key)
    if not proposed:
        return None
    found = lifecycle.conflicts_of(uow, proposed)
    known = {(item.endpoint.label, str(item.key)): item for item in proposed}
    return {
        "conflicts": [_conflict(entry, known) for entry in found["objects"]],
        "hidden": found["count"] - len(found["objects"]),
        "may_change": may(uow, endpoint, "change"),
        "path": f"{PATH.format(key)}decide-conflict/",
    }


def _conflict(entry: Mapping[str, Any], known: Mapping[tuple[str, str], Proposal]) -> dict[str, Any]:
    """A conflict of an object: its name, and the reasons with the fields that can be decided."""
    label, key = str(entry["changed_object_type"]), str(entry["changed_object_id"])
    item = known.get((label, key))
    fields: Sequence[str] = () if item is None or item.action != "update" else proposals.changed_names(item)
    name = key if item is None else recorded_name(item.endpoint, item.before, item.after, item.object_repr)
    reasons = [
        {"field": reason["field"] if reason["field"] in fields else "", "message": reason["message"]}
        for reason in entry["reasons"]
    ]
    return {"type": label, "key": key, "name": name, "reasons": reasons, "is_known": item is not None}


@hookimpl
def netinv_web_attention(request: Request) -> list[CountedAttention]:
    """The entries of the home page about the change requests that wait for the user, and those not merged at their
    time.
    """
    to_review = CountedAttention(
        "{:,} change requests wait for your review",
        "/extras/change-requests/?to_review=true",
        one="1 change request waits for your review",
        label=LABEL,
        condition=waiting.to_review(request.uow, request_table),
    )
    not_merged = CountedAttention(
        "{:,} change requests cannot be merged at their time",
        "/extras/change-requests/?merge_failed=true",
        one="1 change request cannot be merged at its time",
        label=LABEL,
        condition=waiting.merge_failed(request_table),
    )
    return [to_review, not_merged]


PANELS = [
    Panel("next-steps", "What waits", next_steps, side="lead", template=f"{FOLDER}next_steps.jinja2", position=10),
    Panel(
        "proposed", "Proposed changes", changes, side="lead", template=f"{FOLDER}proposed_changes.jinja2", position=20
    ),
    Panel("pictures", "Pictures", drawings, side="lead", template=f"{FOLDER}pictures.jinja2", position=25, lazy=True),
    Panel("conversation", "Comments", conversation, side="lead", template=f"{FOLDER}conversation.jinja2", position=30),
    Panel("checks", "Checks", checks, side="lead", template=f"{FOLDER}checks.jinja2", position=40, lazy=True),
]


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The parts of the page of a change request."""
    return PANELS if endpoint.label == LABEL else []
