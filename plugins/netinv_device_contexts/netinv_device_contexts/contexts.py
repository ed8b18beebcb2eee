"""Virtual device contexts: their interfaces and primary addresses are those of the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import (
    CASCADE,
    PROTECT,
    SET_NULL,
    Comments,
    Description,
    Draft,
    Presentation,
    Primary,
    Ref,
    Resource,
    UnitOfWork,
    foreign_key,
    integer,
    listing,
    many_to_many,
    related_by,
    required_text,
    through,
    to_many,
    unique_set,
)
from netinv_dcim.components.interfaces import Interface
from netinv_dcim.devices import Device
from netinv_extras.statuses import status
from netinv_ipam.addresses import IPAddress
from netinv_tenancy.tenants import Tenant, tenant_filters

INTERFACE = "dcim.interface"
PRIMARY = {"primary_ip4": 4, "primary_ip6": 6}


class VirtualDeviceContext(Primary):
    """A part of a device that is managed as a device of its own. Contexts share the hardware; interfaces may be of
    several.
    """

    __tablename__ = "device_contexts_context"
    __table_args__ = (unique_set("device_id", "name"), unique_set("device_id", "identifier"))

    device_id: Mapped[Ref] = foreign_key(Device, on_delete=CASCADE, related_name="device_contexts", index=False)
    name: Mapped[str] = required_text(64)
    identifier: Mapped[int | None] = integer(0, 32767, "Number of the context on its device")
    status_id: Mapped[Ref] = status(initial=["Active", "Planned", "Offline"])
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="device_contexts")
    primary_ip4_id: Mapped[Ref | None] = foreign_key(
        IPAddress, on_delete=SET_NULL, unique=True, related_name="primary_ip4_for_contexts", label="Primary IPv4"
    )
    primary_ip6_id: Mapped[Ref | None] = foreign_key(
        IPAddress, on_delete=SET_NULL, unique=True, related_name="primary_ip6_for_contexts", label="Primary IPv6"
    )
    description: Mapped[Description]
    comments: Mapped[Comments]


context_interfaces = many_to_many(
    "device_contexts_interface", VirtualDeviceContext.__tablename__, Interface.__tablename__
)

virtual_device_contexts = Resource(
    VirtualDeviceContext,
    "virtual-device-contexts",
    brief=["device", "name", "identifier"],
    order=["device.name_key", "name"],
    search=["name", "description", "comments", "device.name"],
    fields=[to_many("interfaces", context_interfaces, INTERFACE, related_name="device_contexts")],
    filters=[*tenant_filters()],
    presentation=Presentation(
        icon="cpu-chip",
        columns=["device", "identifier", "status", "primary_ip4", "primary_ip6", "tenant", "description"],
        facets=["status", "tenant"],
        depends_on={"interfaces": {"device": "device_id"}},
        fieldsets=[
            ("Virtual device context", ["device", "name", "identifier", "status", "interfaces", "description"]),
            ("Management", ["primary_ip4", "primary_ip6"]),
            ("Belonging", ["tenant"]),
        ],
    ),
)


@virtual_device_contexts.rule(reads=[through("interfaces", "device_id", exclusive=True)])
def interfaces_are_of_the_device(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects contexts with an interface of another device; two statements."""
    listed = {draft.id: draft.many["interfaces"] for draft in drafts if "interfaces" in draft.many}
    moved = [draft.id for draft in drafts if not draft.new and draft.id not in listed and draft.changed("device_id")]
    for context, interface in _stored(uow, moved):
        listed.setdefault(context, []).append(interface)
    interfaces = listing.rows_of(uow, Interface, {key for keys in listed.values() for key in keys}, locked=True)
    for draft in drafts:
        others = [key for key in listed.get(draft.id, ()) if interfaces[key].device_id != draft["device_id"]]
        if others:
            draft.reject("interfaces", "The interfaces must belong to the device.")


def _stored(uow: UnitOfWork, contexts: Sequence[Any]) -> Sequence[Any]:
    """Pairs of contexts and their stored interfaces."""
    if not contexts:
        return []
    table = context_interfaces
    return uow.execute(sa.select(table.c.owner_id, table.c.target_id).where(table.c.owner_id.in_(contexts))).all()


def _of_interfaces(uow: UnitOfWork, keys: Sequence[Any]) -> Any:
    """SELECT of interfaces, and the contexts with a primary address on them."""
    table, address = VirtualDeviceContext.__table__, IPAddress.__table__
    primary = sa.or_(*[table.c[f"{name}_id"] == address.c.id for name in PRIMARY])
    assigned = sa.and_(address.c.assigned_object_type == INTERFACE, address.c.assigned_object_id.in_(list(keys)))
    return sa.select(address.c.assigned_object_id, table.c.id).join(table, primary).where(assigned)


@virtual_device_contexts.rule(
    changing=["device_id", *(f"{name}_id" for name in PRIMARY)],
    reads=[
        *(
            through(name, "ip_version", "assigned_object_type", "assigned_object_id", exclusive=True)
            for name in PRIMARY
        ),
        related_by(INTERFACE, "device_id", pairs=_of_interfaces),
    ],
)
def primary_addresses_are_of_the_device(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects primary addresses of another IP version, or that are not assigned to an interface of the device; two
    statements.
    """
    chosen = [(draft, name, draft[f"{name}_id"]) for draft in drafts for name in PRIMARY]
    addresses = listing.rows_of(uow, IPAddress, [key for _, _, key in chosen], locked=True)
    assigned = [row.assigned_object_id for row in addresses.values() if row.assigned_object_type == INTERFACE]
    interfaces = listing.rows_of(uow, Interface, assigned, locked=True)
    for draft, name, key in chosen:
        address = addresses.get(key)
        if address is None:
            continue
        interface = interfaces.get(address.assigned_object_id)
        if address.ip_version != PRIMARY[name]:
            draft.reject(name, f"{address.address} is not an IPv{PRIMARY[name]} address.")
        elif interface is None or interface.device_id != draft["device_id"]:
            draft.reject(name, f"{address.address} is not assigned to an interface of the device.")
