"""Values changed in a list: in the place of a cell, and in the grid, in a browser without scripts."""

from __future__ import annotations

from netinv_core.testing import Api, Service
from netinv_core.testing.client import PASSWORD
from netinv_web.testing import Browser


def test_columns_that_can_be_changed_in_their_place_name_their_field(
    browser: Browser, service: Service, api: Api
) -> None:
    """For users who may change the objects."""
    path = "/dcim/sites/?_columns=status,region,rack_count"
    api.post("/api/dcim/sites/", {"name": service.unique(), "status": "active"})
    page = browser.get(path)
    assert page.html.select_one("table.list")["data-inline"] == "/dcim/sites/"
    assert [item.get("data-field") for item in page.html.select("th[scope=col]")] == ["name", "status", "region", None]
    reader = service.user(("view", "dcim.site"), password=PASSWORD)
    page = Browser(service, reader).get(path)
    assert [item.get("data-field") for item in page.html.select("th[scope=col]")] == [None] * 4
