"""Change requests as a resource, and the changes that they propose."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth.models import User
from netinv_core.changelog.models import ACTIONS, CREATE, DELETE, UPDATE
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Conflict
from netinv_core.models.associations import content_type_table, many_to_many, unique_set
from netinv_core.models.base import ChangeLogged, Model, now, table_of
from netinv_core.models.columns import (
    CASCADE,
    SET_NULL,
    Choices,
    Ref,
    boolean,
    choice,
    column,
    foreign_key,
    integer,
    json_document,
    required_text,
    text,
)
from netinv_core.models.types import Binary, Json, LongText
from netinv_core.presentation import Presentation
from netinv_core.resource import Resource

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

LABEL, RULE_LABEL = "extras.changerequest", "extras.reviewrule"
DRAFT, SUBMITTED, APPROVED, REJECTED = "draft", "submitted", "approved", "rejected"
MERGED, REVERTED, CLOSED = "merged", "reverted", "closed"
OPEN_STATES = (DRAFT, SUBMITTED, APPROVED, REJECTED)  # in which changes can be read and made
STATES = Choices.of(
    (DRAFT, "Draft"),
    (SUBMITTED, "Submitted"),
    (APPROVED, "Approved"),
    (REJECTED, "Rejected"),
    (MERGED, "Merged"),
    (REVERTED, "Reverted"),
    (CLOSED, "Closed"),
)
COMMENT, SUBMIT, APPROVE, REJECT, WITHDRAW = "comment", "submit", "approve", "reject", "withdraw"
MERGE, REVERT, CLOSE, REOPEN = "merge", "revert", "close", "reopen"
SCHEDULE, UNSCHEDULE, FAIL = "schedule", "unschedule", "fail"
MERGE_DUE, MATCH_RULES = "merge_change_requests", "match_review_rules"  # tasks of the worker
EVENTS = Choices.of(
    (COMMENT, "Comment"),
    (SUBMIT, "Submitted"),
    (APPROVE, "Approved"),
    (REJECT, "Rejected"),
    (WITHDRAW, "Changed: approvals and rejections before are withdrawn"),
    (MERGE, "Merged"),
    (REVERT, "Reverted"),
    (CLOSE, "Closed"),
    (REOPEN, "Opened again"),
    (SCHEDULE, "To be merged at a time"),
    (UNSCHEDULE, "Not to be merged at that time any more"),
    (FAIL, "Not merged at the time"),
)
NOT_OPEN = "The change request is {}: nothing can be read or written in it."
COUNTED = {CREATE: "creates", UPDATE: "updates", DELETE: "deletes"}


class ChangeRequest(ChangeLogged):
    """A set of changes that are made aside: a title, the author, the state, and the numbers of proposed changes.

    ``request_id`` is that of the changes once they are merged. ``approvals`` counts those of the changes as they are,
    ``authors`` are the ids of the users who changed what it proposes, ``proposed`` is the time of the last such change.
    ``comment_count`` and ``last_comment`` are of its events with a text, so that change records and webhooks have it;
    ``last_comment_about`` names the object and field that it is about. The worker merges it at ``merge_at``, as
    ``merger``.
    """

    __tablename__ = "extras_change_request"

    title: Mapped[str] = required_text(200, "What is to change, in a line")
    description: Mapped[str] = text(None, "Why, and what to look at")
    due: Mapped[datetime.datetime | None] = column(default=None)
    state: Mapped[str] = choice(STATES, 16, default=DRAFT, read_only=True)
    creates: Mapped[int] = integer(default=0, read_only=True)
    updates: Mapped[int] = integer(default=0, read_only=True)
    deletes: Mapped[int] = integer(default=0, read_only=True)
    approvals: Mapped[int] = integer(default=0, read_only=True)
    proposed: Mapped[datetime.datetime | None] = column(default=None, read_only=True)
    comment_count: Mapped[int] = integer(default=0, read_only=True)
    last_comment: Mapped[str] = text(None, "The latest comment, or the text of the latest step", read_only=True)
    last_comment_about: Mapped[dict[str, Any] | None] = json_document(
        "The object and field that the latest comment is about", read_only=True
    )
    authors: Mapped[list[str] | None] = column(Json(), default=None, hidden=True)
    user_id: Mapped[Ref | None] = foreign_key(
        User, on_delete=SET_NULL, read_only=True, when_cleared="They have no author any more, and stay in review."
    )
    merge_at: Mapped[datetime.datetime | None] = column(default=None, index=True, read_only=True)
    merger_id: Mapped[Ref | None] = foreign_key(
        User, on_delete=SET_NULL, read_only=True, when_cleared="They are not merged at their time."
    )
    merged: Mapped[datetime.datetime | None] = column(default=None, read_only=True)
    request_id: Mapped[uuid.UUID | None] = column(default=None, read_only=True)


class ProposedChange(Model):
    """The change of one object that a change request proposes: the packed states before and after.

    ``states`` and ``memberships`` are those of :class:`netinv_core.changelog.models.ObjectChange`; ``position`` orders
    the changes of a change request as they were made.
    """

    __tablename__ = "extras_proposal"
    __table_args__ = (unique_set("change_request_id", "object_type", "object_id"),)

    change_request_id: Mapped[uuid.UUID] = foreign_key(ChangeRequest, on_delete=CASCADE, index=False)
    object_type: Mapped[str] = column(length=100)
    object_id: Mapped[uuid.UUID] = column()
    object_repr: Mapped[str] = column(length=200)
    action: Mapped[str] = choice(ACTIONS, default=None)
    user_name: Mapped[str] = column(length=150)
    time: Mapped[datetime.datetime] = column(default=now)
    position: Mapped[int] = column(default=0)
    states: Mapped[bytes] = column(Binary())
    memberships: Mapped[dict[str, Any] | None] = column(Json(), default=None)


class ChangeRequestEvent(Model):
    """Event of a change request, by a user: a comment, or a step of its review. ``counts`` is true for approvals of the
    changes as they are. ``about`` is the change that a comment is about, with a digest of what is proposed.
    """

    __tablename__ = "extras_change_request_event"

    change_request_id: Mapped[uuid.UUID] = foreign_key(ChangeRequest, on_delete=CASCADE)
    kind: Mapped[str] = choice(EVENTS, 16, default=None)
    user_id: Mapped[uuid.UUID | None] = column(default=None)
    user_name: Mapped[str] = column(length=150)
    time: Mapped[datetime.datetime] = column(default=now)
    text: Mapped[str] = column(LongText(), default="")
    about: Mapped[dict[str, Any] | None] = column(Json(), default=None)
    counts: Mapped[bool] = column(default=False)


class ReviewRule(ChangeLogged):
    """A rule that changes of certain objects need approvals: of the models ``rule_types`` those that meet the
    ``constraints``, if one of the fields ``field_names`` changes; of every one without.

    ``limited`` is true for rules that name groups: of one whose groups were deleted nobody approves.
    """

    __tablename__ = "extras_review_rule"

    name: Mapped[str] = required_text(100, unique=True)
    description: Mapped[str] = text(200)
    enabled: Mapped[bool] = boolean(True)
    constraints: Mapped[Any | None] = json_document("The objects meant, as in permissions; all without")
    field_names: Mapped[list[Any] | None] = json_document(
        "The fields whose changes need the approvals; all without", label="Fields"
    )
    approvals: Mapped[int] = integer(1, 20, "How many people have to approve", default=1)
    limited: Mapped[bool] = boolean(
        False, "Only members of the groups approve, nobody once they are deleted", read_only=True
    )


class RequiredReview(Model):
    """A rule that the changes of a change request meet, as of its last change, submission or approval."""

    __tablename__ = "extras_required_review"
    __table_args__ = (unique_set("change_request_id", "rule_id"),)

    change_request_id: Mapped[uuid.UUID] = foreign_key(ChangeRequest, on_delete=CASCADE, index=False)
    rule_id: Mapped[uuid.UUID] = foreign_key(ReviewRule, on_delete=CASCADE)


rule_types = content_type_table("extras_review_rule_type", "extras_review_rule")
rule_groups = many_to_many("extras_review_rule_group", "extras_review_rule", "core_group")
change_requests = Resource(
    ChangeRequest,
    "change-requests",
    display="title",
    brief=["title", "state"],
    order=["-created", "title"],
    search=["title", "description"],
    presentation=Presentation(
        empty="Add one to collect changes aside, have them reviewed, and merge all of them at once.",
        columns=["title", "state", "creates", "updates", "deletes", "user", "due", "created"],
        facets=["state"],
        queues=[
            ("Mine", {"mine": "true", "open": "true"}),
            ("To review", {"to_review": "true"}),
            ("Open", {"open": "true"}),
            ("Merged", {"state": MERGED}),
        ],
        summary=["state", "user", "due", "merged"],
        hidden=["description", "last_comment", "last_comment_about"],
    ),
)


@change_requests.prepare
def set_author(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Sets the author of new change requests."""
    for draft in drafts:
        if draft.new:
            draft["user_id"] = uow.identity.user_id


@change_requests.before_delete
def delete_proposals(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Deletes the rows of change requests that are no resources."""
    for table in (proposal_table, event_table, required_table):
        clause = in_parameter(table.c.change_request_id)
        uow.execute(sa.delete(table).where(clause), {"keys": [row["id"] for row in rows]})


request_table = table_of(ChangeRequest)
proposal_table = table_of(ProposedChange)
event_table = table_of(ChangeRequestEvent)
rule_table = table_of(ReviewRule)
required_table = table_of(RequiredReview)


def check_open(row: Mapping[str, Any]) -> None:
    """Checks the state of a change request.

    :raises Conflict: when it is merged or closed
    """
    if row["state"] not in OPEN_STATES:
        raise Conflict(NOT_OPEN.format(row["state"]))


def proposals_of(key: Any) -> sa.ColumnElement[bool]:
    """The condition that selects the proposed changes of a change request."""
    clause: sa.ColumnElement[bool] = proposal_table.c.change_request_id == key
    return clause
