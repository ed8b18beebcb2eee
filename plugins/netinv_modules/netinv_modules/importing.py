"""Import of module types, bays and modules: of NetBox dumps, and of Nautobot 2.3 and later."""

from __future__ import annotations

from typing import Any

from netinv_core import Source

TYPE, TEMPLATE, BAY, MODULE = (f"dcim.{name}" for name in ("moduletype", "modulebaytemplate", "modulebay", "module"))
OF_A_MODULE = "a bay of a module: here only devices have bays"
OF_A_MODULE_TYPE = "a bay of a module type: here only devices have bays"
IN_A_MODULE = "a module in a bay of a module: here only devices have bays"
IN_STOCK = "a module in no device: modules here are in a bay of one"


def of_a_module(dump: Any, fields: Any) -> str:
    """Why a bay has no place here: it belongs to a module."""
    return OF_A_MODULE if fields.get("module") or fields.get("parent_module") else ""


def of_a_module_type(dump: Any, fields: Any) -> str:
    """Why a template has no place here: it belongs to a module type."""
    return "" if fields.get("device_type") else OF_A_MODULE_TYPE


def not_in_a_bay_of_a_device(dump: Any, fields: Any) -> str:
    """Why a module of Nautobot has no place here; its device has been found through the modules that it is in."""
    if not fields.get("device"):
        return IN_STOCK
    return IN_A_MODULE if dump.get(BAY, fields.get("module_bay")).get("parent_module") else ""


TYPES = Source("modules.moduletype", by=("manufacturer_id", "model"))
TEMPLATES = Source(
    "modules.modulebaytemplate", drop=("module_type",), by=("device_type_id", "name"), skip=of_a_module_type
)
of_netbox = {
    TYPE: TYPES,
    TEMPLATE: TEMPLATES,
    BAY: Source(
        "modules.modulebay",
        drop=("module", "parent", "installed_module", "lft", "rght", "tree_id", "level"),
        by=("device_id", "name"),
        skip=of_a_module,
    ),
    MODULE: Source("modules.module", drop=("local_context_data",), by=("module_bay_id",)),
}
of_nautobot = {
    TYPE: TYPES,
    TEMPLATE: TEMPLATES,
    BAY: Source(
        "modules.modulebay",
        rename={"parent_device": "device"},
        drop=("parent_module", "installed_module"),
        by=("device_id", "name"),
        skip=of_a_module,
    ),
    MODULE: Source("modules.module", drop=("parent_module_bay",), by=("module_bay_id",), skip=not_in_a_bay_of_a_device),
}
