"""Accessibility: axe finds no violation on the main pages, in light and dark, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from netinv_core.testing import Service
from tests.support.chromium import PHONE_WIDTH, WIDTH, path_with_ids

pytestmark = [pytest.mark.browser, pytest.mark.any_database]

PAGES = [
    "/",
    "/dcim/devices/",
    "/dcim/devices/?status=active&q=a",
    "/dcim/devices/{dcim.device}/",
    "/dcim/devices/{dcim.device}/interfaces/",
    "/dcim/devices/{dcim.device}/edit/",
    "/dcim/devices/{dcim.device}/delete/",
    "/dcim/sites/{dcim.site}/",
    "/dcim/racks/",
    "/dcim/devices/grid/?per_page=25",
    "/ipam/prefixes/",
    "/ipam/prefixes/add/",
    "/extras/changelog/",
    "/dcim/sites/import/",
    "/system/",
    "/user/profile/",
    "/no/such/page/",
]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [WIDTH, PHONE_WIDTH])
def test_axe_finds_nothing(new_page: Callable[..., Any], demo_service: Service, width: int, dark: bool) -> None:
    page = new_page(width=width, dark=dark)
    violations: list[str] = []
    for path in PAGES:
        page.goto(path_with_ids(demo_service, path))
        for violation in Axe().run(page).response["violations"]:
            targets = [node["target"] for node in violation["nodes"][:3]]
            violations.append(f"{path}: {violation['id']} {targets}")
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if overflow > 0:
            violations.append(f"{path}: {overflow} pixels wider than the window")
    assert violations == [], "\n".join(violations)
