"""Names in context tell nothing that the API hides: whoever may view an object alone sees in its name, wherever pages
show it, what its representation shows.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser


def make(api: Api, path: str, **values: Any) -> Any:
    """A new object."""
    return api.post(f"/api/{path}/", values)


@pytest.fixture
def parts(api: Api, unique: Unique) -> dict[str, Any]:
    """Parts of a device without a name, with a serial number and an asset tag, cables at them, and a power feed."""
    word = unique()
    site = make(api, "dcim/sites", name=f"Site{word}", slug=f"s-{word}", status="active")
    maker = make(api, "dcim/manufacturers", name=f"Acme{word}", slug=word)
    kind = make(api, "dcim/device-types", manufacturer=maker["id"], model=f"Model{word}", slug=word)
    role = make(api, "dcim/device-roles", name=f"Role{word}", slug=word, color="9e9e9e")
    device = make(
        api,
        "dcim/devices",
        site=site["id"],
        device_type=kind["id"],
        device_role=role["id"],
        status="active",
        asset_tag=f"Tag{word}",
        serial=f"Serial{word}",
    )
    owner = {"device": device["id"]}
    made = {"device": device, "word": word}
    made["interface"] = make(api, "dcim/interfaces", **owner, name="eth1", type="1000base-t", status="active")
    made["other"] = make(api, "dcim/interfaces", **owner, name="eth2", type="1000base-t", status="active")
    made["power-port"] = make(api, "dcim/power-ports", **owner, name="psu1")
    made["service"] = make(api, "ipam/services", **owner, name="web", protocol="tcp", ports=[80])
    panel = make(api, "dcim/power-panels", site=site["id"], name=f"Panel{word}")
    made["power-feed"] = make(api, "dcim/power-feeds", power_panel=panel["id"], name="feed1", status="active")
    group = make(api, "dcim/interface-redundancy-groups", name=f"Group{word}", status="active", protocol="vrrp")
    made["association"] = make(
        api,
        "dcim/interface-redundancy-group-associations",
        interface=made["interface"]["id"],
        interface_redundancy_group=group["id"],
        priority=1,
    )
    for name, (one, another) in {"cable": ("interface", "other"), "feed-cable": ("power-port", "power-feed")}.items():
        ends = {"a": one, "b": another}
        values: dict[str, Any] = {"status": "connected"}
        for side, end in ends.items():
            label = "dcim.interface" if end in ("interface", "other") else f"dcim.{end.replace('-', '')}"
            values |= {f"termination_{side}_type": label, f"termination_{side}_id": made[end]["id"]}
        made[name] = make(api, "dcim/cables", **values)
    return made


PLACES = {
    "interface": ("dcim.interface", "/dcim/interfaces/"),
    "power-port": ("dcim.powerport", "/dcim/power-ports/"),
    "service": ("ipam.service", "/ipam/services/"),
    "association": ("dcim.interfaceredundancygroupassociation", "/dcim/interface-redundancy-group-associations/"),
    "cable": ("dcim.cable", "/dcim/cables/"),
    "feed-cable": ("dcim.cable", "/dcim/cables/"),
    "power-feed": ("dcim.powerfeed", "/dcim/power-feeds/"),
}


@pytest.mark.parametrize("part", PLACES)
def test_the_name_of_a_part_tells_what_its_representation_shows(
    service: Service, parts: dict[str, Any], part: str
) -> None:
    label, path = PLACES[part]
    account = service.user(("view", label), password=PASSWORD)
    item = parts[part]
    shown = account.api.send("GET", f"/api{path}{item['id']}/").text
    reader, word = Browser(service, account), parts["word"]
    pages = [f"{path}{item['id']}/", f"{path}?id={item['id']}&_columns=id", f"/search/?q={item['id']}", "/"]
    for page in [*pages, f"/search/?q={item['id']}&_part=palette"]:
        told = {name for name in re.findall(rf"\w+{word}", reader.get(page).text) if name not in shown}
        assert not told, page
    answer = account.api.send("GET", "/api/search/", query={"q": item["id"]})
    assert not {name for name in re.findall(rf"\w+{word}", answer.text) if name not in shown}


def test_those_who_may_view_the_device_see_its_asset_tag(browser: Browser, parts: dict[str, Any]) -> None:
    word = parts["word"]
    assert f"Acme{word} Model{word} · Tag{word}" in browser.get(f"/search/?q=Tag{word}").words
    name = f"Acme{word} Model{word} › eth1"
    listed = browser.get(f"/dcim/interfaces/?id={parts['interface']['id']}&_columns=status")
    assert listed.html.select_one("table.list tbody th").get_text(strip=True) == name
    cable = browser.get(f"/dcim/cables/{parts['feed-cable']['id']}/").html.h1.text
    assert cable == f"Acme{word} Model{word} psu1 ↔ feed1"


def test_the_site_of_an_address_is_shown_to_those_who_may_view_the_device(
    service: Service, api: Api, parts: dict[str, Any]
) -> None:
    word = parts["word"]
    end = {"assigned_object_type": "dcim.interface", "assigned_object_id": parts["interface"]["id"]}
    address = make(api, "ipam/ip-addresses", address="192.0.2.9/32", status="active", **end)
    site = api.get(parts["device"]["site"]["url"])["id"]
    views = [("view", ["ipam.ipaddress", "dcim.interface"]), ("view", "dcim.site", {"name": "another"})]
    limited = Browser(service, service.user(*views, password=PASSWORD))
    known = [("view", ["ipam.ipaddress", "dcim.interface", "dcim.device"]), ("view", "dcim.site", {"id": site})]
    reader = Browser(service, service.user(*known, password=PASSWORD))
    for page in (
        f"/ipam/ip-addresses/?id={address['id']}&_columns=assigned_site",
        f"/ipam/ip-addresses/{address['id']}/",
    ):
        assert f"Site{word}" not in limited.get(page).words, page
        assert f"Site{word}" in reader.get(page).words, page
