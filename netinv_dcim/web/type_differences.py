"""Where devices differ from their types: a panel of the device, a column of lists, the number at the device type."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from markupsafe import Markup
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.hookspecs import hookimpl
from netinv_core.labels import label_of, title_of
from netinv_core.models.columns import column_info
from netinv_core.read import listing
from netinv_core.sql.plan import Row
from netinv_dcim.components.differences import ADDITIONAL, DIFFERENT, MISSING, Difference, counts, differences
from netinv_dcim.components.type_differences import FILTER
from netinv_dcim.device_types import DeviceType
from netinv_web.cells import CellReader
from netinv_web.extensions import Panel
from netinv_web.lists.columns import ListColumn
from netinv_web.markup import EMPTY, link, text_markup
from netinv_web.menu import may
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, ReadPlan
    from netinv_core.uow import UnitOfWork

DEVICE = "dcim.device"
NAME = "type-differences"
MAX_SHOWN = 200  # rows of the panel
TEMPLATE = "netinv_dcim:web/templates/type_differences.jinja2"
COUNT_TEMPLATE = "netinv_dcim:web/templates/differing_devices.jinja2"


def of_device(request: Request, endpoint: Endpoint, device: Mapping[str, Any]) -> dict[str, Any] | None:
    """The differences of a device from its type; no panel without any. One statement."""
    key = endpoint.parse_key(str(device["id"]))
    found = differences(request.uow, [key]).get(key)
    if not found:
        return None
    states = collections.Counter(item.state for item in found)
    kind = device["device_type"]
    return {
        "rows": [_row(request.uow.registry, item) for item in found[:MAX_SHOWN]],
        "type": link(_type_path(request.uow, kind["id"]), text_markup(kind["display"])),
        "apply": _apply_path(request, kind["id"], key),
        "count": len(found),
        "states": [(state, states[state]) for state in (MISSING, ADDITIONAL, DIFFERENT) if states[state]],
        "hidden": max(0, len(found) - MAX_SHOWN),
    }


def _type_path(uow: UnitOfWork, key: Any) -> str:
    """The path of a device type; blank where the user may not view it."""
    endpoint = uow.registry.of_model(DeviceType)
    return object_path(endpoint, key) if permissions.visible_ids(uow, endpoint, [key]) else ""


def _row(registry: Registry, difference: Difference) -> dict[str, Any]:
    """The values of a row: a link to the component, or to the template of a missing one; the state, and the fields."""
    component, key = registry.of_model(difference.kind.component), difference.component_id
    target = component if key is not None else registry.of_model(difference.kind.template)
    path = object_path(target, difference.template_id if key is None else key)
    fields = [
        (label_of(component.fields[name]), *(value_markup(component, name, value) for value in values))
        for name, values in difference.fields.items()
    ]
    return {
        "name": link(path, text_markup(difference.name)),
        "kind": title_of(component),
        "state": difference.state.capitalize(),
        "fields": fields,
    }


def value_markup(component: Endpoint, name: str, value: Any) -> Markup:
    """The markup of a value: the label of a choice, the name of what a reference leads to."""
    choices = column_info(component.table.c[name]).choices if name in component.table.c else None
    return text_markup(choices.labels.get(value, value) if choices is not None else value)


def of_type(request: Request, endpoint: Endpoint, device_type: Mapping[str, Any]) -> dict[str, Any] | None:
    """The number of devices that differ from a type; no panel without any. One statement."""
    devices = request.uow.registry[DEVICE]
    query = {"device_type_id": str(device_type["id"]), FILTER: "true"}
    parameters = [(name, [value]) for name, value in query.items()]
    conditions = listing.conditions_of(request.uow, devices, devices.table, parameters, "view")
    count = listing.count_of(request.uow, devices, conditions)
    path = f"{page_path(devices)}?{urlencode(query)}"
    return {"count": count, "path": path, "apply": _apply_path(request, device_type["id"])} if count else None


def _apply_path(request: Request, device_type: Any, device: Any = None) -> str:
    """The page that applies a type to its devices, or to one of them; empty for users who may view no type."""
    endpoint = request.uow.registry.of_model(DeviceType)
    if not may(request.uow, endpoint, "view"):
        return ""
    path = f"{object_path(endpoint, device_type)}apply/"
    return path if device is None else f"{path}?device={device}"


def differs(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of cells with the number of differences, which leads to them; counted for all rows together."""
    key = plan.column(place, "id")

    def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Markup]:
        numbers = counts(uow, [row[key] for row in rows]).items()
        return {device: link(f"{object_path(place.endpoint, device)}#panel-{NAME}", f"{n:,}") for device, n in numbers}

    batch = plan.batch(load)
    return lambda row, page: page.batches[batch].get(row[key], EMPTY)


PANEL = Panel(NAME, "Differs from its type", of_device, side="main", lazy=True, template=TEMPLATE, position=60)
TYPE_PANEL = Panel(NAME, "Devices that differ", of_type, lazy=True, template=COUNT_TEMPLATE, position=60)
COLUMN = ListColumn("differs", "Differs from type", differs)


@hookimpl
def netinv_web_columns(endpoint: Endpoint) -> Sequence[ListColumn]:
    """The number of differences of devices from their types."""
    return [COLUMN] if endpoint.label == DEVICE else []
