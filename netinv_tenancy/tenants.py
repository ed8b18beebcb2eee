"""Tenants and tenant groups."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.models.base import Organizational, Primary, Tree
from netinv_core.models.columns import CASCADE, SELF, SET_NULL, Comments, Description, Name, Ref, Slug, foreign_key
from netinv_core.presentation import Presentation
from netinv_core.read.filters import Filter, related, tree_pair
from netinv_core.resource import Resource
from netinv_core.write.trees import count_below, depth


class TenantGroup(Tree, Organizational):
    """An arbitrary collection of tenants; groups nest."""

    __tablename__ = "tenancy_tenant_group"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    parent_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="children")
    description: Mapped[Description]


class Tenant(Primary):
    """A customer or department that owns or uses things."""

    __tablename__ = "tenancy_tenant"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    group_id: Mapped[Ref | None] = foreign_key(TenantGroup, on_delete=SET_NULL, related_name="tenants")
    description: Mapped[Description]
    comments: Mapped[Comments]


tenant_groups = Resource(
    TenantGroup,
    "tenant-groups",
    type_order="~1 ",
    brief=["name", "slug", "tenant_count", "_depth"],
    order=["tree_key"],
    search=["name", "description", "slug"],
    fields=[depth("_depth"), count_below("tenant_count", "tenancy.tenant", "group_id")],
)

tenants = Resource(
    Tenant,
    "tenants",
    type_order="~4 ",
    brief=["name", "slug"],
    order=["group.name", "name"],
    search=["name", "slug", "description", "comments", "group.name"],
    filters=[*tree_pair("group")],
    presentation=Presentation(
        counted=True,
        columns=["group", "site_count", "device_count", "prefix_count", "description"],
        facets=["group"],
    ),
)


def tenant_filters(path: str = "tenant") -> list[Filter]:
    """Returns the filters by tenant group, which include the groups below it, and by tenant.

    A foreign key ``tenant`` of the resource itself has filters already; they are not added again.

    :param path: path of foreign keys from the resource to the tenant
    """
    filters = tree_pair("tenant_group", f"{path}.group")
    if path != "tenant":
        filters += [related("tenant", path), related("tenant_id", path, by=())]
    return filters
