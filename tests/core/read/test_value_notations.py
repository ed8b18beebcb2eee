"""Values of filters: every notation of one value finds the same objects, and what is no value is refused."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Service


def _notations(mac: str) -> list[str]:
    """A MAC address in each notation."""
    digits = mac.replace(":", "")
    dots = ".".join(digits[i : i + 4] for i in (0, 4, 8))
    return [mac, mac.lower(), mac.replace(":", "-"), dots.lower(), digits, digits.lower()]


@pytest.fixture
def interface(service: Service, unique: Any) -> dict[str, Any]:
    """An interface of a device with a MAC address of its own."""
    digits = f"{unique.number() % 65536:04X}"
    device = service.population.objects(service.registry["dcim.device"])[0]
    body = {"device": device["id"], "name": unique(), "type": "virtual", "status": "active"}
    made: dict[str, Any] = service.api.post(
        "/api/dcim/interfaces/", {**body, "mac_address": f"02:00:5E:0C:{digits[:2]}:{digits[2:]}"}
    )
    return made


def test_a_mac_address_is_found_in_each_notation(service: Service, interface: dict[str, Any]) -> None:
    """By the interfaces' filter and by that of devices; negated it leaves them out."""
    device = interface["device"]["id"]
    for path, key in (("interfaces", interface["id"]), ("devices", device)):
        for text in _notations(interface["mac_address"]):
            query = {"id": key, "mac_address": text}
            assert service.api.get(f"/api/dcim/{path}/", query)["count"] == 1, (path, text)
            excluded = {"id": key, "mac_address__n": text}
            assert service.api.get(f"/api/dcim/{path}/", excluded)["count"] == 0, (path, text)


@pytest.mark.parametrize("path", ["dcim/interfaces", "dcim/devices", "virtualization/interfaces"])
@pytest.mark.parametrize("text", ["zz", "00:50:56", "00:50:56:AB:CD:EF:00:11", "00-50-56-ab-cd-eg"])
def test_what_is_no_mac_address_is_refused(service: Service, path: str, text: str) -> None:
    """Also negated, and on virtual machines."""
    for name in ("mac_address", "mac_address__n"):
        assert list(service.api.get(f"/api/{path}/", {name: text}, status=400)) == [name]


def test_permissions_know_each_notation(service: Service, unique: Any, interface: dict[str, Any]) -> None:
    """A constraint compares the address and not its spelling; one that is no address is refused."""
    account = service.user(("view", "dcim.interface", {"mac_address": interface["mac_address"].lower()}))
    assert [item["id"] for item in account.api.get("/api/dcim/interfaces/")["results"]] == [interface["id"]]
    body = {"name": unique(), "object_types": ["dcim.interface"], "actions": ["view"]}
    faulty = {**body, "constraints": {"mac_address": "zz"}}
    assert list(service.api.post("/api/users/permissions/", faulty, status=400)) == ["constraints"]


@pytest.mark.parametrize("name", ["within", "within_include", "contains", "prefix", "network", "broadcast"])
@pytest.mark.parametrize("text", ["zz", "10.0.0.0/33", "10.0.0.0/024", "10.0.0.0/8\n", "10.0.0.0/-1", "2001:db8::/129"])
def test_what_is_no_network_is_refused(service: Service, name: str, text: str) -> None:
    """By every filter of prefixes that takes a network."""
    assert list(service.api.get("/api/ipam/prefixes/", {name: text}, status=400)) == [name]


@pytest.mark.parametrize("text", ["zz", "10.0.0.0/024", "10.0.0.1/24\n", "10.0.0.1/24/24"])
def test_no_field_takes_what_is_no_network(service: Service, text: str) -> None:
    """Neither prefixes, addresses nor aggregates."""
    for path, name in (("prefixes", "prefix"), ("ip-addresses", "address"), ("aggregates", "prefix")):
        refused = service.api.post(f"/api/ipam/{path}/", {name: text, "status": "active"}, status=400)
        assert name in refused
    assert list(service.api.get("/api/ipam/ip-addresses/", {"parent": text}, status=400)) == ["parent"]


# A part of 02:00:5E:0C:…, by the lookup.
MAC_PARTS = {
    "ic": ("00:5e:0c", "00-5E-0c", "5e0c", "005e.0c", "05e.0", "05e0"),
    "isw": ("02:00:5e", "02-00-5e-0", "0200.5e0", "02005e0c", "0200."),
    "re": ("^02:00", "^02-00-5e", "00-5e-0c", "^0200.5e0c", "5E0C", "^02.*5E"),
    "ire": ("^02:00", "^02-00-5e", "00-5e-0c", "^0200.5e0c", "5e0c", "^02.*5e"),
}


@pytest.mark.night
def test_parts_of_a_mac_address_are_found_in_each_notation(service: Service, interface: dict[str, Any]) -> None:
    """By interfaces and by devices, at the start, the end and in between; negated they leave it out."""
    mac, device = interface["mac_address"], interface["device"]["id"]
    last = mac.replace(":", "")[-5:].lower()
    ends = (mac[-8:].lower(), mac[-8:].replace(":", "-"), last, f"{last[0]}.{last[1:]}", mac[-4:].replace(":", ""))
    parts = {**MAC_PARTS, "iew": ends, "ie": tuple(_notations(mac))}
    for path, key in (("interfaces", interface["id"]), ("devices", device)):
        for lookup, texts in parts.items():
            for text in texts:
                for name, count in ((f"mac_address__{lookup}", 1), (f"mac_address__n{lookup}", 0)):
                    found = service.api.get(f"/api/dcim/{path}/", {"id": key, name: text})["count"]
                    assert found == count, (path, name, text)


@pytest.mark.parametrize("lookup", ["ic", "isw", "iew", "ie", "re", "ire"])
@pytest.mark.parametrize("text", ["zz", "01-00-5e-0c-0d", "fe-dc-ba-98-76-54-32", "ab--cd"])
def test_other_parts_find_nothing(service: Service, interface: dict[str, Any], lookup: str, text: str) -> None:
    """Neither by interfaces nor by devices."""
    for path, key in (("interfaces", interface["id"]), ("devices", interface["device"]["id"])):
        assert service.api.get(f"/api/dcim/{path}/", {"id": key, f"mac_address__{lookup}": text})["count"] == 0
