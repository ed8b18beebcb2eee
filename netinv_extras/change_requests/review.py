"""Review of change requests: submission, approval, rejection and comments, each an event with its author and time.

Each step is a change of the change request (:func:`record`), with a change record, and what follows from it: its place
in the history and the feed, and webhooks.

Approvals are those of the proposed changes as they are: whoever changes them withdraws the approvals.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.errors import Conflict, Denied, Invalid
from netinv_core.read import entity_tags
from netinv_core.write.system_update import system_update
from netinv_extras.change_requests import requirements
from netinv_extras.change_requests.models import (
    APPROVE,
    APPROVED,
    DRAFT,
    LABEL,
    REJECT,
    REJECTED,
    REOPEN,
    SUBMIT,
    SUBMITTED,
    UNSCHEDULE,
    WITHDRAW,
    event_table,
)
from netinv_extras.change_requests.requirements import Rule, RuleProgress

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

UNSCHEDULED: Mapping[str, Any] = {"merge_at": None, "merger_id": None}
MAX_TEXT = 10_000  # characters of a comment
MAX_EVENTS = 1000  # that are listed
EMPTY_TEXT = "This field may not be blank."
NOT_TEXT = "Not a valid string."
LONG_TEXT = f"Ensure this field has no more than {MAX_TEXT} characters."
OWN = "You cannot approve a change request that you wrote, or changed."
HIDDEN = "You cannot approve changes of objects that you may not view."
AGAIN = "You have approved this change request already."
NOT_SUBMITTED = "The change request is {}: it is not submitted for review."
SUBMITTED_ALREADY = "The change request is {} already."
CHANGED = "The change request was changed since you looked at it. Look at its changes again."
NOT_TIME = "Must be a time, as the change request has it."
REFUSED = "The change request is rejected: change it, or submit it again."
MISSING_BY_RULES = "The change request is not approved as the review rules ask. {}."
MISSING = "The change request has {} of {} approvals (netinv.change_request_approvals)."


def needed_approvals(uow: UnitOfWork) -> int:
    """The number of approvals without which nothing is merged."""
    return int(uow.registry.settings["change_request_approvals"])


def text_of(body: Mapping[str, Any], *, required: bool = False) -> str:
    """The text of an event.

    :raises Invalid: for anything but text, for none where it is ``required``, and for one that is too long
    """
    text = body.get("text") or ""
    if not isinstance(text, str):
        raise Invalid.field("text", NOT_TEXT)
    if required and not text.strip():
        raise Invalid.field("text", EMPTY_TEXT)
    if len(text) > MAX_TEXT:
        raise Invalid.field("text", LONG_TEXT)
    return text.strip()


def events_of(uow: UnitOfWork, key: uuid.UUID) -> list[Mapping[str, Any]]:
    """The events of a change request in their order, the last :data:`MAX_EVENTS`; one statement."""
    table = event_table
    statement = sa.select(table).where(table.c.change_request_id == key)
    rows = uow.execute(statement.order_by(table.c.time.desc(), table.c.id).limit(MAX_EVENTS)).mappings().all()
    return [dict(row) for row in reversed(rows)]


def record(
    uow: UnitOfWork,
    row: Mapping[str, Any],
    kind: str,
    text: str = "",
    about: Mapping[str, Any] | None = None,
    **values: Any,
) -> None:
    """Stores a step of a change request, whose row is locked: an event, and columns that it changes.

    :param about: the change that a comment is about (:mod:`netinv_extras.change_requests.comments`)
    """
    add_event(uow, row["id"], kind, text, about)
    if text:
        named = None if about is None else {name: about[name] for name in ("object_type", "object_id", "field")}
        counted = row["comment_count"] + 1
        values |= {"comment_count": counted, "last_comment": text, "last_comment_about": named}
    store(uow, row, values)


def store(uow: UnitOfWork, row: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Changes columns of a change request, whose row is locked, with a change record."""
    key = row["id"]
    system_update(uow, uow.registry[LABEL], {key: values}, {key: row})


def add_event(
    uow: UnitOfWork, key: uuid.UUID, kind: str, text: str = "", about: Mapping[str, Any] | None = None
) -> None:
    """Stores what the user did to a change request."""
    row = {
        "id": uuid.uuid4(),
        "change_request_id": key,
        "kind": kind,
        "user_id": uow.identity.user_id,
        "user_name": uow.identity.username,
        "time": uow.now,
        "text": text,
        "about": about,
        "counts": kind == APPROVE,
    }
    uow.execute(sa.insert(event_table), [row])


def is_author(uow: UnitOfWork, row: Mapping[str, Any]) -> bool:
    """True for the user who made a change request, and those who changed what it proposes."""
    own = uow.identity.user_id
    return row["user_id"] == own or str(own) in (row["authors"] or ())


def check_mergeable(uow: UnitOfWork, row: Mapping[str, Any]) -> None:
    """Checks that an open change request is approved where that is required.

    :raises Conflict: for one that is rejected, or has too few approvals
    """
    if row["state"] == REJECTED:
        raise Conflict(REFUSED)
    if needed_approvals(uow) and (row["state"] != APPROVED or row["approvals"] < needed_approvals(uow)):
        raise Conflict(MISSING.format(row["approvals"], needed_approvals(uow)))


def check_rules(uow: UnitOfWork, key: uuid.UUID, rules: Iterable[Rule]) -> None:
    """Checks that a change request has the approvals that rules ask for.

    :raises Conflict: naming the rules that it does not meet, and whose approvals are missing
    """
    missing = [item for item in requirements.progress(uow, key, rules) if item.missing]
    if missing:
        raise Conflict(MISSING_BY_RULES.format("; ".join(item.text for item in missing)))


def submit(uow: UnitOfWork, row: Mapping[str, Any], text: str) -> None:
    """Submits a draft, or a rejected change request again.

    :raises Conflict: for another state
    """
    if row["state"] not in (DRAFT, REJECTED):
        raise Conflict(SUBMITTED_ALREADY.format(row["state"]))
    record(uow, row, SUBMIT, text, state=SUBMITTED)


def approve(uow: UnitOfWork, row: Mapping[str, Any], text: str, rules: Iterable[Rule]) -> None:
    """Approves a submitted change request; with enough approvals, those by the rules among them, it is approved.

    :raises Denied: for its authors
    :raises Conflict: for another state, and a second approval of the user
    """
    _check_submitted(row)
    if is_author(uow, row):
        raise Denied(OWN)
    if has_approved(uow, row["id"]):
        raise Conflict(AGAIN)
    approvals, own = row["approvals"] + 1, (uow.identity.user_id, uow.identity.username)
    progress = requirements.progress(uow, row["id"], rules, own)
    record(uow, row, APPROVE, text, state=_state_in_review(uow, progress, approvals), approvals=approvals)


def settle(uow: UnitOfWork, row: Mapping[str, Any], rules: Iterable[Rule]) -> None:
    """Gives a change request that is in review the state that its approvals make by rules that changed."""
    state = _state_in_review(uow, requirements.progress(uow, row["id"], rules), row["approvals"])
    if state != row["state"]:
        store(uow, row, {"state": state})


def _state_in_review(uow: UnitOfWork, progress: Iterable[RuleProgress], approvals: int) -> str:
    """The state of a change request in review: approved when neither a rule nor the setting asks for more approvals."""
    waits = any(item.missing for item in progress) or approvals < max(1, needed_approvals(uow))
    return SUBMITTED if waits else APPROVED


def has_approved(uow: UnitOfWork, key: uuid.UUID) -> bool:
    """True when an approval of the user counts; one statement."""
    own = (event_table.c.user_id == uow.identity.user_id, event_table.c.counts)
    return (
        uow.execute(sa.select(event_table.c.id).where(event_table.c.change_request_id == key, *own)).first() is not None
    )


def reject(uow: UnitOfWork, row: Mapping[str, Any], text: str) -> None:
    """Rejects a submitted change request; approvals do not count any more.

    :raises Conflict: for another state
    """
    _check_submitted(row)
    _uncount(uow, row)
    record(uow, row, REJECT, text, state=REJECTED, approvals=0)


def reopen(uow: UnitOfWork, row: Mapping[str, Any]) -> None:
    """Makes a change request a draft again; earlier approvals do not count, nor is it merged any more."""
    _uncount(uow, row)
    record(uow, row, REOPEN, state=DRAFT, approvals=0, merged=None, request_id=None)


def _check_submitted(row: Mapping[str, Any]) -> None:
    if row["state"] not in (SUBMITTED, APPROVED):
        raise Conflict(NOT_SUBMITTED.format(row["state"]))


def check_seen(row: Mapping[str, Any], body: Mapping[str, Any]) -> None:
    """Checks that what a change request proposes is as it was when the reviewer looked at it, where they say when.

    :raises Conflict: if not
    :raises Invalid: for anything but a time
    """
    seen = body.get("last_updated")
    if not seen:
        return
    try:
        time = datetime.datetime.fromisoformat(str(seen))
    except ValueError:
        raise Invalid.field("last_updated", NOT_TIME) from None
    if row["proposed"] is not None and time.replace(tzinfo=time.tzinfo or datetime.UTC) < row["proposed"]:
        raise Conflict(CHANGED)


def after_change(uow: UnitOfWork, row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a change request whose proposals the user changes: they become an author, and what was decided is
    withdrawn, with an event.
    """
    own, authors = str(uow.identity.user_id), list(row["authors"] or ())
    values: dict[str, Any] = {"proposed": entity_tags.later(uow.now, row["last_updated"])}
    if own not in authors:
        values["authors"] = [*authors, own]
    if row["merge_at"] is not None:
        add_event(uow, row["id"], UNSCHEDULE)
        values |= UNSCHEDULED
    if row["approvals"] or row["state"] in (APPROVED, REJECTED):
        _uncount(uow, row)
        add_event(uow, row["id"], WITHDRAW)
        state = {APPROVED: SUBMITTED, REJECTED: DRAFT}.get(row["state"], row["state"])
        values |= {"approvals": 0, "state": state}
    return values


def _uncount(uow: UnitOfWork, row: Mapping[str, Any]) -> None:
    """Ends the approvals so far."""
    if row["approvals"]:
        counted = sa.and_(event_table.c.change_request_id == row["id"], event_table.c.counts)
        uow.execute(sa.update(event_table).where(counted).values(counts=False))
