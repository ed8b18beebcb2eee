"""Screenshots of the main pages, for README and docs: ``pytest tests/browser --screenshots docs/images``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.chromium import PHONE_WIDTH, WIDTH, path_with_ids

pytestmark = [pytest.mark.browser, pytest.mark.any_database]

MIN_SIZE = 5_000  # bytes; an empty page has less
PAGES = [
    ("home", "/", WIDTH, False),
    ("devices", "/dcim/devices/?status=active", WIDTH, False),
    ("devices-dark", "/dcim/devices/", WIDTH, True),
    ("device", "/dcim/devices/{dcim.device}/", WIDTH, False),
    ("device-phone", "/dcim/devices/{dcim.device}/", PHONE_WIDTH, False),
    ("edit", "/dcim/devices/{dcim.device}/edit/", WIDTH, False),
    ("prefix", "/ipam/prefixes/{ipam.prefix}/", WIDTH, False),
    ("history", "/extras/changelog/", WIDTH, False),
    ("import", "/dcim/sites/import/", WIDTH, False),
    ("api", "/api/dcim/sites/?limit=2", WIDTH, False),
]


@pytest.mark.parametrize(("name", "path", "width", "dark"), PAGES, ids=[page[0] for page in PAGES])
def test_the_page_is_drawn(
    new_page: Callable[..., Any], demo_service: Service, screenshots: Path, name: str, path: str, width: int, dark: bool
) -> None:
    page = new_page(width=width, dark=dark)
    response = page.goto(path_with_ids(demo_service, path), wait_until="networkidle")
    assert response.status == 200
    file = screenshots / f"{name}.png"
    page.screenshot(path=file)
    assert file.stat().st_size > MIN_SIZE
