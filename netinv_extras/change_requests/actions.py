"""The routes below a change request: its changes, conflicts and their resolution, merge, close and reopen."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.changelog.differences import differences
from netinv_core.changelog.models import ACTIONS, CREATE
from netinv_core.db.engine import as_stored
from netinv_core.errors import Invalid, not_an_object
from netinv_core.http import views
from netinv_core.http.actions import documented
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import body_of
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_extras.change_requests import comments, lifecycle, proposals, requirements, review
from netinv_extras.change_requests.models import LABEL, check_open
from netinv_extras.change_requests.proposals import UNKNOWN_FIELD, UNKNOWN_OBJECT, Proposal
from netinv_extras.change_requests.replay import RequestConflicts
from netinv_undo.refusals import RevertRefused

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

OURS, THEIRS = "ours", "theirs"
NOT_TAKEN = f"Must be {OURS} or {THEIRS}."
NOT_KEPT = "The object does not exist any more: take theirs, which leaves the change out."
MALFORMED = "Must be a list of objects with object_type, object_id, field and take."
_TEXT: dict[str, Any] = {"type": "string"}
_UUID: dict[str, Any] = {"type": "string", "format": "uuid"}
_ANY = {"nullable": True, "description": "The value as represented; null where there is none."}
_DIFFERENCE = {
    "type": "object",
    "properties": {
        "field": _TEXT,
        "label": _TEXT,
        "before": _ANY,
        "after": _ANY,
        "before_text": _TEXT,
        "after_text": _TEXT,
    },
}
_CHANGE = {
    "type": "object",
    "properties": {
        "id": _UUID,
        "action": {"type": "string", "enum": [value for value, _ in ACTIONS.items]},
        "object_type": _TEXT,
        "object_id": _UUID,
        "display": _TEXT,
        "user_name": _TEXT,
        "time": {"type": "string", "format": "date-time"},
        "changes": {"type": "array", "items": _DIFFERENCE},
    },
}
_CHANGES = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "description": "The number of all changes, listed or not."},
        "changes": {"type": "array", "items": _CHANGE, "description": "Those of objects that you may view."},
    },
    "required": ["count", "changes"],
}
_CONFLICTS = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "objects": (RevertRefused.body_schema or {})["properties"]["objects"],
    },
    "required": ["count", "objects"],
}
_RULE = {
    "type": "object",
    "properties": {
        "id": _UUID,
        "name": _TEXT,
        "needed": {"type": "integer"},
        "missing": {"type": "integer", "description": "Without so many more approvals nothing is merged."},
        "groups": {"type": "array", "items": _TEXT, "description": "Whose members approve; anyone without."},
        "approved_by": {"type": "array", "items": _TEXT},
    },
}
_REVIEW = {
    "type": "object",
    "properties": {
        "approvals": {"type": "integer"},
        "needed": {"type": "integer", "description": "Without so many approvals nothing is merged."},
        "rules": {"type": "array", "items": _RULE, "description": "The review rules that the changes meet."},
        "events": {"type": "array", "items": comments.EVENT},
    },
    "required": ["approvals", "needed", "rules", "events"],
}
_WORDS: dict[str, Any] = {"text": {"type": "string", "maxLength": review.MAX_TEXT}}
_SAID = {"type": "object", "properties": _WORDS}
_DECISION = {
    "type": "object",
    "properties": {
        **_WORDS,
        "last_updated": {
            "type": "string",
            "format": "date-time",
            "description": "That of the change request as it was looked at: 409 if it was changed since.",
        },
    },
}
_SCHEDULE = {
    "type": "object",
    "properties": {"at": {"type": "string", "format": "date-time", "nullable": True}},
    "required": ["at"],
}
_CHOICES = {
    "type": "object",
    "properties": {
        "choices": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "object_type": _TEXT,
                    "object_id": _UUID,
                    "field": {"type": "string", "nullable": True, "description": "Null for the whole object."},
                    "take": {"type": "string", "enum": [OURS, THEIRS]},
                },
                "required": ["object_type", "object_id", "take"],
            },
        }
    },
    "required": ["choices"],
}


@documented(_CHANGES, status=200)
def get_changes(request: Request) -> dict[str, Any]:
    """The proposed changes, field by field, of the objects that the user may view."""
    uow, key = request.uow, views.key_of(request)
    lifecycle.row_of(uow, key, "view")
    proposed = proposals.load(uow, key)
    return {"count": len(proposed), "changes": [_entry(item) for item in lifecycle.visible_proposals(uow, proposed)]}


def _entry(item: Proposal) -> dict[str, Any]:
    found = differences(item.endpoint.registry, item.endpoint.label, item.before, item.after)
    return {
        "id": item.id,
        "action": item.action,
        "object_type": item.endpoint.label,
        "object_id": item.key,
        "display": item.object_repr,
        "user_name": item.user_name,
        "time": item.time,
        "changes": [dataclasses.asdict(difference) for difference in found],
    }


@documented(_CONFLICTS, status=200)
def get_conflicts(request: Request) -> dict[str, Any]:
    """The reasons why the changes cannot be made now, by object and field; none for a change request that can be
    merged.
    """
    uow, key = request.uow, views.key_of(request)
    check_open(lifecycle.row_of(uow, key, "view"))
    uow.write_in_savepoints()
    return lifecycle.conflicts_of(uow, proposals.load(uow, key))


@documented(_CONFLICTS, status=200, request_body=_CHOICES)
def rebase(request: Request) -> dict[str, Any]:
    """Decides conflicts: ``ours`` keeps the proposed value over the one that the inventory has by now, ``theirs``
    leaves the proposal of the field, or of the object, out. Answers with the conflicts that are left.
    """
    uow, key = request.uow, views.key_of(request)
    row = lifecycle.row_of(uow, key, "change")
    check_open(row)
    choices = _body(request).get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise Invalid.field("choices", MALFORMED)
    return lifecycle.conflicts_of(uow, decide(uow, row, choices))


def decide(uow: RequestUnitOfWork, row: Mapping[str, Any], choices: Sequence[Mapping[str, Any]]) -> Sequence[Proposal]:
    """Carries choices out; returns the proposals that are left, with those that the user may not view.

    :raises Invalid: with the errors of each choice
    """
    proposed = proposals.load(uow, row["id"])
    offered = lifecycle.offered_proposals(uow, proposed)
    left = {item.identity: item for item in _Decisions(uow, offered, choices).decided()}
    dropped = {item.identity for item in offered} - left.keys()
    decided = [left.get(item.identity, item) for item in proposed if item.identity not in dropped]
    proposals.replace(uow, row, proposed, decided)
    return decided


class _Decisions:
    """The proposals after the decisions of a rebase.

    :param offered: those about which the user may decide; the others are unknown, like objects without a proposal
    """

    def __init__(self, uow: UnitOfWork, offered: Sequence[Proposal], choices: Sequence[Mapping[str, Any]]) -> None:
        self._known = {(item.endpoint.label, str(item.key)): item for item in offered}
        self._choices = choices
        keys: dict[Endpoint, list[uuid.UUID]] = {}
        for choice in choices:
            item = self._known.get(_parse_choice(choice))
            if item is not None:
                keys.setdefault(item.endpoint, []).append(item.key)
        self._current: dict[tuple[str, str], dict[str, Any]] = {}
        for endpoint, group in keys.items():
            rows = listing.rows(uow, endpoint, group, "view")
            fetched = plan_of(endpoint).fetch(uow, list(rows))
            self._current |= {(endpoint.label, str(key)): as_stored(value) for key, value in fetched}

    def decided(self) -> list[Proposal]:
        """The proposals that are left.

        :raises Invalid: with the errors of each choice
        """
        errors = [self._decide(choice) for choice in self._choices]
        if any(errors):
            raise Invalid({"choices": errors})
        return list(self._known.values())

    def _decide(self, choice: Mapping[str, Any]) -> dict[str, list[str]]:
        """Carries one choice out; returns its errors."""
        name, take, field = _parse_choice(choice), choice.get("take"), choice.get("field")
        item, current = self._known.get(name), self._current.get(name)
        if item is None:
            return {"object_id": [UNKNOWN_OBJECT]}
        if take not in (OURS, THEIRS):
            return {"take": [NOT_TAKEN]}
        if not field:
            if take == THEIRS:
                del self._known[name]
            elif item.action == CREATE or current is None:
                return {"take": [NOT_KEPT]}
            else:
                self._known[name] = item.with_states(current, item.after)
            return {}
        if item.action == CREATE or field not in proposals.changed_names(item):
            return {"field": [UNKNOWN_FIELD]}
        if current is None:
            return {"take": [NOT_KEPT]}
        before, after = _with_member(item.before, field, current), item.after
        if take == THEIRS and after is not None:
            after = _with_member(after, field, current)
        self._known[name] = item.with_states(before, after)
        return {}


def _parse_choice(choice: Mapping[str, Any]) -> tuple[str, str]:
    return str(choice.get("object_type")), str(choice.get("object_id"))


def _with_member(representation: Mapping[str, Any] | None, name: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """A representation with a member (``name``, or ``field.member``) as another one has it."""
    copy = dict(representation or {})
    outer, _, member = name.partition(".")
    if not member:
        copy[outer] = source.get(outer)
    else:
        copy[outer] = {**(copy.get(outer) or {}), member: (source.get(outer) or {}).get(member)}
    return copy


@documented(_REVIEW, status=200)
def get_review(request: Request) -> dict[str, Any]:
    """The steps of the review and the comments, and the approvals of the changes as they are."""
    uow, key = request.uow, views.key_of(request)
    return _review(uow, lifecycle.row_of(uow, key, "view"))


def _review(uow: RequestUnitOfWork, row: Mapping[str, Any]) -> dict[str, Any]:
    events = comments.events(uow, row["id"])
    rules = [item.shown for item in requirements.progress(uow, row["id"], requirements.stored_rules(uow, row["id"]))]
    return {"approvals": row["approvals"], "needed": review.needed_approvals(uow), "rules": rules, "events": events}


@documented(_REVIEW, status=200, request_body=comments.BODY)
def comment(request: Request) -> dict[str, Any]:
    """Adds a comment, on the whole, an object or a field. Who may view a change request may comment on it, in every
    state.
    """
    uow, key = request.uow, views.key_of(request)
    comments.comment(uow, key, _body(request))
    return _review(uow, lifecycle.row_of(uow, key, "view"))


@documented(LABEL, status=200, request_body=_SAID)
def submit(request: Request) -> dict[str, Any]:
    """Submits a change request for review."""
    return _after(request, lambda uow, key: lifecycle.submit(uow, key, _body(request)))


@documented(LABEL, status=200, request_body=_DECISION)
def approve(request: Request) -> dict[str, Any]:
    """Approves a submitted change request. Its authors cannot, nor who may not view every object that it changes."""
    return _after(request, lambda uow, key: lifecycle.approve(uow, key, _body(request)))


@documented(LABEL, status=200, request_body=_DECISION)
def reject(request: Request) -> dict[str, Any]:
    """Rejects a submitted change request, until it is changed or submitted again."""
    return _after(request, lambda uow, key: lifecycle.reject(uow, key, _body(request)))


def _body(request: Request) -> Mapping[str, Any]:
    """The body, which may be left out.

    :raises Invalid: for anything but an object
    """
    body = body_of(request) if request.body else {}
    if not isinstance(body, Mapping):
        raise Invalid(not_an_object(body))
    return body


@documented(LABEL, status=200, errors=(RequestConflicts,))
def merge(request: Request) -> dict[str, Any]:
    """Makes the proposed changes in one transaction, as the user and under one request id."""
    return _after(request, lifecycle.merge)


@documented(LABEL, status=200, request_body=_SCHEDULE)
def schedule(request: Request) -> dict[str, Any]:
    """Has the worker merge the change request at a time, as the user; with null, not any more."""
    return _after(request, lambda uow, key: lifecycle.schedule(uow, key, _body(request)))


@documented(LABEL, status=200, errors=(RevertRefused,))
def revert(request: Request) -> dict[str, Any]:
    """Takes a merge back: undoes its changes in one transaction, as the user. It can be opened again afterwards."""
    return _after(request, lifecycle.revert)


@documented(LABEL, status=200)
def close(request: Request) -> dict[str, Any]:
    """Closes a change request without merging it."""
    return _after(request, lifecycle.close)


@documented(LABEL, status=200)
def reopen(request: Request) -> dict[str, Any]:
    """Opens a closed or reverted change request again, as a draft."""
    return _after(request, lifecycle.reopen)


def _after(request: Request, step: Callable[[RequestUnitOfWork, uuid.UUID], None]) -> dict[str, Any]:
    """The change request after a step."""
    uow, endpoint, key = request.uow, request.context.endpoint, views.key_of(request)
    step(uow, key)
    (shown,) = plan_of(endpoint).represent(uow, [key])
    return shown


def includeme(config: Any) -> None:
    """Adds the routes."""
    for name, view in (("changes", get_changes), ("conflicts", get_conflicts), ("review", get_review)):
        config.add_netinv_action("extras/change-requests", name, get=view, permission="view")
    of_authors = {"rebase": rebase, "submit": submit, "close": close, "reopen": reopen}
    of_authors |= {"merge": merge, "schedule": schedule, "revert": revert}
    for permission, views_by_name in (
        ("change", of_authors),
        ("approve", {"approve": approve, "reject": reject}),
        ("view", {"comment": comment}),
    ):
        for name, view in views_by_name.items():
            config.add_netinv_action("extras/change-requests", name, post=view, permission=permission)
