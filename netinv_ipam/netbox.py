"""What NetBox's addresses, prefixes, VLANs and VRFs become here."""

from __future__ import annotations

import json

from netinv_core.importing.dump import Dump, Fields, Source


def vlan_group(dump: Dump, fields: Fields) -> Fields:
    """There a group may be of anything, here of a site and a location; another scope stays as it is, and is reported."""
    found = dict(fields)
    scope = ".".join(found.get("scope_type") or ())
    if scope == "dcim.site":
        found["site"] = found.pop("scope_id")
    elif scope == "dcim.location":
        found["location"] = found.pop("scope_id")
        found["site"] = dump.get(scope, found["location"]).get("site")
    if "scope_id" not in found:
        del found["scope_type"]
    return found


def service(dump: Dump, fields: Fields) -> Fields:
    """Arrays are written as JSON text there."""
    ports = fields["ports"]
    return {**fields, "ports": json.loads(ports) if isinstance(ports, str) else ports}


models = {
    "ipam.rir": Source("ipam.rir"),
    "ipam.role": Source("ipam.role"),
    "ipam.routetarget": Source("ipam.routetarget"),
    "ipam.vrf": Source("ipam.vrf", by=("rd",)),
    "ipam.aggregate": Source("ipam.aggregate", by=("prefix",)),
    "ipam.vlangroup": Source("ipam.vlangroup", adapt=vlan_group, by=("site_id", "name")),
    "ipam.vlan": Source("ipam.vlan", by=("site_id", "group_id", "vid")),
    "ipam.prefix": Source("ipam.prefix", by=("vrf_id", "prefix")),
    "ipam.ipaddress": Source("ipam.ipaddress", by=("vrf_id", "address")),
    "ipam.service": Source("ipam.service", adapt=service),
}
