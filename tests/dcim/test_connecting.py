"""The page that connects a port: ports of two devices beside each other, without scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import End, Plant

PATH = "/dcim/cables/connect/"
MAX_STATEMENTS = 40


@pytest.fixture
def plant(api: Api, unique: Any) -> Plant:
    return Plant(api, unique)


def text(end: End) -> str:
    """A port as the query names it."""
    return f"{end.label}:{end.id}"


def side(page: Any, name: str) -> Any:
    """A side of the page."""
    return page.html.select_one(f'section.side:has(input[name="{name}_was"])')


def offered(page: Any, name: str) -> dict[str, str]:
    """The verdicts of the page on the ports of a side, by id: ``free``, or the reason why a port does not fit."""
    return {
        label.select_one("input")["value"].partition(":")[2]: label.select_one(".why").text
        for label in side(page, name).select("label.port")
    }


def chosen(page: Any, name: str) -> str:
    """The id of the port that is chosen on a side."""
    found = page.html.select_one(f'input[name="{name}"][checked]')
    return str(found["value"]).partition(":")[2] if found else ""


def device_of(api: Api, end: End) -> Any:
    return api.get(end.path)["device"]


def test_a_port_is_connected_in_steps_without_an_id(browser: Browser, api: Api, plant: Plant) -> None:
    near, far = plant.end(), plant.end()
    host = device_of(api, far)
    page = browser.get(next(link for link in browser.get(f"/dcim/interfaces/{near.id}/").links() if PATH in link))
    assert chosen(page, "a") == near.id
    form = page.form()
    if "_text_b_of" in form.fields:
        form["_text_b_of"] = host["display"]
    else:
        form["b_of"] = host["id"]
    form["label"] = "kept"
    page = browser.get(PATH, form.submit_fields())
    assert chosen(page, "b") == far.id and page.form()["label"].value == "kept"
    form = page.form()
    form["type"], form["color"], form["length"], form["length_unit"] = "cat6a", "#00ff00", "3", "m"
    done = form.submit(status=303).follow()
    assert f"/dcim/interfaces/{near.id}/" in done.request.url and f"{host['display']} › " in done.words
    cable = api.get(f"/api/dcim/cables/{api.get(near.path)['cable']['id']}/")
    assert (cable["termination_b_id"], cable["label"], cable["color"]) == (far.id, "kept", "00ff00")
    assert (cable["type"], cable["length"], cable["status"]["value"]) == ("cat6a", 3, "connected")


def test_ports_that_do_not_fit_say_why(browser: Browser, api: Api, plant: Plant) -> None:
    panel, begun = plant.panel(2), plant.end()
    taken, peer = plant.end(device=panel.device), plant.end()
    plant.cable(taken, peer)
    virtual = plant.end(device=panel.device, type="virtual")
    power = plant.end("dcim.powerport", panel.device)
    free = plant.end(device=panel.device)
    page = browser.get(PATH, {"a": text(begun), "b_of": panel.device})
    why = offered(page, "b")
    assert why[free.id] == why[panel.rear.id] == why[panel.fronts[1].id] == "free"
    peer_name = f"{device_of(api, peer)['display']} › {api.get(peer.path)['display']}"
    assert why[taken.id] == f"connected to {peer_name}"
    assert virtual.id not in why
    assert "1 is not listed: Cables cannot be terminated to Virtual interfaces." in page.words
    assert why[power.id] == "no cable leads from an interface to a power port"
    page = browser.get(PATH, {"a": text(panel.fronts[0]), "b_of": panel.device})
    why = offered(page, "b")
    assert why[panel.fronts[0].id] == "the port itself"
    assert why[panel.rear.id].startswith("A front port cannot be connected to")
    assert page.html.select_one(f'input[value="{text(panel.rear)}"][name="b"]').has_attr("disabled")


@pytest.mark.night
def test_what_the_page_offers_is_what_the_write_path_takes(browser: Browser, api: Api, plant: Plant) -> None:
    panel = plant.panel(12)
    ends = [plant.end(label) for label in ("dcim.consoleport", "dcim.consoleserverport", "dcim.poweroutlet")]
    ends += [plant.end("dcim.rearport", positions=4), plant.end(), panel.rear, panel.fronts[2], plant.circuit()[0]]
    for a in ends:
        for b in ends[:-1]:
            why = offered(browser.get(PATH, {"a": text(a), "b_of": device_of(api, b)["id"]}), "b")[b.id]
            answer = api.post("/api/dcim/cables/?dry_run=true", plant.body(a, b), status=None)
            assert (why == "free") == ("termination_a_id" in str(answer) and "display" in str(answer)), (
                a,
                b,
                why,
                answer,
            )


def test_next_goes_on_with_the_next_free_ports_and_the_same_cable(browser: Browser, api: Api, plant: Plant) -> None:
    left, right = plant.device(), plant.device()
    near = plant.ends("dcim.interface", 3, left)
    far = plant.ends("dcim.interface", 4, right)
    plant.cable(far[1], plant.end())
    form = browser.get(PATH, {"a": text(near[0]), "b": text(far[0])}).form()
    form["type"], form["label"], form["color"] = "smf", "A-009", "#ff0000"
    page = form.submit("_then", value="next", status=303).follow()
    assert (chosen(page, "a"), chosen(page, "b")) == (near[1].id, far[2].id)
    form = page.form()
    assert (form["type"].value, form["label"].value, form["color"].value) == ("smf", "A-010", "#ff0000")
    page = form.submit("_then", value="next", status=303).follow()
    assert (chosen(page, "a"), chosen(page, "b")) == (near[2].id, far[3].id)
    assert api.get(near[1].path)["cable_peer"]["id"] == far[2].id


def test_several_ports_are_connected_one_after_the_other(browser: Browser, api: Api, plant: Plant) -> None:
    near, far = plant.ends("dcim.interface", 2), plant.ends("dcim.interface", 3)
    query = [("a", text(end)) for end in near] + [("b_of", device_of(api, far[0])["id"])]
    page = browser.get(PATH, query)
    assert "1 waiting" in page.words
    page = page.form().submit("_then", value="next", status=303).follow()
    assert (chosen(page, "a"), chosen(page, "b")) == (near[1].id, far[1].id)
    assert "waiting" not in page.words


def test_through_a_panel_one_goes_on_at_its_other_side(browser: Browser, plant: Plant) -> None:
    near, panel = plant.end(), plant.panel()
    page = browser.get(PATH, {"a": text(near), "b_of": panel.device})
    assert chosen(page, "b") == panel.fronts[0].id
    page = page.form().submit("_then", value="on", status=303).follow()
    assert chosen(page, "a") == panel.rear.id
    other = plant.panel()
    page = browser.get(PATH, {"a": text(panel.rear), "b_of": other.device})
    assert chosen(page, "b") == other.rear.id  # of a panel, the same side
    page = page.form().submit("_then", value="on", status=303).follow()
    assert chosen(page, "a") == other.fronts[0].id


@pytest.mark.parametrize(("near", "far"), [("dcim.interface", 0), ("dcim.consoleserverport", 1)])
def test_behind_panels_a_port_is_offered_that_the_other_end_of_the_path_can_be_connected_to(
    browser: Browser, plant: Plant, near: str, far: int
) -> None:
    """A switch has its console port before its interfaces; a console server leads to the former."""
    begin, panels = plant.end(near), [plant.panel(), plant.panel()]
    plant.cables((begin, panels[0].fronts[0]), (panels[0].rear, panels[1].rear))
    switch = plant.device()
    console = plant.end("dcim.consoleport", switch)
    ports = [plant.end(device=switch), console]
    page = browser.get(PATH, {"a": text(panels[1].fronts[0]), "b_of": switch})
    assert chosen(page, "b") == ports[far].id
    assert set(offered(page, "b").values()) == {"free"}
    page.form().submit(status=303)
    assert plant.leads_to(begin) == (ports[far], True)


def test_connections_have_no_cells_of_fields_that_they_lack(browser: Browser, plant: Plant) -> None:
    near, far = plant.end(), plant.end()
    plant.cable(near, far)
    page = browser.get("/dcim/interface-connections/")
    assert page.html.select("tbody tr") and not page.html.select("table .failure") and "failed" not in page.words
    assert not page.html.select("#columns input[value=tagged_vlans]")
    names = {item["value"] for item in browser.get("/dcim/interfaces/").html.select("#columns input[name=_columns]")}
    assert "tagged_vlans" in names and "name" not in names  # the name is the first column already


def test_adding_a_cable_is_this_page_with_both_sides_empty(browser: Browser, plant: Plant) -> None:
    assert "/dcim/cables/add/" in browser.get("/dcim/cables/").links()
    page = browser.get("/dcim/cables/add/")
    assert page.html.h1.text == "Connect" and offered(page, "a") == offered(page, "b") == {}
    assert page.form().action == PATH
    end = plant.end()
    old = browser.get("/dcim/cables/add/", {"termination_a_type": end.label, "termination_a_id": end.id})
    assert chosen(old, "a") == end.id


@pytest.mark.night
def test_circuits_and_power_feeds_have_ports_too(browser: Browser, api: Api, plant: Plant) -> None:
    (a, _), interface = plant.circuit(), plant.end()
    circuit = api.get(a.path)["circuit"]
    page = browser.get(PATH, {"a": text(interface), "b_in": "circuits.circuit", "b_of": circuit["id"]})
    assert chosen(page, "b") == a.id and "side A" in side(page, "b").text
    page.form().submit(status=303)
    assert api.get(interface.path)["cable_peer"]["id"] == a.id
    feed, port = plant.feed(), plant.end("dcim.powerport")
    panel = api.get(feed.path)["power_panel"]["id"]
    page = browser.get(PATH, {"a": text(port), "b_in": "dcim.powerpanel", "b_of": panel})
    assert chosen(page, "b") == feed.id
    page = browser.get(PATH, {"a": text(port), "b_in": "dcim.device", "b_was": "dcim.powerpanel", "b_of": panel})
    assert chosen(page, "b") == "" and "does not exist" not in page.words


def test_a_text_that_several_devices_match_offers_them(browser: Browser, api: Api, plant: Plant, unique: Any) -> None:
    name = unique()
    ids = [
        api.post("/api/dcim/devices/", {"name": f"{name}{letter}", **plant.hardware})["id"] for letter in ("", "x", "y")
    ]
    plant.ends("dcim.interface", 1, ids[0])
    page = browser.get(PATH, {"_text_a_of": f"{name}x"})
    assert f'href="/dcim/devices/{ids[1]}/"' in page.text
    page = browser.get(PATH, {"_text_a_of": name})
    assert f'href="/dcim/devices/{ids[0]}/"' in page.text  # the exact name
    page = browser.get(PATH, {"_text_a_of": f" {name[:-1]}"})
    assert "Several devices match" in page.words
    assert {ids[1], ids[2]} <= {button["value"] for button in page.html.select(".matches button")}
    page = browser.get(PATH, {"_text_b_of": "no such device"}, status=422)
    assert "No device is found by “no such device”." in page.words


def test_refusals_are_at_their_place_and_nothing_is_lost(browser: Browser, api: Api, plant: Plant) -> None:
    near, far = plant.end(), plant.end()
    page = browser.get(PATH, {"a": text(near), "b": text(far)})
    plant.cable(far, plant.end())
    form = page.form()
    form["label"], form["length"] = "mine", "5"
    answer = form.submit(status=422)
    assert "connected to" in side(answer, "b").select_one(".field-error").text
    assert answer.form()["label"].value == "mine"
    other = plant.end(device=device_of(api, far)["id"])
    values = [*((name, value) for name, value in answer.form().submit_fields() if name != "b"), ("b", text(other))]
    answer = browser.post(PATH, values, status=422)
    assert "Must specify a unit" in answer.html.select_one("#error-summary").text
    again = answer.form()
    again["length_unit"], again["type"] = "m", ""
    again.submit(status=303)
    values = {"a_of": device_of(api, near)["id"], "label": "x"}
    answer = browser.post(PATH, values, status=422)
    assert side(answer, "b").select_one(".field-error").text == "Choose a device."
    assert side(answer, "a").select_one(".field-error").text == "Choose a port."


def test_a_port_that_has_a_cable_by_now_cannot_be_begun_at(browser: Browser, plant: Plant) -> None:
    near, far, other = plant.end(), plant.end(), plant.end()
    plant.cable(near, far)
    page = browser.get(PATH, {"a": text(near), "b": text(other)}, status=422)
    assert "Choose another port." in side(page, "a").select_one(".field-error").text
    assert chosen(page, "a") == "" and offered(page, "b") == {other.id: "free"}


@pytest.mark.parametrize("query", ["a=x", "b=dcim.interface:1", "a=dcim.site:00000000-0000-4000-8000-000000000000"])
def test_what_is_no_port_is_refused(browser: Browser, query: str) -> None:
    assert "is not a port" in browser.get(f"{PATH}?{query}", status=400).words


def test_what_the_user_may_not_view_is_not_there(
    service: Service, api: Api, plant: Plant, make_user: Callable[..., Account]
) -> None:
    near, far, hidden = plant.end(), plant.ends("dcim.interface", 2), plant.end()
    plant.cable(far[1], hidden)
    third = plant.ends("dcim.interface", 1, device_of(api, far[0])["id"])[0]
    user = make_user(("add", "dcim.cable"), ("view", "dcim.cable"), password=PASSWORD)
    for device in (device_of(api, near), device_of(api, far[0])):
        service.permit("view", "dcim.device", {"id": device["id"]}, users=[user.id])
    for end in (near, *far):
        service.permit("view", "dcim.interface", {"id": end.id}, users=[user.id])
    reader = Browser(service, user)
    host = device_of(api, far[0])["id"]
    page = reader.get(PATH, {"a": text(near), "b_of": host})
    assert offered(page, "b") == {far[0].id: "free", far[1].id: "has a cable"} and third.id not in page.text
    secret = device_of(api, hidden)
    assert secret["display"] not in page.text
    for query in ({"a": text(hidden)}, {"b_of": secret["id"]}, {"b": text(hidden)}):
        answer = reader.get(PATH, query, status=422)
        assert "does not exist" in answer.words and secret["display"] not in answer.text
    reader.get(PATH, {"_text_a_of": secret["display"]}, status=422)
    answer = reader.post(PATH, {"a": text(near), "b": text(third), "b_of": host, "status": "connected"}, status=422)
    assert "does not exist" in answer.words
    page.form().submit(status=303)
    nobody = Browser(service, make_user(("view", "dcim.cable"), password=PASSWORD))
    nobody.get(PATH, status=403)


def test_statements_do_not_grow_with_the_ports(service: Service, browser: Browser, api: Api, plant: Plant) -> None:
    near = plant.end()
    counts = []
    for number in (2, 24):
        ends = plant.ends("dcim.interface", number)
        plant.cables(*zip(ends[: number // 2], plant.ends("dcim.interface", number // 2), strict=True))
        query = {"a": text(near), "b_of": device_of(api, ends[0])["id"]}
        browser.get(PATH, query)
        with service.statements() as statements:
            browser.get(PATH, query)
        counts.append(len(statements))
    assert counts[0] == counts[1] <= MAX_STATEMENTS, counts


def test_ports_without_a_socket_are_not_connected(browser: Browser, plant: Plant) -> None:
    for kind, offered in (("lag", False), ("virtual", False), ("1000base-t", True)):
        page = browser.get(f"/dcim/interfaces/{plant.end(type=kind).id}/")
        assert any(PATH in link for link in page.links()) == offered, kind
    for kind in ("dcim.frontport", "dcim.poweroutlet"):
        end = plant.panel().fronts[0] if kind == "dcim.frontport" else plant.end(kind)
        path = {"dcim.frontport": "front-ports", "dcim.poweroutlet": "power-outlets"}[kind]
        assert any(PATH in link for link in browser.get(f"/dcim/{path}/{end.id}/").links())
    side = plant.circuit()[0]
    assert any(PATH in link for link in browser.get(f"/circuits/circuit-terminations/{side.id}/").links())
