"""Layout: pages stay whole with any text, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.chromium import PHONE_WIDTH, WIDTH

pytestmark = [pytest.mark.browser, pytest.mark.any_database]

LONG = "W" * 255
HOSTILE = [
    "<script>alert(1)</script>",
    '"onmouseover="alert(1)',
    "\u202eabc\u200fdef",
    "\U0001f469\u200d\U0001f4bb{{ 7*7 }}{% raw %}${x}",
]
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="session")
def named(demo_service: Service) -> Any:
    """A site, a device with cabled ports, a tag and a custom field with the longest names, and sites with hostile ones."""
    api = demo_service.api
    types = ["dcim.site", "dcim.device"]
    tag = api.post("/api/extras/tags/", {"name": LONG[:100], "slug": "long", "color": "aa0000", "content_types": types})
    api.post(
        "/api/extras/custom-fields/",
        {"name": "long", "slug": "long", "label": LONG[:50], "type": "text", "content_types": types},
    )
    texts = {
        "facility": LONG[:50],
        "physical_address": LONG[:200],
        "comments": LONG,
        "custom_fields": {"long": LONG},
        "tags": [tag["id"]],
    }
    site = api.post("/api/dcim/sites/", {"name": LONG[:100], "slug": "long", "status": "active", **texts})
    other = api.get("/api/dcim/devices/", {"limit": 1})["results"][0]
    kind = {name: other[name]["id"] for name in ("device_type", "device_role")}
    device = api.post(
        "/api/dcim/devices/", {"name": LONG[:64], "site": site["id"], "status": "active", "tags": [tag["id"]], **kind}
    )
    ports = [
        api.post(
            "/api/dcim/interfaces/", {"device": device["id"], "name": name, "type": "1000base-t", "status": "active"}
        )
        for name in (LONG[:64], f"{LONG[:63]}2")
    ]
    ends = {f"termination_{side}_id": port["id"] for side, port in zip("ab", ports, strict=True)}
    kinds = {f"termination_{side}_type": "dcim.interface" for side in "ab"}
    cable = api.post("/api/dcim/cables/", {"status": "connected", "color": "aa0000", **ends, **kinds})
    for number, text in enumerate(HOSTILE):
        body = {
            "name": text,
            "slug": f"hostile-{number}",
            "status": "active",
            "facility": text,
            "contact_name": text,
            "comments": text,
        }
        api.post("/api/dcim/sites/", body)
    cabled = [f"/dcim/interfaces/{ports[0]['id']}/", f"/dcim/cables/{cable['id']}/"]
    return f"/dcim/sites/{site['id']}/", f"/dcim/devices/{device['id']}/", f"/extras/tags/{tag['id']}/", *cabled


@pytest.mark.parametrize("width", [WIDTH, PHONE_WIDTH])
def test_no_page_is_wider_than_the_window_with_the_longest_names(
    new_page: Callable[..., Any], named: tuple[str, ...], width: int
) -> None:
    page = new_page(width=width)
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    site, device, tag, port, cable = named
    forms = [f"{site}edit/", f"{site}delete/", f"{site}changelog/", f"{device}edit/", f"{device}delete/"]
    lists = ["/", "/dcim/sites/", f"/dcim/sites/?name={LONG[:100]}", "/extras/tags/", "/extras/changelog/"]
    wide = []
    for path in [site, device, tag, port, cable, *forms, *lists, f"/search/?q={LONG[:20]}"]:
        page.goto(path, wait_until="networkidle")
        if page.evaluate(OVERFLOW) > 0:
            wide.append(path)
    assert wide == []


def test_on_a_phone_the_menus_of_pages_stay_within_the_window(
    new_page: Callable[..., Any], named: tuple[str, ...]
) -> None:
    """Those of a list, and of objects whose buttons take several lines."""
    page, opened = new_page(width=PHONE_WIDTH), 0
    page.goto("/dcim/devices/?status=active&q=a")
    assert page.locator("#list-search").bounding_box()["width"] > PHONE_WIDTH / 2
    for path in ("/dcim/devices/?status=active&q=a", *named):
        page.goto(path, wait_until="networkidle")
        menus = page.locator("details.dropdown > summary:visible")
        for menu in menus.all():
            menu.click()
            panel = menu.locator("xpath=following-sibling::*").bounding_box()
            assert panel["x"] >= 0 and panel["x"] + panel["width"] <= PHONE_WIDTH, (path, menu.inner_text())
            assert page.evaluate(OVERFLOW) <= 0, (path, menu.inner_text())
            menu.click()
            opened += 1
    assert opened > 10


def test_the_preview_of_an_import_covers_nothing_and_uses_the_width(new_page: Callable[..., Any]) -> None:
    for width in (WIDTH, PHONE_WIDTH):
        page = new_page(width=width)
        page.goto("/tenancy/tenants/import/")
        page.get_by_label("Rows").fill(
            "name,slug,group\n" + "".join(f"New {n},new-{n},no-such-group\n" for n in range(5))
        )
        page.get_by_role("button", name="Preview").click()
        table = page.locator("table.preview >> visible=true").first
        table.wait_for()
        end = table.evaluate(
            "table => [table.scrollHeight - table.offsetHeight, table.offsetWidth / table.parentElement.clientWidth]"
        )
        assert end[0] <= 1
        assert end[1] > 0.9


def test_the_names_of_columns_of_an_import_are_on_one_line(new_page: Callable[..., Any]) -> None:
    for width in (WIDTH, PHONE_WIDTH):
        page = new_page(width=width)
        page.goto("/dcim/device-types/import/")
        names = page.locator(".column-help th code")
        assert names.count() > 5
        assert names.evaluate_all("all => all.filter((name) => name.getClientRects().length > 1).length") == 0


@pytest.mark.parametrize("width", [WIDTH, PHONE_WIDTH])
@pytest.mark.parametrize("path", ["/dcim/rack-elevations/?_plan=1&site=nowhere", "/dcim/devices/?site=nowhere"])
def test_a_filter_that_is_refused_is_named_on_one_line(new_page: Callable[..., Any], path: str, width: int) -> None:
    page = new_page(width=width)
    page.goto(path)
    chip = page.locator(".chip.invalid")
    label, remove = chip.locator(":scope > *").first.bounding_box(), chip.locator(".remove").bounding_box()
    assert chip.locator(":scope > *").first.inner_text().split()[-2:] == ["is", "nowhere"]
    assert label["height"] < 30 and abs(label["y"] - remove["y"]) < 10
    assert page.evaluate(OVERFLOW) <= 0


LABELS = """() => [...document.querySelectorAll(".list tbody td.number")]
  .map((cell) => getComputedStyle(cell, "::before").content)"""


def test_numbers_of_a_list_have_their_labels_on_a_phone(new_page: Callable[..., Any]) -> None:
    path = "/dcim/device-roles/"
    page = new_page(width=PHONE_WIDTH)
    page.goto(path)
    assert set(page.evaluate(LABELS)) == {'"Devices: "', '"Virtual machines: "'}
    page = new_page(width=WIDTH)
    page.goto(path)
    assert set(page.evaluate(LABELS)) == {"none"}
