"""Import of NetBox dumps: virtual device contexts, with the interfaces that list them."""

from __future__ import annotations

from typing import Any

from netinv_core import Source

CONTEXT, INTERFACE = "dcim.virtualdevicecontext", "dcim.interface"


def with_interfaces(dump: Any) -> None:
    """Lists interfaces at their contexts."""
    interfaces: dict[Any, list[Any]] = {}
    for interface, fields in list(dump.objects.get(INTERFACE, {}).items()):
        contexts = [key for key in fields.get("vdcs") or [] if dump.get(CONTEXT, key)]
        for key in contexts:
            interfaces.setdefault(key, []).append(interface)
        if contexts:
            dump.set((INTERFACE, interface), vdcs=[])
    for key, listed in interfaces.items():
        dump.set((CONTEXT, key), interfaces=listed)


models = {
    CONTEXT: Source(
        "device_contexts.virtualdevicecontext",
        fixed_values={"status": "active"},
        prepare=with_interfaces,
        deferred=("primary_ip4", "primary_ip6"),
        by=("device_id", "name"),
    ),
}
