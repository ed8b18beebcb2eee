"""Roles of prefixes and VLANs, such as production or guests."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.models.base import Organizational
from netinv_core.models.columns import Description, Name, Slug, integer
from netinv_core.resource import Resource


class Role(Organizational):
    """The function of a prefix or a VLAN. ``weight`` orders them."""

    __tablename__ = "ipam_role"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    weight: Mapped[int] = integer(0, 32767, default=1000)
    description: Mapped[Description]


roles = Resource(
    Role,
    "roles",
    brief=["name", "slug", "prefix_count", "vlan_count"],
    order=["weight", "name"],
    search=["name", "slug"],
)
