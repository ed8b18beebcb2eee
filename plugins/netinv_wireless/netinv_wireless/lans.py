"""Wireless LANs, their groups, and their authentication."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import (
    CASCADE,
    PROTECT,
    SELF,
    SET_NULL,
    Choices,
    Comments,
    Description,
    Name,
    Organizational,
    Presentation,
    Primary,
    Ref,
    Resource,
    Slug,
    Tree,
    choice,
    encrypted_text,
    filters,
    foreign_key,
    many_to_many,
    required_text,
    to_many,
)
from netinv_dcim.components.interfaces import Interface
from netinv_extras.statuses import status
from netinv_ipam.vlans import VLAN
from netinv_tenancy.tenants import Tenant, tenant_filters

AUTHENTICATIONS = Choices.of(
    ("open", "Open"), ("wep", "WEP"), ("wpa-personal", "WPA Personal (PSK)"), ("wpa-enterprise", "WPA Enterprise")
)
CIPHERS = Choices.of(auto="Auto", tkip="TKIP", aes="AES")


class WirelessLANGroup(Tree, Organizational):
    """A set of wireless LANs; groups nest."""

    __tablename__ = "wireless_lan_group"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    parent_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="children")
    description: Mapped[Description]


class Secured:
    """Mixin with the columns of authentication. The key is encrypted, and never shown."""

    auth_type: Mapped[str] = choice(AUTHENTICATIONS, label="Authentication type")
    auth_cipher: Mapped[str] = choice(CIPHERS, label="Authentication cipher")
    auth_psk: Mapped[str] = encrypted_text(64, label="Pre-shared key")


class WirelessLAN(Secured, Primary):
    """A network that access points announce by its SSID. Several may have the same one."""

    __tablename__ = "wireless_lan"

    ssid: Mapped[str] = required_text(32, label="SSID", index=True)
    group_id: Mapped[Ref | None] = foreign_key(WirelessLANGroup, on_delete=SET_NULL, related_name="wireless_lans")
    status_id: Mapped[Ref] = status(initial=["Active", "Reserved", "Disabled", "Deprecated"])
    vlan_id: Mapped[Ref | None] = foreign_key(VLAN, on_delete=PROTECT, related_name="wireless_lans", label="VLAN")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="wireless_lans")
    description: Mapped[Description]
    comments: Mapped[Comments]


lan_interfaces = many_to_many("wireless_lan_interface", WirelessLAN.__tablename__, Interface.__tablename__)
SECURITY = ("Authentication", ["auth_type", "auth_cipher", "auth_psk"])

wireless_lan_groups = Resource(
    WirelessLANGroup,
    "wireless-lan-groups",
    title="wireless LAN group",
    brief=["name", "slug"],
    order=["tree_key"],
    search=["name", "slug", "description"],
)

wireless_lans = Resource(
    WirelessLAN,
    "wireless-lans",
    title="wireless LAN",
    display="ssid",
    brief=["ssid"],
    order=["ssid"],
    search=["ssid", "description", "comments"],
    fields=[to_many("interfaces", lan_interfaces, "dcim.interface", related_name="wireless_lans")],
    filters=[*filters.tree_pair("group"), *tenant_filters()],
    presentation=Presentation(
        icon="wifi",
        columns=["group", "status", "vlan", "auth_type", "tenant", "description"],
        facets=["status", "group", "auth_type", "tenant"],
        fieldsets=[
            ("Wireless LAN", ["ssid", "group", "status", "vlan", "interfaces", "description"]),
            SECURITY,
            ("Belonging", ["tenant"]),
        ],
    ),
)
