"""Differences from the device type as clients see them: ``devices/{id}/type-differences/`` and a filter of devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.errors import NotFound
from netinv_core.http.actions import documented
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_core.sql.lookups import convert_flag, negated
from netinv_dcim.components.differences import ADDITIONAL, DIFFERENT, MISSING, Difference, differences, differs
from netinv_dcim.devices import devices

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

FILTER = "differs_from_type"
_ID = {"type": "string", "format": "uuid", "nullable": True}
_VALUES = {"type": "object", "properties": {"type": {"nullable": True}, "device": {"nullable": True}}}
_DIFFERENCE = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "description": "The content type of the component."},
        "name": {"type": "string"},
        "state": {"type": "string", "enum": [MISSING, ADDITIONAL, DIFFERENT]},
        "fields": {
            "type": "object",
            "additionalProperties": _VALUES,
            "description": "Of a different component: the values of each field in the type and in the device.",
        },
        "template_id": _ID,
        "component_id": _ID,
    },
}


@documented(_DIFFERENCE, form="list")
def type_differences(request: Request) -> list[dict[str, Any]]:
    """The components of a device that are missing, additional, or not as the templates of its type.

    Components and templates that the user may not view are left out.
    """
    uow, key = request.uow, key_of(request)
    if not listing.rows(uow, request.context.endpoint, [key], "view"):
        raise NotFound()
    return [_represent(uow.registry, item) for item in differences(uow, [key]).get(key, ())]


def _represent(registry: Registry, difference: Difference) -> dict[str, Any]:
    fields = difference.fields.items()
    return {
        "kind": registry.of_model(difference.kind.component).label,
        "name": difference.name,
        "state": difference.state,
        "fields": {name: {"type": values.of_type, "device": values.of_device} for name, values in fields},
        "template_id": difference.template_id,
        "component_id": difference.component_id,
    }


def differs_from_type(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters devices by whether they differ from their type, as far as the user may view it."""
    condition = differs(uow, table)
    return condition if convert_flag(values[-1]) else negated(condition)


def register() -> None:
    """Registers the filter with the devices. The package calls it once."""
    words = "Whether components are missing, additional, or not as the templates of the device type"
    devices.filter(FILTER, multiple=False, kind="boolean", help=words)(differs_from_type)


def includeme(config: Any) -> None:
    """Adds ``devices/{id}/type-differences/``."""
    config.add_netinv_action("dcim/devices", "type-differences", get=type_differences, permission="view")
