"""Answers have a size: lists, files and answers to writes are refused when they would be larger."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from netinv_testing import Api, Service, Unique
from tests.support.cabling_fixtures import Plant

DEVICES, CONTEXTS, TAGS = "/api/dcim/devices/", "/api/extras/config-contexts/", "/api/extras/tags/"
COUNT, LIMIT = 12, 60_000


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    """A site with what devices need."""
    return Plant(api, unique)


@pytest.fixture
def devices(api: Api, unique: Unique, plant: Plant) -> Any:
    """Devices that share a config context of 10,000 characters."""
    context = {"name": unique(), "data": {"text": "x" * 10_000}, "sites": [plant.hardware["site"]]}
    api.post(CONTEXTS, context)
    return api.post(DEVICES, [{"name": unique(), **plant.hardware} for _ in range(COUNT)])


@pytest.mark.parametrize(
    "query",
    [{}, {"format": "yaml"}, {"format": "csv", "columns": "name,config_context"}, {"fields": "name,config_context"}],
)
@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_lists_that_repeat_a_config_context_are_refused(
    api: Api, devices: Any, plant: Plant, service: Service, query: dict[str, str], accept: str
) -> None:
    asked = {"site_id": plant.hardware["site"], **query}
    with service.configured(max_answer_size=LIMIT):
        api.send("GET", DEVICES, query={**asked, "limit": 3}, headers={"Accept": accept}, status=200)
        answer = api.send("GET", DEVICES, query=asked, headers={"Accept": accept}, status=413)
    assert "netinv.max_answer_size" in answer.text


def test_bytes_of_a_yaml_document_are_counted_not_those_of_json(
    api: Api, unique: Unique, plant: Plant, service: Service
) -> None:
    """Each line of a nested list begins with its indent."""
    nested: Any = [1] * 2000
    for _ in range(25):
        nested = [nested]
    device = api.post(DEVICES, {"name": unique(), **plant.hardware, "local_context_data": {"nested": nested}})
    asked = {"id": device["id"], "exclude": "config_context"}
    with service.configured(max_answer_size=LIMIT):
        api.get(DEVICES, asked, status=200)
        assert "netinv.max_answer_size" in api.get(DEVICES, {**asked, "format": "yaml"}, status=413)["detail"]
    answer = api.send("GET", DEVICES, query={**asked, "format": "yaml"}, status=200)
    assert yaml.safe_load(answer.body)[0]["local_context_data"] == {"nested": nested}


def test_a_config_context_is_written_once_for_all_devices_of_a_yaml_document(
    api: Api, unique: Unique, plant: Plant
) -> None:
    data = {"vlans": [{"name": f"vlan-{number}", "id": number, "text": "a\nb"} for number in range(2000)]}
    api.post(CONTEXTS, {"name": unique(), "data": data, "sites": [plant.hardware["site"]]})
    api.post(DEVICES, [{"name": unique(), **plant.hardware} for _ in range(COUNT)])
    asked = {"site_id": plant.hardware["site"], "format": "yaml"}

    def written(limit: int) -> Any:
        return api.send("GET", DEVICES, query={**asked, "limit": limit}, status=200)

    assert calls(lambda: written(COUNT)) < 2 * calls(lambda: written(1))
    items = yaml.load(written(COUNT).body, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert [item["config_context"]["vlans"] for item in items] == [data["vlans"]] * COUNT


def test_a_yaml_document_has_so_many_values_and_what_objects_share_counts_once(
    api: Api, unique: Unique, plant: Plant, service: Service
) -> None:
    """Writing YAML takes ten times as long as JSON."""
    context = {"name": unique(), "data": {"numbers": [1] * 1000}, "sites": [plant.hardware["site"]]}
    api.post(CONTEXTS, context)
    api.post(DEVICES, [{"name": unique(), **plant.hardware} for _ in range(COUNT)])
    asked = {"site_id": plant.hardware["site"], "format": "yaml"}
    with service.configured(max_yaml_values=3000):
        api.send("GET", DEVICES, query=asked, status=200)
        for device in api.get(DEVICES, asked | {"format": "json"})["results"]:
            api.patch(device["url"], {"local_context_data": {"name": device["name"]}})  # now a context of its own
        assert "netinv.max_yaml_values" in api.get(DEVICES, asked, status=413)["detail"]
        api.send("GET", DEVICES, query=asked | {"limit": 2}, status=200)


def calls(function: Callable[[], Any]) -> int:
    """The number of calls of functions of Python."""
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_objects_of_a_list_are_counted(api: Api, devices: Any, plant: Plant, service: Service) -> None:
    asked = {"site_id": plant.hardware["site"]}
    with service.configured(max_answer_objects=COUNT - 1):
        assert "netinv.max_answer_objects" in api.get(DEVICES, asked, status=413)["detail"]
        api.get(DEVICES, {**asked, "format": "yaml"}, status=413)
        api.get(DEVICES, {**asked, "limit": COUNT - 1}, status=200)
    with service.configured(max_answer_objects=COUNT):
        api.get(DEVICES, asked, status=200)


def test_a_write_whose_answer_would_be_too_large_changes_nothing(
    api: Api, devices: Any, plant: Plant, service: Service
) -> None:
    body = [{"id": device["id"], "comments": "changed"} for device in devices]
    with service.configured(max_answer_size=LIMIT):
        assert "netinv.max_answer_size" in api.patch(DEVICES, body, status=413)["detail"]
    assert {item["comments"] for item in api.get(DEVICES, {"site_id": plant.hardware["site"]})["results"]} == {""}


def test_answers_below_the_limit_are_the_same(api: Api, devices: Any, plant: Plant, service: Service) -> None:
    for extent in ({}, {"limit": 1}, {"offset": COUNT}):
        asked = {"site_id": plant.hardware["site"], **extent}
        with service.configured(max_answer_size=0, max_answer_objects=0):
            unlimited = api.send("GET", DEVICES, query=asked, status=200).body
        assert api.send("GET", DEVICES, query=asked, status=200).body == unlimited
