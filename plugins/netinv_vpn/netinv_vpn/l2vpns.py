"""Layer-2 VPNs, and the interfaces and VLANs that they end at."""

from __future__ import annotations

import uuid

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import (
    CASCADE,
    PROTECT,
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
    many_to_many,
    to_many,
    unique_set,
)
from netinv_extras.content_types import generic_reference, type_label
from netinv_extras.statuses import status
from netinv_ipam.vrfs import RouteTarget
from netinv_tenancy.tenants import Tenant, tenant_filters

TYPES = Choices.of(
    ("vxlan", "VXLAN"),
    ("vxlan-evpn", "VXLAN-EVPN"),
    ("mpls-evpn", "MPLS EVPN"),
    ("pbb-evpn", "PBB EVPN"),
    ("evpn-vpws", "EVPN VPWS"),
    ("vpws", "VPWS"),
    ("vpls", "VPLS"),
    ("epl", "EPL"),
    ("evpl", "EVPL"),
    ("ep-lan", "Ethernet Private LAN"),
    ("evp-lan", "Ethernet Virtual Private LAN"),
    ("ep-tree", "Ethernet Private Tree"),
    ("evp-tree", "Ethernet Virtual Private Tree"),
    ("spb", "SPB"),
    ("other", "Other"),
)
ENDS = ("dcim.interface", "virtualization.vminterface", "ipam.vlan")
LABEL = "vpn.l2vpntermination"


class L2VPN(Primary):
    """A layer-2 network across others; ``identifier`` is its VNI, VC id or the like."""

    __tablename__ = "vpn_l2vpn"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    type: Mapped[str] = choice(TYPES, default="other")
    status_id: Mapped[Ref] = status(initial=["Active", "Planned", "Decommissioning"])
    identifier: Mapped[int | None] = integer(0, 2**63 - 1)
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="l2vpns")
    description: Mapped[Description]
    comments: Mapped[Comments]


class L2VPNTermination(Organizational):
    """An interface or VLAN of a layer-2 VPN. Each is of one only."""

    __tablename__ = "vpn_l2vpn_termination"
    __table_args__ = (unique_set("assigned_object_id", "assigned_object_type"),)

    l2vpn_id: Mapped[Ref] = foreign_key(L2VPN, on_delete=CASCADE, related_name="terminations", label="L2VPN")
    assigned_object_type: Mapped[str] = column(length=100)
    assigned_object_id: Mapped[uuid.UUID] = column()


imported_targets = many_to_many("vpn_l2vpn_import_target", L2VPN.__tablename__, RouteTarget.__tablename__)
exported_targets = many_to_many("vpn_l2vpn_export_target", L2VPN.__tablename__, RouteTarget.__tablename__)


def is_end(endpoint: Endpoint) -> bool:
    """True for the resources whose objects a layer-2 VPN may end at."""
    return endpoint.label in ENDS


l2vpns = Resource(
    L2VPN,
    "l2vpns",
    title="L2VPN",
    plural="L2VPNs",
    brief=["name", "slug", "type", "identifier"],
    search=["name", "slug", "description", "comments"],
    fields=[
        to_many("import_targets", imported_targets, "ipam.routetarget", related_name="importing_l2vpns"),
        to_many("export_targets", exported_targets, "ipam.routetarget", related_name="exporting_l2vpns"),
    ],
    filters=[*tenant_filters()],
    presentation=Presentation(
        icon="lock-closed",
        columns=["type", "status", "identifier", "tenant", "description"],
        facets=["type", "status", "tenant"],
        fieldsets=[
            ("L2VPN", ["name", "slug", "type", "status", "identifier", "description"]),
            ("Route targets", ["import_targets", "export_targets"]),
            ("Belonging", ["tenant"]),
        ],
    ),
)

l2vpn_terminations = Resource(
    L2VPNTermination,
    "l2vpn-terminations",
    title="L2VPN termination",
    plural="L2VPN terminations",
    display="l2vpn.name",
    brief=["l2vpn"],
    order=["l2vpn.name"],
    search=["l2vpn.name"],
    fields=[
        type_label("assigned_object_type", is_end),
        generic_fk("assigned_object", "assigned_object_type", "assigned_object_id"),
    ],
    about=[("assigned_object_type", "assigned_object_id")],
    presentation=Presentation(
        icon="lock-closed",
        columns=["l2vpn", "assigned_object"],
        fieldsets=[
            ("L2VPN termination", ["l2vpn", "assigned_object_type", "assigned_object_id", "assigned_object"]),
        ],
    ),
)
l2vpn_terminations.rule(generic_reference("assigned_object_type", "assigned_object_id"))

generic_cascade = GenericCascade(
    L2VPNTermination.__table__, "assigned_object_type", "assigned_object_id", label=LABEL, applies=is_end
)
