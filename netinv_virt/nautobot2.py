"""Differences of Nautobot 2.x and 3.x in the application ``virtualization``: names of fields."""

from __future__ import annotations

from netinv_core.importing.dump import Declaration, Source
from netinv_dcim.nautobot2 import CONTEXT

models: dict[str, Declaration] = {
    "virtualization.cluster": Source(
        "virtualization.cluster", rename={"cluster_type": "type", "cluster_group": "group"}, drop=("devices",)
    ),
    "virtualization.virtualmachine": Source("virtualization.virtualmachine", rename=CONTEXT),
    "virtualization.vminterface": Source("virtualization.vminterface", drop=("ip_addresses",)),
}
