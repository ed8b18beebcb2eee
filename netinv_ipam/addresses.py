"""IP addresses: hosts within their networks, and the interfaces they are assigned to."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.models.base import Primary
from netinv_core.models.columns import (
    PROTECT,
    SELF,
    SET_NULL,
    Choices,
    Description,
    Ref,
    choice,
    column,
    foreign_key,
    text,
)
from netinv_core.models.types import Chars
from netinv_core.presentation import Presentation, beside
from netinv_core.read import listing
from netinv_core.read.filters import Filter, custom, number, related
from netinv_core.resource import Resource, VersionChange, generic_fk, reverse_fk
from netinv_core.sql import lookups, relations
from netinv_core.write.cycles import without_cycles
from netinv_core.write.delete import GenericCascade
from netinv_core.write.referring_rules import through
from netinv_dcim.components.interfaces import Interface, on_devices
from netinv_extras.content_types import generic_reference, type_label
from netinv_extras.statuses import Status, status
from netinv_ipam import network_filters, networks
from netinv_ipam.prefixes import prefixes_around
from netinv_ipam.uniqueness import unique_within
from netinv_ipam.vrfs import VRF, present_filters
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

ROLES = Choices.of(
    loopback="Loopback",
    secondary="Secondary",
    anycast="Anycast",
    vip="VIP",
    vrrp="VRRP",
    hsrp="HSRP",
    glbp="GLBP",
    carp="CARP",
)
SHARED_ROLES = frozenset({"anycast", "vip", "vrrp", "hsrp", "glbp", "carp"})
INTERFACE, VM_INTERFACE = "dcim.interface", "virtualization.vminterface"
# The models that an address may be assigned to, by the name of the relation.
ENDS = {"interface": INTERFACE, "vminterface": VM_INTERFACE}
ASSIGNABLE = tuple(ENDS.values())
# The owner of an interface: its label, the path to it, and the one to its site.
OWNERS = {
    INTERFACE: ("dcim.device", "device", "device.site"),
    VM_INTERFACE: ("virtualization.virtualmachine", "virtual_machine", "virtual_machine.cluster.site"),
}
SLAAC = "slaac"


class IPAddress(networks.HostColumns, Primary):
    """A host address with the length of its network's prefix, global or within a VRF."""

    __tablename__ = "ipam_ip_address"
    text_indexes = ("dns_name", "description")
    __table_args__ = (
        sa.Index("ix_ipam_ip_address_place", "ip_version", "host", "prefix_length", "id"),
        sa.Index("ix_ipam_ip_address_edge", "broadcast"),
        sa.Index("ix_ipam_ip_address_in_vrf", "vrf_id", "ip_version", "host"),
        sa.Index("ix_ipam_ip_address_assigned", "assigned_object_id", "assigned_object_type"),
    )

    address: Mapped[str] = networks.cidr(networks.host_text)
    vrf_id: Mapped[Ref | None] = foreign_key(VRF, on_delete=PROTECT, count_field="ipaddress_count")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, count_field="ipaddress_count")
    status_id: Mapped[Ref] = status(initial=["Active", "Deprecated", "DHCP", "Reserved", "SLAAC"])
    role: Mapped[str] = choice(ROLES, help="The functional role of this IP")
    assigned_object_type: Mapped[str | None] = column(Chars(100), default=None)
    assigned_object_id: Mapped[uuid.UUID | None] = column(default=None)
    nat_inside_id: Mapped[Ref | None] = foreign_key(
        SELF, on_delete=SET_NULL, help='The IP Addresses for which this address is the "outside" IP'
    )
    dns_name: Mapped[str] = text(
        255,
        "Hostname or FQDN (not case-sensitive)",
        label="DNS Name",
        lowered=True,  # RFC 4343
        pattern=r"^[0-9A-Za-z._-]+\Z",
        pattern_error="Only alphanumeric characters, hyphens, periods, and underscores are allowed in DNS names",
    )
    description: Mapped[Description]


def single_nat_outside(representation: dict[str, Any]) -> dict[str, Any]:
    """Downgrades ``nat_outside`` to API versions before 1.3: the first object instead of the list, or null."""
    return {**representation, "nat_outside": next(iter(representation["nat_outside"]), None)}


def single_nat_outside_schema(shape: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI schema that goes with :func:`single_nat_outside`."""
    nat_outside = shape.get("properties", {}).get("nat_outside")
    if nat_outside is None:
        return shape
    single = {"allOf": [nat_outside["items"]], "nullable": True, "readOnly": True}
    return {**shape, "properties": {**shape["properties"], "nat_outside": single}}


def _of_devices(name: str, devices: Any) -> Filter:
    """Filter ``devices`` for addresses on interfaces of devices, by the devices' column ``name``.

    For the master of a virtual chassis it includes the interfaces of all members, except management interfaces.
    """

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
        port = Interface.__table__
        visible = permissions.visible(uow, uow.registry.of_model(Interface), port)
        interfaces = sa.select(port.c.id).where(on_devices(uow, port, name, values), *visible)
        return sa.and_(table.c.assigned_object_type == INTERFACE, table.c.assigned_object_id.in_(interfaces))

    return custom(devices, apply, listed=True)


def _of_machines(name: str, machines: str) -> Filter:
    """Filter for addresses on interfaces of virtual machines; none without the virtualization application."""

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
        target = uow.registry.get(VM_INTERFACE)
        if target is None:
            return sa.false()
        interface = target.table.alias()
        steps = ["virtual_machine", name]
        visible = permissions.visible_for(uow)
        matching = relations.compare(
            target,
            interface,
            steps,
            lambda column: column.in_([lookups.convert(column, value) for value in values]),
            visible,
        )
        interfaces = sa.select(interface.c.id).where(matching, *visible(target, interface))
        return sa.and_(table.c.assigned_object_type == VM_INTERFACE, table.c.assigned_object_id.in_(interfaces))

    return custom(machines, apply, listed=True)


def _matches_search(table: Any, network: Any) -> Any:
    """Condition of a search (``q``): the hosts of a network such as ``10.0.0.0/24``, or the host of an address."""
    whole = network.value == network.first and network.prefixlen < networks.BITS[network.version]
    if whole:
        return networks.inside(table, network)
    return networks.host_is(table, network)


def containers_of(uow: UnitOfWork, address: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """The prefixes of the same VRF that an address is in, given its representation, as far as the user may view them,
    the widest first: name, label and id of each. Takes one statement.
    """
    host = networks.parse(str(address["address"])).ip
    return prefixes_around(uow, netaddr.IPNetwork(host), address["vrf"], equal=True)


ip_addresses = Resource(
    IPAddress,
    "ip-addresses",
    title="IP address",
    plural="IP addresses",
    display="address",
    brief=["family", "address"],
    order=["ip_version", "host", "prefix_length"],
    nested_order=["host", "prefix_length"],
    orderings={"address": ["ip_version", "host", "prefix_length"]},
    natural=["address", "vrf"],
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
        network_filters.search("address", _matches_search, "dns_name", "description"),
        networks.family_filter(),
        *network_filters.edge_filters(),
        network_filters.lookups("host", "address"),
        network_filters.network_comparison("parent", networks.inside),
        custom(
            "address",
            lambda uow, table, values: network_filters.any_exact(table, values),
            listed=True,
        ),
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
    versions=[VersionChange("1.3", single_nat_outside, schema=single_nat_outside_schema, changed=("nat_outside",))],
    example={"address": "198.18.0.1/24"},
    presentation=Presentation(
        counted=True,
        columns=[
            "status",
            "assigned_object",
            "assigned_site",
            "dns_name",
            "vrf",
            "role",
            "tenant",
            "description",
        ],
        facets=["status", "family", "role", "vrf", "tenant"],
        name_in_context=(beside, "address", "vrf.name"),
        containers=containers_of,
        unrelated=["nat_inside"],
        leading=["assigned"],
        found_with="assigned_object.name_in_context",
        hidden=["assigned_object"],  # the panel says it
        fieldsets=[
            ("IP address", ["address", "vrf", "status", "role", "dns_name", "description"]),
            (
                "Assignment",
                ["assigned_object_type", "assigned_object_id", "assigned_object", "nat_inside", "nat_outside"],
            ),
            ("Belonging", ["tenant"]),
        ],
    ),
)


@ip_addresses.filter("assigned_to_interface", multiple=False, kind="boolean")
def assigned_to_interface(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filter for addresses that are assigned to an interface, or for those that are not."""
    interface_id = table.c.assigned_object_id
    return interface_id.is_not(None) if lookups.convert_flag(values[-1]) else interface_id.is_(None)


def assignment_relation(registry: Registry, label: str) -> relations.Relation:
    """The relation from an address to the interface it is assigned to, for interfaces of the content type ``label``."""
    return relations.to_type(registry, label, IPAddress.__table__, "assigned_object_type", "assigned_object_id")


def addresses_of(registry: Registry, label: str) -> relations.Relation:
    """The relation from an interface of the content type ``label`` to its addresses."""
    return relations.from_type(registry, label, "ipam.ipaddress", "assigned_object_type", "assigned_object_id")


def address_filter(name: str) -> Filter:
    """Filter by the addresses of the relation ``name``.

    A value is the id of an address or the address itself, with or without its prefix length.
    """

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Any:
        address = IPAddress.__table__.alias()
        limits = permissions.visible(uow, uow.registry.of_model(IPAddress), address)
        matching = lookups.any_of([_by_id_or_address(address, value) for value in values])
        return relations.leads_to_any(endpoint, table, [name], sa.select(address.c.id).where(matching, *limits))

    return Filter(name, apply)


def _by_id_or_address(table: Any, value: str) -> Any:
    try:
        return table.c.id == uuid.UUID(value)
    except ValueError:
        return networks.exact(table, value)


def count_of_addresses(table: Any) -> Any:
    """Scalar subquery: the number of addresses of a device interface."""
    address = IPAddress.__table__.alias()
    assigned_here = sa.and_(address.c.assigned_object_id == table.c.id, address.c.assigned_object_type == INTERFACE)
    return sa.select(sa.func.count()).select_from(address).where(assigned_here).scalar_subquery()


generic_cascade = GenericCascade(
    IPAddress.__table__,
    "assigned_object_type",
    "assigned_object_id",
    label="ipam.ipaddress",
    applies=lambda endpoint: endpoint.label in ASSIGNABLE,
)

ip_addresses.prepare(networks.fill_packed_columns("address"))


ip_addresses.rule(networks.reject_zero_prefix("address", "IP address"))
ip_addresses.rule(reads=[through("vrf", "enforce_unique")])(
    unique_within(IPAddress, "address", ("host",), "IP address", lambda draft: draft["role"] in SHARED_ROLES)
)
ip_addresses.rule(generic_reference("assigned_object_type", "assigned_object_id"))
ip_addresses.rule(without_cycles(IPAddress, "nat_inside"))


@ip_addresses.rule(reads=[through("status", "slug")])
def slaac_is_for_ipv6(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects the status SLAAC for IPv4: stateless address autoconfiguration (RFC 4862) exists for IPv6 only."""
    changed = [draft for draft in drafts if draft["ip_version"] == 4 and draft.changed("status_id", "address")]
    if not changed:
        return
    statuses = listing.rows_of(uow, Status, [draft["status_id"] for draft in changed])
    for draft in changed:
        if statuses[draft["status_id"]].slug == SLAAC:
            draft.reject("status", "Only IPv6 addresses can be assigned SLAAC status")
