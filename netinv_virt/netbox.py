"""Import of NetBox dumps: the models of clusters and virtual machines."""

from __future__ import annotations

from typing import Any

from netinv_core.importing.dump import Declaration, Dump, Excluded, Fields, Source
from netinv_dcim.netbox_folds import whole
from netinv_dcim.netbox_scopes import convert_scope

MACHINE, CLUSTER, TYPE = "virtualization.virtualmachine", "virtualization.cluster", "virtualization.clustertype"
NO_CLUSTER = "no-cluster"
MEGABYTES_SINCE = "dcim.racktype"  # came with NetBox 4.1, as the disks in megabytes did
GIGABYTE = 1000


def machine(dump: Dump, fields: Fields) -> Fields:
    """Converts a virtual machine: it needs a cluster here, and has the site of its cluster."""
    converted = {**whole(fields, "vcpus", up=True)}
    disk = converted.get("disk")
    if disk is not None and MEGABYTES_SINCE in dump.objects:
        converted["disk"] = -(-disk // GIGABYTE)
        if disk % GIGABYTE:
            converted["disk_megabytes"] = disk
    if converted.get("cluster") is None:
        converted["cluster"] = f"{NO_CLUSTER}/{converted.get('site')}"
    converted.pop("site", None)
    return converted


def clusters(dump: Dump) -> dict[str, dict[Any, Fields]]:
    """Returns a cluster for each site with virtual machines that have none, and the type of these clusters."""
    keys = {fields["cluster"] for fields in dump.objects.get(MACHINE, {}).values()}
    missing = sorted(key for key in keys if isinstance(key, str) and key.startswith(f"{NO_CLUSTER}/"))
    added: dict[Any, Fields] = {}
    for key in missing:
        site = next((n for n in dump.objects.get("dcim.site", {}) if str(n) == key.partition("/")[2]), None)
        name = "No cluster" if site is None else f"No cluster ({dump.name('dcim.site', site)})"
        added[key] = {"name": name, "type": NO_CLUSTER, "site": site}
    return {TYPE: {NO_CLUSTER: {"name": "No cluster", "slug": NO_CLUSTER}}, CLUSTER: added} if added else {}


models: dict[str, Declaration] = {
    TYPE: Source(TYPE),
    "virtualization.clustergroup": Source("virtualization.clustergroup"),
    CLUSTER: Source(CLUSTER, adapt=convert_scope, by=("name",), usual={"status": "active"}),
    MACHINE: Source(
        MACHINE,
        adapt=machine,
        needs=clusters,
        deferred=("primary_ip4", "primary_ip6"),
        by=("cluster_id", "tenant_id", "name"),
        refers={"device": "dcim.device", "config_template": "extras.configtemplate"},
    ),
    "virtualization.vminterface": Source(
        "virtualization.vminterface",
        fixed_values={"status": "active"},
        rename={"parent": "parent_interface"},
        drop=("primary_mac_address",),
        by=("virtual_machine_id", "name"),
        refers={
            "vrf": "ipam.vrf",
            "qinq_svlan": "ipam.vlan",
            "vlan_translation_policy": "ipam.vlantranslationpolicy",
        },
    ),
    "virtualization.virtualdisk": Excluded("there are no disks here: the virtual machine has the sum of their sizes"),
    "virtualization.virtualmachinetype": Excluded("there are no types of virtual machines here"),
}
