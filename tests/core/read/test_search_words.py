"""Search with several words, with accents, and for parts of objects; the same on every database."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.db import folding
from netinv_testing import Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser


@pytest.fixture(scope="session")
def made(service: Service) -> dict[str, Any]:
    """A device at a site in Gdańsk with two ports, a VLAN, a cable with a label, and an address."""
    word, api = service.unique(), service.api

    def post(path: str, **values: Any) -> Any:
        return api.post(f"/api/{path}/", values)

    site = post("dcim/sites", name=f"Gdańsk {word}", slug=word, status="active")
    maker = post("dcim/manufacturers", name=f"Acme {word}", slug=word)
    kind = post("dcim/device-types", manufacturer=maker["id"], model=f"R1 {word}", slug=word)
    role = post("dcim/device-roles", name=f"Router {word}", slug=word)
    of_site = {"site": site["id"], "device_type": kind["id"], "device_role": role["id"], "status": "active"}
    device = post("dcim/devices", name=f"bos-{word}", serial=f"SN-{word}".upper(), asset_tag=f"A-{word}", **of_site)
    ports = [
        post("dcim/interfaces", device=device["id"], name=name, type="1000base-t", status="active", **more)
        for name, more in (("eth1", {"mac_address": "00:50:56:0a:0b:0c"}), ("eth2", {}))
    ]
    ends = {f"termination_{side}_type": "dcim.interface" for side in "ab"}
    ends |= {f"termination_{side}_id": port["id"] for side, port in zip("ab", ports, strict=True)}
    cable = post("dcim/cables", label=f"K-{word}", status="connected", **ends)
    address = {"assigned_object_type": "dcim.interface", "assigned_object_id": ports[0]["id"]}
    post("ipam/ip-addresses", address="203.0.113.77/24", status="active", **address)
    vlan = post("ipam/vlans", vid=10, name=f"Management {word}", site=site["id"], status="active")
    return {"word": word, "site": site, "device": device, "port": ports[0], "cable": cable, "vlan": vlan}


def found(service: Service, text: str) -> set[str]:
    """The ids of the objects that are found."""
    groups = service.api.get("/api/search/", {"q": text, "limit": 50})["groups"]
    return {item["id"] for group in groups for item in group["results"]}


def test_a_port_is_found_by_words_of_its_name_and_of_its_device(service: Service, made: dict[str, Any]) -> None:
    for text in (f"bos-{made['word']} eth1", f"eth1 bos-{made['word']}", f"ETH1 {made['word']}"):
        assert found(service, text) == {made["port"]["id"]}, text


def test_ports_of_the_name_come_before_those_that_begin_with_it(service: Service, made: dict[str, Any]) -> None:
    word, device = service.unique(), made["device"]
    of_type = {name: device[name]["id"] for name in ("site", "device_type", "device_role")} | {"status": "active"}
    for number in (1, 2):
        other = service.api.post("/api/dcim/devices/", {"name": f"acc0{number}-{word}", **of_type})
        for name in ("xe10", "xe11", "xe1"):
            body = {"device": other["id"], "name": name, "type": "1000base-t", "status": "active"}
            service.api.post("/api/dcim/interfaces/", body)
    (group,) = service.api.get("/api/search/", {"q": f"{word} xe1", "limit": 3})["groups"]
    assert [item["name"] for item in group["results"]] == ["xe1", "xe1", "xe10"]


def test_the_group_of_several_words_leads_to_a_search_that_finds_the_same(
    service: Service, made: dict[str, Any]
) -> None:
    (group,) = service.api.get("/api/search/", {"q": f"bos-{made['word']} eth1"})["groups"]
    (same,) = service.api.get(group["url"])["groups"]
    assert [item["id"] for item in same["results"]] == [made["port"]["id"]]


@pytest.mark.night
def test_accents_and_the_order_of_words_make_no_difference(service: Service, made: dict[str, Any]) -> None:
    word = made["word"]
    for text in (f"gdansk {word}", f"{word} Gdańsk", f"GDAŃSK {word.upper()}"):
        assert made["site"]["id"] in found(service, text), text
    assert found(service, f"gdansk management {word}") == {made["vlan"]["id"]}
    for text in (f"gd_nsk {word}", f"g% {word}", f"gd[aą]nsk {word}", f"gd.nsk {word}", f"gd*k {word}"):
        assert found(service, text) == set(), text


def test_cables_are_found_by_their_labels(service: Service, made: dict[str, Any]) -> None:
    assert found(service, f"k-{made['word']}") == {made["cable"]["id"]}


def test_parts_are_found_where_both_objects_may_be_viewed(service: Service, made: dict[str, Any]) -> None:
    text = f"bos-{made['word']} eth1"
    for grants, count in (
        ([("view", "dcim.interface")], 0),
        ([("view", "dcim.interface"), ("view", "dcim.device", {"name": made["device"]["name"]})], 1),
        ([("view", "dcim.interface"), ("view", "dcim.device", {"name": "another"})], 0),
    ):
        account = service.user(*grants, password=PASSWORD)
        assert len(account.api.get("/api/search/", {"q": text})["groups"]) == count, grants


def test_serial_numbers_tags_and_mac_addresses_lead_to_the_object(service: Service, made: dict[str, Any]) -> None:
    browser = Browser(service, service.admin)
    device, port = f"/dcim/devices/{made['device']['id']}/", f"/dcim/interfaces/{made['port']['id']}/"
    for text in (f"sn-{made['word']}", f"SN-{made['word']}".upper(), f"A-{made['word']}"):
        assert browser.get("/search/", {"q": text, "_jump": "1"}, status=303).headers["Location"] == device
    for text in (
        "00:50:56:0A:0B:0C",
        "0050.560a.0b0c",
        "0050-560a-0b0c",
        "005056-0a0b0c",
        "0:50:56:a:b:c",
        "00 50 56 0a 0b 0c",
    ):
        assert browser.get("/search/", {"q": text, "_jump": "1"}, status=303).headers["Location"] == port, text


def test_the_result_for_an_address_names_the_interface(service: Service, made: dict[str, Any]) -> None:
    page = Browser(service, service.admin).get("/search/", {"q": "203.0.113.77"})
    assert f"203.0.113.77/24 bos-{made['word']} › eth1" in page.words


def test_nothing_found_says_what_was_searched(service: Service, made: dict[str, Any]) -> None:
    browser, text = Browser(service, service.admin), f"nothing-{made['word']}"
    assert f"Nothing was found for “{text}”: not in the names" in browser.get("/search/", {"q": text}).words
    assert "Devices" in browser.get("/search/", {"q": text}).html.select_one("main [role=status]").text
    option = browser.get("/search/", {"q": text, "_part": "palette"})
    assert option.html.select_one("[role=status]").text.startswith(f"Nothing is called “{text}”")


def test_letters_fold_to_those_without_accents() -> None:
    assert {folding.fold_character(letter) for letter in "łŁĽľl"} == {"l"}
    assert "".join(map(folding.fold_character, "Gdańsk Zürich Ærø Łódź")) == "gdansk zurich ærø lodz".replace("ø", "o")
