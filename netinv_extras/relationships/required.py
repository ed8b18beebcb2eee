"""Required relationships: objects at the end that they are required on need an associated object.

They are required of objects within the relationship's own filter for that end only, as no other object can have them.
Whether an object is within the filter is known once its row is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from netinv_core.types import Draft, UnitOfWork
from netinv_extras.relationships.models import NAME, matching
from netinv_extras.relationships.sides import RelationshipSide, sides_of


def required_sides(uow: UnitOfWork, label: str) -> list[RelationshipSide]:
    """Returns the sides that the objects of a type must have; none for imports and the service itself."""
    return [] if uow.is_system or uow.importing else [side for side in sides_of(uow, label) if side.required]


def check_before_write(uow: UnitOfWork, label: str, drafts: Sequence[Draft], associated: Any) -> None:
    """Rejects drafts without what is required of every object, and notes the objects outside of each filter.

    :param associated: function from sides and ids to the associations by id and side
    """
    sides = required_sides(uow, label)
    _drop_stored_empty_lists(uow, sides, drafts, associated)
    for side in sides:
        if not side.filter:
            _reject((draft, side) for draft in drafts if _is_missing(draft, side))
        elif unsent := [draft for draft in drafts if not draft.new and not _is_sent(draft, side)]:
            inside = matching(uow, label, side.filter, [draft.id for draft in unsent])
            for draft in unsent:
                draft.noted += () if draft.id in inside else (_outside(side),)


def check_after_write(uow: UnitOfWork, label: str, drafts: Sequence[Draft], associated: Any) -> None:
    """Rejects drafts without what is required of the objects within a filter. The rows are written.

    An object that was within the filter before and lacks the relationship may be changed.

    :param associated: function from sides and ids to the associations by id and side
    """
    concerned: list[tuple[Draft, RelationshipSide]] = []
    for side in required_sides(uow, label):
        if side.filter:
            enters = _outside(side)
            concerned += [(draft, side) for draft in drafts if _is_missing(draft, side) or enters in draft.noted]
    for side in {side for _, side in concerned}:
        group = [draft for draft, other in concerned if other == side]
        _reject((draft, side) for draft in _lacking(uow, label, side, group, associated))


def _drop_stored_empty_lists(
    uow: UnitOfWork, sides: Sequence[RelationshipSide], drafts: Sequence[Draft], associated: Any
) -> None:
    """Removes the empty lists that objects have already: they change nothing, as if they were not sent."""
    empty = [
        (draft, side)
        for draft in drafts
        for side in sides
        if not draft.new and draft.extra.get(NAME, {}).get(side) == []
    ]
    present: Collection[Any] = associated(uow, sides, {draft.id for draft, _ in empty}) if empty else ()
    for draft, side in empty:
        if (draft.id, side) not in present:
            del draft.extra[NAME][side]


def _lacking(
    uow: UnitOfWork, label: str, side: RelationshipSide, drafts: Sequence[Draft], associated: Any
) -> Iterable[Draft]:
    """Returns the drafts of objects within a side's filter that have no associated object."""
    inside = matching(uow, label, side.filter or {}, [draft.id for draft in drafts])
    unsent = [draft.id for draft in drafts if draft.id in inside and not _is_sent(draft, side)]
    present: Collection[Any] = associated(uow, [side], unsent) if unsent else ()
    return [draft for draft in drafts if draft.id in inside and (draft.id, side) not in present]


def _outside(side: RelationshipSide) -> Any:
    """The note on a draft of an object that was outside of the side's filter before the write."""
    return "outside", side


def _is_sent(draft: Draft, side: RelationshipSide) -> bool:
    return side in draft.extra.get(NAME, {})


def _is_missing(draft: Draft, side: RelationshipSide) -> bool:
    """True for a draft that creates an object without the relationship, or empties it on update."""
    objects = draft.extra.get(NAME, {}).get(side)
    return objects == [] or (draft.new and not objects)


def _reject(missing: Iterable[tuple[Draft, RelationshipSide]]) -> None:
    for draft, side in missing:
        message = f'You need to specify ["relationships"]["{side.slug}"]["{side.name}"]["objects"].'
        by_slug: Any = draft.errors.setdefault(NAME, {})
        if isinstance(by_slug, dict):
            by_slug.setdefault(side.slug, []).append(message)
