"""Import of NetBox dumps: circuit groups with their circuits and virtual circuits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netinv_core import Registry, Source

CIRCUIT, VIRTUAL = "circuits.circuit", "circuits.virtualcircuit"
NO_VIRTUAL = "its member is a virtual circuit: install netinv-virtual-circuits to import those"


def assignment(dump: Any, fields: Any) -> Any:
    """Converts an assignment: before NetBox 4.2 its member was always a circuit."""
    if "circuit" not in fields:
        return fields
    converted = {name: value for name, value in fields.items() if name != "circuit"}
    return {**converted, "member_type": CIRCUIT.split("."), "member_id": fields["circuit"]}


def without_member(dump: Any, fields: Any) -> str:
    """Why an assignment has no place here: its member is a virtual circuit, and their package is not installed."""
    label = fields.get("member_type")
    return NO_VIRTUAL if (label if isinstance(label, str) else ".".join(label or ())) == VIRTUAL else ""


def models(registry: Registry) -> Mapping[str, Source]:
    """The mapping of the models; assignments of virtual circuits are imported where these are installed."""
    options: dict[str, Any] = {} if registry.get("virtual_circuits.virtualcircuit") else {"skip": without_member}
    return {
        "circuits.circuitgroup": Source("circuit_groups.circuitgroup", by=("slug",)),
        "circuits.circuitgroupassignment": Source(
            "circuit_groups.circuitgroupassignment", adapt=assignment, by=("member_id", "group_id"), **options
        ),
    }
