"""Power panels and feeds: where they may be, what may be drawn from them."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api

FEEDS = "/api/dcim/power-feeds/"
GROUPS = "/api/dcim/rack-groups/"
LOCATIONS = "/api/dcim/locations/"
PANELS = "/api/dcim/power-panels/"
RACKS = "/api/dcim/racks/"
SITES = "/api/dcim/sites/"


@pytest.fixture
def site(make: Any) -> Any:
    """A site."""
    return make(SITES, status="active")


@pytest.fixture
def elsewhere(make: Any) -> Any:
    """Another site."""
    return make(SITES, status="active")


@pytest.fixture
def panel(make: Any, site: Any) -> Any:
    """A panel at the site."""
    return make(PANELS, site=site["id"])


@pytest.fixture
def make_feed(make: Any, panel: Any) -> Any:
    """``make_feed(…)``: a feed of the panel."""
    return lambda **fields: make(FEEDS, power_panel=panel["id"], status="active", **fields)


def names(api: Api, path: str, **query: Any) -> list[str]:
    """The names of what a list shows."""
    return [shown["name"] for shown in api.get(path, query)["results"]]


def test_a_feed_has_the_usual_rating(make_feed: Any) -> None:
    made = make_feed()
    assert (made["voltage"], made["amperage"], made["max_utilization"]) == (120, 20, 80)
    assert [made[name]["value"] for name in ("type", "supply", "phase")] == ["primary", "ac", "single-phase"]
    assert (
        made["cable"]
        is made["cable_peer"]
        is made["connected_endpoint"]
        is made["connected_endpoint_reachable"]
        is None
    )


@pytest.mark.parametrize(
    ("rating", "power"),
    [
        ({}, 1920),
        ({"voltage": 230, "amperage": 16, "phase": "three-phase"}, 5099),
        ({"voltage": -48, "amperage": 30, "supply": "dc"}, 1152),
        ({"voltage": 230, "amperage": 1, "max_utilization": 1}, 2),
        ({"voltage": 32767, "amperage": 32767, "max_utilization": 100, "phase": "three-phase"}, 1859607333),
    ],
)
def test_feeds_are_found_by_the_power_that_may_be_drawn(
    api: Api, panel: Any, make_feed: Any, rating: dict[str, Any], power: int
) -> None:
    name = make_feed(**rating)["name"]
    assert names(api, FEEDS, power_panel=panel["id"], available_power=power) == [name]
    assert names(api, FEEDS, power_panel=panel["id"], available_power__gt=power - 1, available_power__lt=power + 1) == [
        name
    ]


def test_available_power_follows_the_rating(api: Api, panel: Any, make_feed: Any) -> None:
    made = make_feed(voltage=230, amperage=10, max_utilization=100)
    for change, power in [
        ({"amperage": 16}, 3680),
        ({"phase": "three-phase"}, 6374),
        ({"max_utilization": 50}, 3187),
        ({"voltage": 400}, 5542),
    ]:
        api.patch(made["url"], change)
        assert names(api, FEEDS, power_panel=panel["id"], available_power=power) == [made["name"]]
    assert "available_power" not in api.get(made["url"])


def test_available_power_is_in_the_change_log(api: Api, make_feed: Any) -> None:
    (change,) = api.get("/api/extras/object-changes/", {"changed_object_id": make_feed()["id"]})["results"]
    assert change["object_data"]["available_power"] == 1920


@pytest.mark.parametrize(
    ("rating", "message"),
    [
        ({"voltage": 0}, "This value may not be 0."),
        ({"voltage": -1}, "Voltage cannot be negative for AC supply"),
        ({"voltage": 32768}, "Ensure this value is less than or equal to 32767."),
        ({"voltage": -32769}, "Ensure this value is greater than or equal to -32768."),
    ],
)
def test_voltages_that_are_none_are_refused(api: Api, panel: Any, rating: dict[str, Any], message: str) -> None:
    body = {"name": "f", "power_panel": panel["id"], "status": "active", **rating}
    assert api.post(FEEDS, body, status=400) == {"voltage": [message]}


def test_a_negative_voltage_stays_direct(api: Api, make_feed: Any) -> None:
    made = make_feed(voltage=-48, supply="dc")
    assert api.patch(made["url"], {"supply": "ac"}, status=400) == {
        "voltage": ["Voltage cannot be negative for AC supply"]
    }
    assert api.patch(made["url"], {"supply": "ac", "voltage": 48})["voltage"] == 48


def test_a_feed_leads_to_a_rack_of_its_site(
    api: Api, make: Any, site: Any, elsewhere: Any, panel: Any, make_feed: Any
) -> None:
    far = make(RACKS, site=elsewhere["id"], status="active", facility_id="F1")
    message = f"Rack {far['name']} (F1) ({elsewhere['name']}) and power panel {panel['name']} ({site['name']}) are in different sites"
    body = {"name": "f", "power_panel": panel["id"], "status": "active", "rack": far["id"]}
    assert api.post(FEEDS, body, status=400) == {"__all__": [message]}
    near = make(RACKS, site=site["id"], status="active")
    made = make_feed(rack=near["id"])
    assert api.patch(made["url"], {"rack": far["id"]}, status=400) == {"__all__": [message]}
    assert api.patch(made["url"], {"power_panel": make(PANELS, site=elsewhere["id"])["id"]}, status=400)["__all__"]


def test_a_panel_is_at_the_site_of_its_rack_group(api: Api, make: Any, site: Any, elsewhere: Any) -> None:
    group = make(GROUPS, site=site["id"])
    message = f"Rack group {group['name']} ({site['name']}) is in a different site than {elsewhere['name']}"
    body = {"name": "p", "site": elsewhere["id"], "rack_group": group["id"]}
    assert api.post(PANELS, body, status=400) == {"__all__": [message]}
    made = make(PANELS, site=site["id"], rack_group=group["id"])
    assert api.patch(made["url"], {"site": elsewhere["id"]}, status=400) == {"__all__": [message]}


@pytest.fixture
def make_place(api: Api, make: Any) -> Any:
    """``make_place(site, above=…)``: a location for panels and rack groups, at the site or within the one above."""
    kind = make("/api/dcim/location-types/", nestable=True, content_types=["dcim.powerpanel", "dcim.rackgroup"])

    def post(site: Any, above: Any = None) -> Any:
        where = {"parent": above["id"]} if above else {"site": site["id"]}
        return make(LOCATIONS, location_type=kind["id"], status="active", **where)

    return post


def test_a_panel_is_within_the_location_of_its_rack_group(api: Api, make: Any, make_place: Any, site: Any) -> None:
    building, other = make_place(site), make_place(site)
    floor = make_place(site, building)
    group = make(GROUPS, site=site["id"], location=building["id"])
    made = make(PANELS, site=site["id"], location=floor["id"], rack_group=group["id"])
    message = f'Rack group "{group["name"]}" belongs to a location ("{building["name"]}") that does not contain "{other["name"]}".'
    assert api.patch(made["url"], {"location": other["id"]}, status=400) == {"rack_group": [message]}
    assert api.patch(made["url"], {"location": None})["location"] is None


def test_a_panel_is_at_a_location_of_its_site_that_takes_panels(
    api: Api, make: Any, make_place: Any, site: Any, elsewhere: Any
) -> None:
    place = make_place(elsewhere)
    message = f'Location "{place["name"]}" does not belong to site "{site["name"]}".'
    assert api.post(PANELS, {"name": "p", "site": site["id"], "location": place["id"]}, status=400) == {
        "location": [message]
    }
    kind = make("/api/dcim/location-types/", content_types=["dcim.rack"])
    shelf = make(LOCATIONS, location_type=kind["id"], site=site["id"], status="active")
    message = f'Power panels may not associate to locations of type "{kind["name"]}".'
    assert api.post(PANELS, {"name": "p", "site": site["id"], "location": shelf["id"]}, status=400) == {
        "location": [message]
    }


@pytest.mark.night
def test_panels_move_with_their_rack_group(api: Api, make: Any, make_place: Any, site: Any, elsewhere: Any) -> None:
    group = make(GROUPS, site=site["id"])
    below = make(GROUPS, site=site["id"], parent=group["id"])
    inner = make(PANELS, site=site["id"], rack_group=below["id"])
    placed = make(PANELS, site=site["id"], rack_group=group["id"], location=make_place(site)["id"])
    place = make_place(elsewhere)
    api.patch(group["url"], {"site": elsewhere["id"], "location": place["id"]})
    moved = [api.get(panel["url"]) for panel in (inner, placed)]
    assert [panel["site"]["id"] for panel in moved] == [elsewhere["id"]] * 2
    assert [panel["location"] and panel["location"]["id"] for panel in moved] == [None, place["id"]]
    assert api.get("/api/extras/object-changes/", {"changed_object_id": inner["id"], "action": "update"})["count"] == 1


def test_panels_and_racks_count_their_feeds_and_are_kept_by_them(
    api: Api, make: Any, site: Any, panel: Any, make_feed: Any
) -> None:
    rack = make(RACKS, site=site["id"], status="active")
    feed = make_feed(rack=rack["id"])
    for fed in (panel, rack):
        assert api.get(fed["url"])["powerfeed_count"] == 1
        assert f"{feed['name']} ({feed['id']})" in api.delete(fed["url"], status=409)["detail"]
    api.delete(feed["url"])
    for fed in (panel, rack):
        assert api.get(fed["url"])["powerfeed_count"] == 0
        api.delete(fed["url"])


def test_what_has_power_is_found_by_it(api: Api, make: Any, site: Any, elsewhere: Any) -> None:
    group = make(GROUPS, site=site["id"])
    rack = make(RACKS, site=site["id"], status="active")
    panel = make(PANELS, site=site["id"], rack_group=group["id"])
    feed = make(FEEDS, power_panel=panel["id"], rack=rack["id"], status="active")
    assert names(api, SITES, power_panels=panel["name"]) == [site["name"]]
    assert names(api, SITES, has_power_panels="false", id=[site["id"], elsewhere["id"]]) == [elsewhere["name"]]
    assert names(api, GROUPS, power_panels=panel["id"]) == [group["name"]]
    assert names(api, RACKS, power_feeds=feed["name"]) == [rack["name"]]
    assert names(api, RACKS, has_power_feeds="true", site=site["slug"]) == [rack["name"]]
    assert names(api, PANELS, power_feeds=feed["id"]) == [panel["name"]]
    assert names(api, PANELS, rack_group=group["slug"]) == [panel["name"]]
    assert names(api, FEEDS, site=site["slug"]) == names(api, FEEDS, rack=rack["name"]) == [feed["name"]]
    assert names(api, FEEDS, site=elsewhere["slug"]) == []
