"""The workbench: pairs of ports as a plan in the address, tried, and connected by one request; without scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest

from netinv_testing import Account, Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import End, Plant

PATH = "/dcim/cabling/"
MAX_STATEMENTS = 90


@pytest.fixture
def plant(api: Api, unique: Any) -> Plant:
    return Plant(api, unique)


class Bench:
    """Two devices with interfaces of the same names, and their page."""

    def __init__(self, plant: Plant, number: int) -> None:
        self.devices = [plant.device(), plant.device()]
        names = [f"p{place}" for place in range(number)]
        self.left, self.right = (self._ports(plant, device, names) for device in self.devices)

    def _ports(self, plant: Plant, device: str, names: Sequence[str]) -> list[End]:
        body = {"device": device, "type": "1000base-t", "status": "active"}
        shown = plant.api.post("/api/dcim/interfaces/", [{**body, "name": name} for name in names])
        return [End("dcim.interface", item["id"]) for item in shown]

    @property
    def query(self) -> list[tuple[str, str]]:
        """The parameters with both devices."""
        return [(side, f"dcim.device:{device}") for side, device in zip(("left", "right"), self.devices, strict=True)]

    def pairs(self, *places: tuple[int, int]) -> list[tuple[str, str]]:
        """The parameters of pairs of ports."""
        return [("pair", f"{UUID(self.left[a].id).hex}-{UUID(self.right[b].id).hex}") for a, b in places]

    def names_of(self, page: Any) -> list[tuple[str, str]]:
        """The planned cables, as the names of their ports."""
        texts = [line.text.split("×")[0] for line in page.html.select(".planned li")]
        return [tuple(part.split("›")[1].split()[0] for part in text.split("↔"))[:2] for text in texts]


def paired(browser: Browser, bench: Bench, way: str) -> Any:
    """The page after a button that pairs."""
    return browser.get(PATH, [*bench.query, ("_pairing", way)], status=303).follow()


def peer(api: Api, end: End) -> Any:
    shown = api.get(end.path)["cable_peer"]
    return shown and shown["id"]


@pytest.mark.night
def test_devices_are_added_to_sides_by_name(browser: Browser, api: Api, plant: Plant) -> None:
    bench = Bench(plant, 2)
    names = [api.get(f"/api/dcim/devices/{device}/")["name"] for device in bench.devices]
    page = browser.get(PATH, {"_text__add_left": names[0]}, status=303).follow()
    form = page.form(PATH)
    fields = [*form.submit_fields(), ("_add_right", bench.devices[1])]
    page = browser.get(PATH, fields, status=303).follow()
    assert [title.text.strip() for title in page.html.select(".side h3")] == names
    assert "No device is found" in browser.get(PATH, {"_text__add_left": "no such"}, status=422).words
    (removal,) = [link["href"] for link in page.html.select("a.remove") if names[0] in link["aria-label"]]
    assert [title.text.strip() for title in browser.get(removal).html.select(".side h3")] == names[1:]


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("order", [("p0", "p0"), ("p1", "p2"), ("p2", "p3")]),
        ("name", [("p0", "p0"), ("p2", "p2"), ("p3", "p3")]),
        ("crossed", [("p0", "p2"), ("p1", "p0"), ("p2", "p3")]),
        ("reverse", [("p0", "p3"), ("p1", "p2"), ("p2", "p0")]),
        ("fan", [("p0", "p0")]),
    ],
)
def test_free_ports_are_paired(browser: Browser, plant: Plant, way: str, expected: list[tuple[str, str]]) -> None:
    bench = Bench(plant, 4)
    plant.cable(bench.right[1], plant.end())
    page = paired(browser, bench, way)
    assert bench.names_of(page) == expected
    assert "_pairing" not in page.request.query_string


def test_two_chosen_ports_are_paired_and_taken_back(browser: Browser, plant: Plant) -> None:
    bench = Bench(plant, 2)
    form = browser.get(PATH, bench.query).form(PATH)
    form["_left"], form["_right"] = UUID(bench.left[0].id).hex, UUID(bench.right[1].id).hex
    page = browser.get(PATH, form.submit_fields(), status=303).follow()
    assert bench.names_of(page) == [("p0", "p1")]
    page = browser.get(page.html.select_one(".planned a.remove")["href"])
    assert bench.names_of(page) == []


def test_all_pairs_are_connected_by_one_request_with_one_undo(browser: Browser, api: Api, plant: Plant) -> None:
    bench = Bench(plant, 3)
    form = paired(browser, bench, "order").form(PATH)
    form["label"], form["type"], form["color"] = "A-[001-048]", "smf", "#ffff00"
    page = browser.get(PATH, form.submit_fields())
    assert "A-003" in page.words and "Tried: all fit." in page.words
    assert peer(api, bench.left[0]) is None
    done = page.form(PATH).submit(status=303).follow()
    assert "3 cables were created." in done.words and "pair=" not in done.request.query_string
    assert [peer(api, end) for end in bench.left] == [end.id for end in bench.right]
    cable = api.get(f"/api/dcim/cables/{api.get(bench.left[1].path)['cable']['id']}/")
    assert (cable["label"], cable["type"], cable["color"], cable["status"]["value"]) == (
        "A-002", "smf", "ffff00", "connected",
    )  # fmt: skip
    undo = done.html.select_one("[data-notice] form")
    asked = browser.post(undo["action"], {item["name"]: item["value"] for item in undo.select("input")}, status=200)
    asked.form().submit("_step", value="apply", status=303)
    assert [peer(api, end) for end in bench.left] == [None] * 3


def test_a_refused_pair_says_why_and_nothing_is_connected(browser: Browser, api: Api, plant: Plant) -> None:
    bench = Bench(plant, 3)
    query = [*bench.query, *bench.pairs((0, 0), (1, 1), (2, 1)), ("label", "x-[1-3]")]
    page = browser.get(PATH, query)
    (refused,) = page.html.select(".planned li.invalid")
    assert "p1 is in another pair" in refused.text
    assert page.html.select_one("button.primary").has_attr("disabled")
    plant.cable(bench.right[0], plant.end())
    answer = browser.post(PATH, [*query[:-2], ("status", "connected")], status=422)
    assert "connected to" in answer.html.select_one(".planned li.invalid").text
    assert peer(api, bench.left[1]) is None
    answer = browser.post(
        PATH, [*bench.query, *bench.pairs((1, 1)), ("status", "connected"), ("length", "5")], status=422
    )
    assert "Must specify a unit" in answer.words
    assert peer(api, bench.left[1]) is None


def test_a_pattern_with_too_few_labels_is_refused_at_its_field(browser: Browser, plant: Plant) -> None:
    bench = Bench(plant, 3)
    query = [*bench.query, *bench.pairs((0, 0), (1, 1))]
    page = browser.get(PATH, [*query, ("label", "x-[2-1]")])
    assert "has to rise" in page.html.select_one("#error-label").text
    page = browser.get(PATH, [*query, *bench.pairs((2, 2)), ("label", "x-[1-2]")])
    assert page.html.select_one("#error-label").text == "The pattern stands for 2 labels, the plan has 3 cables."
    summary = page.html.select_one("#error-summary[data-focus] li")
    assert summary.a["href"] == "#field-label" and page.html.select("#field-label")
    assert summary.text == "Label: The pattern stands for 2 labels, the plan has 3 cables."
    assert browser.post(PATH, [*query, ("label", "x-[2-1]")], status=422).form(PATH)["label"].value == "x-[2-1]"


def test_panels_are_connected_rear_to_rear(browser: Browser, api: Api, plant: Plant) -> None:
    one, two = plant.panel(), plant.panel()
    query = [
        ("left", f"dcim.device:{one.device}"),
        ("right", f"dcim.device:{two.device}"),
        ("left_kind", "dcim.rearport"),
    ]
    page = browser.get(PATH, [*query, ("_pairing", "order")], status=303).follow()
    page.form(PATH).submit(status=303)
    assert peer(api, one.rear) == two.rear.id


@pytest.mark.night
def test_selected_cables_are_disconnected_after_a_look(browser: Browser, api: Api, plant: Plant) -> None:
    bench = Bench(plant, 2)
    plant.cables(*zip(bench.left, bench.right, strict=True))
    page = browser.get(PATH, bench.query)
    keys = {box["value"] for box in page.html.select('input[name="pk"]')}
    assert len(keys) == 2
    button = page.html.select_one("button.danger[formaction]")
    preview = browser.post(button["formaction"], [("pk", key) for key in keys], status=200)
    assert "2 cables" in preview.words
    preview.form().submit("_step", status=303)
    assert [peer(api, end) for end in bench.left] == [None, None]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("left=x", "is not a port or a device"),
        (f"left=dcim.device:{uuid4()}", "does not exist"),
        ("pair=1-2", "is not the id"),
        (f"pair={UUID(int=1).hex}-{UUID(int=2).hex}", "names a port that is not"),
        ("_pairing=x", "is not a valid choice"),
        ("left_kind=x", "is not a kind"),
        ("&".join(f"pair={number}" for number in range(101)), "at most 100 pairs"),
    ],
    ids=["host", "unknown host", "pair", "unknown pair", "way", "kind", "too many"],
)
def test_what_is_no_plan_is_refused(browser: Browser, query: str, reason: str) -> None:
    assert reason in browser.get(f"{PATH}?{query}", status=400).words


def test_what_the_user_may_not_view_or_do_is_refused(
    service: Service, api: Api, plant: Plant, make_user: Callable[..., Account]
) -> None:
    bench = Bench(plant, 2)
    user = make_user(("view", "dcim.cable"), ("view", "dcim.interface"), password=PASSWORD)
    service.permit("view", "dcim.device", {"id": bench.devices[0]}, users=[user.id])
    reader = Browser(service, user)
    reader.get(PATH, bench.query, status=400)
    page = reader.get(PATH, bench.query[:1])
    assert not page.html.select("button[name=_pairing]") and not page.html.select('input[name="pk"]')
    service.permit("view", "dcim.device", {"id": bench.devices[1]}, users=[user.id])
    reader.get(PATH, [*bench.query, *bench.pairs((0, 0))], status=403)
    reader.post(PATH, [*bench.query, *bench.pairs((0, 0)), ("status", "connected")], status=403)
    assert peer(api, bench.left[0]) is None
    Browser(service, make_user(password=PASSWORD)).get(PATH, status=403)


def test_statements_do_not_grow_with_the_pairs(service: Service, browser: Browser, plant: Plant) -> None:
    bench = Bench(plant, 12)
    counts = []
    for number in (2, 12):
        query = [*bench.query, *bench.pairs(*((place, place) for place in range(number)))]
        browser.get(PATH, query)
        with service.statements() as statements:
            browser.get(PATH, query)
        counts.append(len(statements))
    assert counts[0] == counts[1] <= MAX_STATEMENTS, counts


def test_the_navigation_marks_one_entry(browser: Browser, plant: Plant) -> None:
    """The workbench is about cables, too; pages of cables belong to their list."""
    cable = plant.cable(plant.end(), plant.end()).removeprefix("/api")
    for path, entry in ((cable, "Cables"), (PATH, "Cabling workbench")):
        marked = browser.get(path).html.select('.rail a[aria-current="page"]')
        assert [link.text.strip() for link in marked] == [entry]
