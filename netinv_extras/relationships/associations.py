"""Model of associations: pairs of objects in a relationship, with the rules on which pairs are allowed."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Model, table_of
from netinv_core.models.columns import CASCADE, Ref, column, foreign_key
from netinv_core.read import filters, listing
from netinv_core.resource import FieldFactory, Resource
from netinv_core.sql.plans import named_objects
from netinv_core.write.delete import GenericCascade
from netinv_core.write.draft import ALL
from netinv_extras.content_types import referenced_objects, type_label
from netinv_extras.relationships.models import (
    DESTINATION,
    EXAMPLE_ENDS,
    ONE_TO_MANY,
    ONE_TO_ONE,
    SOURCE,
    SYMMETRIC,
    Relationship,
    content_type_filters,
    matching_ids,
    may_relate,
    relationships,
)

if TYPE_CHECKING:
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

# Ends at which an object may have at most one association, by type of relationship.
SINGLE_ENDS = {
    ONE_TO_ONE: (SOURCE, DESTINATION),
    f"{SYMMETRIC}{ONE_TO_ONE}": (SOURCE, DESTINATION),
    ONE_TO_MANY: (DESTINATION,),
}
DUPLICATE_ASSOCIATION = (
    "The fields relationship, source_type, source_id, destination_type, destination_id must make a unique set."
)
UNKNOWN_OBJECT = "unknown"


class RelationshipAssociation(Model):
    """A link of a source object and a destination object in a relationship."""

    __tablename__ = "extras_association"
    __table_args__ = (
        unique_set("relationship_id", "source_id", "destination_id", message=DUPLICATE_ASSOCIATION),
        sa.Index("ix_extras_association_source", "source_id"),
        sa.Index("ix_extras_association_destination", "destination_id"),
    )

    relationship_id: Mapped[Ref] = foreign_key(Relationship, on_delete=CASCADE, index=False)
    source_type: Mapped[str] = column(length=100)
    source_id: Mapped[uuid.UUID] = column()
    destination_type: Mapped[str] = column(length=100)
    destination_id: Mapped[uuid.UUID] = column()


@dataclasses.dataclass(eq=False, kw_only=True)
class AssociationDisplay(fields.Field):
    """Display name of an association: ``rack 1 -> circuit 2 - terminates at``. A missing object is ``unknown``."""

    read_only: bool = True

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        columns = {
            end: (plan.column(place, f"{end}_type"), plan.column(place, f"{end}_id")) for end in (SOURCE, DESTINATION)
        }
        batches = {end: plan.load_generic("nested", *columns[end], named_objects) for end in columns}
        name, type_ = plan.read(place, "relationship.display"), plan.read(place, "relationship.type")

        def display_of(row: Any, page: Any, end: str) -> str:
            label, key = columns[end]
            nested = page.batches[batches[end]].get((row[label], row[key]))
            return str(nested["display"]) if nested else UNKNOWN_OBJECT

        def read(row: Any, page: Any) -> str:
            arrow = "<->" if type_(row, page).startswith(SYMMETRIC) else "->"
            source, destination = (display_of(row, page, end) for end in (SOURCE, DESTINATION))
            return f"{source} {arrow} {destination} - {name(row, page)}"

        return read


relationship_associations = Resource(
    RelationshipAssociation,
    "relationship-associations",
    display=(None,),
    brief=["relationship", "source_id", "destination_id"],
    order=[],
    fields=[
        FieldFactory(
            "display", lambda registry, endpoint: AssociationDisplay(name="display", openapi={"type": "string"})
        ),
        type_label("source_type", may_relate),
        type_label("destination_type", may_relate),
    ],
    filters=[
        filters.related("relationship", by="slug", ids=False),
        *content_type_filters("source_type", "destination_type"),
    ],
    example=EXAMPLE_ENDS,
    about=[("source_type", "source_id"), ("destination_type", "destination_id")],
)


@relationship_associations.filter("peer_id", listed=True, help="The id of an object at either end")
def at_either_end(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filter ``?peer_id=<uuid>``: associations that have the object at either end."""
    keys = [uuid.UUID(value) for value in values]
    return sa.or_(*[table.c[f"{end}_id"].in_(keys) for end in (SOURCE, DESTINATION)])


def _generic_cascade(end: str) -> GenericCascade:
    """Returns the cascade from the object at an end of an association to the association."""
    return GenericCascade(
        table_of(RelationshipAssociation),
        f"{end}_type",
        f"{end}_id",
        label="extras.relationshipassociation",
        applies=may_relate,
    )


generic_cascades = [_generic_cascade(SOURCE), _generic_cascade(DESTINATION)]


# -- rules


def type_and_ends_are_fixed_by_associations(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The type and the content types of a relationship cannot change while it has associations. One statement."""
    fixed = ("type", "source_type", "destination_type")
    changed = {draft.id: draft for draft in drafts if not draft.new and draft.changed(*fixed)}
    if not changed:
        return
    key = table_of(RelationshipAssociation).c.relationship_id
    in_use = sa.select(key).where(in_parameter(key)).distinct()
    for relationship_id in uow.execute(in_use, {"keys": list(changed)}).scalars():
        draft = changed[relationship_id]
        for name in fixed:
            if draft.changed(name):
                draft.reject(
                    ALL,
                    f"Not supported to change the {name} of the relationship when some associations are present in the "
                    f"database, delete all associations first before modifying the {name}.",
                )


def _relationships_of(uow: UnitOfWork, drafts: Sequence[Draft], *, locked: bool = False) -> Mapping[Any, Any]:
    """Returns the relationships of drafts of associations by id, from the unit of work's row cache if possible."""
    return listing.rows_of(uow, Relationship, [draft["relationship_id"] for draft in drafts], locked=locked)


@relationship_associations.rule
def ends_have_the_content_types(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The ends are two different, existing objects of the relationship's content types.

    The user must be allowed to view them. The system user's objects are not checked: the caller has done it.
    """
    relationships_by_id = _relationships_of(uow, drafts, locked=True)
    for draft in drafts:
        relationship = relationships_by_id[draft["relationship_id"]]
        types = [f"{end}_type" for end in (SOURCE, DESTINATION)]
        mismatches = [name for name in types if draft[name] != getattr(relationship, name)]
        for name in mismatches[:1]:
            draft.reject(name, f"{name} has a different value than defined in {relationship.name}")
        same_type = draft["source_type"] == draft["destination_type"]
        if not mismatches and same_type and draft["source_id"] == draft["destination_id"]:
            draft.reject("destination_id", "An object cannot form a RelationshipAssociation with itself")
    for end in () if uow.is_system else (SOURCE, DESTINATION):
        moved = [draft for draft in drafts if not draft.errors and draft.changed(f"{end}_type", f"{end}_id")]
        referenced_objects(uow, moved, f"{end}_type", f"{end}_id")


class _AssociationIndex:
    """Index of associations by relationship, end and object: those in the database and those of the current batch."""

    def __init__(self) -> None:
        self._opposite_ids: dict[tuple[Any, str, Any], set[Any]] = {}

    def add(self, relationship_id: Any, source_id: Any, destination_id: Any) -> None:
        """Adds an association."""
        self._opposite_ids.setdefault((relationship_id, SOURCE, source_id), set()).add(destination_id)
        self._opposite_ids.setdefault((relationship_id, DESTINATION, destination_id), set()).add(source_id)

    def has_pair(self, relationship_id: Any, source_id: Any, destination_id: Any) -> bool:
        """Returns true if the two objects are associated in this direction."""
        return destination_id in self._opposite_ids.get((relationship_id, SOURCE, source_id), ())

    def has_object(self, relationship_id: Any, ends: Iterable[str], object_id: Any) -> bool:
        """Returns true if the object is associated at one of the ends."""
        return any((relationship_id, end, object_id) in self._opposite_ids for end in ends)


def _load_index(uow: UnitOfWork, drafts: Sequence[Draft], exclude: Collection[Any]) -> _AssociationIndex:
    """Loads the associations of the drafts' objects, without those whose ids are in ``exclude``. One statement."""
    table = table_of(RelationshipAssociation)
    object_ids = list({draft[f"{end}_id"] for draft in drafts for end in (SOURCE, DESTINATION)})
    columns = table.c.id, table.c.relationship_id, table.c.source_id, table.c.destination_id
    at_either_end = sa.or_(in_parameter(table.c.source_id), in_parameter(table.c.destination_id))
    index = _AssociationIndex()
    for row in uow.execute(sa.select(*columns).where(at_either_end), {"keys": object_ids}):
        if row.id not in exclude:
            index.add(row.relationship_id, row.source_id, row.destination_id)
    return index


@relationship_associations.rule
def ends_are_free(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Enforces cardinality: an object has at most one association at a single end of a relationship.

    In a symmetric relationship both ends count as one, and A-B excludes B-A.
    """
    relationships_by_id = _relationships_of(uow, drafts)
    limited = [draft for draft in drafts if _has_limits(relationships_by_id[draft["relationship_id"]].type)]
    if not limited:
        return
    index = _load_index(uow, limited, exclude={draft.id for draft in drafts})
    reversed_pairs: list[Draft] = []
    occupied_ends: list[tuple[Draft, str]] = []
    for draft in limited:
        relationship = relationships_by_id[draft["relationship_id"]]
        symmetric = relationship.type.startswith(SYMMETRIC)
        if symmetric and index.has_pair(relationship.id, draft["destination_id"], draft["source_id"]):
            reversed_pairs.append(draft)
            continue
        for end in SINGLE_ENDS.get(relationship.type, ()):
            ends_to_check = (SOURCE, DESTINATION) if symmetric else (end,)
            if index.has_object(relationship.id, ends_to_check, draft[f"{end}_id"]):
                occupied_ends.append((draft, end))
        index.add(relationship.id, draft["source_id"], draft["destination_id"])
    _reject_conflicts(uow, relationships_by_id, reversed_pairs, occupied_ends)


def _has_limits(relationship_type: str) -> bool:
    return relationship_type in SINGLE_ENDS or relationship_type.startswith(SYMMETRIC)


def _reject_conflicts(
    uow: UnitOfWork,
    relationships_by_id: Mapping[Any, Any],
    reversed_pairs: Sequence[Draft],
    occupied_ends: Sequence[tuple[Draft, str]],
) -> None:
    """Rejects drafts whose objects are associated already, in the other direction or at a single end.

    The messages name the objects, which takes one statement.
    """
    ends = [*occupied_ends, *((draft, end) for draft in reversed_pairs for end in (SOURCE, DESTINATION))]
    displays = _display_names(uow, ends)
    for draft in reversed_pairs:
        title = relationships_by_id[draft["relationship_id"]].name
        source, destination = displays[draft, SOURCE], displays[draft, DESTINATION]
        draft.reject(ALL, f"A {title} association already exists between {source} and {destination}")
    for draft, end in occupied_ends:
        relationship, display = relationships_by_id[draft["relationship_id"]], displays[draft, end]
        directed = f"{'from' if end == SOURCE else 'to'} {display} ({end})"
        position = f"involving {display} (peer)" if relationship.type.startswith(SYMMETRIC) else directed
        draft.reject(end, f"Unable to create more than one {relationship.name} association {position}")


def _display_names(uow: UnitOfWork, ends: Iterable[tuple[Draft, str]]) -> dict[tuple[Draft, str], str]:
    """Returns the display names of the objects at ends of drafts, ``unknown`` if the user may not view them.

    One statement, none without ends.
    """
    objects = {(draft, end): (draft[f"{end}_type"], draft[f"{end}_id"]) for draft, end in ends}
    if not objects:
        return {}
    nested = named_objects(uow, "nested", set(objects.values()), permissions.visible_for(uow))
    return {
        place: str(nested[pair]["display"]) if pair in nested else UNKNOWN_OBJECT for place, pair in objects.items()
    }


@relationship_associations.rule
def ends_match_the_filters(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Only objects that match the relationship's filter can be at its end. One statement for each filter."""
    relationships_by_id = _relationships_of(uow, drafts)
    groups: dict[tuple[Any, str], list[Draft]] = {}
    for draft in drafts:
        for end in (SOURCE, DESTINATION):
            if getattr(relationships_by_id[draft["relationship_id"]], f"{end}_filter"):
                groups.setdefault((draft["relationship_id"], end), []).append(draft)
    for (relationship_id, end), group in groups.items():
        relationship = relationships_by_id[relationship_id]
        label, parameters = getattr(relationship, f"{end}_type"), getattr(relationship, f"{end}_filter")
        matches = matching_ids(uow, label, parameters, {draft[f"{end}_id"] for draft in group})
        outside = [draft for draft in group if draft[f"{end}_id"] not in matches]
        displays = _display_names(uow, [(draft, end) for draft in outside])
        for draft in outside:
            message = f"{displays[draft, end]} violates {relationship.name} {end}_filter restriction"
            draft.reject(end, message)


def register() -> None:
    """Registers the rule on relationships that depends on associations."""
    relationships.rule(type_and_ends_are_fixed_by_associations)
