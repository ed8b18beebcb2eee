"""Services: protocols and ports on which a device or a virtual machine listens."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import colander
import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.fields import schema
from netinv_core.models.associations import many_to_many
from netinv_core.models.base import Primary
from netinv_core.models.columns import (
    CASCADE,
    Choices,
    Description,
    Name,
    Ref,
    choice,
    column,
    column_info,
    foreign_key,
    text,
)
from netinv_core.models.types import Json
from netinv_core.presentation import Presentation, within
from netinv_core.read.filters import one_of
from netinv_core.resource import FieldFactory, Resource, to_many
from netinv_core.sql.lookups import whole_number
from netinv_core.write.draft import ALL
from netinv_dcim.devices import Device

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

PROTOCOLS = Choices.of(tcp="TCP", udp="UDP")
LOWEST, HIGHEST = 1, 65535
NO_PARENT = "A service must be associated with either a device or a virtual machine."
TWO_PARENTS = "A service cannot be associated with both a device and a virtual machine."


def port_key(ports: Sequence[int]) -> str:
    """Ports as text that sorts like the list and can be searched for a port with LIKE: ``,00022,02222,``."""
    return "".join(f",{port:05}" for port in ports) + ","


class Service(Primary):
    """A protocol and its ports on a device or a virtual machine, and the addresses it is reached at."""

    __tablename__ = "ipam_service"
    __table_args__ = (sa.Index("ix_ipam_service_place", "protocol"),)

    device_id: Mapped[Ref | None] = foreign_key(Device, on_delete=CASCADE, related_name="services")
    virtual_machine_id: Mapped[Ref | None] = foreign_key(
        "virtualization.virtualmachine", on_delete=CASCADE, related_name="services"
    )
    name: Mapped[Name]
    ports: Mapped[list[Any]] = column(
        Json(), kind="json", in_object_data=lambda ports: json.dumps([str(port) for port in ports])
    )
    port_key: Mapped[str] = text(hidden=True)
    protocol: Mapped[str] = choice(PROTOCOLS, blank=False)
    description: Mapped[Description]


service_addresses = many_to_many("ipam_service_address", "ipam_service", "ipam_ip_address")


@dataclasses.dataclass(eq=False, kw_only=True)
class Ports(fields.ListValue):
    """Field of a list of ports; its errors are keyed by the position in the list."""

    kind: str = "list"
    required: bool = True

    def parse_items(self, items: list[Any]) -> list[Any]:
        if len(items) > HIGHEST:
            raise colander.Invalid(None, f"There are only {HIGHEST} ports.")
        ports, errors = [], {}
        for position, item in enumerate(items):
            try:
                self._check_null(item)
                ports.append(schema.parse(self.node, item))
            except colander.Invalid as error:
                errors[str(position)] = fields.errors_of(error)
        if errors:
            refused = colander.Invalid(None, "")
            refused.body = errors
            raise refused
        return ports


def _ports(registry: Registry, endpoint: Endpoint) -> Field:
    port_info = dataclasses.replace(column_info(endpoint.table.c.ports), kind="value", minimum=LOWEST, maximum=HIGHEST)
    node = schema.node("ports", int, port_info, length=None, digits=None)
    shape = {"type": "array", "items": {"type": "integer", "minimum": LOWEST, "maximum": HIGHEST}}
    return Ports(name="ports", attribute="ports", info=column_info(endpoint.table.c.ports), node=node, openapi=shape)


def port_ranges(ports: Sequence[int]) -> str:
    """Ports in order, with consecutive ports as ranges: ``22, 80-82``."""
    ranges: list[list[int]] = []
    for port in sorted(ports):
        if ranges and port == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], port]
        else:
            ranges.append([port])
    return ", ".join("-".join(map(str, ends)) for ends in ranges)


def service_display(name: str, protocol: str, ports: Sequence[int]) -> str:
    """The display name: ``ssh (TCP/22)``."""
    return f"{name} ({PROTOCOLS.labels.get(protocol, protocol)}/{port_ranges(ports)})"


def service_name(device: str | None, machine: str | None, name: str) -> str:
    """The name of a service on pages: after that of its device or virtual machine."""
    return within(device or machine, name)


services = Resource(
    Service,
    "services",
    type_order="~3 ",
    display=(service_display, "name", "protocol", "ports"),
    brief=["name", "protocol", "ports"],
    order=["protocol", "port_key"],
    search=["name", "description"],
    fields=[
        FieldFactory("ports", _ports),
        to_many("ipaddresses", service_addresses, "ipam.ipaddress", plain=True, related_name="services"),
    ],
    filters=[one_of("protocol", PROTOCOLS, multiple=False)],
    example={"ports": [8080], "protocol": "tcp", "device": ...},
    presentation=Presentation(
        columns=["device", "virtual_machine", "protocol", "ports", "description"],
        facets=["protocol"],
        name_in_context=(service_name, "device.name_in_context", "virtual_machine.name", "display"),
    ),
)


@services.filter("port", multiple=False, kind="number")
def on_port(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filter by one of the ports."""
    return table.c.port_key.like(f"%,{whole_number(values[-1]):05},%")


@services.prepare
def fill_port_keys(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Derives the port key from the ports."""
    for draft in drafts:
        if draft.changed("ports"):
            draft["port_key"] = port_key(draft["ports"])


@services.rule
def protocol_and_ports_are_there(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a service without a protocol or without ports."""
    for draft in drafts:
        for name in ("ports", "protocol"):
            if not draft[name]:
                draft.reject(name, "This field cannot be blank.")


@services.rule
def one_parent(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a service without a parent, or with both a device and a virtual machine."""
    for draft in drafts:
        parents = [name for name in ("device_id", "virtual_machine_id") if draft[name] is not None]
        if len(parents) != 1:
            draft.reject(ALL, TWO_PARENTS if parents else NO_PARENT)
