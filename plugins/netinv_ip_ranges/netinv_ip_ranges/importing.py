"""Import of NetBox dumps: ranges of addresses."""

from __future__ import annotations

from netinv_core import Source

models = {
    "ipam.iprange": Source(
        "ip_ranges.iprange", drop=("size", "mark_populated"), by=("vrf_id", "end_address", "start_address")
    )
}
