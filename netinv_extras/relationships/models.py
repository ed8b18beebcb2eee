"""Relationships that users define between objects of any two models, and the associations in which objects stand.

What an object shows of them is in :mod:`netinv_extras.relationships.field`, how it is found by them in
:mod:`netinv_extras.relationships.filters`.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.db.engine import in_parameter
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Invalid
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Model, Organizational, table_of
from netinv_core.models.columns import CASCADE, Choices, Description, Ref, boolean, choice, column, foreign_key, json_document, required_text, slug, text
from netinv_core.read import filters, listing, saved_filters
from netinv_core.read.plan import JoinedTable, Plan, Reader, named_objects
from netinv_core.resource import FieldFactory, Resource
from netinv_core.uow import UnitOfWork
from netinv_core.write.delete import GenericCascade
from netinv_core.write.draft import ALL, Draft
from netinv_extras.content_types import named_objects as named_in
from netinv_extras.content_types import type_label

NAME = "relationships"
ONE_TO_ONE, ONE_TO_MANY, MANY_TO_MANY = "one-to-one", "one-to-many", "many-to-many"
SYMMETRIC = "symmetric-"
TYPES = Choices.of(
    (ONE_TO_ONE, "One to One"),
    (f"{SYMMETRIC}{ONE_TO_ONE}", "Symmetric One to One"),
    (ONE_TO_MANY, "One to Many"),
    (MANY_TO_MANY, "Many to Many"),
    (f"{SYMMETRIC}{MANY_TO_MANY}", "Symmetric Many to Many"),
)
SOURCE, DESTINATION = "source", "destination"
OTHER = {SOURCE: DESTINATION, DESTINATION: SOURCE}
REQUIRED_ON = Choices.of(
    ("", "Neither side required"),
    (SOURCE, "Source objects MUST implement this relationship"),
    (DESTINATION, "Destination objects MUST implement this relationship"),
)
# The ends of which an object may stand in no more than one association, by the type of the relationship.
SINGLE = {
    ONE_TO_ONE: (SOURCE, DESTINATION),
    f"{SYMMETRIC}{ONE_TO_ONE}": (SOURCE, DESTINATION),
    ONE_TO_MANY: (DESTINATION,),
}

ENDS = {"source_type": "extras.secret", "destination_type": "extras.secretsgroup"}
TAKEN = "The fields relationship, source_type, source_id, destination_type, destination_id must make a unique set."


class Relationship(Organizational):
    """A way in which objects of two content types may belong together; for a symmetric one both types are the same.

    The ``…_filter`` are query parameters of the objects' resource: only objects that they find may stand at that end.
    """

    __tablename__ = "extras_relationship"

    name: Mapped[str] = required_text(100, unique=True)
    slug: Mapped[str] = slug("name", slug_joint="_")
    description: Mapped[Description]
    type: Mapped[str] = choice(TYPES, default=MANY_TO_MANY, plain=True, blank=False)
    required_on: Mapped[str] = choice(REQUIRED_ON, 12, default="", plain=True)
    source_type: Mapped[str] = column(length=100)
    source_label: Mapped[str] = text(50, "Label for related destination objects, as displayed on the source object.", label="Source Label")
    source_hidden: Mapped[bool] = boolean(False, "Hide this relationship on the source object.", label="Hide for source object")
    source_filter: Mapped[Any | None] = json_document("Filterset filter matching the applicable source objects of the selected type")
    destination_type: Mapped[str] = column(length=100)
    destination_label: Mapped[str] = text(50, "Label for related source objects, as displayed on the destination object.", label="Destination Label")
    destination_hidden: Mapped[bool] = boolean(False, "Hide this relationship on the destination object.", label="Hide for destination object")
    destination_filter: Mapped[Any | None] = json_document("Filterset filter matching the applicable destination objects of the selected type")
    advanced_ui: Mapped[bool] = boolean(False, hidden=True, in_object_data=True)


class RelationshipAssociation(Model):
    """Two objects that belong together in a relationship."""

    __tablename__ = "extras_association"
    __table_args__ = (
        unique_set("relationship_id", "source_id", "destination_id", message=TAKEN),
        sa.Index("ix_extras_association_source", "source_id"),
        sa.Index("ix_extras_association_destination", "destination_id"),
    )

    relationship_id: Mapped[Ref] = foreign_key(Relationship, on_delete=CASCADE, index=False)
    source_type: Mapped[str] = column(length=100)
    source_id: Mapped[uuid.UUID] = column()
    destination_type: Mapped[str] = column(length=100)
    destination_id: Mapped[uuid.UUID] = column()


def may_relate(endpoint: Endpoint) -> bool:
    """Whether objects of an endpoint have relationships."""
    return issubclass(endpoint.model, Organizational) and NAME not in endpoint.resource.omit


def _of_types(*names: str) -> list[filters.Filter]:
    """The parameters for columns of labels: one ``app.model`` or several."""

    def parameter(name: str) -> filters.Filter:
        return filters.content_type(name, lambda endpoint, table, labels: table.c[name].in_(labels))

    return [parameter(name) for name in names]


relationships = Resource(
    Relationship,
    "relationships",
    display=(lambda name: name.replace("_", " "), "name"),
    called="name",
    brief=["name", "slug"],
    search=["name", "slug", "description"],
    fields=[type_label("source_type", may_relate), type_label("destination_type", may_relate)],
    omit=["custom_fields", "computed_fields", NAME],
    filters=[filters.one_of("type", TYPES, multiple=False), *_of_types("source_type", "destination_type")],
    configuration=True,
    example={**ENDS, "required_on": "", "source_filter": {}, "destination_filter": {}},
)


@dataclasses.dataclass(eq=False, kw_only=True)
class Joined(fields.Field):
    """What an association is called: its two objects and its relationship; of an object that is not there, ``unknown``."""

    read_only: bool = True

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        columns = {end: (plan.column(place, f"{end}_type"), plan.column(place, f"{end}_id")) for end in (SOURCE, DESTINATION)}
        batches = {end: plan.load_generic("nested", *columns[end]) for end in columns}
        name, type_ = plan.read(place, "relationship.display"), plan.read(place, "relationship.type")

        def called(row: Any, page: Any, end: str) -> str:
            label, key = columns[end]
            found = page.batches[batches[end]].get((row[label], row[key]))
            return str(found["display"]) if found else "unknown"

        def read(row: Any, page: Any) -> str:
            arrow = "<->" if type_(row, page).startswith(SYMMETRIC) else "->"
            return f"{called(row, page, SOURCE)} {arrow} {called(row, page, DESTINATION)} - {name(row, page)}"

        return read


relationship_associations = Resource(
    RelationshipAssociation,
    "relationship-associations",
    display=(None,),
    brief=["relationship", "source_id", "destination_id"],
    order=[],
    fields=[
        FieldFactory("display", lambda registry, endpoint: Joined(name="display", openapi={"type": "string"})),
        type_label("source_type", may_relate),
        type_label("destination_type", may_relate),
    ],
    filters=[filters.related("relationship", by="slug", ids=False), *_of_types("source_type", "destination_type")],
    example=ENDS,
    about=[("source_type", "source_id"), ("destination_type", "destination_id")],
)


@relationship_associations.filter("peer_id", help="The id of an object at either end")
def at_either_end(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """``?peer_id=…``: the associations in which an object stands."""
    return sa.or_(*[table.c[f"{end}_id"].in_([uuid.UUID(value) for value in values]) for end in (SOURCE, DESTINATION)])


def _dependents(end: str) -> GenericCascade:
    return GenericCascade(table_of(RelationshipAssociation), f"{end}_type", f"{end}_id", label="extras.relationshipassociation", applies=may_relate)


generic_cascades = [_dependents(SOURCE), _dependents(DESTINATION)]


# -- what a relationship may be


@relationships.rule
def symmetric_ones_have_equal_ends(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """What is said of one end of a symmetric relationship holds for the other, and neither end can ask for more than the other."""
    for draft in drafts:
        if not draft["type"].startswith(SYMMETRIC):
            continue
        if draft["source_type"] != draft["destination_type"]:
            draft.reject("destination_type", "Must match source_type for a symmetric relationship")
        if draft["required_on"]:
            draft.reject("required_on", "Symmetric relationships cannot be marked as required.")
        for what in ("label", "hidden", "filter"):
            ours, theirs = draft[f"{SOURCE}_{what}"], draft[f"{DESTINATION}_{what}"]
            if ours != theirs and (what == "hidden" or (ours and theirs)):
                draft.reject(f"{DESTINATION}_{what}", f"Must match {SOURCE}_{what} for a symmetric relationship")
            draft[f"{SOURCE}_{what}"] = draft[f"{DESTINATION}_{what}"] = ours or theirs


@relationships.rule
def filters_find_objects(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A filter holds query parameters of the resource at its end, with values that they take."""
    asked: list[tuple[Draft, str, Endpoint]] = []
    for draft in drafts:
        for name, end in ((f"{end}_filter", end) for end in (SOURCE, DESTINATION)):
            if draft.changed(name, f"{end}_type") and draft[name] is not None:
                endpoint = uow.registry[draft[f"{end}_type"]]
                if isinstance(draft[name], dict):
                    asked.append((draft, name, endpoint))
                else:
                    draft.reject(name, f"Filter for {endpoint.model_name} must be a dictionary")
    errors = saved_filters.validation_errors(uow, [(endpoint, draft[name]) for draft, name, endpoint in asked])
    for (draft, name, endpoint), error in zip(asked, errors, strict=True):
        for message in _faults(error, endpoint):
            draft.reject(name, message)


def _faults(error: Invalid | None, endpoint: Endpoint) -> list[str]:
    """What is wrong with the parameters of a filter."""
    return [
        f"'{name}' is not a valid filter parameter for {endpoint.model_name} object" if messages == [filters.UNKNOWN] else f"'{name}': {messages[0]}"
        for name, messages in (error.body.items() if error is not None else ())
    ]


@relationships.rule
def what_associations_rest_on_stays(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The type and the ends of a relationship are fixed while objects stand in it."""
    concerned = {draft.id: draft for draft in drafts if not draft.new and draft.changed("type", "source_type", "destination_type")}
    used = table_of(RelationshipAssociation).c.relationship_id
    found = sa.select(used).where(in_parameter(uow.registry.dialect, used)).distinct()
    for key in uow.execute(found, {"keys": list(concerned)}).scalars() if concerned else ():
        for name in ("type", "source_type", "destination_type"):
            if concerned[key].changed(name):
                concerned[key].reject(
                    ALL,
                    f"Not supported to change the {name} of the relationship when some associations are present in the database, "
                    f"delete all associations first before modifying the {name}.",
                )


# -- what an association may be


@relationship_associations.rule
def ends_are_of_the_types(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """An object of the right type at each end, and two of them, which the user may view (the service itself has looked already)."""
    known = listing.rows_of(uow, Relationship, [draft["relationship_id"] for draft in drafts], locked=True)
    for draft in drafts:
        relationship = known[draft["relationship_id"]]
        wrong = [f"{end}_type" for end in (SOURCE, DESTINATION) if draft[f"{end}_type"] != getattr(relationship, f"{end}_type")]
        for name in wrong[:1]:
            draft.reject(name, f"{name} has a different value than defined in {relationship.name}")
        if not wrong and draft["source_type"] == draft["destination_type"] and draft["source_id"] == draft["destination_id"]:
            draft.reject("destination_id", "An object cannot form a RelationshipAssociation with itself")
    for end in () if uow.is_system else (SOURCE, DESTINATION):
        moved = [draft for draft in drafts if not draft.errors and draft.changed(f"{end}_type", f"{end}_id")]
        named_in(uow, moved, f"{end}_type", f"{end}_id")


@relationship_associations.rule
def ends_are_free(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Of an end that takes one association an object has no other; in a symmetric relationship, from neither end."""
    known = listing.rows_of(uow, Relationship, [draft["relationship_id"] for draft in drafts])
    concerned = [draft for draft in drafts if _may_clash(known[draft["relationship_id"]].type)]
    if not concerned:
        return
    taken = _taken(uow, concerned, {draft.id for draft in drafts})
    clashes: list[tuple[Draft, str]] = []
    mirrored: list[Draft] = []
    for draft in concerned:
        relationship = known[draft["relationship_id"]]
        ends = {end: draft[f"{end}_id"] for end in (SOURCE, DESTINATION)}
        symmetric = relationship.type.startswith(SYMMETRIC)
        if symmetric and ends[DESTINATION] in taken.get((relationship.id, DESTINATION, ends[SOURCE]), ()):
            mirrored.append(draft)
            continue
        for end in SINGLE.get(relationship.type, ()):
            places = (SOURCE, DESTINATION) if symmetric else (end,)
            if any(taken.get((relationship.id, place, ends[end])) for place in places):
                clashes.append((draft, end))
        for end in ends:
            taken.setdefault((relationship.id, end, ends[end]), set()).add(ends[OTHER[end]])
    _reject_clashes(uow, known, mirrored, clashes)


def _reject_clashes(uow: UnitOfWork, known: Mapping[Any, Any], mirrored: Sequence[Draft], clashes: Sequence[tuple[Draft, str]]) -> None:
    """Names the objects that are associated already: the other way round, or at an end that takes one association."""
    ends = [*clashes, *((draft, end) for draft in mirrored for end in (SOURCE, DESTINATION))]
    called = _called(uow, [(draft[f"{end}_type"], draft[f"{end}_id"]) for draft, end in ends])
    names = {(draft, end): called[draft[f"{end}_type"], draft[f"{end}_id"]] for draft, end in ends}
    for draft in mirrored:
        title = known[draft["relationship_id"]].name
        draft.reject(ALL, f"A {title} association already exists between {names[draft, SOURCE]} and {names[draft, DESTINATION]}")
    for draft, end in clashes:
        relationship, thing = known[draft["relationship_id"]], names[draft, end]
        symmetric = relationship.type.startswith(SYMMETRIC)
        place = f"involving {thing} (peer)" if symmetric else f"{'from' if end == SOURCE else 'to'} {thing} ({end})"
        draft.reject(end, f"Unable to create more than one {relationship.name} association {place}")


def _may_clash(type_: str) -> bool:
    return type_ in SINGLE or type_.startswith(SYMMETRIC)


def _taken(uow: UnitOfWork, drafts: Sequence[Draft], but: Collection[Any]) -> dict[tuple[Any, str, Any], set[Any]]:
    """What the objects of drafts are associated with, by relationship, end and object; one statement."""
    table, dialect = table_of(RelationshipAssociation), uow.registry.dialect
    keys = list({draft[f"{end}_id"] for draft in drafts for end in (SOURCE, DESTINATION)})
    columns = table.c.id, table.c.relationship_id, table.c.source_id, table.c.destination_id
    statement = sa.select(*columns).where(sa.or_(in_parameter(dialect, table.c.source_id), in_parameter(dialect, table.c.destination_id)))
    found: dict[tuple[Any, str, Any], set[Any]] = {}
    for key, relationship, source, destination in uow.execute(statement, {"keys": keys}):
        if key not in but:
            found.setdefault((relationship, SOURCE, source), set()).add(destination)
            found.setdefault((relationship, DESTINATION, destination), set()).add(source)
    return found


def _called(uow: UnitOfWork, pairs: Iterable[tuple[str, Any]]) -> dict[tuple[str, Any], str]:
    """The names of those objects that the user may view, by label and id; one statement."""
    wanted = set(pairs)
    found = named_objects(uow, "nested", wanted, permissions.visible_for(uow)) if wanted else {}
    return {pair: str(found[pair]["display"]) if pair in found else "unknown" for pair in wanted}


@relationship_associations.rule
def ends_are_found_by_the_filters(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Only objects that a relationship's filter finds stand at its end; one statement for each filter."""
    known = listing.rows_of(uow, Relationship, [draft["relationship_id"] for draft in drafts])
    concerned: dict[tuple[Any, str], list[Draft]] = {}
    for draft in drafts:
        for end in (SOURCE, DESTINATION):
            if getattr(known[draft["relationship_id"]], f"{end}_filter"):
                concerned.setdefault((draft["relationship_id"], end), []).append(draft)
    for (relationship, end), group in concerned.items():
        wanted = known[relationship]
        found_by_it = matching(uow, getattr(wanted, f"{end}_type"), getattr(wanted, f"{end}_filter"), {draft[f"{end}_id"] for draft in group})
        outside = [draft for draft in group if draft[f"{end}_id"] not in found_by_it]
        called = _called(uow, [(draft[f"{end}_type"], draft[f"{end}_id"]) for draft in outside])
        for draft in outside:
            draft.reject(end, f"{called[draft[f'{end}_type'], draft[f'{end}_id']]} violates {wanted.name} {end}_filter restriction")


def matching(uow: UnitOfWork, label: str, wanted: Mapping[str, Any], keys: Collection[Any]) -> set[Any]:
    """Those of the objects that a filter finds, whoever asks; none when it has come to make no sense."""
    endpoint = uow.registry[label]
    try:
        condition = saved_filters.condition(uow.as_system(), endpoint, wanted)
    except Invalid:
        return set()
    key = endpoint.table.c.id
    found = sa.select(key).where(in_parameter(uow.registry.dialect, key))
    found = found if condition is None else found.where(condition)
    return set(uow.execute(found, {"keys": list(keys)}).scalars())
