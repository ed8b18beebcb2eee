"""Tab with the dynamic groups that an object is a member of."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.db.engine import is_bad_filter_error, is_timeout
from netinv_core.errors import Invalid
from netinv_core.hookspecs import hookimpl
from netinv_core.sql.lookups import max_terms
from netinv_extras.dynamic_groups.members import condition_of
from netinv_extras.dynamic_groups.models import groups_of
from netinv_extras.dynamic_groups.terms import terms_of
from netinv_extras.dynamic_groups.web.filters import LABEL
from netinv_web.extensions import ListTab, Tab
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

TEMPLATE = "netinv_extras:dynamic_groups/web/templates/dynamic_groups.jinja2"
MAX_GROUPS = 1000  # groups of a content type that are evaluated: columns of one statement
MAX_STATEMENTS = 10  # for groups that compare many values one by one, of as many as a filter may


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[Tab | ListTab]:
    """The tab with the members of a group; the tab with the groups of objects whose content type has any."""
    if endpoint.label == LABEL:
        return [
            ListTab(
                "members",
                "Members",
                lambda group: str(group["content_type"]),
                _members,
                lambda group: None,
                100,
                api_path=lambda group: f"{endpoint.canonical_path}{group['id']}/members/",
                counted=False,
            )
        ]
    if endpoint.label == "extras.dynamicgroupmembership":
        return []

    def applies(request: Request, representation: Mapping[str, Any]) -> bool:
        return any(group.content_type == endpoint.label for group in groups_of(request.uow).values())

    return [
        Tab(
            "dynamic-groups", "Dynamic groups", tab, TEMPLATE, permission=(LABEL, "view"), applies=applies, position=850
        )
    ]


def _members(request: Request, group: Mapping[str, Any]) -> list[Any]:
    """The condition on the members of a group."""
    _, condition = condition_of(request.uow, group["id"])
    return [] if condition is None else [condition]


def tab(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any]:
    """The groups by name, limited to those that the user may view. ``unchecked`` is the number of those that are not
    evaluated: of more than are evaluated at once, and of those that compare too many values.
    """
    uow, groups = request.uow, groups_of(request.uow)
    of_type = [key for key, group in groups.items() if group.content_type == endpoint.label]
    visible = permissions.visible_ids(uow, uow.registry[LABEL], of_type)
    seen = sorted((key for key in of_type if key in visible), key=lambda key: str(groups[key].name))
    batches = _batches(uow, seen[:MAX_GROUPS])
    members = [group for batch in batches for group in _groups_containing(uow, endpoint, representation["id"], batch)]
    rest = f"{page_path(uow.registry[LABEL])}?content_type={endpoint.label}"
    named = [(groups[key].name, object_path(uow.registry[LABEL], key)) for key in members]
    return {"groups": sorted(named), "unchecked": len(seen) - sum(map(len, batches)), "rest": rest}


def _batches(uow: UnitOfWork, groups: Sequence[Any]) -> list[list[Any]]:
    """The groups that one statement each evaluates: all in one, or as many as compare :func:`max_terms` values.

    A group that compares more is in none. Those that compare the most are left out where more statements than
    :data:`MAX_STATEMENTS` would be needed.
    """
    batches: list[list[Any]] = [[]]
    used, most = 0, max_terms(uow.settings)
    for group, terms in sorted(terms_of(uow, groups_of(uow), groups).items(), key=operator.itemgetter(1)):
        if terms > most:
            continue
        if used + terms > most:
            batches.append([])
            used = 0
        batches[-1].append(group)
        used += terms
    return batches[:MAX_STATEMENTS]


def _groups_containing(uow: UnitOfWork, endpoint: Endpoint, key: Any, groups: Sequence[Any]) -> list[Any]:
    """The ids of the groups whose condition an object meets."""
    conditions: list[tuple[Any, Any]] = []
    for group in groups:
        try:
            _, condition = condition_of(uow, group)
        except Invalid:  # its filter is no longer valid, so it has no members
            continue
        conditions.append((group, sa.true() if condition is None else condition))
    return _groups_met(uow, endpoint, key, conditions)


def _groups_met(uow: UnitOfWork, endpoint: Endpoint, key: Any, conditions: Sequence[tuple[Any, Any]]) -> list[Any]:
    """The ids of the groups whose condition an object meets: one statement with a column for each group.

    When the database cannot evaluate it, such as for a filter with thousands of values, it is repeated for each half of
    the groups. A group that fails alone has no members. Requests that read run in autocommit, so a failed statement
    ends no transaction.
    """
    if not conditions:
        return []
    columns = [sa.case((condition, 1), else_=0).label(f"g{number}") for number, (_, condition) in enumerate(conditions)]
    try:
        row = uow.execute(sa.select(*columns).where(endpoint.table.c.id == key)).first()
    except sa.exc.DBAPIError as error:
        if is_timeout(error) or not is_bad_filter_error(error):
            raise
        half = len(conditions) // 2
        halves = (conditions[:half], conditions[half:]) if half else ()
        return [group for part in halves for group in _groups_met(uow, endpoint, key, part)]
    return [] if row is None else [group for (group, _), holds in zip(conditions, row, strict=True) if holds]
