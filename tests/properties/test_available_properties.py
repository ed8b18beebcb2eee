"""Free space of networks: gaps, blocks and networks cut out of them, compared with counting every address."""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from netinv_ipam import taken_space
from netinv_ipam.free_space import Block, blocks, cut, gaps
from netinv_ipam.taken_space import Range
from netinv_testing import Api, Unique

ADDRESSES, PREFIXES, VRFS = "/api/ipam/ip-addresses/", "/api/ipam/prefixes/", "/api/ipam/vrfs/"
SPACE = 300  # addresses that are counted one by one
NETWORKS = {4: "192.0.2.0", 6: "2001:db8::"}

ranges = st.tuples(st.integers(0, SPACE), st.integers(0, SPACE)).map(lambda pair: (min(pair), max(pair)))
lengths = st.lists(st.integers(23, 32), min_size=1, max_size=6)


def as_set(parts: Iterable[Range]) -> set[int]:
    """Every address of some ranges."""
    return {number for start, end in parts for number in range(start, end + 1)}


def runs(numbers: set[int]) -> list[Range]:
    """The ranges of consecutive numbers, in order."""
    keyed = itertools.groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
    groups = [[number for _, number in group] for _, group in keyed]
    return [(group[0], group[-1]) for group in groups]


def network_of(block: Block, version: int) -> Any:
    """A block as the standard library writes it."""
    kind = ipaddress.IPv4Network if version == 4 else ipaddress.IPv6Network
    return kind(block)


@given(ranges, st.lists(ranges, max_size=12))
@pytest.mark.night
def test_gaps_are_the_addresses_that_no_range_takes(bounds: Range, taken: list[Range]) -> None:
    assert list(gaps(bounds, iter(sorted(taken)))) == runs(as_set([bounds]) - as_set(taken))


@given(ranges, st.sampled_from([4, 6]), st.integers(0, 2**32 - 1 - SPACE))
@example((0, 0), 4, 0)
@pytest.mark.night
def test_blocks_are_the_fewest_networks_that_make_up_a_range(bounds: Range, version: int, offset: int) -> None:
    start, end = bounds[0] + offset, bounds[1] + offset
    kind = ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address
    expected = list(ipaddress.summarize_address_range(kind(start), kind(end)))
    assert [network_of(block, version) for block in blocks(start, end, version)] == expected


@pytest.mark.night
@given(st.sampled_from([4, 6]))
def test_the_whole_address_space_is_one_block(version: int) -> None:
    bits = {4: 32, 6: 128}[version]
    assert list(blocks(0, 2**bits - 1, version)) == [(0, 0)]


def lowest_fit(free: set[int], length: int) -> Range | None:
    """The lowest aligned network of a length all of whose addresses are free."""
    size = 1 << (32 - length)
    starts = range(0, SPACE + 1, size)
    return next(((start, start + size - 1) for start in starts if free >= set(range(start, start + size))), None)


@pytest.mark.night
@given(st.lists(ranges, max_size=8), lengths)
def test_networks_are_cut_from_the_lowest_place_that_holds_them(taken: list[Range], wanted: list[int]) -> None:
    free = as_set([(0, SPACE)]) - as_set(taken)
    expected: list[Block] | None = []
    for length in wanted:
        place = lowest_fit(free, length)
        if place is None:
            expected = None
            break
        expected.append((place[0], length))
        free -= as_set([place])
    in_order = iter(sorted(taken))
    found = (block for start, end in gaps((0, SPACE), in_order) for block in blocks(start, end, 4))
    assert cut(found, wanted, 4) == expected


# -- over HTTP


@st.composite
def prefixes(draw: st.DrawFn) -> tuple[Any, bool]:
    """A small network, and whether it is a pool."""
    version = draw(st.sampled_from([4, 6]))
    size = draw(st.integers(0, 6))
    return ipaddress.ip_network(f"{NETWORKS[version]}/{(32 if version == 4 else 128) - size}"), draw(st.booleans())


def usable(network: Any, pool: bool) -> Iterator[Any]:
    """The addresses of a network that hosts may have; the standard library keeps the first of an IPv6 network for
    routers.
    """
    return iter(network) if pool or network.version == 6 else iter(network.hosts())


@pytest.mark.night
@settings(max_examples=15)
@given(prefixes(), st.sets(st.integers(-2, 66), max_size=40), st.integers(1, 3))
def test_addresses_are_given_out_that_nothing_has(
    api: Api, unique: Unique, prefix: tuple[Any, bool], offsets: set[int], wanted: int
) -> None:
    network, pool = prefix
    vrf = api.post(VRFS, {"name": unique()})["id"]
    made = api.post(PREFIXES, {"prefix": str(network), "vrf": vrf, "status": "active", "is_pool": pool})
    taken = [network.network_address + offset for offset in sorted(offsets)]
    api.post(
        ADDRESSES,
        [{"address": f"{address}/{network.prefixlen}", "vrf": vrf, "status": "active"} for address in taken],
    )
    free = [f"{address}/{network.prefixlen}" for address in usable(network, pool) if address not in taken]
    path = f"{PREFIXES}{made['id']}/available-ips/"
    assert [item["address"] for item in api.get(path, {"limit": 0})] == free
    bodies = [{"status": "active"}] * wanted
    if wanted > len(free):
        api.post(path, bodies, status=204)
    else:
        assert [item["address"] for item in api.post(path, bodies)] == free[:wanted]


@settings(max_examples=15)
@given(
    prefixes(),
    st.lists(st.tuples(st.integers(0, 63), st.integers(1, 5)), max_size=6),
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
)
def test_networks_are_given_out_that_nothing_lies_in(
    api: Api, unique: Unique, prefix: tuple[Any, bool], below: list[tuple[int, int]], sizes: list[int]
) -> None:
    network, _ = prefix
    vrf = api.post(VRFS, {"name": unique()})["id"]
    body = {"vrf": vrf, "status": "active"}
    made = api.post(PREFIXES, {**body, "prefix": str(network)})
    within = {
        subnet_at(network, offset, smaller)
        for offset, smaller in below
        if network.prefixlen + smaller <= network.max_prefixlen
    }
    api.post(PREFIXES, [{**body, "prefix": str(item)} for item in sorted(within)])
    taken = {address for item in within for address in item}
    free = [address for address in network if address not in taken]
    path = f"{PREFIXES}{made['id']}/available-prefixes/"
    shown = [ipaddress.ip_network(item["prefix"]) for item in api.get(path)]
    assert shown == [part for start, end in runs(set(map(int, free))) for part in summary(network, start, end)]
    lengths = [max(network.max_prefixlen - size, network.prefixlen + 1) for size in sizes]
    if network.num_addresses == 1:
        return  # no network lies within it
    answer = api.post(path, [{"prefix_length": length, "status": "active"} for length in lengths], status=(201, 204))
    if answer is not None:
        given_out = [ipaddress.ip_network(item["prefix"]) for item in answer]
        assert [item.prefixlen for item in given_out] == lengths
        addresses = [address for item in given_out for address in item]
        assert len(set(addresses)) == len(addresses) and set(addresses) <= set(free)


# what happens to the address or network with a number: it is made, deleted, described or moved to another VRF
events = st.lists(
    st.tuples(st.sampled_from(["make", "delete", "describe", "move", "allocate"]), st.integers(0, 15)),
    min_size=3,
    max_size=12,
)


@pytest.mark.parametrize(("length", "action", "path"), [(32, "ips", ADDRESSES), (31, "prefixes", PREFIXES)])
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(happens=events)
@pytest.mark.night
def test_a_remembered_run_hides_nothing_that_left_it(
    monkeypatch: pytest.MonkeyPatch,
    api: Api,
    unique: Unique,
    length: int,
    action: str,
    path: str,
    happens: list[tuple[str, int]],
) -> None:
    """A run of three is remembered; whatever happens, the free space is what counting finds."""
    monkeypatch.setattr(taken_space, "PIECE", 3)
    vrf = api.post(VRFS, {"name": unique()})["id"]
    parts = [str(item) for item in ipaddress.ip_network(f"198.51.100.0/{length - 4}").subnets(4)]
    whole = {"prefix": f"198.51.100.0/{length - 4}", "vrf": vrf, "status": "active", "is_pool": True}
    available = f"{PREFIXES}{api.post(PREFIXES, whole)['id']}/available-{action}/"
    member = "address" if path == ADDRESSES else "prefix"
    taken = api.post(path, [{member: part, "vrf": vrf, "status": "active"} for part in parts[:12]])
    ids = {number: made["id"] for number, made in enumerate(taken)}
    for what, number in happens:
        if what == "allocate":
            made = api.post(available, {"status": "active", "prefix_length": length}, status=(201, 204))
            if made is None:
                assert len(ids) == len(parts)
                continue
            made = made[0] if isinstance(made, list) else made
            first = next(n for n in range(len(parts)) if n not in ids)
            assert made[member].partition("/")[0] == parts[first].partition("/")[0]
            ids[first] = made["id"]
        elif number not in ids:
            if what == "make":
                ids[number] = api.post(path, {member: parts[number], "vrf": vrf, "status": "active"})["id"]
        elif what == "delete":
            api.delete(f"{path}{ids.pop(number)}/")
        elif what == "describe":
            api.patch(f"{path}{ids[number]}/", {"description": unique()})
        elif what == "move":
            api.patch(f"{path}{ids.pop(number)}/", {"vrf": api.post(VRFS, {"name": unique()})["id"]})
        shown = {str(item) for one in api.get(available, {}) for item in cut_up(one[member], length, path)}
        assert shown == {part for number, part in enumerate(parts) if number not in ids}


def cut_up(text: str, length: int, path: str) -> list[Any]:
    """The parts of what is shown as free: an address itself, the parts of a network."""
    if path == ADDRESSES:
        return [ipaddress.ip_network(text.partition("/")[0])]
    return list(ipaddress.ip_network(text).subnets(new_prefix=length))


def subnet_at(network: Any, offset: int, smaller: int) -> Any:
    """The network at an address of another one, whose prefix is so much longer."""
    address = network[offset % network.num_addresses]
    return ipaddress.ip_network(f"{address}/{network.prefixlen + smaller}", strict=False)


def summary(network: Any, start: int, end: int) -> Iterator[Any]:
    """The fewest networks that make up a range."""
    kind = type(network.network_address)
    return ipaddress.summarize_address_range(kind(start), kind(end))
