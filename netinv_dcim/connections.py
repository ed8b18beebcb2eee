"""Connections: the lists of what is connected by paths, and finding the device that a neighbour is connected to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core import fields as kinds
from netinv_core.auth import permits
from netinv_core.context import Context
from netinv_core.errors import Invalid, NotFound
from netinv_core.http import roots, services
from netinv_core.http.opening import Opened
from netinv_core.model import Base
from netinv_core.read import pages
from netinv_core.read.filters import Filter, special, value
from netinv_core.read.lookups import convert
from netinv_core.read.plan import Place, Plan, Reader, record_nested
from netinv_core.registry import Endpoint
from netinv_core.resource import Resource, Spec, object_of
from netinv_dcim.console_ports import ConsolePort, console_ports
from netinv_dcim.devices import Device
from netinv_dcim.interfaces import Interface, interfaces
from netinv_dcim.power_ports import PowerPort, power_ports
from netinv_dcim.sites import Site

INTERFACE = "dcim.interface"
ORDER = ("device.name_key", "device_id", "name_key")
Of = Callable[[Any, Any], Any]


def _own(table: Any, hosts: Any) -> Any:
    """The ends on one of the devices that a select finds."""
    return table.c.device_id.in_(hosts)


def _either(table: Any, hosts: Any) -> Any:
    """The interfaces that are on one of the devices, or connected to one."""
    there = Interface.__table__.alias()
    return table.c.device_id.in_(hosts) | table.c.connected_endpoint_id.in_(sa.select(there.c.id).where(there.c.device_id.in_(hosts)))


def _filters(of: Of) -> list[Filter]:
    """The parameters of a list of connections: ``of`` says which of them belong to a set of devices."""
    device, site = Device.__table__, Site.__table__

    def hosts(context: Context, column: Any, values: Sequence[Any]) -> Any:
        source = device.join(site, site.c.id == device.c.site_id)
        tables = {Device: device} | ({Site: site} if column.table is site else {})
        limits = [limit for model, table in tables.items() for limit in permits.visible(context, context.registry.of_model(model), table)]
        return sa.select(device.c.id).select_from(source).where(column.in_([convert(column, item) for item in values]), *limits)

    def at_site(context: Context, table: Any, values: list[str]) -> Any:
        return of(table, hosts(context, site.c.slug, values))

    def by_id(context: Context, table: Any, values: list[str]) -> Any:
        return of(table, hosts(context, device.c.id, values))

    def by_name(context: Context, table: Any, values: list[str]) -> Any:
        return of(table, hosts(context, device.c.name, values))

    return [value("id"), special("site", at_site, multiple=False), special("device_id", by_id), special("device", by_name)]


def _connected(context: Context, table: Any) -> Any:
    return table.c.connected_endpoint_id.is_not(None)


def _connections(name: str, model: type[Base], of: Resource) -> Resource:
    """The list of the objects of a resource whose paths lead somewhere."""
    found = Resource(model, name, of=of, display=of.display, brief=(), order=ORDER, fields=of.specs)
    found.filters = [*_filters(_own), value("name")]
    found.narrow(_connected)
    return found


console_connections = _connections("console-connections", ConsolePort, console_ports)
power_connections = _connections("power-connections", PowerPort, power_ports)


@dataclasses.dataclass(eq=False, kw_only=True)
class Itself(kinds.Field):
    """The object itself, nested."""

    read_only: bool = True

    def sources(self) -> Collection[str] | None:
        return None

    def reader(self, plan: Plan, place: Place) -> Reader:
        return record_nested(plan, dataclasses.replace(place, endpoint=plan.registry.of_model(place.endpoint.model)))


interface_connections = Resource(
    Interface,
    "interface-connections",
    of=interfaces,
    display=interfaces.display,
    brief=(),
    order=ORDER,
    fields=[
        Spec("interface_a", lambda registry, endpoint: Itself(name="interface_a", openapi={"$ref": "#/components/schemas/NestedInterface"})),
        object_of("interface_b", "connected_endpoint_type", "connected_endpoint_id"),
    ],
    filters=_filters(_either),
    members=["id", "display", "interface_a", "interface_b", "connected_endpoint_reachable", "created", "last_updated"],
)


@interface_connections.narrow
def each_pair_once(context: Context, table: Any) -> Any:
    """A connection of two interfaces has two paths, and is shown from one side."""
    return (table.c.connected_endpoint_type == INTERFACE) & (table.c.id < table.c.connected_endpoint_id)


@services.shaped({"allOf": [{"$ref": "#/components/schemas/Device"}], "nullable": True})
@roots.root("Connected Device", "The device that a neighbour's interface is connected to.")
def connected_device(context: Opened, request: Request) -> Any:
    """The device at the far end of a neighbour's interface (``peer_device``, ``peer_interface``) or null: how a device finds itself by LLDP."""
    names = [next(reversed(context.query.get(name, [""])), "") for name in ("peer_device", "peer_interface")]
    if not all(names):
        raise Invalid({"detail": 'Request must include "peer_device" and "peer_interface" filters.'})
    ports, hosts = context.registry.of_model(Interface), context.registry.of_model(Device)
    for endpoint in (ports, hosts):
        permits.check(context, endpoint, "view")
    found = _far_host(context, ports, names)
    if found is None:
        return None
    return services.as_version(context, hosts, [pages.detail(context, hosts, found, without=hosts.opt_in | hosts.costly)])[0]


def _far_host(context: Context, ports: Endpoint, names: Sequence[str]) -> Any:
    """The device that the interface of these names is connected to.

    :raises NotFound: when there is no such interface for this identity
    """
    near, far, device = Interface.__table__, Interface.__table__.alias(), Device.__table__
    here = sa.select(near.c.id, far.c.device_id).join(device, device.c.id == near.c.device_id).outerjoin(far, far.c.id == near.c.connected_endpoint_id)
    allowed = permits.scope(context, ports, "view", near)
    conditions = [device.c.name == names[0], near.c.name == names[1], *([allowed] if allowed is not None else [])]
    row = context.execute(here.where(*conditions).order_by(near.c.id).limit(1)).first()
    if row is None:
        raise NotFound()
    return row.device_id
