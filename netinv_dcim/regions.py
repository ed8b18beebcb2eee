"""Regions: geographical areas that group sites. Regions nest."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.models.base import Organizational, Tree
from netinv_core.models.columns import CASCADE, SELF, Description, Name, Ref, Slug, foreign_key
from netinv_core.read.filters import related
from netinv_core.resource import Resource
from netinv_core.write.trees import count_below, depth


class Region(Tree, Organizational):
    """A continent, country, city …; regions nest."""

    __tablename__ = "dcim_region"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    parent_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="children")
    description: Mapped[Description]


regions = Resource(
    Region,
    "regions",
    brief=["name", "slug", "site_count", "_depth"],
    order=["tree_key"],
    search=["name", "description", "parent.name", "slug"],
    fields=[count_below("site_count", "dcim.site", "region_id"), depth("_depth")],
    filters=[related("parent", by="slug", ids=False)],
)
