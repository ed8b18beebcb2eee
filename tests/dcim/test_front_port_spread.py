"""Front ports created by a pattern, on the positions of rear ports in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from netinv_testing import Api
from netinv_web.testing import Browser, BrowserPage
from tests.support.cabling_fixtures import Plant

pytestmark = pytest.mark.any_database


class Kind(NamedTuple):
    """Front ports of devices or of device types."""

    fronts: str
    rears: str
    parent: str


KINDS = {
    "devices": Kind("front-ports", "rear-ports", "device"),
    "device types": Kind("front-port-templates", "rear-port-templates", "device_type"),
}
NewPanel = Callable[[str, int, int], tuple[str, list[str]]]


@pytest.fixture
def new_panel(api: Api, unique: Any) -> NewPanel:
    """``new_panel(kind, rears, positions)``: the id of a panel or type, and those of its rear ports."""
    plant = Plant(api, unique)

    def make(kind: str, count: int, positions: int) -> tuple[str, list[str]]:
        _, rears, parent = KINDS[kind]
        owner = plant.device() if parent == "device" else plant.hardware["device_type"]
        names = [f"R{number}" for number in range(1, count + 1)]
        bodies = [{parent: owner, "name": name, "type": "lc", "positions": positions} for name in names]
        return owner, [item["id"] for item in api.post(f"/api/dcim/{rears}/", bodies)]

    return make


def previewed(browser: Browser, kind: str, owner: str, rear: str, pattern: str, position: int = 1) -> BrowserPage:
    """The preview of front ports from one rear port on."""
    values = {KINDS[kind].parent: owner, "name": pattern, "type": "lc", "rear_port": rear}
    values["rear_port_position"] = str(position)
    return browser.post(f"/dcim/{KINDS[kind].fronts}/add/", values, status=(200, 422))


def rows_of(page: BrowserPage) -> list[list[str]]:
    """Name, rear port and position of each line of the preview."""
    return [[cell.text for cell in row.select("td")[1:4]] for row in page.html.select("tbody tr")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("rears", "positions", "last"), [(24, 1, ["R24", "1"]), (1, 24, ["R1", "24"]), (2, 12, ["R2", "12"])]
)
def test_front_ports_take_the_positions_in_turn(
    browser: Browser, api: Api, new_panel: NewPanel, kind: str, rears: int, positions: int, last: list[str]
) -> None:
    owner, keys = new_panel(kind, rears, positions)
    page = previewed(browser, kind, owner, keys[0], "F[1-24]")
    shown = rows_of(page)
    assert shown[0] == ["F1", "R1", "1"] and shown[-1] == ["F24", *last]
    query = {f"{KINDS[kind].parent}_id": owner, "limit": 0}
    assert api.get(f"/api/dcim/{KINDS[kind].fronts}/", query)["count"] == 0
    page.form().submit("_several")
    created = api.get(f"/api/dcim/{KINDS[kind].fronts}/", query)["results"]
    mapped = {(item["name"], item["rear_port"]["display"], str(item["rear_port_position"])) for item in created}
    assert mapped == {tuple(row) for row in shown}


def test_they_begin_at_the_chosen_port_and_position(browser: Browser, new_panel: NewPanel) -> None:
    owner, keys = new_panel("devices", 3, 4)
    page = previewed(browser, "devices", owner, keys[1], "F[1-4]", 3)
    assert [row[1:] for row in rows_of(page)] == [["R2", "3"], ["R2", "4"], ["R3", "1"], ["R3", "2"]]


def test_too_few_positions_are_an_error_of_the_rear_port(browser: Browser, new_panel: NewPanel) -> None:
    owner, keys = new_panel("devices", 2, 2)
    page = previewed(browser, "devices", owner, keys[0], "F[1-6]")
    assert (
        page.html.select_one("#error-rear_port").text.strip()
        == "There are 4 positions from here on, for 6 front ports."
    )


def test_a_position_that_is_taken_is_an_error_of_its_line(browser: Browser, api: Api, new_panel: NewPanel) -> None:
    owner, keys = new_panel("devices", 3, 1)
    body = {"device": owner, "name": "old", "type": "lc", "rear_port": keys[1], "rear_port_position": 1}
    api.post("/api/dcim/front-ports/", body)
    page = previewed(browser, "devices", owner, keys[0], "F[1-3]")
    errors = [row.select("td")[-1].text for row in page.html.select("tbody tr")]
    assert [bool(error) for error in errors] == [False, True, False]


def test_a_rear_port_of_another_device_is_refused(browser: Browser, new_panel: NewPanel) -> None:
    owner, _ = new_panel("devices", 2, 1)
    _, others = new_panel("devices", 2, 1)
    page = previewed(browser, "devices", owner, others[0], "F[1-2]")
    assert page.status_int == 422
