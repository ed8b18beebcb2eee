"""Lookups of networks and hosts, compared with the standard library, on the database of the test session."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from netinv_testing import Service
from tests.support.rows import Rows

PREFIXES, ADDRESSES, VRFS = "/api/ipam/prefixes/", "/api/ipam/ip-addresses/", "/api/ipam/vrfs/"
BASES = {4: int(ipaddress.ip_address("192.0.2.0")), 6: int(ipaddress.ip_address("2001:db8::"))}


def network_at(version: int, offset: int, size: int) -> Any:
    """A network of 2**size addresses around an address that is so far from the first one."""
    kind = ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address
    address = kind(BASES[version] + offset)
    return ipaddress.ip_interface(f"{address}/{address.max_prefixlen - size}")


interfaces = st.builds(network_at, st.sampled_from([4, 6]), st.integers(0, 31), st.integers(0, 6))


def created(service: Service, path: str, member: str, texts: list[str], *switches: str) -> Rows:
    """Objects in a VRF of their own."""
    vrf = service.api.post(VRFS, {"name": service.unique(), "enforce_unique": True})["id"]
    body = {"vrf": vrf, "status": "active"}
    bodies = [{**body, member: text, **dict.fromkeys(switches, n % 3 == 0)} for n, text in enumerate(texts)]
    shown = service.api.post(path, bodies)
    rows = [{**row, "interface": ipaddress.ip_interface(row[member])} for row in shown]
    return Rows(path, {"vrf_id": vrf}, rows)


@pytest.fixture(scope="session")
def prefixes(service: Service) -> Rows:
    """Networks of two versions, of all sizes, within each other."""
    networks = {
        network_at(version, offset, size).network
        for version in (4, 6)
        for offset in range(0, 32, 3)
        for size in range(6)
    }
    return created(service, PREFIXES, "prefix", sorted(map(str, networks)), "is_pool")


@pytest.fixture(scope="session")
def addresses(service: Service) -> Rows:
    """Hosts of two versions in networks of all sizes."""
    hosts = [network_at(version, offset, offset % 6) for version in (4, 6) for offset in range(32)]
    return created(service, ADDRESSES, "address", [str(host) for host in hosts])


def inside(row: Any, asked: Any) -> bool:
    """The network of a row lies in another one, or is the same."""
    return row.version == asked.version and row.network.subnet_of(asked.network)


def around(row: Any, asked: Any) -> bool:
    """The network of a row contains another one, or is the same."""
    return row.version == asked.version and row.network.supernet_of(asked.network)


def contains_host(row: Any, asked: Any) -> bool:
    """The network of a row contains an address."""
    return row.version == asked.version and asked.ip in row.network


COMMON: dict[str, Callable[[Any, Any], bool]] = {
    "net_contained": lambda row, asked: inside(row, asked) and row.network.prefixlen > asked.network.prefixlen,
    "net_contained_or_equal": inside,
    "net_contains": lambda row, asked: around(row, asked) and row.network.prefixlen < asked.network.prefixlen,
    "net_contains_or_equals": around,
    "net_equals": lambda row, asked: row.network == asked.network,
    "net_host": contains_host,
    "net_host_contained": lambda row, asked: row.version == asked.version and row.ip in asked.network,
    "net_in": lambda row, asked: row.version == asked.version and row.ip in asked.network,
    "exact": lambda row, asked: row == asked,
    "family": lambda row, asked: row.version == asked.version,
}


@given(st.sampled_from(sorted(COMMON)), st.lists(interfaces, min_size=1, max_size=2))
@example("net_contains", [ipaddress.ip_interface("192.0.2.5/28")])
def test_networks_are_compared_as_in_the_standard_library(
    service: Service, prefixes: Rows, lookup: str, some: list[Any]
) -> None:
    asked = [str(item.version if lookup == "family" else item) for item in some]
    expected = prefixes.that(lambda row: any(COMMON[lookup](row["interface"], item) for item in some))
    assert prefixes.found(service, **{f"network__{lookup}": asked}) == expected


@given(st.sampled_from(sorted(COMMON)), st.lists(interfaces, min_size=1, max_size=2))
def test_hosts_are_compared_as_in_the_standard_library(
    service: Service, addresses: Rows, lookup: str, some: list[Any]
) -> None:
    asked = [str(item.version if lookup == "family" else item) for item in some]
    expected = addresses.that(lambda row: any(COMMON[lookup](row["interface"], item) for item in some))
    assert addresses.found(service, **{f"host__{lookup}": asked}) == expected


@settings(max_examples=40)
@given(st.lists(interfaces, min_size=1, max_size=3))
@pytest.mark.night
def test_one_parameter_takes_several_networks_with_commas(service: Service, addresses: Rows, some: list[Any]) -> None:
    expected = addresses.that(lambda row: any(COMMON["net_in"](row["interface"], item) for item in some))
    assert addresses.found(service, host__net_in=",".join(map(str, some))) == expected


RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "within": COMMON["net_contained"],
    "within_include": inside,
    "contains": around,
    "prefix": COMMON["net_equals"],
    "q": around,
    "mask_length__gte": lambda row, asked: row.network.prefixlen >= asked.network.prefixlen,
    "mask_length__lte": lambda row, asked: row.network.prefixlen <= asked.network.prefixlen,
    "prefix_length": lambda row, asked: row.network.prefixlen == asked.network.prefixlen,
    "prefix_length__n": lambda row, asked: row.network.prefixlen != asked.network.prefixlen,
    "family": lambda row, asked: row.version == asked.version,
    "family__n": lambda row, asked: row.version != asked.version,
    "broadcast": lambda row, asked: (
        row.version == asked.version and row.network.broadcast_address == asked.network.broadcast_address
    ),
}


@given(st.sampled_from(sorted(RELATIONS)), interfaces)
def test_prefixes_are_related_as_in_the_standard_library(
    service: Service, prefixes: Rows, name: str, asked: Any
) -> None:
    value = asked.network.prefixlen if "length" in name else asked.version if "family" in name else asked
    value = asked.network.broadcast_address if name == "broadcast" else value
    assert prefixes.found(service, **{name: str(value)}) == prefixes.that(
        lambda row: RELATIONS[name](row["interface"], asked)
    )


@settings(max_examples=40)
@given(
    st.booleans(),
    st.lists(st.sampled_from(["true", "True", "TRUE", "1", "false", "False", "FALSE", "0"]), min_size=1),
)
@pytest.mark.night
def test_a_switch_takes_one_value_however_often_it_is_given(
    service: Service, prefixes: Rows, negated: bool, some: list[str]
) -> None:
    name = "is_pool__n" if negated else "is_pool"
    if len(set(some)) > 1:
        assert list(service.api.get("/api/ipam/prefixes/", {name: some}, status=400)) == [name]
        return
    wanted = (some[0].lower() in ("true", "1")) is not negated
    assert prefixes.found(service, **{name: some}) == prefixes.that(lambda row: row["is_pool"] is wanted)


PARTS: dict[str, Callable[[str, str], bool]] = {
    "startswith": str.startswith,
    "istartswith": str.startswith,
    "endswith": str.endswith,
    "iendswith": str.endswith,
}


@settings(max_examples=40)
@given(st.sampled_from(sorted(PARTS)), interfaces, st.integers(1, 12))
@pytest.mark.night
def test_hosts_are_compared_as_text_without_their_length(
    service: Service, addresses: Rows, lookup: str, host: Any, length: int
) -> None:
    part = str(host.ip)[:length] if "starts" in lookup else str(host.ip)[-length:]
    assert addresses.found(service, **{f"host__{lookup}": part}) == addresses.that(
        lambda row: PARTS[lookup](str(row["interface"].ip), part)
    )
