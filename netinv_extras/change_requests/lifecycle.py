"""Lifecycle of a change request: what of it a user sees, its conflicts, its merge, and its other states."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.changelog.differences import differences, is_equal, members
from netinv_core.changelog.models import CREATE, DELETE, ObjectChange
from netinv_core.dates import parse_time
from netinv_core.db.engine import as_stored
from netinv_core.errors import Conflict, Denied, Invalid, NotFound
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.tasks.queue import notify_worker
from netinv_core.write.dry_run import name_of, visible_changes
from netinv_extras.change_requests import proposals, requirements, review
from netinv_extras.change_requests.entering import enter
from netinv_extras.change_requests.models import (
    CLOSE,
    CLOSED,
    COUNTED,
    LABEL,
    MERGE,
    MERGE_DUE,
    MERGED,
    OPEN_STATES,
    REVERT,
    REVERTED,
    SCHEDULE,
    UNSCHEDULE,
    check_open,
    request_table,
)
from netinv_extras.change_requests.proposals import Proposal
from netinv_extras.change_requests.replay import RequestConflicts, replay
from netinv_extras.change_requests.requirements import Rule, RulesMet
from netinv_extras.change_requests.review import UNSCHEDULED
from netinv_undo import reverting
from netinv_undo.net_changes import NetChange
from netinv_undo.refusals import WHOLE

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

EMPTY = "The change request proposes no change."
ALL, CONSTRAINED, NONE = "all", "constrained", "none"  # objects that the user may view
OTHER_VALUE = "The merge would give it another value than the change request proposes."
OTHER = "The merge would change it too, which the change request does not propose."
NOT_CLOSED = "Only a closed or reverted change request can be opened again; this one is {}."
NOT_MERGED = "Only a merged change request can be reverted; this one is {}."
NOT_A_TIME = "Must be a date and time with an offset, such as 2026-11-30T22:00:00Z, or null."
PAST = "Must be in the future."
LIMITED = "The worker merges as the user, who may do more than this token: merge it at once, or sign in."
NOT_SCHEDULED = "The change request is not to be merged at a time."
NOT_KEPT = "The change records of the merge are not kept any more."
# What follows from the undo of a change of the state: the event, and the state.
FOLLOWING = {
    **{(state, MERGED): (REVERT, REVERTED) for state in OPEN_STATES},
    (MERGED, REVERTED): (MERGE, MERGED),
}
change_table = table_of(ObjectChange)


def visible_proposals(uow: RequestUnitOfWork, proposed: Sequence[Proposal]) -> list[Proposal]:
    """Returns the proposals that the user may view: deletions of objects that they may view now, new objects that they
    may view once these exist, and changes of objects that they may view before and after.

    Without constraints no object is read. Of a change request with conflicts, constrained users see deletions alone.
    """
    limits = {endpoint: limit_of(uow, endpoint) for endpoint in {item.endpoint for item in proposed}}
    limited = [item for item in proposed if limits[item.endpoint] is CONSTRAINED]
    before = visible_changes(uow, [item for item in limited if item.action != CREATE])
    after = _visible_inside(uow, proposed, [item for item in limited if item.action != DELETE])

    def is_visible(item: Proposal) -> bool:
        if limits[item.endpoint] is not CONSTRAINED:
            return limits[item.endpoint] is ALL
        name = name_of(item)
        return (item.action == CREATE or name in before) and (item.action == DELETE or name in after)

    return [item for item in proposed if is_visible(item)]


def offered_proposals(uow: RequestUnitOfWork, proposed: Sequence[Proposal]) -> list[Proposal]:
    """Returns the proposals about which the user may decide: those that they may view, and those whose conflicts are
    listed for them.
    """
    visible = {item.identity for item in visible_proposals(uow, proposed)}
    if len(visible) == len(proposed):
        return list(proposed)
    listed = conflicts_of(uow, proposed)["objects"]
    names = {(item["changed_object_type"], str(item["changed_object_id"])) for item in listed}
    return [item for item in proposed if item.identity in visible or name_of(item) in names]


def _visible_inside(
    uow: RequestUnitOfWork, proposed: Sequence[Proposal], asked: Sequence[Proposal]
) -> set[tuple[str, str]]:
    """The names of those of the proposals whose objects the user may view in the change request."""
    if not asked:
        return set()
    uow.write_in_savepoints() if not uow.managed else None
    try:
        with uow.rolled_back():
            enter(uow, proposed)
            return visible_changes(uow, asked)
    except RequestConflicts:
        return set()


def limit_of(uow: UnitOfWork, endpoint: Endpoint) -> str:
    """Returns how many objects of a resource the user may view: :data:`ALL`, :data:`CONSTRAINED` or :data:`NONE`."""
    try:
        return CONSTRAINED if permissions.limits(uow, endpoint, "view", endpoint.table) else ALL
    except Denied:
        return NONE


def conflicts_of(uow: RequestUnitOfWork, proposed: Sequence[Proposal]) -> dict[str, Any]:
    """The conflicts of proposals. Those of objects that the user may not view are counted, not listed."""
    objects: Sequence[Mapping[str, Any]] = ()
    try:
        with uow.rolled_back():
            enter(uow, proposed)
    except RequestConflicts as error:
        objects = error.body["objects"]
    return {"count": len(objects), "objects": _visible_conflicts(uow, proposed, objects)}


def _visible_conflicts(
    uow: UnitOfWork, proposed: Sequence[Proposal], objects: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Those of the conflicts that name an object which the user may view."""
    created = {name_of(item) for item in proposed if item.action == CREATE}
    keys: dict[Endpoint, list[uuid.UUID]] = {}
    shown: set[tuple[str, str]] = set()
    for item in objects:
        endpoint, key = uow.registry.get(item.get("changed_object_type", "")), item.get("changed_object_id")
        name = (item.get("changed_object_type", ""), str(key))
        if endpoint is not None and key is not None and name not in created:
            keys.setdefault(endpoint, []).append(uuid.UUID(str(key)))
        elif endpoint is not None and limit_of(uow, endpoint) is ALL:
            shown.add(name)
    for endpoint, asked in keys.items():
        shown |= {(endpoint.label, str(key)) for key in permissions.visible_ids(uow, endpoint, asked)}
    return [item for item in objects if (item.get("changed_object_type"), str(item.get("changed_object_id"))) in shown]


def merge(uow: UnitOfWork, key: uuid.UUID) -> None:
    """Makes the proposed changes in the transaction of the unit of work, with its permissions.

    :raises Conflict: for a change request that is not open, or empty
    :raises Denied: without permission for one of the objects
    :raises RequestConflicts: with the reasons by object and field; objects that the user may not view are counted
    """
    row = row_of(uow, key, "change")
    check_open(row)
    proposed = proposals.load(uow, key)
    if not proposed:
        raise Conflict(EMPTY)
    review.check_mergeable(uow, row)
    try:
        with uow.savepoint() as change_set:  # what the user may view is read from the inventory as it was
            replay(uow, proposed)
            changes = change_set.pending
            _check_same(proposed, changes)
    except RequestConflicts as error:
        objects = error.body["objects"]
        raise RequestConflicts(_visible_conflicts(uow, proposed, objects), len(objects)) from error
    review.check_rules(uow, key, requirements.rules_met(changes, requirements.matches(uow, changes)))
    requirements.pass_as_reviewed(uow, changes)
    review.record(uow, row, MERGE, state=MERGED, merged=uow.now, request_id=uow.request_id, **UNSCHEDULED)


def revert(uow: UnitOfWork, key: uuid.UUID) -> None:
    """Takes a merge back: undoes all changes of its request, as the user.

    :raises Conflict: for one that is not merged, or whose change records are gone
    :raises Denied: without permission for one of the objects
    :raises RevertRefused: with the reasons by object and field
    """
    row = row_of(uow, key, "change")
    if row["state"] != MERGED:
        raise Conflict(NOT_MERGED.format(row["state"]))
    statement = sa.select(change_table.c.id).where(change_table.c.request_id == row["request_id"]).limit(1)
    record = uow.execute(statement).scalar()
    if record is None:
        raise Conflict(NOT_KEPT)
    reverting.revert(uow, record, whole_request=True)
    now = row_of(uow, key, "change")
    if now["state"] == MERGED:  # a merge of an earlier version, which has no record of the change request
        review.record(uow, now, REVERT, state=REVERTED)


def follow_revert(uow: UnitOfWork, changes: Sequence[NetChange]) -> None:
    """Gives change requests the state that follows when their merge, or its revert, was undone."""
    undone = {change.key: _states_of(change) for change in changes if change.endpoint.label == LABEL}
    steps = {key: step for key, states in undone.items() if (step := FOLLOWING.get(states)) is not None}
    for key, row in listing.lock(uow, request_table, steps).items() if steps else ():
        kind, state = steps[key]
        if row["state"] == undone[key][1]:
            review.record(uow, row, kind, state=state)


def _states_of(change: NetChange) -> tuple[str, str]:
    """The states of a change request before and after a change; blank before its creation and after its deletion."""
    before, after = (str(state["state"]["value"]) if state else "" for state in (change.before, change.after))
    return before, after


def _check_same(proposed: Sequence[Proposal], changes: Sequence[Any]) -> None:
    """Checks that a merge makes the proposed changes, and no others.

    :raises RequestConflicts: naming the objects and fields of the others
    """
    known = {item.identity: item for item in proposed}
    others = [(change, _surplus(known.get((change.endpoint.label, change.key)), change)) for change in changes]
    if any(names for _, names in others):
        raise RequestConflicts([_other(change, names) for change, names in others if names])


def _surplus(item: Proposal | None, change: Any) -> list[str]:
    """The fields that a change gives other values than the proposal of its object."""
    before, after = as_stored(change.before), as_stored(change.after)
    if item is None or item.action != proposals.action_of(before, after):
        return [WHOLE]
    if after is None:
        return []
    endpoint, proposed = item.endpoint, members(item.endpoint, item.after)
    return [
        found.field
        for found in differences(endpoint.registry, endpoint.label, before, after)
        if found.field.partition(".")[0] in endpoint.writable
        and not is_equal(endpoint, found.field, proposed.get(found.field), found.after)
    ]


def _other(change: Any, names: Sequence[str]) -> dict[str, Any]:
    """The entry of an object that is changed otherwise than the change request proposes."""
    reasons = [{"field": name, "message": OTHER if name == WHOLE else OTHER_VALUE, "change": None} for name in names]
    return {"changed_object_type": change.endpoint.label, "changed_object_id": change.key, "reasons": reasons}


def schedule(uow: UnitOfWork, key: uuid.UUID, body: Mapping[str, Any]) -> None:
    """Has the worker merge a change request at the time ``at``, as the user; without a time, not any more.

    Whether it is approved and has no conflicts is up to that moment. A change of what it proposes ends the schedule.

    :raises Conflict: for one that is not open, or empty, or has no time that could be taken back
    :raises Invalid: for anything but a time in the future
    :raises Denied: for a token that may do less than its user, as whom the worker merges
    """
    row = row_of(uow, key, "change")
    check_open(row)
    at = _time_of(uow, body.get("at"))
    if at is None:
        if row["merge_at"] is None:
            raise Conflict(NOT_SCHEDULED)
        review.record(uow, row, UNSCHEDULE, **UNSCHEDULED)
        return
    if not any(row[name] for name in COUNTED.values()):
        raise Conflict(EMPTY)
    if uow.identity.user_id is None:
        raise Denied()
    if uow.identity.limited:
        raise Denied(LIMITED)
    review.record(uow, row, SCHEDULE, merge_at=at, merger_id=uow.identity.user_id)
    notify_worker(uow, MERGE_DUE, at=at)


def _time_of(uow: UnitOfWork, value: Any) -> datetime.datetime | None:
    """The time of a schedule; ``None`` without one.

    :raises Invalid: for anything but a time in the future
    """
    if value is None or value == "":
        return None
    try:
        time = parse_time(value) if isinstance(value, str) else None
        time = time.astimezone(datetime.UTC) if time is not None and time.tzinfo is not None else None
    except (ValueError, OverflowError):
        time = None
    if time is None:
        raise Invalid.field("at", NOT_A_TIME)
    if time <= uow.now:
        raise Invalid.field("at", PAST)
    return time


def close(uow: UnitOfWork, key: uuid.UUID) -> None:
    """Closes an open change request without merging it.

    :raises Conflict: for one that is not open
    """
    row = row_of(uow, key, "change")
    check_open(row)
    review.record(uow, row, CLOSE, state=CLOSED, **UNSCHEDULED)


def reopen(uow: UnitOfWork, key: uuid.UUID) -> None:
    """Opens a closed change request again, or one whose merge was taken back.

    :raises Conflict: for another one
    """
    row = row_of(uow, key, "change")
    if row["state"] not in (CLOSED, REVERTED):
        raise Conflict(NOT_CLOSED.format(row["state"]))
    review.reopen(uow, row)


def submit(uow: UnitOfWork, key: uuid.UUID, body: Mapping[str, Any]) -> None:
    """Submits a change request for review.

    :raises Conflict: for one that proposes nothing, and in another state
    """
    row = row_of(uow, key, "change")
    check_open(row)
    if not any(row[name] for name in COUNTED.values()):
        raise Conflict(EMPTY)
    required_rules(uow, key, proposals.load(uow, key) if requirements.enabled_rules(uow) else ())
    review.submit(uow, row, review.text_of(body))


def approve(uow: RequestUnitOfWork, key: uuid.UUID, body: Mapping[str, Any]) -> None:
    """Approves a change request.

    :raises Denied: for its authors, and for users who may not view every changed object
    :raises Conflict: in another state, and if it was changed since ``last_updated``
    """
    row = row_of(uow, key, "approve")
    check_open(row)
    review.check_seen(row, body)
    proposed = proposals.load(uow, key)
    if len(visible_proposals(uow, proposed)) < len(proposed):
        raise Denied(review.HIDDEN)
    review.approve(uow, row, review.text_of(body), required_rules(uow, key, proposed))


def required_rules(uow: UnitOfWork, key: uuid.UUID, proposed: Sequence[Proposal]) -> Sequence[Rule]:
    """The review rules that proposals meet now, which are stored; with conflicts, those that were stored."""
    rules = requirements.enabled_rules(uow)
    if not rules:
        return ()
    found: RulesMet = {}
    if any(item.endpoint.label in rules for item in proposed):
        try:
            with uow.rolled_back():
                enter(uow, proposed)
                found = requirements.matches(uow, proposed)
        except RequestConflicts:
            return requirements.stored_rules(uow, key)
    required = list(requirements.rules_met(proposed, found))
    requirements.store(uow, key, required)
    return required


def reject(uow: UnitOfWork, key: uuid.UUID, body: Mapping[str, Any]) -> None:
    """Rejects a change request.

    :raises Conflict: in another state, and if it was changed since ``last_updated``
    """
    row = row_of(uow, key, "approve")
    check_open(row)
    review.check_seen(row, body)
    review.reject(uow, row, review.text_of(body))


def row_of(uow: UnitOfWork, key: uuid.UUID, action: str, *, locked: bool = False) -> Mapping[str, Any]:
    """The row of a change request, locked unless it is only viewed.

    :raises NotFound: when there is none for which the user has the permission
    """
    endpoint = uow.registry[LABEL]
    read = listing.rows if action == "view" and not locked else listing.rows_for_change
    row = read(uow, endpoint, [key], action).get(key)
    if row is None:
        raise NotFound()
    return row
