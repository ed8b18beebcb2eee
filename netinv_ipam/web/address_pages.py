"""Place of addresses: the interface and the site of its device as columns of the list, device and site on the page of
an address. An unassigned one has *Assign*, which leads to the choice of an interface in its form.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.hookspecs import hookimpl
from netinv_core.http.mount import url_of
from netinv_core.labels import capitalize, label_of
from netinv_core.presentation import NAME_WITHIN
from netinv_core.read.names import display_of
from netinv_core.sql.plan import Row
from netinv_core.sql.plans import custom_plan
from netinv_ipam.addresses import ASSIGNABLE, INTERFACE, OWNERS
from netinv_web.cells import EMPTY, CellReader, cell, link, text_markup
from netinv_web.extensions import Action, Panel
from netinv_web.lists.columns import ListColumn
from netinv_web.menu import may
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet
    from netinv_core.uow import UnitOfWork

ADDRESS, SITE = "ipam.ipaddress", "dcim.site"
COLUMN, ASSIGNED = "assigned_site", "assigned_object"
OFFER = Markup('<a class="offer" href="%s">Assign</a>')
ASSIGN = "{}edit/?assigned_object_type={}#field-assigned_object_id"
TEMPLATE = "netinv_ipam:web/templates/assigned.jinja2"


@dataclasses.dataclass(frozen=True)
class Assigned:
    """The place of an interface: ids and names of its owner and of the site; a virtual machine may have none."""

    owner: Any
    owner_name: str
    site: Any
    site_name: str | None


def _build(plan: ReadPlan, place: JoinedTable) -> Any:
    """The reader of the place of an interface."""
    _, owner, site = OWNERS[place.endpoint.label]
    paths = (f"{owner}.id", f"{owner}.{NAME_WITHIN}", f"{site}.id", f"{site}.name")
    readers = [plan.read(place, path) for path in paths]
    return lambda row, page: Assigned(*[read(row, page) for read in readers])


def places_of(uow: UnitOfWork, label: str, keys: Sequence[Any]) -> dict[Any, Any]:
    """The places of interfaces of a model that the user may view, by id; with the site where it may view the owner,
    whose representation shows it. One statement, and two for limited users.
    """
    endpoint = uow.registry.get(label)
    seen = permissions.visible_ids(uow, endpoint, keys) if endpoint is not None and keys else set()
    if endpoint is None or not seen:
        return {}
    places: dict[Any, Any] = dict(custom_plan(endpoint, ("place of interface",), _build).fetch(uow, list(seen)))
    owners = permissions.visible_ids(uow, uow.registry[OWNERS[label][0]], [place.owner for place in places.values()])
    return {
        key: place if place.owner in owners else dataclasses.replace(place, site=None, site_name=None)
        for key, place in places.items()
    }


@hookimpl
def netinv_web_columns(endpoint: Endpoint) -> list[ListColumn]:
    """The columns of addresses with what they are assigned to, and its site."""
    if endpoint.label != ADDRESS:
        return []
    assigned = ListColumn(ASSIGNED, label_of(endpoint.fields[ASSIGNED]), _read_assigned)
    return [assigned, ListColumn(COLUMN, "Site", _sites, (SITE, "view"))]


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> list[Action]:
    """The button on the page of an unassigned address."""
    if endpoint.label != ADDRESS:
        return []
    return [
        Action(
            "assign",
            "Assign",
            lambda endpoint, address: _form_path(endpoint, address["id"]),
            permission="change",
            applies=lambda address: not address["assigned_object_id"],
            prominent=True,
        )
    ]


def _form_path(endpoint: Endpoint, key: Any) -> str:
    """The path of the form of an address, at the choice of an interface."""
    return ASSIGN.format(object_path(endpoint, key), INTERFACE)


def _read_assigned(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of the cells with the interface; a link to the form for users who may assign one."""
    key, assigned = plan.column(place, "id"), plan.column(place, "assigned_object_id")
    read_interface = cell(plan, place, place.endpoint.fields[ASSIGNED])

    def read(row: Row, page: RowSet) -> Markup:
        if row[assigned] is not None or not may(page.uow, place.endpoint, "change"):
            return read_interface(row, page)
        return OFFER % url_of(_form_path(place.endpoint, row[key]))

    return read


def _sites(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of the cells with the site."""
    kind, key = plan.column(place, "assigned_object_type"), plan.column(place, "assigned_object_id")

    def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for label in ASSIGNABLE:
            found |= places_of(uow, label, list({row[key] for row in rows if row[kind] == label}))
        return found

    batch = plan.batch(load)

    def read(row: Row, page: RowSet) -> Markup:
        assigned = page.batches[batch].get(row[key])
        if assigned is None or assigned.site is None:
            return EMPTY
        return link(object_path(page.uow.registry[SITE], assigned.site), text_markup(assigned.site_name))

    return read


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> list[Panel]:
    """The panel of addresses with what they are assigned to."""
    return (
        [Panel("assigned", "Assigned to", _panel, template=TEMPLATE, position=60)] if endpoint.label == ADDRESS else []
    )


def _panel(request: Request, endpoint: Endpoint, address: Mapping[str, Any]) -> dict[str, Any]:
    """Title, path and name of owner, interface and site; the path is empty where the user may not view them."""
    label, interface = address["assigned_object_type"], address["assigned_object"]
    registry = request.registry.netinv
    if not interface:
        return {"places": []}
    if label not in OWNERS:
        return {"places": [(capitalize(registry[label].title), "", display_of(interface))]}
    key = registry[label].parse_key(str(address["assigned_object_id"]))
    assigned = places_of(request.uow, label, [key]).get(key)
    port = (capitalize(registry[label].title), object_path(registry[label], key), interface["name"])
    if assigned is None:
        return {"places": [(port[0], "", port[2])]}
    owner = registry[OWNERS[label][0]]
    places = [(capitalize(owner.title), object_path(owner, assigned.owner), assigned.owner_name), port]
    if assigned.site:
        places.append(("Site", object_path(registry[SITE], assigned.site), assigned.site_name))
    return {"places": places}
