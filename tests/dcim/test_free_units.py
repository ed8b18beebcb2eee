"""The form of a device offers the free units of the chosen rack and face; without scripts."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import Plant

DEVICES, ADD = "/api/dcim/devices/", "/dcim/devices/add/"


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    return Plant(api, unique)


class Row:
    """A rack of four units with one device at the bottom of its front, and device types."""

    def __init__(self, plant: Plant) -> None:
        self.plant, api = plant, plant.api
        body = {"name": plant.unique(), "site": plant.site, "status": "active", "u_height": 4}
        self.rack = str(api.post("/api/dcim/racks/", body)["id"])
        self.shallow, self.tall, self.flat = (self._type(**size) for size in ({}, {"u_height": 2}, {"u_height": 0}))
        self.device = api.post(DEVICES, {**self.body(self.shallow), "position": 1, "face": "front"})

    def _type(self, **size: Any) -> str:
        api, name = self.plant.api, self.plant.unique()
        maker = api.post("/api/dcim/manufacturers/", {"name": name})["id"]
        body = {"manufacturer": maker, "model": name, "is_full_depth": False, **size}
        return str(api.post("/api/dcim/device-types/", body)["id"])

    def body(self, kind: str) -> dict[str, Any]:
        return {**self.plant.hardware, "name": self.plant.unique(), "device_type": kind, "rack": self.rack}


@pytest.fixture
def row(plant: Plant) -> Row:
    return Row(plant)


def offered(page: Any) -> list[str]:
    """The positions that the form offers, as labels."""
    return [option.text for option in page.html.select("#field-position option:not([disabled])")][1:]


def taken(page: Any) -> list[str]:
    """The positions that the form names and does not offer, as labels."""
    return [option.text for option in page.html.select("#field-position option[disabled]")]


def form_of(page: Any) -> Any:
    """The form of the device."""
    return next(form for form in page.forms.values() if "position" in form.fields)


def test_free_units_of_the_rack_and_face_are_offered(browser: Browser, row: Row) -> None:
    def of(kind: str, **more: str) -> list[str]:
        return offered(browser.get(ADD, {"rack": row.rack, "device_type": kind, **more}))

    assert of(row.shallow, face="front") == ["U4", "U3", "U2"]
    assert of(row.shallow, face="rear") == ["U4", "U3", "U2", "U1"]
    assert of(row.tall, face="front") == ["U3–U4", "U2–U3"]
    assert of(row.flat) == []


def test_taken_units_say_by_what(browser: Browser, row: Row, service: Service) -> None:
    name = row.device["name"]
    query = {"rack": row.rack, "device_type": row.shallow, "face": "front"}
    assert taken(browser.get(ADD, query)) == [f"U1, taken by {name}"]
    assert taken(browser.get(ADD, {**query, "device_type": row.tall})) == [f"U1–U2, taken by {name}"]
    hardware = ("dcim.rack", "dcim.devicetype", "dcim.devicerole", "dcim.site")
    seen = [("view", label) for label in hardware]
    hidden = service.user(*seen, ("add", "dcim.device"), password=PASSWORD)
    page = Browser(service, hidden).get(ADD, query)
    assert taken(page) == ["U1, taken"] and name not in page.text


def test_reserved_units_say_so(browser: Browser, api: Api, service: Service, row: Row) -> None:
    body = {"rack": row.rack, "units": [3], "user": service.admin.id, "description": "x"}
    api.post("/api/dcim/rack-reservations/", body)
    page = browser.get(ADD, {"rack": row.rack, "device_type": row.shallow, "face": "front"})
    assert offered(page) == ["U4", "U3, reserved", "U2"]


@pytest.mark.night
def test_a_rack_is_chosen_in_the_form_then_one_of_its_units(browser: Browser, api: Api, row: Row) -> None:
    """A step without scripts keeps what was entered and writes nothing."""
    page = browser.get(ADD)
    assert "Choose a rack" in page.words and page.html.select_one("#field-position")["type"] == "number"
    fields = {**row.body(row.shallow), "face": "front", "_show_again": "1"}
    page = browser.post(ADD, fields, status=200)
    assert offered(page) == ["U4", "U3", "U2"] and api.get(DEVICES, {"name": fields["name"]})["count"] == 0
    form = form_of(page)
    form["position"] = "3"
    form.submit(status=303)
    assert api.get(DEVICES, {"name": fields["name"]})["results"][0]["position"] == 3


def test_the_units_of_the_device_itself_are_free_for_it(browser: Browser, api: Api, row: Row) -> None:
    path = f"/dcim/devices/{row.device['id']}/edit/"
    page = browser.get(path)
    assert offered(page) == ["U4", "U3", "U2", "U1"]
    assert page.html.select_one("#field-position option[selected]")["value"] == "1"
    form = form_of(page)
    form["position"] = "4"
    form.submit(status=303)
    assert api.get(f"{DEVICES}{row.device['id']}/")["position"] == 4


def test_a_unit_that_is_taken_stays_chosen_with_its_error(browser: Browser, row: Row) -> None:
    fields = {**row.body(row.shallow), "face": "front", "position": "1"}
    page = browser.post(ADD, fields, status=422)
    chosen = page.html.select_one("#field-position option[selected]")
    assert (chosen["value"], chosen.text) == ("1", f"U1, taken by {row.device['name']}")
    assert f"Taken by {row.device['name']}." in page.words
    sent = form_of(page).submit(status=422)  # what was entered is not dropped
    assert "already occupied" in sent.words


def test_the_grid_takes_any_number(browser: Browser, row: Row) -> None:
    page = browser.get("/dcim/devices/grid/", {"id": row.device["id"], "_columns": ["name", "position"]})
    (field,) = [field for field in page.html.select("td input") if field.get("name", "").endswith(":position")]
    assert field["type"] == "number" and field["value"] == "1"


def test_statements_do_not_grow_with_the_devices(service: Service, browser: Browser, api: Api, row: Row) -> None:
    counts = []
    for unit in (2, 4):
        browser.get(ADD, {"rack": row.rack})
        with service.statements() as statements:
            browser.get(ADD, {"rack": row.rack})
        counts.append(len(statements))
        api.post(DEVICES, {**row.body(row.shallow), "position": unit, "face": "front"})
    assert counts[0] == counts[1], counts
