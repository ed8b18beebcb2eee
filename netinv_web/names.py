"""Names of objects in cells: in context where the row does not show it, ``router1 › eth0``, else the display name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.presentation import NAME_IN_CONTEXT, NAME_WITHIN
from netinv_core.sql.plan import Row

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan, RowSet


def has_context(endpoint: Endpoint) -> bool:
    """True for resources whose objects have another name on pages that do not show what they belong to."""
    return endpoint.namings[NAME_IN_CONTEXT].sources() != {"display"}


def context_of(endpoint: Endpoint) -> set[str]:
    """The references of a resource that its names in context show, and its display names do not."""
    sources = set(endpoint.namings[NAME_IN_CONTEXT].sources() or ()) - {
        path.partition(".")[0] for path in endpoint.resource.display[1:]
    }
    return {name for name in sources if isinstance(endpoint.fields.get(name), fields.Reference)}


def row_name(plan: ReadPlan, place: JoinedTable, shown: Collection[str] = ()) -> Reader:
    """The reader of the name of a row's object: in context, unless one of the references in it is among the fields
    ``shown`` beside it.
    """
    in_context = not context_of(place.endpoint) & set(shown)
    return plan.read(place, NAME_IN_CONTEXT if in_context else "display")


@dataclasses.dataclass(frozen=True)
class TargetName:
    """The reader of the name of a reference's target, and the functions that tell whether it is the display name, and
    whether the user may view the target.
    """

    read: Reader
    is_bare: Callable[[Row, RowSet], bool]
    is_viewable: Callable[[Row, RowSet], bool]


def target_name(plan: ReadPlan, place: JoinedTable, target: JoinedTable, attribute: str) -> TargetName:
    """The name of the target of a foreign key: in context, unless it is part of the same object as the row, or the user
    may not view it. A target to which nothing else refers so, such as a primary address, belongs to the row, and is
    named as within another name.
    """
    display, endpoint = plan.read(target, "display"), target.endpoint
    is_viewable = plan.meets(target, permissions.visible)
    if not has_context(endpoint):
        return TargetName(display, lambda row, page: True, is_viewable)
    parent = f"{endpoint.parent}_id"
    is_sibling = endpoint.parent != "" and parent in place.table.c
    if place.endpoint.table.c[attribute].unique and not is_sibling:
        return TargetName(plan.read(target, NAME_WITHIN), lambda row, page: True, is_viewable)
    name, key = plan.read(target, NAME_IN_CONTEXT), plan.column(place, attribute)
    own, other = (plan.column(place, parent), plan.column(target, parent)) if is_sibling else (key, key)

    def is_bare(row: Row, page: RowSet) -> bool:
        return (is_sibling and row[own] == row[other]) or not is_viewable(row, page)

    return TargetName(lambda row, page: (display if is_bare(row, page) else name)(row, page), is_bare, is_viewable)
