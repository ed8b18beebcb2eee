"""Providers of circuits, and provider networks: networks of a provider whose inside is not recorded."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.models.associations import unique_set
from netinv_core.models.base import Primary
from netinv_core.models.columns import PROTECT, Comments, Description, Name, Ref, Slug, foreign_key, integer, text, url
from netinv_core.presentation import Presentation
from netinv_core.read.filters import related, tree, tree_pair
from netinv_core.resource import Resource


class Provider(Primary):
    """An organization that sells circuits: a carrier, an exchange, another department."""

    __tablename__ = "circuits_provider"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    asn: Mapped[int | None] = integer(1, 4294967295, "32-bit autonomous system number", label="ASN")
    account: Mapped[str] = text(100, label="Account number")
    portal_url: Mapped[str] = url(label="Portal URL")
    noc_contact: Mapped[str] = text(label="NOC contact")
    admin_contact: Mapped[str] = text(label="Admin contact")
    comments: Mapped[Comments]


class ProviderNetwork(Primary):
    """A network of a provider that circuits end in, of which nothing further is recorded."""

    __tablename__ = "circuits_provider_network"
    __table_args__ = (unique_set("provider_id", "name"),)

    provider_id: Mapped[Ref] = foreign_key(Provider, on_delete=PROTECT, related_name="provider_networks")
    name: Mapped[Name]
    slug: Mapped[Slug]
    description: Mapped[Description]
    comments: Mapped[Comments]


providers = Resource(
    Provider,
    "providers",
    type_order="~2 ",
    brief=["name", "slug", "circuit_count"],
    search=["name", "account", "noc_contact", "admin_contact", "comments"],
    filters=[
        *tree_pair("region", "circuits.terminations.site.region"),
        related("site_id", "circuits.terminations.site", by=()),
        related("site", "circuits.terminations.site"),
        tree("location", "circuits.terminations.location"),
    ],
    presentation=Presentation(
        columns=["asn", "account", "circuit_count"],
    ),
)

provider_networks = Resource(
    ProviderNetwork,
    "provider-networks",
    display=(lambda provider, name: f"{provider} {name}", "provider.name", "name"),
    name_attribute="name",
    brief=["name", "slug"],
    order=["provider.name", "name"],
    search=["provider.name", "name", "description", "comments"],
)
