"""Pages that put other cables in the place of chosen ones: ends that move, and inserted panels; without scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID, uuid4

import pytest

from netinv_testing import Account, Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import CABLES, PATHS, End, Plant
from tests.support.runs import undone

MOVE, INSERT, BENCH = "/dcim/cables/move/", "/dcim/cables/insert-panel/", "/dcim/cabling/"
MAX_STATEMENTS = 112  # one or two for what other tests leave, such as relationships
Query = list[tuple[str, str]]


@pytest.fixture
def plant(api: Api, unique: Any) -> Plant:
    return Plant(api, unique)


def text(end: End) -> str:
    """A port as the query names it."""
    return f"{end.label}:{end.id}"


def chosen(*paths: str) -> Query:
    """The parameters with cables."""
    return [("pk", path.split("/")[-2]) for path in paths]


def host(device: str) -> Query:
    """The parameters with the device where the cables lead to."""
    return [("to_in", "dcim.device"), ("to_of", device)]


def reasons(page: Any) -> dict[str, str]:
    """The verdicts on the offered ports, by id."""
    return {
        label.select_one("input")["value"].partition(":")[2]: label.select_one(".why").text
        for label in page.html.select("label.port")
    }


def agreed(page: Any) -> Any:
    """The page that follows when the plan is carried out."""
    return page.form().submit("_step", value="apply", status=303).follow()


def peer(api: Api, end: End) -> Any:
    shown = api.get(end.path)["cable_peer"]
    return shown and shown["id"]


def test_a_panel_is_inserted_into_a_cable_and_taken_out_again(
    browser: Browser, api: Api, plant: Plant, unique: Callable[[], str]
) -> None:
    a, b, panel = plant.end(), plant.end(), plant.panel(2)
    tag = unique()
    api.post("/api/extras/tags/", {"name": tag, "slug": tag, "content_types": ["dcim.cable"]})
    kept = {"type": "smf", "color": "ffff00", "label": "A-1", "length": 7, "length_unit": "m", "tags": [{"name": tag}]}
    cable = plant.cable(a, b, **kept)
    link = next(link for link in browser.get(cable.removeprefix("/api")).links() if INSERT in link)
    page = browser.get(link)
    assert page.html.select_one("button.primary").has_attr("disabled")
    page = browser.get(INSERT, [*chosen(cable), *host(panel.device)])
    assert "Tried: all fit." in page.words and "A-1, Singlemode Fiber, 7 m" in page.words
    names = {end.id: api.get(end.path)["display"] for end in (panel.rear, *panel.fronts)}
    (line,) = page.html.select(".planned li")
    assert [ins.text.split("›")[-1].strip() for ins in line.select("ins")] == [
        names[panel.fronts[0].id],
        api.get(b.path)["display"],
    ]
    done = agreed(page)
    assert peer(api, a) == panel.fronts[0].id and peer(api, b) == panel.rear.id
    assert plant.leads_to(a) == (b, True)
    for end in (a, b):
        new = api.get(f"{CABLES}{api.get(end.path)['cable']['id']}/")
        found = {name: new[name] for name in ("color", "label", "length")}
        assert found == {name: kept[name] for name in found}
        assert (new["type"], new["length_unit"]["value"], [item["name"] for item in new["tags"]]) == ("smf", "m", [tag])
    undone(browser, done)
    assert peer(api, a) == b.id and api.get(cable)["label"] == "A-1"


def test_only_devices_with_front_ports_are_offered_as_panels(browser: Browser, api: Api, plant: Plant) -> None:
    cable, panel, other = plant.cable(plant.end(), plant.end()), plant.panel(), plant.device()
    page = browser.get(INSERT, chosen(cable))
    assert not page.html.select("#to-kind")
    picker = page.html.select_one("[data-picker]:has(#field-to_of)")
    query = [*parse_qsl(picker["data-parameters"]), ("id", panel.device), ("id", other)]
    assert [device["id"] for device in api.get(f"/api{picker['data-source']}", query)["results"]] == [panel.device]
    found = browser.get(
        INSERT, [*chosen(cable), ("_text_to_of", api.get(f"/api/dcim/devices/{panel.device}/")["name"])]
    )
    assert reasons(found).keys() >= {panel.fronts[0].id}
    name = api.get(f"/api/dcim/devices/{other}/")["display"]
    assert (
        f"No device is found by “{name}”."
        in browser.get(INSERT, [*chosen(cable), ("_text_to_of", name)], status=422).words
    )
    refused = browser.get(INSERT, [*chosen(cable), ("to_in", "dcim.powerpanel")], status=400)
    assert "Choices are dcim.device." in refused.words
    kinds = browser.get(MOVE, chosen(cable)).html.select("#to-kind option")
    assert {"dcim.device", "dcim.powerpanel"} <= {option["value"] for option in kinds}


def test_the_front_of_a_panel_faces_the_chosen_end(browser: Browser, api: Api, plant: Plant) -> None:
    a, b, panel = plant.end(), plant.end(), plant.panel()
    cable = plant.cable(a, b)
    agreed(browser.get(INSERT, [*chosen(cable), *host(panel.device), ("end", text(b))]))
    assert (peer(api, a), peer(api, b)) == (panel.rear.id, panel.fronts[0].id)
    assert api.get(f"{CABLES}{api.get(a.path)['cable']['id']}/")["termination_a_id"] == a.id


@pytest.mark.night
def test_pairs_of_ports_that_do_not_fit_say_why(browser: Browser, api: Api, plant: Plant) -> None:
    a, b, panel, taken = plant.end(), plant.end(), plant.panel(2), plant.panel()
    cable = plant.cable(a, b)
    plant.cable(panel.fronts[0], plant.end())
    plant.cable(taken.rear, plant.end())
    why = reasons(browser.get(INSERT, [*chosen(cable), *host(panel.device)]))
    assert why[panel.fronts[0].id].startswith("connected to") and why[panel.fronts[1].id] == "free"
    why = reasons(browser.get(INSERT, [*chosen(cable), *host(taken.device)]))
    name = api.get(taken.rear.path)["display"]
    assert why[taken.fronts[0].id].startswith(f"{name}: connected to")
    refused = browser.get(INSERT, [*chosen(cable), *host(panel.device), ("to", text(panel.fronts[0]))])
    assert "connected to" in refused.html.select_one(".planned li.invalid").text
    answer = browser.post(
        INSERT, [*chosen(cable), *host(panel.device), ("to", text(panel.fronts[0])), ("_step", "apply")], status=422
    )
    assert "connected to" in answer.words and peer(api, a) == b.id
    words = browser.get(INSERT, [*chosen(cable), *host(plant.device())], status=422).words
    assert "has no front ports" in words and "no ports that you may view" not in words


def test_power_does_not_lead_through_panels(browser: Browser, plant: Plant) -> None:
    cable = plant.cable(plant.end("dcim.powerport"), plant.end("dcim.poweroutlet"))
    panel = plant.panel()
    why = reasons(browser.get(INSERT, [*chosen(cable), *host(panel.device)]))
    assert why[panel.fronts[0].id] == "no cable leads from a power port to a front port"


@pytest.mark.night
def test_an_end_moves_to_another_port_of_its_device_or_of_another(browser: Browser, api: Api, plant: Plant) -> None:
    a, b, device = plant.end(), plant.end(), plant.device()
    near, far = plant.end(device=api.get(a.path)["device"]["id"]), plant.end(device=device)
    plant.cable(a, b, label="A-1")
    link = next(link for link in browser.get(f"/dcim/interfaces/{a.id}/").links() if MOVE in link)
    page = browser.get(link)
    assert reasons(page) == {a.id: "the end is there", near.id: "free"} and "Tried: all fit." in page.words
    done = agreed(page)
    assert (peer(api, a), peer(api, near)) == (None, b.id) and plant.leads_to(near) == (b, True)
    moved = api.get(near.path)["cable"]["id"]
    done = agreed(browser.get(MOVE, [("pk", moved), ("end", text(b)), *host(device)]))
    assert (peer(api, b), peer(api, far)) == (None, near.id)
    undone(browser, done)
    assert (peer(api, b), peer(api, far)) == (near.id, None)
    assert api.get(f"{CABLES}{moved}/")["label"] == "A-1"


@pytest.mark.night
def test_ends_of_many_cables_move_to_another_device(browser: Browser, api: Api, plant: Plant) -> None:
    old, new = plant.device(), plant.device()
    ends, others = plant.ends("dcim.interface", 3, old), plant.ends("dcim.interface", 3)
    free = plant.ends("dcim.interface", 4, new)
    cables = plant.cables(*zip(ends, others, strict=True))
    plant.cable(free[1], plant.end())
    away = plant.cable(plant.end(), plant.end())
    query = [*chosen(*cables, away), ("end", f"dcim.device:{old}"), *host(new)]
    page = browser.get(MOVE, query)
    assert "1 of the chosen cables have no end there" in page.words and len(page.html.select(".planned li")) == 3
    done = agreed(page)
    assert "3 cables moved to" in done.words
    assert [peer(api, end) for end in (free[0], free[2], free[3])] == [end.id for end in others]
    undone(browser, done)
    assert [peer(api, end) for end in ends] == [end.id for end in others]


def test_ends_move_to_ports_of_the_same_names(browser: Browser, api: Api, plant: Plant) -> None:
    old, new = plant.device(), plant.device()
    body = {"type": "1000base-t", "status": "active"}
    made = {
        device: [
            End("dcim.interface", item["id"])
            for item in api.post(
                "/api/dcim/interfaces/",
                [{**body, "device": device, "name": name} for name in ("p1", "p2", "p3")][:count],
            )
        ]
        for device, count in ((old, 3), (new, 2))
    }
    others = plant.ends("dcim.interface", 3)
    cables = plant.cables(*zip(reversed(made[old]), others, strict=True))
    query = [("end", f"dcim.device:{old}"), ("way", "name"), *host(new)]
    page = browser.get(MOVE, [*chosen(*cables), *query])
    assert "No free port has the name p3." in page.html.select_one(".planned li.invalid").text
    agreed(browser.get(MOVE, [*chosen(*cables[1:]), *query]))
    assert [peer(api, end) for end in made[new]] == [others[2].id, others[1].id]


def test_ends_are_shifted_to_ports_that_others_leave(browser: Browser, api: Api, plant: Plant) -> None:
    """Three cables go one port further: the last one first gives way."""
    device = plant.device()
    ends, others = plant.ends("dcim.interface", 4, device), plant.ends("dcim.interface", 3)
    names = sorted((api.get(end.path)["name"], end) for end in ends)
    ends = [end for _, end in names]
    cables = plant.cables(*zip(ends, others, strict=False))
    query = [*chosen(*cables), ("end", f"dcim.device:{device}"), *host(device), ("to", text(ends[1]))]
    agreed(browser.get(MOVE, query))
    assert [peer(api, end) for end in ends] == [None, *(end.id for end in others)]


def test_cables_chosen_in_the_workbench_are_moved_from_there(browser: Browser, api: Api, plant: Plant) -> None:
    old, new = plant.device(), plant.device()
    ends, others = plant.ends("dcim.interface", 2, old), plant.ends("dcim.interface", 2)
    free = plant.ends("dcim.interface", 2, new)
    plant.cables(*zip(ends, others, strict=True))
    bench = browser.get(BENCH, [("left", f"dcim.device:{old}"), ("right", f"dcim.device:{new}")])
    button = bench.html.select_one(f'button[formaction$="{MOVE}"]')
    keys = [("pk", box["value"]) for box in bench.html.select('input[name="pk"]')]
    fields = [(item["name"], item["value"]) for item in bench.html.select('form.workbench input[type="hidden"]')]
    page = browser.post(button["formaction"], [*fields, *keys], status=303).follow()
    done = agreed(browser.get(MOVE, [*page.form().submit_fields(), ("end", f"dcim.device:{old}"), *host(new)]))
    assert done.request.path == BENCH and [peer(api, end) for end in free] == [end.id for end in others]


def test_cables_at_selected_ports_are_moved_from_their_table(browser: Browser, api: Api, plant: Plant) -> None:
    device = plant.device()
    a, b = plant.end(device=device), plant.end()
    plant.cable(a, b)
    page = browser.post("/dcim/interfaces/move-cables/?_back=/dcim/devices/", [("pk", a.id)], status=303).follow()
    assert page.html.select_one('input[name="end"][checked]')["value"] == text(a)
    spare = plant.end(device=device)
    following = browser.get(MOVE, page.form().submit_fields()).form().submit("_step", value="apply", status=303)
    assert following.headers["Location"].endswith("/dcim/devices/") and peer(api, spare) == b.id
    browser.post("/dcim/interfaces/move-cables/", [("pk", a.id)], status=303)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("end=dcim.device:x", "is no end of these cables"),
        ("way=x", "is not a valid choice"),
        ("to=x&to_of={device}", "is not a port"),
        ("to_in=x", "is not a valid choice"),
    ],
)
def test_what_is_no_plan_is_refused(browser: Browser, plant: Plant, query: str, reason: str) -> None:
    key, device = plant.cable(plant.end(), plant.end()).split("/")[-2], plant.device()
    for path in (MOVE, INSERT):
        assert reason in browser.get(f"{path}?pk={key}&{query.format(device=device)}", status=400).words


def test_nothing_is_done_without_cables_or_permission(
    service: Service, browser: Browser, api: Api, plant: Plant, make_user: Callable[..., Account]
) -> None:
    a, b = plant.end(), plant.end()
    key = plant.cable(a, b).split("/")[-2]
    assert "No cables are selected" in browser.get(MOVE).words
    assert "gone" in browser.post(MOVE, {"pk": str(uuid4())}, status=422).words
    reader = make_user(("view", "dcim.cable"), ("view", "dcim.interface"), password=PASSWORD)
    Browser(service, reader).get(f"{MOVE}?pk={key}", status=403)
    hidden = make_user(("view add delete", "dcim.cable"), ("view change", "dcim.interface"), password=PASSWORD)
    assert "may not view both ends" in Browser(service, hidden).get(f"{INSERT}?pk={key}", status=400).words
    remover = make_user(
        ("view delete", "dcim.cable"), ("view change", "dcim.interface"), ("view", "dcim.device"), password=PASSWORD
    )
    Browser(service, remover).post(MOVE, {"pk": key, "_step": "apply"}, status=403)
    assert UUID(peer(api, a)) == UUID(b.id)


@pytest.mark.night
def test_statements_do_not_grow_with_the_cables(service: Service, browser: Browser, plant: Plant) -> None:
    def cost(count: int, path: str) -> list[int]:
        old, new = plant.device(), plant.device()
        cables = plant.cables(
            *zip(plant.ends("dcim.interface", count, old), plant.ends("dcim.interface", count), strict=True)
        )
        if path == MOVE:
            plant.ends("dcim.interface", count, new)
        else:
            rears = plant.ends("dcim.rearport", count, new)
            fronts = [{"device": new, "name": end.id, "type": "lc", "rear_port": end.id} for end in rears]
            service.api.post(PATHS["dcim.frontport"], fronts)
        query = [*chosen(*cables), ("end", f"dcim.device:{old}"), *host(new)]
        browser.get(path, query)
        with service.statements() as shown:
            browser.get(path, query)
        with service.statements() as written:
            browser.post(path, [*query, ("_step", "apply")], status=303)
        return [len(shown), len(written)]

    for path in (MOVE, INSERT):
        few = cost(2, path)
        assert few == cost(6, path) and max(few) <= MAX_STATEMENTS, few
