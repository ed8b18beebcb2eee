"""Columns of tables of cables: the ports at both ends by device and name."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.write.table_rows import JoinedColumns

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

SIDES = ("a", "b")
INTERFACE = "interface"
# Models at the end of a cable, by the field with the object that its port belongs to.
OWNERS = {"powerfeed": "power_panel", "circuittermination": "circuit"}
APPS = {"circuittermination": "circuits"}
NEEDED = "A port is named by its device and its name."


def joined_columns_of(endpoint: Endpoint) -> Iterable[JoinedColumns]:
    """The columns of cables: ``side_a_device``, ``side_a_type`` (by default ``interface``) and ``side_a_name``."""
    if endpoint.label != "dcim.cable":
        return
    for side in SIDES:
        device, kind, name = (f"side_{side}_{part}" for part in ("device", "type", "name"))
        aliases = {
            f"{word}_{side}_{old}": new
            for word in ("side", "termination", "end")
            for old, new in (("device", device), ("name", name), ("port", name), ("interface", name))
        }
        yield JoinedColumns(
            (device, kind, name),
            (f"termination_{side}_type", f"termination_{side}_id"),
            functools.partial(_end, side),
            f"Device, type (interface, front-port …) and name of the port at side {side.upper()}.",
            aliases | {f"{device}_name": device, f"{side}_device": device, f"{side}_interface": name},
        )


def _end(side: str, cells: Mapping[str, str]) -> dict[str, Any]:
    """The port at an end.

    :raises ValueError: for a device without a port, or the reverse
    """
    device, kind, name = (cells.get(f"side_{side}_{part}", "") for part in ("device", "type", "name"))
    if not device and not name:
        return {}
    if not device or not name:
        raise ValueError(NEEDED)
    model = kind.rpartition(".")[2].replace(" ", "").replace("-", "").replace("_", "").casefold() or INTERFACE
    app = kind.partition(".")[0].casefold() if "." in kind else APPS.get(model, "dcim")
    owner = OWNERS.get(model, "device")
    attribute = "cid" if owner == "circuit" else "name"
    named = {"term_side": name.upper()} if owner == "circuit" else {"name": name}
    return {
        f"termination_{side}_type": f"{app}.{model}",
        f"termination_{side}_id": {owner: {attribute: device}, **named},
    }
