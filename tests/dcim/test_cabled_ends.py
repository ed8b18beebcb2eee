"""Ends of a cable: what a new cable is refused for does not come about by a change of an end that has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api
from tests.support.cabling_fixtures import CABLES, PATHS, End, Plant

Setup = Callable[[Plant], tuple[End, End, dict[str, Any]]]


@pytest.fixture
def plant(api: Api, unique: Any) -> Plant:
    """A site to lay cables at."""
    return Plant(api, unique)


def termination_to_a_network(plant: Plant) -> tuple[End, End, dict[str, Any]]:
    """A termination of a circuit would move into the network of a provider."""
    network = plant.api.post(
        "/api/circuits/provider-networks/", {"name": plant.unique(), "slug": plant.unique(), "provider": plant.provider}
    )
    return plant.circuit()[0], plant.end(), {"provider_network": network["id"], "site": None}


def rear_port_with_other_positions(plant: Plant) -> tuple[End, End, dict[str, Any]]:
    """Of two rear ports with two positions, one would get four."""
    return plant.panel(2).rear, plant.panel(2).rear, {"positions": 4}


def front_port_of_its_peer(plant: Plant) -> tuple[End, End, dict[str, Any]]:
    """A front port would lead to the rear port that it has a cable to."""
    panel = plant.panel()
    rear = plant.end("dcim.rearport", panel.device)
    return panel.fronts[0], rear, {"rear_port": rear.id}


def virtual_interface(plant: Plant) -> tuple[End, End, dict[str, Any]]:
    """An interface would become virtual."""
    return plant.end(), plant.end(), {"type": "virtual"}


SETUPS: list[Setup] = [
    termination_to_a_network,
    rear_port_with_other_positions,
    front_port_of_its_peer,
    virtual_interface,
]


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.__name__)
def test_a_cabled_end_stays_one_that_its_cable_fits(api: Api, plant: Plant, setup: Setup) -> None:
    end, peer, change = setup(plant)
    cable = api.post(CABLES, plant.body(end, peer))
    answer = api.patch(end.path, change, status=400)
    assert set(answer) <= set(change)
    assert api.put(end.path, api.get(end.path))["cable"]["id"] == cable["id"]
    api.delete(cable["url"])
    api.patch(end.path, change)
    api.post(CABLES, plant.body(end, peer), status=400)


def test_both_rear_ports_of_a_cable_get_other_positions_at_once(api: Api, plant: Plant) -> None:
    ends = [plant.panel(2).rear, plant.panel(2).rear]
    api.post(CABLES, plant.body(*ends))
    api.patch(PATHS["dcim.rearport"], [{"id": end.id, "positions": 4} for end in ends])
    assert [api.get(end.path)["positions"] for end in ends] == [4, 4]


def test_the_name_of_a_peer_is_not_in_the_error(api: Api, plant: Plant) -> None:
    end, peer = plant.panel(2).rear, plant.panel(2).rear
    name = api.patch(peer.path, {"name": plant.unique()})["name"]
    api.post(CABLES, plant.body(end, peer))
    assert name not in api.patch(end.path, {"positions": 4}, status=400)["positions"][0]
