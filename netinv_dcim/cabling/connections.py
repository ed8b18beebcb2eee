"""Connections: the lists of connected ports and interfaces, and the lookup of a neighbour's connected device."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.errors import Invalid, NotFound
from netinv_core.http import query_parameters, root_views, views
from netinv_core.http.actions import documented
from netinv_core.models.base import Base
from netinv_core.read import listing
from netinv_core.read.filters import custom, value
from netinv_core.resource import FieldFactory, Resource, generic_fk
from netinv_core.sql.lookups import convert
from netinv_core.sql.plan import record_nested
from netinv_dcim.components.console import ConsolePort, console_ports
from netinv_dcim.components.interfaces import Interface, interfaces
from netinv_dcim.components.power_ports import PowerPort, power_ports
from netinv_dcim.devices import Device
from netinv_dcim.sites import Site

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork

INTERFACE = "dcim.interface"
ORDER = ("device.name_key", "device_id", "name_key")
Of = Callable[[Any, Any], Any]


def _on_hosts(table: Any, hosts: Any) -> Any:
    """Condition for ends on the devices that the subquery ``hosts`` selects."""
    return table.c.device_id.in_(hosts)


def _on_or_connected_to_hosts(table: Any, hosts: Any) -> Any:
    """Condition for interfaces on the devices that the subquery ``hosts`` selects, or connected to one on them."""
    peer = Interface.__table__.alias()
    on_hosts = sa.select(peer.c.id).where(peer.c.device_id.in_(hosts))
    return table.c.device_id.in_(hosts) | table.c.connected_endpoint_id.in_(on_hosts)


def _filters(of: Of) -> list[Filter]:
    """The filters of a list of connections; ``of`` builds the condition from the table and a subquery of device ids."""
    device, site = Device.__table__, Site.__table__

    def hosts(uow: UnitOfWork, column: Any, values: Sequence[Any]) -> Any:
        source = device.join(site, site.c.id == device.c.site_id)
        tables = {Device: device} | ({Site: site} if column.table is site else {})
        limits = [
            limit
            for model, table in tables.items()
            for limit in permissions.visible(uow, uow.registry.of_model(model), table)
        ]
        matching = column.in_([convert(column, item) for item in values])
        return sa.select(device.c.id).select_from(source).where(matching, *limits)

    def at_site(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
        return of(table, hosts(uow, site.c.slug, values))

    def by_id(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
        return of(table, hosts(uow, device.c.id, values))

    def by_name(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
        return of(table, hosts(uow, device.c.name, values))

    return [
        value("id"),
        custom("site", at_site, multiple=False, listed=True),
        custom("device_id", by_id, listed=True),
        custom("device", by_name, listed=True),
    ]


def _has_connection(uow: UnitOfWork, table: Any) -> Any:
    return table.c.connected_endpoint_id.is_not(None)


def _connections(title: str, model: type[Base], of: Resource) -> Resource:
    """The resource that lists the objects of another resource whose paths have a destination."""
    resource = Resource(
        model,
        f"{title.replace(' ', '-')}s",
        title=title,
        of=of,
        display=of.display,
        brief=(),
        order=ORDER,
        fields=of.field_factories,
        filters=[*_filters(_on_hosts), value("name")],
    )
    resource.base_filter(_has_connection)
    return resource


console_connections = _connections("console connection", ConsolePort, console_ports)
power_connections = _connections("power connection", PowerPort, power_ports)


@dataclasses.dataclass(eq=False, kw_only=True)
class Itself(fields.Field):
    """Read-only field that shows the object itself in its nested form."""

    read_only: bool = True

    def sources(self) -> Collection[str] | None:
        return None

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        endpoint = plan.registry.of_model(place.endpoint.model)
        return record_nested(plan, dataclasses.replace(place, endpoint=endpoint))


interface_connections = Resource(
    Interface,
    "interface-connections",
    title="interface connection",
    of=interfaces,
    display=interfaces.display,
    brief=(),
    order=ORDER,
    fields=[
        FieldFactory(
            "interface_a",
            lambda registry, endpoint: Itself(
                name="interface_a", openapi={"$ref": "#/components/schemas/NestedInterface"}
            ),
        ),
        generic_fk("interface_b", "connected_endpoint_type", "connected_endpoint_id"),
    ],
    filters=_filters(_on_or_connected_to_hosts),
    only_fields=[
        "id",
        "display",
        "interface_a",
        "interface_b",
        "connected_endpoint_reachable",
        "created",
        "last_updated",
    ],
)


@interface_connections.base_filter
def each_pair_once(uow: UnitOfWork, table: Any) -> Any:
    """Base filter: a connection of two interfaces has two paths, and is listed once, from the lower id."""
    return (table.c.connected_endpoint_type == INTERFACE) & (table.c.id < table.c.connected_endpoint_id)


_NEIGHBOUR = (
    query_parameters.query("peer_device", {"type": "string"}, "The name of the neighbour."),
    query_parameters.query("peer_interface", {"type": "string"}, "The name of its interface."),
)


@documented({"allOf": [{"$ref": "#/components/schemas/Device"}], "nullable": True}, query=_NEIGHBOUR)
@root_views.root("Connected Device", "The device that a neighbour's interface is connected to.")
def connected_device(request: Request) -> dict[str, Any] | None:
    """The device at the far end of a neighbour's interface (``peer_device``, ``peer_interface``) or null.

    A device finds itself so by LLDP.
    """
    uow = request.uow
    names = [next(reversed(uow.query.get(name, [""])), "") for name in ("peer_device", "peer_interface")]
    if not all(names):
        raise Invalid({"detail": 'Request must include "peer_device" and "peer_interface" filters.'})
    ports, hosts = uow.registry.of_model(Interface), uow.registry.of_model(Device)
    for endpoint in (ports, hosts):
        permissions.check(uow, endpoint, "view")
    device_id = _far_host(uow, ports, names)
    if device_id is None:
        return None
    detail = listing.detail(uow, hosts, device_id, without=hosts.opt_in | hosts.costly)
    return views.downgrade_representation(uow, hosts, [detail])[0]


def _far_host(uow: UnitOfWork, ports: Endpoint, names: Sequence[str]) -> Any:
    """The id of the device at the far end of an interface, or ``None``; ``names`` holds its device's name and its own.

    :raises NotFound: when the user may not view such an interface
    """
    near, far, device = Interface.__table__, Interface.__table__.alias(), Device.__table__
    joined = sa.select(near.c.id, far.c.device_id).join(device, device.c.id == near.c.device_id)
    joined = joined.outerjoin(far, far.c.id == near.c.connected_endpoint_id)
    limits = permissions.limits(uow, ports, "view", near)
    conditions = [device.c.name == names[0], near.c.name == names[1], *limits]
    row = uow.execute(joined.where(*conditions).order_by(near.c.id).limit(1)).first()
    if row is None:
        raise NotFound()
    return row.device_id
