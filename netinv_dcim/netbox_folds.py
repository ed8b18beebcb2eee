"""NetBox models that become values of others: ends of cables, MAC addresses, modules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from netinv_core.importing.dump import Dump, Fields, Folded, Key, content_type

CABLE, MODULE, BAY, MODULE_TYPE = "dcim.cable", "dcim.module", "dcim.modulebay", "dcim.moduletype"
MORE_ENDS = "its cable has several ends on one side; here it has one, the first"
NO_MODULE = "an empty module bay: install netinv-modules to import it"


def cable_ends(dump: Dump) -> Mapping[Any, Key | str]:
    """Gives each cable its ends (NetBox 3.3 and later have them as objects): the first of each side."""
    results: dict[Any, Key | str] = {}
    for key, fields in dump.objects["dcim.cabletermination"].items():
        cable, side = (CABLE, fields["cable"]), f"termination_{fields['cable_end'].lower()}"
        if not dump.get(*cable):
            results[key] = "its cable is not in the source"
        elif dump.get(*cable).get(f"{side}_id") is not None:
            results[key] = MORE_ENDS
        else:
            dump.set(cable, **{f"{side}_type": fields["termination_type"], f"{side}_id": fields["termination_id"]})
            results[key] = cable
    return results


def shown_cable_ends(dump: Dump) -> None:
    """Gives each cable its ends where a service shows them at the cable, and has no list of them."""
    listed = dump.objects.get("dcim.cabletermination")
    for key, fields in dump.objects[CABLE].items():
        for side in ("a", "b"):
            ends = fields.get(f"{side}_terminations")
            if not ends or listed:
                continue
            kind, number = ends[0]["object_type"].split("."), ends[0]["object_id"]
            dump.set((CABLE, key), **{f"termination_{side}_type": kind, f"termination_{side}_id": number})
            if len(ends) > 1:
                dump.set((CABLE, key), **{f"more_ends_{side}": ends[1:]})


def cable_without_an_end(dump: Dump, fields: Fields) -> str:
    """Why a cable has no place here: both ends are required."""
    missing = [side for side in "AB" if not fields.get(f"termination_{side.lower()}_id")]
    return f"it has no end on side {' and '.join(missing)}" if missing else ""


def mac_addresses(dump: Dump) -> Mapping[Any, Key | str]:
    """Gives each interface its primary MAC address, or the first; further ones are listed (NetBox 4.2 and later)."""
    label = "dcim.macaddress"
    primary = {
        fields.get("primary_mac_address")
        for owner in ("dcim.interface", "virtualization.vminterface")
        for fields in dump.objects.get(owner, {}).values()
    }
    results: dict[Any, Key | str] = {}
    for key, fields in sorted(dump.objects[label].items(), key=lambda item: (item[0] not in primary, item[0])):
        owner = content_type(fields.get("assigned_object_type")) or "", fields.get("assigned_object_id")
        current = dump.get(*owner)
        if not current:
            results[key] = "no interface has it"
            continue
        address = str(fields["mac_address"])
        more = [*current.get("more_mac_addresses", []), address]
        dump.set(owner, **({"more_mac_addresses": more} if current.get("mac_address") else {"mac_address": address}))
        results[key] = owner
    return results


def module(dump: Dump, fields: Fields) -> Fields:
    """Converts a module to an inventory item with the name of its bay and the model of its type."""
    type_ = dump.get(MODULE_TYPE, fields.get("module_type"))
    renamed = {name: value for name, value in fields.items() if name not in ("module_bay", "module_type")}
    return {
        **renamed,
        "name": dump.name(BAY, fields.get("module_bay")),
        "manufacturer": type_.get("manufacturer"),
        "part_id": (type_.get("part_number") or type_.get("model") or "")[:50],
        "module_type": type_.get("model"),
    }


def module_bays(dump: Dump) -> Mapping[Any, Key | str]:
    """Returns the module in each bay."""
    modules = {fields.get("module_bay"): key for key, fields in dump.objects.get(MODULE, {}).items()}
    return {key: (MODULE, modules[key]) if key in modules else NO_MODULE for key in dump.objects[BAY]}


def module_types(dump: Dump) -> Mapping[Any, Key | str]:
    """Returns a module of each type."""
    modules = {fields.get("module_type"): key for key, fields in dump.objects.get(MODULE, {}).items()}
    unused = "no module has it: install netinv-modules to import it"
    return {key: (MODULE, modules[key]) if key in modules else unused for key in dump.objects[MODULE_TYPE]}


def port_mappings(dump: Dump, ports: str, label: str) -> Mapping[Any, Key | str]:
    """Gives each front port its rear port (NetBox 4.5 and later have the pairs as objects): the first."""
    results: dict[Any, Key | str] = {}
    for key, fields in dump.objects[label].items():
        owner = ports, fields.get("front_port")
        if not dump.get(*owner) or dump.get(*owner).get("rear_port"):
            results[key] = "its front port has several rear ports; here it has one, the first"
            continue
        position = fields.get("rear_port_position")
        dump.set(owner, rear_port=fields.get("rear_port"), rear_port_position=position)
        results[key] = owner
    return results


def whole(fields: Fields, name: str, *, up: bool) -> Fields:
    """Rounds a decimal field to an integer; a fraction is kept as ``exact_<name>``."""
    value = fields.get(name)
    if value is None or isinstance(value, int):
        return fields
    number = float(value)
    rounded = math.ceil(number) if up else math.floor(number)
    return {**fields, name: rounded} | ({} if rounded == number else {f"exact_{name}": str(value)})


folds = {
    "dcim.cabletermination": Folded(cable_ends),
    "dcim.macaddress": Folded(mac_addresses),
    "dcim.modulebay": Folded(module_bays),
    "dcim.moduletype": Folded(module_types),
    "dcim.portmapping": Folded(lambda dump: port_mappings(dump, "dcim.frontport", "dcim.portmapping")),
    "dcim.porttemplatemapping": Folded(
        lambda dump: port_mappings(dump, "dcim.frontporttemplate", "dcim.porttemplatemapping")
    ),
}
