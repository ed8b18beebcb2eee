"""Pages of ends of cables name the models of their peers as people do, in every column."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.fields import GenericForeignKey, Value
from netinv_testing import Service
from netinv_web.cells import holds_types
from netinv_web.testing import Browser, visible_words
from tests.support.cabling_fixtures import PATHS, End, Plant


@pytest.fixture
def plant(service: Service) -> Plant:
    """A cable plant at a site of its own."""
    return Plant(service.api, service.unique)


def pair_of(plant: Plant, label: str) -> tuple[End, End]:
    """A free end of a kind, and one that a cable may connect it to."""
    if label == "circuits.circuittermination":
        return plant.side(plant.new_circuit(), "A"), plant.end()
    if label == "dcim.frontport":
        return plant.panel().fronts[0], plant.end()
    if label == "dcim.powerfeed":
        return plant.feed(), plant.end("dcim.powerport")
    peers = {
        "dcim.interface": "dcim.interface",
        "dcim.rearport": "dcim.interface",
        "dcim.consoleport": "dcim.consoleserverport",
        "dcim.consoleserverport": "dcim.consoleport",
        "dcim.powerport": "dcim.poweroutlet",
        "dcim.poweroutlet": "dcim.powerport",
    }
    return plant.end(label), plant.end(peers[label])


@pytest.mark.parametrize("label", PATHS)
def test_no_page_of_a_cabled_end_shows_a_content_type(
    label: str, service: Service, plant: Plant, browser: Browser
) -> None:
    near, far = pair_of(plant, label)
    plant.cable(near, far)
    endpoint = service.registry.endpoints[label]
    path = near.path.removeprefix("/api")
    every_column = f"{path.removesuffix(f'{near.id}/')}?id={near.id}&_columns={','.join(endpoint.fields)}"
    pages = {link: browser.get(link) for link in (every_column, path, f"{path}changelog/", f"{path}?_show=all")}
    assert service.registry.endpoints[far.label].title.lower() in pages[every_column].text.lower()
    assert {link: visible_words.faults_of(service.registry, endpoint, page) for link, page in pages.items()} == {
        link: [] for link in pages
    }


def test_the_type_of_every_generic_foreign_key_is_shown_as_the_name_of_a_model(service: Service) -> None:
    types: list[tuple[str, str]] = []
    for label, endpoint in service.registry.endpoints.items():
        generic: set[Any] = {
            field.type_attribute for field in endpoint.fields.values() if isinstance(field, GenericForeignKey)
        }
        for name, field in endpoint.fields.items():
            if isinstance(field, Value) and field.attribute in generic:
                types.append((label, name))
                assert holds_types(endpoint, field), (label, name)
    assert len(types) > len(PATHS)
