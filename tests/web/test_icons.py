"""Icons: one static file with a symbol for each icon that pages refer to; those of packages too."""

from __future__ import annotations

import pytest
import webtest

from netinv_testing import Service
from netinv_web.testing import Browser

pytestmark = pytest.mark.any_database
YEAR = 365 * 86400  # seconds


def icons_of(browser: Browser, path: str) -> tuple[str, set[str]]:
    """The file that the icons of a page refer to, and their names."""
    addresses = [str(use["href"]).partition("#") for use in browser.get(path).html.select("svg.icon use")]
    (file,) = {address[0] for address in addresses}
    return file, {address[2] for address in addresses}


def test_pages_refer_to_icons_in_one_file_that_browsers_keep(browser: Browser) -> None:
    file, of_home = icons_of(browser, "/")
    same_file, of_list = icons_of(browser, "/tenancy/tenants/")
    assert file == same_file and {"share", "user-circle"} <= of_home and {"arrow-up-tray", "bookmark"} <= of_list
    answer = browser.get(file)
    assert all(f'<symbol id="{name}"' in answer.text for name in of_home | of_list)
    assert answer.content_type == "image/svg+xml"
    assert answer.headers["Cache-Control"] == f"max-age={YEAR}, public"
    browser.get(file, headers={"If-None-Match": answer.headers["ETag"]}, status=304)


def test_everybody_gets_the_icons_and_nobody_posts_to_them(service: Service, browser: Browser) -> None:
    file, _ = icons_of(browser, "/")
    visitor = webtest.TestApp(service.app)
    assert visitor.get(file).body.startswith(b"<svg")
    assert visitor.head(file).body == b""
    visitor.post(file, status=(404, 405))


def test_icons_of_packages_are_in_the_file(browser: Browser) -> None:
    """The example plugin declares its icon with the section of the navigation."""
    _, names = icons_of(browser, "/plugins/example/maintenance-windows/")
    assert "puzzle-piece" in names


def test_an_icon_that_only_a_view_knows_is_drawn_in_its_place(service: Service) -> None:
    icon = service.app.registry.netinv_icons.icon
    assert "<use" in icon("plus") and "<path" not in icon("plus")
    assert "<path" in icon("rocket-launch") and "<use" not in icon("rocket-launch")
    assert "<path" in icon("no-icon-of-the-set")


def test_the_file_has_the_icons_of_templates_and_no_others(service: Service, browser: Browser) -> None:
    """Each costs the first page about 150 compressed bytes."""
    file, _ = icons_of(browser, "/")
    symbols = browser.get(file).text.count("<symbol ")
    assert 20 <= symbols <= 60
