"""Addresses on the page of an interface, and the page that assigns one: a new one, the next free one, an existing one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import End, Plant

pytestmark = pytest.mark.any_database
MakeUser = Callable[..., Account]
ADDRESSES = "/api/ipam/ip-addresses/"


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    """A cable plant."""
    return Plant(api, unique)


@pytest.fixture
def port(plant: Plant) -> End:
    """An interface of a device."""
    return plant.end()


@pytest.fixture
def vrf(api: Api, unique: Unique) -> Any:
    """A VRF, so that addresses are free whatever other tests made."""
    return api.post("/api/ipam/vrfs/", {"name": unique(), "enforce_unique": True})


def page_of(port: End) -> str:
    return f"/dcim/interfaces/{port.id}/"


def assign(browser: Browser, port: End, status: int = 303, **values: Any) -> Any:
    return browser.post(f"{page_of(port)}assign-address/", values, status=status)


def assigned(api: Api, port: End) -> list[str]:
    return [item["address"] for item in api.get(ADDRESSES, {"interface_id": port.id})["results"]]


def test_the_next_free_address_takes_two_clicks(browser: Browser, api: Api, plant: Plant, port: End, vrf: Any) -> None:
    prefix = {"prefix": "10.50.0.0/29", "status": "active", "vrf": vrf["id"], "site": plant.site}
    prefix = api.post("/api/ipam/prefixes/", prefix)
    page = browser.get(page_of(port))
    assert page.html.select_one('[aria-keyshortcuts="i"]').text == "Assign address"
    page = page.click("Assign address")
    button = page.html.find("button", value=prefix["id"])
    assert button.text == "10.50.0.1/29"
    cells = [cell.text for cell in button.find_parent("tr").select("td")]
    assert cells == ["10.50.0.0/29", vrf["name"], "–", "–", ""]
    assert page.html.select("[autofocus]") == [page.html.select_one("button[name=prefix]")]
    answer = browser.post(page.request.path, {"_way": "next", "prefix": button["value"]})
    assert answer.headers["Location"] == page_of(port)
    assert assigned(api, port) == ["10.50.0.1/29"]
    panel = browser.get(page_of(port)).html.select_one("#panel-addresses")
    assert "10.50.0.1/29" in panel.text and vrf["name"] in panel.text


def test_a_new_address_is_created_and_assigned(browser: Browser, api: Api, port: End, vrf: Any) -> None:
    assign(browser, port, _way="new", address="10.51.0.1/24", vrf=vrf["id"])
    assert assigned(api, port) == ["10.51.0.1/24"]


def test_an_address_that_exists_is_assigned(browser: Browser, api: Api, port: End, vrf: Any) -> None:
    address = api.post(ADDRESSES, {"address": "10.52.0.1/24", "status": "active", "vrf": vrf["id"]})
    assign(browser, port, _way="existing", existing=address["id"])
    assert assigned(api, port) == ["10.52.0.1/24"]


def test_without_scripts_objects_are_named_in_words(browser: Browser, api: Api, port: End, vrf: Any) -> None:
    assign(browser, port, _way="new", address="10.53.0.1/24", _text_vrf=vrf["name"])
    assert api.get(ADDRESSES, {"interface_id": port.id})["results"][0]["vrf"]["id"] == vrf["id"]


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({"_way": "new", "address": "10.0.0.300/24"}, "address", "Invalid IP address"),
        ({"_way": "new", "address": ""}, "address", "blank"),
        ({"_way": "next", "prefix": "there-is-none"}, "prefix", "no such object"),
        ({"_way": "next"}, "prefix", "required"),
        ({"_way": "existing", "existing": "10.254.254.254/32"}, "existing", "no such object"),
    ],
)
def test_refusals_are_at_their_place(
    browser: Browser, api: Api, port: End, values: dict[str, str], field: str, words: str
) -> None:
    page = assign(browser, port, 422, **values)
    assert words in page.html.select_one(f"#error-{field}").text
    assert assigned(api, port) == []


def test_an_address_of_another_interface_is_not_taken_from_it(
    browser: Browser, api: Api, plant: Plant, port: End, vrf: Any
) -> None:
    other = plant.end()
    assign(browser, other, _way="new", address="10.54.0.1/24", vrf=vrf["id"])
    address = api.get(ADDRESSES, {"interface_id": other.id})["results"][0]
    page = assign(browser, port, 422, _way="existing", existing=address["id"])
    assert "assigned to an interface already" in page.html.select_one("#error-existing").text
    assert assigned(api, other) == ["10.54.0.1/24"]


def test_a_full_prefix_says_so(browser: Browser, api: Api, plant: Plant, port: End, vrf: Any) -> None:
    prefix = {"prefix": "10.55.0.0/32", "status": "active", "vrf": vrf["id"], "site": plant.site}
    prefix = api.post("/api/ipam/prefixes/", prefix)
    assign(browser, port, _way="next", prefix=prefix["id"])
    page = assign(browser, port, 422, _way="next", prefix=prefix["id"])
    assert "No address" in page.html.select_one("#error-prefix").text


def test_full_prefixes_and_containers_are_not_offered(
    browser: Browser, api: Api, plant: Plant, port: End, vrf: Any
) -> None:
    common = {"vrf": vrf["id"], "site": plant.site}
    full = api.post("/api/ipam/prefixes/", {"prefix": "10.57.0.0/30", "status": "active", **common})["id"]
    api.post("/api/ipam/prefixes/", {"prefix": "10.57.0.0/16", "status": "container", **common})
    page = browser.get(f"{page_of(port)}assign-address/")
    assert [button["value"] for button in page.html.select("button[name=prefix]")] == [full]
    for _ in range(2):
        assign(browser, port, _way="next", prefix=full)
    assert not browser.get(page.request.path).html.select("button[name=prefix]")


def test_prefixes_of_the_untagged_vlan_are_offered_first(
    browser: Browser, api: Api, plant: Plant, port: End, vrf: Any, unique: Unique
) -> None:
    """Also where the site has more prefixes than are offered, and where the prefix of the VLAN has no site."""
    vlan = api.post("/api/ipam/vlans/", {"vid": 120, "name": unique(), "status": "active", "site": plant.site})
    common = {"vrf": vrf["id"], "status": "active"}
    others = [{"prefix": f"10.59.{n}.0/24", "site": plant.site, **common} for n in range(9)]
    api.post("/api/ipam/prefixes/", others)
    own = api.post("/api/ipam/prefixes/", {"prefix": "10.59.200.0/24", "vlan": vlan["id"], **common})["id"]
    path = f"{page_of(port)}assign-address/"
    assert own not in [button["value"] for button in browser.get(path).html.select("button[name=prefix]")]
    api.patch(f"/api/dcim/interfaces/{port.id}/", {"mode": "access", "untagged_vlan": vlan["id"]})
    offered = browser.get(path).html.select("button[name=prefix]")
    assert [button.text for button in offered][:2] == ["10.59.200.1/24", "10.59.0.1/24"] and len(offered) == 8
    assert offered[0].find_parent("tr").find(attrs={"data-label": "VLAN"}).text == f"120 {vlan['name']}"


def test_related_objects_are_named_by_the_label_of_their_reference(
    browser: Browser, api: Api, plant: Plant, port: End, vrf: Any
) -> None:
    assign(browser, port, _way="new", address="10.60.0.1/24", vrf=vrf["id"])
    (address,) = api.get(ADDRESSES, {"interface_id": port.id})["results"]
    device = api.get(f"/api/dcim/interfaces/{port.id}/")["device"]["id"]
    api.patch(f"/api/dcim/devices/{device}/", {"primary_ip4": address["id"]})
    page = browser.get(f"/ipam/ip-addresses/{address['id']}/", {"_show": "all"})
    assert "Devices (Primary IPv4)" in page.words


def test_interfaces_of_virtual_machines_have_addresses_too(
    browser: Browser, api: Api, unique: Unique, vrf: Any
) -> None:
    kind = api.post("/api/virtualization/cluster-types/", {"name": unique(), "slug": unique()})["id"]
    cluster = api.post("/api/virtualization/clusters/", {"name": unique(), "type": kind})["id"]
    machine = {"name": unique(), "cluster": cluster, "status": "active"}
    machine = api.post("/api/virtualization/virtual-machines/", machine)["id"]
    port = {"virtual_machine": machine, "name": "eth0", "status": "active"}
    port = api.post("/api/virtualization/interfaces/", port)["id"]
    path = f"/virtualization/interfaces/{port}/"
    page = browser.get(path).click("Assign address")
    values = {"_way": "new", "address": "10.56.0.1/24", "vrf": vrf["id"]}
    assert browser.post(page.request.path, values).headers["Location"] == path
    listed = browser.get(f"/virtualization/virtual-machines/{machine}/interfaces/").html.select_one("tbody").text
    assert "10.56.0.1/24" in listed


def test_users_see_and_use_what_they_may(
    service: Service, browser: Browser, api: Api, plant: Plant, port: End, vrf: Any, make_user: MakeUser
) -> None:
    assign(browser, port, _way="new", address="10.57.0.1/24", vrf=vrf["id"])
    hidden = {"prefix": "10.58.0.0/24", "status": "active", "vrf": vrf["id"], "site": plant.site}
    hidden = api.post("/api/ipam/prefixes/", hidden)
    view = ("view", "dcim.interface")
    stranger = Browser(service, make_user(view, password="a password"))
    assert "10.57.0.1" not in stranger.get(page_of(port)).text
    stranger.get(f"{page_of(port)}assign-address/", status=403)
    rights = [view, ("view", "ipam.ipaddress"), ("add", "ipam.ipaddress"), ("view", "ipam.prefix", {"status": None})]
    adding = Browser(service, make_user(*rights, password="a password"))
    page = adding.get(f"{page_of(port)}assign-address/")
    assert "10.58.0.0/24" not in page.text and page.html.select_one("#way-existing") is None
    assign(adding, port, 422, _way="next", prefix=hidden["id"])
    elsewhere = make_user(
        ("view", "dcim.interface", {"name": "none"}), ("add", "ipam.ipaddress"), password="a password"
    )
    Browser(service, elsewhere).get(f"{page_of(port)}assign-address/", status=404)
