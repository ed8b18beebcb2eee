"""Sides of relationships: a relationship as the objects of one of its ends see it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.models.base import table_of
from netinv_core.sql import relations
from netinv_extras.relationships.associations import RelationshipAssociation
from netinv_extras.relationships.models import (
    DESTINATION,
    MANY_TO_MANY,
    NAME,
    ONE_TO_MANY,
    OPPOSITE,
    SOURCE,
    SYMMETRIC,
    Relationship,
)

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

PEER = "peer"


@dataclasses.dataclass(frozen=True)
class RelationshipSide:
    """One end of a relationship as objects of a content type see it: the objects at the opposite end.

    :ivar name: name of the opposite end in the API: ``source``, ``destination`` or, if symmetric, ``peer``
    :ivar end: the end of the objects themselves
    :ivar other_type: content type of the objects at the opposite end
    :ivar label: label of the objects at the opposite end
    :ivar many: an object can be associated with several others
    :ivar hidden: the relationship is hidden on the objects at ``end``
    :ivar required: the objects at ``end`` must be associated
    :ivar filter: query parameters; only objects at ``end`` that match them have the relationship
    """

    relationship_id: Any
    slug: str
    title: str
    type: str
    name: str
    end: str
    other_type: str
    label: str
    many: bool
    hidden: bool
    required: bool
    filter: Mapping[str, Any] | None = dataclasses.field(default=None, hash=False)

    def pair(self, key: Any, other: Any) -> tuple[Any, Any]:
        """Returns the (source, destination) ids of the association of two objects; peers are ordered by id."""
        if self.name == PEER:
            return (key, other) if str(key) < str(other) else (other, key)
        return (key, other) if self.end == SOURCE else (other, key)


Sides = Sequence[RelationshipSide]


def sides_of(uow: UnitOfWork, label: str) -> Sides:
    """Returns the relationships of a content type, ordered by name. Cached per configuration version."""
    sides: Sides = uow.cached_config(NAME, _load).get(label, ())
    return sides


def _load(uow: UnitOfWork) -> dict[str, list[RelationshipSide]]:
    """Loads all relationships; returns their sides by content type. One statement."""
    table = table_of(Relationship)
    sides: dict[str, list[RelationshipSide]] = {}
    for row in uow.execute(sa.select(table).order_by(table.c.name)).mappings():
        for end in (SOURCE,) if row["type"].startswith(SYMMETRIC) else (SOURCE, DESTINATION):
            sides.setdefault(row[f"{end}_type"], []).append(_side(uow.registry, row, end))
    return sides


def _side(registry: Registry, row: Mapping[str, Any], end: str) -> RelationshipSide:
    opposite = OPPOSITE[end]
    other_type = row[f"{opposite}_type"]
    many = row["type"].endswith(MANY_TO_MANY) or (row["type"] == ONE_TO_MANY and opposite == DESTINATION)
    return RelationshipSide(
        relationship_id=row["id"],
        slug=row["slug"],
        title=row["name"],
        type=row["type"],
        name=PEER if row["type"].startswith(SYMMETRIC) else opposite,
        end=end,
        other_type=other_type,
        label=row[f"{end}_label"] or _model_title(registry.get(other_type), other_type, many=many),
        many=many,
        hidden=row[f"{end}_hidden"],
        required=row["required_on"] == end,
        filter=row[f"{end}_filter"],
    )


def _model_title(endpoint: Endpoint | None, label: str, *, many: bool) -> str:
    if endpoint is None:
        return label
    return endpoint.plural if many else endpoint.title


def relation_of(registry: Registry, side: RelationshipSide) -> relations.Relation:
    """Returns the relation from objects to those at the opposite end, for read plans and filters."""
    table = table_of(RelationshipAssociation)
    ends = (side.end, OPPOSITE[side.end]) if side.name == PEER else (side.end,)
    selects = [
        sa.select(table.c[f"{end}_id"].label("owner_id"), table.c[f"{OPPOSITE[end]}_id"].label("target_id")).where(
            table.c.relationship_id == side.relationship_id
        )
        for end in ends
    ]
    pairs = selects[0].subquery() if len(selects) == 1 else sa.union_all(*selects).subquery()
    return dataclasses.replace(relations.across(registry, side.other_type, pairs), single=not side.many)
