"""Addresses of an interface on its page, and the page that assigns a new, the next free, or an existing one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.errors import Denied, Invalid, RequestError
from netinv_core.hookspecs import hookimpl
from netinv_core.http.views import key_of
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.sql.plans import custom_plan, plan_of
from netinv_core.write import save
from netinv_ipam.addresses import ASSIGNABLE, INTERFACE, VM_INTERFACE, IPAddress
from netinv_ipam.free_space import free_addresses
from netinv_ipam.prefix_locks import locked
from netinv_ipam.prefixes import Prefix
from netinv_ipam.taken_space import container_statuses
from netinv_web import notices
from netinv_web.extensions import Panel
from netinv_web.forms import pickers
from netinv_web.forms.controls import Control
from netinv_web.forms.form import readable
from netinv_web.menu import may
from netinv_web.objects import details
from netinv_web.pages import form_of, page, see_other
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan
    from netinv_core.uow import UnitOfWork

ADDRESS, PREFIX, VRF = "ipam.ipaddress", "ipam.prefix", "ipam.vrf"
PANEL = "netinv_ipam:web/templates/addresses.jinja2"
PAGE = "netinv_ipam:web/templates/assign_address.jinja2"
SITES = {INTERFACE: "device.site_id", VM_INTERFACE: "virtual_machine.cluster.site_id"}  # paths to the site
MAX_OFFERED = 8  # prefixes of the site
MAX_LISTED = 20  # addresses in the panel
TAKEN = "It is assigned to an interface already."
INVALID = 422
Row = Mapping[str, Any]


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> list[Panel]:
    """The panel with the addresses of an interface."""
    if endpoint.label not in ASSIGNABLE:
        return []
    return [Panel("addresses", "IP addresses", _addresses, side="main", template=PANEL, position=50)]


def _addresses(request: Request, endpoint: Endpoint, item: Row) -> dict[str, Any] | None:
    """The addresses of an interface that the user may view; one statement, and one for their names."""
    uow, addresses = request.uow, request.uow.registry[ADDRESS]
    if not may(uow, addresses, "view"):
        return None
    table = table_of(IPAddress)
    here = [table.c.assigned_object_type == endpoint.label, table.c.assigned_object_id == item["id"]]
    count, keys = listing.ids(uow, addresses, [], listing.Slice(MAX_LISTED, 0), within=here)
    shown = plan_of(addresses).represent(uow, keys)
    assign = f"{object_path(endpoint, item['id'])}assign-address/"
    return {
        "addresses": [(object_path(addresses, address["id"]), address) for address in shown],
        "more": count - len(shown),
        "assign": assign if may(uow, addresses, "add") or may(uow, addresses, "change") else "",
    }


@dataclasses.dataclass(frozen=True)
class AssignmentForm:
    """A way to get an address: its form, and the errors of the whole."""

    name: str
    title: str
    button: str
    controls: Sequence[Control]
    errors: Sequence[str] = ()


def assign(request: Request) -> Response:
    """The page with a form for each way to assign an address, and what these forms send."""
    endpoint = request.context.endpoint
    item, cells = details.read_object(request, endpoint, key_of(request))
    ways = _ways(request.uow)
    if not ways:
        raise Denied(missing=(ADDRESS, "add"))
    status = 200
    if request.method == "POST":
        form = form_of(request)
        way = next((way for way in ways if way.name == form.get("_way")), ways[0])
        for control in way.controls:
            pickers.fill(control, form.get)
        try:
            with request.uow.savepoint():
                address = ASSIGNMENTS[way.name](request.uow, endpoint, item["id"], way)
            notice = notices.Notice(f"{address['display']} was assigned.", undo=str(request.uow.request_id))
            return notices.add(request, see_other(object_path(endpoint, item["id"])), notice)
        except RequestError as error:
            ways = [_with_messages(way, error.body) if other is way else other for other in ways]
            status = INVALID
            request.tm.doom()
    pickers.complete(request.uow, [control for way in ways for control in way.controls])
    offered = _offered_addresses(request.uow, endpoint, item["id"]) if ways[0].name == "next" else []
    values = details.object_values(request, endpoint, item, None, cells)
    return page(request, PAGE, values | {"ways": ways, "offered": offered, "is_refused": status != 200}, status)


def _ways(uow: UnitOfWork) -> list[AssignmentForm]:
    """The ways that the user may take."""
    registry, ways = uow.registry, list[AssignmentForm]()
    addresses = registry[ADDRESS]
    if may(uow, addresses, "add"):
        prefix = Control("prefix", "Prefix", "picker", required=True, target=registry[PREFIX])
        if may(uow, registry[PREFIX], "view"):
            ways.append(AssignmentForm("next", "Next free address of a prefix", "Assign the next free", [prefix]))
        address = Control("address", "Address", required=True, attributes={"placeholder": "192.0.2.1/24"})
        vrf = Control("vrf", "VRF", "picker", target=registry[VRF])
        ways.append(AssignmentForm("new", "New address", "Create and assign", [address, vrf]))
    if may(uow, addresses, "change"):
        free = {"assigned_to_interface": "false"}
        existing = Control("existing", "IP address", "picker", required=True, target=addresses, parameters=free)
        ways.append(AssignmentForm("existing", "Address that exists", "Assign", [existing]))
    return ways


def _with_messages(way: AssignmentForm, body: Any) -> AssignmentForm:
    """The way with the messages of a refusal, those of its controls at these."""
    messages = dict(body) if isinstance(body, Mapping) else {}
    for control in way.controls:
        if control.name in messages:
            control.errors = [readable(messages.pop(control.name))]
    rest = readable(messages) if isinstance(body, Mapping) else readable(body)
    if rest and not any(control.errors for control in way.controls):
        way.controls[0].errors = [rest]
        rest = ""
    return dataclasses.replace(way, errors=[rest] if rest else [])


def _assigned_to(endpoint: Endpoint, key: Any) -> dict[str, Any]:
    return {"assigned_object_type": endpoint.label, "assigned_object_id": str(key)}


def _new(uow: UnitOfWork, endpoint: Endpoint, key: Any, way: AssignmentForm) -> Row:
    address, vrf = way.controls
    vrf_key = pickers.chosen_id(uow, vrf, "name") if vrf.value else None
    body = {"address": address.value, "vrf": vrf_key, "status": "active", **_assigned_to(endpoint, key)}
    return save.create(uow, uow.registry[ADDRESS], [body], single=True)[0]


def _next(uow: UnitOfWork, endpoint: Endpoint, key: Any, way: AssignmentForm) -> Row:
    """The first address that is free in the prefix, which is locked until the transaction ends."""
    row = locked(uow, uow.registry[PREFIX], pickers.chosen_id(uow, way.controls[0], "prefix"))
    address = next(free_addresses(uow, row), None) if row is not None else None
    if row is None or address is None:
        raise Invalid({"prefix": ["No address of it is free." if row is not None else "There is no such prefix."]})
    body = {"address": address, "vrf": row["vrf_id"], "status": "active", **_assigned_to(endpoint, key)}
    return save.create(uow, uow.registry[ADDRESS], [body], single=True)[0]


def _read_existing(uow: UnitOfWork, endpoint: Endpoint, key: Any, way: AssignmentForm) -> Row:
    addresses, chosen = uow.registry[ADDRESS], pickers.chosen_id(uow, way.controls[0], "address")
    row = listing.rows_for_change(uow, addresses, [chosen], "change").get(chosen)
    if row is None or row["assigned_object_id"] is not None:
        raise Invalid({"existing": [TAKEN if row is not None else "You may not change this address."]})
    return save.update(uow, addresses, [{"id": str(chosen), **_assigned_to(endpoint, key)}], partial=True, single=True)[
        0
    ]


ASSIGNMENTS = {"new": _new, "next": _next, "existing": _read_existing}


@dataclasses.dataclass(frozen=True)
class OfferedAddress:
    """The next free address of a prefix, with the representation of the prefix."""

    address: str
    prefix: Row


def _read_place(plan: ReadPlan, place: JoinedTable) -> Any:
    """The reader of the ids of the site and of the untagged VLAN of an interface."""
    readers = [plan.read(place, path) for path in (SITES[place.endpoint.label], "untagged_vlan_id")]
    return lambda row, page: tuple(read(row, page) for read in readers)


def _offered_addresses(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> list[OfferedAddress]:
    """The next free addresses of prefixes that are networks of hosts, not containers: those of the untagged VLAN of
    the interface, and then those at its site.

    At most :data:`MAX_OFFERED` prefixes are read, the longest of those at one address first; full ones are left out.
    """
    found = custom_plan(endpoint, ("site and VLAN of interface",), _read_place).fetch(uow, [key])
    site, vlan = found[0][1] if found else (None, None)
    if site is None and vlan is None:
        return []
    prefixes, table = uow.registry[PREFIX], table_of(Prefix)
    limits = permissions.visible(uow, prefixes, table)
    of_hosts = table.c.prefix_length.between(16, 30) | (table.c.prefix_length == 64)
    at_site = table.c.site_id == site if site is not None else sa.false()
    of_vlan = table.c.vlan_id == vlan if vlan is not None else sa.false()
    statement = sa.select(table).where(at_site | of_vlan, of_hosts, *limits)
    if containers := container_statuses(uow):
        statement = statement.where(table.c.status_id.is_(None) | table.c.status_id.not_in(containers))
    order = (table.c.ip_version, table.c.network, table.c.prefix_length.desc())
    ordered = statement.order_by(sa.case((of_vlan, 0), else_=1), *order).limit(MAX_OFFERED)
    rows = {row["id"]: row for row in uow.execute(ordered).mappings()}
    first = {row_key: next(free_addresses(uow, row), None) for row_key, row in rows.items()}
    free = {row_key: address for row_key, address in first.items() if address is not None}
    return [OfferedAddress(free[item["id"]], item) for item in plan_of(prefixes).represent(uow, list(free))]


def includeme(config: Any) -> None:
    """Adds the page to the interfaces of installed applications."""
    registry = config.registry.netinv
    for label in ASSIGNABLE:
        endpoint = registry.get(label)
        if endpoint is not None:
            resource = f"{endpoint.app.name}/{endpoint.resource.name}"
            config.add_netinv_page(
                f"/{resource}/{{id}}/assign-address/",
                assign,
                permission="view",
                methods=["GET", "POST"],
                resource=resource,
            )
