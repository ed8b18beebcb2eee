"""Virtual private networks: tunnels in groups with their IPsec profiles, layer-2 VPNs, and what they end at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netinv_core import App, GenericCascade, MenuSection, Registry, Source, hookimpl
from netinv_vpn import ike, importing, ipsec, l2vpns, tunnels

app = App(
    "vpn",
    "VPN",
    [
        ike.ike_proposals,
        ike.ike_policies,
        ipsec.ipsec_proposals,
        ipsec.ipsec_policies,
        ipsec.ipsec_profiles,
        tunnels.tunnel_groups,
        tunnels.tunnels,
        tunnels.tunnel_terminations,
        l2vpns.l2vpns,
        l2vpns.l2vpn_terminations,
    ],
    migrations="netinv_vpn:migrations",
    web=["netinv_vpn.pages"],
    plugin=True,
    menu=[
        MenuSection(
            "VPN",
            [
                "tunnels",
                "tunnel-groups",
                "tunnel-terminations",
                "ipsec-profiles",
                "ipsec-policies",
                "ipsec-proposals",
                "ike-policies",
                "ike-proposals",
                "l2vpns",
                "l2vpn-terminations",
            ],
            icon="lock-closed",
            position=206,
        )
    ],
    description="Tunnels with their IPsec profiles, and layer-2 VPNs, with their ends",
    author="The netinv authors",
    distribution="netinv-vpn",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/vpn/."""
    return app


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Terminations go with the interface or VLAN."""
    return [tunnels.generic_cascade, l2vpns.generic_cascade]


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The tunnels, their IPsec profiles and the layer-2 VPNs of NetBox dumps."""
    return importing.models if product == "netbox" else {}
