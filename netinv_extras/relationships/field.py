"""The ``relationships`` field of organizational resources: reads and writes an object's associations."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
import sqlalchemy as sa

from netinv_core import fields
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Invalid, error_text
from netinv_core.fields import list_differences
from netinv_core.models.base import table_of
from netinv_core.resource import FieldFactory
from netinv_core.sql.plans import named_objects
from netinv_core.write import delete, references, save
from netinv_core.write.draft import Draft
from netinv_core.write.slugs import natural_key
from netinv_extras.relationships import required
from netinv_extras.relationships.associations import RelationshipAssociation
from netinv_extras.relationships.models import (
    DESTINATION,
    NAME,
    OPPOSITE,
    SOURCE,
    matching_ids,
)
from netinv_extras.relationships.sides import PEER, RelationshipSide, relation_of, sides_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields.list_differences import ListDifference
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork

READ_ONLY_MEMBERS = frozenset({"id", "url", "name", "type"})
_ASSOCIATIONS = "extras.relationshipassociation"


_table = table_of(RelationshipAssociation)
# The associations that have one of the objects ``:keys`` at either end.
_associations = sa.select(_table.c.id, _table.c.relationship_id, _table.c.source_id, _table.c.destination_id).where(
    sa.or_(in_parameter(_table.c.source_id), in_parameter(_table.c.destination_id))
)

# Ids of associations by (id of an object, side) and id of the associated object.
AssociationIds = dict[tuple[Any, RelationshipSide], dict[Any, Any]]


def association_ids(uow: UnitOfWork, sides: Iterable[RelationshipSide], keys: Collection[Any]) -> AssociationIds:
    """Loads the associations of objects in the given relationships. One statement."""
    sides_by_relationship: dict[Any, list[RelationshipSide]] = {}
    for side in sides:
        sides_by_relationship.setdefault(side.relationship_id, []).append(side)
    object_ids, associations = set(keys), AssociationIds()
    rows = uow.execute(_associations, {"keys": list(object_ids)})
    for key, relationship_id, source, destination in rows:
        for side in sides_by_relationship.get(relationship_id, ()):
            if source in object_ids and (side.end == SOURCE or side.name == PEER):
                associations.setdefault((source, side), {})[destination] = key
            if destination in object_ids and (side.end == DESTINATION or side.name == PEER):
                associations.setdefault((destination, side), {})[source] = key
    return associations


def _represent(uow: UnitOfWork, label: str, keys: Sequence[Any]) -> dict[Any, dict[str, Any]]:
    """Returns the ``relationships`` representation of objects by id.

    Two statements for any number of objects, plus one per relationship with a filter; none without relationships.
    """
    sides = sides_of(uow, label)
    if not sides or not keys:
        return {}
    associations = association_ids(uow, sides, keys)
    pairs = {(side.other_type, other_id) for (_, side), by_other in associations.items() for other_id in by_other}
    nested = named_objects(uow, "nested", pairs)
    applicable = {side: matching_ids(uow, label, side.filter, keys) for side in sides if side.filter}
    representations: dict[Any, dict[str, Any]] = {key: {} for key in keys}
    for key, representation in representations.items():
        for side in sides:
            if side in applicable and key not in applicable[side]:
                continue
            other_ids = associations.get((key, side), ())
            objects = [nested[side.other_type, other] for other in other_ids if (side.other_type, other) in nested]
            objects.sort(key=lambda item: natural_key(str(item["display"])))
            entry = representation.setdefault(side.slug, _entry_head(uow, side))
            entry[side.name] = {"label": side.label, "object_type": side.other_type, "objects": objects}
    return representations


def _entry_head(uow: UnitOfWork, side: RelationshipSide) -> dict[str, Any]:
    url = f"{uow.base}{uow.registry['extras.relationship'].path}{side.relationship_id}/"
    return {"id": side.relationship_id, "url": url, "name": side.title, "type": side.type}


@dataclasses.dataclass(eq=False, kw_only=True)
class SideObjects(fields.ToMany):
    """List of objects sent for one side of a relationship; resolved in one batch with other references."""

    side: RelationshipSide

    @property
    def pairs(self) -> Any:
        relation = relation_of(self.registry, self.side)
        assert relation.pairs is not None
        return relation.pairs()

    def set_list(self, draft: Draft, items: list[Any]) -> None:
        if len(items) > 1 and not self.side.many:
            draft.reject(NAME, too_many(self.side))
        else:
            draft.extra[NAME][self.side] = list(dict.fromkeys(items))

    def reject(self, draft: Draft, errors: list[str]) -> None:
        draft.reject(NAME, *errors)


def _associated_ids(value: Any) -> dict[tuple[str, str], list[str]]:
    """The ids of the objects in a representation, by relationship and side, without empty lists."""
    return {
        (str(entry["id"]), name): ids
        for entry in (value or {}).values()
        for name, side in entry.items()
        if name not in READ_ONLY_MEMBERS and (ids := sorted(str(item["id"]) for item in side["objects"]))
    }


def _places(value: Any) -> set[tuple[str, str]]:
    """The relationships and sides that a representation has."""
    return {(str(entry["id"]), name) for entry in (value or {}).values() for name in entry.keys() - READ_ONLY_MEMBERS}


def _ends_of(association: Mapping[str, Any] | None) -> list[tuple[str, tuple[str, str], str]]:
    """The ends of a recorded association: id of the object, relationship and side, id of the other object.

    The record does not say whether the ends are peers, so an end is at two sides, one of which its object has.
    """
    if association is None:
        return []
    key = str(association["relationship"]["id"])
    source, destination = str(association["source_id"]), str(association["destination_id"])
    return [
        *((source, (key, name), destination) for name in (DESTINATION, PEER)),
        *((destination, (key, name), source) for name in (SOURCE, PEER)),
    ]


@dataclasses.dataclass(eq=False, kw_only=True)
class Relationships(fields.Field):
    """Object with one entry per relationship of the content type, by slug.

    On write, each list of objects that is sent replaces the associations of that side; other sides are unchanged.
    """

    endpoint: Endpoint
    opt_in: bool = True

    def sources(self) -> Collection[str]:
        return ()

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        key, label = plan.column(place, "id"), place.endpoint.label
        batch = plan.batch(lambda uow, rows: _represent(uow, label, [row[key] for row in rows]))
        return lambda row, page: page.batches[batch].get(row[key], {})

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        if not isinstance(value, dict):
            raise colander.Invalid(None, unknown_relationship(value, self.endpoint))
        if value:
            draft.extra[NAME] = value

    def compared(self, before: Any, after: Any) -> tuple[Any, Any]:
        """The associated objects. A relationship that is no longer defined, or was defined since, is no difference."""
        defined = _places(after) if isinstance(after, dict) else None
        former = _associated_ids(before)
        kept = {place: ids for place, ids in former.items() if defined is None or place in defined}
        return kept, _associated_ids(after)

    def followed(
        self, values: Mapping[Any, Any], changes: Mapping[str, Sequence[tuple[Any, Any]]]
    ) -> Mapping[Any, Any]:
        """The associated objects after associations were deleted and created."""
        pairs = changes.get(_ASSOCIATIONS)
        if not pairs:
            return values
        found: dict[str, dict[tuple[str, str], set[str]]] = {}
        for key, value in values.items():
            associated = _associated_ids(value)
            found[str(key)] = {place: set(associated.get(place, ())) for place in _places(value)}
        for former, _ in pairs:
            for key, place, other in _ends_of(former):
                found.get(key, {}).get(place, set()).discard(other)
        for _, latter in pairs:
            for key, place, other in _ends_of(latter):
                if key in found:
                    found[key].setdefault(place, set()).add(other)
        followed: dict[Any, dict[str, dict[str, Any]]] = {}
        for key in values:
            entries = followed[key] = {}
            for (relationship, name), others in found[str(key)].items():
                entry = entries.setdefault(relationship, {"id": relationship})
                entry[name] = {"objects": [{"id": other} for other in sorted(others)]}
        return followed

    def restored(self, value: Any, current: Any) -> Any:
        """The lists of the relationships that are still defined, by their present slugs."""
        slugs, places = {str(entry["id"]): slug for slug, entry in (current or {}).items()}, _places(current)
        return {
            slugs[key]: {name: side for name, side in entry.items() if (key, name) in places}
            for entry in (value or {}).values()
            if (key := str(entry["id"])) in slugs
        }

    def differing(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> set[Any]:
        parsed = [Draft(draft.endpoint, draft.body, draft.before) for draft in drafts]
        for copy, draft in zip(parsed, drafts, strict=True):
            copy.extra[NAME] = draft.extra[NAME]
        resolve(uow, self.endpoint, [draft for draft in parsed if any(isinstance(k, str) for k in draft.extra[NAME])])
        sides = {side for draft in parsed for side in draft.extra[NAME]}
        existing = association_ids(uow, sides, [draft.id for draft in parsed]) if sides else {}

        def is_stored(draft: Draft) -> bool:
            sent = draft.extra[NAME].items()
            return not draft.errors and all(set(ids) == {*existing.get((draft.id, side), ())} for side, ids in sent)

        return {draft.id for draft in parsed if not is_stored(draft)}

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        sent = {
            (draft.id, side): set(other_ids)
            for draft in drafts
            for side, other_ids in draft.extra.get(NAME, {}).items()
        }
        if sent:
            self._store(uow, drafts, sent)
        required.check_after_write(uow, self.endpoint.label, drafts, association_ids)

    def _store(
        self, uow: UnitOfWork, drafts: Sequence[Draft], sent: Mapping[tuple[Any, RelationshipSide], set[Any]]
    ) -> None:
        """Makes the associations of objects at sides those that were sent."""
        system = uow.as_system()
        existing = association_ids(uow, {side for _, side in sent}, {key for key, _ in sent})
        differences = _differences_by_place(drafts)
        removed = {
            (place, other_id): association_id
            for place, other_ids in sent.items()
            for other_id, association_id in existing.get(place, {}).items()
            if other_id not in other_ids and (place not in differences or other_id in differences[place].remove)
        }
        if removed:
            delete.delete(system, uow.registry[_ASSOCIATIONS], [{"id": str(key)} for key in set(removed.values())])
        _create_missing(system, drafts, existing, differences)
        by_id = {draft.id: draft for draft in drafts}
        left = {
            (side.relationship_id, OPPOSITE[side.end], side.other_type, other_id): by_id[key]
            for (key, side), other_id in removed
        }
        required.check_left_ends(uow, left)


def resolve(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Parses the values that drafts have in ``extra``, and replaces them by the ids of objects by side."""
    if not drafts:
        return
    fields_by_side = {
        side: SideObjects(name=NAME, table=None, to=side.other_type, registry=uow.registry, side=side)
        for side in sides_of(uow, endpoint.label)
    }
    for draft in drafts:
        sent, draft.extra[NAME] = draft.extra[NAME], {}
        _parse(endpoint, fields_by_side, draft, sent)
    references.resolve(uow, drafts)
    list_differences.apply(uow, drafts)


def _parse(
    endpoint: Endpoint,
    fields_by_side: Mapping[RelationshipSide, SideObjects],
    draft: Draft,
    sent: Mapping[str, Any],
) -> None:
    """Validates the shape of the sent value and queues its objects for the batch resolution of references."""
    for slug, value in sent.items():
        sides = {side.name: side for side in fields_by_side if side.slug == slug}
        if not sides:
            draft.reject(NAME, unknown_relationship(slug, endpoint))
        elif not isinstance(value, dict):
            names = " or ".join(map(repr, sorted(sides)))
            draft.reject(NAME, f'["{slug}"] must be an object with {names}, not a {type(value).__name__}')
        else:
            for name in value.keys() - READ_ONLY_MEMBERS:
                if name not in sides:
                    title = next(iter(sides.values())).title
                    draft.reject(NAME, f'"{name}" is not a valid side for "{title}" on {endpoint.model_name}')
                else:
                    _parse_side(draft, fields_by_side[sides[name]], value[name])


def _parse_side(draft: Draft, field: SideObjects, value: Any) -> None:
    """Adds the objects sent for a side, or the change of its list, to the references; rejects malformed ones."""
    side = field.side
    if not isinstance(value, dict) or "objects" not in value:
        draft.reject(NAME, f'"objects" must be specified under ["{side.slug}"]["{side.name}"] when present')
        return
    objects, position = value["objects"], f'["{side.slug}"]["{side.name}"]["objects"]'
    try:
        difference = list_differences.parse(draft, objects)
    except colander.Invalid as error:
        draft.reject(NAME, f"{position}: {error.msg}")
        return
    if difference is not None:
        draft.add_difference(field, difference)
    elif not isinstance(objects, list):
        draft.reject(NAME, f"{position} must be a list, not a {type(objects).__name__}")
    elif len(objects) > 1 and not side.many:
        draft.reject(NAME, too_many(side))
    else:
        draft.add_references(field, objects)


def _differences_by_place(drafts: Sequence[Draft]) -> dict[tuple[Any, RelationshipSide], ListDifference]:
    """The sides that were sent as differences, by object and side.

    Only what they name is created or removed: associations may be changed from their other end meanwhile.
    """
    return {
        (draft.id, field.side): difference
        for draft in drafts
        for field, difference in draft.differences
        if isinstance(field, SideObjects)
    }


def _create_missing(
    uow: UnitOfWork, drafts: Sequence[Draft], existing: AssociationIds, differences: Mapping[Any, ListDifference]
) -> None:
    """Creates the associations that drafts ask for and that do not exist. An error is reported on its draft.

    :raises Invalid: if an association breaks a database constraint
    """
    bodies: dict[tuple[Any, Any, Any], tuple[Draft, dict[str, Any]]] = {}
    for draft in drafts:
        for side, other_ids in draft.extra.get(NAME, {}).items():
            difference = differences.get((draft.id, side))
            for other_id in other_ids if difference is None else difference.add:
                if other_id not in existing.get((draft.id, side), {}):
                    source, destination = side.pair(draft.id, other_id)
                    body = _association_body(draft, side, source, destination)
                    bodies.setdefault((side.relationship_id, source, destination), (draft, body))
    if not bodies:
        return
    try:
        save.create(uow, uow.registry[_ASSOCIATIONS], [body for _, body in bodies.values()])
    except Invalid as error:
        if not error.object_errors:  # a database constraint
            raise
        for (draft, _), errors in zip(bodies.values(), error.object_errors, strict=True):
            if errors:
                draft.reject(NAME, *[error_text(messages) for messages in errors.values()])


def _association_body(draft: Draft, side: RelationshipSide, source: Any, destination: Any) -> dict[str, Any]:
    """Returns the body that creates an association of the draft's object."""
    return {
        "relationship": str(side.relationship_id),
        "source_id": str(source),
        "destination_id": str(destination),
        f"{side.end}_type": draft.endpoint.label,
        f"{OPPOSITE[side.end]}_type": side.other_type,
    }


def too_many(side: RelationshipSide) -> str:
    """The error of several objects at a side that has one."""
    return f'For "{side.title}", "{side.name}" objects must include at most a single object'


def unknown_relationship(name: Any, endpoint: Endpoint) -> str:
    """The error of a relationship that the content type does not have."""
    return f'"{name}" is not a relationship on {endpoint.model_name}'


field = FieldFactory(
    NAME, lambda registry, endpoint: Relationships(name=NAME, endpoint=endpoint, openapi={"type": "object"})
)
