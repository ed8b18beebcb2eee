"""Tabs of VRFs with their prefixes and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_ipam.addresses import IPAddress
from netinv_ipam.prefixes import Prefix
from netinv_web.extensions import ListTab

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

VRF, PREFIX, ADDRESS = "ipam.vrf", "ipam.prefix", "ipam.ipaddress"
PREFIX_COLUMNS = ("status", "utilization", "site", "vlan")  # of the first ones, on the page of a VRF


def tabs_of(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a VRF."""
    if endpoint.label != VRF:
        return []
    return [
        ListTab("prefixes", "Prefixes", PREFIX, _within(Prefix), _preset, 100, _filters, first=PREFIX_COLUMNS),
        ListTab("ip-addresses", "IP addresses", ADDRESS, _within(IPAddress), _preset, 110, _filters),
    ]


def _within(model: Any) -> Any:
    """Returns the function that limits the list of a model to a VRF."""
    return lambda request, vrf: [model.__table__.c.vrf_id == vrf["id"]]


def _preset(vrf: Mapping[str, Any]) -> dict[str, Any]:
    return {"vrf": vrf["id"]}


def _filters(vrf: Mapping[str, Any]) -> dict[str, str]:
    return {"vrf_id": str(vrf["id"])}
