"""Imports of devices whose types have many components: what is created along counts as rows do."""

from __future__ import annotations

import pytest

from netinv_testing import Api, Service, Unique
from netinv_web.testing import Browser, BrowserPage
from tests.support.importing import outcomes, preview
from tests.support.jobs import work
from tests.support.runs import browser, service
from tests.support.typed_devices import Hardware

__all__ = ["browser", "service"]
MAX = 40  # objects that a request imports
SETTINGS = {"netinv.import_background_rows": str(MAX)}
PAGE, DEVICES = "/dcim/devices/import/", "/api/dcim/devices/"


@pytest.fixture
def hardware(api: Api, unique: Unique) -> Hardware:
    """Device types and devices."""
    return Hardware(api, unique)


def rows(api: Api, hardware: Hardware, type_: str, names: list[str]) -> str:
    """The rows of new devices."""
    example = api.get(f"{DEVICES}{hardware.devices(type_, 1)[0]}/")
    role, site = example["device_role"]["id"], example["site"]["id"]
    return "name,device_type,device_role,site,status\n" + "".join(f"{n},{type_},{role},{site},active\n" for n in names)


def along(page: BrowserPage) -> str:
    """The lines of a preview about objects that change along."""
    return " ".join(page.html.select_one(".affected").get_text().split())


def test_devices_with_many_components_are_imported_by_the_worker(
    service: Service, browser: Browser, api: Api, hardware: Hardware, unique: Unique
) -> None:
    """Two rows with three components of eight kinds each: 50 objects. The preview tells how many there are."""
    names = [unique(), unique()]
    page = preview(browser, rows(api, hardware, hardware.type("1", "2", "3"), names), PAGE)
    assert outcomes(page) == ["created", "created"]
    assert "6 Interfaces They are created with the import." in along(page)
    asked = page.form().submit("_step", status=303)
    assert asked.headers["Location"].startswith(PAGE)
    assert api.get(DEVICES, {"name": names})["count"] == 0
    work(service)
    assert "Devices: 2 created." in asked.follow().words
    assert api.get("/api/dcim/interfaces/", {"device": names})["count"] == 6


def test_devices_with_few_components_are_imported_at_once(
    browser: Browser, api: Api, hardware: Hardware, unique: Unique
) -> None:
    names = [unique(), unique()]
    page = preview(browser, rows(api, hardware, hardware.type("1", "2"), names), PAGE)
    assert "4 Interfaces" in along(page) and "with the import" not in along(page)
    assert "Devices: 2 created." in page.form().submit("_step", status=303).follow().words
    assert api.get("/api/dcim/interfaces/", {"device": names})["count"] == 4


def test_the_preview_of_many_components_has_the_errors_of_all_rows(
    browser: Browser, api: Api, hardware: Hardware, unique: Unique
) -> None:
    """The devices are tried, without their components."""
    text = rows(api, hardware, hardware.type("1", "2", "3"), [unique(), "x" * 300, unique()])
    page = preview(browser, text, PAGE, status=422)
    assert outcomes(page) == ["error", "created", "created"]


def test_rows_that_change_devices_create_no_components(
    browser: Browser, api: Api, hardware: Hardware, unique: Unique
) -> None:
    ids = hardware.devices(hardware.type("1", "2", "3"), 2)
    text = "id,comments\n" + "".join(f"{key},{unique()}\n" for key in ids)
    answer = preview(browser, text, PAGE).form().submit("_step", status=303)
    assert "Devices: 2 updated." in answer.follow().words
