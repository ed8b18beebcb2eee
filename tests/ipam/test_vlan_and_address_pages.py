"""Members and prefixes of VLANs, numbers of VLAN groups, and where addresses are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from netinv_ipam.web import vlan_map
from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_testing.samples import Samples
from netinv_web.testing import Browser

VLANS, ADDRESSES = "/api/ipam/vlans/", "/api/ipam/ip-addresses/"


@pytest.fixture
def group(api: Api, unique: Unique) -> Any:
    """A VLAN group without VLANs."""
    return api.post("/api/ipam/vlan-groups/", {"name": unique(), "slug": unique()})


@pytest.fixture
def port(service: Service) -> Any:
    """An interface of a device with a name."""
    interface = Samples(service).make(service.registry["dcim.interface"])
    service.api.patch(interface["device"]["url"], {"name": f"switch of {interface['name']}"})
    return interface


def vlan_of(api: Api, group: Any, vid: int) -> Any:
    return api.post(VLANS, {"vid": vid, "name": f"vlan {vid}", "status": "active", "group": group["id"]})


def keys(browser: Browser, path: str) -> list[str]:
    """The ids of the rows of a list."""
    return [str(row["data-key"]) for row in browser.get(path).html.select("tr[data-key]")]


def words(item: Any) -> str:
    return " ".join(item.get_text(" ", strip=True).replace(" ,", ",").split())


def test_a_vlan_lists_the_interfaces_that_carry_it_and_its_prefixes(
    browser: Browser, api: Api, service: Service, group: Any, port: Any, unique: Unique
) -> None:
    vlan, other = vlan_of(api, group, 10), vlan_of(api, group, 20)
    api.patch(port["url"], {"mode": "tagged", "untagged_vlan": other["id"], "tagged_vlans": [vlan["id"]]})
    machine = Samples(service).make(service.registry["virtualization.vminterface"])
    api.patch(machine["url"], {"mode": "access", "untagged_vlan": vlan["id"]})
    prefix = api.post("/api/ipam/prefixes/", {"prefix": "10.71.0.0/24", "status": "active", "vlan": vlan["id"]})
    path = f"/ipam/vlans/{vlan['id']}/"
    assert keys(browser, f"{path}interfaces/") == [port["id"]]
    assert keys(browser, f"{path}vm-interfaces/") == [machine["id"]]
    assert keys(browser, f"{path}prefixes/") == [prefix["id"]]
    assert keys(browser, f"/ipam/vlans/{other['id']}/interfaces/") == [port["id"]]


def test_the_page_of_a_vlan_begins_with_its_members_and_prefixes(
    browser: Browser, api: Api, service: Service, group: Any, port: Any
) -> None:
    vlan, other = vlan_of(api, group, 30), vlan_of(api, group, 31)
    api.patch(port["url"], {"mode": "tagged", "untagged_vlan": other["id"], "tagged_vlans": [vlan["id"]]})
    bodies = [{"prefix": f"10.76.{number}.0/24", "status": "active", "vlan": vlan["id"]} for number in range(12)]
    api.post("/api/ipam/prefixes/", bodies)
    path = f"/ipam/vlans/{vlan['id']}/"
    page = browser.get(path, {"_show": "all"})
    first, facts = page.html.select_one(".detail > .main"), page.html.select_one(".detail > .facts")
    assert first in facts.find_previous_siblings() and first.select(".panel h2")[0].text == "Interfaces"
    members = first.select("#panel-first-interfaces tr[data-key]")
    assert [row["data-key"] for row in members] == [port["id"]] and f"31 {other['name']}" in words(members[0])
    prefixes = first.select_one("#panel-first-prefixes")
    rows = prefixes.select("tr[data-key] th")
    assert [row.text for row in rows] == [body["prefix"] for body in bodies[:10]]
    assert prefixes.select_one("p a")["href"] == f"{path}prefixes/" and prefixes.select_one("p a").text == "All 12"
    empty = browser.get(f"/ipam/vlans/{vlan_of(api, group, 32)['id']}/", {"_show": "all"})
    assert not empty.html.select(".detail > .main .panel")


def test_the_page_of_a_vrf_begins_with_its_prefixes(browser: Browser, api: Api, unique: Unique) -> None:
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})
    api.post("/api/ipam/prefixes/", {"prefix": "10.77.0.0/24", "status": "active", "vrf": vrf["id"]})
    address = api.post(ADDRESSES, {"address": "10.77.0.1/24", "status": "active", "vrf": vrf["id"]})
    path = f"/ipam/vrfs/{vrf['id']}/"
    page = browser.get(path, {"_show": "all"})
    (row,) = page.html.select(".detail > .main #panel-first-prefixes tr[data-key] th")
    assert row.text == "10.77.0.0/24"  # the page says the VRF already
    assert keys(browser, f"{path}ip-addresses/") == [address["id"]]
    assert browser.get(f"{path}prefixes/").html.select_one("tr[data-key] th").text == "10.77.0.0/24"


def test_the_first_rows_are_those_that_the_user_may_view(service: Service, api: Api, unique: Unique) -> None:
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})
    bodies = [{"prefix": f"10.78.{number}.0/24", "status": "active", "vrf": vrf["id"]} for number in range(2)]
    seen = api.post("/api/ipam/prefixes/", bodies)[0]
    limited = [("view", "ipam.vrf"), ("view", "ipam.prefix", {"id": seen["id"]})]
    for permissions, shown in ((limited, [seen["id"]]), (limited[:1], [])):
        page = Browser(service, service.user(*permissions, password=PASSWORD)).get(
            f"/ipam/vrfs/{vrf['id']}/", {"_show": "all"}
        )
        assert [row["data-key"] for row in page.html.select("#panel-first-prefixes tr[data-key]")] == shown


def map_of(page: Any) -> dict[str, dict[str, Any]]:
    """The parts of the map of a VLAN group by the text that is read out, by the label of the row."""
    rows = page.html.select("#panel-numbers .vlan-ids > li")
    return {row.span.text: {words(part): part.contents[0] for part in row.select("ul > li")} for row in rows}


def test_the_numbers_of_a_group_are_rows_of_128(browser: Browser, api: Api, group: Any) -> None:
    for vid in (1, 2, 3, 10, 300):
        vlan = vlan_of(api, group, vid)
    page = browser.get(f"/ipam/vlan-groups/{group['id']}/")
    assert "5 used, 4,089 free." in page.words
    rows = map_of(page)
    assert {label: list(parts) for label, parts in rows.items()} == {
        "1–128": ["1–3 : used", "4–9 : free", "10 vlan 10", "11–128 : free"],
        "129–256": ["129–256 : free"],
        "257–384": ["257–299 : free", "300 vlan 300", "301–384 : free"],
        "385–4094": ["385–4094 : free"],
    }
    assert rows["257–384"]["300 vlan 300"]["href"] == f"/ipam/vlans/{vlan['id']}/"
    assert len(keys(browser, rows["1–128"]["1–3 : used"]["href"])) == 3
    form = browser.get(rows["1–128"]["11–128 : free"]["href"]).form()
    assert (form["vid"].value, form["group"].value) == ("11", group["id"])


@pytest.mark.parametrize("used", [[], [1], [128], [129], [4094], range(1, 4095), range(100, 700), range(1, 4095, 2)])
def test_the_rows_of_a_map_have_every_number_once(used: Sequence[int]) -> None:
    rows = vlan_map.rows_of(vlan_map.ranges_of(dict.fromkeys(used)))
    parts = [part for row in rows for part in row.parts]
    assert [number for part in parts for number in range(part.first, part.last + 1)] == list(range(1, 4095))
    assert [number for part in parts if part.used for number in range(part.first, part.last + 1)] == list(used)
    assert [row.first for row in rows] == [row.parts[0].first for row in rows]


def test_the_next_free_vlan_is_one_action_away(browser: Browser, api: Api, group: Any) -> None:
    for vid in (1, 2, 4):
        vlan_of(api, group, vid)
    page = browser.get(f"/ipam/vlan-groups/{group['id']}/")
    form = page.form(f"/ipam/vlan-groups/{group['id']}/next-vlan/").submit().follow().form()
    assert (form["vid"].value, form["group"].value) == ("3", group["id"])


def test_hidden_vlans_are_used_and_lead_nowhere(service: Service, api: Api, group: Any) -> None:
    seen = vlan_of(api, group, 5)
    vlan_of(api, group, 9)
    user = service.user(("view", "ipam.vlangroup"), ("view", "ipam.vlan", {"id": seen["id"]}), password=PASSWORD)
    page = Browser(service, user).get(f"/ipam/vlan-groups/{group['id']}/")
    parts = map_of(page)["1–128"]
    assert [text for text, part in parts.items() if part.name == "a"] == ["5 vlan 5"]
    assert [text for text in parts if "used" in text] == ["9 : used"]


def test_an_address_says_the_prefixes_of_its_vrf_that_it_is_in(browser: Browser, api: Api, unique: Unique) -> None:
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})["id"]
    texts = ["10.64.0.0/16", "10.64.3.0/24", "10.64.3.7/32"]
    bodies = [{"prefix": text, "vrf": vrf, "status": "active"} for text in [*texts, "10.65.0.0/16"]]
    prefixes = api.post("/api/ipam/prefixes/", bodies)[:3]
    api.post("/api/ipam/prefixes/", {"prefix": "10.64.0.0/17", "status": "active"})
    address = api.post("/api/ipam/ip-addresses/", {"address": "10.64.3.7/24", "vrf": vrf, "status": "active"})
    crumbs = browser.get(f"/ipam/ip-addresses/{address['id']}/").html.select("nav[aria-label=Breadcrumb] a")[1:]
    assert [(item.text, item["href"]) for item in crumbs] == [
        (item["prefix"], f"/ipam/prefixes/{item['id']}/") for item in prefixes
    ]


def test_an_address_says_device_port_and_site(browser: Browser, service: Service, api: Api, port: Any) -> None:
    assigned = {"assigned_object_type": "dcim.interface", "assigned_object_id": port["id"]}
    inside = api.post(ADDRESSES, {"address": "10.71.9.1/24", "status": "active", **assigned})
    outside = api.post(ADDRESSES, {"address": "198.51.100.77/32", "status": "active", "nat_inside": inside["id"]})
    device = api.get(f"/api/dcim/devices/{port['device']['id']}/")
    page = browser.get(f"/ipam/ip-addresses/{inside['id']}/")
    shown = [words(item) for item in page.html.select("#panel-assigned dd")]
    assert shown == [device["display"], port["name"], device["site"]["display"]]
    assert page.html.select(".detail .panel")[0]["id"] == "panel-assigned"
    path = f"/dcim/interfaces/{port['id']}/"
    assert [link.text for link in page.html.select("main a") if link["href"] == path] == [port["name"]]
    nat = browser.get(f"/ipam/ip-addresses/{outside['id']}/")
    assert (
        f"/ipam/ip-addresses/{outside['id']}/" in page.links() and f"/ipam/ip-addresses/{inside['id']}/" in nat.links()
    )

    def statements() -> int:
        browser.get("/ipam/ip-addresses/", {"device_id": device["id"]})
        with service.statements() as result:
            page = browser.get("/ipam/ip-addresses/", {"device_id": device["id"]})
        assert device["site"]["display"] in words(page.html.select_one("tr[data-key]"))
        assert f"{device['display']} › {port['name']}" in words(page.html.select_one("tr[data-key]"))
        return len(result)

    before = statements()
    for number in range(2, 8):
        api.post(ADDRESSES, {"address": f"10.71.9.{number}/24", "status": "active", **assigned})
    assert statements() == before


def test_an_unassigned_address_leads_to_the_choice_of_an_interface(
    browser: Browser, api: Api, port: Any, unique: Unique
) -> None:
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})["id"]
    free = api.post(ADDRESSES, {"address": "10.72.0.1/24", "status": "active", "vrf": vrf})
    path = f"/ipam/ip-addresses/{free['id']}/"
    (button,) = (link for link in browser.get(path).html.select("main a") if link.text.strip() == "Assign")
    (cell,) = browser.get("/ipam/ip-addresses/", {"vrf_id": vrf}).html.select("tr[data-key] td.long a")
    assert (cell.text, cell["href"]) == ("Assign", button["href"])
    page = browser.get(button["href"].partition("#")[0])
    assert page.html.select_one(f"#{button['href'].partition('#')[2]}") is not None
    form = page.form()
    assert form["assigned_object_type"].value == "dcim.interface"
    form["assigned_object_id"] = port["id"]
    form.submit(status=303)
    assert api.get(free["url"])["assigned_object_id"] == port["id"]
    assert "Assign" not in [link.text.strip() for link in browser.get(path).html.select("main a")]
    (cell,) = browser.get("/ipam/ip-addresses/", {"vrf_id": vrf}).html.select("tr[data-key] td.long a")
    assert cell["href"] == f"/dcim/interfaces/{port['id']}/"


def test_users_who_may_not_change_addresses_are_not_led_to_their_form(
    service: Service, api: Api, make_user: Any, unique: Unique
) -> None:
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})["id"]
    free = api.post(ADDRESSES, {"address": "10.73.0.1/24", "status": "active", "vrf": vrf})
    reader = Browser(service, make_user(("view", "ipam.ipaddress"), password=PASSWORD))
    for path in (f"/ipam/ip-addresses/{free['id']}/", f"/ipam/ip-addresses/?vrf_id={vrf}"):
        assert not [link for link in reader.get(path).links() if "assigned_object_type" in link]
    assert words(reader.get(f"/ipam/ip-addresses/{free['id']}/").html.select_one("#panel-assigned p")) == "Nothing yet."


def test_an_address_of_a_hidden_interface_names_it_without_a_link(
    service: Service, api: Api, make_user: Any, port: Any
) -> None:
    assigned = {"assigned_object_type": "dcim.interface", "assigned_object_id": port["id"]}
    address = api.post(ADDRESSES, {"address": "10.79.0.1/24", "status": "active", **assigned})
    user = make_user(("view", "ipam.ipaddress"), password=PASSWORD)
    panel = Browser(service, user).get(f"/ipam/ip-addresses/{address['id']}/").html.select_one("#panel-assigned")
    shown = user.api.get(address["url"])["assigned_object"]
    assert [words(item) for item in panel.select("dd")] == [shown["name"]] and not panel.select("a")


def test_the_primary_address_of_a_device_is_whole_and_without_its_vrf(
    browser: Browser, api: Api, port: Any, unique: Unique
) -> None:
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})["id"]
    assigned = {"assigned_object_type": "dcim.interface", "assigned_object_id": port["id"]}
    address = api.post(ADDRESSES, {"address": "2001:db8:74::1/128", "status": "active", "vrf": vrf, **assigned})
    device = api.patch(port["device"]["url"], {"primary_ip6": address["id"]})
    for column in ("primary_ip", "primary_ip6"):
        page = browser.get("/dcim/devices/", {"id": device["id"], "_columns": column})
        cell = page.html.select_one("tr[data-key] td.uncut")
        assert (cell.text, cell.a["href"]) == ("2001:db8:74::1/128", f"/ipam/ip-addresses/{address['id']}/")
