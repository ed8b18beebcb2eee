"""AS numbers, and the sites and providers that use them."""

from __future__ import annotations

from sqlalchemy.orm import Mapped

from netinv_circuits.providers import Provider
from netinv_core import (
    PROTECT,
    Comments,
    Description,
    Presentation,
    Primary,
    Ref,
    Resource,
    foreign_key,
    integer,
    many_to_many,
    to_many,
)
from netinv_dcim.sites import Site
from netinv_ipam.aggregates import RIR
from netinv_tenancy.tenants import Tenant, tenant_filters

LARGEST = 2**32 - 1


class ASN(Primary):
    """The number of an autonomous system, of 16 or 32 bits."""

    __tablename__ = "asns_asn"

    asn: Mapped[int] = integer(1, LARGEST, "16- or 32-bit autonomous system number", label="ASN", unique=True)
    rir_id: Mapped[Ref] = foreign_key(RIR, on_delete=PROTECT, related_name="asns", label="RIR")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="asns")
    description: Mapped[Description]
    comments: Mapped[Comments]


def asn_display(asn: int) -> str:
    """The display name: ``AS64500``."""
    return f"AS{asn}"


asn_sites = many_to_many("asns_asn_site", ASN.__tablename__, Site.__tablename__)
asn_providers = many_to_many("asns_asn_provider", ASN.__tablename__, Provider.__tablename__)

asns = Resource(
    ASN,
    "asns",
    title="ASN",
    plural="ASNs",
    display=(asn_display, "asn"),
    brief=["asn"],
    order=["asn"],
    natural="asn",
    search=["description", "comments"],
    fields=[
        to_many("sites", asn_sites, "dcim.site", related_name="asns"),
        to_many("providers", asn_providers, "circuits.provider", related_name="asns"),
    ],
    filters=[*tenant_filters()],
    presentation=Presentation(
        icon="globe-alt",
        columns=["rir", "sites", "providers", "tenant", "description"],
        facets=["rir", "tenant"],
        fieldsets=[
            ("ASN", ["asn", "rir", "description"]),
            ("Use", ["sites", "providers"]),
            ("Belonging", ["tenant"]),
        ],
    ),
)
