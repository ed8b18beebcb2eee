"""Refusals by rules of VLANs, networks, addresses and services: the field of the error, and its message."""

from __future__ import annotations

from typing import Any

from netinv_testing import Api, Unique
from tests.support.cabling_fixtures import Plant

ADDRESSES, AGGREGATES, GROUPS, PREFIXES, SERVICES, VLANS = (
    f"/api/ipam/{name}/" for name in ("ip-addresses", "aggregates", "vlan-groups", "prefixes", "services", "vlans")
)


def test_vlans_are_at_the_site_of_their_group_and_unique_within(api: Api, make: Any, unique: Unique) -> None:
    here, there = (make("/api/dcim/sites/", status="active")["id"] for _ in range(2))
    group = make(GROUPS, site=here)["id"]
    body = {"vid": 5, "name": unique(), "group": group, "site": here, "status": "active"}
    vlan = api.post(VLANS, body)
    for path, fields, field, message in (
        (VLANS, {**body, "site": there, "vid": 6, "name": unique()}, "group", "must belong to the assigned site ("),
        (VLANS, {**body, "vid": 6}, "non_field_errors", "name must make a unique set"),
        (VLANS, {**body, "name": unique()}, "non_field_errors", "vid must make a unique set"),
        (vlan["url"], {"site": there}, "group", "must belong to the assigned site ("),
        (vlan["url"], {"site": None}, "group", "must belong to the assigned site ("),
        (
            GROUPS,
            {"name": unique(), "slug": api.get(f"{GROUPS}{group}/")["slug"], "site": here},
            "non_field_errors",
            "slug",
        ),
    ):
        errors = (api.patch if path == vlan["url"] else api.post)(path, fields, status=400)
        assert message in errors[field][0]
    apart = {**body, "group": make(GROUPS, site=here)["id"]}
    assert api.post(VLANS, apart)["vid"] == 5


def test_networks_and_addresses(api: Api, make: Any, unique: Unique) -> None:
    rir, tenant = make("/api/ipam/rirs/")["id"], {"status": "active"}
    api.post(AGGREGATES, {"prefix": "3fff:a11::/32", "rir": rir})
    for path, body, field, message in (
        (
            AGGREGATES,
            {"prefix": "3fff:a11:1::/48", "rir": rir},
            "prefix",
            "is already covered by an existing aggregate",
        ),
        (AGGREGATES, {"prefix": "3fff:a00::/24", "rir": rir}, "prefix", "covers an existing aggregate"),
        (AGGREGATES, {"prefix": "::/0", "rir": rir}, "prefix", "with /0 mask."),
        (PREFIXES, {"prefix": "0.0.0.0/0", **tenant}, "prefix", "Cannot create prefix with /0 mask."),
        (ADDRESSES, {"address": "192.0.2.1/24", "status": "slaac"}, "status", "Only IPv6 addresses"),
    ):
        errors = api.post(path, body, status=400)
        assert list(errors) == [field] and message in errors[field][0]


def test_services_and_primary_addresses_have_one_owner(api: Api, make: Any, unique: Unique) -> None:
    plant = Plant(api, unique)
    device, other = plant.device(), plant.device()
    cluster = make("/api/virtualization/clusters/", type=make("/api/virtualization/cluster-types/")["id"])["id"]
    machine = make("/api/virtualization/virtual-machines/", cluster=cluster, status="active")["id"]
    service = {"name": unique(), "ports": [22], "protocol": "tcp"}
    for owners, message in (
        ({}, "A service must be associated with either a device or a virtual machine."),
        ({"device": device, "virtual_machine": machine}, "cannot be associated with both"),
    ):
        assert message in api.post(SERVICES, {**service, **owners}, status=400)["__all__"][0]
    interface = {"assigned_object_type": "dcim.interface", "assigned_object_id": plant.end(device=device).id}
    address = api.post(ADDRESSES, {"address": "192.0.2.77/24", "status": "active", **interface})
    for owner, place, message in ((device, "primary_ip6", "is not an IPv6"), (other, "primary_ip4", "is not assigned")):
        errors = api.patch(f"/api/dcim/devices/{owner}/", {place: address["id"]}, status=400)
        assert message in errors[place][0]
    api.patch(f"/api/dcim/devices/{device}/", {"primary_ip4": address["id"]})
    moved = api.patch(address["url"], {"assigned_object_id": plant.end(device=other).id}, status=400)
    assert "IP address is primary for device" in next(iter(moved.values()))[0]
