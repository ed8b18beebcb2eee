"""Import of NetBox dumps: the models of clusters and virtual machines."""

from __future__ import annotations

from netinv_core.importing.dump import Source

models = {
    "virtualization.clustertype": Source("virtualization.clustertype"),
    "virtualization.clustergroup": Source("virtualization.clustergroup"),
    "virtualization.cluster": Source("virtualization.cluster", by=("name",)),
    "virtualization.virtualmachine": Source(
        "virtualization.virtualmachine",
        deferred=("primary_ip4", "primary_ip6"),
        by=("cluster_id", "tenant_id", "name"),
    ),
    "virtualization.vminterface": Source(
        "virtualization.vminterface",
        fixed_values={"status": "active"},
        rename={"parent": "parent_interface"},
        by=("virtual_machine_id", "name"),
    ),
}
