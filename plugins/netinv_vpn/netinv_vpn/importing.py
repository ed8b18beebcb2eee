"""Import of NetBox dumps: tunnels with their IPsec profiles, and layer-2 VPNs, with their ends.

Layer-2 VPNs were models of ``ipam`` before NetBox 3.7.
"""

from __future__ import annotations

from netinv_core import Source

APPS = ("ipam", "vpn")  # of layer-2 VPNs

models = {
    "vpn.ikepolicy": Source("vpn.ikepolicy", by=("name",), omit={"preshared_key": "secrets are not imported"}),
    **{
        f"vpn.{model}": Source(f"vpn.{model}", by=("name",))
        for model in ("ikeproposal", "ipsecproposal", "ipsecpolicy", "ipsecprofile")
    },
    "vpn.tunnelgroup": Source("vpn.tunnelgroup", by=("slug",)),
    "vpn.tunnel": Source("vpn.tunnel", by=("name",)),
    "vpn.tunneltermination": Source("vpn.tunneltermination", by=("termination_id", "termination_type", "tunnel_id")),
    **{f"{app}.l2vpn": Source("vpn.l2vpn", fixed_values={"status": "active"}, by=("slug",)) for app in APPS},
    **{
        f"{app}.l2vpntermination": Source("vpn.l2vpntermination", by=("assigned_object_id", "assigned_object_type"))
        for app in APPS
    },
}
