"""Rule against cycles of references between objects of one model, such as interfaces bridged to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.read import listing

if TYPE_CHECKING:
    from netinv_core.models.base import Base
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


CYCLE = "This would close a cycle: the object would refer to itself, directly or through others."


def without_cycles(model: type[Base], *fields: str) -> Rule:
    """Returns the rule that no object reaches itself by one of these references of its model."""

    def references_form_no_cycle(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects references by which an object would reach itself. Locks the objects on the way."""
        for field in fields:
            _check(uow, model, field, [draft for draft in drafts if not draft.new and draft.changed(f"{field}_id")])

    return references_form_no_cycle


def _check(uow: UnitOfWork, model: type[Base], field: str, drafts: Sequence[Draft]) -> None:
    """Follows one reference from all drafts at once: a SELECT for each step of the longest chain."""
    column = f"{field}_id"
    places: dict[Draft, Any] = {draft: draft[column] for draft in drafts if draft[column] is not None}
    passed: dict[Draft, set[Any]] = {draft: set() for draft in places}
    while places:
        for draft in [draft for draft, place in places.items() if place == draft.id]:
            draft.reject(field, CYCLE)
            del places[draft]
        rows = listing.rows_of(uow, model, places.values(), locked=True)
        following = {draft: getattr(rows[place], column) for draft, place in places.items() if place in rows}
        for draft in following:
            passed[draft].add(places[draft])
        places = {
            draft: place for draft, place in following.items() if place is not None and place not in passed[draft]
        }
