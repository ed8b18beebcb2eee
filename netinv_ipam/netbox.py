"""Import of NetBox dumps: the mapping of addresses, prefixes, VLANs and VRFs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from netinv_core.importing.dump import (
    Declaration,
    Dump,
    Excluded,
    Fields,
    Folded,
    Key,
    NamedModel,
    Source,
    content_type,
)
from netinv_core.importing.folds import fold_attachment, owner_by
from netinv_dcim.netbox_scopes import convert_scope

L2VPN_APPS = ("ipam", "vpn")
ALL_VIDS = (1, 4094)
NO_MEMBER = "an interface of a virtual machine: only those of devices are in a group, without netinv-fhrp"
NO_OWNER = "no site or provider has it: install netinv-asns to import it"
FHRP, ADDRESS = "ipam.fhrpgroup", "ipam.ipaddress"
PROTOCOLS = {"vrrp2": "vrrp", "vrrp3": "vrrp", "hsrp": "hsrp", "glbp": "glbp", "carp": "carp"}


def vlan_group(dump: Dump, fields: Fields) -> Fields:
    """Converts the scope of a VLAN group; the range of all VLANs is not worth keeping."""
    converted = dict(convert_scope(dump, fields))
    if (converted.get("min_vid"), converted.get("max_vid")) == ALL_VIDS:
        del converted["min_vid"], converted["max_vid"]
    ranges = converted.pop("vid_ranges", None)
    ranges = json.loads(ranges) if isinstance(ranges, str) else ranges
    if ranges and list(ranges) != [list(ALL_VIDS)]:
        converted["vid_ranges"] = ranges
    return converted


def service(dump: Dump, fields: Fields) -> Fields:
    """Converts a service: dumps contain arrays as JSON text, and since NetBox 4.3 its parent is a generic reference."""
    ports, parent = fields["ports"], content_type(fields.get("parent_object_type"))
    converted = {name: value for name, value in fields.items() if not name.startswith("parent_object_")}
    if parent is not None:
        converted[parent.removeprefix("dcim.").replace("virtualization.virtualmachine", "virtual_machine")] = fields[
            "parent_object_id"
        ]
    return {**converted, "ports": json.loads(ports) if isinstance(ports, str) else ports}


def address(dump: Dump, fields: Fields) -> Fields:
    """Converts an address: one of an FHRP group is the virtual address of the group, and assigned to nothing."""
    if content_type(fields.get("assigned_object_type")) != FHRP:
        return fields
    return {**fields, "assigned_object_type": None, "assigned_object_id": None}


def fhrp_group(dump: Dump, fields: Fields) -> Fields:
    """Converts an FHRP group to an interface redundancy group; its first address is the virtual one."""
    addresses = fields.get("addresses", [])
    protocol = fields.get("protocol", "")
    return {
        **{name: value for name, value in fields.items() if name not in ("addresses", "group_id")},
        "name": fields.get("name") or f"{protocol} {fields.get('group_id')} {fields['key']}",
        "protocol": PROTOCOLS.get(protocol, protocol),
        "protocol_group_id": str(fields.get("group_id") or ""),
        "virtual_ip": addresses[0] if addresses else None,
        "more_virtual_ips": [dump.get(ADDRESS, key)["address"] for key in addresses[1:]],
        "version": protocol if protocol not in PROTOCOLS.values() else "",
    }


def fhrp_member(dump: Dump, fields: Fields) -> Fields:
    """Converts the assignment of an FHRP group to an interface."""
    converted = {name: value for name, value in fields.items() if name not in ("interface_type", "interface_id")}
    kind = content_type(fields.get("interface_type"))
    return {**converted, "interface": fields.get("interface_id") if kind == "dcim.interface" else None}


def of_no_device(dump: Dump, fields: Fields) -> str:
    """Why a member of an FHRP group has no place here: it is no interface of a device."""
    return "" if fields["interface"] else NO_MEMBER


def with_unknown_protocol(dump: Dump, fields: Fields) -> str:
    """Why an FHRP group has no place here: its protocol is unknown."""
    return "" if fields["protocol"] in PROTOCOLS.values() else f"there is no protocol {fields['protocol']} here"


def l2vpn_terminations(app: str) -> Folded:
    """Returns the fold that lists the L2VPNs of an interface or VLAN at it; their application was ``ipam`` once."""
    owners = (owner_by("assigned_object"),)
    return fold_attachment(f"{app}.l2vpntermination", owners, "l2vpn", f"{app}.l2vpn", "l2vpns")


def asns(dump: Dump) -> Mapping[Any, Key | str]:
    """Lists the autonomous systems of a site or provider at it; its number is the first."""
    results: dict[Any, Key | str] = dict.fromkeys(
        dump.objects["ipam.asn"], "no site or provider has it: install netinv-asns to import it"
    )
    for label in ("dcim.site", "circuits.provider"):
        for owner, fields in dump.objects.get(label, {}).items():
            found = [(key, dump.get("ipam.asn", key)) for key in fields.get("asns") or [] if dump.get("ipam.asn", key)]
            if not found:
                continue
            for key, _ in found:
                results[key] = label, owner
            details = [
                {
                    "asn": asn["asn"],
                    "rir": dump.name("ipam.rir", asn["rir"]) if asn.get("rir") else None,
                    "tenant": dump.name("tenancy.tenant", asn["tenant"]) if asn.get("tenant") else None,
                    "description": asn.get("description", ""),
                }
                for _, asn in found
            ]
            dump.set((label, owner), asn=fields.get("asn") or found[0][1]["asn"], asns=details)
    return results


def fhrp_addresses(dump: Dump) -> None:
    """Lists the addresses of each FHRP group, and its key, in its fields."""
    for key in dump.objects[FHRP]:
        dump.set((FHRP, key), key=key, addresses=[])
    for key, fields in dump.objects.get(ADDRESS, {}).items():
        group = FHRP, fields.get("assigned_object_id")
        if content_type(fields.get("assigned_object_type")) == FHRP and dump.get(*group):
            dump.set(group, addresses=[*dump.get(*group)["addresses"], key])


models: dict[str, Declaration] = {
    "ipam.rir": Source("ipam.rir"),
    "ipam.role": Source("ipam.role"),
    "ipam.asn": Folded(asns),
    "ipam.asnrange": Excluded("install netinv-asns to import ranges of AS numbers"),
    "ipam.routetarget": Source("ipam.routetarget"),
    "ipam.vrf": Source("ipam.vrf", by=("rd",)),
    "ipam.aggregate": Source("ipam.aggregate", by=("prefix",)),
    "ipam.vlangroup": Source("ipam.vlangroup", adapt=vlan_group, by=("site_id", "name")),
    "ipam.vlan": Source("ipam.vlan", by=("site_id", "group_id", "vid"), refers={"qinq_svlan": "ipam.vlan"}),
    "ipam.vlantranslationpolicy": NamedModel(),
    "ipam.vlantranslationrule": Excluded("there are no translations of VLANs here"),
    "ipam.prefix": Source("ipam.prefix", adapt=convert_scope, by=("vrf_id", "prefix")),
    "ipam.iprange": Excluded("install netinv-ip-ranges to import ranges of addresses"),
    ADDRESS: Source(ADDRESS, adapt=address, by=("vrf_id", "address")),
    FHRP: Source(
        "dcim.interfaceredundancygroup",
        adapt=fhrp_group,
        fixed_values={"status": "active"},
        omit={"auth_key": "secrets are not imported"},
        drop=("key",),
        prepare=fhrp_addresses,
        skip=with_unknown_protocol,
        by=("name",),
    ),
    "ipam.fhrpgroupassignment": Source(
        "dcim.interfaceredundancygroupassociation",
        adapt=fhrp_member,
        rename={"group": "interface_redundancy_group"},
        skip=of_no_device,
    ),
    "ipam.service": Source("ipam.service", adapt=service),
    "ipam.servicetemplate": Excluded("there are no templates of services here"),
    **{f"{app}.l2vpn": NamedModel(("type", "identifier"), package="netinv-vpn") for app in L2VPN_APPS},
    **{f"{app}.l2vpntermination": l2vpn_terminations(app) for app in L2VPN_APPS},
    "vpn.tunnelgroup": Excluded("install netinv-vpn to import groups of tunnels"),
    "vpn.tunnel": NamedModel(("encapsulation", "status"), package="netinv-vpn"),
    "vpn.tunneltermination": fold_attachment(
        "vpn.tunneltermination", (owner_by("termination"),), "tunnel", "vpn.tunnel", "tunnels"
    ),
    **{
        f"vpn.{model}": Excluded("install netinv-vpn to import IKE and IPsec policies")
        for model in ("ikeproposal", "ikepolicy", "ipsecproposal", "ipsecpolicy", "ipsecprofile")
    },
}
