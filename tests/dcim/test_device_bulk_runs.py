"""Creations by patterns and deletions of devices with many components: what goes along counts as the devices do."""

from __future__ import annotations

import pytest

from netinv_testing import Api, Service, Unique
from netinv_web.testing import Browser, BrowserPage
from tests.support.jobs import work
from tests.support.runs import browser, service
from tests.support.typed_devices import Hardware

__all__ = ["browser", "service"]
SETTINGS = {"netinv.bulk_background_objects": "40"}  # that a request writes
ADD, DELETE, DEVICES = "/dcim/devices/add/", "/dcim/devices/delete/", "/api/dcim/devices/"
BULK = "/dcim/devices/bulk/"


@pytest.fixture
def hardware(api: Api, unique: Unique) -> Hardware:
    """Device types and devices."""
    return Hardware(api, unique)


def added(browser: Browser, api: Api, hardware: Hardware, type_: str, pattern: str, status: int = 200) -> BrowserPage:
    """The preview of devices whose names a pattern gives."""
    example = api.get(f"{DEVICES}{hardware.devices(type_, 1)[0]}/")
    form = browser.get(ADD).form()
    for name in ("device_type", "device_role", "site"):
        form[name].force_value(str(example[name]["id"]))
    form["name"], form["status"] = pattern, "active"
    return form.submit(status=status)


def test_many_components_are_created_by_the_worker(
    service: Service, browser: Browser, api: Api, hardware: Hardware, unique: Unique
) -> None:
    """Two devices with three components of eight kinds each: 50 objects."""
    word = unique()
    page = added(browser, api, hardware, hardware.type("1", "2", "3"), f"{word}-[1-2]")
    assert "Created along with them:" in page.words and "6 interfaces" in page.words
    asked = page.form().submit("_several", value="all", status=303)
    assert asked.headers["Location"].startswith(BULK) and api.get(DEVICES, {"name__isw": word})["count"] == 0
    work(service)
    assert "2 devices were created." in asked.follow().words
    assert api.get("/api/dcim/interfaces/", {"device": [f"{word}-1", f"{word}-2"]})["count"] == 6


def test_few_components_are_created_at_once(browser: Browser, api: Api, hardware: Hardware, unique: Unique) -> None:
    word = unique()
    page = added(browser, api, hardware, hardware.type("1"), f"{word}-[1-2]")
    page.form().submit("_several", value="all", status=303)
    assert api.get("/api/dcim/interfaces/", {"device": [f"{word}-1", f"{word}-2"]})["count"] == 2


def test_a_refused_creation_names_the_device(
    service: Service, browser: Browser, api: Api, hardware: Hardware, unique: Unique
) -> None:
    word = unique()
    page = added(browser, api, hardware, hardware.type("1", "2", "3"), f"{word}-[1-2]")
    asked = page.form().submit("_several", value="all", status=303)
    device = hardware.devices(hardware.type("1"), 1)[0]
    site = page.form()["site"].value
    api.patch(f"{DEVICES}{device}/", {"name": f"{word}-2", "site": site})
    work(service)
    told = asked.follow().words
    assert f"{word}-2" in told and "already exists" in told
    assert api.get(DEVICES, {"name__isw": word})["count"] == 1


def test_many_components_are_deleted_by_the_worker(
    service: Service, browser: Browser, api: Api, hardware: Hardware
) -> None:
    devices = [("pk", key) for key in hardware.devices(hardware.type("1", "2", "3"), 2)]
    few = [("pk", key) for key in hardware.devices(hardware.type("1"), 2)]
    asked = browser.post(DELETE, devices, status=200).form().submit("_step", status=303)
    assert asked.headers["Location"].startswith(BULK)
    assert (
        not browser.post(DELETE, few, status=200)
        .form()
        .submit("_step", status=303)
        .headers["Location"]
        .startswith(BULK)
    )
    work(service)
    assert "2 devices were deleted." in asked.follow().words
    assert api.get(DEVICES, {"id": [key for _, key in devices]})["count"] == 0
