"""Lookups of network and host fields: a test for each row of the specification's table."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service

PREFIXES, ADDRESSES = "/api/ipam/prefixes/", "/api/ipam/ip-addresses/"
# in a VRF of their own, so that nothing else is found
NETWORKS = ("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.9.0.0/16", "3fff:db8::/32", "3fff:db8:1::/48")
HOSTS = ("10.1.2.3/24", "10.1.2.4/32", "10.9.0.1/16", "3fff:db8:1::1/64")


@pytest.fixture(scope="session")
def vrf(service: Service) -> Any:
    """The id of a VRF with a few networks and hosts."""
    vrf = service.api.post("/api/ipam/vrfs/", {"name": service.unique()})["id"]
    for path, field, texts in ((PREFIXES, "prefix", NETWORKS), (ADDRESSES, "address", HOSTS)):
        service.api.post(path, [{field: text, "status": "active", "vrf": vrf} for text in texts])
    return vrf


def networks(api: Api, vrf: str, lookup: str, *values: str) -> set[str]:
    page = api.get(PREFIXES, {"vrf_id": vrf, f"network__{lookup}": list(values)})
    return {item["prefix"] for item in page["results"]}


def hosts(api: Api, vrf: str, lookup: str, *values: str) -> set[str]:
    page = api.get(ADDRESSES, {"vrf_id": vrf, f"host__{lookup}": list(values)})
    return {item["address"] for item in page["results"]}


TEXT_LOOKUPS = {
    "exact": ("10.1.2.0", {"10.1.2.0/24"}, "10.1.2.3", {"10.1.2.3/24"}),
    "iexact": ("3FFF:DB8::", {"3fff:db8::/32"}, "3FFF:DB8:1::1", {"3fff:db8:1::1/64"}),
    "startswith": ("10.1", {"10.1.0.0/16", "10.1.2.0/24"}, "10.1.2", {"10.1.2.3/24", "10.1.2.4/32"}),
    "istartswith": ("3FFF:DB8:1", {"3fff:db8:1::/48"}, "3FFF:DB8", {"3fff:db8:1::1/64"}),
    "endswith": (".9.0.0", {"10.9.0.0/16"}, ".4", {"10.1.2.4/32"}),
    "iendswith": ("DB8::", {"3fff:db8::/32"}, "DB8:1::1", {"3fff:db8:1::1/64"}),
    "regex": (r"^10\.(1|9)\.0", {"10.1.0.0/16", "10.9.0.0/16"}, r"\.[34]$", {"10.1.2.3/24", "10.1.2.4/32"}),
    "iregex": ("DB8:[:0]", {"3fff:db8::/32"}, "DB8:[0-9]", {"3fff:db8:1::1/64"}),
}


@pytest.mark.parametrize("lookup", TEXT_LOOKUPS)
def test_the_text_of_a_network_or_host_has_the_lookup(api: Api, vrf: str, lookup: str) -> None:
    """``exact`` to ``iregex``; the specification has them on MySQL only, netinv on every database."""
    network, expected_networks, host, expected_hosts = TEXT_LOOKUPS[lookup]
    assert networks(api, vrf, lookup, network) == expected_networks
    assert hosts(api, vrf, lookup, host) == expected_hosts


@pytest.mark.parametrize(
    ("lookup", "matching", "other"),
    [
        ("startswith", "3fff:db8", "3FFF:DB8"),
        ("endswith", "db8::", "DB8::"),
        ("regex", "db8::$", "DB8::$"),
    ],
)
def test_text_lookups_without_i_regard_case(api: Api, vrf: str, lookup: str, matching: str, other: str) -> None:
    """``startswith``, ``endswith`` and ``regex`` beside their forms with ``i``."""
    assert "3fff:db8::/32" in networks(api, vrf, lookup, matching)
    assert networks(api, vrf, lookup, other) == set()


NETWORK_LOOKUPS = {
    # networks strictly inside the given network
    "net_contained": ("10.1.0.0/16", {"10.1.2.0/24"}),
    # networks inside or equal to the given network
    "net_contained_or_equal": ("10.1.0.0/16", {"10.1.0.0/16", "10.1.2.0/24"}),
    # networks containing the given network
    "net_contains": ("10.1.0.0/16", {"10.0.0.0/8"}),
    # networks containing or equal to the given network
    "net_contains_or_equals": ("10.1.0.0/16", {"10.0.0.0/8", "10.1.0.0/16"}),
    # networks exactly equal
    "net_equals": ("10.1.0.0/16", {"10.1.0.0/16"}),
    # networks that are parents of the given IP
    "net_host": ("10.1.2.3/32", {"10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24"}),
    # hosts or networks of that IP version
    "family": ("6", {"3fff:db8::/32", "3fff:db8:1::/48"}),
}


@pytest.mark.parametrize("lookup", NETWORK_LOOKUPS)
def test_a_network_has_the_lookup(api: Api, vrf: str, lookup: str) -> None:
    """``net_contained`` to ``net_host``, and ``family``: all databases."""
    value, expected = NETWORK_LOOKUPS[lookup]
    assert networks(api, vrf, lookup, value) == expected


HOST_LOOKUPS = {
    # hosts whose address, ignoring mask, lies in the given network
    "net_host_contained": (["10.1.2.0/24"], {"10.1.2.3/24", "10.1.2.4/32"}),
    # list of networks; addresses, ignoring masks, inside any of them
    "net_in": (["10.1.2.4/30", "10.9.0.0/30"], {"10.1.2.4/32", "10.9.0.1/16"}),
    # hosts or networks of that IP version
    "family": (["4"], {"10.1.2.3/24", "10.1.2.4/32", "10.9.0.1/16"}),
}


@pytest.mark.parametrize("lookup", HOST_LOOKUPS)
def test_a_host_has_the_lookup(api: Api, vrf: str, lookup: str) -> None:
    """``net_host_contained``, ``net_in`` and ``family``: all databases."""
    values, expected = HOST_LOOKUPS[lookup]
    assert hosts(api, vrf, lookup, *values) == expected


@pytest.mark.parametrize("lookup", ["gte", "n"])
def test_the_prefix_length_has_the_lookups_of_numbers(api: Api, vrf: str, lookup: str) -> None:
    """ "A sibling broadcast field and ``prefix_length`` in the same model"."""
    page = api.get(PREFIXES, {"vrf_id": vrf, "family": 4, f"prefix_length__{lookup}": 16})
    expected = {"gte": {"10.1.0.0/16", "10.1.2.0/24", "10.9.0.0/16"}, "n": {"10.0.0.0/8", "10.1.2.0/24"}}[lookup]
    assert {item["prefix"] for item in page["results"]} == expected
