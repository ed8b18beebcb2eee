"""Comparison of bodies with stored objects: which of them a write would change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.fields import ToMany, list_differences
from netinv_core.sql.plans import plan_of
from netinv_core.write import references
from netinv_core.write.draft import Draft

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

Row = Mapping[str, Any]


def find_differing(uow: UnitOfWork, endpoint: Endpoint, items: Mapping[Any, tuple[Row, Mapping[str, Any]]]) -> set[Any]:
    """Returns the ids of the objects that a write would change, or whose body is faulty.

    At most five statements, and those of fields that have no column (:meth:`netinv_core.fields.Field.differing`).

    :param items: by id, the row of an object and a body for it
    """
    drafts = [Draft(endpoint, body, dict(row)) for row, body in items.values()]
    for draft in drafts:
        draft.parse(partial=True)
    references.resolve(uow, drafts)
    list_differences.apply(uow, drafts)
    lists = {name for draft in drafts for name in draft.many}
    plan = plan_of(endpoint, without=frozenset(endpoint.fields) - lists) if lists else None
    stored = {} if plan is None else dict(plan.fetch(uow, list(items)))
    return differing_drafts(uow, drafts, stored)


def differing_drafts(uow: UnitOfWork, drafts: Sequence[Draft], stored: Mapping[Any, Mapping[str, Any]]) -> set[Any]:
    """Returns the ids of drafts with resolved references that a write would change, or that have errors.

    :param stored: the representations of the objects by id, with the lists that the drafts have at least
    """
    found = {
        draft.id
        for draft in drafts
        if draft.errors or draft.changed(*draft.values) or _lists_differ(draft, stored.get(draft.id, {}))
    }
    return found | with_other_extras(uow, [draft for draft in drafts if draft.id not in found])


def drop_equal_lists(drafts: Sequence[Draft], stored: Mapping[Any, Mapping[str, Any]]) -> None:
    """Removes from drafts the to-many members that are stored already, so that they are not written again."""
    for draft in drafts:
        row = stored.get(draft.id, {})
        draft.many = {name: ids for name, ids in draft.many.items() if _list_differs(draft, row, name, ids)}


def with_other_extras(uow: UnitOfWork, drafts: Sequence[Draft]) -> set[Any]:
    """Returns the ids of drafts whose values without a column differ from the stored ones."""
    sending: dict[Field, list[Draft]] = {}
    for draft in drafts:
        for name in draft.extra:
            sending.setdefault(draft.endpoint.fields[name], []).append(draft)
    return set().union(*(field.differing(uow, some) for field, some in sending.items()))


def _lists_differ(draft: Draft, stored: Mapping[str, Any]) -> bool:
    """Compares the to-many members of a draft with the stored ones, without regard to order."""
    return any(_list_differs(draft, stored, name, ids) for name, ids in draft.many.items())


def _list_differs(draft: Draft, stored: Mapping[str, Any], name: str, ids: Sequence[Any]) -> bool:
    field = draft.endpoint.fields[name]
    if name not in stored:
        return True
    items = field.items_of(stored[name]) if isinstance(field, ToMany) else stored[name]
    listed = [str(item["id"] if isinstance(item, dict) else item) for item in items]
    sent: Any = draft.body[name] if isinstance(field, ToMany) and field.by is not None else ids
    if list_differences.is_difference(sent):  # of a list of values
        added, removed = ({*map(str, sent.get(part, ()))} for part in ("add", "remove"))
        return not added <= {*listed} or not removed.isdisjoint(listed)
    return sorted(listed) != sorted(map(str, sent))
