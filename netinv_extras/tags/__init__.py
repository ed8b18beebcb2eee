"""Tags, which users assign to primary objects of any package."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.db.expressions import in_parameter
from netinv_core.models.associations import content_type_table
from netinv_core.models.base import Base, Organizational, Primary
from netinv_core.models.columns import Description, Name, color, column
from netinv_core.models.types import Chars
from netinv_core.presentation import Presentation
from netinv_core.read import filters
from netinv_core.resource import FieldFactory, Resource, VersionChange, count_of
from netinv_core.sql import relations
from netinv_core.sql.plan import ReadPlan, nested_fields
from netinv_core.write.delete import GenericCascade
from netinv_extras.content_types import used_types_stay

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


class Tag(Organizational):
    """A keyword with a colour, for objects of certain content types."""

    __tablename__ = "extras_tag"

    name: Mapped[Name] = column(length=100, unique=True)
    slug: Mapped[str] = column(
        length=100,
        unique=True,
        kind="slug",
        pattern=r"^[-\w]+\Z",
        pattern_error='Enter a valid "slug" consisting of Unicode letters, numbers, underscores, or hyphens.',
    )
    color: Mapped[str] = color()
    description: Mapped[Description]


tag_types = content_type_table("extras_tag_type", "extras_tag")
tagged = sa.Table(
    "extras_tagged_item",
    Base.metadata,
    sa.Column("tag_id", sa.Uuid(), sa.ForeignKey("extras_tag.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("object_type", Chars(100), primary_key=True),
    sa.Column("object_id", sa.Uuid(), primary_key=True),
    sa.Index("ix_extras_tagged_item_object", "object_id", "object_type"),
)
generic_cascade = GenericCascade(
    tagged, "object_type", "object_id", applies=lambda endpoint: issubclass(endpoint.model, Primary)
)


def _tagged_items(registry: Registry, table: Any) -> Any:
    return sa.select(sa.func.count()).select_from(tagged).where(tagged.c.tag_id == table.c.id).scalar_subquery()


def _every_type(registry: Registry) -> list[str]:
    return sorted(endpoint.label for endpoint in registry.endpoints.values() if issubclass(endpoint.model, Primary))


ALL_TYPES = ["*"]


@dataclasses.dataclass(eq=False, kw_only=True)
class TagTypes(fields.ContentTypeList):
    """Content types of a tag. ``["*"]``, for bodies of older API versions, stands for all types that can be tagged."""

    def accept(self, draft: Draft, value: Any) -> None:
        super().accept(draft, _every_type(self.registry) if value == ALL_TYPES else value)


def _can_be_tagged(registry: Registry, label: str) -> bool:
    """True for models of primary objects, and for models of packages that are not installed."""
    endpoint = registry.get(label)
    return endpoint is None or issubclass(endpoint.model, Primary)


def _tag_types(registry: Registry, endpoint: Endpoint) -> Field:
    return TagTypes(name="content_types", table=tag_types, registry=registry, required=True, allowed=_can_be_tagged)


tags = Resource(
    Tag,
    "tags",
    brief=["name", "slug", "color"],
    search=["name", "slug", "content_types"],
    fields=[
        count_of("tagged_items", _tagged_items),
        FieldFactory("content_types", _tag_types),
    ],
    versions=[
        VersionChange("1.3", upgrade=lambda body: {**body, "content_types": ALL_TYPES}, absent=("content_types",))
    ],
    presentation=Presentation(
        columns=["color", "tagged_items", "content_types", "description"],
    ),
)


def _used_by(registry: Registry, label: str) -> Any:
    """SELECT of the tags that objects of a content type have."""
    has_tag = in_parameter(tagged.c.tag_id)
    return sa.select(tagged.c.tag_id).where(tagged.c.object_type == label, has_tag).distinct()


tags.rule(used_types_stay(_used_by))


def pairs(endpoint: Endpoint) -> Any:
    """Subquery of the ids of an endpoint's objects and of their tags."""
    columns = tagged.c.object_id.label("owner_id"), tagged.c.tag_id.label("target_id")
    return sa.select(*columns).where(tagged.c.object_type == endpoint.label).subquery()


@dataclasses.dataclass(eq=False, kw_only=True)
class Tags(fields.ToMany):
    """Tags of an object: read in nested form, written as a list of ids or attributes of tags for its content type."""

    endpoint: Endpoint

    @property
    def pairs(self) -> Any:
        return pairs(self.endpoint)

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        tag, assigned = self.registry["extras.tag"], pairs(place.endpoint)
        inner = ReadPlan(plan.registry, tag, key=assigned.c.owner_id, through=assigned, ordered=True)
        nested = inner.finish([*tag.brief, tag.fields["created"], tag.fields["last_updated"]], brief=True)
        return plan.load_to_many(place, nested)

    def schema(self) -> dict[str, Any]:
        tag = self.registry["extras.tag"]
        nested = [*nested_fields(tag), tag.fields["created"], tag.fields["last_updated"]]
        properties = {item.name: item.brief_schema() for item in nested}
        return self._described(
            {"type": "array", "items": {"type": "object", "properties": properties, "required": list(properties)}}
        )

    def named_items(self, items: list[Any]) -> list[Any]:
        has_ids = all(isinstance(item, dict) and item.get("id") for item in items)
        return [item["id"] for item in items] if has_ids else items

    def allowed(self, uow: UnitOfWork, ids: set[Any]) -> set[Any] | None:
        typed = tag_types.c.label == self.endpoint.label
        return set(uow.execute(sa.select(tag_types.c.owner_id).where(tag_types.c.owner_id.in_(ids), typed)).scalars())

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        tags_by_owner = {draft.id: draft.many[self.name] for draft in drafts if self.name in draft.many}
        if not tags_by_owner:
            return
        label = self.endpoint.label
        if not all(draft.new for draft in drafts):
            clause = in_parameter(tagged.c.object_id)
            uow.execute(sa.delete(tagged).where(tagged.c.object_type == label, clause), {"keys": list(tags_by_owner)})
        rows = [
            {"tag_id": tag, "object_type": label, "object_id": owner}
            for owner, ids in tags_by_owner.items()
            for tag in ids
        ]
        if rows:
            uow.execute(sa.insert(tagged), rows)

    def object_data(self, value: Any) -> Any:
        return [item["name"] for item in value]


field = FieldFactory(
    "tags",
    lambda registry, endpoint: Tags(name="tags", table=tagged, to="extras.tag", registry=registry, endpoint=endpoint),
)
parameter = filters.related("tag", "tags", by="slug", ids=False, all_of=True)


def relation(registry: Registry, endpoint: Endpoint) -> relations.Relation:
    """Relation of an endpoint's objects to their tags."""

    def owners(ids: Any = None) -> Any:
        statement = sa.select(tagged.c.object_id).where(tagged.c.object_type == endpoint.label)
        return statement if ids is None else statement.where(tagged.c.tag_id.in_(ids))

    return relations.Relation(
        lambda: registry.get("extras.tag"),
        lambda table, ids: table.c.id.in_(owners(ids)),
        lambda table: table.c.id.in_(owners()),
        pairs=lambda: pairs(endpoint),
    )
