"""The members of a dynamic group: what its filter finds, or its child groups give, as one SQL condition on the table of their model."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.endpoint import Endpoint
from netinv_core.errors import Invalid, NotFound, error_text
from netinv_core.http import openapi_parameters, views
from netinv_core.read import listing, saved_filters
from netinv_core.read.lookups import any_of, negated
from netinv_core.uow import UnitOfWork
from netinv_extras.dynamic_groups.models import DIFFERENCE, INTERSECTION, UNION, DynamicGroup, Group, Groups, groups_of

# What child groups of one operator make of what there was before them, if anything was.
_OPERATIONS: Mapping[str, Callable[[Sequence[Any], Sequence[Any]], Any]] = {
    UNION: lambda before, inner: any_of([*before, *inner]),
    INTERSECTION: lambda before, inner: sa.and_(*before, *inner),
    DIFFERENCE: lambda before, inner: sa.and_(*before, *map(negated, inner)),
}


def condition_of(uow: UnitOfWork, key: Any) -> tuple[Endpoint, Any]:
    """Whose objects the members of a group are, and what they meet: a condition on that endpoint's table, ``None`` when all are members.

    Of the database only the groups are asked for, once for a version of the configuration.

    :raises Invalid: naming the group whose filter cannot be applied any longer; nothing is a member then
    """
    groups = groups_of(uow)
    return _endpoint(uow, groups[key]), _condition(uow.without_lookups(), groups, key)


def _condition(uow: UnitOfWork, groups: Groups, key: Any) -> Any:
    found = _own_condition(uow, groups[key])
    for name, children in itertools.groupby(groups[key].children, operator.itemgetter(0)):
        inner = [_condition(uow, groups, child) for _, child in children]
        found = _OPERATIONS[name]([] if found is None else [found], [sa.true() if part is None else part for part in inner])
    return found


def _own_condition(uow: UnitOfWork, group: Group) -> Any:
    try:
        return saved_filters.condition(uow, _endpoint(uow, group), group.filter)
    except Invalid as error:
        raise Invalid.field("filter", f"The filter of the group “{group.name}” can no longer be applied: {error_text(error.body)}") from None


def _endpoint(uow: UnitOfWork, group: Group) -> Endpoint:
    found = uow.registry.get(group.content_type)
    if found is None:
        raise Invalid.field("content_type", f"The objects of the group “{group.name}” are of a package that is not installed: {group.content_type}")
    return found


_WORDS: openapi_parameters.Schema = {"type": "array", "items": {"type": "string"}}
_QUERY = [
    openapi_parameters.query("brief", {"type": "boolean"}, "Members in the form in which others nest them."),
    openapi_parameters.query("include", _WORDS, "Adds fields that are shown to those who ask for them."),
    openapi_parameters.query("exclude", _WORDS, "Leaves out fields that take time to find."),
]


@views.documented({"type": "object", "description": "An object of the group's content type."}, form="page", query=_QUERY)
def members(request: Request) -> Response:
    """The members of a group that the user may see: a page in the order of their list, whose parameters narrow them."""
    uow, endpoint = views.open_item(request, ("GET",))
    if request.context.key is None:
        raise NotFound()
    listing.detail(uow, endpoint, request.context.key, shape="nested")
    of, condition = condition_of(uow, request.context.key)
    within = [] if condition is None else [condition]
    return views.list_page(uow, request, of, views.parameters_of(uow, of), within, of.costly | views.counters_of(of))


def includeme(config: Any) -> None:
    """Adds ``dynamic-groups/{id}/members/``."""
    actions = views.Actions(config.registry.netinv.of_model(DynamicGroup).app)
    actions.item("dynamic-groups", "members", get=members)
    for service in actions.services:
        config.add_cornice_service(service)
