"""Sites: buildings and campuses that contain racks and devices."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.models.base import Primary
from netinv_core.models.columns import (
    PROTECT,
    SET_NULL,
    Comments,
    Description,
    Name,
    Ref,
    Slug,
    column,
    decimal_number,
    email,
    foreign_key,
    integer,
    natural_sort_key,
    text,
)
from netinv_core.models.types import Chars
from netinv_core.presentation import Presentation
from netinv_core.read.filters import one_of, related, tree, tree_pair
from netinv_core.resource import Resource
from netinv_dcim.choices import TIME_ZONES
from netinv_dcim.regions import Region
from netinv_extras.statuses import status
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


def zone_name(value: object) -> str:
    """Returns a name of the IANA time zone database, such as ``Europe/Zurich``.

    :raises ValueError: for any other value
    """
    if not isinstance(value, str) or value not in TIME_ZONES.labels:
        raise ValueError("A valid timezone is required.")
    return value


class Site(Primary):
    """A building, campus or other place that holds racks and devices."""

    __tablename__ = "dcim_site"

    name: Mapped[Name] = mapped_column(unique=True)
    name_key: Mapped[str] = natural_sort_key("name")
    slug: Mapped[Slug]
    status_id: Mapped[Ref] = status(initial=["Active", "Decommissioning", "Planned", "Retired", "Staging"])
    region_id: Mapped[Ref | None] = foreign_key(Region, on_delete=SET_NULL, related_name="sites")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, count_field="site_count")
    facility: Mapped[str] = text(50, "Local facility ID or description")
    asn: Mapped[int | None] = integer(1, 4294967295, "32-bit autonomous system number", label="ASN")
    time_zone: Mapped[str | None] = column(
        Chars(63), default=None, kind="opaque", parse=zone_name, suggestions=tuple(TIME_ZONES.labels)
    )
    description: Mapped[Description]
    physical_address: Mapped[str] = text(200, multiline=True)
    shipping_address: Mapped[str] = text(200, multiline=True)
    latitude: Mapped[decimal.Decimal | None] = decimal_number(8, 6, "GPS coordinate (latitude)")
    longitude: Mapped[decimal.Decimal | None] = decimal_number(9, 6, "GPS coordinate (longitude)")
    contact_name: Mapped[str] = text(50)
    contact_phone: Mapped[str] = text(20)
    contact_email: Mapped[str] = email(label="Contact E-mail")
    comments: Mapped[Comments]


sites = Resource(
    Site,
    "sites",
    brief=["name", "slug"],
    order=["name_key"],
    search=[
        "name",
        "facility",
        "description",
        "physical_address",
        "shipping_address",
        "contact_name",
        "contact_phone",
        "contact_email",
        "comments",
        "asn:exact",
    ],
    filters=[
        *tree_pair("region"),
        *tenant_filters(),
        tree("locations"),
        related("racks", by=()),
        one_of("time_zone", TIME_ZONES),
    ],
    presentation=Presentation(
        counted=True,
        key="s",
        columns=["status", "region", "tenant", "facility", "asn", "description"],
        facets=["status", "region", "tenant"],
        fieldsets=[
            ("Site", ["name", "slug", "status", "region", "tenant", "facility", "asn", "time_zone", "description"]),
            ("Address", ["physical_address", "shipping_address", "latitude", "longitude"]),
            ("Contact", ["contact_name", "contact_phone", "contact_email"]),
        ],
        summary=["region", "facility"],
        quick_fields=["name", "slug", "status"],
    ),
)


@sites.rule
def coordinates_are_on_earth(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects latitudes beyond the poles, and longitudes beyond the antimeridian (WGS 84)."""
    for draft in drafts:
        for name, limit in (("latitude", 90), ("longitude", 180)):
            if draft.changed(name) and draft[name] is not None and abs(draft[name]) > limit:
                draft.reject(name, f"Ensure this value is between -{limit} and {limit}.")
