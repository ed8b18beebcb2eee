"""Pages of racks, devices and ports."""

from __future__ import annotations

from typing import Any

from netinv_core.testing import Api
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import Plant


def test_the_page_of_a_rack_shows_drawings_of_both_faces(browser: Browser, api: Api, make: Any, unique: Any) -> None:
    site = make("/api/dcim/sites/", status="active")
    rack = api.post("/api/dcim/racks/", {"name": unique(), "site": site["id"], "status": "active"})
    images = browser.get(f"/dcim/racks/{rack['id']}/").html.select("img")
    assert [image.get("alt") for image in images] == [f"{face} of rack {rack['name']}" for face in ("Front", "Rear")]
    for image in images:
        drawing = browser.get(image.get("src"))
        assert drawing.content_type == "image/svg+xml"


def test_a_port_can_be_connected_and_traced(browser: Browser, api: Api, unique: Any) -> None:
    plant = Plant(api, unique)
    near, far = plant.end(), plant.end()
    path = f"/dcim/interfaces/{near.id}/"
    assert "No cable is connected." in browser.get(f"{path}trace/").words
    plant.cable(near, far)
    page = browser.get(f"{path}trace/")
    assert f"/dcim/interfaces/{far.id}/" in page.links()
    assert "The far end is reached." in page.words
