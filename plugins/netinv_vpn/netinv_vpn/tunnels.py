"""Tunnels, their groups, and the interfaces that they end at."""

from __future__ import annotations

import uuid

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import (
    CASCADE,
    PROTECT,
    SET_NULL,
    Choices,
    Comments,
    Description,
    Endpoint,
    GenericCascade,
    Name,
    Organizational,
    Presentation,
    Primary,
    Ref,
    Resource,
    Slug,
    choice,
    column,
    foreign_key,
    generic_fk,
    integer,
    unique_set,
)
from netinv_extras.content_types import generic_reference, type_label
from netinv_extras.statuses import status
from netinv_ipam.addresses import IPAddress
from netinv_tenancy.tenants import Tenant, tenant_filters
from netinv_vpn.ipsec import IPSecProfile

ENCAPSULATIONS = Choices.of(
    ("ipsec-transport", "IPsec - Transport"),
    ("ipsec-tunnel", "IPsec - Tunnel"),
    ("ip-ip", "IP-in-IP"),
    ("gre", "GRE"),
    ("wireguard", "WireGuard"),
    ("openvpn", "OpenVPN"),
    ("l2tp", "L2TP"),
    ("pptp", "PPTP"),
    ("other", "Other"),
)
ROLES = Choices.of(peer="Peer", hub="Hub", spoke="Spoke")
INTERFACES = ("dcim.interface", "virtualization.vminterface")
LABEL = "vpn.tunneltermination"


class TunnelGroup(Organizational):
    """A set of tunnels, such as those of a customer."""

    __tablename__ = "vpn_tunnel_group"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]


class Tunnel(Primary):
    """A connection of two or more interfaces across another network."""

    __tablename__ = "vpn_tunnel"

    name: Mapped[Name] = mapped_column(unique=True)
    status_id: Mapped[Ref] = status(initial=["Active", "Planned", "Disabled"])
    group_id: Mapped[Ref | None] = foreign_key(TunnelGroup, on_delete=SET_NULL, related_name="tunnels")
    encapsulation: Mapped[str] = choice(ENCAPSULATIONS, default="other")
    ipsec_profile_id: Mapped[Ref | None] = foreign_key(
        IPSecProfile, on_delete=PROTECT, related_name="tunnels", label="IPsec profile"
    )
    tunnel_id: Mapped[int | None] = integer(0, 2**63 - 1, label="Tunnel ID")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="tunnels")
    description: Mapped[Description]
    comments: Mapped[Comments]


class TunnelTermination(Primary):
    """An end of a tunnel: an interface, and the address that others reach it at."""

    __tablename__ = "vpn_tunnel_termination"
    __table_args__ = (unique_set("termination_id", "termination_type", "tunnel_id"),)

    tunnel_id: Mapped[Ref] = foreign_key(Tunnel, on_delete=CASCADE, related_name="terminations")
    role: Mapped[str] = choice(ROLES, default="peer")
    termination_type: Mapped[str] = column(length=100)
    termination_id: Mapped[uuid.UUID] = column()
    outside_ip_id: Mapped[Ref | None] = foreign_key(
        IPAddress, on_delete=SET_NULL, related_name="tunnel_terminations", label="Outside IP"
    )


def is_interface(endpoint: Endpoint) -> bool:
    """True for the resources whose objects a tunnel may end at."""
    return endpoint.label in INTERFACES


def termination_display(tunnel: str, role: str) -> str:
    """The display name: ``Lisbon - Porto (Peer)``."""
    return f"{tunnel} ({ROLES.labels.get(role, role)})"


tunnel_groups = Resource(TunnelGroup, "tunnel-groups", brief=["name", "slug"], search=["name", "slug", "description"])

tunnels = Resource(
    Tunnel,
    "tunnels",
    search=["name", "description", "comments"],
    filters=[*tenant_filters()],
    presentation=Presentation(
        icon="lock-closed",
        columns=["group", "status", "encapsulation", "ipsec_profile", "tunnel_id", "tenant", "description"],
        facets=["status", "group", "encapsulation", "ipsec_profile", "tenant"],
        fieldsets=[
            ("Tunnel", ["name", "status", "group", "encapsulation", "ipsec_profile", "tunnel_id", "description"]),
            ("Belonging", ["tenant"]),
        ],
    ),
)

tunnel_terminations = Resource(
    TunnelTermination,
    "tunnel-terminations",
    display=(termination_display, "tunnel.name", "role"),
    brief=["tunnel", "role"],
    order=["tunnel.name", "role"],
    search=["tunnel.name"],
    fields=[
        type_label("termination_type", is_interface),
        generic_fk("termination", "termination_type", "termination_id"),
    ],
    about=[("termination_type", "termination_id")],
    presentation=Presentation(
        icon="lock-closed",
        columns=["tunnel", "role", "termination", "outside_ip"],
        facets=["role"],
        fieldsets=[
            (
                "Tunnel termination",
                ["tunnel", "role", "termination_type", "termination_id", "termination", "outside_ip"],
            )
        ],
    ),
)
tunnel_terminations.rule(generic_reference("termination_type", "termination_id"))

generic_cascade = GenericCascade(
    TunnelTermination.__table__, "termination_type", "termination_id", label=LABEL, applies=is_interface
)
