"""Import of ranges of addresses: of NetBox dumps, and of Nautobot 3.2 and later, where they lie in a prefix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netinv_core import Source

Fields = Mapping[str, Any]
KEY = ("vrf_id", "end_address", "start_address")
IN_NO_PREFIX = "it is in no prefix"
MODELS_OF_PREFIXES = ("ipam.prefix", "ipam.aggregate")


def _prefix_of(dump: Any, fields: Fields) -> Fields:
    """The prefix of a range; one of the topmost may have become an aggregate."""
    return next(filter(None, (dump.get(label, fields.get("parent")) for label in MODELS_OF_PREFIXES)), {})


def _in_prefix(dump: Any, fields: Fields) -> Fields:
    """Converts a range of Nautobot: it has the VRF and the length of its prefix."""
    prefix = _prefix_of(dump, fields)
    length = str(prefix.get("prefix", "")).partition("/")[2]
    edges = {name: f"{fields[name]}/{length}" for name in ("start_address", "end_address")}
    return {**fields, **edges, "vrf": prefix.get("vrf")}


def _has_no_prefix(dump: Any, fields: Fields) -> str:
    return "" if _prefix_of(dump, fields) else IN_NO_PREFIX


of_netbox = {"ipam.iprange": Source("ip_ranges.iprange", drop=("size", "mark_populated"), by=KEY)}
of_nautobot = {
    "ipam.ipaddressrange": Source(
        "ip_ranges.iprange",
        adapt=_in_prefix,
        skip=_has_no_prefix,
        rename={"count_as_utilized": "mark_utilized"},
        drop=("size", "start_host", "end_host", "ip_version", "parent", "namespace"),
        usual={"is_exclusive": False},
        by=KEY,
    )
}
