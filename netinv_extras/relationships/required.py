"""Required relationships: objects at the end that they are required on need an associated object.

They are required of objects within the relationship's own filter for that end only, as no other object can have them.
Whether an object is within the filter is known once its row is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.models import DELETE
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.write.referring_rules import refusal, sentence
from netinv_extras.relationships.associations import RelationshipAssociation, relationship_associations
from netinv_extras.relationships.models import DESTINATION, NAME, SOURCE, matching_ids
from netinv_extras.relationships.sides import RelationshipSide, sides_of
from netinv_undo.net_changes import NetChange
from netinv_undo.obstacles import by_endpoint
from netinv_undo.refusals import Refusals

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

RELATIONSHIP = "extras.relationship"


def required_sides(uow: UnitOfWork, label: str) -> list[RelationshipSide]:
    """Returns the sides that the objects of a type must have; none for imports and the service itself, nor for objects
    that are restored before their associations (:func:`restored_objects_have_theirs` looks at them afterwards).
    """
    if uow.is_system or uow.importing or uow.restoring:
        return []
    return [side for side in sides_of(uow, label) if side.required]


def restored_objects_have_theirs(uow: UnitOfWork, changes: Sequence[NetChange]) -> None:
    """Refuses to restore deleted objects that lack what is required of them by now.

    :raises RevertRefused: naming the objects
    """
    refusals = Refusals()
    restored = {(change.endpoint.label, change.key): change for change in changes if change.action == DELETE}
    for endpoint, group in by_endpoint(restored.values()).items():
        keys = [change.key for change in group]
        ends = [
            (side.relationship_id, side.end, endpoint.label, key)
            for side in required_sides(uow, endpoint.label)
            for key in keys
        ]
        for (_, _, label, key), reason in in_need(uow, ends).items():
            refusals.add(restored[label, key], NAME, reason)
    refusals.raise_any()


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
            inside = matching_ids(uow, label, side.filter, [draft.id for draft in unsent])
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
        _reject((draft, side) for draft in _drafts_lacking(uow, label, side, group, associated))


# An end of an association: the relationship, the end, and the label and id of the object there.
AssociationEnd = tuple[Any, str, str, Any]


def ends_of(row: Mapping[str, Any]) -> list[AssociationEnd]:
    """The two ends of an association."""
    return [(row["relationship_id"], end, row[f"{end}_type"], row[f"{end}_id"]) for end in (SOURCE, DESTINATION)]


def in_need(
    uow: UnitOfWork, ends: Collection[AssociationEnd], removed: Collection[Any] = ()
) -> dict[AssociationEnd, str]:
    """Those of the ends where the relationship is required of an object that has no association of it, with the reason.

    Objects that are being deleted need none. The number of statements grows with that of the required relationships.

    :param removed: ids of associations that do not count
    """
    found: dict[AssociationEnd, str] = {}
    for label in {label for _, _, label, _ in ends}:
        for side in required_sides(uow, label):
            keys = {
                key
                for relationship, end, kind, key in ends
                if (relationship, end, kind) == (side.relationship_id, side.end, label)
            }
            for key in _without_associations(uow, label, side, keys - {*uow.deleting.get(label, ())}, removed):
                found[side.relationship_id, side.end, label, key] = f'It needs an object of "{side.title}".'
    return found


def _without_associations(
    uow: UnitOfWork, label: str, side: RelationshipSide, keys: Collection[Any], removed: Collection[Any]
) -> set[Any]:
    """Those of the objects at a side that are within its filter, and have no association besides the removed ones."""
    if not keys:
        return set()
    table = table_of(RelationshipAssociation)
    end = table.c[f"{side.end}_id"]
    kept = sa.select(end).where(table.c.relationship_id == side.relationship_id, end.in_(list(keys)))
    lacking = set(keys) - set(uow.execute(kept.where(table.c.id.not_in(list(removed)))).scalars())
    return matching_ids(uow, label, side.filter, lacking) if side.filter and lacking else lacking


def last_associations_stay(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Refuses to delete the last association of an object that needs one, or the object at its other end.

    :raises Conflict: naming the objects that need one
    """
    rows = [row for row in rows if row["relationship_id"] not in uow.deleting.get(RELATIONSHIP, ())]
    needy = in_need(uow, [end for row in rows for end in ends_of(row)], [row["id"] for row in rows])
    if needy:
        raise refusal(uow, [(uow.registry[label], key, reason) for (_, _, label, key), reason in needy.items()])


def last_associations_keep_their_ends(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects giving the last association of an object that needs one to another object."""
    left: dict[AssociationEnd, Draft] = {}
    for draft in drafts:
        if not draft.new and draft.changed("relationship_id", "source_id", "destination_id"):
            now = {name: draft[name] for name in draft.before}
            left |= dict.fromkeys(set(ends_of(draft.before)) - set(ends_of(now)), draft)
    for end, reason in in_need(uow, left, [draft.id for draft in left.values()]).items():
        left[end].reject(end[1], reason)


def check_left_ends(uow: UnitOfWork, left: Mapping[AssociationEnd, Draft]) -> None:
    """Rejects drafts whose lists leave out objects that need the association. The associations are stored.

    :param left: the draft that leaves out the object at an end
    """
    needy = in_need(uow, left)
    names = {
        label: listing.visible_names(uow, uow.registry[label], [key for _, _, other, key in needy if other == label])
        for label in {label for _, _, label, _ in needy}
    }
    for end, reason in needy.items():
        _, _, label, key = end
        left[end].reject(NAME, sentence(uow.registry[label], names[label].get(key), reason))


def register() -> None:
    """Registers what keeps required associations."""
    relationship_associations.before_delete(last_associations_stay)
    relationship_associations.rule(last_associations_keep_their_ends)


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


def _drafts_lacking(
    uow: UnitOfWork, label: str, side: RelationshipSide, drafts: Sequence[Draft], associated: Any
) -> Iterable[Draft]:
    """Returns the drafts of objects within a side's filter that have no associated object."""
    inside = matching_ids(uow, label, side.filter or {}, [draft.id for draft in drafts])
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
