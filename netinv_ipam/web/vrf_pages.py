"""Tabs of VRFs with their prefixes and addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import table_of
from netinv_ipam.addresses import IPAddress
from netinv_ipam.prefixes import Prefix
from netinv_web.extensions import ListTab, referring_tab

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

VRF, PREFIX, ADDRESS = "ipam.vrf", "ipam.prefix", "ipam.ipaddress"
PREFIX_COLUMNS = ("status", "utilization", "site", "vlan")  # of the first ones, on the page of a VRF


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a VRF."""
    if endpoint.label != VRF:
        return []
    return [
        referring_tab("prefixes", "Prefixes", PREFIX, table_of(Prefix).c.vrf_id, 100, first=PREFIX_COLUMNS),
        referring_tab("ip-addresses", "IP addresses", ADDRESS, table_of(IPAddress).c.vrf_id, 110),
    ]
