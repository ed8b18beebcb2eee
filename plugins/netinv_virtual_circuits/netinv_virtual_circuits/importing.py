"""Import of NetBox dumps: virtual circuits, their types and ends, which came with NetBox 4.2."""

from __future__ import annotations

from typing import Any

from netinv_core import Source

TYPE, CIRCUIT, TERMINATION = (
    f"circuits.{name}" for name in ("virtualcircuittype", "virtualcircuit", "virtualcircuittermination")
)
UNTYPED = "netbox-virtual-circuit"


def type_of_untyped(dump: Any) -> Any:
    """The type of circuits from a preview of NetBox 4.2, which had no types."""
    untyped = [fields for fields in dump.objects.get(CIRCUIT, {}).values() if fields["type"] == UNTYPED]
    return {TYPE: {UNTYPED: {"name": "NetBox virtual circuit", "slug": UNTYPED}}} if untyped else {}


models = {
    TYPE: Source("virtual_circuits.virtualcircuittype", by=("slug",)),
    CIRCUIT: Source(
        "virtual_circuits.virtualcircuit",
        fixed_values={"type": UNTYPED},
        needs=type_of_untyped,
        by=("provider_network_id", "cid"),
    ),
    TERMINATION: Source("virtual_circuits.virtualcircuittermination", by=("interface_id",)),
}
