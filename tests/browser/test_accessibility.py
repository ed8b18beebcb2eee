"""Accessibility: axe finds no violation on the main pages, in light and dark, on a desk and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from netinv_testing import Service
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
    "/dcim/rack-elevations/?_face=both",
    "/dcim/rack-elevations/?_plan=1&_select={dcim.device}",
    "/dcim/front-ports/{dcim.frontport}/trace/",
    "/dcim/cables/connect/?a_of={dcim.device}",
    "/dcim/cabling/?left=dcim.device:{dcim.device}&right=dcim.device:{dcim.device}&_pairing=order",
    "/dcim/cables/move/?pk={dcim.cable}",
    "/dcim/cables/insert-panel/?pk={dcim.cable}&to_of={dcim.device}",
    "/dcim/device-types/{dcim.devicetype}/apply/",
    "/dcim/interfaces/{dcim.interface}/assign-address/",
    "/dcim/devices/grid/?per_page=25",
    "/ipam/prefixes/",
    "/ipam/prefixes/add/",
    "/ipam/prefixes/tree/?open={ipam.prefix}",
    "/ipam/prefixes/{ipam.prefix}/?_show=all",
    "/ipam/prefixes/{ipam.prefix}/split/",
    "/ipam/prefixes/{ipam.prefix}/merge/",
    "/ipam/prefixes/{ipam.prefix}/move/",
    "/ipam/prefixes/{ipam.prefix}/next-prefix/",
    "/ipam/vlans/{ipam.vlan}/?_show=all",
    "/ipam/vlans/{ipam.vlan}/interfaces/",
    "/ipam/vlan-groups/{ipam.vlangroup}/",
    "/extras/changelog/",
    "/extras/export-templates/{extras.exporttemplate}/",
    "/extras/config-contexts/{extras.configcontext}/",
    "/extras/change-requests/",
    "/dcim/interfaces/{dcim.interface}/?_show=all",
    "/dcim/devices/{dcim.device}/console-ports/",
    "/virtualization/virtual-machines/{virtualization.virtualmachine}/vm-interfaces/",
    "/circuits/circuits/{circuits.circuit}/?_show=all",
    "/dcim/sites/import/",
    "/system/",
    "/user/profile/",
    "/no/such/page/",
]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [WIDTH, PHONE_WIDTH])
def test_axe_finds_nothing(new_page: Callable[..., Any], demo_service: Service, width: int, dark: bool) -> None:
    page = new_page(width=width, dark=dark)
    gone = demo_service.api.post("/api/dcim/sites/", {"name": demo_service.unique(), "status": "active"})
    demo_service.api.delete(f"/api/dcim/sites/{gone['id']}/")  # its name is text in the change log
    lacking = {"device_type": path_with_ids(demo_service, "{dcim.devicetype}"), "name": demo_service.unique()}
    demo_service.api.post("/api/dcim/interface-templates/", {**lacking, "type": "other"})
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


# Problems of headings and landmarks: a level that is left out, and landmarks of a kind without different names.
STRUCTURE = """() => {
  const found = [], landmarks = {};
  const titles = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((title) => title.checkVisibility());
  titles.forEach((title, place) => {
    if (title.tagName[1] > (place ? +titles[place - 1].tagName[1] : 0) + 1) found.push(`${title.tagName} ${title.textContent}`);
  });
  for (const part of document.querySelectorAll("nav, aside, [role=region], [role=search], [role=log]")) {
    if (part.checkVisibility()) (landmarks[part.getAttribute("role") ?? part.tagName] ??= []).push(part.ariaLabel ?? "");
  }
  for (const [kind, names] of Object.entries(landmarks)) {
    if (names.length > 1 && (names.includes("") || new Set(names).size < names.length)) found.push(`${kind}: ${names}`);
  }
  return found;
}"""
# Widgets without a name in the accessibility tree.
UNNAMED = re.compile(
    r"^\s*- (button|link|textbox|combobox|checkbox|radio|searchbox|spinbutton|listbox|img|region)( \[.*\])?:?$"
)


def test_widgets_have_names_and_headings_are_in_order(page: Any, demo_service: Service) -> None:
    found: list[str] = []
    for path in [*PAGES, "/search/?q=lis", "/dcim/racks/{dcim.rack}/", "/user/api-tokens/", "/graphql/"]:
        page.goto(path_with_ids(demo_service, path), wait_until="networkidle")
        tree = page.locator("body").aria_snapshot()
        found += [f"{path}: {line}" for line in tree.splitlines() if UNNAMED.match(line)]
        found += [f"{path}: {problem}" for problem in page.evaluate(STRUCTURE)]
    assert found == []


def test_the_title_of_a_tab_begins_with_its_name_and_its_count_is_read_out(page: Any, demo_service: Service) -> None:
    path = path_with_ids(demo_service, "/dcim/devices/{dcim.device}/interfaces/")
    page.goto(path, wait_until="networkidle")
    assert page.title().startswith("Interfaces · ")
    count = page.locator("main").get_by_role("status")
    assert int(count.inner_text()) > 1
    page.goto(f"{path}?name=no-such-interface")
    assert count.inner_text() == "0"
