"""The page that applies a device type: the plan, its choices, and what is written, at once or by the worker."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser, BrowserPage
from tests.support.jobs import work
from tests.support.runs import browser, service, undone
from tests.support.typed_devices import Hardware, told

__all__ = ["browser", "service"]
MAX = 8  # components that a request writes
SETTINGS = {"netinv.bulk_background_objects": str(MAX)}


@pytest.fixture
def hardware(api: Api, unique: Unique) -> Hardware:
    """Device types and devices."""
    return Hardware(api, unique)


def path_of(type_: str, device: str = "") -> str:
    return f"/dcim/device-types/{type_}/apply/" + (f"?device={device}" if device else "")


def outcomes(page: BrowserPage) -> dict[tuple[str, str], str]:
    """The outcome of each row, by kind and name."""
    rows = [
        [" ".join(cell.get_text().split()) for cell in row.select("th, td")] for row in page.html.select("tbody tr")
    ]
    return {(row[1], row[0]): row[3] for row in rows}


def with_changed_interfaces(api: Api, hardware: Hardware, count: int) -> tuple[str, list[str]]:
    """Devices of a type that has had other interfaces since: one renamed, one more."""
    type_ = hardware.type("1")
    devices = hardware.devices(type_, count)
    api.patch(hardware.templates("interfaces", type_)["1"]["url"], {"name": "et-0", "label": "<b>"})
    body = {"device_type": type_, "name": "et-1", "type": "1000base-t"}
    api.post("/api/dcim/interface-templates/", body)
    return type_, devices


def test_a_renamed_template_is_proposed_as_the_new_name(browser: Browser, api: Api, hardware: Hardware) -> None:
    type_, devices = with_changed_interfaces(api, hardware, 2)
    before = hardware.components("interfaces", devices[0])["1"]["id"]
    page = browser.get(path_of(type_))
    assert outcomes(page) == {("Interface", "1"): "renamed to et-0", ("Interface", "et-1"): "added"}
    assert "2 added, 2 renamed on 2 devices." in page.words and "Label: – → <b>" in page.words
    answer = page.form().submit("_step", value="apply")
    assert answer.headers["Location"].endswith(f"/dcim/device-types/{type_}/")
    after = answer.follow()
    assert "4 components were written." in after.words
    assert [told(api, device) for device in devices] == [[], []]
    assert hardware.components("interfaces", devices[0])["et-0"]["id"] == before
    assert "there is nothing to do" in browser.get(path_of(type_)).words
    undone(browser, after)
    assert all(len(told(api, device)) == 3 for device in devices)


def test_selected_devices_are_moved_to_another_type(browser: Browser, api: Api, hardware: Hardware) -> None:
    """The page asks for the type; it leads to the plan of that type for these devices."""
    old, new = hardware.type("1"), hardware.type("1")
    api.post("/api/dcim/interface-templates/", {"device_type": new, "name": "2", "type": "1000base-t"})
    devices = hardware.devices(old, 2)
    path = "/dcim/devices/move-to-type/"
    assert path in str(browser.get("/dcim/devices/", {"id": devices[0]}).html.select("#selection button"))
    page = browser.post(path, {"pk": devices}, status=200)
    assert "Move 2 devices to another type" in page.words
    assert "This field is required." in page.form().submit("_step", value="apply", status=422).text
    form = page.form()
    form["device_type"] = new
    answer = form.submit("_step", value="apply").follow()
    assert "2 devices have another type now." in answer.words and "Apply to 2 devices" in answer.words
    assert outcomes(answer)["Interface", "2"] == "added"
    again = browser.post(path, {"pk": devices}, status=200).form()
    again["device_type"] = new
    assert "The devices have had this type before." in again.submit("_step", value="apply").follow().words
    answer.form().submit("_step", value="apply")
    assert [told(api, device) for device in devices] == [[], []]


def test_choices_are_shown_before_they_are_applied(browser: Browser, api: Api, hardware: Hardware) -> None:
    """For one component, and for all; the choice for one counts more."""
    type_, (device,) = with_changed_interfaces(api, hardware, 1)
    form = browser.get(path_of(type_)).form()
    form["choice"], form["choice:dcim.interface:1"] = "keep", "apply"
    page = form.submit("_step", value="apply", status=409)
    assert "The choices or the devices have changed since the plan was shown." in page.words
    shown = {("Interface", "1"): "removed", ("Interface", "et-0"): "kept", ("Interface", "et-1"): "kept"}
    assert outcomes(page) == shown and len(told(api, device)) == 3
    page = page.form().submit("_step", value="preview", status=200)
    assert outcomes(page) == shown
    page.form().submit("_step", value="apply")
    assert {item["name"] for item in told(api, device)} == {"et-0", "et-1"}


def test_what_has_changed_since_is_shown_again(browser: Browser, api: Api, hardware: Hardware) -> None:
    type_, (device, _) = with_changed_interfaces(api, hardware, 2)
    form = browser.get(path_of(type_)).form()
    api.delete(hardware.components("interfaces", device)["1"]["url"])
    page = form.submit("_step", value="apply", status=409)
    assert outcomes(page)["Interface", "et-0"] == "added" and len(told(api, device)) == 2
    page.form().submit("_step", value="apply")
    assert told(api, device) == []


def test_what_is_in_use_is_kept_and_named(browser: Browser, api: Api, hardware: Hardware) -> None:
    """Also on the page for a single device, which the page of the device leads to."""
    type_ = hardware.type()
    one, two = hardware.devices(type_, 2)
    for device in (one, two):
        hardware.add("", {"device": device, "status": "active"}, "x")
    child = {"device": one, "name": "x.1", "type": "virtual", "status": "active"}
    api.post("/api/dcim/interfaces/", {**child, "parent_interface": hardware.components("interfaces", one)["x"]["id"]})
    page = browser.get(path_of(type_))
    assert outcomes(page)["Interface", "x"] == "kept on 1, removed on 1 (in use: Interface)"
    (link,) = browser.get(f"/dcim/devices/{one}/?_show=all").html.select("#panel-type-differences p a[href*=apply]")
    page = browser.get(link["href"])
    assert outcomes(page)["Interface", "x"] == "kept (in use: Interface)"
    answer = page.form().submit("_step", value="apply")
    assert answer.headers["Location"].endswith(f"/dcim/devices/{one}/")
    assert [item["kind"] for item in told(api, one)] == ["dcim.interface"] and len(told(api, two)) == 8


def test_what_a_rule_refuses_is_told_before(browser: Browser, api: Api, hardware: Hardware) -> None:
    type_ = hardware.type("1")
    device = hardware.device(type_)
    api.patch(hardware.templates("rear-ports", type_)["1"]["url"], {"positions": 2})
    api.patch(hardware.components("front-ports", device)["1"]["url"], {"rear_port_position": 3})
    form = browser.get(path_of(type_)).form()
    form["choice:dcim.frontport:1"] = "keep"
    page = form.submit("_step", value="preview", status=200)
    name = api.get(f"/api/dcim/devices/{device}/")["display"]
    assert f"This is refused, so nothing is written:Rear port 1 of {name}" in page.words
    assert not page.html.select("button[value=apply]") and len(told(api, device)) == 2
    digest = page.html.select_one("input[name=digest]")["value"]
    body = [("digest", digest), ("_step", "apply"), ("choice:dcim.frontport:1", "keep")]
    assert f"Rear port 1 of {name}" in browser.post(path_of(type_), body, status=422).words
    assert len(told(api, device)) == 2


def test_many_components_are_written_by_the_worker(
    service: Service, browser: Browser, api: Api, hardware: Hardware
) -> None:
    """Unless the plan is another one by then."""
    type_, devices = with_changed_interfaces(api, hardware, MAX)
    run = browser.get(path_of(type_)).form().submit("_step", value="apply").follow()
    assert "Pending" in run.words and len(told(api, devices[0])) == 3
    work(service)
    assert f"{2 * MAX} components were written." in browser.get(run.request.path).words
    assert told(api, devices[0]) == []
    api.patch(hardware.templates("interfaces", type_)["et-0"]["url"], {"label": "L"})
    api.patch(hardware.templates("interfaces", type_)["et-1"]["url"], {"label": "L"})
    run = browser.get(path_of(type_)).form().submit("_step", value="apply").follow()
    api.patch(hardware.templates("interfaces", type_)["et-1"]["url"], {"label": ""})
    work(service)
    assert (
        "The devices have changed since the plan was shown: nothing was written." in browser.get(run.request.path).words
    )
    assert len(told(api, devices[0])) == 1


def test_bad_choices_and_addresses_get_pages_that_say_so(browser: Browser, api: Api, hardware: Hardware) -> None:
    type_, (device,) = with_changed_interfaces(api, hardware, 1)
    for name, value in (("choice", "x"), ("choice:dcim.site:1", "keep"), ("choice:", "keep"), ("choice", "rename:")):
        browser.post(path_of(type_), [(name, value), ("_step", "preview")], status=400)
    browser.get(path_of(type_, "x"), status=400)
    browser.get(path_of(type_, hardware.device(hardware.type())), status=400)
    browser.get(path_of("00000000-0000-4000-8000-000000000000"), status=404)
    browser.get(f"{path_of(type_)}nothing/", status=404)
    assert len(told(api, device)) == 3


def test_nothing_is_told_or_written_without_permission(
    service: Service, api: Api, hardware: Hardware, make_user: Any
) -> None:
    type_, (device,) = with_changed_interfaces(api, hardware, 1)

    def user(*permissions: Any) -> Browser:
        account: Account = make_user(*permissions, password=PASSWORD)
        return Browser(service, account)

    sight = ["dcim.devicetype", "dcim.device", "dcim.interface", "dcim.interfacetemplate"]
    page = user(("view", sight)).get(path_of(type_))
    assert outcomes(page) == {  # the change log, which has the former name, is hidden
        ("Interface", "1"): "removed",
        ("Interface", "et-0"): "added",
        ("Interface", "et-1"): "added",
    }
    assert "You do not have permission" in page.words
    assert (
        "nothing to do"
        in user(("view", [label for label in sight if label != "dcim.interface"])).get(path_of(type_)).words
    )
    user(("view", "dcim.device")).get(path_of(type_), status=403)
    assert len(told(api, device)) == 3
