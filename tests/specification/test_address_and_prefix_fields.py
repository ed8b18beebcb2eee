"""The specification's sections "IP address" and "Prefix", one test for each row."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique

ADDRESSES, PREFIXES = "/api/ipam/ip-addresses/", "/api/ipam/prefixes/"
COMMON = {"tags": list, "custom_fields": dict, "created": str, "last_updated": str}


@pytest.fixture
def post_address(api: Api, unique: Unique) -> Any:
    """``post_address(…)``: a new address in an IPv6 network of its own."""

    def post(**members: Any) -> Any:
        return api.post(ADDRESSES, {"address": f"{unique.ipv6()}::1/64", "status": "active", **members})

    return post


@pytest.fixture
def post_prefix(api: Api, unique: Unique) -> Any:
    """``post_prefix(…)``: a new IPv6 prefix that nothing else has."""

    def post(**members: Any) -> Any:
        return api.post(PREFIXES, {"prefix": f"{unique.ipv6()}::/48", **members})

    return post


@pytest.fixture
def vrf(api: Api, unique: Unique) -> Any:
    """A VRF of the test's own."""
    return api.post("/api/ipam/vrfs/", {"name": unique()})


def related(service: Service, field: str, make: Any, unique: Unique) -> Any:
    """A new object that a field of that name may refer to."""
    if field == "vrf":
        return service.api.post("/api/ipam/vrfs/", {"name": unique()})
    if field == "vlan":
        return service.api.post("/api/ipam/vlans/", {"vid": 7, "name": unique(), "status": "active"})
    if field == "site":
        return make("/api/dcim/sites/", status="active")
    return make({"tenant": "/api/tenancy/tenants/", "role": "/api/ipam/roles/"}[field])


# -- IP address


@pytest.mark.parametrize(("address", "family"), [("10.7.0.1/16", 4), ("3fff:db8::7/64", 6)])
def test_an_address_has_its_family(post_address: Any, vrf: Any, address: str, family: int) -> None:
    """IP address: `family`: {value: 4 or 6, label} (read)."""
    made = post_address(address=address, vrf=vrf["id"])
    assert made["family"] == {"value": family, "label": f"IPv{family}"}


def test_the_family_of_an_address_is_only_read(api: Api, post_address: Any) -> None:
    """IP address: `family` is read: a written one changes nothing."""
    made = post_address()
    api.patch(made["url"], {"family": 4})
    assert api.get(made["url"])["family"]["value"] == 6
    assert api.options(ADDRESSES)["actions"]["POST"]["family"]["read_only"] is True


def test_an_address_has_a_prefix_length_and_is_required(api: Api, post_address: Any, vrf: Any) -> None:
    """IP address: `address`: string, IP address with prefix length (required on create)."""
    assert post_address(address="10.7.0.1/16", vrf=vrf["id"])["address"] == "10.7.0.1/16"
    assert api.post(ADDRESSES, {"status": "active"}, status=400) == {"address": ["This field is required."]}
    assert "address" in api.post(ADDRESSES, {"address": "not an address", "status": "active"}, status=400)


@pytest.mark.parametrize("field", ["vrf", "tenant"])
def test_a_reference_of_an_address_is_nested_or_null(
    service: Service, post_address: Any, make: Any, unique: Unique, field: str
) -> None:
    """IP address: `vrf`, `tenant`, `role`: nested object or null."""
    assert post_address()[field] is None
    target = related(service, field, make, unique)
    made = post_address(**{field: target["id"]})
    assert (made[field]["id"], made[field]["url"], made[field]["name"]) == (target["id"], target["url"], target["name"])


def test_the_role_of_an_address_is_an_object_or_null(api: Api, post_address: Any) -> None:
    """IP address: `role`: object or null; it is a choice, so the object is {value, label}."""
    made = post_address()
    assert made["role"] is None
    api.patch(made["url"], {"role": "loopback"})
    assert api.get(made["url"])["role"] == {"value": "loopback", "label": "Loopback"}


def test_the_status_of_an_address_is_value_and_label(post_address: Any) -> None:
    """IP address: `status`: {value, label}."""
    assert post_address(status="reserved")["status"] == {"value": "reserved", "label": "Reserved"}


def test_an_address_names_its_interface_by_type_id_and_object(service: Service, post_address: Any) -> None:
    """IP address: `assigned_object_type`: string <app>.<model>; `assigned_object_id`: UUID; `assigned_object`: nested
    object, for an interface: `id`, `url`, `device`, `name`, `cable`, `connection_status`.
    """
    interface = Case(service, "dcim.interface").make()
    made = post_address(assigned_object_type="dcim.interface", assigned_object_id=interface["id"])
    assert (made["assigned_object_type"], made["assigned_object_id"]) == ("dcim.interface", interface["id"])
    nested = made["assigned_object"]
    assert [nested[name] for name in ("id", "url", "name", "cable", "connection_status")] == [
        interface["id"],
        interface["url"],
        interface["name"],
        None,
        None,
    ]
    assert nested["device"]["id"] == interface["device"]["id"]


def test_an_address_of_nothing_has_null_for_its_object(post_address: Any) -> None:
    """IP address: `assigned_object_type`, `assigned_object_id`, `assigned_object` of an address that is unassigned."""
    made = post_address()
    names = ("assigned_object_type", "assigned_object_id", "assigned_object")
    assert [made[name] for name in names] == [None, None, None]


def test_nat_inside_and_outside_are_nested_or_null(api: Api, post_address: Any) -> None:
    """IP address: `nat_inside`, `nat_outside`: nested object or null (a list from API version 1.3 on)."""
    inside = post_address()
    assert (inside["nat_inside"], api.get(inside["url"], version="1.2")["nat_outside"]) == (None, None)
    outside = post_address(nat_inside=inside["id"])
    assert (outside["nat_inside"]["id"], outside["nat_inside"]["address"]) == (inside["id"], inside["address"])
    shown = api.get(inside["url"], version="1.2")["nat_outside"]
    assert (shown["id"], shown["url"], shown["address"]) == (outside["id"], outside["url"], outside["address"])
    assert [item["id"] for item in api.get(inside["url"])["nat_outside"]] == [outside["id"]]


@pytest.mark.parametrize(("field", "value"), [("dns_name", "host.example.com"), ("description", "of the test")])
def test_a_text_of_an_address_is_a_string(api: Api, post_address: Any, field: str, value: str) -> None:
    """IP address: `dns_name`, `description`: string."""
    assert post_address()[field] == ""
    assert api.get(post_address(**{field: value})["url"])[field] == value


@pytest.mark.parametrize(("field", "kind"), COMMON.items(), ids=COMMON)
def test_an_address_has_the_conventional_field(post_address: Any, field: str, kind: type) -> None:
    """IP address: `tags`, `custom_fields`, `created`, `last_updated`: as in conventions."""
    assert isinstance(post_address()[field], kind)


# -- Prefix


@pytest.mark.parametrize(("network", "family"), [("10.6.0.0/16", 4), ("3fff:db8::/32", 6)])
def test_a_prefix_has_its_family(post_prefix: Any, vrf: Any, network: str, family: int) -> None:
    """Prefix: `family`: {value: 4 or 6, label}."""
    made = post_prefix(prefix=network, vrf=vrf["id"])
    assert made["family"] == {"value": family, "label": f"IPv{family}"}


def test_a_prefix_is_a_network_with_its_length_and_is_required(api: Api, post_prefix: Any, vrf: Any) -> None:
    """Prefix: `prefix`: string, network with prefix length (required on create)."""
    assert post_prefix(prefix="10.6.0.0/16", vrf=vrf["id"])["prefix"] == "10.6.0.0/16"
    assert api.post(PREFIXES, {"status": "active"}, status=400) == {"prefix": ["This field is required."]}
    assert "prefix" in api.post(PREFIXES, {"prefix": "not a network"}, status=400)


@pytest.mark.parametrize("field", ["site", "vrf", "tenant", "vlan", "role"])
def test_a_reference_of_a_prefix_is_nested_or_null(
    service: Service, post_prefix: Any, make: Any, unique: Unique, field: str
) -> None:
    """Prefix: `site`, `vrf`, `tenant`, `vlan`, `role`: nested object or null."""
    assert post_prefix()[field] is None
    target = related(service, field, make, unique)
    made = post_prefix(**{field: target["id"]})
    assert (made[field]["id"], made[field]["url"], made[field]["name"]) == (target["id"], target["url"], target["name"])


@pytest.mark.parametrize("status", ["container", "active", "reserved", "deprecated"])
def test_a_prefix_may_have_the_status(post_prefix: Any, status: str) -> None:
    """Prefix: `status`: {value, label}; allowed values: container, active, reserved, deprecated."""
    assert post_prefix(status=status)["status"] == {"value": status, "label": status.capitalize()}


def test_a_prefix_has_no_status_that_is_not_allowed(api: Api, unique: Unique) -> None:
    """Prefix: `status`: others than the allowed values are refused."""
    body = {"prefix": f"{unique.ipv6()}::/48", "status": unique()}
    assert "status" in api.post(PREFIXES, body, status=400)
    assert api.get(PREFIXES, {"prefix": body["prefix"]})["count"] == 0


def test_the_status_of_a_prefix_is_active_when_none_is_given(api: Api, post_prefix: Any) -> None:
    """Prefix: `status`: the value is `active` when none is given on create."""
    assert api.get(post_prefix()["url"])["status"]["value"] == "active"


def test_is_pool_is_a_boolean(api: Api, post_prefix: Any) -> None:
    """Prefix: `is_pool`: boolean."""
    assert [post_prefix()["is_pool"], post_prefix(is_pool=True)["is_pool"]] == [False, True]
    assert "is_pool" in api.patch(post_prefix()["url"], {"is_pool": "perhaps"}, status=400)


def test_the_description_of_a_prefix_is_a_string(api: Api, post_prefix: Any) -> None:
    """Prefix: `description`: string."""
    assert post_prefix()["description"] == ""
    assert api.get(post_prefix(description="of the test")["url"])["description"] == "of the test"


@pytest.mark.parametrize(("field", "kind"), COMMON.items(), ids=COMMON)
def test_a_prefix_has_the_conventional_field(post_prefix: Any, field: str, kind: type) -> None:
    """Prefix: `tags`, `custom_fields`, `created`, `last_updated`: as in conventions."""
    assert isinstance(post_prefix()[field], kind)
