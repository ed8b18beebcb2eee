"""Drawings of the paths of cables, on pages and as files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from netinv_testing import Account, Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import PATHS, End, Plant

MAX_STATEMENTS = 22
BOXES = ("/dcim/devices/", "/circuits/circuits/", "/dcim/power-panels/")


@pytest.fixture
def plant(api: Api, unique: Any) -> Plant:
    return Plant(api, unique)


def path_of(end: End) -> str:
    """The path of the page of an end."""
    return f"{PATHS[end.label].removeprefix('/api')}{end.id}/"


def drawn(browser: Browser, end: End) -> Any:
    """The page with the drawing of the path through an end."""
    return browser.get(f"{path_of(end)}trace/", status=200)


def ends_on(page: Any) -> list[str]:
    """The ids of the ends and cables that the drawing shows, from top to bottom."""
    links = [link["href"] for link in page.html.select(".trace-drawing a")]
    return [link.split("/")[-2] for link in links if not link.startswith(BOXES)]


def reasons_on(page: Any) -> list[str]:
    """The sentences that say why the path is not complete."""
    return [item.text for item in page.html.select(".trace-reasons li")]


def key(path: str) -> str:
    return path.split("/")[-2]


def test_a_path_leads_through_panels_by_its_position(browser: Browser, plant: Plant) -> None:
    near, far, left, right = plant.end(), plant.end(), plant.panel(2), plant.panel(2)
    first = plant.cable(near, left.fronts[1], label="A1", color="00ff00", length=5, length_unit="m", type="cat6")
    trunk = plant.cable(left.rear, right.rear, length=250, length_unit="cm")
    last = plant.cable(right.fronts[1], far, length=1, length_unit="m")
    page = drawn(browser, near)
    passed = [near.id, key(first), left.fronts[1].id, left.rear.id, key(trunk), right.rear.id, right.fronts[1].id]
    assert ends_on(page) == [*passed, key(last), far.id]
    assert "The path is complete: 3 cables, 8.5 m." in page.words
    titles = [title.text for title in page.html.select(".trace-drawing a title")]
    assert "Cable A1, CAT6 · 5 m · Connected, colour #00ff00" in titles
    assert [line["stroke"] for line in page.html.select("line.cable[stroke]")] == ["#00ff00"]
    assert len(page.html.select(".trace-words li")) == len(ends_on(page))


def test_every_end_of_a_path_shows_the_same_drawing(browser: Browser, plant: Plant) -> None:
    near, far, left, right = plant.end(), plant.end(), plant.panel(), plant.panel()
    plant.cables((near, left.fronts[0]), (left.rear, right.rear), (right.fronts[0], far))
    whole = ends_on(drawn(browser, far))
    for end in (left.fronts[0], left.rear, right.rear, right.fronts[0]):
        page = drawn(browser, end)
        assert ends_on(page) in (whole, whole[::-1])
        assert [mark.text for mark in page.html.select("text.here")] == [
            browser.get(path_of(end)).html.h1.text.split(" › ")[-1]
        ]


def test_branches_of_a_trunk_follow_each_other(browser: Browser, plant: Plant) -> None:
    near, far, panel = plant.end(), plant.end(), plant.panel(3)
    plant.cable(near, panel.rear)
    cable = plant.cable(panel.fronts[1], far)
    page = drawn(browser, near)
    first, second, third = panel.fronts
    assert ends_on(page)[2:] == [panel.rear.id, first.id, second.id, key(cable), far.id, third.id]
    notes = [note.text for note in page.html.select(".trace-drawing .right")]
    assert notes == ["position 1, no cable is connected", "position 2", "position 3, no cable is connected"]
    assert "it may go on from each of 3 ends" in reasons_on(page)[0]


def test_a_loose_end_says_where_the_path_ends(browser: Browser, api: Api, plant: Plant) -> None:
    near, panel = plant.end(), plant.panel()
    plant.cable(near, panel.fronts[0])
    rear = api.get(panel.rear.path)
    where = f"{rear['device']['display']} {rear['display']}"
    assert reasons_on(drawn(browser, near)) == [f"The path ends at {where}: no cable is connected."]
    assert reasons_on(drawn(browser, panel.rear)) == [f"The path ends at {where}: no cable is connected."]


def test_a_cable_that_is_not_connected_is_named(browser: Browser, plant: Plant) -> None:
    near, far = plant.end(), plant.end()
    plant.cable(near, far, "planned", label="P7")
    page = drawn(browser, near)
    (reason,) = reasons_on(page)
    assert reason.startswith("Paths do not lead through cable P7") and reason.endswith("its status is Planned.")
    assert page.html.select("line.cable.broken")


def test_paths_that_come_back_end(browser: Browser, plant: Plant) -> None:
    left, right = plant.panel(), plant.panel()
    plant.cables((left.fronts[0], right.fronts[0]), (left.rear, right.rear))
    assert "a loop" in " ".join(reasons_on(drawn(browser, left.fronts[0])))


def test_a_circuit_shows_the_path_through_both_of_its_sides(browser: Browser, api: Api, plant: Plant) -> None:
    near, far, (side, other) = plant.end(), plant.end(), plant.circuit()
    plant.cables((near, side), (other, far))
    circuit = api.get(side.path)["circuit"]
    whole = ends_on(drawn(browser, near))
    assert [side.id, other.id] == whole[2:4]
    page = browser.get(f"/circuits/circuits/{circuit['id']}/trace/")
    assert ends_on(page) == whole[::-1] or ends_on(page) == whole
    assert circuit["display"] in [name.text for name in page.html.select(".trace-drawing .name")]


def test_a_circuit_may_lead_into_a_provider_network(browser: Browser, api: Api, plant: Plant, unique: Any) -> None:
    circuit, near, name = plant.new_circuit(), plant.end(), unique()
    network = api.post("/api/circuits/provider-networks/", {"name": name, "slug": name, "provider": plant.provider})
    side = plant.side(circuit, "A")
    body = {"circuit": circuit, "term_side": "Z", "provider_network": network["id"]}
    api.post("/api/circuits/circuit-terminations/", body)
    plant.cable(near, side)
    page = drawn(browser, near)
    assert reasons_on(page) == []
    assert f"The path is complete: 1 cable. It leads into {name}." in page.words


def test_power_and_console_paths_are_drawn_too(browser: Browser, plant: Plant) -> None:
    feed, inlet = plant.feed(), plant.end("dcim.powerport")
    console, server = plant.end("dcim.consoleport"), plant.end("dcim.consoleserverport")
    plant.cables((feed, inlet), (console, server))
    for near, far in ((feed, inlet), (inlet, feed), (console, server), (server, console)):
        assert ends_on(drawn(browser, near))[::2] == [near.id, far.id]


def test_an_end_without_a_cable_has_an_empty_tab_and_no_panel(browser: Browser, plant: Plant) -> None:
    end = plant.end()
    assert "No cable is connected." in drawn(browser, end).words
    assert "trace-drawing" not in browser.get(f"{path_of(end)}?_show=all").text


def test_the_page_of_a_port_has_the_drawing(browser: Browser, plant: Plant) -> None:
    near, panel = plant.end(), plant.panel()
    plant.cable(near, panel.fronts[0])
    for end in (near, panel.fronts[0], panel.rear):
        page = browser.get(f"{path_of(end)}?_show=all")
        assert near.id in ends_on(page)


def test_the_page_of_a_cable_leads_with_the_path_through_it(browser: Browser, plant: Plant) -> None:
    near, far, panel = plant.end(), plant.end(), plant.panel()
    first, last = plant.cable(near, panel.fronts[0]), plant.cable(panel.rear, far)
    for path in (first, last):
        page = browser.get(f"{path.removeprefix('/api')}?_show=all", status=200)
        assert {near.id, key(first), key(last), far.id} <= {*ends_on(page)}
        assert page.html.select_one(".led > .main #panel-trace") is not None


def test_a_cable_without_a_colour_has_no_dot(browser: Browser, plant: Plant) -> None:
    near, far = plant.end(), plant.end()
    plant.cable(near, far)
    fact = browser.get(path_of(near)).html.select_one(".facts [data-field=cable], .facts dd:has(a[href*='/cables/'])")
    assert fact.select_one("a[href*='/cables/']") is not None and fact.select_one("circle") is None


def test_what_the_reader_may_not_view_has_no_name(
    service: Service, api: Api, plant: Plant, make_user: Callable[..., Account]
) -> None:
    near, far, panel = plant.end(), plant.end(), plant.panel()
    plant.cable(near, panel.fronts[0], label="SECRET")
    plant.cable(panel.rear, far)
    user = make_user(("view", "dcim.device"), password=PASSWORD)
    service.permit("view", "dcim.interface", {"id": near.id}, users=[user.id])
    reader = Browser(service, user)
    page = drawn(reader, near)
    assert ends_on(page) == [near.id]
    hidden = [text.text for text in page.html.select("text.hidden")]
    assert hidden == ["hidden cable", "hidden", "hidden", "hidden cable", "hidden"]
    names = [api.get(end.path)["display"] for end in (panel.fronts[0], panel.rear, far)]
    files = reader.get(f"{path_of(near)}trace.svg").text
    for text in (page.text, files):
        assert "SECRET" not in text
        assert not [name for name in names[1:] if name in text]
    reader.get(f"{path_of(far)}trace.svg", status=404)
    reader.get(f"{path_of(panel.rear)}trace.svg", status=403)


def test_the_file_stands_alone(browser: Browser, plant: Plant) -> None:
    near, far = plant.end(), plant.end()
    cable = plant.cable(near, far, label='"><script>alert(1)</script>')
    answer = browser.get(f"{path_of(near)}trace.svg")
    assert answer.content_type == "image/svg+xml"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    tree = ElementTree.fromstring(answer.text)
    assert tree.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in answer.text and "<script" not in answer.text
    links = [link.get("href") for link in tree.iter("{http://www.w3.org/2000/svg}a")]
    assert f"http://localhost/dcim/cables/{key(cable)}/" in links


@pytest.mark.parametrize("kind", ["not-an-id", "00000000-0000-4000-8000-000000000000"])
def test_a_file_of_no_end_is_not_found(browser: Browser, kind: str) -> None:
    browser.get(f"/dcim/interfaces/{kind}/trace.svg", status=404)


def test_statements_do_not_grow_with_the_branches(service: Service, browser: Browser, plant: Plant) -> None:
    counts = []
    for positions in (2, 12):
        near, panel = plant.end(), plant.panel(positions)
        plant.cable(near, panel.rear)
        plant.cables(*zip(panel.fronts, plant.ends("dcim.interface", positions), strict=True))
        drawn(browser, near)
        with service.statements() as statements:
            drawn(browser, near)
        counts.append(len(statements))
    assert counts[0] == counts[1] <= MAX_STATEMENTS
