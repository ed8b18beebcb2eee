"""Accessibility of the pages of packages: axe finds no violation, and nothing is wider than the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from netinv_testing import Case, Service
from plugins.conftest import PACKAGES
from tests.support.chromium import HEIGHT, PHONE_WIDTH, WIDTH

pytestmark = [pytest.mark.browser, pytest.mark.any_database]

# Each page is seen in light and dark and in both widths, the next page in the other pairs of them.
LOOKS = [((WIDTH, "light"), (PHONE_WIDTH, "dark")), ((WIDTH, "dark"), (PHONE_WIDTH, "light"))]


@pytest.fixture(scope="session")
def demo_service(service: Service) -> Service:
    """The service of the other tests of packages, without the demo inventory."""
    return service


def pages_of(service: Service, package: str) -> Iterator[str]:
    """The paths of the list, of an object and of its form, for each resource of a package."""
    for endpoint in list(service.registry.endpoints.values()):
        if endpoint.label.startswith(package):
            item = Case(service, endpoint.label).make()
            path = endpoint.path.removeprefix("/api")
            yield from (path, f"{path}{item['id']}/?_show=all", f"{path}{item['id']}/edit/")


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.night
def test_axe_finds_nothing(new_page: Callable[..., Any], service: Service, package: str) -> None:
    page, axe = new_page(), Axe()
    paths = list(pages_of(service, package))
    assert paths
    found: list[str] = []
    for number, path in enumerate(paths):
        page.goto(path)
        for width, scheme in LOOKS[number % 2]:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            page.emulate_media(color_scheme=scheme)
            where = f"{path}, {width} pixels, {scheme}"
            for violation in axe.run(page, context="main").response["violations"]:
                found.append(f"{where}: {violation['id']} {[node['target'] for node in violation['nodes'][:3]]}")
            overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            found += [f"{where}: {overflow} pixels wider than the window"] if overflow > 0 else []
    assert found == [], "\n".join(found)
