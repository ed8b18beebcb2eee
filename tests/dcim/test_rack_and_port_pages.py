"""Pages of racks, devices and ports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from netinv_testing import Account, Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import Plant
from tests.support.racks import Room


def test_the_page_of_a_rack_shows_drawings_of_both_faces(browser: Browser, api: Api, make: Any, unique: Any) -> None:
    site = make("/api/dcim/sites/", status="active")
    rack = api.post("/api/dcim/racks/", {"name": unique(), "site": site["id"], "status": "active"})
    images = browser.get(f"/dcim/racks/{rack['id']}/").html.select("img")
    assert [image.get("alt") for image in images] == [f"{face} of rack {rack['name']}" for face in ("Front", "Rear")]
    for image in images:
        drawing = browser.get(image.get("src"))
        assert drawing.content_type == "image/svg+xml"


def test_devices_in_the_drawing_of_a_rack_are_links_for_those_who_may_view_them(
    service: Service, browser: Browser, api: Api, make: Any, make_user: Callable[..., Account], unique: Any
) -> None:
    site = make("/api/dcim/sites/", status="active")["id"]
    body = {"name": unique(), "site": site, "status": "active", "u_height": 10}
    rack = api.post("/api/dcim/racks/", body)
    model = {"manufacturer": make("/api/dcim/manufacturers/")["id"], "model": unique(), "u_height": 2}
    kinds = [
        api.post("/api/dcim/device-types/", {**model, "slug": unique(), "model": unique(), "is_full_depth": deep})["id"]
        for deep in (True, False)
    ]
    placed = {
        "site": site,
        "rack": rack["id"],
        "status": "active",
        "device_role": make("/api/dcim/device-roles/")["id"],
    }
    devices = [
        make("/api/dcim/devices/", **placed, device_type=kind, position=position, face="front")
        for kind, position in zip(kinds, (9, 1), strict=True)
    ]

    def areas(reader: Browser) -> dict[str, list[tuple[str, str]]]:
        page: Any = reader.get(f"/dcim/racks/{rack['id']}/", status=200).html
        assert {image["usemap"].removeprefix("#") for image in page.select("img[usemap]")} == {
            item["name"] for item in page.select("map")
        }
        return {
            item["name"]: [
                (area["href"].split("/")[-2], area["coords"]) for area in item.select("area:not([tabindex])")
            ]
            for item in page.select("map")
        }

    low, high = (devices[1]["id"], "33,183,253,227"), (devices[0]["id"], "33,7,253,51")
    assert areas(browser) == {"rack-front": [low, high], "rack-rear": [high]}
    user = make_user(("view", "dcim.rack"), password=PASSWORD)
    service.permit("view", "dcim.device", {"id": low[0]}, users=[user.id])
    assert areas(Browser(service, user)) == {"rack-front": [low]}


def test_free_units_of_the_drawing_lead_to_the_form_of_a_device_there(
    browser: Browser, api: Api, make: Any, make_user: Callable[..., Account], service: Service, unique: Any
) -> None:
    room = Room(api, make, unique)
    rack = room.rack(3)
    room.device(rack, 1)
    room.device(rack, 2, deep=True)
    path = f"/dcim/racks/{rack['id']}/"

    def free(reader: Browser) -> list[tuple[str, str]]:
        areas = reader.get(path, status=200).html.select("area[tabindex]")
        return [(str(area["alt"]), str(area["href"])) for area in areas]

    found = free(browser)
    units = ["U3, front", "U1, rear", "U3, rear"]
    assert [name for name, _ in found] == [f"Mount a device in {unit}" for unit in units]
    form = browser.get(found[1][1]).form("")
    assert [form[name].value for name in ("rack", "face", "position")] == [rack["id"], "rear", "1"]
    reader = make_user(("view", "dcim.rack"), ("view", "dcim.device"), password=PASSWORD)
    assert free(Browser(service, reader)) == []


def test_the_page_of_a_rack_lists_what_is_not_mounted(
    browser: Browser, api: Api, make: Any, make_user: Callable[..., Account], service: Service, unique: Any
) -> None:
    room = Room(api, make, unique)
    rack = room.rack()
    room.device(rack, 3)
    path = f"/dcim/racks/{rack['id']}/?_show=all"
    assert not browser.get(path).html.select("#panel-tray")
    waiting, strip = room.device(rack, None, height=2), room.device(rack, None, height=0)

    def items(reader: Browser) -> dict[str, list[str]]:
        """The links of each device: its page, and the way to mount it."""
        listed = reader.get(path, status=200).html.select("#panel-tray li")
        links = [[str(link["href"]) for link in item.select("a")] for item in listed]
        return {item[0].split("/")[-2]: item[1:] for item in links}

    found = items(browser)
    assert set(found) == {waiting["id"], strip["id"]}
    assert found[strip["id"]] == []
    (mount,) = found[waiting["id"]]
    targets = browser.get(mount).html.select('.rack button[name="_move"]')
    assert {str(target["value"]).split(":")[1] for target in targets} == {rack["id"]}
    reader = make_user(("view", "dcim.rack"), ("view", "dcim.device"), password=PASSWORD)
    assert items(Browser(service, reader)) == {waiting["id"]: [], strip["id"]: []}


def test_a_port_can_be_connected_and_traced(browser: Browser, api: Api, unique: Any) -> None:
    plant = Plant(api, unique)
    near, far = plant.end(), plant.end()
    path = f"/dcim/interfaces/{near.id}/"
    assert "No cable is connected." in browser.get(f"{path}trace/").words
    plant.cable(near, far)
    page = browser.get(f"{path}trace/")
    assert f"/dcim/interfaces/{far.id}/" in page.links()
    assert "The path is complete: 1 cable." in page.words


def test_a_port_is_disconnected_from_its_page(browser: Browser, api: Api, unique: Any) -> None:
    """By the preview of the deletion of its cable, which leads back to the port."""
    plant = Plant(api, unique)
    near, far = plant.end(), plant.end()
    path = f"/dcim/interfaces/{near.id}/"
    assert "Disconnect" not in browser.get(path).words
    cable = plant.cable(near, far)
    (address,) = [link for link in browser.get(path).links() if link.startswith("/dcim/cables/delete/?")]
    preview = browser.get(address)
    assert cable.removeprefix("/api") in preview.links()
    page = preview.form().submit("_step").follow()
    assert page.request.path == path and "Undo" in page.words
    api.get(cable, status=404)
