"""The page ``/dcim/devices/move-to-type/``: selected devices get another type, then a plan makes them like it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid, RequestError
from netinv_dcim.components.apply_type import move
from netinv_dcim.device_types import DeviceType
from netinv_web import notices
from netinv_web.bulk.editing import INVALID, empty_selection_page, named_objects
from netinv_web.bulk.selection import APPLY, Selection, members_of, selected, step_of
from netinv_web.extensions import Action
from netinv_web.forms import pickers
from netinv_web.forms.controls import Control
from netinv_web.forms.form import last_text, readable
from netinv_web.pages import page, see_other
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TEMPLATE = "netinv_dcim:web/templates/type_move.jinja2"
NAME, TYPE, DEVICE = "move-to-type", "device_type", "device"
MAX_NAMED = 50  # devices in the address of the plan; it is that of all devices of the type for more
ACTION = Action(
    NAME,
    "Move to another type",
    lambda endpoint, item: f"{page_path(endpoint)}{NAME}/",
    scope="selection",
    permission="change",
    further_permission=("dcim.devicetype", "view"),
    icon="arrows-right-left",
)


def show(request: Request) -> Response:
    """The form that asks for the type; it leads to the plan for the devices that were moved."""
    endpoint = request.context.endpoint
    members = members_of(request)
    selection = selected(request, endpoint, members, "change")
    if not selection.keys or selection.too_many:
        return empty_selection_page(request, endpoint, selection, "move")
    control = Control(TYPE, "Device type", "picker", required=True, target=endpoint.registry.of_model(DeviceType))
    pickers.fill(control, lambda name: last_text(members, name))
    if step_of(members) == APPLY and not selection.changed:
        answer = _move_devices(request, endpoint, selection, control)
        if answer is not None:
            return answer
    return _form(request, endpoint, selection, control)


def _move_devices(request: Request, endpoint: Endpoint, selection: Selection, control: Control) -> Response | None:
    """Moves the devices and leads to the plan; ``None`` where that is refused, which the control then says."""
    uow = request.uow
    try:
        with uow.savepoint():
            key = pickers.chosen_id(uow, control, "model")
            moved = move(uow, key, selection.keys)
    except RequestError as error:
        messages = error.body.values() if isinstance(error, Invalid) and isinstance(error.body, dict) else [error.body]
        control.errors = [readable(message) for message in messages]
        return None
    devices = [(DEVICE, str(key)) for key in selection.keys] if len(selection.keys) <= MAX_NAMED else []
    of_devices = f"?{urlencode(devices)}" if devices else ""
    plan = f"{object_path(endpoint.registry.of_model(DeviceType), key)}apply/{of_devices}"
    if not moved:
        return notices.add(
            request, see_other(plan), notices.Notice("The devices have had this type before.", "warning")
        )
    text = f"{moved:,} devices have" if moved > 1 else "1 device has"
    notice = notices.Notice(f"{text} another type now. This is where they differ from it.", undo=str(uow.request_id))
    return notices.add(request, see_other(plan), notice)


def _form(request: Request, endpoint: Endpoint, selection: Selection, control: Control) -> Response:
    request.tm.doom()
    pickers.complete(request.uow, [control])
    control.may_add = False
    values = {"endpoint": endpoint, "list_path": page_path(endpoint), "selection": selection, "control": control}
    values |= named_objects(request.uow, endpoint, selection)
    return page(request, TEMPLATE, values, INVALID if control.errors else 200)


def includeme(config: Any) -> None:
    """Adds the page."""
    config.add_netinv_page(
        f"/dcim/devices/{NAME}/", show, permission="change", methods=["POST"], resource="dcim/devices"
    )
