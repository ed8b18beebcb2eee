"""Import of NetBox dumps: module types, bays and modules."""

from __future__ import annotations

from typing import Any

from netinv_core import Source

TYPE, TEMPLATE, BAY, MODULE = (f"dcim.{name}" for name in ("moduletype", "modulebaytemplate", "modulebay", "module"))


def of_a_module(dump: Any, fields: Any) -> str:
    """Why a bay has no place here: it belongs to a module."""
    return "a bay of a module: here only devices have bays" if fields.get("module") else ""


def of_a_module_type(dump: Any, fields: Any) -> str:
    """Why a template has no place here: it belongs to a module type."""
    return "" if fields.get("device_type") else "a bay of a module type: here only devices have bays"


models = {
    TYPE: Source("modules.moduletype", by=("manufacturer_id", "model")),
    TEMPLATE: Source(
        "modules.modulebaytemplate", drop=("module_type",), by=("device_type_id", "name"), skip=of_a_module_type
    ),
    BAY: Source(
        "modules.modulebay",
        drop=("module", "parent", "installed_module", "lft", "rght", "tree_id", "level"),
        by=("device_id", "name"),
        skip=of_a_module,
    ),
    MODULE: Source("modules.module", drop=("local_context_data",), by=("module_bay_id",)),
}
