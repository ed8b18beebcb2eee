"""Tabs of an object: their order, their numbers, and the menu of those without contents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique
from netinv_web.objects import tab_links
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import Plant

pytestmark = pytest.mark.any_database
MakeUser = Callable[..., Account]


@pytest.fixture
def device(api: Api, unique: Unique) -> str:
    """A device with three interfaces and a rear port."""
    plant = Plant(api, unique)
    device = plant.device()
    for number in range(3):
        plant.end("dcim.interface", device, name=f"eth{number}")
    plant.end("dcim.rearport", device)
    return device


def shown_tabs(page: Any) -> list[str]:
    return [" ".join(item.text.split()) for item in page.html.select(".tabs li a")]


def folded_tabs(page: Any) -> list[str]:
    return [" ".join(item.text.split()) for item in page.html.select(".tabs details a")]


def test_tabs_have_numbers_and_interfaces_come_first(browser: Browser, device: str) -> None:
    tabs = shown_tabs(browser.get(f"/dcim/devices/{device}/"))
    assert tabs[:3] == ["Overview", "Interfaces 3", "Rear ports 1"]


def test_tabs_are_opened_by_their_number_and_the_leading_action_by_a(browser: Browser, device: str) -> None:
    page = browser.get(f"/dcim/devices/{device}/interfaces/")
    tabs = page.html.select(".tabs > ul a")
    assert [tab["aria-keyshortcuts"] for tab in tabs] == [str(place) for place in range(1, len(tabs) + 1)]
    port = browser.get(page.html.select_one("#list tbody th a")["href"])
    assert port.html.select_one('[aria-keyshortcuts="a"]').text.strip() == "Connect"


def test_tabs_without_contents_are_in_one_menu(browser: Browser, device: str) -> None:
    page = browser.get(f"/dcim/devices/{device}/")
    assert "Front ports 0" in folded_tabs(page)
    assert not any(title.startswith("Front ports") for title in shown_tabs(page))


def test_the_tab_that_is_open_is_not_folded(browser: Browser, device: str) -> None:
    page = browser.get(f"/dcim/devices/{device}/front-ports/")
    assert page.html.select_one(".tabs [aria-current]").text.split() == ["Front", "ports", "0"]
    assert "Front ports 0" not in folded_tabs(page)


def test_pages_that_are_no_tab_mark_none(browser: Browser, api: Api, device: str) -> None:
    port = api.get("/api/dcim/interfaces/", {"device_id": device, "limit": 1})["results"][0]["id"]
    device_type = api.get(f"/api/dcim/devices/{device}/")["device_type"]["id"]
    prefix = api.post("/api/ipam/prefixes/", {"prefix": "2001:db8:7ab5::/48", "status": "active"})["id"]
    for path in (
        f"/dcim/devices/{device}/delete/",
        f"/dcim/device-types/{device_type}/apply/",
        f"/dcim/interfaces/{port}/assign-address/",
        f"/ipam/prefixes/{prefix}/gap/?first=2001:db8:7ab5:1::&last=2001:db8:7ab5:1::ff",
        f"/ipam/prefixes/{prefix}/next-prefix/",
        f"/ipam/prefixes/{prefix}/split/",
    ):
        page = browser.get(path)
        assert page.html.select_one(".tabs a") is not None
        assert page.html.select_one(".tabs [aria-current]") is None


def test_all_tabs_are_counted_in_one_statement(service: Service, browser: Browser, device: str) -> None:
    path = f"/dcim/devices/{device}/"
    browser.get(path)
    with service.statements() as statements:
        browser.get(path)
    counting = [text for text in statements if "count(" in text and "dcim_interface" in text and "UNION ALL" in text]
    assert len(counting) == 1


def test_numbers_leave_out_what_the_user_may_not_view(
    service: Service, api: Api, make_user: MakeUser, device: str
) -> None:
    own = [("view", "dcim.device"), ("view", "dcim.interface", {"name": "eth1"})]
    page = Browser(service, make_user(*own, password="a password")).get(f"/dcim/devices/{device}/")
    assert "Interfaces 1" in shown_tabs(page)
    assert not any("ports" in title for title in [*shown_tabs(page), *folded_tabs(page)])


def test_counting_stops_at_a_maximum(browser: Browser, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab_links, "MAX_COUNT", 2)
    assert "Interfaces 2+" in shown_tabs(browser.get(f"/dcim/devices/{device}/"))
