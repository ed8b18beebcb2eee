"""Prefixes to allocate from, of which a process remembers the places."""

from __future__ import annotations

from netinv_testing import Service

PREFIXES, VRFS = "/api/ipam/prefixes/", "/api/ipam/vrfs/"
ACTIVE = {"status": "active"}


def test_addresses_come_from_where_a_prefix_is_now(service: Service) -> None:
    """A prefix gets another network and another VRF between allocations."""
    api = service.api
    vrf, other = (api.post(VRFS, {"name": service.unique()})["id"] for _ in range(2))
    prefix = api.post(PREFIXES, {"prefix": "192.0.2.0/28", "vrf": vrf, **ACTIVE})
    path = f"{prefix['url']}available-ips/"
    assert api.post(path, ACTIVE)["address"] == "192.0.2.1/28"
    api.patch(prefix["url"], {"prefix": "198.51.100.0/28"})
    assert api.post(path, ACTIVE)["address"] == "198.51.100.1/28"
    api.patch(prefix["url"], {"vrf": other})
    given = api.post(path, ACTIVE)
    assert (given["address"], given["vrf"]["id"]) == ("198.51.100.1/28", other)
    api.delete(prefix["url"])
    api.post(path, ACTIVE, status=404)


def test_a_prefix_that_a_user_may_not_view_gives_out_nothing(service: Service) -> None:
    """Another user has allocated from it before."""
    network = f"{service.unique.ipv6()}::/64"
    prefix = service.api.post(PREFIXES, {"prefix": network, **ACTIVE})
    path = f"{prefix['url']}available-ips/"
    assert service.api.post(path, ACTIVE)["address"] == network
    adding = ("add", "ipam.ipaddress")
    service.user(("view", "ipam.prefix", {"prefix": "192.0.2.0/24"}), adding).api.post(path, ACTIVE, status=404)
    service.user(adding).api.post(path, ACTIVE, status=403)
    limited = service.user(("view", "ipam.prefix", {"id": prefix["id"]}), adding).api
    assert limited.post(path, ACTIVE)["address"] == network.replace("::/", "::1/")
