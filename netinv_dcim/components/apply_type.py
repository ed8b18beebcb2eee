"""The action ``device-types/{id}/apply/``: makes the devices of a type like it, as a plan says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.errors import Invalid, NotFound, TooLarge, error_text, not_an_object
from netinv_core.fields.schema import NOT_NULL, REQUIRED
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_core.write import save
from netinv_dcim.components import type_application, type_plans
from netinv_dcim.components.differences import counts
from netinv_dcim.components.kinds import KINDS, ComponentKind
from netinv_dcim.components.type_plans import ACTIONS, APPLY, KEEP, RENAME, PlanChoice, PlanRow, TypePlan
from netinv_dcim.devices import Device

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

DEVICES, CHOICES, MOVE = "devices", "choices", "move"
MAX_ROWS = 20_000  # differences that are applied by one request
MAX_NAMED = 20  # devices in an error
CHOSEN = (APPLY, KEEP, RENAME)
_UUID = {"type": "string", "format": "uuid"}
_TEXT = {"type": "string"}
_VALUES = {"type": "object", "properties": {"type": {"nullable": True}, "device": {"nullable": True}}}
_CHOICE = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": list(CHOSEN)},
        "kind": {**_TEXT, "description": "The content type of the components; all kinds without it."},
        "name": {**_TEXT, "description": "The name of the components; all names without it."},
        "device": {**_UUID, "description": "The id of the device; all devices without it."},
        "new_name": {**_TEXT, "description": "The name that a component takes by `rename`."},
    },
    "required": ["action"],
}
_BODY = {
    "type": "object",
    "properties": {
        DEVICES: {
            "type": "array",
            "items": _UUID,
            "description": "The ids of the devices; all of the type without it.",
        },
        MOVE: {
            "type": "boolean",
            "description": "Devices of other types get this one first; takes `devices`.",
        },
        CHOICES: {
            "type": "array",
            "items": _CHOICE,
            "description": "What is done otherwise than by itself; of several about a component, the last one counts.",
        },
    },
}
_ROW = {
    "type": "object",
    "properties": {
        "device": {"type": "object", "properties": {"id": _UUID, "display": _TEXT}},
        "kind": {**_TEXT, "description": "The content type of the component."},
        "name": _TEXT,
        "state": {"type": "string", "enum": ["missing", "additional", "different"]},
        "action": {"type": "string", "enum": list(ACTIONS)},
        "new_name": {**_TEXT, "nullable": True},
        "fields": {"type": "object", "additionalProperties": _VALUES},
        "used_by": {"type": "array", "items": _TEXT, "description": "The content types of what uses the component."},
        "template_id": {**_UUID, "nullable": True},
        "component_id": {**_UUID, "nullable": True},
    },
}
_ANSWER = {
    "type": "object",
    "properties": {
        "request_id": {**_UUID, "description": "That of the changes, by which they can be undone."},
        "counts": {"type": "object", "properties": {action: {"type": "integer"} for action in ACTIONS}},
        "rows": {"type": "array", "items": _ROW},
    },
}


@documented(_ANSWER, request_body=_BODY, status=200)
def apply_type(request: Request) -> dict[str, Any]:
    """Adds, changes, renames and removes components of the devices of a type, so that they are like it.

    What is additional and in use, and the mapping of ports in use, is kept unless chosen. With `dry_run` nothing is
    written: `result` has the plan.
    """
    uow, key = request.uow, key_of(request)
    if not listing.rows(uow, request.context.endpoint, [key], "view"):
        raise NotFound()
    body = body_of(request)
    if not isinstance(body, dict):
        raise Invalid(not_an_object(body))
    if body.get(DEVICES, ()) is None:
        raise Invalid.field(DEVICES, NOT_NULL)
    choices, devices = read_choices(uow, body.get(CHOICES, [])), body.get(DEVICES)
    if _is_moving(body):
        move(uow, key, _read_devices(uow, devices))
    plan = plan_for(uow, key, devices, choices, locked=True)
    type_application.apply(uow, plan)
    names = type_application.displays(uow, {row.device for row in plan.rows})
    return {
        "request_id": uow.request_id,
        "counts": plan.counts,
        "rows": [_represent(uow.registry, row, names) for row in plan.rows],
    }


def _is_moving(body: Mapping[str, Any]) -> bool:
    """True for a body that moves its devices to the type.

    :raises Invalid: for another value than a boolean, and for one without devices
    """
    moving = body.get(MOVE, False)
    if not isinstance(moving, bool):
        raise Invalid.field(MOVE, "Must be a valid boolean.")
    if moving and body.get(DEVICES) is None:
        raise Invalid.field(DEVICES, REQUIRED)
    return moving


def move(uow: UnitOfWork, device_type: Any, devices: Sequence[Any]) -> int:
    """Makes devices of other types devices of this one; returns their number. Their components stay as they are.

    :raises Invalid: naming the devices that are refused
    :raises Denied: without permission to change the devices
    """
    endpoint = uow.registry.of_model(Device)
    rows = listing.rows(uow, endpoint, devices, "change", locked=True)
    moved = [key for key in devices if key not in rows or rows[key]["device_type_id"] != device_type]
    if not moved:
        return 0
    try:
        bodies = [{"id": str(key), "device_type": str(device_type)} for key in moved]
        save.update(uow, endpoint, bodies, partial=True, listed=True)
    except Invalid as error:
        texts = [(key, error_text(item)) for key, item in zip(moved, error.object_errors or (), strict=False) if item]
        shown = listing.rows(uow, endpoint, [key for key, _ in texts], "view")  # others keep their ids
        names = type_application.displays(uow, shown)
        messages = [f"{names.get(key, key)}: {text}" for key, text in texts[:MAX_NAMED]]
        raise Invalid.field(DEVICES, *(messages or [error_text(error.body)])) from error
    return len(moved)


def plan_for(
    uow: UnitOfWork, device_type: Any, devices: Any, choices: Sequence[PlanChoice], *, locked: bool
) -> TypePlan:
    """The plan for all devices of a type that the user may view, or for those whose ids are given.

    ``locked`` devices and components stay as they are until the transaction ends.

    :raises Invalid: for something else than a list of devices of the type
    :raises TooLarge: for more than :data:`MAX_ROWS` differences
    """
    endpoint = uow.registry.of_model(Device)
    table = endpoint.table
    given = None if devices is None else _read_devices(uow, devices)
    statement = (
        sa.select(table.c.id).where(table.c.device_type_id == device_type).order_by(table.c.name_key, table.c.id)
    )
    keys = list(uow.execute(statement).scalars())
    found = listing.rows(uow, endpoint, keys if given is None else given, "view", locked=locked)
    of_type = [key for key in keys if key in found and found[key]["device_type_id"] == device_type]
    known = set(of_type)
    chosen = dict.fromkeys(choice.device for choice in choices if choice.device is not None)
    for name, asked in ((DEVICES, given or ()), (CHOICES, chosen)):
        if others := [key for key in asked if key not in known]:
            raise Invalid.field(name, *(f"No device of this type has the id {key}." for key in others[:MAX_NAMED]))
    number = sum(counts(uow, of_type).values())
    if number > MAX_ROWS:
        message = f"The devices have {number} differences; at most {MAX_ROWS} are applied at once: name fewer devices."
        raise TooLarge(message)
    return type_plans.plan(uow, device_type, of_type, choices, locked=locked)


def _read_devices(uow: UnitOfWork, devices: Any) -> list[Any]:
    """The ids in a list.

    :raises Invalid: for anything else
    """
    if not isinstance(devices, list):
        raise Invalid.field(DEVICES, f'Expected a list of items but got type "{type(devices).__name__}".')
    endpoint = uow.registry.of_model(Device)
    keys = [endpoint.parse_key(item) if isinstance(item, str) else None for item in devices]
    if wrong := [item for item, key in zip(devices, keys, strict=True) if key is None]:
        raise Invalid.field(DEVICES, *(f"“{item}” is not a valid UUID." for item in wrong))
    return list(dict.fromkeys(keys))


def read_choices(uow: UnitOfWork, choices: Any) -> list[PlanChoice]:
    """The choices of a body.

    :raises Invalid: with the errors of each choice by its place in the list
    """
    if not isinstance(choices, list):
        raise Invalid.field(CHOICES, f'Expected a list of items but got type "{type(choices).__name__}".')
    kinds = {uow.registry.of_model(kind.component).label: kind for kind in KINDS}
    read = [_read_choice(uow, kinds, item) for item in choices]
    errors = {str(place): item for place, item in enumerate(read) if isinstance(item, dict)}
    if errors:
        raise Invalid({CHOICES: errors})
    return [item for item in read if isinstance(item, PlanChoice)]


def _read_choice(uow: UnitOfWork, kinds: Mapping[str, ComponentKind], item: Any) -> PlanChoice | dict[str, list[str]]:
    """The choice in a member of a list, or its errors by field."""
    if not isinstance(item, dict):
        return not_an_object(item)
    known = _CHOICE["properties"]
    errors = {str(name): [f"Unknown member. Choose from {', '.join(known)}."] for name in item if name not in known}
    action, kind, device = item.get("action"), item.get("kind"), item.get("device")
    texts = {name: item.get(name) for name in ("name", "new_name")}
    errors |= {name: ["Not a valid string."] for name, text in texts.items() if not isinstance(text, str | None)}
    if action not in CHOSEN:
        errors["action"] = [f"Choose from {', '.join(CHOSEN)}."]
    if kind is not None and (not isinstance(kind, str) or kind not in kinds):
        errors["kind"] = [f"Choose from {', '.join(kinds)}."]
    key = uow.registry.of_model(Device).parse_key(device) if isinstance(device, str) else None
    if device is not None and key is None:
        errors["device"] = ["Must be a valid UUID."]
    if action == RENAME:
        required = {"kind": kind, **texts}
        errors |= {name: [REQUIRED] for name, value in required.items() if value is None}
    elif texts["new_name"] is not None:
        errors.setdefault("new_name", [f"It belongs to the action {RENAME}."])
    if errors:
        return errors
    return PlanChoice(str(action), key, None if kind is None else kinds[kind], texts["name"], texts["new_name"])


def _represent(registry: Registry, row: PlanRow, names: Mapping[Any, str]) -> dict[str, Any]:
    fields = row.fields.items()
    return {
        "device": {"id": row.device, "display": names[row.device]},
        "kind": registry.of_model(row.kind.component).label,
        "name": row.difference.name,
        "state": row.difference.state,
        "action": row.action,
        "new_name": row.new_name,
        "fields": {name: {"type": values.of_type, "device": values.of_device} for name, values in fields},
        "used_by": row.used_by,
        "template_id": row.template_id,
        "component_id": row.difference.component_id,
    }


def includeme(config: Any) -> None:
    """Adds the action below device types."""
    config.add_netinv_action("dcim/device-types", "apply", post=apply_type, permission="view")
