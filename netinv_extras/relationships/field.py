"""The ``relationships`` member of organizational resources: what an object is associated with, read and written."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import colander
import sqlalchemy as sa

from netinv_core import fields
from netinv_core.db.engine import in_parameter
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Invalid, error_text
from netinv_core.models.base import table_of
from netinv_core.read import relations
from netinv_core.read.plan import JoinedTable, Plan, Reader, named_objects
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory, Rule
from netinv_core.uow import UnitOfWork
from netinv_core.write import delete, references, save
from netinv_core.write.draft import Draft, raise_errors
from netinv_core.write.slugs import natural_key
from netinv_extras.relationships.models import (
    DESTINATION,
    MANY_TO_MANY,
    NAME,
    ONE_TO_MANY,
    OTHER,
    SOURCE,
    SYMMETRIC,
    Relationship,
    RelationshipAssociation,
    matching,
)

PEER = "peer"
SHOWN_ONLY = frozenset({"id", "url", "name", "type"})
_ASSOCIATIONS = "extras.relationshipassociation"


@dataclasses.dataclass(frozen=True)
class Side:
    """What objects of a content type see of a relationship: those at its other end.

    ``name`` is what the others are (``source``, ``destination`` or ``peer``), ``here`` the end at which the objects themselves stand;
    ``many`` says that there may be several others, ``hidden`` and ``required`` what the relationship says of this end; ``only`` the objects that
    its filter finds have the relationship.
    """

    relationship: Any
    slug: str
    title: str
    type: str
    name: str
    here: str
    others: str
    label: str
    many: bool
    hidden: bool
    required: bool
    only: Mapping[str, Any] | None = dataclasses.field(default=None, hash=False)

    def pair(self, key: Any, other: Any) -> tuple[Any, Any]:
        """The ids at the source and the destination of the association of an object with another; for peers, in an order of their own."""
        if self.name == PEER:
            return (key, other) if str(key) < str(other) else (other, key)
        return (key, other) if self.here == SOURCE else (other, key)


Sides = Sequence[Side]


def sides_of(uow: UnitOfWork, label: str) -> Sides:
    """The relationships of a content type, by name; no statement while they are cached."""
    found: Sides = uow.cached_config(NAME, _load).get(label, ())
    return found


def _load(uow: UnitOfWork) -> dict[str, list[Side]]:
    table = table_of(Relationship)
    found: dict[str, list[Side]] = {}
    for row in uow.execute(sa.select(table).order_by(table.c.name)).mappings():
        for here in (SOURCE,) if row["type"].startswith(SYMMETRIC) else (SOURCE, DESTINATION):
            found.setdefault(row[f"{here}_type"], []).append(_side(uow.registry, row, here))
    return found


def _side(registry: Registry, row: Mapping[str, Any], here: str) -> Side:
    there = OTHER[here]
    name = PEER if row["type"].startswith(SYMMETRIC) else there
    many = row["type"].endswith(MANY_TO_MANY) or (row["type"] == ONE_TO_MANY and there == DESTINATION)
    others = row[f"{there}_type"]
    label = row[f"{here}_label"] or _words(registry.get(others), others, many=many)
    hidden, required = row[f"{here}_hidden"], row["required_on"] == here
    return Side(row["id"], row["slug"], row["name"], row["type"], name, here, others, label, many, hidden, required, row[f"{here}_filter"])


def _words(endpoint: Endpoint | None, label: str, *, many: bool) -> str:
    if endpoint is None:
        return label
    return endpoint.plural if many else endpoint.title


def step_of(registry: Registry, side: Side) -> relations.Relation:
    """The way from objects to those at the other end of a relationship."""
    table = table_of(RelationshipAssociation)
    ends = (side.here, OTHER[side.here]) if side.name == PEER else (side.here,)
    selects = [
        sa.select(table.c[f"{end}_id"].label("owner_id"), table.c[f"{OTHER[end]}_id"].label("target_id")).where(table.c.relationship_id == side.relationship)
        for end in ends
    ]
    pairs = selects[0].subquery() if len(selects) == 1 else sa.union_all(*selects).subquery()
    return dataclasses.replace(relations.across(registry, side.others, pairs), single=not side.many)


@functools.cache
def _statement(dialect: str) -> Any:
    """The associations in which objects stand, at whichever end."""
    table = table_of(RelationshipAssociation)
    here = sa.or_(in_parameter(dialect, table.c.source_id), in_parameter(dialect, table.c.destination_id))
    return sa.select(table.c.id, table.c.relationship_id, table.c.source_id, table.c.destination_id).where(here)


Others = dict[tuple[Any, Side], dict[Any, Any]]


def _others(uow: UnitOfWork, sides: Iterable[Side], keys: Collection[Any]) -> Others:
    """The ids of the associations by the ids of the other objects, for each object and side: one statement."""
    of_relationship: dict[Any, list[Side]] = {}
    for side in sides:
        of_relationship.setdefault(side.relationship, []).append(side)
    wanted, found = set(keys), Others()
    for key, relationship, source, destination in uow.execute(_statement(uow.registry.dialect), {"keys": list(wanted)}):
        for side in of_relationship.get(relationship, ()):
            if source in wanted and (side.here == SOURCE or side.name == PEER):
                found.setdefault((source, side), {})[destination] = key
            if destination in wanted and (side.here == DESTINATION or side.name == PEER):
                found.setdefault((destination, side), {})[source] = key
    return found


def _shown(uow: UnitOfWork, label: str, keys: Sequence[Any]) -> dict[Any, dict[str, Any]]:
    """What objects show of their relationships, by id: two statements for however many, and one for each filter; none where none are defined."""
    sides = sides_of(uow, label)
    if not sides or not keys:
        return {}
    others = _others(uow, sides, keys)
    objects = named_objects(uow, "nested", {(side.others, other) for (_, side), found in others.items() for other in found})
    keys_there = set(keys)
    having = {side: matching(uow, label, side.only, keys) for side in sides if side.only}
    found: dict[Any, dict[str, Any]] = {}
    for key in keys:
        shown = found[key] = {}
        for side in sides:
            if key not in having.get(side, keys_there):
                continue
            members = [objects[side.others, other] for other in others.get((key, side), ()) if (side.others, other) in objects]
            members.sort(key=lambda item: natural_key(str(item["display"])))
            entry = shown.setdefault(side.slug, _head(uow, side))
            entry[side.name] = {"label": side.label, "object_type": side.others, "objects": members}
    return found


def _head(uow: UnitOfWork, side: Side) -> dict[str, Any]:
    path = uow.registry["extras.relationship"].path
    return {"id": side.relationship, "url": f"{uow.base}{path}{side.relationship}/", "name": side.title, "type": side.type}


@dataclasses.dataclass(eq=False, kw_only=True)
class Members(fields.ToMany):
    """The list of objects that was sent for one side of a relationship."""

    side: Side

    @property
    def pairs(self) -> Any:
        step = step_of(self.registry, self.side)
        assert step.pairs is not None
        return step.pairs()

    def set_resolved(self, draft: Draft, found: list[Any]) -> None:
        draft.extra[NAME][self.side] = list(dict.fromkeys(found))

    def reject(self, draft: Draft, errors: list[str]) -> None:
        draft.reject(NAME, *errors)


@dataclasses.dataclass(eq=False, kw_only=True)
class Relationships(fields.Field):
    """An object with an entry for each relationship of the content type, by slug.

    Of what is sent, each list of objects takes the place of those that were associated; what is not named is left alone.
    """

    endpoint: Endpoint
    opt_in: bool = True

    def sources(self) -> Collection[str]:
        return ()

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        key, label = plan.column(place, "id"), place.endpoint.label
        batch = plan.batch(lambda uow, rows: _shown(uow, label, [row[key] for row in rows]))
        return lambda row, page: page.batches[batch].get(row[key], {})

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        if not isinstance(value, dict):
            raise colander.Invalid(None, _not_one(value, self.endpoint))
        if value:
            draft.extra[NAME] = value

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        sent = {(draft.id, side): set(others) for draft in drafts for side, others in draft.extra.get(NAME, {}).items()}
        if not sent:
            return
        service = uow.as_system()
        kept = _others(uow, {side for _, side in sent}, {key for key, _ in sent})
        gone = {made for place, others in sent.items() for other, made in kept.get(place, {}).items() if other not in others}
        if gone:
            delete.delete(service, uow.registry[_ASSOCIATIONS], [{"id": str(key)} for key in gone])
        _associate(service, drafts, kept)


def _associate(uow: UnitOfWork, drafts: Sequence[Draft], kept: Others) -> None:
    """Makes the associations that drafts ask for and that are not there.

    :raises Invalid: with what is wrong with one of them, said of the draft that asks for it
    """
    bodies: dict[tuple[Any, Any, Any], tuple[Draft, dict[str, Any]]] = {}
    for draft in drafts:
        for side, others in draft.extra.get(NAME, {}).items():
            types = {side.here: draft.endpoint.label, OTHER[side.here]: side.others}
            for other in others:
                if other not in kept.get((draft.id, side), {}):
                    source, destination = side.pair(draft.id, other)
                    body = {"relationship": str(side.relationship), "source_id": str(source), "destination_id": str(destination)}
                    body |= {f"{end}_type": label for end, label in types.items()}
                    bodies.setdefault((side.relationship, source, destination), (draft, body))
    if not bodies:
        return
    try:
        save.create(uow, uow.registry[_ASSOCIATIONS], [body for _, body in bodies.values()])
    except Invalid as error:
        if not isinstance(error.body, list):  # a constraint of the database
            raise
        for (draft, _), found in zip(bodies.values(), error.body, strict=True):
            if found:
                draft.reject(NAME, *[error_text(messages) for messages in found.values()])
        raise_errors(drafts, single=len(drafts) == 1 or not drafts[0].new)


def rule(endpoint: Endpoint) -> Rule:
    """The rule for objects of an endpoint: what is sent names relationships they have, and objects there are; those that are required are there."""

    def relationships_are_possible(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        sides = sides_of(uow, endpoint.label)
        asked = [draft for draft in drafts if NAME in draft.extra]
        if asked:
            lists = {side: Members(name=NAME, table=None, to=side.others, registry=uow.registry, side=side) for side in sides}
            for draft in asked:
                sent, draft.extra[NAME] = draft.extra[NAME], {}
                _take(endpoint, lists, draft, sent)
            references.resolve(uow, asked)
        required = () if uow.is_system or uow.importing else [side for side in sides if side.required]
        for draft in drafts if required else ():
            _check_required(draft, required)

    return relationships_are_possible


def _take(endpoint: Endpoint, lists: Mapping[Side, Members], draft: Draft, sent: Mapping[str, Any]) -> None:
    """Leaves the objects that were sent to be found with those of the whole batch, or says what is wrong with what was sent."""
    for slug, given in sent.items():
        sides = {side.name: side for side in lists if side.slug == slug}
        if not sides:
            draft.reject(NAME, _not_one(slug, endpoint))
        elif not isinstance(given, dict):
            draft.reject(NAME, f'["{slug}"] must be an object with {" or ".join(map(repr, sorted(sides)))}, not a {type(given).__name__}')
        else:
            for name in given.keys() - SHOWN_ONLY:
                if name not in sides:
                    draft.reject(NAME, f'"{name}" is not a valid side for "{next(iter(sides.values())).title}" on {endpoint.model_name}')
                elif (objects := _objects(draft, sides[name], given[name])) is not None:
                    draft.add_references(lists[sides[name]], objects)


def _objects(draft: Draft, side: Side, given: Any) -> list[Any] | None:
    """The objects that were sent for a side; ``None`` when that is not said rightly."""
    if not isinstance(given, dict) or "objects" not in given:
        draft.reject(NAME, f'"objects" must be specified under ["{side.slug}"]["{side.name}"] when present')
        return None
    objects = given["objects"]
    if not isinstance(objects, list):
        draft.reject(NAME, f'["{side.slug}"]["{side.name}"]["objects"] must be a list, not a {type(objects).__name__}')
        return None
    if len(objects) > 1 and not side.many:
        draft.reject(NAME, f'For "{side.title}", "{side.name}" objects must include at most a single object')
        return None
    return objects


def _check_required(draft: Draft, required: Sides) -> None:
    """A new object stands in what is required of it; what is changed does not step out of it."""
    missing: dict[str, list[str]] = {}
    for side in required:
        given = draft.extra.get(NAME, {}).get(side)
        if given == [] or (draft.new and not given):
            missing.setdefault(side.slug, []).append(f'You need to specify ["relationships"]["{side.slug}"]["{side.name}"]["objects"].')
    if missing:
        draft.errors.setdefault(NAME, missing)


def _not_one(named: Any, endpoint: Endpoint) -> str:
    return f'"{named}" is not a relationship on {endpoint.model_name}'


field = FieldFactory(NAME, lambda registry, endpoint: Relationships(name=NAME, endpoint=endpoint, openapi={"type": "object"}))
