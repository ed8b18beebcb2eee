"""Journeys in a browser: signing in and out, the frame of pages, phones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Service
from netinv_testing.client import PASSWORD
from tests.support.chromium import PHONE_WIDTH, press

pytestmark = [pytest.mark.browser, pytest.mark.any_database]


def sign_in_by_keyboard(page: Any, username: str, password: str) -> None:
    """Types name and password into the form, which has the focus."""
    page.keyboard.type(username)
    press(page, "Tab")
    page.keyboard.type(password)
    press(page, "Enter")


def test_a_visitor_signs_in_by_keyboard_and_lands_where_they_were_going(
    chromium: Any, address: str, demo_service: Service
) -> None:
    account = demo_service.user(superuser=True, password=PASSWORD)
    context = chromium.new_context(base_url=address)
    page = context.new_page()
    page.goto("/dcim/racks/?ordering=-name")
    assert page.url.startswith(f"{address}/login/")
    sign_in_by_keyboard(page, account.username, "wrong")
    page.get_by_role("alert").wait_for()
    assert page.input_value("#username") == account.username
    assert page.evaluate("document.activeElement.id") == "password"
    page.keyboard.type(PASSWORD)
    press(page, "Enter")
    page.wait_for_url(f"{address}/dcim/racks/?ordering=-name")
    context.close()


def test_signing_out_ends_the_session(chromium: Any, address: str, demo_service: Service) -> None:
    account = demo_service.user(superuser=True, password=PASSWORD)
    context = chromium.new_context(base_url=address)
    page = context.new_page()
    page.goto("/login/")
    sign_in_by_keyboard(page, account.username, PASSWORD)
    page.wait_for_url(f"{address}/")
    cookies = context.cookies()
    page.locator(".account summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/login/**")
    context.add_cookies(cookies)
    page.goto("/dcim/sites/")
    assert "/login/" in page.url
    context.close()


def test_the_first_tab_stop_skips_to_the_content(page: Any) -> None:
    page.goto("/dcim/sites/")
    press(page, "Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    press(page, "Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_the_navigation_opens_a_list_by_keyboard(page: Any) -> None:
    page.goto("/")
    page.locator(".rail summary", has_text="IPAM").focus()
    press(page, "Enter")
    press(page, "Tab")
    press(page, "Enter")
    page.wait_for_url("**/ipam/prefixes/")
    assert page.locator("h1").inner_text().startswith("Prefixes")


def racked_devices(service: Service, count: int) -> str:
    """The word that the names of new devices begin with. Each has a rack, a tenant and an address, as those of the demo."""
    api, word = service.api, service.unique()
    site = api.post("/api/dcim/sites/", {"name": word, "slug": word, "status": "active"})["id"]
    maker = api.post("/api/dcim/manufacturers/", {"name": word, "slug": word})["id"]
    body = {
        "site": site,
        "status": "active",
        "rack": api.post("/api/dcim/racks/", {"name": "R101", "site": site, "status": "active"})["id"],
        "tenant": api.post("/api/tenancy/tenants/", {"name": word, "slug": word})["id"],
        "device_role": api.post("/api/dcim/device-roles/", {"name": word, "slug": word})["id"],
        "device_type": api.post(
            "/api/dcim/device-types/", {"manufacturer": maker, "model": "7050SX3-48YC8", "slug": word}
        )["id"],
    }
    names = [f"{word}-sw{number:02}" for number in range(count)]
    devices = api.post("/api/dcim/devices/", [{"name": name, **body} for name in names])
    ports = api.post(
        "/api/dcim/interfaces/",
        [{"device": item["id"], "name": "Management1", "type": "1000base-t", "status": "active"} for item in devices],
    )
    network = service.unique.ipv6()
    addresses = api.post(
        "/api/ipam/ip-addresses/",
        [
            {
                "address": f"{network}::{number:x}/128",
                "status": "active",
                "assigned_object_type": "dcim.interface",
                "assigned_object_id": port["id"],
            }
            for number, port in enumerate(ports, 1)
        ],
    )
    pairs = zip(devices, addresses, strict=True)
    api.patch("/api/dcim/devices/", [{"id": item["id"], "primary_ip6": address["id"]} for item, address in pairs])
    return word


def test_on_a_phone_the_menu_opens_and_rows_are_cards(new_page: Callable[..., Any], demo_service: Service) -> None:
    page = new_page(width=PHONE_WIDTH)
    page.goto(f"/dcim/devices/?name__isw={racked_devices(demo_service, 20)}")
    assert not page.locator("thead th").filter(visible=True).count()  # what is left of the head selects all cards
    cards = page.locator(".list tbody tr")
    assert cards.count() == 20
    assert max(card.bounding_box()["height"] for card in cards.all()) < 110  # values stand beside each other
    page.get_by_role("link", name="Menu").click()
    page.locator(".rail summary", has_text="Racks").click()
    page.locator(".rail").get_by_role("link", name="Racks", exact=True).click()
    page.wait_for_url("**/dcim/racks/")


def test_without_scripts_lists_and_forms_work(new_page: Callable[..., Any]) -> None:
    page = new_page(scripts=False)
    page.goto("/dcim/regions/")
    page.get_by_role("link", name="Add", exact=True).click()
    page.get_by_label("Name").fill("Without scripts")
    page.get_by_role("button", name="Create", exact=True).click()
    assert page.locator("h1").inner_text() == "Without scripts"
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete").click()
    assert page.locator("[data-notice]").inner_text().startswith("Region Without scripts was deleted.")
