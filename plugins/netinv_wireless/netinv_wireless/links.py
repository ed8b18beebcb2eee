"""Wireless links: two interfaces that are connected by radio."""

from __future__ import annotations

import decimal
from collections.abc import Sequence

from sqlalchemy.orm import Mapped

from netinv_core import (
    CASCADE,
    PROTECT,
    Choices,
    Comments,
    Description,
    Draft,
    Presentation,
    Primary,
    Ref,
    Resource,
    UnitOfWork,
    choice,
    decimal_number,
    foreign_key,
    text,
    unique_set,
)
from netinv_dcim.components.interfaces import Interface
from netinv_extras.statuses import status
from netinv_tenancy.tenants import Tenant, tenant_filters
from netinv_wireless.lans import SECURITY, Secured

UNITS = Choices.of(km="Kilometers", m="Meters", mi="Miles", ft="Feet")


class WirelessLink(Secured, Primary):
    """A connection between two radios."""

    __tablename__ = "wireless_link"
    __table_args__ = (unique_set("interface_a_id", "interface_b_id"),)

    interface_a_id: Mapped[Ref] = foreign_key(
        Interface, on_delete=CASCADE, related_name="wireless_links_a", label="Interface A", index=False
    )
    interface_b_id: Mapped[Ref] = foreign_key(
        Interface, on_delete=CASCADE, related_name="wireless_links_b", label="Interface B"
    )
    ssid: Mapped[str] = text(32, label="SSID")
    status_id: Mapped[Ref] = status(initial=["Connected", "Planned", "Decommissioning"])
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="wireless_links")
    distance: Mapped[decimal.Decimal | None] = decimal_number(8, 2, minimum=0)
    distance_unit: Mapped[str] = choice(UNITS)
    description: Mapped[Description]
    comments: Mapped[Comments]


def link_display(ssid: str, first: str, second: str) -> str:
    """The display name: the SSID, or the two interfaces."""
    return ssid or f"{first} - {second}"


wireless_links = Resource(
    WirelessLink,
    "wireless-links",
    display=(link_display, "ssid", "interface_a.name", "interface_b.name"),
    brief=["ssid", "interface_a", "interface_b"],
    order=["ssid", "created"],
    search=["ssid", "description", "comments"],
    filters=[*tenant_filters()],
    presentation=Presentation(
        icon="wifi",
        columns=["interface_a", "interface_b", "status", "distance", "distance_unit", "tenant", "description"],
        facets=["status", "tenant"],
        fieldsets=[
            ("Wireless link", ["interface_a", "interface_b", "ssid", "status", "description"]),
            ("Distance", ["distance", "distance_unit"]),
            SECURITY,
            ("Belonging", ["tenant"]),
        ],
    ),
)


@wireless_links.rule(changing=["interface_a_id", "interface_b_id"])
def ends_differ(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects links from an interface to itself."""
    for draft in drafts:
        if draft["interface_a_id"] == draft["interface_b_id"]:
            draft.reject("interface_b", "A link connects two different interfaces.")


@wireless_links.rule(changing=["distance", "distance_unit"])
def a_distance_has_a_unit(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a distance without a unit."""
    for draft in drafts:
        if draft["distance"] is not None and not draft["distance_unit"]:
            draft.reject("distance_unit", "A distance needs a unit.")
