"""Differences of Nautobot 2.x and 3.x in the application ``ipam``: namespaces, prefixes, addresses of interfaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netinv_core.importing.dump import Declaration, Derived, Dump, Excluded, Fields, Folded, Key, Source
from netinv_core.importing.folds import NOT_IN_SOURCE

PREFIX, ADDRESS, VRF, AGGREGATE, NAMESPACE = (
    f"ipam.{name}" for name in ("prefix", "ipaddress", "vrf", "aggregate", "namespace")
)
ASSIGNMENT = "ipam.ipaddresstointerface"
GLOBAL = "Global"
OF_NAMESPACE = ("namespace", "parent", "type", "network", "broadcast", "prefix_length", "ip_version", "host")
OF_VRF = ("description", "tenant", "custom_field_data")
FLAGS = ("is_source", "is_destination", "is_default", "is_preferred", "is_primary", "is_secondary", "is_standby")


def prefixes(dump: Dump) -> None:
    """Gives prefixes and addresses their VRF, and prefixes the status of their type; the topmost become aggregates."""
    _share_vrfs(dump)
    kept = _namespaces_without_vrf(dump)
    vrfs: dict[Any, Any] = {}
    for key, fields in dump.objects[PREFIX].items():
        assigned = fields.get("vrfs") or []
        vrfs[key] = assigned[0] if assigned else kept.get(fields.get("namespace"))
        dump.set((PREFIX, key), vrf=vrfs[key], more_vrfs=[dump.name(VRF, vrf) for vrf in assigned[1:]])
    for key, fields in dump.objects.get(ADDRESS, {}).items():
        dump.set((ADDRESS, key), vrf=vrfs.get(fields.get("parent")))
    aggregates = _aggregates(dump)
    for key, fields in dump.objects[PREFIX].items():
        dump.set((PREFIX, key), **(_of_aggregate(fields) if key in aggregates else _of_type(fields)))
    dump.move(PREFIX, dict.fromkeys(aggregates, AGGREGATE))


def _share_vrfs(dump: Dump) -> None:
    """Lists the VRFs of each prefix at it, by name."""
    vrfs: Mapping[Any, Fields] = dump.objects.get(VRF, {})
    listed: dict[Any, list[Any]] = {}
    for key, fields in sorted(vrfs.items(), key=lambda item: (str(item[1].get("name")), str(item[0]))):
        for prefix in fields.get("prefixes") or ():
            listed.setdefault(prefix, []).append(key)
    for key, keys in listed.items():
        if dump.get(PREFIX, key):
            dump.set((PREFIX, key), vrfs=keys)


def _namespaces_without_vrf(dump: Dump) -> dict[Any, Any]:
    """Makes a VRF of each namespace with prefixes in none, except the global one; returns their keys."""
    made: dict[Any, Any] = {}
    names = {key: fields["name"] for key, fields in dump.objects.get(NAMESPACE, {}).items()}
    for fields in dump.objects[PREFIX].values():
        key = fields.get("namespace")
        if key in names and key not in made and names[key] != GLOBAL and not fields.get("vrfs"):
            made[key] = key
            origin = dump.get(NAMESPACE, key)
            details = {
                name: origin[name] for name in ("description", "tenant", "custom_field_data") if origin.get(name)
            }
            dump.rows(VRF)[key] = {"name": names[key], **details, **_place_of(dump, key)}
    for key, fields in dump.objects.get(VRF, {}).items():
        space = fields.get("namespace")
        if space in names:
            text = "" if names[space] == GLOBAL else dump.name(NAMESPACE, space, ("description",))
            dump.set((VRF, key), namespace=text, **_place_of(dump, space))
    return made


def _place_of(dump: Dump, namespace: Any) -> dict[str, Any]:
    """Returns the location of a namespace, as its name."""
    fields = dump.get(NAMESPACE, namespace)
    label, key = next(((f"dcim.{n}", fields[n]) for n in ("location", "site") if fields.get(n)), ("", None))
    return {"namespace_location": dump.name(label, key)} if key else {}


def _aggregates(dump: Dump) -> set[Any]:
    """Returns the keys of the topmost containers with a RIR that are in no VRF."""
    rows = dump.objects[PREFIX]
    fitting = {
        key
        for key, fields in rows.items()
        if fields.get("rir") and fields.get("type") == "container" and fields.get("vrf") is None
    }
    return {key for key in fitting if not fitting & _above(rows, key)}


def _above(rows: Mapping[Any, Fields], key: Any) -> set[Any]:
    keys: set[Any] = set()
    while (key := rows.get(key, {}).get("parent")) is not None and key not in keys:
        keys.add(key)
    return keys


def _of_aggregate(fields: Fields) -> dict[str, Any]:
    """Returns the fields of a container that becomes an aggregate: it has no status here."""
    date = str(fields.get("date_allocated") or "")[:10]
    status = fields.get("status")
    return {"date_added": date or None, "date_allocated": None, "status": "" if status == "active" else status}


def _of_type(fields: Fields) -> dict[str, Any]:
    """Returns the fields that the type of a prefix becomes: a status, or ``is_pool``."""
    if fields.get("type") == "container":
        status = fields.get("status")
        return {"status": "container", "status_of_container": "" if status == "active" else status}
    return {"is_pool": True} if fields.get("type") == "pool" else {}


def namespaces(dump: Dump) -> Mapping[Any, Key | str]:
    """Returns the VRF that each namespace has become, or one that is in it."""
    results: dict[Any, Key | str] = {}
    for key, fields in dump.objects[NAMESPACE].items():
        name = dump.name(NAMESPACE, key, ("description",))
        used = (found for found, vrf in dump.objects.get(VRF, {}).items() if vrf.get("namespace") == name)
        if fields["name"] == GLOBAL:
            results[key] = "it is the global table here, which has no VRF"
        elif dump.get(VRF, key):
            results[key] = VRF, key
        else:
            vrf = next(used, None)
            results[key] = "nothing is in it" if vrf is None else (VRF, vrf)
    return results


def address(dump: Dump, fields: Fields) -> Fields:
    """Converts an address: its type is a status here, where it is active."""
    kind = fields.get("type")
    if kind not in ("dhcp", "slaac"):
        return fields
    if fields.get("status") == "active":
        return {**fields, "status": kind, "type": ""}
    return {**fields, "address_type": kind}


def assignments(dump: Dump) -> Mapping[Any, Key | str]:
    """Assigns each address to the first of its interfaces; further ones, and what is marked, are listed."""
    results: dict[Any, Key | str] = {}
    for key, fields in dump.objects[ASSIGNMENT].items():
        owner, current = (ADDRESS, fields.get("ip_address")), dump.get(ADDRESS, fields.get("ip_address"))
        label = "dcim.interface" if fields.get("interface") else "virtualization.vminterface"
        number = fields.get("interface") or fields.get("vm_interface")
        if not current or not dump.get(label, number):
            results[key] = NOT_IN_SOURCE
            continue
        marks = [name for name in FLAGS if fields.get(name)]
        if current.get("assigned_object_id") is None:
            dump.set(owner, assigned_object_type=label.split("."), assigned_object_id=number)
        if marks or current.get("assigned_object_id") is not None:
            entry = " ".join(filter(None, [_of_interface(dump, label, number), ", ".join(marks)]))
            dump.set(owner, more_assignments=[*current.get("more_assignments", []), entry])
        results[key] = owner
    return results


def _of_interface(dump: Dump, label: str, key: Any) -> str:
    """Returns the name of an interface with that of its device or virtual machine."""
    fields = dump.get(label, key)
    machine = fields.get("virtual_machine")
    owner = ("virtualization.virtualmachine", machine) if machine else ("dcim.device", fields.get("device"))
    return f"{dump.name(*owner)} {dump.name(label, key)}"


def vlan_group(dump: Dump, fields: Fields) -> Fields:
    """Converts a VLAN group; the range of all VLANs is not worth keeping."""
    return {**fields, "range": "" if fields.get("range") == "1-4094" else fields.get("range")}


models: dict[str, Declaration] = {
    PREFIX: Source(PREFIX, prepare=prefixes, drop=(*OF_NAMESPACE, "vrfs")),
    AGGREGATE: Source(AGGREGATE, drop=(*OF_NAMESPACE, "vrfs", "vrf")),
    ADDRESS: Source(
        ADDRESS,
        adapt=address,
        drop=(*(name for name in OF_NAMESPACE if name != "type"), "mask_length", "interfaces", "vm_interfaces"),
        usual={"type": "host"},
    ),
    VRF: Source(VRF, drop=("prefixes",), usual={"status": "active"}),
    "ipam.role": Source("ipam.role", drop=("content_types",)),
    "ipam.vlan": Source("ipam.vlan", rename={"vlan_group": "group"}),
    "ipam.vlangroup": Source("ipam.vlangroup", adapt=vlan_group),
    "ipam.service": Source("ipam.service", rename={"ip_addresses": "ipaddresses"}),
    "ipam.ipaddressrange": Excluded("install netinv-ip-ranges to import ranges of addresses"),
    NAMESPACE: Folded(namespaces),
    ASSIGNMENT: Folded(assignments),
    "ipam.prefixlocationassignment": Derived("the prefix has its locations"),
    "ipam.vlanlocationassignment": Derived("the VLAN has its locations"),
    "ipam.vrfprefixassignment": Derived("the prefix has its VRFs"),
    "ipam.vrfdeviceassignment": Excluded("the VRF has the names of its devices"),
}
