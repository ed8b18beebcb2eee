"""Comparison of bodies with stored objects: which of them a write would change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.fields import ToMany
from netinv_core.write import list_differences, references
from netinv_core.write.draft import Draft

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Row = Mapping[str, Any]


def differing(uow: UnitOfWork, endpoint: Endpoint, items: Mapping[Any, tuple[Row, Mapping[str, Any]]]) -> set[Any]:
    """Returns the ids of the objects that a write would change, or whose body is faulty; at most five statements.

    Bodies with values of fields that have no column, such as relationships, count as changes.

    :param items: by id, the row of an object and a body for it
    """
    drafts = [Draft(endpoint, body, dict(row)) for row, body in items.values()]
    for draft in drafts:
        draft.parse(partial=True)
    references.resolve(uow, drafts)
    list_differences.apply(uow, drafts)
    lists = {name for draft in drafts for name in draft.many}
    plan = endpoint.plan(without=frozenset(endpoint.fields) - lists) if lists else None
    stored = {} if plan is None else dict(plan.fetch(uow, list(items)))
    return {draft.id for draft in drafts if differs(draft, stored.get(draft.id, {}))}


def differs(draft: Draft, stored: Mapping[str, Any]) -> bool:
    """True for a draft with resolved references that a write would change, or that has errors.

    :param stored: the representation of the object, with the lists that the draft has at least
    """
    return bool(draft.errors or draft.extra or draft.changed(*draft.values) or _lists_differ(draft, stored))


def _lists_differ(draft: Draft, stored: Mapping[str, Any]) -> bool:
    """Compares the to-many members of a draft with the stored ones, without regard to order."""
    for name, ids in draft.many.items():
        field, items = draft.endpoint.fields[name], stored[name]
        sent = draft.body[name] if isinstance(field, ToMany) and field.by is not None else ids
        if not isinstance(sent, list):  # a difference of a list of values
            return True
        if sorted(str(item["id"] if isinstance(item, dict) else item) for item in items) != sorted(map(str, sent)):
            return True
    return False
