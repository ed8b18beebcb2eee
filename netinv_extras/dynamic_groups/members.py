"""Members of a dynamic group: one SQL condition on the table of its content type, and ``members/`` below a group."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import Invalid, error_text
from netinv_core.http import views
from netinv_core.http.actions import documented
from netinv_core.read import listing
from netinv_core.sql.lookups import any_of, max_terms, negated
from netinv_extras import object_pages, saved_filters
from netinv_extras.dynamic_groups.models import DIFFERENCE, INTERSECTION, UNION, DynamicGroup, Groups, groups_of
from netinv_extras.dynamic_groups.terms import TOO_MANY, terms_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

HIDDEN = "The filter of a group that you may not view can no longer be applied."
# SQL of set operations: combines the condition of the children so far (none or one) with those of the next children.
_OPERATIONS: Mapping[str, Callable[[Sequence[Any], Sequence[Any]], Any]] = {
    UNION: lambda before, inner: any_of([*before, *inner]),
    INTERSECTION: lambda before, inner: sa.and_(*before, *inner),
    DIFFERENCE: lambda before, inner: sa.and_(*before, *map(negated, inner)),
}


def condition_of(uow: UnitOfWork, key: Any) -> tuple[Endpoint, Any]:
    """Returns the endpoint of a group's members and the SQL condition on its table, ``None`` if all are members.

    Only the groups are loaded, once per configuration version.

    :raises Invalid: naming the group whose filter is no longer valid, if the user may view it; for a group that
        compares too many values
    """
    groups = groups_of(uow)
    if terms_of(uow, groups, [key])[key] > (most := max_terms(uow.settings)):
        raise Invalid.field("filter", TOO_MANY.format(name=groups[key].name, most=most))
    return _endpoint(uow, groups, key), _condition(uow.without_lookups(), groups, key)


def _condition(uow: UnitOfWork, groups: Groups, key: Any) -> Any:
    condition = _filter_condition(uow, groups, key)
    for name, children in itertools.groupby(groups[key].children, operator.itemgetter(0)):
        inner = [_condition(uow, groups, child) for _, child in children]
        before = [] if condition is None else [condition]
        condition = _OPERATIONS[name](before, [sa.true() if part is None else part for part in inner])
    return condition


def _filter_condition(uow: UnitOfWork, groups: Groups, key: Any) -> Any:
    try:
        return saved_filters.condition(uow, _endpoint(uow, groups, key), groups[key].filter)
    except Invalid as error:
        fault = f"The filter of the group “{groups[key].name}” can no longer be applied: {error_text(error.body)}"
        raise Invalid.field("filter", fault if _is_visible(uow, key) else HIDDEN) from None


def _endpoint(uow: UnitOfWork, groups: Groups, key: Any) -> Endpoint:
    label = groups[key].content_type
    endpoint = uow.registry.get(label)
    if endpoint is None:
        fault = f"The objects of the group “{groups[key].name}” are of a package that is not installed: {label}"
        raise Invalid.field("content_type", fault if _is_visible(uow, key) else HIDDEN)
    return endpoint


def _is_visible(uow: UnitOfWork, key: Any) -> bool:
    """True if the user may view a group."""
    return key in permissions.visible_ids(uow, uow.registry.of_model(DynamicGroup), [key])


_MEMBER = {"type": "object", "description": "An object of the group's content type."}


@documented(_MEMBER, form="page", query=object_pages.QUERY, filtered=True)
def members(request: Request) -> dict[str, Any]:
    """Lists the members of a group that the user may view, with the query parameters of their list."""
    uow, key = request.uow, views.key_of(request)
    listing.detail(uow, request.context.endpoint, key, shape="nested")
    member_endpoint, condition = condition_of(uow, key)
    return object_pages.page(request, member_endpoint, [] if condition is None else [condition])


def includeme(config: Any) -> None:
    """Adds ``dynamic-groups/{id}/members/``."""
    config.add_netinv_action("extras/dynamic-groups", "members", get=members, permission="view")
