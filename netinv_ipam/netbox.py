"""Import of NetBox dumps: the mapping of addresses, prefixes, VLANs and VRFs."""

from __future__ import annotations

import json

from netinv_core.importing.dump import Dump, Fields, Source


def vlan_group(dump: Dump, fields: Fields) -> Fields:
    """Converts the scope of a VLAN group to a site and a location.

    Another scope is left in the fields; the import reports it as unknown.
    """
    converted = dict(fields)
    scope = ".".join(converted.get("scope_type") or ())
    if scope == "dcim.site":
        converted["site"] = converted.pop("scope_id")
    elif scope == "dcim.location":
        converted["location"] = converted.pop("scope_id")
        converted["site"] = dump.get(scope, converted["location"]).get("site")
    if "scope_id" not in converted:
        del converted["scope_type"]
    return converted


def service(dump: Dump, fields: Fields) -> Fields:
    """Parses the ports of a service: NetBox dumps contain arrays as JSON text."""
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
