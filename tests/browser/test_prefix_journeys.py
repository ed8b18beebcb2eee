"""The tree and the page of prefixes in a browser: by keys alone, in few actions, and they fit the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.chromium import press

pytestmark = [pytest.mark.browser, pytest.mark.any_database]


@pytest.fixture
def tree(demo_service: Service, unique: Callable[[], str]) -> str:
    """The path of the tree of a VRF with a container and a network in it."""
    api = demo_service.api
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})["id"]
    for network, status in (("10.90.0.0/16", "container"), ("10.90.0.0/17", "active"), ("10.90.192.0/18", "active")):
        api.post("/api/ipam/prefixes/", {"prefix": network, "status": status, "vrf": vrf})
    return f"/ipam/prefixes/tree/?vrf={vrf}"


def test_a_level_is_opened_and_closed_by_keys(page: Any, tree: str) -> None:
    page.goto(tree)
    page.get_by_label("Close 10.90.0.0/16").focus()
    press(page, "Enter")
    page.get_by_label("Open 10.90.0.0/16").focus()
    assert page.locator("tr[data-depth]").count() == 1
    press(page, "Enter")
    page.get_by_label("Close 10.90.0.0/16").wait_for()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_tree_fits_the_window(
    new_page: Callable[..., Any], demo_service: Service, screenshots: Path, width: int, dark: bool
) -> None:
    containers = demo_service.api.get("/api/ipam/prefixes/", {"status": "container", "vrf_id": "null", "limit": 3})
    opened = "&".join(f"open={item['id']}" for item in containers["results"])
    page = new_page(width=width, dark=dark)
    page.goto(f"/ipam/prefixes/tree/?{opened}")
    page.screenshot(path=screenshots / f"tree-{width}-{'dark' if dark else 'light'}.png")
    assert page.locator('tr[data-depth="1"]').count() > 0
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_the_next_free_prefix_takes_two_actions_from_the_tree(page: Any, tree: str) -> None:
    page.goto(tree)
    page.get_by_label("Next free prefix in 10.90.0.0/16").click()
    page.get_by_role("button", name="Allocate 10.90.128.0/24").click()
    page.get_by_text("10.90.128.0/24 was allocated.").wait_for()


def test_a_free_address_of_the_grid_leads_to_its_form(page: Any, demo_service: Service) -> None:
    body = {"prefix": "10.91.0.0/24", "status": "active"}
    key = demo_service.api.post("/api/ipam/prefixes/", body)["id"]
    page.goto(f"/ipam/prefixes/{key}/")
    page.get_by_label("10.91.0.9: free").click()
    page.wait_for_url("**/ip-addresses/add/**")
    assert page.get_by_label("Address", exact=False).first.input_value() == "10.91.0.9/24"


def test_a_split_is_previewed_and_made_by_keys(page: Any, tree: str) -> None:
    page.goto(tree)
    page.get_by_role("link", name="10.90.0.0/16", exact=True).click()
    page.get_by_text("Actions", exact=True).press("Enter")
    page.get_by_role("link", name="Split").press("Enter")
    page.get_by_role("cell", name="exists").wait_for()
    page.get_by_role("button", name="Split").press("Enter")
    page.get_by_text("10.90.0.0/16 was split: 1 new prefix.").wait_for()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 1000, 768, 390])
def test_the_page_of_a_prefix_fits_the_window(
    new_page: Callable[..., Any], demo_service: Service, screenshots: Path, width: int, dark: bool
) -> None:
    (prefix,) = demo_service.api.get("/api/ipam/prefixes/", {"prefix": "10.255.0.0/24"})["results"]
    page = new_page(width=width, dark=dark)
    page.goto(f"/ipam/prefixes/{prefix['id']}/")
    page.locator("#panel-level table").wait_for()
    page.screenshot(path=screenshots / f"prefix-{width}-{'dark' if dark else 'light'}.png", full_page=True)
    assert page.locator("#panel-grid svg a").count() > 200
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_a_prefix_begins_with_its_space(
    new_page: Callable[..., Any], demo_service: Service, width: int
) -> None:
    (prefix,) = demo_service.api.get("/api/ipam/prefixes/", {"prefix": "10.255.0.0/24"})["results"]
    page = new_page(width=width)
    page.goto(f"/ipam/prefixes/{prefix['id']}/")
    page.locator("#panel-level table").wait_for()
    tops = {
        name: page.locator(selector).first.bounding_box()["y"]
        for name, selector in (("bar", "#panel-utilization"), ("children", "#panel-level"), ("facts", ".facts .panel"))
    }
    assert tops["bar"] <= tops["children"] + 1 < tops["facts"]


# Parts of the map whose text is cut, or that are too small to be hit.
ILLEGIBLE = """() => [...document.querySelectorAll(".vlan-ids ul li > *")].filter((part) => {
  const box = part.getBoundingClientRect();
  return part.scrollWidth > part.clientWidth + 1 || box.width < 24 || box.height < 20;
}).map((part) => part.textContent)"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_each_number_of_a_vlan_group_is_legible_and_reached_by_keys(
    new_page: Callable[..., Any], demo_service: Service, screenshots: Path, width: int, dark: bool
) -> None:
    group = demo_service.api.get("/api/ipam/vlan-groups/", {"limit": 1})["results"][0]
    page = new_page(width=width, dark=dark)
    page.goto(f"/ipam/vlan-groups/{group['id']}/", wait_until="networkidle")
    page.screenshot(path=screenshots / f"vlan-group-{width}-{'dark' if dark else 'light'}.png", full_page=True)
    assert page.evaluate(ILLEGIBLE) == []
    used = page.locator(".vlan-ids .id-used a")
    page.locator(".vlan-ids .id-free a").first.focus()
    press(page, "Tab")
    assert used.first.evaluate("(link) => link === document.activeElement")
    press(page, "Enter")
    page.wait_for_url("**/ipam/vlans/**")
