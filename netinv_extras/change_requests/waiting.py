"""Filters of change requests by what waits for the user: their own, those to review, and the open ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.auth.models import User, user_groups
from netinv_core.errors import Denied
from netinv_core.models.base import table_of
from netinv_core.sql.lookups import convert_flag, negated
from netinv_extras.change_requests import review
from netinv_extras.change_requests.models import (
    COMMENT,
    FAIL,
    LABEL,
    OPEN_STATES,
    SUBMITTED,
    change_requests,
    event_table,
    request_table,
    required_table,
    rule_groups,
    rule_table,
)

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork


def is_open(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """``?open=true``"""
    return _flag_condition(table.c.state.in_(OPEN_STATES), values)


def is_mine(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """``?mine=true``"""
    return _flag_condition(_is_own(uow, table), values)


def waits_for_user(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """``?to_review=true``"""
    return _flag_condition(to_review(uow, table), values)


def was_not_merged(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """``?merge_failed=true``"""
    return _flag_condition(merge_failed(table), values)


def register() -> None:
    """Adds the filters."""
    for name, function, help_text in (
        ("open", is_open, "Whether changes can still be made in it"),
        ("mine", is_mine, "Whether you wrote it, or changed what it proposes"),
        ("to_review", waits_for_user, "Whether it waits for your approval"),
        ("merge_failed", was_not_merged, "Whether the worker could not merge it at its time, or will not be able to"),
    ):
        change_requests.filter(name, multiple=False, kind="boolean", help=help_text)(function)


def _flag_condition(condition: Any, values: list[str]) -> Any:
    """The condition, or its opposite for ``false``."""
    return condition if convert_flag(values[-1]) else negated(condition)


def merge_failed(table: Any) -> Any:
    """The condition that an open change request was not merged at its time and nothing was done since, or that who
    asked for its merge has no active account any more.
    """
    events, later, users = event_table.alias(), event_table.alias(), table_of(User).alias()
    is_later = later.c.change_request_id == events.c.change_request_id, later.c.time > events.c.time
    step = sa.exists().where(*is_later, later.c.kind != COMMENT).correlate(events)
    failed = events.c.change_request_id == table.c.id, events.c.kind == FAIL, sa.not_(step)
    has_merger = sa.exists().where(users.c.id == table.c.merger_id, users.c.is_active).correlate(table)
    return sa.and_(
        table.c.state.in_(OPEN_STATES),
        sa.or_(
            sa.and_(table.c.merge_at.is_not(None), sa.not_(has_merger)),
            sa.and_(table.c.merge_at.is_(None), sa.exists().where(*failed).correlate(table)),
        ),
    )


def cannot_merge(uow: UnitOfWork, key: Any) -> bool:
    """True for a change request that was not merged at its time, or will not be (:func:`merge_failed`)."""
    found = sa.select(request_table.c.id).where(request_table.c.id == key, merge_failed(request_table))
    return uow.execute(found).first() is not None


def _is_own(uow: UnitOfWork, table: Any) -> Any:
    """The condition that the user is an author."""
    own = uow.identity.user_id
    if own is None:
        return sa.false()
    authors = sa.func.coalesce(sa.cast(table.c.authors, sa.Text()), "")
    return sa.or_(sa.and_(table.c.user_id.is_not(None), table.c.user_id == own), authors.contains(str(own)))


def to_review(uow: UnitOfWork, table: Any) -> Any:
    """The condition that a change request is submitted, and an approval of the user counts and is missing.

    One that meets review rules waits for those whose approval a rule still needs. Without rules, and while approvals of
    the setting are missing, it waits for everyone who may approve.
    """
    own = uow.identity.user_id
    try:
        limits = permissions.limits(uow, uow.registry[LABEL], "approve", table)
    except Denied:
        return sa.false()
    if own is None:
        return sa.false()
    approved = sa.exists().where(
        event_table.c.change_request_id == table.c.id, event_table.c.counts, event_table.c.user_id == own
    )
    required = (required_table.c.change_request_id == table.c.id, required_table.c.rule_id == rule_table.c.id)
    under_rules = sa.exists().where(*required, rule_table.c.enabled)
    counts_for = sa.exists().where(
        *required,
        rule_table.c.enabled,
        sa.or_(sa.not_(rule_table.c.limited), _is_member(own)),
        rule_table.c.approvals > _approvals_of(table),
    )
    missing = table.c.approvals < review.needed_approvals(uow)
    return sa.and_(
        table.c.state == SUBMITTED,
        sa.not_(_is_own(uow, table)),
        sa.not_(approved),
        sa.or_(sa.not_(under_rules), counts_for, missing),
        *limits,
    )


def _is_member(user: Any) -> Any:
    """The condition that a user is in a group of the rule of the outer statement."""
    return (
        sa.exists()
        .where(
            rule_groups.c.owner_id == rule_table.c.id,
            rule_groups.c.target_id == user_groups.c.target_id,
            user_groups.c.owner_id == user,
        )
        .correlate(rule_table)
    )


def _approvals_of(table: Any) -> Any:
    """The number of the approvals that count for the rule of the outer statement."""
    return (
        sa.select(sa.func.count())
        .select_from(event_table)
        .where(
            event_table.c.change_request_id == table.c.id,
            event_table.c.counts,
            sa.or_(sa.not_(rule_table.c.limited), _is_member(event_table.c.user_id).correlate(rule_table, event_table)),
        )
        .correlate(rule_table, table)
        .scalar_subquery()
    )
