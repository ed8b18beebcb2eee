"""Wireless LANs and links: secrets, interfaces, ends, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique
from tests.support.dumps import item, named

PATH = "/api/plugins/wireless"
LANS, LINKS = f"{PATH}/wireless-lans/", f"{PATH}/wireless-links/"


@pytest.fixture
def interfaces(service: Service) -> Any:
    """Two interfaces."""
    return Case(service, "dcim.interface").make_many(2)


def test_a_lan_has_interfaces_and_hides_its_key(api: Api, unique: Unique, interfaces: Any) -> None:
    body = {"ssid": unique(), "status": "active", "interfaces": [interfaces[0]["id"]], "auth_psk": "very secret"}
    lan = api.post(LANS, body)
    assert "very secret" not in str(api.get(f"{LANS}{lan['id']}/"))
    found = api.get("/api/dcim/interfaces/", {"wireless_lans": lan["id"]})["results"]
    assert [one["id"] for one in found] == [interfaces[0]["id"]]


def test_lans_are_found_by_a_group_above_theirs(api: Api, make: Any, unique: Unique) -> None:
    above = make(f"{PATH}/wireless-lan-groups/")
    below = make(f"{PATH}/wireless-lan-groups/", parent=above["id"])
    lan = api.post(LANS, {"ssid": unique(), "status": "active", "group": below["id"]})
    assert [found["id"] for found in api.get(LANS, {"group_id": above["id"]})["results"]] == [lan["id"]]


def test_a_link_connects_two_interfaces(api: Api, interfaces: Any) -> None:
    first, second = (interface["id"] for interface in interfaces)
    body = {"interface_a": first, "status": "connected"}
    assert list(api.post(LINKS, {**body, "interface_b": first}, status=400)) == ["interface_b"]
    assert list(api.post(LINKS, {**body, "interface_b": second, "distance": 3}, status=400)) == ["distance_unit"]
    link = api.post(LINKS, {**body, "interface_b": second, "distance": "3.5", "distance_unit": "km"})
    assert link["display"] == " - ".join(interface["name"] for interface in interfaces)
    api.delete(f"/api/dcim/interfaces/{second}/")
    api.get(f"{LINKS}{link['id']}/", status=404)


def test_wireless_objects_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    name = unique()
    interface = {"device": 1, "type": "ieee802.11ac", "enabled": True, "wireless_lans": [1], "wireless_link": 1}
    report = load_dump(
        named("dcim.site", 1, name, status="active"),
        named("dcim.manufacturer", 1, name),
        item("dcim.devicetype", 1, manufacturer=1, model=name, slug=name.lower(), u_height=1),
        named("dcim.devicerole", 1, name, color="aa1409"),
        item("dcim.device", 1, name=name, site=1, device_type=1, device_role=1, status="active"),
        item("dcim.interface", 1, name="radio0", **interface),
        item("dcim.interface", 2, name="radio1", **interface),
        named("wireless.wirelesslangroup", 1, name, parent=None),
        item("wireless.wirelesslan", 1, ssid=name, group=1, auth_psk="secret", auth_type="wpa-personal"),
        item("wireless.wirelesslink", 1, ssid=name, interface_a=1, interface_b=2, status="connected"),
    )
    for label in ("wirelesslangroup", "wirelesslan", "wirelesslink"):
        assert report.counts()[f"wireless.{label}"] == {"created": 1}, report.reasons
    assert report.left_out == {("wireless.wirelesslan", "auth_psk", "secrets are not imported"): 1}
    assert report.kept == {}
    (lan,) = api.get(LANS, {"ssid": name})["results"]
    assert {interface["name"] for interface in lan["interfaces"]} == {"radio0", "radio1"}
