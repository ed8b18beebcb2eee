"""IP addresses: hosts within their networks, and the interfaces they are assigned to."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.endpoint import Endpoint
from netinv_core.models.base import Primary
from netinv_core.models.columns import PROTECT, SELF, SET_NULL, Choices, Description, Ref, choice, column, foreign_key, text
from netinv_core.models.types import Chars
from netinv_core.read import lookups, relations
from netinv_core.read.filters import Filter, custom, number, related
from netinv_core.registry import Registry
from netinv_core.resource import Resource, VersionChange, generic_fk, reverse_fk
from netinv_core.uow import UnitOfWork
from netinv_core.write.delete import GenericCascade
from netinv_core.write.draft import Draft
from netinv_dcim.components.interfaces import Interface
from netinv_dcim.devices import Device
from netinv_dcim.virtual_chassis import VirtualChassis
from netinv_extras.content_types import generic_reference, type_label
from netinv_extras.statuses import Status, status
from netinv_ipam import networks
from netinv_ipam.uniqueness import unique_within
from netinv_ipam.vrfs import VRF, present_filters
from netinv_tenancy.tenants import Tenant, tenant_filters

ROLES = Choices.of(loopback="Loopback", secondary="Secondary", anycast="Anycast", vip="VIP", vrrp="VRRP", hsrp="HSRP", glbp="GLBP", carp="CARP")
SHARED_ROLES = frozenset({"anycast", "vip", "vrrp", "hsrp", "glbp", "carp"})
INTERFACE, VM_INTERFACE = "dcim.interface", "virtualization.vminterface"
# what an address may be assigned to, by the name of the way there
ENDS = {"interface": INTERFACE, "vminterface": VM_INTERFACE}
ASSIGNABLE = tuple(ENDS.values())
SLAAC = "slaac"


class IPAddress(networks.Host, Primary):
    """A host address with the length of its network's prefix, global or within a VRF."""

    __tablename__ = "ipam_ip_address"
    __table_args__ = (
        sa.Index("ix_ipam_ip_address_place", "host", "prefix_length", "id"),
        sa.Index("ix_ipam_ip_address_edge", "broadcast"),
        sa.Index("ix_ipam_ip_address_in_vrf", "vrf_id", "ip_version", "host"),
        sa.Index("ix_ipam_ip_address_assigned", "assigned_object_id", "assigned_object_type"),
    )

    address: Mapped[str] = networks.cidr(networks.host_text)
    vrf_id: Mapped[Ref | None] = foreign_key(VRF, on_delete=PROTECT, count_field="ipaddress_count")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, count_field="ipaddress_count")
    status_id: Mapped[Ref] = status()
    role: Mapped[str] = choice(ROLES, help="The functional role of this IP")
    assigned_object_type: Mapped[str | None] = column(Chars(100), default=None)
    assigned_object_id: Mapped[uuid.UUID | None] = column(default=None)
    nat_inside_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=SET_NULL, help='The IP Addresses for which this address is the "outside" IP')
    dns_name: Mapped[str] = text(
        255,
        "Hostname or FQDN (not case-sensitive)",
        label="DNS Name",
        pattern=r"^[0-9A-Za-z._-]+\Z",
        pattern_error="Only alphanumeric characters, hyphens, periods, and underscores are allowed in DNS names",
    )
    description: Mapped[Description]


def single_nat_outside(shown: dict[str, Any]) -> dict[str, Any]:
    """Before version 1.3 ``nat_outside`` was one object or null: the first, when there are several."""
    return {**shown, "nat_outside": next(iter(shown["nat_outside"]), None)}


def single_nat_outside_schema(shape: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI schema that goes with :func:`single_nat_outside`."""
    shown = shape.get("properties", {}).get("nat_outside")
    if shown is None:
        return shape
    single = {"allOf": [shown["items"]], "nullable": True, "readOnly": True}
    return {**shape, "properties": {**shape["properties"], "nat_outside": single}}


def _of_devices(name: str, devices: Any) -> Filter:
    """Addresses of the interfaces of devices; the master of a virtual chassis speaks for all its members."""

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
        place, port = Device.__table__.c[name], Interface.__table__
        limits = permissions.visible(uow, uow.registry.of_model(Device), Device.__table__)
        named = sa.select(Device.__table__.c.id).where(place.in_([lookups.convert(place, value) for value in values]), *limits)
        led = sa.select(VirtualChassis.__table__.c.id).where(VirtualChassis.__table__.c.master_id.in_(named))
        members = sa.select(Device.__table__.c.id).where(Device.__table__.c.virtual_chassis_id.in_(led), *limits)
        theirs = sa.or_(port.c.device_id.in_(named), sa.and_(port.c.device_id.in_(members), ~port.c.mgmt_only))
        own = sa.select(port.c.id).where(theirs, *permissions.visible(uow, uow.registry.of_model(Interface), port))
        return sa.and_(table.c.assigned_object_type == INTERFACE, table.c.assigned_object_id.in_(own))

    return custom(devices, apply)


def _of_machines(name: str, machines: str) -> Filter:
    """Addresses of the interfaces of virtual machines; none while their package is absent."""

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
        target = uow.registry.get(VM_INTERFACE)
        if target is None:
            return sa.false()
        there = target.table.alias()
        steps = ["virtual_machine", name]
        visible = permissions.visible_for(uow)
        found = relations.compare(target, there, steps, lambda place: place.in_([lookups.convert(place, value) for value in values]), visible)
        own = sa.select(there.c.id).where(found, *visible(target, there))
        return sa.and_(table.c.assigned_object_type == VM_INTERFACE, table.c.assigned_object_id.in_(own))

    return custom(machines, apply)


def _found(table: Any, network: Any) -> Any:
    """What a search for an address means: that host, or the hosts of a network."""
    whole = network.value == network.first and network.prefixlen < networks.BITS[network.version]
    return networks.inside(table, network) if whole else networks.low(table) == networks.packed(network.value, network.version)


ip_addresses = Resource(
    IPAddress,
    "ip-addresses",
    title="IP address",
    plural="IP addresses",
    display="address",
    brief=["family", "address"],
    order=["host", "prefix_length"],
    natural="address",
    fields=[
        networks.cidr_field("address"),
        networks.family(),
        type_label("assigned_object_type", lambda endpoint: endpoint.label in ASSIGNABLE),
        generic_fk("assigned_object", "assigned_object_type", "assigned_object_id", "assigned"),
        reverse_fk("nat_outside", "ipam.ipaddress", "nat_inside_id"),
    ],
    filters=[
        *tenant_filters(),
        *present_filters(),
        networks.search("address", _found, "dns_name", "description"),
        networks.family_filter(),
        *networks.edge_filters(),
        networks.lookups("host", "address"),
        networks.network_comparison("parent", networks.inside),
        custom("address", lambda uow, table, values: lookups.any_of([networks.exact(table, value) for value in values])),
        number("mask_length", "prefix_length", lookup_names=(), multiple=False),
        _of_devices("name", "device"),
        _of_devices("id", "device_id"),
        _of_machines("name", "virtual_machine"),
        _of_machines("id", "virtual_machine_id"),
        related("interface"),
        related("interface_id", "interface", by=()),
        related("vminterface"),
        related("vminterface_id", "vminterface", by=()),
    ],
    versions=[VersionChange("1.3", downgrade=single_nat_outside, schema=single_nat_outside_schema)],
    example={"address": "198.18.0.1/24"},
)


@ip_addresses.filter("assigned_to_interface", multiple=False, kind="boolean")
def assigned_to_interface(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Whether the address is assigned to any interface."""
    place = table.c.assigned_object_id
    return place.is_not(None) if lookups.convert_flag(values[-1]) else place.is_(None)


def assigned(registry: Registry, label: str) -> relations.Relation:
    """The way from an address to what it is assigned to, where that is of one content type."""
    return relations.to_type(registry, label, IPAddress.__table__, "assigned_object_type", "assigned_object_id")


def addresses_of(registry: Registry, label: str) -> relations.Relation:
    """The way from an interface to its addresses."""
    return relations.from_type(registry, label, "ipam.ipaddress", "assigned_object_type", "assigned_object_id")


def addressed(name: str) -> Filter:
    """The parameter for addresses that a relation leads to, each by id or as it is written, with its prefix length or without."""

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Any:
        there = IPAddress.__table__.alias()
        limits = permissions.visible(uow, uow.registry.of_model(IPAddress), there)
        found = sa.select(there.c.id).where(lookups.any_of([_meant(there, value) for value in values]), *limits)
        return relations.leads_to_any(endpoint, table, [name], found)

    return Filter(name, apply)


def _meant(table: Any, value: str) -> Any:
    try:
        return table.c.id == uuid.UUID(value)
    except ValueError:
        return networks.exact(table, value)


def count_of_addresses(table: Any) -> Any:
    """How many addresses an interface of a device has."""
    there = IPAddress.__table__.alias()
    mine = sa.and_(there.c.assigned_object_id == table.c.id, there.c.assigned_object_type == INTERFACE)
    return sa.select(sa.func.count()).select_from(there).where(mine).scalar_subquery()


generic_cascade = GenericCascade(
    IPAddress.__table__,
    "assigned_object_type",
    "assigned_object_id",
    label="ipam.ipaddress",
    applies=lambda endpoint: endpoint.label in ASSIGNABLE,
)

ip_addresses.prepare(networks.fill_packed_columns("address"))


@ip_addresses.prepare
def lower_dns_names(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """DNS does not know case (RFC 4343)."""
    for draft in drafts:
        if draft.changed("dns_name"):
            draft["dns_name"] = draft["dns_name"].lower()


ip_addresses.rule(networks.reject_zero_prefix("address", "IP address"))
ip_addresses.rule(unique_within(IPAddress, "address", ("host",), "IP address", lambda draft: draft["role"] in SHARED_ROLES))
ip_addresses.rule(generic_reference("assigned_object_type", "assigned_object_id"))


@ip_addresses.rule
def slaac_is_for_ipv6(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Stateless address autoconfiguration (RFC 4862) exists for IPv6 only."""
    concerned = [draft for draft in drafts if draft["ip_version"] == 4 and draft.changed("status_id", "address")]
    if not concerned:
        return
    table = Status.__table__
    slaac = set(uow.execute(sa.select(table.c.id).where(table.c.slug == SLAAC)).scalars())
    for draft in concerned:
        if draft["status_id"] in slaac:
            draft.reject("status", "Only IPv6 addresses can be assigned SLAAC status")
