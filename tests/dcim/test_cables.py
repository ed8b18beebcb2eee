"""Cables: what they may connect, where paths lead through panels and circuits, and how paths follow every change."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from netinv_testing import Api
from netinv_testing.checks.query_counts import LIST
from tests.support.cabling_fixtures import CABLES, PATHS, End, Plant

NOTHING = (None, None)
NOWHERE = (None, False)
KINDS = {
    "dcim.interface": "network",
    "circuits.circuittermination": "network",
    "dcim.consoleport": "console",
    "dcim.consoleserverport": "console server",
    "dcim.frontport": "panel",
    "dcim.rearport": "panel",
    "dcim.powerport": "draw",
    "dcim.poweroutlet": "supply",
    "dcim.powerfeed": "supply",
}
SIGNALS = {"network", "console", "console server", "panel"}
FITTING = {
    frozenset(("network",)),
    frozenset(("panel",)),
    frozenset(("console", "console server")),
    frozenset(("draw", "supply")),
}
FITTING |= {frozenset((kind, "panel")) for kind in SIGNALS}


@pytest.fixture
def plant(api: Api, unique: Any) -> Plant:
    """A site to lay cables at."""
    return Plant(api, unique)


def made(plant: Plant, label: str) -> End:
    """A free end of a kind."""
    if label == "circuits.circuittermination":
        return plant.circuit()[0]
    if label == "dcim.powerfeed":
        return plant.feed()
    return plant.panel().fronts[0] if label == "dcim.frontport" else plant.end(label)


def test_both_ends_know_their_cable_each_other_and_where_they_lead(plant: Plant, api: Api) -> None:
    a, b = plant.end(), plant.end()
    cable = plant.cable(a, b, label="C1", type="cat6", length=3, length_unit="m")
    for here, there in ((a, b), (b, a)):
        shown = api.get(here.path)
        assert shown["cable"]["url"].endswith(cable) and shown["cable"]["label"] == "C1"
        assert shown["cable_peer_type"] == shown["connected_endpoint_type"] == there.label
        assert shown["cable_peer"] == shown["connected_endpoint"] == api.get(there.path, {"brief": 1})
        assert shown["connected_endpoint_reachable"] is True
    api.delete(cable)
    for end in (a, b):
        shown = api.get(end.path)
        assert {
            shown[name]
            for name in ("cable", "cable_peer", "cable_peer_type", "connected_endpoint", "connected_endpoint_reachable")
        } == {None}


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations_with_replacement(KINDS, 2)))
def test_kinds_that_fit_each_other_are_connected_both_ways_and_others_refused(
    plant: Plant, api: Api, a: str, b: str
) -> None:
    fits = frozenset((KINDS[a], KINDS[b])) in FITTING
    for one, other in ((a, b), (b, a)):
        ends = made(plant, one), made(plant, other)
        answer = api.post(CABLES, plant.body(*ends), status=201 if fits else 400)
        if not fits:
            assert set(answer) == {"__all__"} and answer["__all__"][0].startswith("Incompatible termination types: ")
            assert api.get(ends[0].path)["cable"] is None


def test_ends_that_cannot_be_connected_are_refused_with_the_reason(plant: Plant, api: Api) -> None:
    free, taken, host = plant.end(), plant.end(), plant.device()
    plant.cable(taken, plant.end())
    panel, narrow, wide = plant.panel(2), plant.panel(3), plant.panel(2)
    virtual, lag, radio = (plant.end(device=host, type=kind) for kind in ("virtual", "lag", "ieee802.11ax"))
    nobody = End("dcim.interface", "00000000-0000-4000-8000-000000000000")
    refused = {
        (free, free): {"__all__": ["Cannot connect dcim | interface to itself"]},
        (free, nobody): {"termination_b": ["Invalid ID for type dcim | interface"]},
        (virtual, free): {"termination_a_id": ["Cables cannot be terminated to Virtual interfaces"]},
        (free, lag): {"termination_b_id": ["Cables cannot be terminated to Link Aggregation Group (LAG) interfaces"]},
        (free, radio): {"termination_b_id": ["Cables cannot be terminated to IEEE 802.11ax interfaces"]},
        (panel.fronts[0], panel.rear): {"__all__": ["A front port cannot be connected to it corresponding rear port"]},
        (panel.rear, panel.fronts[1]): {"__all__": ["A front port cannot be connected to it corresponding rear port"]},
        (End("dcim.device", host), free): {"termination_a_type": ["Invalid content type: dcim.device"]},
    }
    for (a, b), error in refused.items():
        assert api.post(CABLES, plant.body(a, b), status=400) == error
    (words,) = api.post(CABLES, plant.body(panel.rear, narrow.rear), status=400)["__all__"]
    assert (
        "has 2 position(s) but" in words and "has 3. Both terminations must have the same number of positions" in words
    )
    (words,) = api.post(CABLES, plant.body(free, taken), status=400)["__all__"]
    assert "already has a cable attached (#" in words
    plant.cable(panel.rear, wide.rear)


def test_an_end_takes_one_cable_also_within_a_request(plant: Plant, api: Api) -> None:
    a, b, c = plant.ends("dcim.interface", 3)
    errors = api.post(CABLES, [plant.body(a, b), plant.body(b, c)], status=400)
    assert errors[0] == {} and "is the end of two of these cables" in errors[1]["__all__"][0]
    errors = api.post(CABLES, [plant.body(a, b), plant.body(a, c)], status=400)
    assert errors[1] == {
        "non_field_errors": ["The fields termination_a_type, termination_a_id must make a unique set."]
    }
    assert {plant.leads_to(end) for end in (a, b, c)} == {NOTHING}


def test_what_a_cable_connects_stays(plant: Plant, api: Api) -> None:
    a, b, c = plant.ends("dcim.interface", 3)
    cable = plant.cable(a, b)
    fixed = "Cable termination points may not be modified. Delete and recreate the cable instead."
    assert api.patch(cable, {"termination_a_id": c.id}, status=400) == {"termination_a": [fixed]}
    assert api.patch(cable, {"termination_b_type": "dcim.frontport"}, status=400) == {"termination_b": [fixed]}
    assert api.patch(cable, {"termination_a_id": a.id, "label": "same"})["label"] == "same"
    assert plant.leads_to(a) == (b, True)


def test_a_length_has_a_unit_and_loses_it_with_the_length(plant: Plant, api: Api) -> None:
    a, b = plant.ends("dcim.interface", 2)
    assert api.post(CABLES, plant.body(a, b, length=4), status=400) == {
        "__all__": ["Must specify a unit when setting a cable length"]
    }
    cable = plant.cable(a, b, length=4, length_unit="ft")
    shown = api.patch(cable, {"length": None})
    assert (shown["length"], shown["length_unit"]) == (None, None)


def test_a_path_leads_through_any_number_of_panels(plant: Plant) -> None:
    a, b = plant.end(), plant.end()
    panels = [plant.panel() for _ in range(6)]
    plant.cable(a, panels[0].fronts[0])
    for left, right in itertools.pairwise(panels[1:5]):
        plant.cable(left.rear, right.rear) if panels.index(left) % 2 else plant.cable(left.fronts[0], right.fronts[0])
    assert plant.leads_to(a) == NOWHERE
    plant.cable(panels[0].rear, panels[1].fronts[0])
    plant.cable(panels[4].fronts[0], panels[5].rear)
    assert plant.leads_to(a) == NOWHERE
    plant.cable(panels[5].fronts[0], b)
    assert (plant.leads_to(a), plant.leads_to(b)) == ((b, True), (a, True))
    assert len(plant.trace(a)) == 7 and plant.trace(b) == [step[::-1] for step in plant.trace(a)[::-1]]


def test_paths_that_share_a_trunk_keep_their_positions(plant: Plant, api: Api) -> None:
    left, right = plant.panel(4), plant.panel(4)
    near, far = plant.ends("dcim.interface", 4), plant.ends("dcim.interface", 4)
    plant.cables(*zip(near, left.fronts, strict=True), *zip(right.fronts, far, strict=True))
    trunk = plant.cable(left.rear, right.rear)
    assert [plant.leads_to(end) for end in near] == [(end, True) for end in far]
    assert [plant.leads_to(end) for end in far] == [(end, True) for end in near]
    api.patch(trunk, {"status": "planned"})
    assert [plant.leads_to(end) for end in near] == [(end, False) for end in far]
    api.patch(trunk, {"status": "connected"})
    assert [plant.leads_to(end) for end in far] == [(end, True) for end in near]
    api.delete(trunk)
    assert {plant.leads_to(end) for end in (*near, *far)} == {NOWHERE}


def test_trunks_within_trunks_and_back_through_the_same_one(plant: Plant) -> None:
    """A path goes over two nested trunks; another comes back over the trunk that it went out by."""
    outer, inner = (plant.panel(4), plant.panel(4)), (plant.panel(2), plant.panel(2))
    a, b, c, d = plant.ends("dcim.interface", 4)
    plant.cables(
        (a, inner[0].fronts[1]),
        (inner[0].rear, outer[0].fronts[2]),
        (outer[0].rear, outer[1].rear),
        (outer[1].fronts[2], inner[1].rear),
        (inner[1].fronts[1], b),
        (c, outer[0].fronts[0]),
        (outer[1].fronts[0], outer[1].fronts[3]),
        (outer[0].fronts[3], d),
    )
    assert plant.leads_to(a) == (b, True) and plant.leads_to(b) == (a, True)
    assert plant.leads_to(c) == (d, True) and plant.leads_to(d) == (c, True)
    assert len(plant.trace(c)) == 5


def test_a_path_that_does_not_know_its_position_is_split(plant: Plant, api: Api) -> None:
    panel, end, far = plant.panel(2), plant.end(), plant.end()
    plant.cable(end, panel.rear)
    plant.cable(panel.fronts[1], far)
    assert plant.leads_to(end) == NOWHERE and plant.leads_to(far) == (end, True)
    assert plant.trace(end) == [[end.id, api.get(end.path)["cable"]["id"], panel.rear.id]]
    (split, whole) = sorted(api.get(f"{panel.rear.path}paths/"), key=lambda path: path["origin"]["id"] != end.id)
    assert (split["is_split"], split["is_active"], split["destination"]) == (True, False, None)
    assert (whole["is_split"], whole["is_active"], whole["destination"]["id"]) == (False, True, end.id)


def test_a_circle_of_panels_ends(plant: Plant) -> None:
    end, one, two = plant.end(), plant.panel(2), plant.panel(2)
    plant.cables((end, one.fronts[0]), (one.rear, two.fronts[0]), (two.rear, one.fronts[1]))
    assert plant.leads_to(end) == NOWHERE
    assert plant.trace(end)[0][0] == end.id


def test_a_path_leads_through_circuits_and_not_into_a_cloud(plant: Plant, api: Api) -> None:
    a, b = plant.end(), plant.end()
    one, two = plant.circuit(), plant.circuit()
    plant.cables((a, one[0]), (one[1], two[0]), (two[1], b))
    assert plant.leads_to(a) == (b, True) and plant.leads_to(b) == (a, True)
    assert plant.leads_to(one[1]) == (b, True) and plant.leads_to(one[0]) == (a, True)
    name = plant.unique()
    cloud = api.post("/api/circuits/provider-networks/", {"name": name, "slug": name, "provider": plant.provider})["id"]
    body = {"cid": name, "provider": plant.provider, "type": plant.circuit_type, "status": "active"}
    circuit = api.post("/api/circuits/circuits/", body)["id"]
    side, end = plant.side(circuit, "A"), plant.end()
    other = api.post(PATHS[side.label], {"circuit": circuit, "term_side": "Z", "provider_network": cloud})["id"]
    refused = {"termination_b_id": ["Circuit terminations attached to a provider network may not be cabled."]}
    assert api.post(CABLES, plant.body(end, End(side.label, other)), status=400) == refused
    plant.cable(end, side)
    assert plant.leads_to(end) == NOWHERE


def test_paths_follow_the_side_of_a_circuit_that_moves(plant: Plant, api: Api) -> None:
    a, b, c = plant.ends("dcim.interface", 3)
    one, two = plant.circuit(), plant.circuit()
    plant.cables((a, one[0]), (one[1], b), (two[1], c))
    assert plant.leads_to(a) == (b, True)
    api.delete(two[0].path)
    api.patch(one[0].path, {"circuit": api.get(two[1].path)["circuit"]["id"]})
    assert (plant.leads_to(a), plant.leads_to(b), plant.leads_to(c)) == ((c, True), (one[1], True), (a, True))


def test_a_path_ends_at_the_side_of_a_circuit_that_is_alone(plant: Plant, api: Api) -> None:
    a, b = plant.ends("dcim.interface", 2)
    circuit = plant.new_circuit()
    side = plant.side(circuit, "A")
    cable = plant.cable(a, side)
    assert plant.leads_to(a) == (side, True)
    assert plant.trace(a) == [[a.id, cable.split("/")[-2], side.id]]
    api.patch(cable, {"status": "planned"})
    assert plant.leads_to(a) == (side, False)
    api.patch(cable, {"status": "connected"})
    other = plant.side(circuit, "Z")
    assert plant.leads_to(a) == NOWHERE
    plant.cable(other, b)
    assert (plant.leads_to(a), plant.leads_to(b)) == ((b, True), (a, True))
    api.delete(other.path)
    assert (plant.leads_to(a), plant.leads_to(b)) == ((side, True), NOTHING)
    api.delete(plant.side(circuit, "Z").path)
    assert plant.leads_to(a) == (side, True)
    api.delete(f"/api/circuits/circuits/{circuit}/")
    assert plant.leads_to(a) == NOTHING


def test_paths_follow_the_front_port_that_moves(plant: Plant, api: Api) -> None:
    left, right = plant.panel(3), plant.panel(3)
    near, far = plant.end(), plant.ends("dcim.interface", 3)
    plant.cables((near, left.fronts[0]), (left.rear, right.rear), *zip(right.fronts, far, strict=True))
    api.delete(left.fronts[1].path)
    api.patch(left.fronts[0].path, {"rear_port_position": 2})
    assert plant.leads_to(near) == (far[1], True)
    assert (plant.leads_to(far[0]), plant.leads_to(far[1])) == (NOWHERE, (near, True))


def test_deleting_anything_on_a_path_ends_it(plant: Plant, api: Api) -> None:
    a, b = plant.end(), plant.end()
    left, right = plant.panel(2), plant.panel(2)

    def connect() -> None:
        plant.cables((a, left.fronts[0]), (left.rear, right.rear), (right.fronts[0], b))
        assert plant.leads_to(a) == (b, True)

    connect()
    api.delete(right.fronts[0].path)
    assert (plant.leads_to(a), plant.leads_to(b)) == (NOWHERE, NOTHING)
    api.delete(api.get(a.path)["cable"]["url"])
    api.delete(api.get(left.rear.path)["cable"]["url"])
    right = plant.panel(2)
    connect()
    api.delete(f"/api/dcim/devices/{right.device}/")
    assert (plant.leads_to(a), plant.leads_to(b)) == (NOWHERE, NOTHING)
    assert api.get(left.rear.path)["cable"] is None
    api.delete(f"/api/dcim/devices/{left.device}/")
    assert plant.leads_to(a) == NOTHING
    one = plant.circuit()
    plant.cables((a, one[0]), (one[1], b))
    assert plant.leads_to(a) == (b, True)
    api.delete(one[1].path)
    assert (plant.leads_to(a), plant.leads_to(b)) == ((one[0], True), NOTHING)


def test_what_goes_with_a_cable_is_recorded_once_and_in_order(plant: Plant, api: Api) -> None:
    """The cable first, then its two ends; and the other way round when an end is deleted."""
    a, b = plant.end(), plant.end()
    cable = plant.cable(a, b)

    def changes() -> list[tuple[str, str]]:
        newest = api.get("/api/extras/object-changes/", {"limit": 1})["results"][0]["request_id"]
        found = api.get("/api/extras/object-changes/", {"request_id": newest, "limit": 0})["results"]
        return [(item["action"]["value"], item["changed_object_id"]) for item in reversed(found)]

    assert changes() == [("create", cable.split("/")[-2]), ("update", a.id), ("update", b.id)]
    api.delete(a.path)
    assert sorted(changes()) == sorted([("update", b.id), ("delete", a.id), ("delete", cable.split("/")[-2])])


def test_a_trace_shows_every_cable_and_where_the_path_stops(plant: Plant, api: Api) -> None:
    a, panel = plant.end(), plant.panel()
    assert api.get(f"{a.path}trace/") == []
    cable = plant.cable(a, panel.fronts[0], length=5, length_unit="m", color="00ff00", type="smf")
    (near, line, far), last = api.get(f"{a.path}trace/")
    assert near == api.get(a.path, {"brief": 1}) and far == api.get(panel.fronts[0].path, {"brief": 1})
    assert line["url"].endswith(cable) and (line["length"], line["length_unit"], line["type"]) == (5, "m", "smf")
    assert last == [api.get(panel.rear.path, {"brief": 1}), None, None]
    assert api.get(f"{PATHS['dcim.interface']}{panel.device}/trace/", status=404) == {"detail": "Not found."}
    api.get(f"{panel.rear.path}trace/", status=404)
    api.get(f"{a.path}paths/", status=404)
    api.post(f"{a.path}trace/", {}, status=405)


def test_a_panel_shows_the_paths_through_it(plant: Plant, api: Api) -> None:
    left, right = plant.panel(2), plant.panel(2)
    a, b, c = plant.ends("dcim.interface", 3)
    cables = plant.cables((a, left.fronts[0]), (left.rear, right.rear), (right.fronts[0], b), (c, left.fronts[1]))
    assert api.get(f"{right.fronts[1].path}paths/")[0]["origin"]["id"] == c.id
    found = {path["origin"]["id"]: path for path in api.get(f"{left.rear.path}paths/")}
    assert set(found) == {a.id, b.id, c.id}
    on_the_way = [cables[0].split("/")[-2], left.fronts[0].id, left.rear.id, cables[1].split("/")[-2]]
    on_the_way += [right.rear.id, right.fronts[0].id, cables[2].split("/")[-2]]
    assert [item["id"] for item in found[a.id]["path"]] == on_the_way
    assert [item["id"] for item in found[b.id]["path"]] == on_the_way[::-1]
    assert (found[a.id]["destination"]["id"], found[a.id]["is_active"], found[a.id]["is_split"]) == (b.id, True, False)
    assert (found[c.id]["destination"], found[c.id]["destination_type"], found[c.id]["is_active"]) == (
        None,
        None,
        False,
    )
    assert {path["origin"]["id"] for path in api.get(f"{left.fronts[0].path}paths/")} == {a.id, b.id}


def test_cables_are_found_by_where_their_ends_are(plant: Plant, api: Api) -> None:
    device = plant.device()
    a, b, outlet = plant.end(device=device), plant.end(), plant.end("dcim.poweroutlet", device)
    plant.cable(a, b, label="x")
    plant.cable(plant.end("dcim.powerport"), outlet, type="power")
    name = api.get(f"/api/dcim/devices/{device}/")["name"]
    site = api.get(f"/api/dcim/sites/{plant.site}/")["slug"]
    for query, count in (
        ({"device_id": device}, 2),
        ({"device": name}, 2),
        ({"site": site}, 2),
        ({"site_id": plant.site, "type": "power"}, 1),
    ):
        assert api.get(CABLES, query)["count"] == count
    assert api.get(CABLES, {"device": name, "termination_b_type": "dcim.poweroutlet"})["count"] == 1
    assert api.get(CABLES, {"termination_a_id": a.id})["results"][0]["label"] == "x"
    assert api.get(CABLES, {"device_id": "zz"}, status=400) == {"device_id": ["“zz” is not a valid UUID."]}


def test_connections_list_what_is_connected_each_pair_once(plant: Plant, api: Api) -> None:
    device, panel = plant.device(), plant.panel()
    a, b, half = plant.end(device=device), plant.end(), plant.end(device=device)
    console, server = plant.end("dcim.consoleport", device), plant.end("dcim.consoleserverport")
    draw, supply = plant.end("dcim.powerport", device), plant.feed()
    plant.cables((a, b), (half, panel.fronts[0]), (console, server), (draw, supply))
    (shown,) = api.get("/api/dcim/interface-connections/", {"device_id": device})["results"]
    assert {shown["interface_a"]["id"], shown["interface_b"]["id"]} == {a.id, b.id} and shown[
        "connected_endpoint_reachable"
    ] is True
    assert set(shown) == {
        "id",
        "display",
        "interface_a",
        "interface_b",
        "connected_endpoint_reachable",
        "created",
        "last_updated",
    }
    for path, end, far in (("console-connections", console, server), ("power-connections", draw, supply)):
        (shown,) = api.get(f"/api/dcim/{path}/", {"device_id": device})["results"]
        assert shown == api.get(end.path) and shown["connected_endpoint"]["id"] == far.id
        assert api.get(f"/api/dcim/{path}/", {"label": "x"}, status=400) == {"label": ["Unknown filter field"]}
        assert api.get(f"/api/dcim/{path}/{end.id}/", status=404) is not None
        api.post(f"/api/dcim/{path}/", {}, status=405)


def test_a_device_finds_its_neighbour(plant: Plant, api: Api, anonymous: Api, make_user: Any) -> None:
    ask = "/api/dcim/connected-device/"
    a, b = plant.end(), plant.end()
    plant.cable(a, b)
    there, here = api.get(a.path), api.get(b.path)
    query = {"peer_device": there["device"]["name"], "peer_interface": there["name"]}
    found = api.get(ask, query)
    assert found["id"] == here["device"]["id"] and found["site"]["id"] == plant.site
    assert api.get(ask, {**query, "peer_interface": "zz"}, status=404) == {"detail": "Not found."}
    free = api.get(plant.end().path)
    assert api.get(ask, {"peer_device": free["device"]["name"], "peer_interface": free["name"]}) is None
    words = 'Request must include "peer_device" and "peer_interface" filters.'
    assert api.get(ask, {"peer_device": query["peer_device"]}, status=400) == {"detail": words}
    anonymous.get(ask, query, status=403)
    make_user(("view", "dcim.interface")).api.get(ask, query, status=403)
    elsewhere = make_user(("view", ["dcim.interface"]), ("view", ["dcim.device"], {"name": "zz"}))
    assert elsewhere.api.get(ask, query, status=404) == {"detail": "Not found."}
    assert f"{ask}" in str(api.get("/api/dcim/"))


def test_a_trace_is_for_who_may_see_its_origin(plant: Plant, make_user: Any) -> None:
    a, b = plant.end(), plant.end()
    plant.cable(a, b)
    make_user(("view", "dcim.cable")).api.get(f"{a.path}trace/", status=403)
    one = make_user(("view", "dcim.interface", {"id": a.id})).api
    assert len(one.get(f"{a.path}trace/")) == 1
    one.get(f"{b.path}trace/", status=404)


def test_laying_cables_takes_as_many_statements_for_one_as_for_many(plant: Plant, api: Api, statements: Any) -> None:
    near, far = plant.ends("dcim.interface", 21), plant.ends("dcim.interface", 21)
    pairs = list(zip(near, far, strict=True))
    plant.cable(plant.end(), plant.end())  # reads the statuses, which are cached
    with statements() as for_one:
        plant.cables(pairs[0])
    with statements() as for_many:
        plant.cables(*pairs[1:])
    assert len(for_one) == len(for_many) <= 20, "\n".join(for_many)
    cables = [api.get(end.path)["cable"]["id"] for end in near]
    counts = []
    for some in (cables[:1], cables[1:]):
        with statements() as patched:
            api.patch(CABLES, [{"id": key, "status": "planned"} for key in some])
        with statements() as deleted:
            api.delete(CABLES, [{"id": key} for key in some])
        counts.append((len(patched), len(deleted)))
    assert counts[0] == counts[1]


def test_a_trunk_takes_as_many_statements_for_two_paths_as_for_forty(plant: Plant, api: Api, statements: Any) -> None:
    taken = []
    for positions in (2, 40):
        left, right = plant.panel(positions), plant.panel(positions)
        near, far = plant.ends("dcim.interface", positions), plant.ends("dcim.interface", positions)
        plant.cables(*zip(near, left.fronts, strict=True), *zip(right.fronts, far, strict=True))
        with statements() as connected:
            trunk = plant.cable(left.rear, right.rear)
        with statements() as traced:
            assert len(plant.trace(near[-1])) == 3
        with statements() as listed:
            assert len(api.get(f"{left.rear.path}paths/")) == 2 * positions
        with statements() as deleted:
            api.delete(trunk)
        taken.append([len(found) for found in (connected, traced, listed, deleted)])
    assert taken[0] == taken[1]


def test_lists_of_cabled_ends_stay_within_the_budget(plant: Plant, api: Api, statements: Any) -> None:
    """Ends of all kinds at the other side do not add statements."""
    host, panel = plant.device(), plant.panel()
    ends = plant.ends("dcim.interface", 3, host)
    plant.cables((ends[0], panel.fronts[0]), (ends[1], plant.circuit()[0]), (ends[2], plant.end()))
    for path, query in (
        (PATHS["dcim.interface"], {"device_id": host}),
        (CABLES, {"device_id": host}),
        ("/api/dcim/interface-connections/", {}),
    ):
        with statements() as found:
            assert api.get(path, {**query, "limit": 1000})["count"] > 0
        assert len(found) <= LIST, "\n".join(found)


def test_an_address_shows_whether_its_interface_is_connected(plant: Plant) -> None:
    """``connection_status`` is part of the assigned interface alone, null without a cable, and follows the status of
    the path.
    """
    one, other = plant.end("dcim.interface"), plant.end("dcim.interface")
    body = {
        "address": f"{plant.unique.ipv6()}::1/64",
        "status": "active",
        "assigned_object_type": one.label,
        "assigned_object_id": one.id,
    }
    address = plant.api.post("/api/ipam/ip-addresses/", body)
    assert address["assigned_object"]["connection_status"] is None
    assert "connection_status" not in plant.api.get(one.path, {"brief": 1})
    cable = plant.cable(one, other)
    for status, shown in (
        ("connected", {"value": True, "label": "Connected"}),
        ("planned", {"value": False, "label": "Not Connected"}),
    ):
        plant.api.patch(cable, {"status": status})
        assert plant.api.get(address["url"])["assigned_object"]["connection_status"] == shown
