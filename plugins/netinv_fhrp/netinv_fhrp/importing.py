"""Import of NetBox dumps: first-hop redundancy groups with their addresses, and their members."""

from __future__ import annotations

from typing import Any

from netinv_core import Source

GROUP, ADDRESS = "ipam.fhrpgroup", "ipam.ipaddress"


def with_addresses(dump: Any) -> None:
    """Lists the addresses that are assigned to a group at the group."""
    addresses: dict[Any, list[Any]] = {}
    for key, fields in dump.objects.get(ADDRESS, {}).items():
        if fields.get("assigned_object_type") == GROUP.split("."):
            addresses.setdefault(fields["assigned_object_id"], []).append(key)
    for group in list(dump.objects[GROUP]):
        dump.set((GROUP, group), ip_addresses=addresses.get(group, []))


models = {
    GROUP: Source("fhrp.fhrpgroup", prepare=with_addresses, omit={"auth_key": "secrets are not imported"}),
    "ipam.fhrpgroupassignment": Source("fhrp.fhrpgroupassignment", by=("interface_id", "interface_type", "group_id")),
}
