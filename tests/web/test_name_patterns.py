"""Patterns of names, and several objects from one form."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netinv_testing import Api
from netinv_web.forms import patterns
from netinv_web.forms.patterns import MAX_TEXTS, expand
from netinv_web.testing import Browser
from tests.support.typed_devices import Hardware

pytestmark = pytest.mark.any_database
Make = Callable[..., Any]
PLAIN = st.text(st.characters(exclude_characters="[]\\"), max_size=20)


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("eth0", ["eth0"]),
        ("eth[0-2]", ["eth0", "eth1", "eth2"]),
        ("[08-10]", ["08", "09", "10"]),
        ("[a,b,core]", ["a", "b", "core"]),
        ("[a-c]1", ["a1", "b1", "c1"]),
        ("et-[0-1]/[0,2]", ["et-0/0", "et-0/2", "et-1/0", "et-1/2"]),
        ("rack [spare]", ["rack [spare]"]),
        (r"port \[1-2\]", ["port [1-2]"]),
        ("[5-5]", ["5"]),
    ],
)
def test_a_pattern_stands_for_texts(pattern: str, texts: list[str]) -> None:
    assert expand(pattern) == texts


@pytest.mark.parametrize("pattern", ["[3-1]", "[0-1000]", "[0-99][0-99]", "[0-999999999]"])
def test_patterns_that_stand_for_too_much_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"rise|more than"):
        expand(pattern)


@given(PLAIN)
def test_a_text_without_brackets_stands_for_itself(text: str) -> None:
    assert expand(text) == [text]


@given(PLAIN, st.integers(0, 5000), st.integers(0, MAX_TEXTS - 1), PLAIN)
def test_a_range_stands_for_each_of_its_numbers_once(before: str, first: int, steps: int, after: str) -> None:
    texts = expand(f"{before}[{first}-{first + steps}]{after}")
    assert texts == [f"{before}{number}{after}" for number in range(first, first + steps + 1)]


@pytest.mark.night
@given(st.text(max_size=40))
def test_any_text_stands_for_at_most_a_thousand(text: str) -> None:
    try:
        assert 1 <= len(expand(text)) <= MAX_TEXTS
    except ValueError as error:
        assert str(error)


# -- forms


@pytest.fixture
def hardware(api: Api, unique: Any) -> Hardware:
    """Device types and devices."""
    return Hardware(api, unique)


@pytest.fixture
def device_type(make: Make, api: Api, unique: Any) -> Any:
    """A device type."""
    manufacturer = make("/api/dcim/manufacturers/")
    name = unique()
    return api.post("/api/dcim/device-types/", {"manufacturer": manufacturer["id"], "model": name, "slug": name})


def test_a_form_with_a_pattern_creates_several_after_a_preview(browser: Browser, api: Api, device_type: Any) -> None:
    form = browser.get("/dcim/interface-templates/add/", {"device_type": device_type["id"]}).form()
    form["name"], form["label"], form["type"] = "eth[0-47]", "Port [1-48]", "1000base-t"
    page = form.submit(status=200)
    assert len(page.html.select("tbody tr")) == 48
    query = {"device_type_id": device_type["id"], "limit": 0}
    assert api.get("/api/dcim/interface-templates/", query)["count"] == 0
    page.form().submit("_several")
    created = api.get("/api/dcim/interface-templates/", query)["results"]
    assert [(item["name"], item["label"]) for item in created][:2] == [("eth0", "Port 1"), ("eth1", "Port 2")]
    assert len(created) == 48


PORTS = {
    "interfaces": {"type": "1000base-t", "status": "active"},
    "console-ports": {},
    "console-server-ports": {},
    "power-ports": {},
    "power-outlets": {},
    "rear-ports": {"type": "lc", "positions": 1},
    "front-ports": {"type": "lc"},
    "device-bays": {},
    "inventory-items": {},
}
OF_PARENTS = [*PORTS, *(f"{kind.removesuffix('s')}-templates" for kind in PORTS if kind != "inventory-items")]


@pytest.mark.parametrize("kind", OF_PARENTS)
def test_several_ports_lead_back_to_the_tab_they_were_added_on(
    browser: Browser, api: Api, hardware: Hardware, kind: str
) -> None:
    parent, of = hardware.type(), "device_type"
    if kind in PORTS:
        (parent,), of = hardware.devices(parent, 1), "device"
    body = {of: parent, **PORTS[kind if kind in PORTS else f"{kind.removesuffix('-templates')}s"]}
    body = {name: value for name, value in body.items() if not (name == "status" and of == "device_type")}
    if kind.startswith("front"):
        rear = {**body, "name": "r1", "positions": 12}
        body["rear_port"] = api.post(f"/api/dcim/{kind.replace('front', 'rear')}/", rear)["id"]
    tab = f"/dcim/{of.replace('_', '-')}s/{parent}/{kind}/"
    form = browser.get(f"/dcim/{kind}/add/", {of: parent}).form()
    form["name"] = "p-[0-3]"
    for name in set(body) & {"type", "status", "positions", "rear_port"}:
        form[name].force_value(str(body[name]))
    if kind.startswith("front"):
        form[next(name for name in form.fields if name and "position" in name)] = "1"
    page = form.submit(status=200).form().submit("_several", status=303)
    assert page.headers["Location"].endswith(tab)
    shown = page.follow()
    assert "4 " in shown.words and shown.html.select_one(f"[data-notice] a[href='{tab}']")


def test_the_preview_shows_the_errors_of_each_object(browser: Browser, api: Api, device_type: Any) -> None:
    taken = {"device_type": device_type["id"], "name": "eth1", "type": "1000base-t"}
    api.post("/api/dcim/interface-templates/", taken)
    values = {"device_type": device_type["id"], "name": "eth[0-2]", "type": "1000base-t"}
    page = browser.post("/dcim/interface-templates/add/", values, status=422)
    errors = [row.select("td")[-1].text for row in page.html.select("tbody tr")]
    assert [bool(error) for error in errors] == [False, True, False]
    page = browser.post("/dcim/interface-templates/add/", {**values, "_several": "all"}, status=422)
    assert api.get("/api/dcim/interface-templates/", {"device_type_id": device_type["id"]})["count"] == 1


def test_patterns_of_different_lengths_are_refused(browser: Browser, device_type: Any) -> None:
    values = {"device_type": device_type["id"], "name": "eth[0-2]", "label": "[1-2]", "type": "1000base-t"}
    page = browser.post("/dcim/interface-templates/add/", values, status=422)
    assert page.html.select("p#error-label")


def test_a_name_may_have_the_brackets_of_a_pattern(browser: Browser, api: Api, device_type: Any) -> None:
    values = {"device_type": device_type["id"], "name": "eth[0-2]", "type": "1000base-t", "_several": "one"}
    browser.post("/dcim/interface-templates/add/", values)
    created = api.get("/api/dcim/interface-templates/", {"device_type_id": device_type["id"]})["results"]
    assert [item["name"] for item in created] == ["eth[0-2]"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ge-0/0/[0-47]", "48: ge-0/0/0, ge-0/0/1, ge-0/0/2 … ge-0/0/47"),
        ("eth[0-3]", "4: eth0, eth1, eth2, eth3"),
        ("<b>[a,b]", "2: <b>a, <b>b"),
        ("eth0", ""),
        ("[3-1]", "The range 3-1 has to rise."),
        ("[0-9999]", "This stands for more than 1,000 objects."),
    ],
)
def test_what_a_pattern_stands_for_is_told_while_it_is_typed(browser: Browser, text: str, shown: str) -> None:
    page = browser.get("/expand/", {"text": text})
    assert page.html.get_text().strip() == shown and not page.html.select("b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" + ",".join(["0-999"] * 3000) + "]", "This stands for more than 1,000 objects."),
        ("[" + ",".join("a" * 9_000) + "]", "This stands for more than 1,000 objects."),
        ("[1]" * 7000, "A pattern has no more than 20,000 characters."),
    ],
)
def test_a_pattern_is_refused_before_what_it_stands_for_is_made(text: str, message: str) -> None:
    """A form of some kilobytes would take gigabytes."""
    tracemalloc.start()
    with pytest.raises(ValueError, match=message):
        patterns.expand(text)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5_000_000


def test_text_boxes_of_new_objects_take_patterns(browser: Browser, api: Api, device_type: Any) -> None:
    form = browser.get("/dcim/interface-templates/add/", {"device_type": device_type["id"]})
    assert {field["name"] for field in form.html.select("[data-pattern]")} >= {"name", "label"}
    assert "1000" in browser.get("/expand/", {"text": "x" * 1001}, status=400).words
    assert not browser.get(f"/dcim/device-types/{device_type['id']}/edit/").html.select("[data-pattern]")
